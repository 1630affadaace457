"""Five-bar linkage: four uniform links that close a chain between two pivots; two freedoms.

q = (theta1, ..., theta4) [rad]: first crank, both couplers, second crank, each from +x,
counter-clockwise, as one goes from the pivot at the origin to that at (ground, 0) [m]; y up,
gravity along −y. Lagrangian, drawing and the constraint "closure" are those of `four_bar`: its
multipliers are the force of the second pivot on the last link [N], in x and y.

It has change points only if ±l1 ±l2 ±l3 ±l4 can make up the ground: with its defaults, never.
"""

from typing import Annotated

import numpy as np

from .._checks import as_array
from .._typing import Number, Numbers
from ..model import Holonomic, System
from .four_bar import Params, closing_rates, closure, lagrangian, landmarks, two_links

_CRANKS = np.deg2rad([120.0, 60.0])  # where the starts have them, each seen from its pivot


def five_bar(
    lengths: Numbers = (1.0, 1.5, 1.5, 1.0),
    ground: Number = 1.5,
    density: Annotated[Number, "kg/m"] = 1.0,
    gravity: Number = 9.81,
) -> System:
    """A five-bar with links of `lengths` [m] and mass `density` [kg/m] times length.

    Starts with the cranks at 120° and 60°, the couplers above them: "default" at rest, "spinning"
    with both cranks turning the same way, at 6 and 4 rad/s.
    """
    rods, base = np.asarray(as_array(lengths)), float(ground)
    if rods.shape != (4,):
        raise ValueError(f"`lengths` must be four numbers, but has shape {rods.shape}")
    tips = rods[[0, 3], None] * np.stack([np.cos(_CRANKS), np.sin(_CRANKS)], axis=1)
    couplers = two_links(tips[1] + [base, 0.0] - tips[0], rods[1], rods[2])
    if couplers is None:
        raise ValueError(
            f"couplers of {rods[1]:g} and {rods[2]:g} m cannot close with the cranks at 120° and "
            "60°: take others, or another `ground`"
        )
    angles = np.array([_CRANKS[0], *couplers, _CRANKS[1] - np.pi])
    spinning = closing_rates(angles, rods, np.array([6.0, 0.0, 0.0, 4.0]))
    return System(
        lagrangian,
        coordinates={f"theta{i}": "rad" for i in (1, 2, 3, 4)},
        params=Params(density * rods, rods, base, gravity),
        constraints=Holonomic(closure, name="closure"),
        landmarks=landmarks,
        links=((0, 1), (1, 2), (2, 3), (3, 4)),
        starts={"default": (angles, np.zeros(4)), "spinning": (angles, spinning)},
        name="five_bar",
    )
