"""A moment of a motion, and what lies between two of them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._typing import AnyArray, Params, Scalar, ScalarFunction


class Instant(NamedTuple):
    """A moment of a motion.

        δ_i = 2^doublings_i (dq_i, dqd_i)   the difference of neighbour i, to first order

    Attributes:
        t: time, shape () [s].
        q, qd, qdd: coordinates, rates and accelerations, shape (n,) [unit of each, that per s, per
            s²].
        dq, dqd: the neighbours the reducer asked for by `tangents`, scaled, shape (k, n) each
            [units of q, qd]; else ().
        doublings: the powers of 2 taken out of them, shape (k,) [-]; else ().
        work: W of forces and moving guides since the start, shape () [J], where `needs_work`; else
            ().
    """

    t: Scalar
    q: AnyArray
    qd: AnyArray
    qdd: AnyArray
    dq: AnyArray = ()
    dqd: AnyArray = ()
    doublings: AnyArray = ()
    work: Scalar = ()


def between(before: Instant, after: Instant, part: Scalar) -> tuple[Any, Any, Any]:
    """(q, q̇, t) inside a step, `part` of the way from `before` to `after`.

        q(t₀ + s h) = p(s),   q̇ = p'(s)/h,   p(0) = q₀, p'(0) = h q̇₀, p''(0) = h² q̈₀, likewise at 1

    p is of degree 5: the error of q is O(h⁶), that of q̇ O(h⁵).

    Args:
        before, after: the ends of a step, h [s] apart.
        part: s, shape () [-], 0 at `before`, 1 at `after`.

    Returns:
        q and q̇, shape (n,) [unit of each, that per second], and t, shape () [s]. In a step of no
        length q̇ is 0.
    """
    h = after.t - before.t
    start, turn = h * before.qd, h**2 * before.qdd
    gap = after.q - before.q - start - 0.5 * turn
    slip = h * after.qd - start - turn
    bend = h**2 * after.qdd - turn
    cubic = 10 * gap - 4 * slip + 0.5 * bend
    quartic = -15 * gap + 7 * slip - bend
    quintic = 6 * gap - 3 * slip + 0.5 * bend
    s = part
    q = before.q + s * (start + s * (0.5 * turn + s * (cubic + s * (quartic + s * quintic))))
    rate = start + s * (turn + s * (3 * cubic + s * (4 * quartic + s * 5 * quintic)))
    return q, rate / jnp.where(h > 0, h, 1.0), before.t + s * h


def _along(function: ScalarFunction, at: Instant, params: Params) -> tuple[Any, Any]:
    """A function of the state and its rate of change along the motion."""

    def moving(q: Any, qd: Any, t: Any) -> Any:
        return jnp.asarray(function(q, qd, t, params), at.q.dtype)

    return jax.jvp(moving, (at.q, at.qd, at.t), (at.qd, at.qdd, jnp.ones_like(at.t)))


def peak(function: ScalarFunction, before: Instant, after: Instant, params: Params) -> Any:
    """Where in the step (0 to 1) a function is largest, and how large.

    One end of the step, unless the function rises at its start and falls at its end: then where a
    cubic says, and as large as it is at the state interpolated there.
    """
    h = after.t - before.t
    low, up = _along(function, before, params)
    high, down = _along(function, after, params)
    up, down = h * up, h * down
    square = 3 * (high - low) - 2 * up - down
    cube = 2 * (low - high) + up + down
    inside = (up > 0) & (down < 0)
    root = jnp.sqrt(jnp.maximum(square**2 - 3 * cube * up, 0.0)) - square
    s = jnp.where(inside, up / jnp.where(root > 0, root, 1.0), jnp.where(high > low, 1.0, 0.0))
    s = jnp.clip(s, 0.0, 1.0)
    top = jnp.asarray(function(*between(before, after, s), params), high.dtype)
    return s, jnp.where(inside, top, jnp.maximum(low, high))
