"""A thin disc that slides on perfectly smooth level ground while it turns and rolls.

q = (x, y [m], phi, theta, psi [rad]) as for `rolling_disc`: contact, heading, lean to the left,
roll. Nothing pushes sideways, so the centre moves on evenly, seen from above, and the axial spin
s = ψ̇ − φ̇ sin θ is constant as well as I_t φ̇ cos² θ − I_n s sin θ, the momentum about the vertical.

Steady motions are those of `steady_roll(..., rolling=False)`. Some are motions of the rolling disc,
too: those with a resting centre and s = 0, φ̇² = m g r/(I_t cos θ) (`common_start`).
"""

import math
from typing import Annotated, Any

import numpy as np

from .._checks import as_scalar
from .._typing import Number
from ..model import System, machine
from .rolling_disc import COORDINATES, Params, moments_of, touching, uniform


def common_turning(params: Params, lean: Number) -> float:
    """The rate φ̇ [rad/s] at which a rolling disc needs no friction, φ̇² = m g r/(I_t cos θ)."""
    weight = float(params.disc.mass) * float(params.gravity) * float(params.radius)
    across = float(moments_of(params)[1])
    return math.sqrt(weight / (across * math.cos(float(as_scalar(lean, "lean")))))


def resting_rates(params: Params, q: Any, rates: Any) -> np.ndarray:
    """q̇, shape (5,), of a disc whose centre rests seen from above, from (φ̇, θ̇, ψ̇) [rad/s]."""
    _, _, phi, theta, _ = (float(value) for value in q)
    # The centre is at r sin θ (−sin φ, cos φ) from the contact, which moves the other way.
    ahead = math.sin(theta) * float(rates[0])
    right = math.cos(theta) * float(rates[1])
    cos, sin = math.cos(phi), math.sin(phi)
    contact = float(params.radius) * np.array(
        [ahead * cos + right * sin, ahead * sin - right * cos]
    )
    return np.array([*contact, *rates], dtype=float)


def common_start(params: Params, lean: Number) -> tuple[np.ndarray, np.ndarray]:
    """q and q̇ of a motion that the rolling and the frictionless disc have in common."""
    q = np.array([0.0, 0.0, 0.0, float(as_scalar(lean, "lean")), 0.0])
    turning = common_turning(params, lean)
    return q, resting_rates(params, q, (turning, 0.0, turning * math.sin(q[3])))


def frictionless_disc(
    mass: Annotated[Number, "kg"] = 1.0, radius: Number = 0.3, gravity: Number = 9.81
) -> System:
    """A uniform disc without friction.

    Starts: "default" spins and wobbles about a resting centre; "common" is a motion that it shares
    with the rolling disc.
    """
    params = uniform(mass, radius, gravity)
    place = [0.0, 0.0, 0.0, 0.4, 0.0]
    return machine(
        touching,
        COORDINATES,
        params,
        starts={
            "default": (place, resting_rates(params, place, (6.0, 0.0, 25.0))),
            "common": common_start(params, 0.4),
        },
        name="frictionless_disc",
    )
