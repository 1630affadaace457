"""Slider-crank: a crank drives a block along a level guide by a connecting rod.

q = (theta, phi [rad], x [m]): crank and connecting rod from +x, counter-clockwise, as one goes
from the crank's pivot at the origin to the slider at (x, 0); y up, gravity along −y. That the rod
ends at the slider is the constraint "wrist"; its multipliers are the force of the slider on the rod
[N], along the guide and across it. The second is what the guide feels, but for the slider's weight.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number, Scalar, Vector
from ..model import Holonomic, System, gravity_field, length_field, mass_field

_CORNERS = np.array([[-1.0, -0.6], [1.0, -0.6], [1.0, 0.6], [-1.0, 0.6]])


class Params(eqx.Module):
    crank_mass: Scalar = mass_field()  # [kg]
    rod_mass: Scalar = mass_field()  # [kg]
    slider_mass: Scalar = mass_field()  # [kg]
    crank: Scalar = length_field()  # [m]
    rod: Scalar = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def _ends(q: Vector, params: Params) -> tuple[AnyArray, AnyArray]:
    """The crank's pin and the far end of the rod, each of shape (2,) [m]."""
    pin = params.crank * jnp.stack([jnp.cos(q[0]), jnp.sin(q[0])])
    return pin, pin + params.rod * jnp.stack([jnp.cos(q[1]), jnp.sin(q[1])])


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 I θ̇² + 1/2 m |v|² + 1/2 J φ̇² + 1/2 M ẋ² − V, uniform crank and rod  [J].

    I = m_c r²/3 about the pivot; v of the rod's middle and J = m l²/12 about it.
    """
    del t

    def middle(q: Vector) -> AnyArray:
        pin, end = _ends(q, params)
        return 0.5 * (pin + end)

    point, velocity = jax.jvp(middle, (q,), (qd,))
    kinetic = params.crank_mass * params.crank**2 / 3 * qd[0] ** 2
    kinetic += params.rod_mass * (velocity @ velocity + params.rod**2 / 12 * qd[1] ** 2)
    kinetic += params.slider_mass * qd[2] ** 2
    weight = params.crank_mass * 0.5 * params.crank * jnp.sin(q[0]) + params.rod_mass * point[1]
    return 0.5 * kinetic - params.gravity * weight


def wrist(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """From the slider to the end of the rod, which must vanish, shape (2,) [m]."""
    del t
    _, end = _ends(q, params)
    return jnp.stack([end[0] - q[2], end[1]])


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot, pin, wrist and the corners of the slider, shape (7, 2) [m]."""
    del t
    pin, _ = _ends(q, params)
    slider = jnp.stack([q[2], jnp.zeros_like(q[2])])
    block = slider + 0.15 * params.crank * _CORNERS
    return jnp.concatenate([jnp.stack([jnp.zeros_like(pin), pin, slider]), block])


def slider_crank(
    crank: Number = 0.5,
    rod: Number = 1.5,
    crank_mass: Number = 1.0,
    rod_mass: Number = 1.0,
    slider_mass: Number = 1.0,
    gravity: Number = 9.81,
) -> System:
    """A uniform crank [m, kg], a longer uniform rod, and a slider on the x-axis.

    Starts with the crank at 60°: "default" at rest, "spinning" at 10 rad/s.
    """
    if not float(rod) > float(crank):
        raise ValueError(
            f"`rod` must be longer than the crank for it to go round, but is {float(rod):g} m "
            f"against {float(crank):g} m"
        )
    theta, rate = np.deg2rad(60.0), 10.0
    phi = -np.arcsin(crank * np.sin(theta) / rod)
    turn = -rate * crank * np.cos(theta) / (rod * np.cos(phi))
    speed = -rate * crank * np.sin(theta) - turn * rod * np.sin(phi)
    place = np.array([theta, phi, crank * np.cos(theta) + rod * np.cos(phi)])
    return System(
        lagrangian,
        coordinates={"theta": "rad", "phi": "rad", "x": "m"},
        params=Params(crank_mass, rod_mass, slider_mass, crank, rod, gravity),
        constraints=Holonomic(wrist, name="wrist"),
        landmarks=landmarks,
        links=((0, 1), (1, 2)),
        faces=((3, 4, 5, 6),),
        starts={"default": (place, np.zeros(3)), "spinning": (place, [rate, turn, speed])},
        name="slider_crank",
    )
