"""Newton's method to round-off, differentiable at the solution."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import AnyArray, Scalar, Truth

_MAX_ITERATIONS = 60  # quadratic convergence needs 3 to 6; more means a bad start
_MAX_HALVINGS = 30
_LAST_DIGITS = 1e-13  # relative step below which a residual may grow by rounding alone
_STALLED = 0.9  # far from quadratic a step still gains: a root of a root gains 1/√3
_ROUNDING = 1e-12  # residuals below this part of their terms are made of rounding
_NEAR = 1e-6  # relative step from which a residual that no longer falls means round-off


def newton(
    residual: Callable[[AnyArray], AnyArray],
    guess: AnyArray,
    floor: Scalar = 0.0,
    scale: Scalar = 0.0,
) -> tuple[AnyArray, Truth]:
    """x with residual(x) = 0, iterated until rounding stops it.

    Full Newton steps with the exact Jacobian, halved while the residual is not finite or grows.
    Derivatives of x with respect to anything `residual` closes over come from the implicit
    function theorem, forward and reverse, of any order.

    Args:
        floor: the least size to judge steps by, for unknowns that may pass through zero.
        scale: size of the terms that the residual is the difference of.

    Returns:
        x, shape (m,), and whether it converged.
    """

    def solve(function: Callable[[AnyArray], AnyArray], start: AnyArray) -> tuple[Any, Any]:
        x, converged = lax.stop_gradient(_iterate(function, start, floor, scale))
        return x, converged.astype(x.dtype)  # booleans have no tangents, and JAX asks for some

    def tangent_solve(linear: Callable[[AnyArray], AnyArray], right: AnyArray) -> AnyArray:
        return jnp.linalg.solve(_matrix(linear, right), right)

    x, converged = lax.custom_root(residual, guess, solve, tangent_solve, has_aux=True)
    return x, converged > 0


def _matrix(linear: Callable[[AnyArray], Any], like: AnyArray) -> AnyArray:
    return jax.vmap(linear, out_axes=1)(jnp.eye(like.size, dtype=like.dtype))


def _iterate(
    function: Callable[[AnyArray], AnyArray], start: AnyArray, floor: Scalar, scale: Scalar
) -> tuple[AnyArray, Truth]:
    floor, scale = lax.stop_gradient((floor, scale))

    def size_of(x: AnyArray) -> AnyArray:
        return jnp.max(jnp.abs(x))

    def keep_going(state: tuple[Any, ...]) -> Truth:
        _, residual, before, size, count = state
        # Near the solution, a residual that no longer falls is made of rounding.
        near = (size < _NEAR) | (residual <= _ROUNDING * scale)
        done = near & (residual >= _STALLED * before)
        return (residual > 0) & ~done & jnp.isfinite(size) & (count < _MAX_ITERATIONS)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        x, _, _, _, count = state
        value, push = jax.linearize(function, x)
        before = size_of(value)
        full = -jnp.linalg.solve(_matrix(push, x), value)
        size = size_of(full) / jnp.maximum(jnp.maximum(size_of(x), size_of(full)), floor)
        size = jnp.where(size_of(full) == 0, 0.0, size)

        def too_far(shortened: tuple[Any, Any, Any]) -> Truth:
            _, residual, halvings = shortened
            far = (size > _LAST_DIGITS) & (before > _ROUNDING * scale)
            worse = ~jnp.isfinite(residual) | ((residual > before) & far)
            return worse & (halvings < _MAX_HALVINGS)

        def halve(shortened: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            fraction = 0.5 * shortened[0]
            return fraction, size_of(function(x + fraction * full)), shortened[2] + 1

        one = jnp.ones((), x.dtype)
        fraction, residual, _ = lax.while_loop(
            too_far, halve, (one, size_of(function(x + full)), 0)
        )
        return x + fraction * full, residual, before, size, count + 1

    infinite = jnp.full((), jnp.finfo(start.dtype).max, start.dtype)
    x, residual, _, size, _ = lax.while_loop(
        keep_going, step, (start, infinite, infinite, infinite, 0)
    )
    near = (size < _NEAR) | (residual <= _ROUNDING * scale)
    return x, near & jnp.isfinite(residual)
