"""Whether equations were derived for a body of which two moments of inertia are equal."""

from collections.abc import Iterator
from itertools import combinations

import jax
import numpy as np

from ..model import parameter_names, principal_moments
from ._hand_written import HandWritten
from ._states import random_points
from ._truth import Points, Truth

_STATES = 12
_NOTHING = 1e-12
_CHANGE = 1.1

Entry = tuple[str, tuple[int, ...]]


def assumed_symmetry(truth: Truth, written: HandWritten, vary: str) -> str:
    """A sentence if of two equal moments the equations use one where the machine needs both."""
    pairs = list(_equal_moments(truth))
    if not pairs:
        return ""
    points, motions = random_points(truth, _STATES, np.random.default_rng(0), vary, symmetric=True)
    value = written.evaluate(points)
    for pair in pairs:
        used = []
        for entry in pair:
            changed = _with(truth, points, entry)
            with np.errstate(all="ignore"):
                apart = np.abs(written.evaluate(changed) - value)
            used.append(bool(np.any(apart > _NOTHING * np.abs(value)) and np.any(apart > 0)))
        if sum(used) == 1 and all(_felt(truth, points, motions.qdd, entry) for entry in pair):
            names = [_name(entry) for entry in pair]
            one, missing = names[used.index(True)], names[used.index(False)]
            return (
                f"{missing} was kept equal to {one}, as in {truth.system.name}: the equations use "
                f"{one} for both"
            )
    return ""


def _felt(truth: Truth, points: Points, qdd: np.ndarray, entry: Entry) -> bool:
    """Whether the machine's motion depends on one number."""
    apart = np.abs(truth.motions(_with(truth, points, entry)).qdd - qdd)
    return bool(np.any(apart > 1e-9 * np.max(np.abs(qdd), axis=0)))


def _equal_moments(truth: Truth) -> Iterator[tuple[Entry, Entry]]:
    params = truth.system.params
    leaves = dict(zip(parameter_names(params), jax.tree.leaves(params), strict=True))
    for moments in principal_moments(params):
        for one, other in combinations(moments, 2):
            values = [float(np.asarray(leaves[name])[index]) for name, index in (one, other)]
            if values[0] == values[1] != 0:
                yield one, other


def _name(entry: Entry) -> str:
    path, index = entry
    return path + (f"[{','.join(map(str, index))}]" if index else "")


def _with(truth: Truth, points: Points, entry: Entry) -> Points:
    """With one of the numbers changed."""
    path, index = entry
    return points.with_number(parameter_names(truth.system.params).index(path), index, _CHANGE)
