"""A skate on a slope: a knife edge that slides along its blade, turning about the vertical freely.

q = (x, y [m], theta [rad]): x down the slope, y across it, and the blade's direction from x towards
y. The blade does not move sideways,

    −sin θ ẋ + cos θ ẏ = 0,

and the multiplier is the force of the slope on it, to the left of the blade [N]. With u the speed
along the blade and g' = g sin(slope), θ̈ = 0 and u̇ = g' cos θ, so at a constant rate θ̇ = w ≠ 0

    u = c + g'/w sin θ,                            c = u₀ − g'/w sin θ₀
    x = x₀ + [c/w sin θ + g'/(2 w²) sin² θ]
    y = y₀ − [c/w cos θ − g'/(4 w²) (2 θ − sin 2θ)]

(brackets: their change since the start). A skate that turns does not slide down: x is bounded, and
it drifts across the slope at g'/(2 w). With c = 0 it draws a cycloid.
"""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_array, as_vector
from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..model import (
    AbstractSystem,
    Pfaffian,
    System,
    gravity_field,
    inertia_field,
    length_field,
    mass_field,
    number_field,
)


class Params(eqx.Module):
    mass: Scalar = mass_field()  # [kg]
    inertia: Scalar = inertia_field()  # about the normal of the slope [kg m^2]
    blade: Scalar = length_field()  # its length, to be drawn [m]
    slope: Scalar = number_field("rad", (-np.pi / 2, np.pi / 2))  # from the horizontal [rad]
    gravity: Scalar = gravity_field()  # [m/s^2]


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 m (ẋ² + ẏ²) + 1/2 I θ̇² + m g sin(slope) x  [J]."""
    del t
    p = params
    kinetic = 0.5 * p.mass * (qd[0] ** 2 + qd[1] ** 2) + 0.5 * p.inertia * qd[2] ** 2
    return kinetic + p.mass * p.gravity * jnp.sin(p.slope) * q[0]


def blade_row(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Sideways velocity of the blade, −sin θ ẋ + cos θ ẏ, shape (1, 3)."""
    del t, params
    return jnp.stack([-jnp.sin(q[2]), jnp.cos(q[2]), jnp.zeros_like(q[2])])[None]


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Both ends of the blade and the mass on it, shape (3, 3) [m]; the third axis is up."""
    del t
    ends = jnp.array([-0.5, 0.5, 0.0]) * params.blade
    down, across = q[0] + ends * jnp.cos(q[2]), q[1] + ends * jnp.sin(q[2])
    return jnp.stack([down * jnp.cos(params.slope), across, -down * jnp.sin(params.slope)], axis=1)


def closed_form(skate: AbstractSystem, q0: Numbers, qd0: Numbers, times: Numbers) -> AnyArray:
    """q at `times` after a start that obeys the constraint, shape (k, 3)."""
    names = tuple(skate.coordinates)
    x0, y0, theta0 = (float(value) for value in as_vector(q0, names, "q0"))
    vx, vy, w = (float(value) for value in as_vector(qd0, names, "qd0"))
    pull = float(skate.params.gravity) * math.sin(float(skate.params.slope))
    speed = vx * math.cos(theta0) + vy * math.sin(theta0)
    t = np.asarray(as_array(times))
    if w == 0:  # a straight line
        way = speed * t + 0.5 * pull * math.cos(theta0) * t**2
        along = np.array([math.cos(theta0), math.sin(theta0), 0.0])
        return np.array([x0, y0, theta0]) + way[..., None] * along
    c = speed - pull / w * math.sin(theta0)

    def integral(theta: AnyArray) -> AnyArray:
        x = c / w * np.sin(theta) + pull / (2 * w**2) * np.sin(theta) ** 2
        y = -c / w * np.cos(theta) + pull / (4 * w**2) * (2 * theta - np.sin(2 * theta))
        return np.stack([x, y, theta], axis=-1)

    change = integral(theta0 + w * t) - integral(np.asarray(theta0))
    return np.array([x0, y0, theta0]) + change


def skate_on_slope(
    mass: Number = 1.0,
    inertia: Number = 0.02,
    blade: Number = 0.3,
    slope: Number = 0.5,
    gravity: Number = 9.81,
) -> System:
    """A skate on a plane tilted by `slope` [rad], its mass above the middle of the blade.

    Starts: "default" from rest but turning, on a cycloid; "loops" with some speed across the slope;
    "straight" down without turning.
    """
    return System(
        lagrangian,
        coordinates={"x": "m", "y": "m", "theta": "rad"},
        params=Params(mass, inertia, blade, slope, gravity),
        constraints={"blade": Pfaffian(blade_row)},
        landmarks=landmarks,
        links=((0, 1),),
        starts={
            "default": ([0.0, 0.0, 0.0], [0.0, 0.0, 2.0]),
            "loops": ([0.0, 0.0, 0.5 * math.pi], [0.0, 4.0, 2.0]),
            "straight": ([0.0, 0.0, 0.3], [0.0, 0.0, 0.0]),
        },
        name="skate_on_slope",
    )
