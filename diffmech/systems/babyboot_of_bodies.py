"""The babyboot described by its two bodies: a rod on a hinge, a plate that turns about the rod.

The same machine as `babyboot`, whose Lagrangian was found by hand; here nothing was. Coordinates
and numbers are the same; the plate's normal is its body x axis.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import Scalar, Vector
from ..geometry import fixed, revolute
from ..model import (
    AbstractPart,
    Gravity,
    RigidBody,
    Shape,
    System,
    gravity_field,
    joint,
    length_field,
    machine,
    rod,
)


class Params(eqx.Module):
    A: RigidBody  # the rod
    B: RigidBody  # the plate
    LA: Scalar = length_field()  # hinge to mass centre of A [m]
    LB: Scalar = length_field()  # hinge to mass centre of B [m]
    g: Scalar = gravity_field()  # [m/s^2]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """Rod A hangs from a hinge along x; plate B turns about the rod's axis z."""
    del t
    p = params
    swing = joint("hinge", revolute("x", q[0]))
    plate = joint("bearing", swing @ revolute("z", q[1], at=[0, 0, -p.LB]))
    return {
        "A": p.A.at(swing @ fixed([0, 0, -p.LA]), rod([0, 0, p.LA], [0, 0, p.LA - p.LB])),
        "B": p.B.at(plate, _rectangle(p.B)),
        "gravity": Gravity(p.g),
    }


def _rectangle(plate: RigidBody) -> Shape:
    """The thin uniform rectangle across x with these moments."""
    height, width = (jnp.sqrt(12 * plate.inertia[i] / plate.mass) / 2 for i in (1, 2))
    ring = [(-width, -height), (width, -height), (width, height), (-width, height)]
    corners = jnp.stack([jnp.stack([jnp.zeros(()), y, z]) for y, z in ring])
    return Shape(corners, faces=((0, 1, 2, 3),))


def babyboot_of_bodies() -> System:
    """The babyboot with the source's numbers; the starts are those of `babyboot`."""
    return machine(
        parts,
        coordinates={"qA": "rad", "qB": "rad"},
        params=Params(
            A=RigidBody(0.01, [5e-6, 5e-6, 0.0]),
            B=RigidBody(0.1, [2.5e-4, 0.5e-4, 2e-4]),
            LA=0.075,
            LB=0.20,
            g=9.81,
        ),
        starts={
            "default": (np.deg2rad([90.0, 1.0]), [0.0, 0.0]),
            "chaotic": (np.deg2rad([90.0, 1.0]), [0.0, 0.0]),
            "regular": (np.deg2rad([45.0, 1.0]), [0.0, 0.0]),
        },
        name="babyboot_of_bodies",
    )
