"""Planar double pendulum: two point masses on light rigid rods.

q = (theta1, theta2) [rad], each from the downward vertical, counter-clockwise.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._typing import AnyArray, Scalar, Vector
from ..model import System, gravity_field, length_field, mass_field

Pair = Float[jax.Array | np.ndarray, " 2"]


class Params(eqx.Module):
    masses: Pair = mass_field()  # [kg]
    lengths: Pair = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot and both bobs, top to bottom, shape (3, 2) [m]; x to the right, y up."""
    del t
    rods = params.lengths[:, None] * jnp.stack([jnp.sin(q), -jnp.cos(q)], axis=-1)
    return jnp.concatenate([jnp.zeros((1, 2), q.dtype), jnp.cumsum(rods, axis=0)])


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = 1/2 Σ mᵢ |vᵢ|² − Σ mᵢ g yᵢ  [J]."""
    points, velocities = jax.jvp(lambda q: landmarks(q, t, params)[1:], (q,), (qd,))
    kinetic = 0.5 * jnp.sum(params.masses[:, None] * velocities**2)
    potential = jnp.sum(params.masses * params.gravity * points[:, 1])
    return kinetic - potential


def double_pendulum() -> System:
    """Two 1 kg bobs on 1 m rods. Starts at rest: 45°, 45° (default) and 90°, 180° ("chaotic")."""
    return System(
        lagrangian,
        coordinates={"theta1": "rad", "theta2": "rad"},
        params=Params(masses=np.ones(2), lengths=np.ones(2), gravity=9.81),
        landmarks=landmarks,
        links=((0, 1), (1, 2)),
        starts={
            "default": ([np.pi / 4, np.pi / 4], [0.0, 0.0]),
            "chaotic": ([np.pi / 2, np.pi], [0.0, 0.0]),
        },
        name="double_pendulum",
    )
