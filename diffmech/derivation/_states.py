"""Random admissible states of a machine, each with parameters of its own near the given ones."""

from typing import Any

import jax
import numpy as np

from ..model import (
    AbstractSystem,
    parameter_names,
    parameter_rules,
    principal_moments,
    require_sound_params,
)
from ._proportions import in_other_units
from ._truth import Motions, Points, Truth

CHANGED = 0.2  # what parameters are changed by, at most, of themselves
_FELT = 0.3  # of the accelerations: what a parameter that was zero is to change
_SPREAD = 0.6  # of a coordinate's own size (1 where that is zero): lengths keep their sign
_NEAR = 0.3  # the same for machines with constraints, which must close again
_LONGEST = 10.0  # [s] times of forces that depend on it
_SLOWEST = 0.1  # of the largest ω²
_CORRECTIONS = 25  # Newton steps back to the constraints
_CLOSED = 1e-12  # what φ may be off, of its size
_LOST = 1e-9  # of the largest singular value: rows that say nothing new
_CONDITION = 1e3  # of the equations at states that are kept, if half of all states allow it
_TRIES = 30  # draws of principal moments until they are those of a body
_FEWEST = 8

Entry = tuple[int, tuple[int, ...]]  # a single number: its leaf, and the index into it

VARIED, NONZERO, GIVEN, ALIKE = "varied", "nonzero", "given", "alike"


def random_points(
    truth: Truth,
    count: int,
    rng: np.random.Generator,
    vary: str,
    symmetric: bool = False,
    off: frozenset[Entry] = frozenset(),
) -> tuple[Points, Motions]:
    """Up to `count` states on the machine's constraints, with the true q̈ and λ.

    Angles lie anywhere, other coordinates around those of the named starts; constrained machines
    stay near a start. Parameters are changed by up to 20 %, those that are zero made large enough
    to be felt (`vary="varied"`), but for those that are `off`; or zeros are kept ("nonzero"), or
    the proportions of the machine ("alike"), or all numbers ("given"). Moments of inertia stay
    those of a body; with `symmetric` equal ones of one body stay equal.

    Raises:
        ValueError: there are hardly any states with finite accelerations.
    """
    system = truth.system
    params = jax.tree.map(lambda leaf: np.array(leaf, float), system.params)
    if vary == VARIED:
        params = _without_zeros(truth, params, off)
    drawn = 3 * count if truth.m else 2 * count
    points = _drawn(truth, params, drawn, rng, vary, symmetric)
    motions = truth.motions(points)
    limit = max(_CONDITION, float(np.median([1.0, *motions.condition[motions.sound]])))
    good = motions.sound & (motions.condition <= limit)
    which = np.flatnonzero(good)[:count]
    if len(which) < _FEWEST:
        raise ValueError(
            f"`system` must have finite accelerations, but {system.name!r} has them at only "
            f"{len(which)} of {drawn} random states: check its parameters and named starts, or "
            'take `params="given"`'
        )
    kept = Motions(*(array[which] for array in motions))
    return points.kept(which)._replace(qdd=kept.qdd, lam=kept.lam), kept


def _drawn(
    truth: Truth,
    params: Any,
    count: int,
    rng: np.random.Generator,
    vary: str,
    symmetric: bool = False,
) -> Points:
    system, n = truth.system, truth.n
    starts = np.array([q for q, _ in system.starts.values()] or [np.zeros(n)])
    centre = starts[rng.integers(len(starts), size=count)]
    angle = np.array([unit == "rad" for unit in system.coordinates.values()])
    size = np.max(np.abs(starts), axis=0)
    size = np.where(angle | (size == 0), 1.0, size)
    q = centre + (_NEAR if truth.m else _SPREAD) * size * rng.uniform(-1, 1, centre.shape)
    if not truth.m:
        q = np.where(angle, rng.uniform(-np.pi, np.pi, q.shape), q)
    still, t = np.zeros_like(q), rng.uniform(0, _LONGEST, count)
    many = _tiled(params, count)
    if vary == ALIKE:
        many = in_other_units(system, params, count, rng, CHANGED)
    elif vary != GIVEN:
        many = _changed(system, params, count, rng, symmetric)
    points = Points(q, still, still, np.zeros((count, truth.m)), t, many)
    points = _admissible(truth, points, size)
    motions = truth.motions(points)
    there = np.abs(motions.qdd[motions.sound]) / size
    squares = np.median(there, axis=0) if len(there) else np.ones(n)  # ω² [1/s²]
    largest = np.max(squares) if np.max(squares) > 0 else 1.0
    speed = size * np.sqrt(np.maximum(squares, _SLOWEST * largest))
    points = points._replace(qd=speed * rng.normal(size=points.q.shape))
    return _admissible(truth, points, size)


def _admissible(truth: Truth, points: Points, size: np.ndarray) -> Points:
    """States moved onto the constraints; those that do not get there are left out."""
    if not truth.m:
        return points
    for _ in range(_CORRECTIONS):
        rows, position = (np.nan_to_num(a) for a in truth.at(points, "jacobian", "position"))
        step = np.einsum("snm,sm->sn", _smallest(rows, size), position)
        points = points._replace(q=points.q - np.clip(step, -size, size))
    rows, position = truth.at(points, "jacobian", "position")
    reach = np.max(np.abs(rows) @ size, axis=1, initial=1.0)
    points = points.kept(np.max(np.abs(position), axis=1) < _CLOSED * reach)
    rows, rate = truth.at(points, "jacobian", "rate")
    return points._replace(qd=points.qd - np.einsum("snm,sm->sn", _smallest(rows, size), rate))


def _smallest(rows: np.ndarray, size: np.ndarray) -> np.ndarray:
    """J⁺ with coordinates in units of their size, shape (states, n, m)."""
    return size[:, None] * np.linalg.pinv(rows * size, rcond=_LOST)


def _tiled(params: Any, count: int) -> Any:
    return jax.tree.map(lambda leaf: np.tile(leaf, (count,) + (1,) * leaf.ndim), params)


def _changed(
    system: AbstractSystem, params: Any, count: int, rng: np.random.Generator, symmetric: bool
) -> Any:
    """Every number by a factor of its own; bodies stay possible."""
    leaves, structure = jax.tree.flatten(params)
    names = parameter_names(params)
    factors = [rng.uniform(1 - CHANGED, 1 + CHANGED, (count, *np.shape(leaf))) for leaf in leaves]
    for i, leaf in enumerate(leaves):
        if names[i].endswith("inertia") and np.shape(leaf) == (3, 3):
            factors[i] = factors[i][:, :1, :1] * np.ones((1, 3, 3))
    for moments in principal_moments(system.params):
        where = [(names.index(name), index) for name, index in moments]
        values = np.array([leaves[i][index] for i, index in where])
        for (i, index), column in zip(
            where, _moments(values, count, rng, symmetric).T, strict=True
        ):
            factors[i][(slice(None), *index)] = column
    many = [leaf * factor for leaf, factor in zip(leaves, factors, strict=True)]
    changed = jax.tree.unflatten(structure, many)
    sound = np.array([_is_sound(_one(changed, s)) for s in range(count)])
    given = _tiled(params, count)
    # What no rule allows to change stays as it is.
    return jax.tree.map(
        lambda new, old: np.where(sound.reshape((-1,) + (1,) * (new.ndim - 1)), new, old),
        changed,
        given,
    )


def _moments(
    values: np.ndarray, count: int, rng: np.random.Generator, symmetric: bool
) -> np.ndarray:
    """Factors of three principal moments, shape (count, 3)."""
    same = np.arange(3)
    if symmetric:
        same = np.array([np.flatnonzero(values == value)[0] for value in values])
    factors = np.ones((count, 3))
    missing = np.full(count, True)
    for _ in range(_TRIES):
        tried = rng.uniform(1 - CHANGED, 1 + CHANGED, (count, 3))[:, same]
        moments = values * tried
        possible = np.all(2 * moments <= np.sum(moments, axis=1, keepdims=True), axis=1)
        factors = np.where((missing & possible)[:, None], tried, factors)
        missing &= ~possible
    common = rng.uniform(1 - CHANGED, 1 + CHANGED, (count, 1))
    return np.where(missing[:, None], common, factors)


def _one(many: Any, state: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[state], many)


def _is_sound(params: Any) -> bool:
    try:
        require_sound_params(params)
    except ValueError:
        return False
    return True


def _without_zeros(truth: Truth, params: Any, off: frozenset[Entry]) -> Any:
    """The parameters with zeros that are not off made large enough to be felt, as rules allow."""
    leaves, structure = jax.tree.flatten(params)
    names, rules = parameter_names(params), parameter_rules(truth.system.params)
    zeros = [
        (i, index)
        for i, leaf in enumerate(leaves)
        for index in np.argwhere(leaf == 0)
        if (i, tuple(index.tolist())) not in off
    ]
    for _ in range(2):  # a rest length says something only once its spring is there
        for i, index in zeros:
            if names[i].endswith("inertia") and leaves[i].shape == (3, 3):
                continue  # axes that are principal stay so
            where = tuple(index.tolist())
            if leaves[i].shape == (3,) and names[i].endswith("inertia"):
                tried = 0.3 * float(np.max(leaves[i]))  # that of a thin rod about itself
            else:
                tried = _felt(truth, leaves, structure, i, where)
            old = float(leaves[i][where])
            leaves[i][where] = tried or (1.0 if rules.get(names[i]) is None else 0.0)
            if not _is_sound(jax.tree.unflatten(structure, leaves)):
                leaves[i][where] = old
    return jax.tree.unflatten(structure, leaves)


def _felt(truth: Truth, leaves: list[np.ndarray], structure: Any, i: int, where: Any) -> float:
    """The value of one number that changes the accelerations by a third; 0 if none does."""

    def moved(value: float, base: Points | None) -> tuple[Points, np.ndarray]:
        tried = [leaf.copy() for leaf in leaves]
        tried[i][where] = value
        params = jax.tree.unflatten(structure, tried)
        if base is None:
            points = _drawn(truth, params, 12, np.random.default_rng(0), GIVEN)
        else:
            points = base._replace(params=_tiled(params, len(base.q)))
        motions = truth.motions(points)
        return points, np.where(motions.sound[:, None], motions.qdd, np.nan)

    points, without = moved(0.0, None)
    _, with_one = moved(1.0, points)
    change = np.max(np.nan_to_num(np.abs(with_one - without)), initial=0.0)
    size = np.max(np.nan_to_num(np.abs(without)), initial=0.0)
    if not np.isfinite(change) or change <= 1e-12 * size or change == 0:
        return 0.0
    return float(_FELT * (size or change) / change)
