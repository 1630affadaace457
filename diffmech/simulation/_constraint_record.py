"""What constraints did along a run: residuals, multipliers, distance from rank loss."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from .._batches import in_batches
from .._typing import AnyArray, Params, Samples, Times
from ..model import Laws
from ..motion import is_holonomic, mass_matrix_of, multipliers_of, rank_distance, violations_of
from ._run_data import RunData

NEAR_RANK_LOSS = 1e-3  # σ below which a report says so
_WORTH_A_LOOK = 0.3  # σ at a sample below which a closer approach between samples is looked for
_GRID, _ZOOMS = 33, 7  # points per look, and looks: the time is found to (1/16)⁷ of a sample's step
_MOST_APPROACHES = 64  # looked at


class ConstraintRecord(NamedTuple):
    """Along a run of k samples, one column for each of the m rows of the constraints.

    Attributes:
        residual: φ(q, t), shape (k, m), in the unit of φ; zero for rows that restrict rates only.
        rate_residual: φ̇ = ∂φ/∂q q̇ + ∂φ/∂t, or A q̇ + a, shape (k, m) [the row's unit/s].
        multipliers: λ in M q̈ + b = Jᵀλ, shape (k, m) [J per unit of φ]; NaN where it is not unique.
        distance: σ, shape (k,): the root of the smallest pivot of the scaled rows' own mass matrix,
            about 1 where rows are independent, 0 where they become dependent.
    """

    residual: AnyArray
    rate_residual: AnyArray
    multipliers: AnyArray
    distance: AnyArray


def is_constrained(laws: Any) -> bool:
    """Whether there are constraints to speak of."""
    return isinstance(laws, Laws) and bool(laws.constraints)


@eqx.filter_jit
def _along(laws: Any, ts: Times, qs: Samples, qds: Samples, params: Params) -> ConstraintRecord:
    def at(t: AnyArray, q: AnyArray, qd: AnyArray) -> ConstraintRecord:
        left = violations_of(laws, q, qd, t, params)
        forces = multipliers_of(laws, q, qd, t, params)
        mass = mass_matrix_of(laws, q, qd, t, params)
        return ConstraintRecord(
            left.residual, left.rate_residual, forces, rank_distance(laws, mass, q, t, params)
        )

    return jax.vmap(at)(ts, qs, qds)


def constraints_along(
    laws: Any, ts: AnyArray, qs: AnyArray, qds: AnyArray, params: Params
) -> ConstraintRecord:
    """Residuals, multipliers and distance from rank loss at samples."""
    if is_constrained(laws):
        return in_batches(_along, laws, (ts, qs, qds), params)
    empty = np.zeros((qs.shape[0], 0), qs.dtype)
    return ConstraintRecord(empty, empty, empty, np.ones(qs.shape[0], qs.dtype))


def restricts_rates_only(run: RunData) -> np.ndarray:
    """Which rows say A q̇ + a = 0 and nothing about q itself, shape (m,)."""
    laws = run.laws
    if not is_constrained(laws):
        return np.zeros(0, bool)
    return ~is_holonomic(laws, run.qs[0], run.ts[0], run.params)  # pyright: ignore


def closest_approaches(
    run: RunData,
    constraints: ConstraintRecord,
    motion: Callable[[AnyArray], tuple[AnyArray, AnyArray]],
) -> list[tuple[float, float]]:
    """(t, σ) of every approach to rank loss closer than `NEAR_RANK_LOSS`, found between samples.

    `motion(t)` is (q, q̇) of the run at times t, shape (k,).
    """
    sigma, ts = np.asarray(constraints.distance), np.asarray(run.ts)
    if len(ts) < 3:
        return []
    padded = np.concatenate([[np.inf], sigma, [np.inf]])
    lowest = (sigma <= padded[:-2]) & (sigma <= padded[2:]) & (sigma < _WORTH_A_LOOK)
    where = np.flatnonzero(lowest)[:_MOST_APPROACHES]
    if not where.size:
        return []
    low, high = ts[np.maximum(where - 1, 0)], ts[np.minimum(where + 1, len(ts) - 1)]
    times, least = ts[where], sigma[where]
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _GRID, axis=1)
        qs, qds = motion(grid.ravel())
        values = constraints_along(run.laws, grid.ravel(), qs, qds, run.params).distance
        values = np.asarray(values).reshape(grid.shape)
        best = np.argmin(values, axis=1)
        rows = np.arange(len(where))
        times, least = grid[rows, best], values[rows, best]
        low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, _GRID - 1)]
    return [(float(t), float(s)) for t, s in zip(times, least, strict=True) if s < NEAR_RANK_LOSS]
