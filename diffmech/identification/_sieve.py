"""Many guesses of numbers and start, sieved by longer and longer beginnings of a record.

Where a coordinate is not measured its motion hangs on a start that is known only roughly, and on
numbers that short beginnings do not tell: a single guess ends in the wrong valley. So thousands of
guesses are drawn from what is known, run side by side in lanes, weighted by how well they show what
was measured, drawn again by their weights and moved a little (sequential Monte Carlo, with the
kernel of J. Liu and M. West 2001); each time along a longer beginning.
"""

from typing import NamedTuple

import numpy as np

from ..ensemble import Samples, ensemble
from ..model import parameter_paths
from ._free import written_into
from ._record import Record
from ._residuals import Problem

_GUESSES = 4096
_SAMPLES = 48  # of a beginning that are compared
_LEFT = 0.2  # of the guesses that count after weighting
_KERNEL = 0.25  # of their spread: by how much they are moved
_FACTOR = 2.0  # between which and its inverse a guess of a number may be off
_MARGIN = 0.02  # of what is measured: what no guess is blamed for at first


class Sieved(NamedTuple):
    """Guesses that are left: z of shape (G, p), starts of the first record (G, m), best first."""

    z: np.ndarray
    starts: np.ndarray


def sieved(
    problem: Problem,
    z: np.ndarray,
    start: np.ndarray,
    spread: np.ndarray,
    ends: list[float],
    kept: int,
    seed: int,
) -> Sieved:
    """Sieve guesses around z, shape (p,), and a start, (m,), known up to `spread`, (m,).

    Args:
        ends: times [s] up to which the first record is compared, one after the other.
        kept: how many guesses to return.
    """
    rng = np.random.default_rng(seed)
    own, m = len(problem.machine.free.leaves), len(start)
    draws = _drawn(problem, z, start, spread, rng)
    cost = np.zeros(len(draws))
    for end in ends:
        cost = _misses(problem, problem.records[0], draws, z, own, end)
        weights = _weights(cost)
        if end == ends[-1] or not np.any(weights):
            break
        draws = _moved(problem, draws, weights, z, own, rng)
    order = np.argsort(cost)
    weights = _weights(cost) + 1e-300
    likely = rng.choice(len(draws), len(draws), replace=False, p=weights / np.sum(weights))
    best = np.concatenate([order[:1], likely[likely != order[0]]])[:kept]
    numbers = np.tile(z, (len(best), 1))
    numbers[:, :own] = draws[best, :own]
    return Sieved(numbers, draws[best, own : own + m])


def _drawn(
    problem: Problem, z: np.ndarray, start: np.ndarray, spread: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Numbers within their limits and starts, shape (guesses, own + m); the first as given."""
    own = len(problem.machine.free.leaves)
    found = [np.concatenate([z[:own], start])]
    while len(found) < _GUESSES:
        numbers = z.copy()
        numbers[:own] *= _FACTOR ** rng.uniform(-1, 1, own)
        other = np.concatenate([numbers[:own], start + spread * rng.normal(size=len(start))])
        found.append(other if _possible(problem, numbers) else found[0])
    return np.stack(found)


def _possible(problem: Problem, z: np.ndarray) -> bool:
    return bool(np.all(problem.limits[:, :-1] @ z >= problem.limits[:, -1]))


def _misses(
    problem: Problem, record: Record, draws: np.ndarray, z: np.ndarray, own: int, end: float
) -> np.ndarray:
    """Half the sum of squares of what is missed up to `end`, shape (guesses,)."""
    machine = problem.machine
    n = machine.system.n
    first = float(record.ts[0])
    there = np.flatnonzero(record.ts <= end)
    rows = there[np.unique(np.linspace(0, len(there) - 1, _SAMPLES).astype(int))]
    times = np.asarray(record.ts)[rows]
    leaves = parameter_paths(machine.system.params)
    numbers = draws[:, :own] * machine.free.scale
    changed = written_into(leaves, machine.free.leaves, numbers)
    run = ensemble(
        machine.system,
        draws[:, own : own + n],
        draws[:, own + n :],
        t0=first,
        duration=max(float(times[-1]) - first, 1e-9),
        params={path: np.asarray(x) for path, x in changed.items()},
        rtol=max(1e-6, machine.rtol),
        reduce=Samples(times),
        progress=False,
    )
    q, qd = run.values["samples"]
    shown = machine.measured(q, qd, times, changed)
    values = np.asarray(record.values)[rows]
    size = np.nanstd(np.asarray(record.values), axis=0)
    noise = np.sqrt(problem.noise**2 + (_MARGIN * size) ** 2)
    offset, scale = _sensors(problem, z, own)
    miss = scale * shown + offset - values
    miss = np.where(problem.wraps, (miss + np.pi) % (2 * np.pi) - np.pi, miss) / noise
    miss = np.where(np.isfinite(values), miss, 0.0)
    cost = 0.5 * np.sum(miss**2, axis=(1, 2))
    return np.where(np.isfinite(cost), cost, np.inf)


def _sensors(problem: Problem, z: np.ndarray, own: int) -> tuple[np.ndarray, np.ndarray]:
    of = problem.sensors.of
    return of(problem.sensors.offset, z[own:], 0.0), of(problem.sensors.scale, z[own:], 1.0)


def _weights(cost: np.ndarray) -> np.ndarray:
    """exp(−τ cost), summing to one, with the largest τ ≤ 1 that lets a fifth of them count.

    Motions that failed have no weight; all are zero where every one has.
    """
    weights, sound = np.zeros(len(cost)), np.isfinite(cost)
    if not np.any(sound):
        return weights
    late = cost[sound] - np.min(cost[sound])
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        shares = np.exp(-middle * late)
        count = np.sum(shares) ** 2 / np.sum(shares**2)
        low, high = (middle, high) if count > _LEFT * len(late) else (low, middle)
    shares = np.exp(-low * late)
    weights[sound] = shares / np.sum(shares)
    return weights


def _moved(
    problem: Problem,
    draws: np.ndarray,
    weights: np.ndarray,
    z: np.ndarray,
    own: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Guesses drawn by their weights, each moved a little inside the limits."""
    mean = weights @ draws
    apart = draws - mean
    covariance = (weights[:, None] * apart).T @ apart
    sizes, turned = np.linalg.eigh(covariance)
    root = turned * np.sqrt(np.maximum(sizes, 0.0))
    chosen = draws[rng.choice(len(draws), len(draws), p=weights)]
    shrunk = np.sqrt(1 - _KERNEL**2) * (chosen - mean) + mean
    moved = shrunk + _KERNEL * rng.normal(size=draws.shape) @ root.T
    every = np.tile(z, (len(moved), 1))
    every[:, :own] = moved[:, :own]
    inside = np.all(every @ problem.limits[:, :-1].T >= problem.limits[:, -1], axis=1)
    return np.where(inside[:, None], moved, chosen)
