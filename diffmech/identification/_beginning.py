"""Where a fit starts: how records are cut, the states of segments, and several guesses."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ensemble import Samples, ensemble
from ..model import parameter_paths
from ._free import Free
from ._guess import states_from_samples
from ._measure import Measure
from ._record import Record
from ._residuals import Problem
from ._segments import Segments, cut

_FIRST_SAMPLES = 8  # of a segment, before it is known how fast neighbours part
_GROWTH = np.e  # of a difference along a segment, at most: there its end is nearly linear in it
_MOST_SEGMENTS = 200_000


def first_length(records: tuple[Record, ...]) -> float:
    usual = np.median([np.median(np.diff(record.ts)) for record in records])
    return float(_FIRST_SAMPLES * usual)


def cut_well(
    problem: Problem,
    seen: Measure,
    starts: Mapping[str, Any],
    z: np.ndarray,
    segment: float | None,
    slack: float,
) -> Problem:
    """Segments along which neighbours part by no more than a factor of e, or as long as asked."""
    records = problem.records
    if segment is not None:
        if not segment > 0:
            raise ValueError(f"`segment` must be greater than zero, but is {segment!r}")
        return _with_segments(problem, cut(records, float(segment), slack, slack))
    longest = max(float(record.ts[-1] - record.ts[0]) for record in records)
    length = first_length(records)
    for _ in range(6):
        problem = _with_segments(problem, cut(records, length, slack, slack))
        states = first_states(problem, seen, starts, z[None])[0]
        growth = _growth(problem, z, states)
        if not np.isfinite(growth) or growth > _GROWTH or length >= longest / 2:
            break
        length *= 2
    if growth > _GROWTH and length > first_length(records):
        length /= 2
        problem = _with_segments(problem, cut(records, length, slack, slack))
    return problem


def _with_segments(problem: Problem, segments: Segments) -> Problem:
    if len(segments.start) > _MOST_SEGMENTS:
        raise ValueError(
            f"records must be cut into at most {_MOST_SEGMENTS} segments, but would be into "
            f"{len(segments.start)}: give a longer `segment`, or fewer samples"
        )
    return problem._replace(segments=segments)


def _growth(problem: Problem, z: np.ndarray, states: np.ndarray) -> float:
    """By how much a difference grows along a segment, in the median."""
    machine, segments = problem.machine, problem.segments
    own = len(machine.free.leaves)
    every = max(len(segments.start) // 64, 1)
    chosen = slice(None, None, every)
    shots = machine.shoot(
        states[chosen],
        np.broadcast_to(z[:own], (len(states[chosen]), own)),
        segments.start[chosen],
        (segments.end - segments.start)[chosen],
        problem.dealt(z).times[chosen],
    )
    scale = np.sqrt(np.mean(states**2, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    flow = shots.flow * scale / scale[:, None]
    sound = np.all(np.isfinite(flow), axis=(1, 2))
    if not np.any(sound):
        return np.inf
    return float(np.median(np.linalg.norm(flow[sound], 2, axis=(1, 2))))


def first_states(
    problem: Problem, seen: Measure, starts: Mapping[str, Any], tried: np.ndarray
) -> np.ndarray:
    """States at which segments start, shape (G, L, m), for each guess."""
    segments, m = problem.segments, problem.machine.size
    usual = np.zeros((len(tried), len(segments.start), m))
    if not seen.complete:
        usual = _simulated(problem, starts, tried)
    return np.stack([
        states_from_samples(
            problem.records, segments, seen.coordinates, seen.rates, problem.noise, each
        )
        for each in usual
    ])  # fmt: skip


def _simulated(problem: Problem, starts: Mapping[str, Any], tried: np.ndarray) -> np.ndarray:
    """Where motions from the starts that are known come to, for what is not measured."""
    machine, segments = problem.machine, problem.segments
    names = [*machine.system.coordinates, *(f"{name}_dot" for name in machine.system.coordinates)]
    state = np.array([float(starts[name][0]) if name in starts else 0.0 for name in names])
    n, own = machine.size // 2, len(machine.free.leaves)
    own_leaves = parameter_paths(machine.system.params)
    found = np.zeros((len(tried), len(segments.start), machine.size))
    for r in range(len(problem.records)):
        mine = np.flatnonzero(segments.record == r)
        run = ensemble(
            machine.system,
            np.broadcast_to(state[:n], (len(tried), n)),
            np.broadcast_to(state[n:], (len(tried), n)),
            t0=segments.start[mine[0]],
            duration=segments.end[mine[-1]] - segments.start[mine[0]],
            params={
                path: np.asarray(leaf)
                for path, leaf in machine.free.into(own_leaves, tried[:, :own]).items()
            },
            reduce=Samples(segments.start[mine]),
            progress=False,
        )
        found[:, mine] = np.concatenate(run.values["samples"], axis=-1)
    return np.nan_to_num(found)


def guesses_around(
    numbers: Free, limits: np.ndarray, z: np.ndarray, first: np.ndarray, count: int, seed: int
) -> np.ndarray:
    """Guesses, shape (count, p): the first one, then random ones around the start."""
    rng = np.random.default_rng(seed)
    own = len(numbers.names)
    found = [z]
    for _ in range(1000 * count):
        if len(found) == count:
            break
        other = first.copy()
        other[:own] *= 2.0 ** rng.uniform(-1, 1, own)
        if np.all(limits[:, :-1] @ other >= limits[:, -1]):
            found.append(other)
    return np.stack(found)
