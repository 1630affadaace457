"""Kapitza's pendulum: its pivot shakes up and down, and it can stand on its head.

q = (theta,) [rad] from the downward vertical, counter-clockwise. The pivot is at
y = a cos(Ω t); upright is stable for fast shaking, a² Ω² > 2 g l.
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
    Scenery,
    System,
    acting_on,
    gravity_field,
    length_field,
    machine,
    number_field,
)


class Params(eqx.Module):
    bob: Particle
    friction: Damper = acting_on("angle")  # of the hinge
    length: Scalar = length_field()  # [m]
    amplitude: Scalar = number_field("m", (0.0, 1.0))  # a of the pivot [m]
    frequency: Scalar = number_field("rad/s", (0.0, 1e3))  # Ω of the pivot [rad/s]
    gravity: Scalar = gravity_field()  # [m/s^2]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The bob on its moving pivot, and the rod to be seen."""
    height = params.amplitude * jnp.cos(params.frequency * t)
    bob = (params.length * jnp.sin(q[0]), height - params.length * jnp.cos(q[0]), 0.0)
    zero = jnp.zeros_like(height)
    return {
        "bob": params.bob.at(bob),
        "friction": params.friction.across(q[0]),
        "gravity": Gravity(params.gravity, direction=(0, -1, 0)),
        "rod": Scenery(jnp.stack([jnp.stack([zero, height, zero]), jnp.stack([*bob[:2], zero])])),
    }


def kapitza(
    mass: Annotated[Number, "kg"] = 1.0,
    length: Number = 1.0,
    amplitude: Number = 0.1,
    frequency: Number = 100.0,
    gravity: Number = 9.81,
    friction: Annotated[Number, "N m s/rad"] = 0.0,
) -> System:
    """A shaken pendulum. Starts at rest: "default" 10° off upright, "hanging" 10° off below."""
    return machine(
        parts,
        coordinates={"theta": "rad"},
        params=Params(Particle(mass), Damper(friction), length, amplitude, frequency, gravity),
        plane="xy",
        starts={
            "default": ([np.deg2rad(170.0)], [0.0]),
            "hanging": ([np.deg2rad(10.0)], [0.0]),
        },
        name="kapitza",
    )
