"""Random states of a machine that obey its constraints, with rates like those of its motion."""

import numpy as np

from ..model import AbstractSystem
from ._balance import Balance, States

_SPREAD = 0.6  # of a coordinate's own size (1 where that is zero): lengths keep their sign
_NEAR = 0.3  # the same for machines with constraints, which must close again
_LONGEST = 10.0  # [s] times of forces that depend on it
_SLOWEST = 0.1  # of the largest ω²
_CORRECTIONS = 20  # Newton steps back to the constraints
_CLOSED = 1e-13  # what φ may be off, of its size: more would pass for a change of parameters
_LOST = 1e-9  # of the largest singular value: rows that say nothing new
_CONDITION = 1e3  # of the equations at states that are kept, if half of all states allow it
_FEWEST = 8


def random_states(
    system: AbstractSystem, balance: Balance, numbers: np.ndarray, count: int, seed: int
) -> States:
    """Up to `count` admissible states of the machine with these numbers, shape (p,).

    Angles lie anywhere, other coordinates around those of the named starts; constrained machines
    stay near a start and are moved onto their constraints. Rates are such that a coordinate's own
    size is crossed in the time its acceleration at rest takes for it.

    Raises:
        ValueError: there are hardly any states with finite accelerations.
    """
    rng = np.random.default_rng(seed)
    starts = np.array([q for q, _ in system.starts.values()] or [np.zeros(system.n)])
    centre = starts[rng.integers(len(starts), size=count)]
    angle = np.array([unit == "rad" for unit in system.coordinates.values()])
    size = np.max(np.abs(starts), axis=0)
    size = np.where(angle | (size == 0), 1.0, size)
    near = _NEAR if balance.m else _SPREAD
    q = centre + near * size * rng.uniform(-1, 1, centre.shape)
    if not balance.m:
        q = np.where(angle, rng.uniform(-np.pi, np.pi, q.shape), q)
    t = rng.uniform(0, _LONGEST, count)
    rest = _admissible(balance, States(q, np.zeros_like(q), t, np.tile(numbers, (count, 1))), size)
    motions = balance.motions(rest)
    there = np.abs(motions.qdd[motions.sound]) / size
    squares = np.median(there, axis=0) if len(there) else np.ones(system.n)  # ω² [1/s²]
    # A coordinate that gravity does not move (a turn about the vertical) has the others' rates.
    largest = np.max(squares) if np.max(squares) > 0 else 1.0
    qd = size * np.sqrt(np.maximum(squares, _SLOWEST * largest)) * rng.normal(size=rest.q.shape)
    states = _admissible(balance, rest._replace(qd=qd), size)
    motions = balance.motions(states)
    # Near a pole of the coordinates rounding drowns what is asked for.
    limit = max(_CONDITION, float(np.median([1.0, *motions.condition[motions.sound]])))
    states = states.kept(motions.sound & (motions.condition <= limit))
    if len(states.q) < _FEWEST:
        raise ValueError(
            f"`system` must have finite accelerations, but {system.name!r} has them at only "
            f"{len(states.q)} of {count} random states: check its parameters and named starts"
        )
    return states


def _admissible(balance: Balance, states: States, size: np.ndarray) -> States:
    """States moved onto the constraints; those that do not get there are left out."""
    if not balance.m:
        return states
    for _ in range(_CORRECTIONS):
        rows, position = balance.at(("jacobian", "position"), states)
        rows, position = np.nan_to_num(rows), np.nan_to_num(position)
        step = np.einsum("snm,sm->sn", _smallest(rows, size), position)
        states = states._replace(q=states.q - np.clip(step, -size, size))
    rows, position, rate = balance.at(("jacobian", "position", "rate"), states)
    reach = np.max(np.abs(rows) @ size, axis=1, initial=1.0)
    closed = np.max(np.abs(position), axis=1) < _CLOSED * reach
    rows, rate, states = rows[closed], rate[closed], states.kept(closed)
    qd = states.qd - np.einsum("snm,sm->sn", _smallest(rows, size), rate)
    return states._replace(qd=qd)


def _smallest(rows: np.ndarray, size: np.ndarray) -> np.ndarray:
    """J⁺ with coordinates in units of their size, shape (states, n, m)."""
    return size[:, None] * np.linalg.pinv(rows * size, rcond=_LOST)
