"""Derivatives of the nearest consistent state, by the implicit function theorem."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import AnyArray

_LOST = 1e-11  # of the largest singular value: combinations of rows below it say nothing new


def with_derivative(
    nearest: AnyArray,
    target: AnyArray,
    mass: AnyArray,
    residual: Callable[[AnyArray], AnyArray],
    fixed: Any,
) -> AnyArray:
    """`nearest` as a function of everything that `target`, `mass` and `residual` were made of.

    It is the nearest point to the target where c(x) = 0, in the metric of M, coordinates that are
    `fixed` aside, so that with multipliers λ

        M (x − x₀) − (∂c/∂x)ᵀ λ = 0,   c(x) = 0.

    These equations are differentiated where they hold, in forward or reverse mode, to any order.
    """
    still, metric = lax.stop_gradient((nearest, mass))
    jacobian = lax.stop_gradient(jax.jacfwd(residual)(still))
    diagonal = jnp.abs(jnp.diagonal(metric))
    heavy = jnp.maximum(jnp.max(diagonal), jnp.finfo(nearest.dtype).tiny)
    units = jnp.sqrt(heavy / jnp.where(diagonal > _LOST * heavy, diagonal, heavy))
    sizes = jnp.linalg.norm(jacobian * units, axis=1)
    roots = 1.0 / jnp.where(sizes > 0, sizes, 1.0)  # coordinates and rows of about unit size

    def stationary(unknown: AnyArray) -> AnyArray:
        x, force = units * unknown[: fixed.size], unknown[fixed.size :]
        value, pull = jax.vjp(lambda x: roots * residual(x), x)
        slope = units * (mass @ (x - target) / heavy - pull(force)[0])
        return jnp.concatenate([jnp.where(fixed, (x - target) / units, slope), value])

    def tangent(linear: Callable[[AnyArray], AnyArray], right: AnyArray) -> AnyArray:
        matrix = jax.jacfwd(linear)(jnp.zeros_like(right))
        return jnp.linalg.pinv(matrix, rtol=_LOST) @ right

    rows = jnp.where(fixed, 0.0, roots[:, None] * jacobian * units)
    pull = jnp.where(fixed, 0.0, units * (metric @ (still - lax.stop_gradient(target))) / heavy)
    force = jnp.linalg.pinv(rows.T, rtol=_LOST) @ pull
    start = jnp.concatenate([still / units, force])
    return units * lax.custom_root(stationary, start, lambda _, x: x, tangent)[: fixed.size]
