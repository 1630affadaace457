"""The constraint doctor: what a machine's constraints do at one state, in words and numbers."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._printing import aligned
from .._typing import AnyArray, Coordinates, Number, Params
from ..model import AbstractSystem
from ..motion import (
    Violations,
    is_holonomic,
    kept_at,
    mass_matrix_of,
    nearest,
    prepare,
    rank_distance,
    require_constraints,
    rows_of,
    scaled_rows,
    violations_of,
)
from ._assemble import require_defined

_RANK = 1e-6  # singular values of the scaled rows below this are lost
_SHARE = 1e-3  # a row takes part in a dependence if it has this share of it
_NUDGE = 1e-3  # how far to go to see whether rows are dependent there as well
_WALK = 128  # strides of a walk that looks for singular positions
_STRIDE = 0.05  # length of a stride, of the coordinate that moves most: a turn in one walk
_DIRECTIONS = 3  # in which walks are made, and back
_NEARLY_SINGULAR = 0.2  # σ on a walk below which a singular position may be near
_DESCENT = 12  # steps down to it
_SINGULAR = 1e-6  # σ that counts as singular


class Diagnosis(eqx.Module):
    """The constraints of a machine at one state. Printing it gives the report.

    Attributes:
        freedoms: of the velocity, n − rank; `place_freedoms`: of the configuration, which counts
            holonomic rows only.
        rank: of all rows together, at this state.
        dependent: groups of rows that say the same, by name; empty if all are independent.
        change_point: whether the rows are dependent here only, and not nearby.
        conflicts: groups of dependent rows that contradict each other, each with the contradiction
            of the scaled rows in place, rate or acceleration, whichever is largest.
        violations: φ(q, t) and φ̇ (or A q̇ + a) of the state, shape (m,) each [unit of the row, that
            per second].
        consistent: (place, rates), whether each obeys the constraints, up to printed digits, as a
            run asks for.
        distance: σ [-], the root of the smallest pivot of the scaled rows' own mass matrix: about 1
            for independent rows, 0 where rows become dependent. Redundant rows do not count.
        singular: the nearest singular position found, shape (n,) [unit of each], or None.
        singular_distance: the largest change of a coordinate up to it, from the nearest position
            that obeys φ = 0 [unit of the coordinate]; infinite without one.
        lines: the report, (label, text) each.
    """

    freedoms: int = eqx.field(static=True)
    place_freedoms: int = eqx.field(static=True)
    rank: int = eqx.field(static=True)
    dependent: tuple[tuple[str, ...], ...] = eqx.field(static=True)
    change_point: bool = eqx.field(static=True)
    conflicts: tuple[tuple[tuple[str, ...], float], ...] = eqx.field(static=True)
    violations: Violations
    consistent: tuple[bool, bool] = eqx.field(static=True)
    distance: float = eqx.field(static=True)
    singular: AnyArray | None
    singular_distance: float = eqx.field(static=True)
    lines: tuple[tuple[str, str], ...] = eqx.field(static=True)

    def __str__(self) -> str:
        return aligned(self.lines)


class _Look(eqx.Module):
    """What is computed at one state."""

    violations: Violations
    rows: AnyArray  # scaled, (m, n)
    roots: AnyArray
    mass: AnyArray  # M̃
    drift: AnyArray


@eqx.filter_jit
def _look(laws: Any, q: Any, qd: Any, t: Any, params: Params) -> _Look:
    mass = mass_matrix_of(laws, q, qd, t, params)
    system = scaled_rows(laws, mass, q, t, params)
    return _Look(
        violations_of(laws, q, qd, t, params),
        system.rows,
        system.roots,
        system.mass,
        rows_of(laws, q, qd, t, params).drift,
    )


def _singular_values(look: _Look) -> tuple[np.ndarray, np.ndarray]:
    """Combinations of rows, columns (m, m), and their singular values in the metric of masses."""
    lower = np.linalg.cholesky(np.asarray(look.mass))
    left, values, _ = np.linalg.svd(np.linalg.solve(lower, np.asarray(look.rows).T).T)
    full = np.zeros(left.shape[0])
    full[: len(values)] = values
    return left, full


def _groups(look: _Look, names: tuple[str, ...]) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """Groups of dependent rows with the combination that vanishes, one per dependence."""
    left, values = _singular_values(look)
    lost = left[:, values < _RANK].T
    # As sparse as elimination makes them, so that each names the rows it is about.
    table, groups = lost.copy(), []
    for i in range(len(table)):
        pivot = np.argmax(np.abs(table[i]))
        table[i] /= table[i, pivot]
        for k in range(len(table)):
            if k != i:
                table[k] -= table[k, pivot] * table[i]
    for row in table:
        row = np.where(np.abs(row) > _SHARE * np.max(np.abs(row)), row, 0.0)
        groups.append((tuple(n for n, x in zip(names, row, strict=True) if x != 0), row))
    return groups


def doctor(
    system: AbstractSystem,
    q: Coordinates,
    qd: Coordinates | None = None,
    t: Number = 0.0,
    params: Params = None,
) -> Diagnosis:
    """Examine the constraints of a machine at one state.

        freedoms = n − rank J,   J of the rows ∂φ/∂q and A, shape (m, n)

    Degrees of freedom, rank of J, which rows are redundant or in conflict, whether the state obeys
    φ(q, t) = 0 and φ̇ = 0 (A q̇ + a = 0), and how far the nearest singular position is. That is
    looked for by walks along φ = 0 in a few directions: one may be missed.

    Args:
        q: coordinates, shape (n,), or a mapping by name [unit of each].
        qd: their rates, shape (n,) [that per second]; None means at rest.
        t: time [s].
        params: another set of parameters; None means the system's own.

    Returns:
        A `Diagnosis`; printing it gives the report.

    Raises:
        ValueError: the machine has no constraints, one of them is not finite at this state, or a
            wrong call.
    """
    laws = require_constraints(system, "diagnoses")
    q_, qd_, t_, params_ = prepare(system, t, params, q=q, qd=qd)
    look = _look(laws, q_, qd_, t_, params_)
    rows: tuple[str, ...] = system.rows  # pyright: ignore[reportAttributeAccessIssue]
    require_defined(system, q_, look.violations.residual, look.rows)
    values = _singular_values(look)[1]
    rank = int(np.sum(values >= _RANK))
    of_place = is_holonomic(laws, q_, t_, params_)
    holonomic = int(np.linalg.matrix_rank(np.asarray(look.rows)[of_place], tol=_RANK))
    groups = _groups(look, rows)
    singular, distance = (None, np.inf) if rank == system.n else _search(laws, q_, t_, params_)
    nearby = _rank_nearby(laws, q_, t_, params_) if groups else rank
    conflicts = _conflicts(look, groups)
    place, rate = look.violations
    kept = kept_at(laws, q_, qd_, t_, params_)
    consistent = (bool(np.all(kept.place)), bool(np.all(kept.rate)))
    sigma = float(_distance(laws, q_, t_, params_))
    lines = [
        ("machine", f"{system.name}: {system.n} coordinates, {len(rows)} constraint rows"),
        ("freedom", _freedom(system.n, rank, holonomic)),
        ("rows", _rows_text(groups, nearby > rank)),
        *[("conflict", _conflict_text(names, size)) for names, size in conflicts],
        ("place", _consistency(consistent[0], place, rows, "φ")),
        ("rates", _consistency(consistent[1], rate, rows, "φ̇")),
        ("singular", _singular_text(system, sigma, singular, distance, nearby > rank)),
    ]
    if not all(consistent) and not conflicts:
        lines.append(("remedy", "`assemble(system, q, qd)` gives the nearest consistent state"))
    return Diagnosis(
        freedoms=system.n - rank,
        place_freedoms=system.n - holonomic,
        rank=rank,
        dependent=tuple(names for names, _ in groups),
        change_point=nearby > rank,
        conflicts=tuple(conflicts),
        violations=look.violations,
        consistent=consistent,
        distance=sigma,
        singular=singular,
        singular_distance=float(distance),
        lines=tuple(lines),
    )


def _conflicts(look: _Look, groups: list[Any]) -> list[tuple[tuple[str, ...], float]]:
    """Dependent rows whose demands on places, rates or accelerations differ."""
    conflicts = []
    roots = np.asarray(look.roots)
    for names, weights in groups:
        demands = [look.violations.residual, look.violations.rate_residual, look.drift]
        gaps = [abs(float(weights @ (roots * np.asarray(demand)))) for demand in demands]
        # An acceleration is judged by the size of what is added up to get it.
        size = float(np.abs(weights) @ np.abs(roots * np.asarray(look.drift)))
        if gaps[0] > _RANK or gaps[1] > _RANK or gaps[2] > _RANK * (1.0 + size):
            conflicts.append((names, max(gaps)))
    return conflicts


@eqx.filter_jit
def _distance(laws: Any, q: Any, t: Any, params: Params) -> Any:
    mass = mass_matrix_of(laws, q, jnp.zeros_like(q), t, params)
    return rank_distance(laws, mass, q, t, params)


@eqx.filter_jit
def _slope(laws: Any, q: Any, t: Any, params: Params) -> tuple[Any, Any, Any]:
    """σ, its steepest admissible descent in the metric of the masses, and its slope along it."""

    def smallest(q: Any) -> Any:
        mass = mass_matrix_of(laws, q, jnp.zeros_like(q), t, params)
        rows = scaled_rows(laws, mass, q, t, params)
        square = rows.rows @ jnp.linalg.solve(rows.mass, rows.rows.T)
        values = jnp.linalg.eigvalsh(0.5 * (square + square.T))
        return jnp.sqrt(jnp.min(jnp.where(values > _RANK**2, values, jnp.inf)))

    step = 1e-6
    size, n = smallest(q), q.size
    moves = step * jnp.eye(n, dtype=q.dtype)
    gradient = jax.vmap(lambda d: (smallest(q + d) - smallest(q - d)) / (2 * step))(moves)
    mass = mass_matrix_of(laws, q, jnp.zeros_like(q), t, params)
    rows = scaled_rows(laws, mass, q, t, params)
    inverse = jnp.linalg.inv(rows.mass)
    pushed = inverse @ rows.rows.T
    tangent = inverse - pushed @ jnp.linalg.pinv(rows.rows @ pushed, rtol=_RANK**2) @ pushed.T
    direction = -tangent @ gradient
    return size, direction, gradient @ direction


@eqx.filter_jit
def _onto(laws: Any, q: Any, t: Any, params: Params) -> Any:
    still = jnp.zeros_like(q)
    mass = mass_matrix_of(laws, q, still, t, params)
    return nearest(laws, mass, q, still, t, params, corrections=6)[0]


@eqx.filter_jit
def _walks(laws: Any, q: Any, directions: Any, t: Any, params: Params) -> tuple[Any, Any]:
    """Places on the constraints ahead in each direction, (d, k, n), and σ there, (d, k)."""

    def step(carry: tuple[Any, Any], _: Any) -> tuple[Any, Any]:
        here, heading = carry
        mass = mass_matrix_of(laws, here, heading, t, params)
        there, heading = nearest(laws, mass, here + _STRIDE * heading, heading, t, params)
        heading = heading / jnp.maximum(jnp.max(jnp.abs(heading)), 1e-300)
        return (there, heading), (there, rank_distance(laws, mass, there, t, params))

    def walk(direction: Any) -> tuple[Any, Any]:
        return jax.lax.scan(step, (q, direction), None, _WALK)[1]

    return jax.vmap(walk)(directions)


def _search(laws: Any, q: Any, t: Any, params: Params) -> tuple[np.ndarray | None, float]:
    """A singular position and how far it is, by walking along the constraints; or None."""
    start = np.asarray(_onto(laws, q, t, params))
    ahead = np.random.default_rng(0).normal(size=(_DIRECTIONS, start.size))
    places, sigmas = (
        np.asarray(x) for x in _walks(laws, start, np.concatenate([ahead, -ahead]), t, params)
    )
    best: tuple[np.ndarray | None, float] = (None, np.inf)
    for path, sigma in zip(places, sigmas, strict=True):
        inner = sigma[1:-1]
        lowest = (inner <= sigma[:-2]) & (inner <= sigma[2:])
        low = np.flatnonzero(lowest & (inner < _NEARLY_SINGULAR)) + 1
        for k in low:
            foot = _descended(laws, path[k], t, params)
            far = np.inf if foot is None else float(np.max(np.abs(foot - start)))
            if far < best[1]:
                best = (foot, far)
    return best


def _descended(laws: Any, start: np.ndarray, t: Any, params: Params) -> np.ndarray | None:
    """The singular position at the foot of the slope of σ, if there is one."""
    here = start
    for _ in range(_DESCENT):
        size, direction, slope = (np.asarray(x) for x in _slope(laws, here, t, params))
        if not size > _SINGULAR or not slope < 0:
            break
        step = direction * (size / -slope)
        step *= min(1.0, _STRIDE / max(float(np.max(np.abs(step))), 1e-300))
        here = np.asarray(_onto(laws, here + step, t, params))
    return here if float(_distance(laws, here, t, params)) < 1e3 * _SINGULAR else None


def _rank_nearby(laws: Any, q: Any, t: Any, params: Params) -> int:
    """The rank of the rows a little way off, on the constraints."""
    rng = np.random.default_rng(1)
    ranks = []
    for nudge in _NUDGE * rng.normal(size=(3, q.size)):
        there = _onto(laws, np.asarray(q) + nudge, t, params)
        look = _look(laws, there, np.zeros_like(q), t, params)
        ranks.append(int(np.sum(_singular_values(look)[1] >= _RANK)))
    return max(ranks)


def _freedom(n: int, rank: int, holonomic: int) -> str:
    text = f"{n} − {rank} (rank) = {n - rank} degree{'s' * (n - rank != 1)} of freedom"
    if holonomic == rank:
        return text
    return f"{text} of the velocity, {n - holonomic} of the configuration (nonholonomic)"


def _rows_text(groups: list[Any], change_point: bool) -> str:
    if not groups:
        return "all independent; the multipliers are unique"
    listed = "; ".join(" and ".join(names) for names, _ in groups[:4])
    more = f"; and {len(groups) - 4} more" if len(groups) > 4 else ""
    kind = "dependent here, not nearby" if change_point else "redundant"
    return f"{len(groups)} {kind}: {listed}{more}; their multipliers are not unique"


def _conflict_text(names: tuple[str, ...], size: float) -> str:
    return f"{' and '.join(names)} contradict each other by {size:.3g} (scaled)"


def _consistency(good: bool, values: Any, rows: tuple[str, ...], symbol: str) -> str:
    values = np.asarray(values)
    if good:
        return f"consistent: |{symbol}| at most {np.max(np.abs(values)):.0e}"
    order = np.argsort(-np.abs(values))[:3]
    shown = ", ".join(f"{rows[i]} by {values[i]:.6g}" for i in order if values[i] != 0)
    return f"inconsistent: {symbol} misses zero in {shown}"


def _singular_text(
    system: AbstractSystem, sigma: float, singular: Any, distance: float, change_point: bool
) -> str:
    if change_point:
        return "here: a change point; the accelerations are those that are still determined"
    if singular is None:
        return f"none found nearby; σ = {sigma:.2g} (1 is best, 0 is rank loss)"
    place = ", ".join(f"{n} = {x:.4g}" for n, x in zip(system.coordinates, singular, strict=True))
    return f"nearest found at {place}, {distance:.3g} away; σ = {sigma:.2g} here"
