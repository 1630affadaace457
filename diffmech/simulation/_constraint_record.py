"""What constraints did along a run: violations, multipliers, distance from rank loss."""

from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from .._batches import in_batches
from .._typing import AnyArray, Params, Samples, Times
from ..model import Laws
from ..motion import mass_matrix_of, multipliers_of, rank_distance, violations_of

if TYPE_CHECKING:
    from ._trajectory import Trajectory

NEAR_RANK_LOSS = 1e-3  # σ below which a report says so
_WORTH_A_LOOK = 0.3  # σ at a sample below which a closer approach between samples is looked for
_GRID, _ZOOMS = 33, 7  # points per look, and looks: the time is found to (1/16)⁷ of a sample's step
_MOST = 64  # approaches looked at


class ConstraintRecord(NamedTuple):
    """Along a run, one column per row of the constraints.

    Attributes:
        place: φ(q, t), shape (k, m); zero for rows that restrict rates only.
        rate: φ̇, or A q̇ + a, shape (k, m).
        multipliers: λ, shape (k, m); NaN where it is not unique.
        distance: σ, shape (k,): 1 where rows are independent, 0 where they become dependent.
    """

    place: AnyArray
    rate: AnyArray
    multipliers: AnyArray
    distance: AnyArray


def is_constrained(laws: Any) -> bool:
    """Whether there are constraints to speak of."""
    return isinstance(laws, Laws) and bool(laws.constraints)


@eqx.filter_jit
def _along(laws: Any, ts: Times, qs: Samples, qds: Samples, params: Params) -> ConstraintRecord:
    def at(t: AnyArray, q: AnyArray, qd: AnyArray) -> ConstraintRecord:
        found = violations_of(laws, q, qd, t, params)
        forces = multipliers_of(laws, q, qd, t, params)
        mass = mass_matrix_of(laws, q, qd, t, params)
        return ConstraintRecord(
            found.place, found.rate, forces, rank_distance(laws, mass, q, t, params)
        )

    return jax.vmap(at)(ts, qs, qds)


def held_along(
    laws: Any, ts: AnyArray, qs: AnyArray, qds: AnyArray, params: Params
) -> ConstraintRecord:
    """Violations, multipliers and distance from rank loss at samples."""
    if is_constrained(laws):
        return in_batches(_along, laws, (ts, qs, qds), params)
    empty = np.zeros((qs.shape[0], 0), qs.dtype)
    return ConstraintRecord(empty, empty, empty, np.ones(qs.shape[0], qs.dtype))


def closest_approaches(run: "Trajectory") -> list[tuple[float, float]]:
    """(t, σ) of every approach to rank loss closer than `NEAR_RANK_LOSS`, found between samples."""
    sigma, ts = np.asarray(run.held.distance), np.asarray(run.ts)
    if len(ts) < 3:
        return []
    padded = np.concatenate([[np.inf], sigma, [np.inf]])
    lowest = (sigma <= padded[:-2]) & (sigma <= padded[2:]) & (sigma < _WORTH_A_LOOK)
    where = np.flatnonzero(lowest)[:_MOST]
    if not where.size:
        return []
    low, high = ts[np.maximum(where - 1, 0)], ts[np.minimum(where + 1, len(ts) - 1)]
    times, found = ts[where], sigma[where]
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _GRID, axis=1)
        qs, qds = run(grid.ravel())
        values = held_along(run.laws, grid.ravel(), qs, qds, run.params).distance
        values = np.asarray(values).reshape(grid.shape)
        best = np.argmin(values, axis=1)
        rows = np.arange(len(where))
        times, found = grid[rows, best], values[rows, best]
        low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, _GRID - 1)]
    return [(float(t), float(s)) for t, s in zip(times, found, strict=True) if s < NEAR_RANK_LOSS]


def constraint_lines(run: "Trajectory") -> list[tuple[str, str]]:
    """What the report says of constraints."""
    held = run.held
    if not held.place.shape[1]:
        return []
    place, rate = (float(np.max(np.abs(x))) for x in (held.place, held.rate))
    how = str(run.settings.stabilise)
    lines = [("constraints", f"kept to {place:.0e} in place, {rate:.0e} in rates, by {how}")]
    unknown = np.isnan(np.asarray(held.multipliers))
    redundant, lost = _named(run, np.all(unknown, axis=0)), _named(run, np.any(unknown, axis=0))
    lines.append(("rank", _rank(run, redundant)))
    if lost:
        when = "redundant rows" if redundant else "near rank loss"
        lines.append(("multipliers", f"not unique ({when}), given as NaN: {lost}"))
    return lines


def _named(run: "Trajectory", chosen: AnyArray) -> str:
    """The names of some rows; none are an empty text."""
    rows = [name for name, own in zip(run.system.rows, chosen, strict=True) if own]  # pyright: ignore
    return ", ".join(rows[:4]) + (", ..." if len(rows) > 4 else "")


def _rank(run: "Trajectory", redundant: str) -> str:
    """Whether rows became dependent on the way, besides those that are so all along."""
    before = f"redundant among {redundant} all along; otherwise " if redundant else ""
    near = closest_approaches(run)
    if not near:
        least = float(np.min(run.held.distance))
        said = "nothing became singular" if redundant else "nothing was singular: rows independent"
        return f"{before}{said}, σ at least {least:.2g}"
    shown = ", ".join(f"{t:.6g}" for t, _ in near[:4])
    more = f" and {len(near) - 4} more" if len(near) > 4 else ""
    times = f"{len(near)} times" if len(near) > 1 else "once"
    return (
        f"{before}passed within {max(s for _, s in near):.0e} of rank loss {times}, at t = {shown}"
        f"{more} s (change points), straight on as the velocity says"
    )
