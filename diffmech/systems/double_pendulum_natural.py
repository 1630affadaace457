"""Planar double pendulum in natural coordinates: points and unit vectors instead of angles.

q = (xB, yB [m], u2x, u2y): the joint B between both bodies, seen from the pivot A at the origin,
and a unit vector fixed in body 2. y is up, gravity along −y. Body 1 has the axes u1 = B/lAB and
w1, u1 turned by 90° counter-clockwise, and its mass centre at a1 u1 + b1 w1; body 2 has its own at
B + a2 u2. The mass matrix is constant. Constraints, as the source writes them:

    arm    xB² + yB² − lAB² = 0 [m²]        unit   u2x² + u2y² − 1 = 0

Their multipliers are in N/m and in N m. They are no plain forces: with 1/2 IZ |u̇|² an inertia pulls
on its unit vector like a mass on its end.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Scalar, Vector
from ..model import (
    Holonomic,
    System,
    gravity_field,
    inertia_field,
    length_field,
    mass_field,
    place_field,
)


class Params(eqx.Module):
    lAB: Scalar = length_field()  # noqa: N815  from pivot to joint [m]
    m1: Scalar = mass_field()  # [kg]
    a1: Scalar = place_field()  # mass centre of body 1 along u1 [m]
    b1: Scalar = place_field()  # and across [m]
    IZ1: Scalar = inertia_field()  # about the mass centre [kg m^2]
    m2: Scalar = mass_field()  # [kg]
    a2: Scalar = place_field()  # mass centre of body 2 along u2, from the joint [m]
    IZ2: Scalar = inertia_field()  # about the mass centre [kg m^2]
    g: Scalar = gravity_field()  # [m/s^2]


def _across(u: AnyArray) -> AnyArray:
    """A vector of the plane turned by 90° counter-clockwise."""
    return jnp.stack([-u[1], u[0]])


def mass_centres(q: Vector, params: Params) -> AnyArray:
    """Of both bodies, shape (2, 2) [m]."""
    u1 = q[:2] / params.lAB
    return jnp.stack([params.a1 * u1 + params.b1 * _across(u1), q[:2] + params.a2 * q[2:]])


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = Σ 1/2 mᵢ |vᵢ|² + 1/2 IZᵢ |u̇ᵢ|² − mᵢ g yᵢ  [J]."""
    del t
    points, velocities = jax.jvp(lambda q: mass_centres(q, params), (q,), (qd,))
    masses = jnp.stack([params.m1, params.m2])
    kinetic = 0.5 * jnp.sum(masses[:, None] * velocities**2)
    kinetic += 0.5 * params.IZ1 * jnp.sum((qd[:2] / params.lAB) ** 2)
    kinetic += 0.5 * params.IZ2 * jnp.sum(qd[2:] ** 2)
    return kinetic - params.g * jnp.sum(masses * points[:, 1])


def arm(q: Vector, t: Scalar, params: Params) -> Scalar:
    """xB² + yB² − lAB² [m²]."""
    del t
    return q[:2] @ q[:2] - params.lAB**2


def unit(q: Vector, t: Scalar, params: Params) -> Scalar:
    """u2x² + u2y² − 1."""
    del t, params
    return q[2:] @ q[2:] - 1.0


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pins A and B, both mass centres, four corners of each body, shape (12, 2) [m]."""
    del t
    u1, u2, centres = q[:2] / params.lAB, q[2:], mass_centres(q, params)
    half = jnp.maximum(params.a1, params.lAB / 2)  # as the source draws it
    first = _rectangle(centres[0], half * u1, params.b1 * _across(u1))
    second = _rectangle(centres[1], params.a2 * u2, 0.25 * params.a2 * _across(u2))
    return jnp.concatenate([jnp.stack([jnp.zeros_like(u1), q[:2]]), centres, first, second])


def _rectangle(centre: AnyArray, along: AnyArray, across: AnyArray) -> AnyArray:
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    return jnp.stack([centre + i * along + j * across for i, j in corners])


def double_pendulum_natural() -> System:
    """The double pendulum of MBSymba's example, with the numbers of its source.

    Starts: "source", whose velocities break both constraints (ẏB = 0.01 m/s along the arm and u̇2x =
    0.01 along u2), and "default", the nearest ones that keep them, in the metric of the masses.
    """
    place = np.array([0.0, 0.3, 1.0, 0.0])
    # Where ẏB and u̇2x vanish, the mass matrix couples ẋB to u̇2x and u̇2y to ẏB.
    heavy, light, coupling = 14 / 3, 0.315, 0.15
    nearest = [-0.1 + 0.01 * coupling / heavy, 0.0, 0.0, 0.1 + 0.01 * coupling / light]
    return System(
        lagrangian,
        coordinates={"xB": "m", "yB": "m", "u2x": "1", "u2y": "1"},
        params=Params(lAB=0.3, m1=2.0, a1=0.2, b1=0.05, IZ1=0.2, m2=1.5, a2=0.1, IZ2=0.3, g=9.81),
        constraints=[Holonomic(arm, name="arm"), Holonomic(unit, name="unit")],
        landmarks=landmarks,
        faces=((4, 5, 6, 7), (8, 9, 10, 11)),
        starts={"default": (place, nearest), "source": (place, [-0.1, 0.01, 0.01, 0.1])},
        name="double_pendulum_natural",
    )
