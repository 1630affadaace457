"""Where a fit starts: how records are cut, the states of segments, and several guesses."""

import numpy as np

from ._free import Free
from ._guess import states_from_samples
from ._measure import Measure
from ._residuals import Problem, linearised
from ._segments import cut
from ._shots import wide_enough

_SAMPLES = 8  # of a segment
_GROWTH = 10.0  # of a difference, at most, along what is tied at first
_LEAST_TIED = 4  # segments: fewer have too few samples to tell rates
_MOST_SEGMENTS = 200_000


def cut_up(problem: Problem, segment: float | None, slack: float) -> Problem:
    """A problem with its records cut into segments of `segment` [s], or of a few samples each.

    Short segments are what makes a chaotic record easy: their ends depend nearly linearly on where
    they start. They are all of one size, so that one program runs them all.
    """
    records = problem.records
    usual = float(np.median([np.median(np.diff(record.ts)) for record in records]))
    if segment is None:
        segment = _SAMPLES * usual
    elif not segment >= usual:
        raise ValueError(
            f"`segment` must be at least the time between samples, {usual:g} s, but is {segment!r}"
        )
    segments = cut(records, float(segment), slack, slack)
    if len(segments.start) > _MOST_SEGMENTS:
        raise ValueError(
            f"records must be cut into at most {_MOST_SEGMENTS} segments, but would be into "
            f"{len(segments.start)}: give a longer `segment`, or fewer samples"
        )
    problem = problem.cut_into(segments)
    samples = problem.dealt(np.zeros(problem.p)).times.shape[1]
    if problem.settled is None:
        samples += 2 * len(records[0].channels)  # delays move some from one segment to the next
    lanes = wide_enough(len(segments.start))
    timed = problem.settled is None
    machine = problem.machine._replace(lanes=lanes, samples=samples, timed=timed)
    return problem._replace(machine=machine).cut_into(segments)


def first_horizon(problem: Problem, z: np.ndarray, states: np.ndarray) -> tuple[int, float]:
    """How many segments to tie at first, and the rate at which neighbours part [1/s].

    As many as a difference grows along by no more than a factor of 10, in the median.
    """
    here = linearised(problem, z[None], states[None])
    scale = np.sqrt(np.mean(states**2, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    flow = here.flow[0] * scale / scale[:, None]
    neighbours = problem.segments.record[1:] == problem.segments.record[:-1]
    length = float(np.median(problem.segments.end - problem.segments.start))
    tied, growth = 1, _growth(flow)
    rate = np.log(max(growth, 1.0)) / length
    while 2 * tied <= problem.segments.longest:
        same = neighbours[: len(flow) - 1 : 2]
        flow, neighbours = _doubled(flow, same)
        if not len(flow) or not _growth(flow) < _GROWTH:
            break
        tied *= 2
        rate = np.log(max(_growth(flow), 1.0)) / (tied * length)
    return max(tied, _LEAST_TIED), float(rate)


def _growth(flow: np.ndarray) -> float:
    """By how much a difference grows at most along each stretch, in the median."""
    sound = flow[np.all(np.isfinite(flow), axis=(1, 2))]
    return float(np.median(np.linalg.norm(sound, 2, axis=(1, 2)))) if len(sound) else np.inf


def _doubled(flow: np.ndarray, same: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stretches twice as long, of pairs that belong to one record."""
    pairs = len(flow) // 2
    longer = flow[1 : 2 * pairs : 2] @ flow[0 : 2 * pairs : 2]
    longer = longer[same[:pairs]]
    return longer, np.ones(max(len(longer) - 1, 0), bool)


def first_states(problem: Problem, seen: Measure, halves: np.ndarray, guesses: int) -> np.ndarray:
    """States at which segments start, shape (G, L, m), from the samples; NaN where none tell."""
    states = states_from_samples(
        problem.records, problem.segments, seen.coordinates, seen.rates, halves
    )
    return np.repeat(states[None], guesses, axis=0)


def guesses_around(
    numbers: Free, limits: np.ndarray, z: np.ndarray, first: np.ndarray, count: int, seed: int
) -> np.ndarray:
    """Guesses, shape (count, p): the first one, then random ones around the start."""
    rng = np.random.default_rng(seed)
    of_machine = len(numbers.names)
    guesses = [z]
    for _ in range(1000 * count):
        if len(guesses) == count:
            break
        other = first.copy()
        other[:of_machine] *= 2.0 ** rng.uniform(-1, 1, of_machine)
        if np.all(limits[:, :-1] @ other >= limits[:, -1]):
            guesses.append(other)
    return np.stack(guesses)
