"""Newton's method to round-off, differentiable at the solution."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import AnyArray, Truth

_MAX_ITERATIONS = 40  # quadratic convergence needs 3 to 6; more means a bad start
_MAX_HALVINGS = 30
_NEAR = 1e-6  # relative step from which a step that no longer shrinks means round-off


def newton(residual: Callable[[AnyArray], AnyArray], guess: AnyArray) -> tuple[AnyArray, Truth]:
    """x with residual(x) = 0, iterated until rounding stops it.

    Full Newton steps with the exact Jacobian, halved while the residual is not finite or grows.
    Derivatives of x with respect to anything `residual` closes over come from the implicit
    function theorem, forward and reverse, of any order.

    Returns:
        x, shape (m,), and whether it converged.
    """

    def solve(function: Callable[[AnyArray], AnyArray], start: AnyArray) -> tuple[Any, Any]:
        x, converged = lax.stop_gradient(_iterate(function, start))
        return x, converged.astype(x.dtype)  # booleans have no tangents, and JAX asks for some

    def tangent_solve(linear: Callable[[AnyArray], AnyArray], right: AnyArray) -> AnyArray:
        return jnp.linalg.solve(_matrix(linear, right), right)

    x, converged = lax.custom_root(residual, guess, solve, tangent_solve, has_aux=True)
    return x, converged > 0


def _matrix(linear: Callable[[AnyArray], Any], like: AnyArray) -> AnyArray:
    return jax.vmap(linear, out_axes=1)(jnp.eye(like.size, dtype=like.dtype))


def _iterate(function: Callable[[AnyArray], AnyArray], start: AnyArray) -> tuple[AnyArray, Truth]:
    def size_of(x: AnyArray) -> AnyArray:
        return jnp.max(jnp.abs(x))

    def keep_going(state: tuple[Any, ...]) -> Truth:
        _, _, size, previous, count = state
        stalled = (size < _NEAR) & (size >= 0.5 * previous)
        return (size > 0) & ~stalled & jnp.isfinite(size) & (count < _MAX_ITERATIONS)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        x, _, size, _, count = state
        value, push = jax.linearize(function, x)
        full = -jnp.linalg.solve(_matrix(push, x), value)
        relative = size_of(full) / jnp.maximum(size_of(x), size_of(full))
        relative = jnp.where(size_of(full) == 0, 0.0, relative)

        def too_far(shortened: tuple[Any, Any]) -> Truth:
            fraction, halvings = shortened
            new = size_of(function(x + fraction * full))
            worse = ~jnp.isfinite(new) | ((new > size_of(value)) & (relative > _NEAR))
            return worse & (halvings < _MAX_HALVINGS)

        fraction, _ = lax.while_loop(
            too_far,
            lambda shortened: (0.5 * shortened[0], shortened[1] + 1),
            (jnp.ones((), x.dtype), 0),
        )
        return x + fraction * full, size_of(value), relative, size, count + 1

    infinite = jnp.full((), jnp.finfo(start.dtype).max, start.dtype)
    x, _, size, _, _ = lax.while_loop(keep_going, step, (start, infinite, infinite, infinite, 0))
    return x, size < _NEAR
