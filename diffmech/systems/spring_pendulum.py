"""Spring pendulum: a bob on a spring that swings in a plane.

q = (r [m], theta [rad]): the spring's length and its angle from the downward vertical,
counter-clockwise. The pivot, r = 0, is a pole of these coordinates.
"""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import Number, Scalar, Vector
from ..model import (
    AbstractPart,
    Damper,
    Gravity,
    Particle,
    Spring,
    System,
    acting_on,
    gravity_field,
    machine,
)


class Params(eqx.Module):
    bob: Particle
    spring: Spring = acting_on("length")
    damper: Damper = acting_on("length")  # beside the spring
    gravity: Scalar = gravity_field()  # [m/s^2]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The bob, with the spring and a damper between it and the pivot."""
    del t
    bob = (q[0] * jnp.sin(q[1]), -q[0] * jnp.cos(q[1]), 0.0)
    return {
        "bob": params.bob.at(bob),
        "spring": params.spring.between([0, 0, 0], bob),
        "damper": params.damper.across(q[0]),
        "gravity": Gravity(params.gravity, direction=(0, -1, 0)),
    }


def spring_pendulum(
    mass: Annotated[Number, "kg"] = 1.0,
    stiffness: Annotated[Number, "N/m"] = 40.0,
    rest: Annotated[Number, "m"] = 1.0,
    gravity: Number = 9.81,
    friction: Annotated[Number, "N s/m"] = 0.0,
) -> System:
    """A bob on a spring of `stiffness` [N/m] and length `rest` [m]. Starts at rest from 30°."""
    return machine(
        parts,
        coordinates={"r": "m", "theta": "rad"},
        params=Params(Particle(mass), Spring(stiffness, rest), Damper(friction), gravity),
        plane="xy",
        starts={
            "default": ([1.25, np.deg2rad(30.0)], [0.0, 0.0]),
            "chaotic": ([1.0, np.deg2rad(100.0)], [0.0, 0.0]),
        },
        name="spring_pendulum",
    )
