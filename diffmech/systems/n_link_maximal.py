"""Planar chain of n rigid links in maximal coordinates: every link by its own place and angle.

q = (x1, y1, theta1, x2, y2, theta2, ...): each link's mass centre [m] and its angle [rad] from the
downward vertical, counter-clockwise; x to the right, y up. The parameters, with springs, friction
and torques at the hinges, are those of `n_link`. The hinges are one constraint of two rows each;
the multipliers are the forces on the links at their upper ends [N], in x and y, link by link.
"""

import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..model import Holonomic, System
from .n_link import Params, dissipation as friction_of, forces as torques_of, n_link


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = Σ 1/2 mᵢ (ẋᵢ² + ẏᵢ²) + 1/2 Iᵢ θ̇ᵢ² − mᵢ g yᵢ − 1/2 kᵢ (θᵢ − θᵢ₋₁)²  [J]."""
    del t
    place, rate = q.reshape(-1, 3), qd.reshape(-1, 3)
    kinetic = 0.5 * jnp.sum(params.masses[:, None] * rate[:, :2] ** 2)
    kinetic += 0.5 * jnp.sum(params.inertias * rate[:, 2] ** 2)
    potential = jnp.sum(params.masses * params.gravity * place[:, 1])
    twists = jnp.diff(place[:, 2], prepend=0.0)
    return kinetic - potential - 0.5 * jnp.sum(params.stiffnesses * twists**2)


def forces(q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    """T_j − T_{j+1} on the angle of link j [N m], nothing on its place."""
    moments = torques_of(q[2::3], qd[2::3], t, params)
    return jnp.zeros_like(q).at[2::3].set(moments)


def dissipation(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """D = 1/2 Σ c_j (θ̇_j − θ̇_{j−1})²  [W]."""
    return friction_of(q[2::3], qd[2::3], t, params)


def _ends(q: Vector, distances: AnyArray) -> AnyArray:
    """The point of every link at its distance below the mass centre, shape (n, 2) [m]."""
    place = q.reshape(-1, 3)
    along = jnp.stack([jnp.sin(place[:, 2]), -jnp.cos(place[:, 2])], axis=1)
    return place[:, :2] + distances[:, None] * along


def hinges(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """From the end of the link above, or the pivot, to the top of every link, shape (2n,) [m]."""
    del t
    above = _ends(q, params.lengths - params.centres)[:-1]
    return (_ends(q, -params.centres) - jnp.pad(above, ((1, 0), (0, 0)))).reshape(-1)


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Pivot and the lower end of every link, shape (n + 1, 2) [m]."""
    del t
    return jnp.pad(_ends(q, params.lengths - params.centres), ((1, 0), (0, 0)))


def placed(angles: np.ndarray, params: Params) -> np.ndarray:
    """The coordinates of a chain that hangs together at these angles, shape (3n,)."""
    along = np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    rods = np.asarray(params.lengths)[:, None] * along
    upper = np.cumsum(rods, axis=0) - rods
    centres = upper + np.asarray(params.centres)[:, None] * along
    return np.column_stack([centres, angles]).reshape(-1)


def n_link_maximal(
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
    """The chain of `n_link` with its hinges as constraints; arguments and starts as there."""
    chain = n_link(
        n,
        masses=masses,
        lengths=lengths,
        centres=centres,
        inertias=inertias,
        gravity=gravity,
        stiffnesses=stiffnesses,
        frictions=frictions,
        torques=torques,
    )
    units = (("x", "m"), ("y", "m"), ("theta", "rad"))
    return System(
        lagrangian,
        coordinates={f"{name}{i + 1}": unit for i in range(chain.n) for name, unit in units},
        params=chain.params,
        forces=forces,
        dissipation=dissipation,
        constraints=Holonomic(hinges),
        landmarks=landmarks,
        links=chain.links,
        starts={
            label: (placed(np.asarray(angles), chain.params), np.zeros(3 * chain.n))
            for label, (angles, _) in chain.starts.items()
        },
        name=f"n_link_maximal:n={chain.n}",
    )
