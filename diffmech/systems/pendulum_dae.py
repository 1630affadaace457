"""Simple pendulum in Cartesian coordinates: a point mass held by a rod that is a constraint.

q = (x, y) [m] from the pivot; x to the right, y up, gravity along −y. The rod says √(x² + y²) = l,
as a length, so that its multiplier is the rod's force on the mass along the rod [N]: outwards
positive, −λ is the tension.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number, Scalar, Vector
from ..model import Holonomic, System, gravity_field, length_field, mass_field


class Params(eqx.Module):
    mass: Scalar = mass_field()  # [kg]
    length: Scalar = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 m (ẋ² + ẏ²) − m g y  [J]."""
    del t
    return 0.5 * params.mass * (qd @ qd) - params.mass * params.gravity * q[1]


def stretch(q: Vector, t: Scalar, params: Params) -> Scalar:
    """φ = √(x² + y²) − l, which must vanish [m]."""
    del t
    return jnp.sqrt(q @ q) - params.length


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot and bob, shape (2, 2) [m]."""
    del t, params
    return jnp.stack([jnp.zeros_like(q), q])


def pendulum_dae(mass: Number = 1.0, length: Number = 1.0, gravity: Number = 9.81) -> System:
    """The simple pendulum with its rod as a constraint.

    Starts: "default" 45° from the downward vertical and "published" at (−l, 0), both at rest;
    "spinning" at the bottom with twice the speed that just reaches the top, 2 √(4 g l).
    """
    still, diagonal = np.zeros(2), np.sqrt(0.5)
    fast = np.array([4 * np.sqrt(gravity * length), 0.0])
    return System(
        lagrangian,
        coordinates={"x": "m", "y": "m"},
        params=Params(mass, length, gravity),
        constraints=Holonomic(stretch, name="rod"),
        landmarks=landmarks,
        links=((0, 1),),
        starts={
            "default": (length * np.array([diagonal, -diagonal]), still),
            "published": (length * np.array([-1.0, 0.0]), still),
            "spinning": (length * np.array([0.0, -1.0]), fast),
        },
        name="pendulum_dae",
    )
