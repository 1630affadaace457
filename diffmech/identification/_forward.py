"""Fits of motions that are measured in part: they are followed from where they start.

Where a coordinate is not measured nothing tells the states along a record, but its start is known
somewhat. So only the first segments of each record are fitted, tied to one motion; then a tenth
more, whose states are where that motion goes on to, until the record is whole: in longer strides a
chaotic motion is lost on the way. What is measured is taken from the samples.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..lanes import Samples, ensemble
from ..model import parameter_paths
from ._descent import ALL_STEPS, Descent, descend
from ._free import written_into
from ._residuals import Problem
from ._shots import Machine

_FIRST = 8  # segments
_FURTHER = 1.1  # times as many, each time
_KEPT, _FEWEST = 0.7, 8  # of the guesses, each time, and how many at least
_SAME = 1e-3  # of a number: guesses that are nearer to each other are one
_STEPS = 25  # for each beginning
_FEW_STEPS = 8  # of several guesses, of which the best goes on
_UNSURE = 1.0  # of itself: standard deviation of a guess, until the record is whole


def followed(
    problem: Problem,
    z: np.ndarray,
    states: np.ndarray,
    begin: np.ndarray,
    slack: float,
    look: Callable[[int], None] = lambda _: None,
    frozen: bool = False,
    reach: int = _FIRST,
) -> Descent:
    """Descend along longer and longer beginnings of all records; one guess is left.

    Args:
        z: guesses, shape (G, p).
        states: of segments' starts, shape (G, L, m), NaN where nothing was measured.
        begin: of records, where `states` does not tell, shape (R, m).
        slack: time before and after a record that delays ask for [s].
        look: gets the number of segments that are reached.
        frozen: keep z.
        reach: how many segments the first beginning has.
    """
    record = problem.segments.record
    number = np.arange(len(record)) - np.searchsorted(record, record)
    first = number == 0
    z, states = z.copy(), states.copy()
    states[:, first] = np.where(np.isnan(states[:, first]), begin, states[:, first])
    whole, had = problem.segments.longest, 1
    reach = min(reach, whole)
    of_machine = len(problem.machine.free.leaves)
    # A number that starts at zero is not pinned there: its scale is one.
    size = _UNSURE * np.where(z[0, :of_machine] != 0, np.abs(z[0, :of_machine]), 1.0)
    anchors = np.zeros((of_machine, problem.p + 1))
    anchors[:, :of_machine], anchors[:, -1] = np.diag(1 / size), -z[0, :of_machine] / size
    while True:
        inside = number < reach
        states = _gone_on(problem, z, states, number, had, reach)
        part = beginning(problem, inside, slack)
        last = reach >= whole
        if not last:  # what a beginning does not tell stays where it was guessed
            part = part._replace(priors=np.concatenate([part.priors, anchors]))
        descent = descend(
            part, z, states[:, inside], part.segments.longest,
            ALL_STEPS if last else _STEPS, frozen, partial(look, reach),
        )  # fmt: skip
        if last or descent.stopped:
            break
        order = _distinct(descent)[: max(int(np.ceil(_KEPT * len(z))), min(_FEWEST, len(z)))]
        z, states = descent.z[order], states[order]
        states[:, inside] = descent.states[order]
        reach, had = min(int(np.ceil(_FURTHER * reach)), whole), reach
    if not last:  # stopped: the rest is where the motion goes on to
        order = np.argsort(descent.cost)[:1]
        z, states = descent.z[order], states[order]
        states[:, inside] = descent.states[order]
        states = _gone_on(problem, z, states, number, reach, whole)
        return descend(problem, z, states, whole, 0)._replace(stopped=True)
    return descent.chosen(_distinct(descent)[:1])


def carried_on(
    problem: Problem,
    z: np.ndarray,
    starts: np.ndarray,
    look: Callable[[int], None] | None = None,
) -> Descent:
    """Descend along whole records from motions of numbers z, (G, p), and starts, (G, R, m).

    The best is left; without `look` it stays as it is.
    """
    record, whole = problem.segments.record, problem.segments.longest
    number = np.arange(len(record)) - np.searchsorted(record, record)
    states = np.full((len(z), len(record), starts.shape[-1]), np.nan)
    states[:, number == 0] = starts
    states = _gone_on(problem, z, states, number, 1, whole)
    if look is None:
        return descend(problem, z, states, whole, 0).best(1)
    seen = partial(look, whole)
    descent = descend(problem, z, states, whole, _FEW_STEPS if len(z) > 1 else 0, look=seen)
    descent = descent.chosen(_distinct(descent)[:1])
    if descent.stopped or descent.settled[0]:
        return descent
    return descend(problem, descent.z, descent.states, whole, ALL_STEPS, look=seen)


def _distinct(descent: Descent) -> np.ndarray:
    """Guesses that have come to different numbers, the best first.

    One that is still torn fits anything: those that hold together come before.
    """
    order = np.lexsort((descent.cost, ~descent.settled))
    size = np.maximum(np.max(np.abs(descent.z), axis=0), 1e-300)
    kept: list[int] = []
    for i in order:
        apart = [np.max(np.abs(descent.z[i] - descent.z[j]) / size) for j in kept]
        if min(apart, default=np.inf) > _SAME and np.isfinite(descent.cost[i]):
            kept.append(int(i))
    return np.array(kept or [int(order[0])])


def beginning(problem: Problem, inside: np.ndarray, slack: float) -> Problem:
    """A problem with some segments of each record, the first ones, and the samples in them."""
    segments = problem.segments
    kept = type(segments)(*(array[inside] for array in segments))
    records = []
    for r, record in enumerate(problem.records):
        if np.all(inside[segments.record == r]):
            records.append(record)
        else:
            end = float(np.max(kept.end[kept.record == r]))
            records.append(record.between(float(record.ts[0]), end - slack))
    return problem._replace(records=tuple(records)).cut_into(kept)


def _gone_on(
    problem: Problem, z: np.ndarray, states: np.ndarray, number: np.ndarray, had: int, reach: int
) -> np.ndarray:
    """States of the segments from number `had` to `reach`, where they are not measured."""
    segments, records = problem.segments, len(problem.records)
    new = np.flatnonzero((number >= had) & (number < reach))
    if not len(new):
        return states
    last = np.array([np.flatnonzero((segments.record == r) & (number < had))[-1]
                     for r in range(records)])  # fmt: skip
    times = np.full((records, segments.longest), np.nan)
    times[segments.record[new], number[new] - had] = segments.start[new]
    carried = _carried(problem.machine, z, states[:, last], segments.start[last], times)
    there = carried[:, segments.record[new], number[new] - had]
    states = states.copy()
    states[:, new] = np.where(np.isnan(states[:, new]), there, states[:, new])
    return states


def _carried(
    machine: Machine, z: np.ndarray, states: np.ndarray, t0: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """Where motions come to: from states (G, R, m) at t0 (R,), at times (R, k), (G, R, k, m).

    A motion that fails stays at its last state.
    """
    guesses, records, m = states.shape
    of_machine, n = len(machine.free.leaves), m // 2
    end = np.nanmax(np.concatenate([times, t0[:, None]], axis=1), axis=1)
    lanes = states.reshape(-1, m)
    leaves = parameter_paths(machine.system.params)
    values = np.repeat(z[:, :of_machine] * machine.free.scale, records, axis=0)
    changed = written_into(leaves, machine.free.leaves, values)
    run = ensemble(
        machine.system,
        lanes[:, :n],
        lanes[:, n:],
        t0=np.tile(t0, guesses),
        duration=np.tile(np.maximum(end - t0, 1e-9), guesses),
        params={path: np.asarray(x) for path, x in changed.items()},
        rtol=machine.rtol,
        reduce=Samples(np.tile(times, (guesses, 1))),
        progress=False,
    )
    samples = np.concatenate(run.values["samples"], axis=-1)
    samples = np.where(np.isfinite(samples), samples, lanes[:, None])
    return samples.reshape(guesses, records, times.shape[1], m)
