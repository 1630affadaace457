"""Spherical pendulum: a point mass on a light rod that swings in all directions.

q = (theta, phi) [rad]: theta from the downward vertical, phi around it; z up. The vertical is a
pole of these angles. The angular momentum about it, p_phi, is kept.
"""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import Number, Scalar, Vector
from ..model import (
    AbstractPart,
    Gravity,
    Particle,
    Scenery,
    System,
    gravity_field,
    length_field,
    machine,
)


class Params(eqx.Module):
    bob: Particle
    length: Scalar = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The bob, and the rod to be seen."""
    del t
    theta, phi = q[0], q[1]
    out = params.length * jnp.sin(theta)
    bob = (out * jnp.cos(phi), out * jnp.sin(phi), -params.length * jnp.cos(theta))
    return {
        "bob": params.bob.at(bob),
        "gravity": Gravity(params.gravity),
        "rod": Scenery(jnp.stack([jnp.zeros(3), jnp.stack(bob)])),
    }


def spherical_pendulum(
    mass: Annotated[Number, "kg"] = 1.0, length: Number = 1.0, gravity: Number = 9.81
) -> System:
    """The spherical pendulum. Starts: a swing that turns ("default"), a level circle ("cone")."""
    lean = np.pi / 4
    return machine(
        parts,
        coordinates={"theta": "rad", "phi": "rad"},
        params=Params(Particle(mass), length, gravity),
        starts={
            "default": ([lean, 0.0], [0.0, 1.5]),
            # A circle at this lean: φ̇² = g/(l cos θ), with the default length and gravity.
            "cone": ([lean, 0.0], [0.0, np.sqrt(9.81 / np.cos(lean))]),
        },
        name="spherical_pendulum",
    )
