"""The motion between two instants, from what mechanics knows at both.

The accelerations and their rate are known at both ends of a step: with them the coordinates follow
a polynomial of degree 7, worthy of a method of order 6.
"""

import functools
import math
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Params, Scalar
from ..motion import Field, acceleration_of, pack, power_of, unpack

_COUNT = 4  # value and three derivatives at each end


@functools.cache
def _basis() -> np.ndarray:
    """Monomial coefficients on [0, 1] from four Taylor coefficients at 0, then four at 1.

    The j-th Taylor coefficient at 1 of Σ cₘ θᵐ is Σ binom(m, j) cₘ. The inverse of that integer
    matrix is an integer matrix again, so rounding makes it exact.
    """
    size = 2 * _COUNT
    conditions = np.zeros((size, size))
    conditions[:_COUNT, :_COUNT] = np.eye(_COUNT)
    for j in range(_COUNT):
        conditions[_COUNT + j] = [math.comb(m, j) for m in range(size)]
    return np.rint(np.linalg.inv(conditions))


def position_knot(laws: Any, t: Scalar, q: AnyArray, qd: AnyArray, params: Params) -> AnyArray:
    """q and three time derivatives at one instant, shape (4, n).

    q̈ and its rate cost one evaluation of the equations with its directional derivative.
    """

    def accelerate(q: AnyArray, qd: AnyArray, t: Scalar) -> AnyArray:
        return acceleration_of(laws, q, qd, t, params)

    qdd = accelerate(q, qd, t)
    _, jerk = jax.jvp(accelerate, (q, qd, t), (qd, qdd, jnp.ones_like(t)))
    return jnp.stack([q, qd, qdd, jerk])


def knot(field: Field, t: Scalar, y: AnyArray, params: Params) -> AnyArray:
    """(q, W) and three time derivatives at one instant, shape (4, n + 1).

    The power is differentiated along the cubic that coordinates and their derivatives make.
    """
    laws = field.laws
    q, qd, work = unpack(y)
    _, _, qdd, jerk = motion = position_knot(laws, t, q, qd, params)

    def power(s: Scalar) -> Scalar:
        position = q + s * (qd + s * (qdd / 2 + s * jerk / 6))
        rate = qd + s * (qdd + s * jerk / 2)
        return power_of(laws, position, rate, t + s, params)

    def power_rate(s: Scalar) -> Scalar:
        return jax.jvp(power, (s,), (jnp.ones_like(s),))[1]

    now = jnp.zeros_like(t)
    bend = jax.jvp(power_rate, (now,), (jnp.ones_like(now),))[1]
    works = jnp.stack([work, power(now), power_rate(now), bend])
    return jnp.concatenate([motion, works[:, None]], axis=1)


class MotionPath(diffrax.AbstractLocalInterpolation):
    """y = (q, q̇, W) within a step: the degree-7 polynomial in (q, W) through both knots.

    `start` and `end` are knots, shape (4, n + 1). q̇ is the derivative of q, so that the two belong
    together between the steps as well.
    """

    t0: Any
    t1: Any
    start: AnyArray
    end: AnyArray

    def evaluate(self, t0: Any, t1: Any = None, left: bool = True) -> AnyArray:
        if t1 is not None:
            return self.evaluate(t1) - self.evaluate(t0)
        del left
        step = self.t1 - self.t0
        scale = step ** jnp.arange(_COUNT) / np.array([1.0, 1.0, 2.0, 6.0])
        origin = self.start[0]  # taken out, so that large angles do not cost digits of the rates
        ends = jnp.concatenate(
            [
                scale[:, None] * self.start.at[0].set(0.0),
                scale[:, None] * self.end.at[0].add(-origin),
            ]
        )
        coefficients = _basis() @ ends
        theta = (t0 - self.t0) / step
        value = slope = jnp.zeros_like(ends[0])
        for coefficient in coefficients[::-1]:  # Horner's scheme, with the derivative
            slope = slope * theta + value
            value = value * theta + coefficient
        position = origin + value
        return pack(position[:-1], slope[:-1] / step, position[-1])


def field_of(terms: Any) -> tuple[Field, Any]:
    """The mechanical field inside a Diffrax term, and the direction of time (+1 or −1)."""
    direction: Any = 1
    while hasattr(terms, "term"):
        direction = direction * terms.direction
        terms = terms.term
    field = getattr(terms, "vector_field", None)
    if not isinstance(field, Field):
        raise ValueError(
            "this solver moves mechanical systems only: run it with `diffmech.simulate`"
        )
    return field, direction
