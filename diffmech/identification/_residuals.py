"""What a fit makes small: measured minus computed, in units of the noise, and its derivatives."""

from typing import NamedTuple

import numpy as np

from ._record import Record
from ._segments import Dealt, Segments, deal
from ._shots import Machine


class Sensors(NamedTuple):
    """What else is free: offset, scale and delay of channels, by index; −1 where it is not.

    A channel shows  scale · measured(t − delay) + offset. The numbers follow the parameters in z.
    """

    offset: np.ndarray  # (c,) index among the free numbers of sensors
    scale: np.ndarray
    delay: np.ndarray
    size: int

    def of(self, kind: np.ndarray, sensors: np.ndarray, default: float) -> np.ndarray:
        """The numbers of one kind, shape (..., c), of `sensors`, shape (..., size)."""
        filled = np.concatenate([sensors, np.full((*sensors.shape[:-1], 1), default)], axis=-1)
        return filled[..., kind]


class Problem(NamedTuple):
    """A fit as numbers.

    Attributes:
        machine: what moves.
        records: what was measured; R of them.
        segments: how they are cut; L of them.
        sensors: which numbers of sensors are free.
        noise: σ of each channel, shape (c,).
        wraps: which channels are angles that wrap, shape (c,).
        limits: (A, b) of A z ≥ b, for all of z.
        priors: rows (a, b) of a·z + b, in units of what is known; shape (k, p + 1).
        start_priors: rows (a, b) about the first state of each record, shape (R, k, m + 1).
        huber: residuals beyond so many σ count linearly.
    """

    machine: Machine
    records: tuple[Record, ...]
    segments: Segments
    sensors: Sensors
    noise: np.ndarray
    wraps: np.ndarray
    limits: np.ndarray
    priors: np.ndarray
    start_priors: np.ndarray
    huber: float = np.inf
    settled: Dealt | None = None  # samples by segment, where no delay is free

    @property
    def p(self) -> int:
        """How many numbers all records share."""
        return len(self.machine.free.leaves) + self.sensors.size

    def dealt(self, z: np.ndarray) -> Dealt:
        """Samples by segment, for the delays in z, shape (p,)."""
        if self.settled is not None:
            return self.settled
        of_sensors = z[len(self.machine.free.leaves) :]
        delays = self.sensors.of(self.sensors.delay, of_sensors, 0.0)
        return deal(self.records, self.segments, self.noise, delays, self.machine.samples)

    def cut_into(self, segments: Segments, noise: np.ndarray | None = None) -> "Problem":
        """The same with other segments, or another noise."""
        noise = self.noise if noise is None else noise
        fixed = not self.sensors.size or np.all(self.sensors.delay < 0)
        dealt = deal(self.records, segments, noise, None, self.machine.samples) if fixed else None
        return self._replace(segments=segments, noise=noise, settled=dealt)


class Linear(NamedTuple):
    """A problem near some numbers, for G guesses side by side.

    Attributes:
        residuals: in units of the noise, shape (G, L, K, c); 0 where nothing was measured.
        rows: derivatives by (state, z) and residuals, shape (G, L, K c, m + p + 1).
        ends: where segments end, shape (G, L, m); `flow` and `drift` as of `Shots`.
        cost: half the sum of squares (or of Huber's function), shape (G,); infinite where a motion
            failed. Priors included.
    """

    residuals: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    flow: np.ndarray
    drift: np.ndarray
    cost: np.ndarray


def linearised(problem: Problem, z: np.ndarray, states: np.ndarray) -> Linear:
    """Around z, shape (G, p), and the states at which segments start, shape (G, L, m)."""
    machine, segments = problem.machine, problem.segments
    guesses, lanes, m = states.shape
    of_machine = len(machine.free.leaves)
    parts = [problem.dealt(each) for each in (z if problem.settled is None else z[:1])]
    most = max(part.times.shape[1] for part in parts)
    parts = [_as_wide(part, most) for part in parts]
    times, values, weights = (
        np.broadcast_to(np.stack(arrays), (guesses, *arrays[0].shape))
        for arrays in zip(*parts, strict=True)
    )
    start = np.broadcast_to(segments.start, (guesses, lanes))
    shots = machine.shoot(
        states.reshape(-1, m),
        np.repeat(z[:, :of_machine], lanes, axis=0),
        start.ravel(),
        np.broadcast_to(segments.end - segments.start, start.shape).ravel(),
        times.reshape(-1, most),
    )
    shape = (guesses, lanes, most, machine.channels)
    measured = shots.measured.reshape(shape)
    sensors = z[:, None, None, of_machine:]
    scale = problem.sensors.of(problem.sensors.scale, sensors, 1.0)
    offset = problem.sensors.of(problem.sensors.offset, sensors, 0.0)
    miss = scale * measured + offset - values
    miss = np.where(problem.wraps, (miss + np.pi) % (2 * np.pi) - np.pi, miss)
    seen = weights > 0
    residuals = np.where(seen, weights * np.where(seen, miss, 0.0), 0.0)
    factor, penalty = huber(residuals, problem.huber)
    about = np.concatenate([z, np.ones((guesses, 1))], axis=1) @ problem.priors.T
    starts = _start_rows(problem, states)
    cost = 0.5 * (np.sum(penalty, axis=(1, 2, 3)) + np.sum(about**2, axis=1))
    cost = cost + 0.5 * np.sum(starts[..., -1] ** 2, axis=(1, 2))
    bad = np.any(shots.failed.reshape(guesses, lanes), axis=1) | ~np.isfinite(cost)
    cost = np.where(bad, np.inf, cost)
    ends = shots.ends.reshape(guesses, lanes, m)
    by = np.zeros((*shape, m + problem.p + 1))
    by[..., :m] = scale[..., None] * shots.by_start.reshape(*shape, m)
    by[..., m : m + of_machine] = scale[..., None] * shots.by_params.reshape(*shape, of_machine)
    by_time = shots.by_time.reshape(shape)
    for c in range(machine.channels):
        for kind, slope in (
            (problem.sensors.offset, np.ones(shape[:3])),
            (problem.sensors.scale, measured[..., c]),
            (problem.sensors.delay, -scale[..., c] * by_time[..., c]),
        ):
            if kind[c] >= 0:
                by[..., c, m + of_machine + kind[c]] += slope
    by = np.where(seen[..., None], (factor * weights)[..., None] * by, 0.0)
    by[..., -1] = factor * residuals
    rows = np.nan_to_num(by.reshape(guesses, lanes, -1, m + problem.p + 1))
    return Linear(
        residuals,
        np.concatenate([rows, starts], axis=2) if starts.size else rows,
        ends,
        shots.flow.reshape(guesses, lanes, m, m),
        _padded_drift(shots.drift.reshape(guesses, lanes, m, of_machine), problem.sensors.size),
        cost,
    )


def _as_wide(dealt: Dealt, most: int) -> Dealt:
    extra = most - dealt.times.shape[1]
    if not extra:
        return dealt
    more = ((0, 0), (0, extra), (0, 0))
    return Dealt(
        np.pad(dealt.times, more[:2], constant_values=np.nan),
        np.pad(dealt.values, more),
        np.pad(dealt.weights, more),
    )


def huber(residuals: np.ndarray, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """√weight of each row, and what it costs: r², or 2 b|r| − b² beyond the bound b."""
    if not np.isfinite(bound):
        return np.ones_like(residuals), residuals**2
    size = np.abs(residuals)
    far = size > bound
    factor = np.where(far, np.sqrt(bound / np.where(far, size, 1.0)), 1.0)
    return factor, np.where(far, 2 * bound * size - bound**2, residuals**2)


def _start_rows(problem: Problem, states: np.ndarray) -> np.ndarray:
    """What is known of first states, as rows of their segments, shape (G, L, k, m + p + 1)."""
    guesses, lanes, m = states.shape
    count = problem.start_priors.shape[1]
    rows = np.zeros((guesses, lanes, count, m + problem.p + 1))
    if count:
        _, first = np.unique(problem.segments.record, return_index=True)
        known = problem.start_priors
        of_starts = rows[:, first]
        of_starts[..., :m] = known[..., :m]
        moved = np.einsum("rkm,grm->grk", known[..., :m], states[:, first])
        of_starts[..., -1] = moved + known[..., m]
        rows[:, first] = of_starts
    return rows


def _padded_drift(drift: np.ndarray, sensors: int) -> np.ndarray:
    """Sensors do not move the machine."""
    return np.concatenate([drift, np.zeros((*drift.shape[:-1], sensors))], axis=-1)
