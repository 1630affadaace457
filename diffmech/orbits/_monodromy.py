"""The monodromy matrix of a motion over a period, and which of its multipliers count.

With Φ of `end_state_and_tangents`, M = Φ; of a motion from rest to rest, half of which is enough,
M = R Φ⁻¹ R Φ (`there_and_back`).
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import SymmetryTrials, typical_rate
from ._edge_functions import is_reciprocal, multipliers_of
from ._flow import end_state_and_tangents, rate_of
from ._return_maps import deflation, energy_slope, there_and_back

_INVARIANT = 1e-6  # of g: how well gᵀ M = gᵀ must hold for h to be an integral of the motion
_STILL = 1e-9  # of the rates: a state that hardly moves is an equilibrium


class Monodromy(NamedTuple):
    """What becomes of a motion and its neighbours in a period T.

    Attributes:
        end: y(t0 + T), or y(t0 + T/2) of a motion from rest to rest, shape (2n,).
        matrix: M = ∂y(t0 + T)/∂y(t0), shape (2n, 2n).
        multipliers: its eigenvalues, shape (2n,), complex: those that count, the largest first,
            then the trivial ones, given as 1.
        trivial: how many are trivial.
        reciprocal: whether those that count come in pairs μ, 1/μ.
    """

    end: AnyArray
    matrix: AnyArray
    multipliers: AnyArray
    trivial: int
    reciprocal: bool


@partial(jax.jit, static_argnums=(0, 1))
def _once_around(
    laws: Laws | ExplicitLaws, half: bool, y: Any, period: Any, t0: Any, params: Params, rtol: Any
) -> tuple[Any, ...]:
    """The end, M, f and g at the start; a brake orbit is followed for half its period only."""
    end, m = end_state_and_tangents(laws, y, period / 2 if half else period, t0, params, rtol)
    along = rate_of(laws)(t0, y, params)
    return end, there_and_back(m) if half else m, along, energy_slope(laws, y, t0, params)


def monodromy_of(
    system: AbstractSystem,
    y: AnyArray,
    period: AnyArray,
    t0: AnyArray,
    params: Params,
    rtol: AnyArray,
    *,
    half: bool,
) -> Monodromy:
    """M of the motion through y, shape (2n,), at t0 [s], over `period` [s].

    With `half` it starts at rest and is at rest after half the period.

    Raises:
        ValueError: the motion cannot be followed for so long.
    """
    parts = _once_around(system.laws, half, y, period, t0, params, rtol)
    end, matrix, along, slope = (np.asarray(part) for part in parts)
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{system.name!r} could not be followed for the period of {period} s")
    project, trivial = _trivial(system, y, matrix, along, slope, params)
    size = 2 * system.n - trivial
    deflated = np.asarray(project) @ matrix @ np.asarray(project)
    counted = multipliers_of(deflated, size)
    return Monodromy(
        end=end,
        matrix=matrix,
        multipliers=np.concatenate([counted, np.ones(trivial)]).astype(complex),
        trivial=trivial,
        reciprocal=size > 0 and is_reciprocal(deflated, size),
    )


def _trivial(
    system: AbstractSystem, y: Any, m: Any, along: Any, slope: Any, params: Params
) -> tuple[AnyArray, int]:
    """What takes the trivial multipliers out of the map, and how many they are."""
    n = system.n
    size = float(np.max(np.abs(y[:n]))) or 1.0
    rate = typical_rate(system.laws, y[:n], size, params)
    moving = np.max(np.abs(along)) > _STILL * (rate + rate**2 / size)
    if not moving or not SymmetryTrials(system.laws, size, rate, params).autonomous(n):
        return jnp.eye(2 * n), 0
    kept = np.all(np.isfinite(slope)) and np.any(slope)
    kept = kept and np.max(np.abs(slope @ m - slope)) <= _INVARIANT * np.max(np.abs(slope))
    return deflation(along, slope if kept else None), 2 if kept else 1
