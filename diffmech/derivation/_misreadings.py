"""Another machine that equations may be right for: gravity reversed, an angle taken as relative.

Every misreading changes the state or the parameters before the machine's own equations are asked.
Equations are explained by it if they hold on the motion of that other machine.
"""

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any, NamedTuple

import jax
import numpy as np

from ..model import parameter_unit
from ._explain import Explanation
from ._rows import Rows
from ._symbols import parameter_entries
from ._truth import Points, Truth

_EXACT = 1e-8  # of an equation's size
_MOST = 160  # misreadings that are tried
# What several wrong equations may have in common, although each has a single wrong term: more than
# what costs a term that is missing.
_RATES, _OF_NUMBERS = 2.0, 2.1
_KEPT = 1e-9  # of a coordinate: the constraints still hold


class Misreading(NamedTuple):
    """A change of states, and what it means.

    Attributes:
        changed: what the machine's own equations are asked at.
        back: from that machine's q̈ to the q̈ of the state as given.
        where: in a word or two.
        words: a sentence.
        cost: how far-fetched it is where it explains one equation alone.
        common: the same where it explains several at once.
    """

    changed: Callable[[Points], Points]
    back: Callable[[np.ndarray], np.ndarray]
    where: str
    words: str
    cost: float = 2.0
    common: float = 0.9


def misread(
    truth: Truth, rows: Rows, points: Points, off: Points
) -> Iterator[tuple[Misreading, dict[int, int]]]:
    """Misreadings with the hand-written equations that they would make right, and as which of the
    machine's (−1: as a combination of them)."""
    true = np.concatenate([points.qdd, points.lam], axis=1)
    wrong = np.flatnonzero(~(_worst(rows.disagreement()) <= _EXACT))
    k = rows.slope.shape[2]
    apart = np.concatenate([off.qdd, off.lam], axis=1) - true
    off_value = rows.value + np.einsum("sjk,sk->sj", rows.slope, apart[:, :k])
    for one in _misreadings(truth):
        other = one.changed(points)
        explained: dict[int, int] = {}
        usable = rows.comparable
        if not truth.m or _still_admissible(truth, other):
            motions = truth.motions(other)
            there = np.concatenate([one.back(motions.qdd), motions.lam], axis=1)
            usable = motions.sound & rows.comparable
            if np.sum(usable) < 0.5 * len(usable):
                continue
            explained = _vanishing(rows, true[:, :k], there[:, :k], usable, wrong)
        missing = [int(j) for j in wrong if j not in explained and rows.linear[j]]
        if missing:
            (left,) = truth.at(one.changed(off), "rows")
            for j in missing:
                row = _multiple_of(off_value[usable, j], left[usable])
                if row is not None:
                    explained[j] = row
        if explained:
            yield one, explained


def _vanishing(
    rows: Rows, true: np.ndarray, there: np.ndarray, usable: np.ndarray, wrong: np.ndarray
) -> dict[int, int]:
    """Wrong equations that hold at other accelerations."""
    value = rows.value + np.einsum("sjk,sk->sj", rows.slope, there - true)
    still = rows.value - np.einsum("sjk,sk->sj", rows.slope, true)
    pulled = np.einsum("sjk,sk->sj", np.abs(rows.slope), np.abs(there))
    size = np.abs(still) + pulled
    size = np.maximum(size, 1e-4 * np.median(size[usable], axis=0) + 1e-300)
    share = np.max(np.abs(value[usable]) / size[usable], axis=0)
    return {int(j): -1 for j in wrong if share[j] <= _EXACT and rows.linear[j]}


def _worst(disagreement: np.ndarray) -> np.ndarray:
    return np.max(np.nan_to_num(disagreement, nan=0.0), axis=0, initial=0.0)


def _multiple_of(value: np.ndarray, rows: np.ndarray) -> int | None:
    """Which row a hand-written equation is, up to a number."""
    for i in range(rows.shape[1]):
        with np.errstate(all="ignore"):
            ratio = value / rows[:, i]
        middle = np.median(ratio)
        if np.isfinite(middle) and middle and np.all(np.abs(ratio - middle) < 1e-7 * abs(middle)):
            return i
    return None


def _still_admissible(truth: Truth, points: Points) -> bool:
    position, rate, rows = truth.at(points, "position", "rate", "jacobian")
    size = np.einsum("smn,sn->sm", np.abs(rows), np.abs(points.q)) + 1e-300
    speed = np.einsum("smn,sn->sm", np.abs(rows), np.abs(points.qd)) + 1e-300
    return bool(
        np.all(np.abs(position) <= _KEPT * np.max(size))
        and np.all(np.abs(rate) <= _KEPT * speed.max())
    )


def explained_by(one: Misreading, alone: bool, row: int) -> Explanation:
    """In words; `alone`: other equations have the same mistake no more."""
    return Explanation(one.cost if alone else one.common, one.where, one.where, one.words, row)


def _misreadings(truth: Truth) -> Iterator[Misreading]:
    count = 0
    for source in (_gravity, _of_angles, _of_signs, _of_rates, _of_parameters):
        for one in source(truth):
            count += 1
            if count > _MOST:
                return
            yield one


def _scaled(leaf: int, index: tuple[int, ...], factor: float) -> Callable[[Points], Points]:
    def changed(points: Points) -> Points:
        leaves, structure = jax.tree.flatten(points.params)
        leaves = [np.array(one) for one in leaves]
        leaves[leaf][(slice(None), *index)] *= factor
        return points._replace(params=jax.tree.unflatten(structure, leaves))

    return changed


def _same(qdd: np.ndarray) -> np.ndarray:
    return qdd


def _gravity(truth: Truth) -> Iterator[Misreading]:
    system = truth.system
    for path, leaf, index in parameter_entries(system.params):
        name = path.split("[")[0].split(".")[-1]
        if parameter_unit(system, path) == "m/s^2" or name in ("g", "gravity", "grav"):
            words = f"gravity is reversed: {path} has the other sign in every term"
            yield Misreading(_scaled(leaf, index, -1.0), _same, "gravity", words, 1.5, 0.95)


def _linear(matrix: np.ndarray, shift: np.ndarray, rates: bool) -> Callable[[Points], Points]:
    def changed(points: Points) -> Points:
        points = points._replace(q=points.q @ matrix.T + shift)
        if rates:
            points = points._replace(qd=points.qd @ matrix.T, qdd=points.qdd @ matrix.T)
        return points

    return changed


def _map(
    matrix: np.ndarray, shift: Any, where: str, words: str, rates: bool = True, cost: float = 2.0
) -> Misreading:
    inverse = np.linalg.inv(matrix)
    shift = np.broadcast_to(np.asarray(shift, float), len(matrix))

    def back(qdd: np.ndarray) -> np.ndarray:
        return qdd @ inverse.T if rates else qdd

    return Misreading(_linear(matrix, shift, rates), back, where, words, cost)


def _angles(truth: Truth) -> list[int]:
    units = list(truth.system.coordinates.values())
    known = [k for k, unit in enumerate(units) if unit == "rad"]
    return known or [k for k, unit in enumerate(units) if unit == ""]


def _of_angles(truth: Truth) -> Iterator[Misreading]:
    """Relative for absolute, and the other way round; all along a chain, or one."""
    names, angles, n = list(truth.system.coordinates), _angles(truth), truth.n
    relative = "is taken as relative to {b} where the machine's is absolute"
    absolute = "is taken as absolute where the machine's is relative to {b}"
    if len(angles) > 2:
        chain = np.eye(n)
        for k, later in enumerate(angles):
            chain[later, angles[:k]] = 1.0
        for matrix, text in ((chain, relative), (np.linalg.inv(chain), absolute)):
            words = f"every angle {text.format(b='the one before')}"
            for rates in (True, False):
                yield _map(matrix, 0.0, "angles", words + _only(rates), rates)
    for b, a in permutations(angles, 2):
        for sign, text in ((1.0, relative), (-1.0, absolute)):
            matrix = np.eye(n)
            matrix[a, b] = sign
            words = f"the angle {names[a]} {text.format(b=names[b])}"
            for rates in (True, False):
                yield _map(matrix, 0.0, f"angle {names[a]}", words + _only(rates), rates)


def _only(rates: bool) -> str:
    return "" if rates else " (in sines and cosines; not its rates)"


def _of_signs(truth: Truth) -> Iterator[Misreading]:
    names, n = list(truth.system.coordinates), truth.n
    for a, name in enumerate(names):
        mirror = np.eye(n)
        mirror[a, a] = -1.0
        words = f"{name} is counted the other way round"
        yield _map(mirror, 0.0, f"sign of {name}", words)
        if a not in _angles(truth):
            continue
        unit = np.eye(n)[a]
        for turn, what in ((np.pi, "the opposite direction"), (np.pi / 2, "a right angle on"),
                           (-np.pi / 2, "a right angle back")):  # fmt: skip
            words = f"{name} is counted from {what} of where the machine counts it from"
            yield _map(np.eye(n), turn * unit, f"zero of {name}", words)
        right = np.pi / 2 * unit
        words = f"sine and cosine of {name} are exchanged: it is counted from the perpendicular"
        yield _map(mirror, right, f"zero of {name}", words)
        yield _map(mirror, right, f"zero of {name}", words + _only(False), False, 2.3)
        degrees = np.eye(n)
        degrees[a, a] = np.pi / 180
        words = f"sine and cosine of {name} are taken in degrees"
        yield _map(degrees, 0.0, f"unit of {name}", words, False, 1.8)


def _of_rates(truth: Truth) -> Iterator[Misreading]:
    names = list(truth.system.coordinates)

    def without(which: list[int]) -> Callable[[Points], Points]:
        def changed(points: Points) -> Points:
            qd = points.qd.copy()
            qd[:, which] = 0.0
            return points._replace(qd=qd)

        return changed

    everything = "all velocity terms are missing"
    yield Misreading(
        without(list(range(truth.n))), _same, "velocity terms", everything, 2.2, _RATES
    )
    if truth.n > 1:
        for a, name in enumerate(names):
            words = f"all terms with the rate {name}' are missing"
            yield Misreading(without([a]), _same, f"rate {name}'", words, 2.3, _RATES)


def _of_parameters(truth: Truth) -> Iterator[Misreading]:
    entries = parameter_entries(truth.system.params)
    for path, leaf, index in entries:
        for factor, words in (
            (0.0, f"{path} is left out everywhere"),
            (2.0, f"{path} is taken twice everywhere"),
            (0.5, f"{path} is halved everywhere"),
            (-1.0, f"{path} has the other sign everywhere"),
        ):
            yield Misreading(_scaled(leaf, index, factor), _same, path, words, 2.5, _OF_NUMBERS)
    units = {path: parameter_unit(truth.system, path) for path, _, _ in entries}
    for one, other in permutations(entries, 2):
        if units[one[0]] != units[other[0]]:
            continue

        def changed(points: Points, one: Any = one, other: Any = other) -> Points:
            leaves, structure = jax.tree.flatten(points.params)
            leaves = [np.array(each) for each in leaves]
            leaves[one[1]][(slice(None), *one[2])] = leaves[other[1]][(slice(None), *other[2])]
            return points._replace(params=jax.tree.unflatten(structure, leaves))

        words = f"{other[0]} stands everywhere where {one[0]} belongs"
        yield Misreading(changed, _same, one[0], words, 2.5, _OF_NUMBERS)
