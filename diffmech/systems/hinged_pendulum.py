"""A rigid body on a hinge whose axis may be tilted: a gate, a physical pendulum.

q = (theta,) [rad] about the hinge axis from the body's lowest position. With the axis tilted by α
from the horizontal, d the mass centre's distance from it and I the moment about the axis direction
through the mass centre,

    θ̈ + m g d cos α / (I + m d²) sin θ = 0.
"""

import math
from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar
from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..geometry import fixed, revolute
from ..model import (
    AbstractPart,
    Damper,
    Gravity,
    RigidBody,
    Scenery,
    System,
    acting_on,
    gravity_field,
    joint,
    machine,
    number_field,
    place_field,
)


class Params(eqx.Module):
    body: RigidBody
    friction: Damper = acting_on("angle")  # of the hinge
    axis: AnyArray = number_field("1")  # direction of the hinge, any length
    centre: AnyArray = place_field()  # hinge to mass centre at theta = 0 [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The body, turned about the axis through the origin."""
    del t
    hinge = joint("hinge", revolute(params.axis, q[0]))
    pose = hinge @ fixed(params.centre)
    return {
        "body": params.body.at(pose),
        "arm": Scenery(jnp.stack([hinge.position, pose.position])),
        "friction": params.friction.across(q[0]),
        "gravity": Gravity(params.gravity),
    }


def hinged_pendulum(
    tilt: Annotated[Number, "rad"] = math.pi / 6,
    mass: Annotated[Number, "kg"] = 1.0,
    distance: Annotated[Number, "m"] = 0.5,
    inertia: Annotated[Numbers, "kg m^2"] = (0.02, 0.03, 0.015),
    gravity: Number = 9.81,
    friction: Annotated[Number, "N m s/rad"] = 0.0,
) -> System:
    """A body whose hinge axis (cos α, 0, sin α) is tilted by `tilt` α [rad] from the horizontal.

    `inertia` about the mass centre, in axes that are those of space at theta = 0: principal
    moments or a tensor [kg m²]. `friction` is viscous [N m s/rad]. Starts at rest from 60°
    (default) and 170° ("high").
    """
    alpha = float(as_scalar(tilt, "tilt"))
    centre = float(as_scalar(distance, "distance", positive=True))
    return machine(
        parts,
        coordinates={"theta": "rad"},
        params=Params(
            body=RigidBody(mass, inertia),
            axis=np.array([math.cos(alpha), 0.0, math.sin(alpha)]),
            centre=centre * np.array([math.sin(alpha), 0.0, -math.cos(alpha)]),
            friction=Damper(friction),
            gravity=gravity,
        ),
        starts={
            "default": ([math.pi / 3], [0.0]),
            "high": ([math.radians(170)], [0.0]),
        },
        name="hinged_pendulum",
    )
