"""Where edge functions vanish along a family: crossings told apart from touches.

Sign changes between grid points are crossings. A function that comes near zero between two points
and turns back is looked at more and more closely: it may cross twice (a narrow band), touch, or
miss.
"""

from typing import NamedTuple

import jax
import numpy as np

from ._edge_scan import Scan
from ._edge_slopes import Polished, edge_and_slopes

# A function that comes this close to zero, of its size nearby, touches it: a band that it might
# cut off is narrower than what rounding resolves. f± are products of two small numbers near a
# touch, each with an error near 1e-12; the others are not.
_TOUCH = (1e-19, 1e-19, 1e-10)
_CANDIDATE = 0.3  # of its size nearby: extrema further from zero than this are no candidates
_MISS = 0.2  # of the change over three neighbouring samples, which shrinks with every look
_ZOOMS = 40
_CONVERGED = 1e-9  # Newton step, of the unknowns
_NARROWEST = 1e-12  # bracket, of 1 + |value|


class Bracket(NamedTuple):
    """Two values of the family between which an edge function changes sign."""

    low: float
    high: float
    f_low: float
    f_high: float
    kind: int  # which function


class Dip(NamedTuple):
    """Two values between which an edge function has an extremum near zero; f at its best value."""

    low: float
    high: float
    kind: int
    size: float  # of the function nearby
    best: float
    f_best: float


class Root(NamedTuple):
    """A crossing: its value on the family, the function, the polished edge."""

    value: float
    kind: int
    edge: Polished


def brackets_and_dips(
    values: np.ndarray, edges: np.ndarray, live: list[int]
) -> tuple[list[Bracket], list[Dip]]:
    """Sign changes and candidates for touches on a grid; `edges` of shape (points, functions)."""
    brackets, dips = [], []
    for k in live:
        f = edges[:, k]
        for i in range(len(f) - 1):
            if np.isfinite(f[i]) and np.isfinite(f[i + 1]) and (f[i] < 0) != (f[i + 1] < 0):
                brackets.append(Bracket(values[i], values[i + 1], f[i], f[i + 1], k))
        for i in range(1, len(f) - 1):
            three = f[i - 1 : i + 2]
            same = np.all(three > 0) or np.all(three < 0)
            least = np.argmin(np.abs(three)) == 1
            size = max(1.0, float(np.max(np.abs(three))))
            if same and least and abs(_vertex(values[i - 1 : i + 2], three)) < _CANDIDATE * size:
                dips.append(Dip(values[i - 1], values[i + 1], k, size, values[i], f[i]))
    return brackets, dips


def _vertex(x: np.ndarray, f: np.ndarray) -> float:
    """The extremum of the parabola through three points."""
    a, b, c = np.polyfit(x - x[1], f, 2)
    return float(c - b**2 / (4 * a)) if a else float(c)


def resolve_dips(scan: Scan, dips: list[Dip]) -> tuple[list[Bracket], list[tuple[float, int]]]:
    """Look closer at each dip: pairs of crossings (brackets), or touches (value, function)."""
    brackets: list[Bracket] = []
    touches: list[tuple[float, int]] = []
    for _ in range(_ZOOMS):
        if not dips:
            break
        count = scan.per_bracket(len(dips))
        grids = [np.linspace(dip.low, dip.high, count + 2)[1:-1] for dip in dips]
        samples = scan.at(np.concatenate(grids)).edges.reshape(len(dips), count, -1)
        left: list[Dip] = []
        for dip, x, edges in zip(dips, grids, samples, strict=True):
            f = edges[:, dip.kind]
            if not np.all(np.isfinite(f)):
                continue
            crossed = np.flatnonzero((f < 0) != (dip.f_best < 0))
            if crossed.size:
                first, last = int(crossed[0]), int(crossed[-1])
                ends = (dip.low, dip.f_best), (dip.high, dip.f_best)
                brackets += _around(x, f, first, last, ends, dip.kind)
                continue
            i = int(np.argmin(np.abs(f)))
            best, f_best = (x[i], f[i]) if abs(f[i]) <= abs(dip.f_best) else (dip.best, dip.f_best)
            if abs(f_best) <= _TOUCH[dip.kind] * dip.size:
                touches.append((_centre(x, f, float(best)), dip.kind))
                continue
            spacing = x[1] - x[0]
            low, high = max(dip.low, best - 1.5 * spacing), min(dip.high, best + 1.5 * spacing)
            # Within a few spacings the function is a parabola: one that misses, misses.
            near = slice(int(np.clip(i, 1, len(x) - 2)) - 1, int(np.clip(i, 1, len(x) - 2)) + 2)
            reach = _vertex(x[near], f[near])
            if reach * f_best > 0 and abs(reach) > _MISS * np.max(np.abs(f[near])):
                continue
            left.append(Dip(low, high, dip.kind, dip.size, float(best), float(f_best)))
        dips = left
    # What is not told apart after so many looks is as close as rounding allows.
    return brackets, touches + [(dip.best, dip.kind) for dip in dips]


def _centre(x: np.ndarray, f: np.ndarray, best: float) -> float:
    """Where the parabola fitted to all samples has its extremum: less noisy than the smallest."""
    middle, half = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 2
    a, b, _ = np.polyfit((x - middle) / half, f, 2)
    centre = middle - half * b / (2 * a) if a else best
    return float(centre) if x[0] <= centre <= x[-1] else best


def _around(
    x: np.ndarray,
    f: np.ndarray,
    first: int,
    last: int,
    ends: tuple[tuple[float, float], tuple[float, float]],
    kind: int,
) -> list[Bracket]:
    """The two sign changes on the sides of the points first..last."""
    before = (x[first - 1], f[first - 1]) if first else ends[0]
    after = (x[last + 1], f[last + 1]) if last + 1 < len(x) else ends[1]
    return [
        Bracket(before[0], x[first], before[1], f[first], kind),
        Bracket(x[last], after[0], f[last], after[1], kind),
    ]


def polish(scan: Scan, brackets: list[Bracket], functions: int) -> list[Root]:
    """The crossing in each bracket to rounding, with its derivatives.

    Newton's method from the secant's root; if it leaves the bracket, a closer look first. Where it
    never converges the crossing is degenerate, and the derivatives are NaN: it has none.
    """
    roots: list[Root] = []
    for _ in range(_ZOOMS):
        if not brackets:
            break
        left: list[Bracket] = []
        for bracket in brackets:
            share = bracket.f_low / (bracket.f_low - bracket.f_high)
            value = bracket.low + share * (bracket.high - bracket.low)
            x = np.concatenate([[value], scan.guess(np.asarray([value]))[0]])
            which = np.eye(functions)[bracket.kind]
            edge = edge_and_slopes(scan.family, x, which, scan.base, scan.params)
            inside = bracket.low <= edge.x[0] <= bracket.high
            if inside and edge.error <= _CONVERGED:
                roots.append(Root(float(edge.x[0]), bracket.kind, edge))
            elif bracket.high - bracket.low <= _NARROWEST * (1 + abs(value)):
                blank = jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), edge.slopes)
                roots.append(Root(value, bracket.kind, Polished(x, np.inf, blank)))
            else:
                left.append(bracket)
        brackets = _closer(scan, left)
    return sorted(roots, key=lambda root: root.value)


def fold(scan: Scan, functions: int) -> Root | None:
    """Where a family that was followed step by step turns back, just beyond its last orbit.

    There a multiplier is 1; the orbit and its value are found together, for no orbit lies beyond.
    """
    good = np.flatnonzero(np.isfinite(scan.orbits.error))
    if scan.side_by_side or not good.size or good[-1] == len(scan.grid) - 1:
        return None
    last = int(good[-1])
    x = np.concatenate([[scan.grid[last]], scan.orbits.z[last]])
    edge = edge_and_slopes(scan.family, x, np.eye(functions)[0], scan.base, scan.params)
    near = scan.grid[last] <= edge.x[0] <= scan.grid[last + 1]
    return Root(float(edge.x[0]), 0, edge) if near and edge.error <= _CONVERGED else None


def _closer(scan: Scan, brackets: list[Bracket]) -> list[Bracket]:
    """Each bracket narrowed to the pair of neighbouring values that holds its sign change."""
    if not brackets:
        return []
    count = scan.per_bracket(len(brackets))
    grids = [np.linspace(one.low, one.high, count + 2)[1:-1] for one in brackets]
    samples = scan.at(np.concatenate(grids)).edges.reshape(len(brackets), count, -1)
    narrowed = []
    for one, x, edges in zip(brackets, grids, samples, strict=True):
        xs = np.concatenate([[one.low], x, [one.high]])
        f = np.concatenate([[one.f_low], edges[:, one.kind], [one.f_high]])
        i = int(np.flatnonzero((f[:-1] < 0) != (f[1:] < 0))[0])
        narrowed.append(Bracket(xs[i], xs[i + 1], f[i], f[i + 1], one.kind))
    return narrowed
