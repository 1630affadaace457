"""A particle flying under gravity and drag.

q = (x, y, z) [m], z up. Drag is −(c + c₂|v|) v.
"""

from typing import Annotated

import equinox as eqx

from .._typing import Number, Scalar, Vector
from ..model import (
    AbstractPart,
    Damper,
    Gravity,
    Particle,
    System,
    acting_on,
    gravity_field,
    machine,
)


class Params(eqx.Module):
    particle: Particle
    drag: Damper = acting_on("length")
    gravity: Scalar = gravity_field()  # [m/s^2]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The particle where its coordinates say."""
    del t
    return {
        "particle": params.particle.at(q),
        "drag": params.drag.on(q),
        "gravity": Gravity(params.gravity),
    }


def particle(
    mass: Annotated[Number, "kg"] = 1.0,
    gravity: Number = 9.81,
    viscous: Annotated[Number, "N s/m"] = 0.0,
    quadratic: Annotated[Number, "N s^2/m^2"] = 0.0,
) -> System:
    """A particle with drag `viscous` [N s/m] and `quadratic` [N s²/m²]. Starts with a throw."""
    return machine(
        parts,
        coordinates=dict.fromkeys(("x", "y", "z"), "m"),
        params=Params(Particle(mass), Damper(viscous, quadratic), gravity),
        starts={"default": ([0.0, 0.0, 0.0], [3.0, 1.0, 5.0])},
        name="particle",
    )
