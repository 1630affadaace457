"""Cart and pole: a rigid pole hinged to a cart that rolls on a level track.

q = (x [m], theta [rad]): the cart's place and the pole's angle from the downward vertical,
counter-clockwise; theta = π is upright. `push` is a force on the cart.
"""

from typing import Annotated

import equinox as eqx
import numpy as np

from .._typing import Number, Scalar, Vector
from ..geometry import fixed, prismatic, revolute
from ..model import (
    AbstractPart,
    Damper,
    Gravity,
    Particle,
    RigidBody,
    Scenery,
    System,
    acting_on,
    force,
    gravity_field,
    length_field,
    machine,
    number_field,
    rod,
)


class Params(eqx.Module):
    cart: Particle
    pole: RigidBody
    track: Damper = acting_on("length")  # friction of the cart
    hinge: Damper = acting_on("angle")  # friction of the hinge
    length: Scalar = length_field()  # of the pole [m]
    gravity: Scalar = gravity_field()  # [m/s^2]
    push: Scalar = number_field("N", (-100.0, 100.0))  # on the cart, along x [N]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The cart as a particle, the pole as a body, both in the plane z = 0."""
    del t
    p = params
    cart = prismatic("x", q[0])
    hinge = cart @ revolute("z", q[1])
    half = 0.5 * p.length
    outline = np.array([[-1, -1, 0], [1, -1, 0], [1, 0, 0], [-1, 0, 0]])
    return {
        "cart": p.cart.at(cart.position),
        "pole": p.pole.at(hinge @ fixed([0, -half, 0]), rod([0, half, 0], [0, -half, 0])),
        "gravity": Gravity(p.gravity, direction=(0, -1, 0)),
        "track": p.track.across(q[0]),
        "hinge": p.hinge.across(q[1]),
        "push": force([p.push, 0, 0], at=cart.position),
        "wagon": Scenery(cart.position + 0.15 * p.length * outline, filled=True),
    }


def cart_pole(
    cart_mass: Annotated[Number, "kg"] = 1.0,
    pole_mass: Annotated[Number, "kg"] = 0.3,
    length: Number = 1.0,
    gravity: Number = 9.81,
    track_friction: Annotated[Number, "N s/m"] = 0.0,
    hinge_friction: Annotated[Number, "N m s/rad"] = 0.0,
    push: Number = 0.0,
) -> System:
    """A uniform pole on a cart; frictions viscous [N s/m, N m s/rad].

    Starts at rest: "default" 10° off upright, "hanging" 60° off the downward vertical.
    """
    inertia = np.asarray(pole_mass) * np.asarray(length) ** 2 / 12
    return machine(
        parts,
        coordinates={"x": "m", "theta": "rad"},
        params=Params(
            cart=Particle(cart_mass),
            pole=RigidBody(pole_mass, [inertia, 0.0, inertia]),
            length=length,
            gravity=gravity,
            track=Damper(track_friction),
            hinge=Damper(hinge_friction),
            push=push,
        ),
        plane="xy",
        starts={
            "default": ([0.0, np.deg2rad(170.0)], [0.0, 0.0]),
            "hanging": ([0.0, np.deg2rad(60.0)], [0.0, 0.0]),
        },
        name="cart_pole",
    )
