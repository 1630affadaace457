"""What constraints say at one instant: residuals, rows, and the accelerations they ask for."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Params, Scalar, Vector
from ..model import Laws


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
        blocks: how many rows belong together.
    """

    rate: AnyArray
    jacobian: AnyArray
    drift: AnyArray
    blocks: tuple[int, ...]


def rows_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Rows:
    """One forward pass per column of J, one for the velocity and time terms."""
    rate, push = jax.linearize(lambda qd: rate_residual_of(laws, q, qd, t, params), qd)
    columns = jax.vmap(push)(jnp.eye(q.size, dtype=q.dtype))
    _, drift = jax.jvp(
        lambda q, t: rate_residual_of(laws, q, qd, t, params), (q, t), (qd, jnp.ones_like(t))
    )
    return Rows(rate, columns.T, drift, blocks_of(laws, q, t, params))


def jacobian_of(laws: Laws, q: Vector, t: Scalar, params: Params) -> AnyArray:
    """J alone, shape (m, n)."""
    return jax.jacfwd(lambda qd: rate_residual_of(laws, q, qd, t, params))(jnp.zeros_like(q))


def blocks_of(laws: Laws, q: Any, t: Any, params: Params) -> tuple[int, ...]:
    """How many rows belong together, as those of one joint; nothing is computed."""
    return sum((one.blocks(q, t, params) for one in laws.constraints), ())


def is_holonomic(laws: Laws, q: Any, t: Any, params: Params) -> np.ndarray:
    """Which rows are functions of place, shape (m,); nothing is computed."""
    counts = [sum(one.blocks(q, t, params)) for one in laws.constraints]
    return np.repeat([one.holonomic for one in laws.constraints], counts)
