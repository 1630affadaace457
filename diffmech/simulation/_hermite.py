"""Interpolation from derivatives at both ends of a step."""

import functools
import math
from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Scalar


@functools.cache
def _basis(count: int) -> np.ndarray:
    """Monomial coefficients on [0, 1] from `count` Taylor coefficients at 0, then `count` at 1.

    The j-th Taylor coefficient at 1 of Σ cₘ θᵐ is Σ binom(m, j) cₘ. The inverse of that integer
    matrix is an integer matrix again, so rounding it makes it exact.
    """
    size = 2 * count
    conditions = np.zeros((size, size))
    conditions[:count, :count] = np.eye(count)
    for j in range(count):
        conditions[count + j] = [math.comb(m, j) for m in range(size)]
    return np.rint(np.linalg.inv(conditions))


class HermiteInterpolation(diffrax.AbstractLocalInterpolation):
    """The polynomial of degree 2 c − 1 that matches y, y', ..., y⁽ᶜ⁻¹⁾ at both ends of a step.

    `start` and `end` hold the Taylor coefficients hʲ y⁽ʲ⁾/j!, shape (c, d). The error is
    O(h²ᶜ): one order more than a method of order 2 c − 2 needs.
    """

    t0: Any
    t1: Any
    start: AnyArray
    end: AnyArray

    def evaluate(self, t0: Any, t1: Any = None, left: bool = True) -> AnyArray:
        if t1 is not None:
            return self.evaluate(t1) - self.evaluate(t0)
        del left
        count = self.start.shape[0]
        theta = (t0 - self.t0) / (self.t1 - self.t0)
        coefficients = _basis(count) @ jnp.concatenate([self.start, self.end])
        value = jnp.zeros_like(self.start[0])
        for coefficient in coefficients[::-1]:
            value = value * theta + coefficient
        return value


def time_derivatives(
    field: Callable[[Scalar, AnyArray, Any], AnyArray],
    t: Scalar,
    y: AnyArray,
    args: Any,
    count: int,
) -> AnyArray:
    """y, y', ..., `count` of them along the flow y' = f(t, y); shape (count, d)."""

    def first(t: Scalar, y: AnyArray) -> AnyArray:
        return field(t, y, args)

    def differentiate(function: Callable[[Scalar, AnyArray], AnyArray]) -> Any:
        def derivative(t: Scalar, y: AnyArray) -> AnyArray:
            return jax.jvp(function, (t, y), (jnp.ones_like(t), first(t, y)))[1]

        return derivative

    derivatives, function = [y], first
    for _ in range(count - 1):
        derivatives.append(function(t, y))
        function = differentiate(function)
    return jnp.stack(derivatives)


def scale_to_step(derivatives: AnyArray, step: Scalar) -> AnyArray:
    """Taylor coefficients hʲ y⁽ʲ⁾/j! from derivatives y⁽ʲ⁾, shape (c, d)."""
    count = derivatives.shape[0]
    powers = step ** jnp.arange(count) / np.array([math.factorial(j) for j in range(count)])
    return powers[:, None] * derivatives
