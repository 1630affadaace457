"""Planar double pendulum of two uniform rods, each by its own place and angle.

q = (x1, y1, phi1, x2, y2, phi2): the middle of each rod [m] and its angle from +x [rad],
counter-clockwise; y up, gravity along −y. The hinges are constraints,

    pivot   x1 − (l1/2) cos φ1 = 0,   y1 − (l1/2) sin φ1 = 0
    joint   x2 − (l2/2) cos φ2 − x1 − (l1/2) cos φ1 = 0,   and in y with sines

and their multipliers the forces of the pivot on the first rod and of the first rod on the second
[N], in x and y.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..model import Holonomic, System, gravity_field, length_field, mass_field

Pair = Float[jax.Array | np.ndarray, " 2"]


class Params(eqx.Module):
    masses: Pair = mass_field()  # [kg]
    lengths: Pair = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = Σ 1/2 mᵢ (ẋᵢ² + ẏᵢ²) + 1/2 Iᵢ φ̇ᵢ² − mᵢ g yᵢ, with Iᵢ = mᵢ lᵢ²/12  [J]."""
    del t
    place, rate = q.reshape(2, 3), qd.reshape(2, 3)
    inertias = params.masses * params.lengths**2 / 12
    kinetic = 0.5 * jnp.sum(params.masses[:, None] * rate[:, :2] ** 2)
    kinetic += 0.5 * jnp.sum(inertias * rate[:, 2] ** 2)
    return kinetic - jnp.sum(params.masses * params.gravity * place[:, 1])


def _ends(q: Vector, params: Params) -> tuple[AnyArray, AnyArray]:
    """Both rods' near ends and far ends, each of shape (2, 2) [m]."""
    place = q.reshape(2, 3)
    along = jnp.stack([jnp.cos(place[:, 2]), jnp.sin(place[:, 2])], axis=1)
    half = 0.5 * params.lengths[:, None] * along
    return place[:, :2] - half, place[:, :2] + half


def pivot(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """The first rod's near end, which must be at the origin, shape (2,) [m]."""
    del t
    return _ends(q, params)[0][0]


def joint(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """From the first rod's far end to the second's near end, which must vanish, shape (2,) [m]."""
    del t
    near, far = _ends(q, params)
    return near[1] - far[0]


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Near and far end of the first rod, then of the second, shape (4, 2) [m]."""
    del t
    near, far = _ends(q, params)
    return jnp.stack([near[0], far[0], near[1], far[1]])


def _placed(lengths: np.ndarray, angles: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Both rods at rest at these angles, hinged together; (q, qd)."""
    rods = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    middles = np.cumsum(rods, axis=0) - rods / 2
    return np.column_stack([middles, angles]).reshape(-1), np.zeros(6)


def double_pendulum_absolute(
    masses: Numbers = (1.0, 1.0), lengths: Numbers = (1.0, 1.0), gravity: Number = 9.81
) -> System:
    """Two uniform rods in absolute coordinates.

    Starts at rest: "default" lying along +x, "swing" both 30° from hanging, "folded" the first
    along +x and the second straight up.
    """
    both = np.asarray(lengths, float)
    return System(
        lagrangian,
        coordinates={
            f"{c}{i}": u for i in (1, 2) for c, u in (("x", "m"), ("y", "m"), ("phi", "rad"))
        },
        params=Params(masses, both, gravity),
        constraints=[Holonomic(pivot, name="pivot"), Holonomic(joint, name="joint")],
        landmarks=landmarks,
        links=((0, 1), (2, 3)),
        starts={
            "default": _placed(both, [0.0, 0.0]),
            "swing": _placed(both, [-np.pi / 3, -np.pi / 3]),
            "folded": _placed(both, [0.0, np.pi / 2]),
        },
        name="double_pendulum_absolute",
    )
