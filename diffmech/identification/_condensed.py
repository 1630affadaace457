"""A record condensed to fewer, sharper numbers.

Thousands of guesses need not be compared with every sample: the middles of local polynomials, about
one per window, say nearly the same, each with a smaller error. Where there are too few samples for
a polynomial the nearest sample itself is taken.
"""

from typing import NamedTuple

import numpy as np

from ._derivatives import local_polynomials
from ._record import Record

_DEGREE = 4
# Of the windows that tell accelerations best: values are told by shorter ones without bias.
_SHORTER = 1.5


class Condensed(NamedTuple):
    """What a record says at k times, c channels.

    Attributes:
        ts: times from its start [s], shape (k,).
        values, errors: shape (k, c); values are NaN where nothing was measured.
    """

    ts: np.ndarray
    values: np.ndarray
    errors: np.ndarray


def condensed(
    record: Record, noise: np.ndarray, halves: np.ndarray, most: int, smooth: bool = True
) -> Condensed:
    """At most `most` times; `halves` are those of windows [s], (c,), NaN where there is none.

    Without `smooth` samples are taken as they are: outliers would spoil polynomials.
    """
    ts, measured = np.asarray(record.ts), np.asarray(record.values)
    span = float(ts[-1] - ts[0])
    shortest = np.nanmin(halves) if np.any(np.isfinite(halves)) else span / most
    count = int(np.clip(_SHORTER * span / shortest, min(8, most), most))
    middles = ts[0] + span / count * (np.arange(count) + 0.5)
    rows = np.unique(np.clip(np.searchsorted(ts, middles), 0, len(ts) - 1))
    weights = np.ones_like(measured) if record.weights is None else np.asarray(record.weights)
    values, counted = measured[rows].copy(), weights[rows]
    values[counted <= 0] = np.nan
    errors = noise / np.where(counted > 0, counted, 1.0)
    for c in range(len(noise)) if smooth and record.weights is None else ():
        local = local_polynomials(ts, measured[:, c], ts[rows], halves[c] / _SHORTER, _DEGREE)
        sound = np.isfinite(local.states[:, 0])
        values[sound, c] = local.states[sound, 0]
        errors[sound, c] = noise[c] * np.sqrt(local.covariances[sound, 0, 0])
    return Condensed(ts[rows] - ts[0], values, errors)


def at_start(record: Record, channel: int, noise: float, half: float) -> tuple[np.ndarray, ...]:
    """(value, rate) of a channel where its record starts, and their errors, (2,) each.

    By a polynomial through the first window, from one end of which it is read; errors are infinite
    where there are too few samples for one.
    """
    ts, values = np.asarray(record.ts) - float(record.ts[0]), np.asarray(record.values[:, channel])
    length = 2 * half / _SHORTER
    near = np.isfinite(values) & (ts <= length)
    if np.isnan(half) or np.sum(near) < _DEGREE + 2:
        return np.zeros(2), np.full(2, np.inf)
    powers = (ts[near, None] / length) ** np.arange(_DEGREE + 1)
    inverse = np.linalg.pinv(powers)
    scale = np.array([1.0, 1 / length])
    return (inverse @ values[near])[:2] * scale, noise * np.linalg.norm(inverse[:2], axis=1) * scale
