"""Planar chain of n rigid links hanging from a pivot, with springs, friction and torques.

q = (theta1, ..., theta_n) [rad], each from the downward vertical, counter-clockwise. Hinge j joins
link j to link j − 1 (hinge 1 to the ceiling, θ₀ = 0). A torsion spring, friction and a torque at
hinge j act + on link j and − on link j − 1.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_array, as_count
from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..model import (
    System,
    gravity_field,
    inertia_field,
    length_field,
    mass_field,
    number_field,
    place_field,
)


class Params(eqx.Module):
    masses: Vector = mass_field()  # [kg]
    inertias: Vector = inertia_field()  # about each mass centre [kg m^2]
    lengths: Vector = length_field()  # [m]
    centres: Vector = place_field()  # upper hinge to mass centre [m]
    gravity: Scalar = gravity_field()  # [m/s^2]
    stiffnesses: Vector = number_field("N m/rad", (0.0, 1e6))  # torsion springs k_j [N m/rad]
    frictions: Vector = number_field("N m s/rad", (0.0, 1e3))  # viscous c_j [N m s/rad]
    torques: Vector = number_field("N m", (-1e3, 1e3))  # T_j [N m]


def _relative(angles: Vector) -> Vector:
    """θ_j − θ_{j−1}, with θ₀ = 0."""
    return jnp.diff(angles, prepend=0.0)


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot and the end of every link, shape (n + 1, 2) [m]; x to the right, y up."""
    del t
    rods = params.lengths[:, None] * jnp.stack([jnp.sin(q), -jnp.cos(q)], axis=-1)
    return jnp.concatenate([jnp.zeros((1, 2), q.dtype), jnp.cumsum(rods, axis=0)])


def mass_centres(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """The mass centre of every link, shape (n, 2) [m]."""
    along = jnp.stack([jnp.sin(q), -jnp.cos(q)], axis=-1)
    return landmarks(q, t, params)[:-1] + params.centres[:, None] * along


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = Σ 1/2 mᵢ |vᵢ|² + 1/2 Iᵢ θ̇ᵢ² − mᵢ g yᵢ − 1/2 kᵢ (θᵢ − θᵢ₋₁)²  [J]."""
    points, velocities = jax.jvp(lambda q: mass_centres(q, t, params), (q,), (qd,))
    kinetic = 0.5 * jnp.sum(params.masses[:, None] * velocities**2)
    kinetic += 0.5 * jnp.sum(params.inertias * qd**2)
    potential = jnp.sum(params.masses * params.gravity * points[:, 1])
    potential += 0.5 * jnp.sum(params.stiffnesses * _relative(q) ** 2)
    return kinetic - potential


def forces(q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    """Q_j = T_j − T_{j+1}: each hinge's torque turns one link against the other [N m]."""
    del q, qd, t
    return params.torques - jnp.append(params.torques[1:], 0.0)


def dissipation(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """D = 1/2 Σ c_j (θ̇_j − θ̇_{j−1})²  [W]."""
    del q, t
    return 0.5 * jnp.sum(params.frictions * _relative(qd) ** 2)


def n_link(
    n: int = 3,
    *,
    masses: Numbers = 1.0,
    lengths: Numbers = 1.0,
    centres: Numbers | None = None,
    inertias: Numbers | None = None,
    gravity: Number = 9.81,
    stiffnesses: Numbers = 0.0,
    frictions: Numbers = 0.0,
    torques: Numbers = 0.0,
) -> System:
    """A chain of `n` links; a single number stands for all links.

    Centres default to the middle of each link and inertias to the uniform rod's m l²/12.
    Starts at rest: "nice" (all 45°, also the default) and "chaotic" (90°, 180°, 90°, ...).
    """
    n = as_count(n, "n", 1)

    def per_link(value: Numbers, label: str) -> AnyArray:
        array = as_array(value)
        if array.shape not in ((), (n,)):
            raise ValueError(f"`{label}` must be one number or {n}, but has shape {array.shape}")
        return array * np.ones(n)

    mass, length = per_link(masses, "masses"), per_link(lengths, "lengths")
    zigzag = np.where(np.arange(n) % 2 == 0, np.pi / 2, np.pi)
    return System(
        lagrangian,
        coordinates={f"theta{i + 1}": "rad" for i in range(n)},
        params=Params(
            masses=mass,
            inertias=mass * length**2 / 12 if inertias is None else per_link(inertias, "inertias"),
            lengths=length,
            centres=length / 2 if centres is None else per_link(centres, "centres"),
            gravity=gravity,
            stiffnesses=per_link(stiffnesses, "stiffnesses"),
            frictions=per_link(frictions, "frictions"),
            torques=per_link(torques, "torques"),
        ),
        forces=forces,
        dissipation=dissipation,
        landmarks=landmarks,
        links=[(i, i + 1) for i in range(n)],
        starts={
            "default": (np.full(n, np.pi / 4), np.zeros(n)),
            "nice": (np.full(n, np.pi / 4), np.zeros(n)),
            "chaotic": (zigzag, np.zeros(n)),
        },
        name=f"n_link:n={n}",
    )
