"""The search for the nearest state that the constraints allow."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix as optx

from .._typing import Params
from ..motion import corrector, mass_matrix_of, rate_residual_of, residual_of, scaled_rows

_SEARCH = 400  # steps of the search for a closure
_POLISH = 150  # steps towards the nearest one
_DAMPING, _STRIDE = 0.7, 0.1  # of such a step, and its longest, of a coordinate


@eqx.filter_jit
def closed_near(laws: Any, q0: Any, q: Any, t: Any, params: Params, fixed: Any) -> tuple[Any, Any]:
    """The closure nearest to q0, in the metric of its masses, searched from q; and φ there."""
    still = jnp.zeros_like(q0)
    mass = mass_matrix_of(laws, q0, still, t, params)
    system = scaled_rows(laws, mass, q0, t, params)
    # Searched in units in which masses are one, so that "little" means the same for all.
    units = jnp.where(fixed, 0.0, 1.0 / jnp.sqrt(jnp.diagonal(system.mass)))

    def scaled_residual(x: Any, _: Any) -> Any:
        return system.roots * residual_of(laws, q + units * x, t, params)

    search = optx.LevenbergMarquardt(rtol=1e-10, atol=1e-12)
    closest = optx.least_squares(
        scaled_residual, search, jnp.zeros_like(q), max_steps=_SEARCH, throw=False
    )
    q = q + units * closest.value

    def polish(_: Any, q: Any) -> Any:
        rows = scaled_rows(laws, mass, q, t, params)
        step = corrector(rows, fixed)
        back = jnp.where(fixed, 0.0, q0 - q)
        # Towards the point of the tangent plane that is nearest to where the search began.
        jacobian = rows.rows / rows.roots[:, None]
        aim = _DAMPING * (back - step @ (jacobian @ back))
        aim = aim * jnp.minimum(1.0, _STRIDE / jnp.maximum(jnp.max(jnp.abs(aim)), 1e-300))
        there = q + aim
        for _ in range(6):
            there = there - step @ residual_of(laws, there, t, params)
        worse = _norm(system, laws, there, t, params) > 1e-6 + _norm(system, laws, q, t, params)
        plain = q - step @ residual_of(laws, q, t, params)
        return jnp.where(worse | ~jnp.all(jnp.isfinite(there)), plain, there)

    polished = jax.lax.fori_loop(0, _POLISH, polish, q)
    better = _norm(system, laws, polished, t, params) <= 1e-9 + _norm(system, laws, q, t, params)
    q = jnp.where(better & jnp.all(jnp.isfinite(polished)), polished, q)
    return q, residual_of(laws, q, t, params)


def _norm(system: Any, laws: Any, q: Any, t: Any, params: Params) -> Any:
    return jnp.linalg.norm(system.roots * residual_of(laws, q, t, params))


@eqx.filter_jit
def rates_near(laws: Any, q: Any, qd: Any, t: Any, params: Params, fixed: Any) -> tuple[Any, Any]:
    """The rates nearest to qd that the constraints allow at q; and what is left of φ̇."""
    mass = mass_matrix_of(laws, q, qd, t, params)
    step = corrector(scaled_rows(laws, mass, q, t, params), fixed)
    for _ in range(4):
        qd = qd - step @ rate_residual_of(laws, q, qd, t, params)
    return qd, rate_residual_of(laws, q, qd, t, params)


@eqx.filter_jit
def mass_and_rows(laws: Any, q: Any, t: Any, params: Params) -> tuple[Any, Any]:
    """M of the machine at rest, and the scaled rows."""
    mass = mass_matrix_of(laws, q, jnp.zeros_like(q), t, params)
    return mass, scaled_rows(laws, mass, q, t, params).rows
