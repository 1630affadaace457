"""Equations of motion and of constraints at one instant, of machines given either way."""

from typing import NamedTuple

import jax.numpy as jnp

from .._typing import AnyArray, Params, Scalar, Vector
from ..model import ExplicitLaws, Laws
from ._constraint_rows import residual_of, rows_of
from ._euler_lagrange import mass_and_bias_of


class EquationsAt(NamedTuple):
    """M q̈ + b = Jᵀ λ and J q̈ + c = 0 at one instant.

    Attributes:
        mass: M, shape (n, n); the unit matrix of a machine given by its accelerations.
        bias: b, shape (n,); there minus the accelerations.
        jacobian: J, shape (m, n).
        drift: c, shape (m,).
        rate: φ̇ or A q̇ + a, shape (m,).
        position: φ, shape (m,); zero for rows that restrict rates only.
    """

    mass: AnyArray
    bias: AnyArray
    jacobian: AnyArray
    drift: AnyArray
    rate: AnyArray
    position: AnyArray


def equations_at(
    laws: Laws | ExplicitLaws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> EquationsAt:
    """All that the laws say of q̈ and λ; m = 0 without constraints."""
    if isinstance(laws, ExplicitLaws):
        mass, bias = jnp.eye(q.size, dtype=q.dtype), -laws.acceleration(q, qd, t, params)
    else:
        mass, bias = mass_and_bias_of(laws, q, qd, t, params)
    if isinstance(laws, Laws) and laws.constraints:
        rows = rows_of(laws, q, qd, t, params)
        position = residual_of(laws, q, t, params)
        return EquationsAt(mass, bias, rows.jacobian, rows.drift, rows.rate, position)
    nothing = jnp.zeros(0, q.dtype)
    return EquationsAt(mass, bias, jnp.zeros((0, q.size), q.dtype), nothing, nothing, nothing)
