"""Primitives that index. Known indices move registers about; unknown ones choose among them."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._arithmetic import elementwise
from ._shapes import Registers, Rule, constants
from ._tape import Register, Tape
from ._unknown import NotScalar

_MOST_CHOICES = 64  # entries that an index which depends on the state may choose among


def _known(tape: Tape, registers: Registers) -> np.ndarray | None:
    """The whole numbers in the registers, if all of them are known."""
    flat = registers.ravel().tolist()
    if not all(map(tape.is_constant, flat)):
        return None
    return np.array([tape.value(register) for register in flat], dtype=np.int64).reshape(
        registers.shape
    )


def _chosen(
    tape: Tape, index: Registers, largest: int, among: Callable[[Any], Registers]
) -> Registers:
    """`among(index)` for an index that is moved into 0 ... largest, as JAX does."""
    known = _known(tape, index)
    if known is not None:
        return among(np.clip(known, 0, largest))
    _require_few(largest + 1)
    result = among(0)
    for i in range(1, largest + 1):
        reached = elementwise(tape, "ge", index, constants(tape, np.int64(i)))
        result = elementwise(tape, "select", reached, result, among(i))
    return result


def _require_few(choices: int) -> None:
    if choices > _MOST_CHOICES:
        raise NotScalar(
            f"an index that depends on the state chooses among {choices} entries, and more than "
            f"{_MOST_CHOICES} are not written out: use a formula instead of the table"
        )


class _Windows(NamedTuple):
    """How a result's axes, or those of updates, belong to an operand's and to the indices'.

    Attributes:
        fixed: the part of each operand coordinate that no index decides, each an array that
            broadcasts to the result.
        indices: one array of registers for each coordinate that indices decide, likewise.
        axes: the operand's axes that they decide.
        largest: the largest index each at which the window still fits.
        rows: the axes of the result along which indices vary.
    """

    fixed: list[np.ndarray]
    indices: list[Registers]
    axes: list[int]
    largest: list[int]
    rows: list[int]


def _windows(
    operand: tuple[int, ...],
    result: tuple[int, ...],
    indices: Registers,
    sizes: Any,
    of_window: Any,
    left_out: Any,
    decided: Any,
    batching: Any,
    index_batching: Any,
) -> _Windows:
    of_window, left_out, decided, batching, index_batching = (
        [int(axis) for axis in axes]
        for axes in (of_window, left_out, decided, batching, index_batching)
    )

    def along(axis: int) -> np.ndarray:
        shape = [1] * len(result)
        shape[axis] = result[axis]
        return np.arange(result[axis]).reshape(shape)

    rows = [axis for axis in range(len(result)) if axis not in of_window]
    inside = [axis for axis in range(len(operand)) if axis not in (*left_out, *batching)]
    fixed = [np.zeros((1,) * len(result), dtype=np.int64) for _ in operand]
    for axis, k in zip(inside, of_window, strict=True):
        fixed[axis] = along(k)
    for axis, register in zip(batching, index_batching, strict=True):
        fixed[axis] = along(rows[register])
    shape = [1] * len(result)
    for axis in rows:
        shape[axis] = result[axis]
    components = [indices[..., i].reshape(shape) for i in range(len(decided))]
    largest = [int(operand[axis] - sizes[axis]) for axis in decided]
    return _Windows(fixed, components, decided, largest, rows)


def _gather(tape: Tape, params: Any, x: Registers, indices: Registers, *, result: Any) -> Registers:
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    windows = _windows(
        x.shape,
        result.shape,
        indices,
        sizes,
        of_window=numbers.offset_dims,
        left_out=numbers.collapsed_slice_dims,
        decided=numbers.start_index_map,
        batching=numbers.operand_batching_dims,
        index_batching=numbers.start_indices_batching_dims,
    )

    def pick(position: list[np.ndarray], component: int) -> Registers:
        if component == len(windows.axes):
            return np.broadcast_to(x[tuple(position)], result.shape)

        def at(start: Any) -> Registers:
            moved = list(position)
            axis = windows.axes[component]
            moved[axis] = moved[axis] + start
            return pick(moved, component + 1)

        return _chosen(tape, windows.indices[component], windows.largest[component], at)

    if 0 in result.shape:
        return np.zeros(result.shape, dtype=np.int64)
    picked = pick(windows.fixed, 0)
    if params["mode"].name in ("CLIP", "PROMISE_IN_BOUNDS"):
        return picked
    filler = constants(tape, _filler(params["fill_value"], result.dtype))
    for index, largest in zip(windows.indices, windows.largest, strict=True):
        for outside, bound in (("lt", 0), ("gt", largest)):
            out = elementwise(tape, outside, index, constants(tape, np.int64(bound)))
            picked = elementwise(tape, "select", out, picked, filler)
    return picked


def _filler(value: Any, dtype: np.dtype) -> np.ndarray:
    """What stands for an entry outside: NaN, the lowest signed, the highest unsigned number."""
    if value is None:
        kind = np.dtype(dtype).kind
        value = {"b": True, "i": 0, "u": 0}.get(kind, np.nan)
        if kind in "iu":
            value = np.iinfo(dtype).min if kind == "i" else np.iinfo(dtype).max
    return np.asarray(value, dtype=dtype)


def scatter(
    tape: Tape,
    params: Any,
    combine: Callable[[Register, Register], Register],
    x: Registers,
    indices: Registers,
    updates: Registers,
) -> Registers:
    """Each update is combined with what stands where it goes, one after the other.

    A window that does not fit is dropped, or moved inside in the mode CLIP.
    """
    numbers = params["dimension_numbers"]
    of_window, left_out = numbers.update_window_dims, numbers.inserted_window_dims
    batching = numbers.operand_batching_dims
    window = iter(of_window)
    sizes = [
        1 if axis in (*left_out, *batching) else updates.shape[next(window)]
        for axis in range(x.ndim)
    ]
    windows = _windows(
        x.shape,
        updates.shape,
        indices,
        sizes,
        of_window,
        left_out,
        decided=numbers.scatter_dims_to_operand_dims,
        batching=batching,
        index_batching=numbers.scatter_indices_batching_dims,
    )
    chosen = windows.indices
    if params["mode"].name == "CLIP":
        pairs = zip(chosen, windows.largest, strict=True)
        chosen = [_clipped(tape, index, largest) for index, largest in pairs]
    # Indices outermost: windows may overlap, and the later one goes on top.
    order = [*windows.rows, *of_window]
    fixed, chosen, flat = (
        [np.broadcast_to(a, updates.shape).transpose(order).ravel().tolist() for a in arrays]
        for arrays in (windows.fixed, chosen, [updates])
    )
    result = x.copy()
    for k, update in enumerate(flat[0]):
        start = [index[k] for index in chosen]
        for position, condition in _landings(tape, start, windows.largest):
            entry = [coordinate[k] for coordinate in fixed]
            for axis, value in zip(windows.axes, position, strict=True):
                entry[axis] += value
            old = int(result[tuple(entry)])
            new = combine(old, update)
            result[tuple(entry)] = tape.operate("select", condition, old, new)
    return result


def _clipped(tape: Tape, index: Registers, largest: int) -> Registers:
    above = elementwise(tape, "max", index, constants(tape, np.int64(0)))
    return elementwise(tape, "min", above, constants(tape, np.int64(largest)))


def _landings(
    tape: Tape, start: list[Register], largest: list[int]
) -> Iterator[tuple[tuple[int, ...], Register]]:
    """Where a window may start, and the condition under which it does."""
    ranges = [
        [int(tape.value(index))] if tape.is_constant(index) else range(most + 1)
        for index, most in zip(start, largest, strict=True)
    ]
    _require_few(int(np.prod([len(r) for r in ranges])))
    for position in itertools.product(*ranges):
        if any(not 0 <= i <= most for i, most in zip(position, largest, strict=True)):
            continue
        condition = tape.constant(True)
        for index, i in zip(start, position, strict=True):
            here = tape.operate("eq", index, tape.constant(i))
            condition = tape.operate("and", condition, here)
        yield position, condition


def _dynamic_slice(tape: Tape, params: Any, x: Registers, *starts: Registers) -> Registers:
    def from_axis(x: Registers, axis: int) -> Registers:
        if axis == x.ndim:
            return x
        size = params["slice_sizes"][axis]
        return _chosen(
            tape,
            np.asarray(starts[axis]),
            x.shape[axis] - size,
            lambda i: from_axis(x.take(range(int(i), int(i) + size), axis), axis + 1),
        )

    return from_axis(x, 0)


def _dynamic_update_slice(
    tape: Tape, params: Any, x: Registers, update: Registers, *starts: Registers
) -> Registers:
    def from_axis(corner: tuple[int, ...]) -> Registers:
        axis = len(corner)
        if axis == x.ndim:
            result = x.copy()
            where = zip(corner, update.shape, strict=True)
            result[tuple(slice(i, i + size) for i, size in where)] = update
            return result
        return _chosen(
            tape,
            np.asarray(starts[axis]),
            x.shape[axis] - update.shape[axis],
            lambda i: from_axis((*corner, int(i))),
        )

    return from_axis(())


RULES: dict[str, Rule] = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
}
# These want to know the shape and type of what comes out.
TYPED: dict[str, Rule] = {"gather": _gather}
SCATTERS: dict[str, str | None] = {
    "scatter": None,
    "scatter-add": "add",
    "scatter-sub": "sub",
    "scatter-mul": "mul",
    "scatter-min": "min",
    "scatter-max": "max",
}
