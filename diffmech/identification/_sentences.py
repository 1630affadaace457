"""What is determined, said in one sentence."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..model import AbstractSystem, parameter_unit
from ._sensitivity import RANK, Sensitivity

_WITH_MASS = {"kg", "g", "N", "J", "W", "Pa"}  # units that a mass is part of
_SHOWN = 2  # vectors of a null space that a sentence has room for
_ENTRIES = 6  # of each
_SMALL = 1e-6  # entries of such a vector that are rounding
_MOST = 10  # scalings of which all sums are looked at


def listed(items: Sequence[str]) -> str:
    """a, b and c."""
    items = list(items)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def sentence(
    names: tuple[str, ...],
    rank: int,
    combinations: Sequence[tuple[str, bool]],
    idle: np.ndarray,
    null_space: np.ndarray,
    scalings: Sequence[str],
) -> str:
    """One sentence on what is determined.

    Args:
        combinations: the determined ones, and whether each is one of the numbers alone.
        idle: which numbers do nothing.
        null_space: relative changes that are not seen, shape (p, p − rank).
        scalings: what scales out, in words.
    """
    if rank == len(names):
        what = f"all {rank} free parameters are" if rank > 1 else f"{names[0]} is"
        return f"{what} determined"
    parts = [_determined(rank, combinations, len(names))]
    if len(combinations) < rank:
        parts.append(_unseen(names, null_space, idle))
    unused = [name for name, nothing in zip(names, idle, strict=True) if nothing]
    if unused:
        parts.append(f"{listed(unused)} {'does' if len(unused) == 1 else 'do'} nothing")
    return "; ".join([*parts, *scalings])


def _determined(rank: int, combinations: Sequence[tuple[str, bool]], free: int) -> str:
    alone = [text for text, single in combinations if single]
    combined = [text for text, single in combinations if not single]
    missing = rank - len(combinations)
    if rank == 0:
        return "nothing is determined"
    if missing and not combinations:
        which = "combination is" if rank == 1 else "combinations are"
        return f"{rank} {which} determined of {free} parameters, without short words"
    if missing:
        combined.append(f"{missing} more without short words")
    if not combined:
        return f"only {listed(alone)} {_are(alone)} determined"
    if not alone:
        return f"only {listed(combined)} {_are(combined)} determined"
    return f"{listed(alone)} {_are(alone)} determined, of the others only {listed(combined)}"


def _are(items: Sequence[str]) -> str:
    return "is" if len(items) == 1 else "are"


def _unseen(names: tuple[str, ...], null_space: np.ndarray, idle: np.ndarray) -> str:
    """Relative changes along which nothing moves differently, each with few numbers in it."""
    rows = [row for row in _echelon(null_space.T) if np.any(np.abs(row[~idle]) > _SMALL)]
    texts = [_direction(names, row) for row in rows[:_SHOWN]]
    more = f", and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"the equations do not change along {' or along '.join(texts)} (relative){more}"


def _direction(names: tuple[str, ...], row: np.ndarray) -> str:
    order = [int(i) for i in np.argsort(-np.abs(row), kind="stable") if abs(row[i]) > _SMALL]
    shown = ", ".join(f"{names[i]}: {row[i]:+.2g}" for i in sorted(order[:_ENTRIES]))
    return shown + (f" and {len(order) - _ENTRIES} smaller" if len(order) > _ENTRIES else "")


def scalings_of(
    system: AbstractSystem, names: tuple[str, ...], points: Sequence[Sensitivity]
) -> list[str]:
    """Numbers that may all be multiplied by one factor, at any values, in words."""
    matrix = np.concatenate([point.matrix for point in points])
    active = np.flatnonzero(~np.all([point.idle for point in points], axis=0))
    if not len(active):
        return []
    matrix = matrix[:, active]
    norms = np.linalg.norm(matrix, axis=0)
    _, values, right = np.linalg.svd(matrix / norms)
    rank = int(np.sum(values > RANK * values[0]))
    rows = _echelon(right[rank:] / norms)
    if not 0 < len(rows) <= _MOST:
        return []
    groups = []
    # In echelon form every row has a column of its own, so that a sum with entries 0 and 1 has
    # weights 0 and 1.
    for weights in product((0, 1), repeat=len(rows)):
        total = np.array(weights) @ rows
        group = active[np.abs(total - 1) < _SMALL]
        if np.all(np.minimum(np.abs(total), np.abs(total - 1)) < _SMALL) and len(group) > 1:
            groups.append(group)
    # The smallest groups say it: their unions follow.
    groups = [g for g in groups if not any(set(o) < set(g) for o in groups)]
    return [_scaling(system, [names[i] for i in group]) for group in groups]


def _echelon(rows: np.ndarray) -> np.ndarray:
    """Reduced row echelon form, pivots where they are largest."""
    table = rows.copy()
    for i in range(len(table)):
        k = int(np.argmax(np.max(np.abs(table[i:]), axis=1))) + i
        table[[i, k]] = table[[k, i]]
        pivot = int(np.argmax(np.abs(table[i])))
        table[i] /= table[i, pivot]
        for j in range(len(table)):
            if j != i:
                table[j] -= table[j, pivot] * table[i]
    return table


def _scaling(system: AbstractSystem, group: list[str]) -> str:
    units = [parameter_unit(system, name) for name in group]
    words = [set(unit.replace("/", " ").replace("^", " ").split()) for unit in units]
    if all(word & _WITH_MASS for word in words):
        return "masses scale out"
    return f"a common factor of {listed(group)} scales out"
