"""A symmetric top on a fixed tip, under gravity.

R turns the body by three Euler angles [rad]; the symmetry axis is the body's z, the tip is the
origin, z up. In the default convention "ZXZ" the angles are precession, nutation (of the axis from
the upward vertical) and spin; its pole is the vertical. "XYZ" is regular there (two tilts and the
spin): the chart for a sleeping top. Steady motions and limits: `diffmech.systems.tops`.

The default numbers and start are those of Z. Terze, A. Müller and D. Zlatar, "Singularity-free time
integration of rotational quaternions using non-redundant ordinary differential equations",
Multibody System Dynamics 38(3) (2016) 201-225.
"""

import math
from typing import Annotated

import equinox as eqx

from .._typing import Number, Scalar, Vector
from ..geometry import SEQUENCES, fixed, spherical
from ..model import (
    AbstractPart,
    Gravity,
    RigidBody,
    System,
    gravity_field,
    joint,
    length_field,
    machine,
    top,
)


class Params(eqx.Module):
    top: RigidBody  # about its mass centre, symmetric about z
    height: Scalar = length_field()  # tip to mass centre [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


class _Parts(eqx.Module):
    """The top, turned by three angles of one convention."""

    sequence: str = eqx.field(static=True)

    def __call__(self, q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
        del t
        h = params.height
        turned = joint("tip", spherical(q, sequence=self.sequence))
        return {
            "top": params.top.at(turned @ fixed([0, 0, h]), top(0.5 * h, 0.4 * h, h)),
            "gravity": Gravity(params.gravity),
        }


_PARTS = {sequence: _Parts(sequence) for sequence in SEQUENCES}


def heavy_top(
    sequence: str = "ZXZ",
    mass: Annotated[Number, "kg"] = 15.0,
    transverse: Annotated[Number, "kg m^2"] = 0.234375,
    axial: Annotated[Number, "kg m^2"] = 0.46875,
    height: Number = 1.0,
    gravity: Number = 9.81,
) -> System:
    """A top with moments `transverse` and `axial` about its mass centre [kg m²].

    `sequence` is any of the 24 Euler conventions. Starts in "ZXZ": "default" released 60° from the
    vertical; "published" the horizontal axis of the source, which falls through the pole of "ZXZ"
    after 0.37 s; "slow" spins too slowly to sleep and leans by 20°.
    """
    if sequence not in SEQUENCES:
        raise ValueError(f"`sequence` must be one of {', '.join(SEQUENCES)}, but is {sequence!r}")
    classical = sequence == "ZXZ"
    names = ("precession", "nutation", "spin") if classical else ("angle1", "angle2", "angle3")
    starts = (
        {
            "default": ([0.0, math.pi / 3, 0.0], [0.0, 0.0, 150.0]),
            "published": ([math.pi, math.pi / 2, 0.0], [-4.61538, 0.0, 150.0]),
            "slow": ([0.0, math.radians(20), 0.0], [0.0, 0.0, 30.0]),
        }
        if classical
        else {"default": ([0.1, 0.2, 0.0], [0.0, 0.0, 150.0])}
    )
    return machine(
        _PARTS[sequence],
        coordinates=dict.fromkeys(names, "rad"),
        params=Params(RigidBody(mass, [transverse, transverse, axial]), height, gravity),
        starts=starts,
        name="heavy_top" if classical else f"heavy_top:sequence={sequence}",
    )
