"""A uniform ball rolling without slip on a plane, level or tilted.

q = (x, y [m], q_w, q_x, q_y, q_z): the point of contact, x down the slope and y across it, and the
unit quaternion of the turn from body axes to those of the plane (z its normal, away from it). Held
by |q| = 1 and, with the angular velocity ω = 2 q̇ ⊗ q* in axes of the plane, by rolling:

    ẋ = r ω_y,   ẏ = −r ω_x

whose multipliers are the friction of the plane on the ball along x and y [N]. All axes of a ball
are alike, so on unit quaternions it turns with the energy 1/2 I |ω|² = 2 I |q̇|², I = 2/5 m r².

    ẍ = 5/7 g sin(slope),   ÿ = 0,   ω_z constant,   friction −2/7 m g sin(slope) along x
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number, Scalar, Vector
from ..geometry import from_quaternion, rotation_about
from ..model import (
    Holonomic,
    Pfaffian,
    System,
    gravity_field,
    length_field,
    mass_field,
    number_field,
)

_RIM = 16  # corners of each circle drawn on the ball
_SHARE = 2 / 5  # I/(m r²)


class Params(eqx.Module):
    mass: Scalar = mass_field()  # [kg]
    radius: Scalar = length_field()  # [m]
    slope: Scalar = number_field("rad", (-np.pi / 2, np.pi / 2))  # from the horizontal [rad]
    gravity: Scalar = gravity_field()  # [m/s^2]


def spin_matrix(quaternion: AnyArray) -> AnyArray:
    """W with ω = W q̇ in axes of the plane, shape (3, 4): the vector part of 2 q̇ ⊗ q*."""
    w, x, y, z = quaternion
    return 2 * jnp.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 m (ẋ² + ẏ²) + 2 I |q̇|² + m g sin(slope) x  [J]."""
    del t
    p = params
    inertia = _SHARE * p.mass * p.radius**2
    kinetic = 0.5 * p.mass * jnp.sum(qd[:2] ** 2) + 2 * inertia * jnp.sum(qd[2:] ** 2)
    return kinetic + p.mass * p.gravity * jnp.sin(p.slope) * q[0]


def unit(q: Vector, t: Scalar, params: Params) -> Scalar:
    """|q|² − 1 of the quaternion."""
    del t, params
    return jnp.sum(q[2:] ** 2) - 1


def no_slip(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Velocity of the ball where it touches, (ẋ − r ω_y, ẏ + r ω_x), shape (2, 6)."""
    del t
    spin = params.radius * spin_matrix(q[2:])
    return jnp.concatenate([jnp.eye(2), jnp.stack([-spin[1], spin[0]])], axis=1)


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Three circles on the ball, shape (48, 3) [m]; the third axis is up."""
    del t
    angles = np.arange(_RIM) * (2 * np.pi / _RIM)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(_RIM)], axis=1)
    circles = np.concatenate([np.roll(circle, k, axis=1) for k in range(3)])
    tilt = rotation_about(1, params.slope)
    centre = jnp.stack([q[0], q[1], params.radius])
    return (centre + params.radius * circles @ from_quaternion(q[2:]).T) @ tilt.T


def rolling_ball(
    mass: Number = 1.0,
    radius: Number = 0.1,
    slope: Number = 0.2,
    gravity: Number = 9.81,
) -> System:
    """A ball on a plane tilted by `slope` [rad].

    Starts: "default" rolls across the slope and spins about the normal; "rest" is let go.
    """

    def start(vx: float, vy: float, spin: float) -> tuple[list[Number], list[Number]]:
        # At q = (1, 0, 0, 0) the rates of the quaternion are half the angular velocity.
        omega = (-vy / radius, vx / radius, spin)
        return [0, 0, 1, 0, 0, 0], [vx, vy, 0, *(0.5 * w for w in omega)]

    return System(
        lagrangian,
        coordinates={"x": "m", "y": "m", **dict.fromkeys(("q_w", "q_x", "q_y", "q_z"), "")},
        params=Params(mass, radius, slope, gravity),
        constraints={"unit": Holonomic(unit), "rolling": Pfaffian(no_slip)},
        landmarks=landmarks,
        links=[(_RIM * k + i, _RIM * k + (i + 1) % _RIM) for k in range(3) for i in range(_RIM)],
        starts={"default": start(-0.3, 0.5, 4.0), "rest": start(0.0, 0.0, 0.0)},
        name="rolling_ball",
    )
