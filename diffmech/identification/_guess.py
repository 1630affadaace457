"""First guesses: states from the samples alone, and parameters from accelerations."""

import numpy as np

from ._balance import Balance, States, accelerations
from ._derivatives import chosen_half, local_polynomials
from ._limited import limited
from ._named import named_numbers
from ._record import Record
from ._residuals import huber
from ._segments import Segments
from ._shots import Machine

_DEGREE = 4  # of the local polynomials
_STEPS = 40
_MOST_STATES = 2000  # that the accelerations of are compared


def half_windows(records: tuple[Record, ...], noise: np.ndarray) -> np.ndarray:
    """Half the length of the windows [s] that samples are smoothed in, shape (records, c)."""
    return np.array([
        [
            chosen_half(record.ts, np.asarray(record.values[:, c]), float(noise[c]), _DEGREE)[0]
            for c in range(len(noise))
        ]
        for record in records
    ])  # fmt: skip


def smoothed(record: Record, column: int, centres: np.ndarray, half: float) -> np.ndarray:
    """(value, rate, its rate) of a channel at `centres` [s], shape (k, 3).

    Beyond the outermost windows the nearest polynomial goes on.
    """
    values = np.asarray(record.values[:, column])
    if np.isnan(half):
        return _by_differences(record.ts, values, centres)
    inner = np.unique(np.concatenate([centres, record.ts]))
    derivatives = local_polynomials(record.ts, values, inner, half, _DEGREE).states
    sound = np.flatnonzero(np.isfinite(derivatives[:, 0]))
    if not len(sound):
        return _by_differences(record.ts, values, centres)
    right = np.clip(np.searchsorted(inner[sound], centres), 0, len(sound) - 1)
    left = np.maximum(right - 1, 0)
    nearer = np.abs(inner[sound[left]] - centres) < np.abs(inner[sound[right]] - centres)
    nearest = sound[np.where(nearer, left, right)]
    late = centres - inner[nearest]
    value, rate, bend = derivatives[nearest].T
    return np.stack([value + late * (rate + 0.5 * late * bend), rate + late * bend, bend], axis=1)


def _by_differences(ts: np.ndarray, values: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Too few samples for polynomials: straight lines between them."""
    seen = np.isfinite(values)
    slopes = np.gradient(values[seen], ts[seen]) if np.sum(seen) > 1 else np.zeros(np.sum(seen))
    value, rate = (np.interp(centres, ts[seen], x) for x in (values[seen], slopes))
    return np.stack([value, rate, np.zeros_like(rate)], axis=1)


def noise_of_channel(records: tuple[Record, ...], column: int) -> float:
    """The standard deviation that neighbouring samples show; NaN where there are too few."""
    columns = [(r.ts, np.asarray(r.values[:, column])) for r in records]
    estimates = [chosen_half(ts, values, None, _DEGREE)[1] for ts, values in columns]
    known = [noise for noise in estimates if np.isfinite(noise) and noise > 0]
    return float(np.sqrt(np.mean(np.square(known)))) if known else np.nan


def states_from_samples(
    records: tuple[Record, ...],
    segments: Segments,
    coordinates: list[int],
    rates: list[int],
    halves: np.ndarray,
) -> np.ndarray:
    """The state at the start of every segment, shape (L, 2 n).

    `coordinates` and `rates` are the channels that measure them, −1 where none does: there it is
    NaN.
    """
    n = len(coordinates)
    states = np.full((len(segments.start), 2 * n), np.nan)
    for r, record in enumerate(records):
        here = np.flatnonzero(segments.record == r)
        centres = segments.start[here]
        for i in range(n):
            if coordinates[i] >= 0:
                seen = smoothed(record, coordinates[i], centres, halves[r, coordinates[i]])
                states[here, i], states[here, n + i] = seen[:, 0], seen[:, 1]
            if rates[i] >= 0:
                states[here, n + i] = smoothed(record, rates[i], centres, halves[r, rates[i]])[:, 0]
    return states


def parameters_from_accelerations(
    machine: Machine,
    records: tuple[Record, ...],
    coordinates: list[int],
    halves: np.ndarray,
    z: np.ndarray,
) -> np.ndarray:
    """z, shape (p,), that makes q̈ of the equations nearest to that of the samples.

    Linear or nearly so in most parameters, and without any integration: from far away it comes
    near; smoothing keeps it from being exact.
    """
    every = sum(len(record.ts) for record in records) // _MOST_STATES + 1
    parts = []
    for record, windows in zip(records, halves, strict=True):
        ts = np.asarray(record.ts[::every])
        seen = np.stack([smoothed(record, c, ts, windows[c]) for c in coordinates], axis=2)
        parts.append(np.concatenate([ts[:, None], seen.reshape(len(ts), -1)], axis=1))
    table = np.concatenate(parts)
    table = table[np.all(np.isfinite(table), axis=1)]
    table = table[: 2 * _MOST_STATES]
    ts, q, qd, qdd = table[:, 0], *np.split(table[:, 1:], 3, axis=1)
    system, free = machine.system, machine.free
    named = named_numbers(system.params, free.names)
    balance = Balance(system.laws, system.n, system.params, named)
    scale = np.sqrt(np.mean((qdd - np.mean(qdd, axis=0)) ** 2, axis=0)) if len(table) else 1.0
    scale = np.where(scale > 0, scale, 1.0) * np.ones(system.n)

    def rows_at(z: np.ndarray) -> np.ndarray:
        states = States(q, qd, ts, np.tile(z * free.scale, (len(ts), 1)))
        modelled, by = accelerations(balance, states)
        rows = np.concatenate([by * free.scale, (modelled - qdd)[..., None]], axis=-1)
        rows = (rows / scale[:, None]).reshape(-1, len(z) + 1)
        return np.where(np.all(np.isfinite(rows), axis=1)[:, None], rows, 0.0)

    limits = machine.free.limits
    damping, here = 1e-3, rows_at(z)
    for _ in range(_STEPS):
        # Where smoothing went wrong, at sharp turns and ends of records, samples count less.
        bound = 3 * np.median(np.abs(here[:, -1])) + 1e-12
        factor, cost = huber(here[:, -1], bound)
        rows = factor[:, None] * here
        sizes = np.sqrt(np.sum(rows[:, :-1] ** 2, axis=0))
        weights = np.sqrt(damping) * np.where(sizes > 0, sizes, 1.0)
        step = limited(np.concatenate([rows, np.c_[np.diag(weights), 0 * weights]]), limits, z)
        there = rows_at(z + step)
        gain = 1 - np.sum(huber(there[:, -1], bound)[1]) / np.sum(cost)
        if gain > 0:
            z, here, damping = z + step, there, max(0.1 * damping, 1e-12)
            if gain < 1e-6:
                break
        else:
            damping *= 10
            if damping > 1e8:
                break
    return z
