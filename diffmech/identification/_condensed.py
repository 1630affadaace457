"""A record condensed to fewer numbers that say the same.

A motion is smooth: what is shown at all samples follows from what is shown at some nodes, W s, by
local polynomials of degree 5 through neighbouring ones. So all that samples v tell of a motion is

    ‖(W s − v)/σ‖² = ‖L (s − ŝ)‖² + constant,

with ŝ what fits them best and L triangular, of a few diagonals: row i has nodes up to i only, and
is what the samples tell of these while those that come later are free. So beginnings need no other.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from ._record import Record

_POINTS = 6  # of a local polynomial
_NODES = 2.0  # in half a window that tells accelerations
_DENSER, _ODD = 1.4, 1.3  # nodes lie too far apart where residuals are larger than noise by this
_DEGREE, _LENGTH = 4, 4 / 3  # of the polynomial at the start, and of its window in halves
_FAINT = 1e-5  # of L: what samples tell nothing of is zero there


class Condensed(NamedTuple):
    """What a record says at k nodes, c channels.

    Attributes:
        ts: from the record's start [s], shape (k,).
        values: ŝ, shape (k, c).
        bands: L of each channel, shape (b, k, c): its diagonals, (i, i), (i, i − 1), ...
        whole: whether the nodes reach the record's end.
    """

    ts: np.ndarray
    values: np.ndarray
    bands: np.ndarray
    whole: bool

    def missed(self, apart: np.ndarray) -> np.ndarray:
        """L times s − ŝ, shape (..., k, c)."""
        misses = self.bands[0] * apart
        for b in range(1, len(self.bands)):
            misses[..., b:, :] += self.bands[b, b:] * apart[..., :-b, :]
        return misses


def condensed(
    record: Record, noise: np.ndarray, halves: np.ndarray, most: int, outliers: bool = False
) -> Condensed:
    """At most `most` nodes; `halves` are those of windows [s], (c,), NaN where there is none.

    With `outliers`, and where samples are few, some samples are taken as they are.
    """
    ts = np.asarray(record.ts) - float(record.ts[0])
    apart = np.nanmin(halves) / _NODES if np.any(np.isfinite(halves)) else 0.0
    while not outliers and apart > 2 * np.median(np.diff(ts)):
        count = min(int(np.ceil(ts[-1] / apart)) + 1, most)
        end = min(apart * (count - 1), ts[-1])
        if count < _POINTS:
            break
        curve, odd = _fitted(record, noise, np.linspace(0.0, end, count), bool(end >= ts[-1]))
        if odd < _ODD:
            return curve
        apart /= _DENSER
    rows = np.unique(np.linspace(0, len(ts) - 1, most).round().astype(int))
    values, sizes = _weighed(record, noise)
    return Condensed(ts[rows], values[rows], sizes[None, rows], True)


def _weighed(record: Record, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples and their 1/σ, shape (n, c) both, zero where nothing was measured."""
    measured = np.asarray(record.values)
    weights = np.ones_like(measured) if record.weights is None else np.asarray(record.weights)
    seen = np.isfinite(measured)
    return np.where(seen, measured, 0.0), np.where(seen, weights / noise, 0.0)


def _fitted(
    record: Record, noise: np.ndarray, nodes: np.ndarray, whole: bool
) -> tuple[Condensed, float]:
    """The best values at nodes, and the mean square of what they miss in units of the noise."""
    ts = np.asarray(record.ts) - float(record.ts[0])
    values, sizes = _weighed(record, noise)
    inside = ts <= nodes[-1] * (1 + 1e-12)
    first, ways = _ways(ts[inside], nodes)
    last, odd = len(nodes) - 1, 0.0
    best, bands = np.zeros((len(nodes), len(noise))), np.zeros((_POINTS, len(nodes), len(noise)))
    for c in range(len(noise)):
        size, right = sizes[inside, c], sizes[inside, c] * values[inside, c]
        rows, target = size[:, None] * ways, np.zeros(len(nodes))
        square = np.zeros((_POINTS, len(nodes)))  # upper diagonals, from the last node on
        for i in range(_POINTS):
            np.add.at(target, last - first - i, rows[:, i] * right)
            for j in range(i, _POINTS):
                np.add.at(square[i - j - 1], last - first - i, rows[:, i] * rows[:, j])
        largest = np.max(square[-1], initial=1e-300)
        square[-1] += _FAINT**2 * largest
        root = cholesky_banded(square)
        best[:, c] = cho_solve_banded((root, False), target)[::-1]
        kept = (root[-1] > 3 * _FAINT * np.sqrt(largest))[::-1]
        for b in range(_POINTS):
            bands[b, b:, c] = np.where(kept[b:], root[-1 - b, b:][::-1], 0.0)
        shown = np.sum(rows * best[first[:, None] + np.arange(_POINTS), c], axis=1)
        spare = max(np.count_nonzero(size) - len(nodes), 1)
        odd = max(odd, float(np.sum((shown - right) ** 2)) / spare)
    return Condensed(nodes, best, bands, whole), odd


def _ways(ts: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the nodes that each time goes by, (n,), and their weights, (n, points)."""
    step = nodes[1] - nodes[0]
    first = np.clip(np.floor(ts / step).astype(int) - 2, 0, len(nodes) - _POINTS)
    u = ts / step - first
    ways = np.zeros((len(ts), _POINTS))
    for i in range(_POINTS):
        others = [j for j in range(_POINTS) if j != i]
        ways[:, i] = np.prod([(u - j) / (i - j) for j in others], axis=0)
    return first, ways


def at_start(record: Record, channel: int, noise: float, half: float) -> tuple[np.ndarray, ...]:
    """(value, rate) of a channel where its record starts, and their errors, (2,) each.

    By a polynomial through the first window, from one end of which it is read; errors are infinite
    where there are too few samples for one.
    """
    ts, values = np.asarray(record.ts) - float(record.ts[0]), np.asarray(record.values[:, channel])
    length = half * _LENGTH
    near = np.isfinite(values) & (ts <= length)
    if np.isnan(half) or np.sum(near) < _DEGREE + 2:
        return np.zeros(2), np.full(2, np.inf)
    powers = (ts[near, None] / length) ** np.arange(_DEGREE + 1)
    inverse = np.linalg.pinv(powers)
    scale = np.array([1.0, 1 / length])
    return (inverse @ values[near])[:2] * scale, noise * np.linalg.norm(inverse[:2], axis=1) * scale
