"""The equations of motion of a machine of parts, by virtual power (d'Alembert, Kane).

With x(q, t) the places of all parts and W their masses, T = 1/2 ẋ·W ẋ, the motion obeys
(W ẍ)·∂x/∂q = Q − ∂V/∂q for every coordinate, so

    M = (∂x/∂q)ᵀ W (∂x/∂q),   b = (∂x/∂q)ᵀ W ẍ₀ + ∂V/∂q − Q,

where ẍ₀ is the acceleration of the places at q̈ = 0. These are the Euler-Lagrange equations of the
same parts, reached without differentiating the Lagrangian twice: about half the operations.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .._typing import Matrix, Params, Scalar, Vector
from ..model import MovingEntries, kinetic_of, potential_of


def mass_and_bias_of_parts(
    parts: Callable[..., Mapping[str, Any]], q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Matrix, Vector]:
    """M, and b without the forces Q."""
    moving = MovingEntries(parts, params)
    now = jnp.ones_like(t)

    def entries_and_potential(q: Vector) -> tuple[tuple[list[Any], Scalar], Any]:
        entries, placed_parts = moving(q, t)
        return (entries, potential_of(placed_parts)), placed_parts

    def rates(q: Vector, t: Scalar) -> list[Any]:
        return jax.jvp(lambda q, t: moving(q, t)[0], (q, t), (qd, now))[1]

    _, push, placed_parts = jax.linearize(entries_and_potential, q, has_aux=True)
    columns, slope = jax.vmap(push)(jnp.eye(q.size, dtype=q.dtype))
    _, drift = jax.jvp(rates, (q, t), (qd, now))

    weigh = jax.grad(lambda rates: kinetic_of(placed_parts, moving.whole(rates)))
    weighed = jax.vmap(weigh)(columns)
    inertial = weigh(drift)
    mass = sum(_outer(c, w) for c, w in zip(columns, weighed, strict=True))
    bias = sum(_project(c, w) for c, w in zip(columns, inertial, strict=True))
    return jnp.broadcast_to(mass, (q.size, q.size)), bias + slope


def _outer(columns: Any, weighed: Any) -> Any:
    """Σ over the entries of one leaf of column × column, shape (n, n)."""
    if columns.ndim == 1:
        return columns[:, None] * weighed
    n = columns.shape[0]
    return columns.reshape(n, -1) @ weighed.reshape(n, -1).T


def _project(columns: Any, force: Any) -> Any:
    """Σ over the entries of one leaf of column × entry, shape (n,)."""
    if columns.ndim == 1:
        return columns * force
    return columns.reshape(columns.shape[0], -1) @ force.reshape(-1)
