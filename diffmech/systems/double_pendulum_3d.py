"""Two rigid bodies on two hinges with any axes: the double pendulum in space.

q = (theta1, theta2) [rad]: body 1 turns by theta1 about an axis fixed in space, body 2 by theta2
about an axis fixed in body 1. At q = 0 all body axes are those of space, z up. The planar double
pendulum (equal axes) and the babyboot (crossed axes) are special cases.
"""

from typing import Annotated

import equinox as eqx
import numpy as np

from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..geometry import fixed, revolute, shaped
from ..model import (
    AbstractPart,
    Gravity,
    RigidBody,
    System,
    gravity_field,
    joint,
    machine,
    number_field,
    place_field,
    rod,
)


class Params(eqx.Module):
    upper: RigidBody
    lower: RigidBody
    axes: AnyArray = number_field("1")  # two directions, rows, in the frame before
    elbow: AnyArray = place_field()  # first hinge to second, in body 1 [m]
    centres: AnyArray = place_field()  # each hinge to its body's mass centre, rows [m]
    gravity: Scalar = gravity_field()  # [m/s^2], along -z


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """Both bodies, each on its hinge."""
    del t
    p = params
    first = joint("shoulder", revolute(p.axes[0], q[0]))
    second = joint("elbow", first @ revolute(p.axes[1], q[1], at=p.elbow))
    arm, hand = p.centres
    return {
        "upper": p.upper.at(first @ fixed(arm), rod(-arm, p.elbow - arm)),
        # Drawn as far beyond its mass centre as the hinge is before it.
        "lower": p.lower.at(second @ fixed(hand), rod(-hand, hand)),
        "gravity": Gravity(p.gravity),
    }


def double_pendulum_3d(
    axes: Numbers = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    masses: Annotated[Numbers, "kg"] = (1.0, 1.0),
    inertias: Annotated[Numbers, "kg m^2"] = ((1 / 12, 1 / 12, 0.0), (1 / 12, 1 / 12, 0.0)),
    elbow: Numbers = (0.0, 0.0, -1.0),
    centres: Numbers = ((0.0, 0.0, -0.5), (0.0, 0.0, -0.5)),
    gravity: Number = 9.81,
) -> System:
    """Two uniform 1 kg, 1 m rods on hinges along x and y, unless other numbers are given.

    `axes` are two directions; `inertias` two sets of principal moments or two tensors about the
    mass centres in body axes [kg m²]; lengths in metres. Starts at rest: 45°, 30° (default) and
    90°, 120° ("chaotic").
    """
    directions = shaped(axes, (2, 3), "axes")
    if not np.all(np.any(directions, axis=1)):
        raise ValueError(f"`axes` must be two directions, but one is zero: {axes}")
    mass1, mass2 = shaped(masses, (2,), "masses")
    if np.ndim(inertias) == 0 or len(inertias) != 2:
        raise ValueError(f"`inertias` must be two, one for each body, but are {inertias}")
    inertia1, inertia2 = inertias
    return machine(
        parts,
        coordinates={"theta1": "rad", "theta2": "rad"},
        params=Params(
            upper=RigidBody(mass1, inertia1),
            lower=RigidBody(mass2, inertia2),
            axes=directions,
            elbow=shaped(elbow, (3,), "elbow"),
            centres=shaped(centres, (2, 3), "centres"),
            gravity=gravity,
        ),
        starts={
            "default": (np.deg2rad([45.0, 30.0]), [0.0, 0.0]),
            "chaotic": (np.deg2rad([90.0, 120.0]), [0.0, 0.0]),
        },
        name="double_pendulum_3d",
    )
