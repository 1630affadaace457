"""Small linear systems written out: Cholesky, and elimination with exchange of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._shapes import Registers, Rule, constants
from ._tape import Register, Tape
from ._unknown import NotScalar

_LARGEST_SYSTEM = 8  # unknowns; the exchange of rows costs 2n³/3 selections


def _for_each(
    count: int, work: Callable[..., tuple[Any, ...]], *arrays: Registers
) -> list[Registers]:
    """Apply a rule for matrices to stacks of them."""
    stacks = arrays[0].shape[:-2]
    parts = [work(*(array[index] for array in arrays)) for index in np.ndindex(*stacks)]
    if not parts:
        raise NotScalar("a linear system of no numbers at all has no scalar form")
    joined = [np.array([part[k] for part in parts], dtype=np.int64) for k in range(count)]
    return [one.reshape(*stacks, *one.shape[1:]) for one in joined]


def _is_zero(tape: Tape, register: Register) -> bool:
    return tape.is_constant(register) and tape.value(register) == 0


def _less_products(tape: Tape, start: Register, xs: Any, ys: Any) -> Register:
    """start − Σ x y."""
    for x, y in zip(xs, ys, strict=True):
        start = tape.operate("sub", start, tape.operate("mul", x, y))
    return start


def _eliminate(
    tape: Tape, rows: list[list[Register]], steps: int
) -> tuple[list[Register], list[Register]]:
    """Turn rows into their factors L and U in place, the largest pivot first.

    Ties are decided as LAPACK does, for the first one. What is zero for every state is never a
    pivot, unless all are.

    Returns:
        For each step the row that was exchanged with; and the order of the rows.
    """
    known = all(tape.is_constant(register) for row in rows for register in row[:steps])
    if len(rows) > _LARGEST_SYSTEM and not known:
        raise NotScalar(
            f"a linear system of {len(rows)} unknowns is not written out, only of up to "
            f"{_LARGEST_SYSTEM}: use a solution by hand, or a change of variables"
        )
    order = [tape.constant(i) for i in range(len(rows))]
    pivots = []
    for k in range(steps):
        chosen, size = tape.constant(k), tape.operate("abs", rows[k][k])
        below = [i for i in range(k + 1, len(rows)) if not _is_zero(tape, rows[i][k])]
        for i in below:
            other = tape.operate("abs", rows[i][k])
            wins = tape.operate("gt", other, size)
            size = tape.operate("select", wins, size, other)
            chosen = tape.operate("select", wins, chosen, tape.constant(i))
        pivots.append(chosen)
        for i in below:
            here = tape.operate("eq", chosen, tape.constant(i))
            rows[k], rows[i] = _exchanged(tape, here, rows[k], rows[i])
            (order[k],), (order[i],) = _exchanged(tape, here, [order[k]], [order[i]])
        inverse = tape.operate("div", tape.constant(1.0), rows[k][k])
        for i in below:
            factor = rows[i][k] = tape.operate("mul", rows[i][k], inverse)
            for j in range(k + 1, len(rows[i])):
                rows[i][j] = _less_products(tape, rows[i][j], [factor], [rows[k][j]])
    return pivots, order


def _exchanged(
    tape: Tape, condition: Register, xs: list[Register], ys: list[Register]
) -> tuple[list[Register], list[Register]]:
    pairs = list(zip(xs, ys, strict=True))
    return (
        [tape.operate("select", condition, x, y) for x, y in pairs],
        [tape.operate("select", condition, y, x) for x, y in pairs],
    )


def _lu(tape: Tape, params: Any, x: Registers) -> list[Registers]:
    def one(matrix: Registers) -> tuple[Any, ...]:
        rows = matrix.tolist()
        pivots, order = _eliminate(tape, rows, min(matrix.shape))
        return rows, pivots, order

    return _for_each(3, one, x)


def _cholesky(tape: Tape, params: Any, x: Registers) -> Registers:
    def one(matrix: Registers) -> tuple[Any, ...]:
        n = len(matrix)
        lower = [[tape.constant(0.0)] * n for _ in range(n)]
        for j in range(n):
            mine = lower[j][:j]
            pivot = _less_products(tape, int(matrix[j, j]), mine, mine)
            lower[j][j] = tape.operate("sqrt", pivot)
            inverse = tape.operate("div", tape.constant(1.0), lower[j][j])
            for i in range(j + 1, n):
                rest = _less_products(tape, int(matrix[i, j]), lower[i][:j], mine)
                lower[i][j] = tape.operate("mul", rest, inverse)
        return (lower,)

    return _for_each(1, one, x)[0]


def _triangular_solve(tape: Tape, params: Any, a: Registers, b: Registers) -> Registers:
    lower = params["lower"]
    if params["transpose_a"]:
        a, lower = a.swapaxes(-1, -2), not lower
    if not params["left_side"]:  # x a = b is aᵀ xᵀ = bᵀ
        a, b, lower = a.swapaxes(-1, -2), b.swapaxes(-1, -2), not lower
    step = 1 if lower else -1

    def one(a: Registers, b: Registers) -> tuple[Any, ...]:
        rows, right = a[::step, ::step].tolist(), b[::step].tolist()
        solved: list[list[Register]] = []
        for i, row in enumerate(rows):
            new = [
                _less_products(tape, start, row[:i], [known[k] for known in solved])
                for k, start in enumerate(right[i])
            ]
            if not params["unit_diagonal"]:
                new = [tape.operate("div", register, row[i]) for register in new]
            solved.append(new)
        return (np.reshape(solved, b.shape)[::step],)

    (x,) = _for_each(1, one, a, b)
    return x if params["left_side"] else x.swapaxes(-1, -2)


def copied(tape: Tape, registers: Registers, to: Tape) -> Registers:
    """What is known of an array of registers, on another tape: its numbers."""
    new = [
        to.constant(tape.value(register)) if tape.is_constant(register) else to.input()
        for register in registers.ravel().tolist()
    ]
    return np.array(new, dtype=np.int64).reshape(registers.shape)


def blocks_of(tape: Tape, rows: Registers, unknowns: Registers) -> list[list[int]]:
    """Groups of unknowns that share no equation with others."""
    numbers = {register: i for i, register in enumerate(unknowns.tolist())}
    linked: list[set[int]] = [{i} for i in range(len(rows))]
    for i, row in enumerate(rows.tolist()):
        for register in tape.needed_for(row):
            if register in numbers:
                linked[i].add(numbers[register])
                linked[numbers[register]].add(i)
    waiting, blocks = set(range(len(rows))), []
    while waiting:
        block: set[int] = set()
        edge = {min(waiting)}
        while edge:
            block |= edge
            edge = set[int]().union(*(linked[i] for i in edge)) - block
        blocks.append(sorted(block))
        waiting -= block
    return blocks


def solved(
    tape: Tape, blocks: list[list[int]], product: Callable[[Registers], Registers], right: Registers
) -> Registers:
    """x with A x = b, shape (n,), block by block; `product` is A times a vector."""
    columns = []
    for k in range(max(map(len, blocks), default=0)):
        units = np.zeros(len(right))
        units[[block[k] for block in blocks if len(block) > k]] = 1.0
        columns.append(product(constants(tape, units)))
    result = np.zeros(len(right), dtype=np.int64)
    for block in blocks:
        known = [column[block] for column in columns[: len(block)]]
        rows = np.column_stack([*known, right[block]]).tolist()
        _eliminate(tape, rows, len(rows))
        for i in reversed(range(len(block))):
            after = [int(result[k]) for k in block[i + 1 :]]
            rest = _less_products(tape, rows[i][-1], rows[i][i + 1 : -1], after)
            inverse = tape.operate("div", tape.constant(1.0), rows[i][i])
            result[block[i]] = tape.operate("mul", rest, inverse)
    return result


RULES: dict[str, Rule] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "triangular_solve": _triangular_solve,
}
