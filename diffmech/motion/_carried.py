"""Where the coordinates carry a body: forces that no hold exerts and that are not determined.

A coin whose height follows from its lean is carried by its coordinates; the hold that keeps it from
slipping says nothing of its weight. Such a force is not zero, but not known either.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .._typing import AnyArray, Params, Scalar, Vector
from ..geometry import Pose
from ..model import Parts, placed, weight_of
from ._body_states import body_states_of

_NEVER = 1e-9  # of the largest: what counts as no motion, or no force
_RANK = 1e-10  # of an invariant of a matrix of unit trace: below it a direction is not reached


def held_axes(
    parts: Callable[..., Parts], name: str, x: Vector, t: Scalar, params: Params
) -> AnyArray:
    """Along which axes of space the two bodies of a hold cannot move apart, shape (3,).

    Whatever the rates of x: the coordinates, and the slips of named joints, which have forces of
    their own.
    """
    hold: Any = parts(x, t, params)[name]

    def apart(place: Vector) -> AnyArray:
        moved: Any = parts(place, t, params)[name]
        first, second = moved.frames
        return _carried_point(hold.frames[1], second, hold.point) - _carried_point(
            hold.frames[0], first, hold.point
        )

    reach = jax.jacfwd(apart)(x)
    return jnp.diagonal(_never_reached(reach @ reach.T)) > _NEVER


def _never_reached(square: AnyArray) -> AnyArray:
    """The projector onto the null space of a symmetric A >= 0, shape (3, 3), by its invariants.

    Of rank 2 it is adj A / tr adj A, of rank 1 it is 1 − A / tr A.
    """
    size = jnp.trace(square)
    a = square / jnp.where(size > 0, size, 1.0)
    adjugate = jnp.stack([jnp.cross(a[1], a[2]), jnp.cross(a[2], a[0]), jnp.cross(a[0], a[1])])
    second, third = jnp.trace(adjugate), a[0] @ adjugate[0]
    line = adjugate / jnp.where(second > _RANK, second, 1.0)
    null = jnp.where(second > _RANK, line, jnp.eye(3, dtype=a.dtype) - a)
    return jnp.where(third > _RANK * second, 0.0, null)


def _carried_point(before: Pose, frame: Pose, point: AnyArray) -> AnyArray:
    """Where the point of a body is after its frame has moved."""
    return frame.position + frame.rotation @ (before.rotation.T @ (point - before.position))


def pushed_axes(
    parts: Callable[..., Parts], q: Vector, qd: Vector, qdd: Vector, t: Scalar, params: Params
) -> AnyArray:
    """Along which axes of space a body needs a force, or is given one; shape (3,).

    By its weight and its inertia, or by a force of the parts.
    """

    def momenta(q: Vector, qd: Vector, t: Scalar) -> list[AnyArray]:
        return [state.momentum for state in body_states_of(parts, q, qd, t, params).values()]

    placed_parts, rates = placed(parts, q, qd, t, params)
    down = jnp.stack([jnp.asarray(entry, q.dtype) for entry in weight_of(placed_parts)])
    states = body_states_of(parts, q, qd, t, params).values()
    weights = [state.mass * down for state in states]
    needed = jax.jvp(momenta, (q, qd, t), (qd, qdd, jnp.ones_like(t)))[1]
    efforts = [part.effort(rates[name]) for name, part in placed_parts.items()]
    pushes = [jnp.asarray(e) for e in efforts if getattr(e, "shape", ()) == (3,)]
    still = jnp.zeros(3, q.dtype)
    forces = [still, *(p - w for p, w in zip(needed, weights, strict=True)), *pushes]
    size = jnp.max(jnp.abs(jnp.stack([*forces, *weights])))
    return jnp.max(jnp.abs(jnp.stack(forces)), axis=0) > _NEVER * size
