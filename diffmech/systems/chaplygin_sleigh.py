"""Chaplygin's sleigh: a body that slides on level ice, one of its points on a skate.

q = (x, y [m], theta [rad]): the mass centre, and the heading from x, counter-clockwise. The skate
is `offset` d behind the mass centre and does not move sideways; sliding costs nothing:

    −sin θ ẋ + cos θ ẏ − d θ̇ = 0

Its multiplier is the force of the ice on the skate, to the left of the heading [N]. With u the
skate's forward speed and ω = θ̇,

    u̇ = d ω²,   (I + m d²) ω̇ = −m d u ω,   λ = m I u ω/(I + m d²):

energy is kept, and yet every turning sleigh ends going forward and straight (`closed_form`).
"""

import math
from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_array
from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..geometry import fixed, planar
from ..model import (
    AbstractPart,
    AbstractSystem,
    Hold,
    RigidBody,
    Shape,
    System,
    length_field,
    machine,
)

_BOW, _WIDTH, _RUNNER = 1.5, 0.6, 0.4  # how it is drawn, in offsets


class Params(eqx.Module):
    sleigh: RigidBody  # about its mass centre; only mass and inertia about z matter
    offset: Scalar = length_field()  # d, skate to mass centre [m]


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The sleigh in the plane z = 0, held at its skate."""
    del t
    d = params.offset
    pose = planar(q[0], q[1], q[2])
    return {
        "sleigh": params.sleigh.at(pose, _outline(d)),
        "skate": Hold.skate(pose @ fixed([-d, 0.0, 0.0]), axis="y"),
    }


def _outline(d: Scalar) -> Shape:
    """A triangle, its point ahead, with the runner below its rear."""
    corners = [[_BOW, 0, 0], [-1, _WIDTH, 0], [-1, -_WIDTH, 0]]
    runner = [[-1 - _RUNNER, 0, 0], [-1 + _RUNNER, 0, 0]]
    return Shape(d * jnp.array([*corners, *runner]), links=((3, 4),), faces=((0, 1, 2),))


def closed_form(
    sleigh: AbstractSystem, speed: Number, turning: Number, times: Numbers
) -> tuple[AnyArray, AnyArray]:
    """Forward speed u(t) [m/s] and θ̇(t) [rad/s] from u(0) = `speed` and θ̇(0) = `turning`.

        u = a tanh(k a (t − t₀)),   θ̇ = ±a √(m/(I + m d²)) sech(k a (t − t₀)),   k = m d/(I + m d²)

    `times` are from the start on, not negative [s]. Without turning, u stays as it is.
    """
    params = sleigh.params
    mass, d = float(params.sleigh.mass), float(params.offset)
    inertia = np.asarray(params.sleigh.inertia)
    about_skate = float(inertia[2] if inertia.ndim == 1 else inertia[2, 2]) + mass * d**2
    speed, turning, times = float(speed), float(turning), np.asarray(as_array(times))
    swing = turning * math.sqrt(about_skate / mass)
    a = math.hypot(speed, swing)
    if a == 0:
        return np.zeros_like(times), np.zeros_like(times)
    # 1 ± u(0)/a, the smaller from their product (swing/a)²: they weigh e^(kat) and e^(−kat).
    large = 1 + abs(speed) / a
    small = (swing / a) ** 2 / large
    ahead, back = (large, small) if speed >= 0 else (small, large)
    decay = np.exp(-mass * d / about_skate * a * times)
    total = ahead + back * decay**2
    return a * (ahead - back * decay**2) / total, turning * 2 * decay / total


def chaplygin_sleigh(
    mass: Annotated[Number, "kg"] = 1.0,
    inertia: Annotated[Number, "kg m^2"] = 0.1,
    offset: Number = 0.3,
) -> System:
    """A sleigh with `inertia` about its mass centre [kg m²], which is `offset` > 0 ahead of it.

    Starts: "default" forward while turning left, "backward" nearly straight and skate first: it
    turns faster and faster until it has swung round.
    """

    def start(speed: float, turning: float) -> tuple[list[Number], list[Number]]:
        return [0.0, 0.0, 0.0], [speed, offset * turning, turning]

    return machine(
        parts,
        coordinates={"x": "m", "y": "m", "theta": "rad"},
        params=Params(RigidBody(mass, [0.5 * inertia, 0.5 * inertia, inertia]), offset),
        plane="xy",
        starts={"default": start(0.5, 3.0), "backward": start(-1.0, 0.1)},
        name="chaplygin_sleigh",
    )
