"""What constraints say at one instant: residuals, rows, and the accelerations they ask for."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._typing import AnyArray, Params, Scalar, Vector
from ..model import Laws

_AWAY = 0.7  # [rad, or m] how far: as far as the coordinates are large, at most


def residual_of(laws: Laws, q: Vector, t: Scalar, params: Params) -> AnyArray:
    """φ(q, t), shape (m,); zero for rows that restrict rates only."""
    return jnp.concatenate([one.residual(q, t, params) for one in laws.constraints])


def rate_residual_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> AnyArray:
    """φ̇ or A q̇ + a, shape (m,)."""
    return jnp.concatenate([one.rate(q, qd, t, params) for one in laws.constraints])


class Rows(NamedTuple):
    """The constraints, linear in the accelerations: J q̈ + c = 0.

    Attributes:
        rate: φ̇ or A q̇ + a, shape (m,).
        jacobian: J = ∂rate/∂q̇, shape (m, n).
        drift: c, the rate's own rate at q̈ = 0: velocity and time terms, shape (m,).
        elsewhere: J at another configuration, which tells a row that vanishes from a small one.
    """

    rate: AnyArray
    jacobian: AnyArray
    drift: AnyArray
    elsewhere: AnyArray


def rows_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Rows:
    """One forward pass per column of J, one for the velocity and time terms."""
    rate, push = jax.linearize(lambda qd: rate_residual_of(laws, q, qd, t, params), qd)
    columns = jax.vmap(push)(jnp.eye(q.size, dtype=q.dtype))
    _, drift = jax.jvp(
        lambda q, t: rate_residual_of(laws, q, qd, t, params), (q, t), (qd, jnp.ones_like(t))
    )
    return Rows(rate, columns.T, drift, jacobian_elsewhere(laws, q, t, params))


def jacobian_of(laws: Laws, q: Vector, t: Scalar, params: Params) -> AnyArray:
    """J alone, shape (m, n)."""
    return jax.jacfwd(lambda qd: rate_residual_of(laws, q, qd, t, params))(jnp.zeros_like(q))


def jacobian_elsewhere(laws: Laws, q: Vector, t: Scalar, params: Params) -> AnyArray:
    """J at another configuration, some way off in all coordinates, shape (m, n)."""
    pattern = np.cos(1.7 * np.arange(q.size) + 0.3)
    away = _AWAY * jnp.minimum(jnp.max(jnp.abs(q)), 1.0)
    return jacobian_of(laws, lax.stop_gradient(q + away * pattern), t, params)


def is_holonomic(laws: Laws, q: Any, t: Any, params: Params) -> np.ndarray:
    """Which rows are rates of a function φ(q, t), shape (m,); nothing is computed."""
    shapes = [jax.eval_shape(one.residual, q, t, params).shape for one in laws.constraints]
    pairs = zip(laws.constraints, shapes, strict=True)
    return np.concatenate([np.full(shape, one.holonomic) for one, shape in pairs])
