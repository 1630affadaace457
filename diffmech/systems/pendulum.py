"""Simple pendulum: a point mass on a light rigid rod.

q = (theta,) [rad] from the downward vertical, counter-clockwise.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number, Scalar, Vector
from ..model import System, gravity_field, length_field, mass_field


class Params(eqx.Module):
    mass: Scalar = mass_field()  # [kg]
    length: Scalar = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot and bob, shape (2, 2) [m]; x to the right, y up."""
    del t
    bob = params.length * jnp.stack([jnp.sin(q[0]), -jnp.cos(q[0])])
    return jnp.stack([jnp.zeros_like(bob), bob])


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 m |v|² − m g y  [J]."""
    points, velocities = jax.jvp(lambda q: landmarks(q, t, params), (q,), (qd,))
    kinetic = 0.5 * params.mass * jnp.sum(velocities[1] ** 2)
    return kinetic - params.mass * params.gravity * points[1, 1]


def pendulum(mass: Number = 1.0, length: Number = 1.0, gravity: Number = 9.81) -> System:
    """The simple pendulum, θ̈ + (g/l) sin θ = 0. Starts: 45° (default) and horizontal, at rest."""
    return System(
        lagrangian,
        coordinates={"theta": "rad"},
        params=Params(mass, length, gravity),
        landmarks=landmarks,
        links=((0, 1),),
        starts={
            "default": ([np.pi / 4], [0.0]),
            "horizontal": ([np.pi / 2], [0.0]),
        },
        name="pendulum",
    )
