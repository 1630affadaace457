"""Pendulum in Cartesian coordinates on a pivot that is moved along a level guide.

q = (x, y) [m]; x to the right along the guide, y up, gravity along −y. The pivot is at
x = a sin(Ω t), y = 0, whatever the bob does: the rod is a constraint that depends on time, and the
drive does work on the bob. The multiplier is the rod's force on the bob along the rod, outwards
positive [N].
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number, Scalar, Vector
from ..model import Holonomic, System, gravity_field, length_field, mass_field, number_field


class Params(eqx.Module):
    mass: Scalar = mass_field()  # [kg]
    length: Scalar = length_field()  # [m]
    amplitude: Scalar = number_field("m", (0.0, 1.0))  # a of the pivot [m]
    frequency: Scalar = number_field("rad/s", (0.0, 1e3))  # Ω of the pivot [rad/s]
    gravity: Scalar = gravity_field()  # [m/s^2]


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 m (ẋ² + ẏ²) − m g y  [J]."""
    del t
    return 0.5 * params.mass * (qd @ qd) - params.mass * params.gravity * q[1]


def pivot(t: Scalar, params: Params) -> AnyArray:
    """(a sin(Ω t), 0), shape (2,) [m]."""
    x = params.amplitude * jnp.sin(params.frequency * t)
    return jnp.stack([x, jnp.zeros_like(x)])


def stretch(q: Vector, t: Scalar, params: Params) -> Scalar:
    """φ = |(x, y) − pivot(t)| − l, which must vanish [m]."""
    arm = q - pivot(t, params)
    return jnp.sqrt(arm @ arm) - params.length


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot, bob and both ends of the guide, shape (4, 2) [m]."""
    end = jnp.stack([params.amplitude + 0.2 * params.length, jnp.zeros_like(q[0])])
    return jnp.stack([pivot(t, params), q, -end, end])


def pendulum_on_guide(
    mass: Number = 1.0,
    length: Number = 1.0,
    amplitude: Number = 0.3,
    frequency: Number = 4.0,
    gravity: Number = 9.81,
) -> System:
    """A pendulum whose pivot is moved along a guide, x = a sin(Ω t).

    Starts, at t = 0: "default" 45° from the downward vertical, moving along with the pivot;
    "hanging" below it at rest.
    """
    diagonal = np.sqrt(0.5)
    return System(
        lagrangian,
        coordinates={"x": "m", "y": "m"},
        params=Params(mass, length, amplitude, frequency, gravity),
        constraints=Holonomic(stretch, name="rod"),
        landmarks=landmarks,
        links=((0, 1), (2, 3)),
        starts={
            "default": (
                length * np.array([diagonal, -diagonal]),
                amplitude * frequency * np.array([1.0, 0.0]),
            ),
            "hanging": (length * np.array([0.0, -1.0]), np.zeros(2)),
        },
        name="pendulum_on_guide",
    )
