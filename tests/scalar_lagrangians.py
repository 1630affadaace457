"""Lagrangians in the words of JAX that machines of the catalogue do without."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from diffmech.geometry import from_euler, from_quaternion


def _speed(points: Any, q: Any, qd: Any) -> Any:
    """The places of points and their velocities."""
    return jax.jvp(points, (q,), (qd,))


def chain_by_cumsum(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A chain of four links, angles from link to link."""

    def points(q: Any) -> Any:
        angles = jnp.cumsum(q)
        return jnp.cumsum(jnp.stack([jnp.sin(angles), -jnp.cos(angles)], axis=1), axis=0)

    where, speed = _speed(points, q, qd)
    return (
        0.5 * jnp.einsum("ki,ki,k->", speed, speed, params["m"]) - 9.81 * params["m"] @ where[:, 1]
    )


def chain_by_scan(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """The same with a loop, and the links' masses in reverse."""

    def points(q: Any) -> Any:
        def link(carry: Any, angle: Any) -> Any:
            turned, place = carry
            turned = turned + angle
            place = place + jnp.array([jnp.sin(turned), -jnp.cos(turned)])
            return (turned, place), place

        return lax.scan(link, (0.0, jnp.zeros(2)), q)[1]

    where, speed = _speed(points, q, qd)
    return 0.5 * jnp.sum(params["m"][::-1, None] * speed**2) - jnp.sum(where[:, 1])


def masses_on_springs(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A ring of masses: rolled arrays, integer powers, a clipped spring."""
    stretch = jnp.roll(q, -1) - q
    stiff = 0.5 * stretch**2 + 0.1 * stretch**4 - 0.01 * jnp.clip(stretch, -1.0, 1.0) ** 3
    coupling = jnp.kron(jnp.eye(2), jnp.array([[2.0, 0.5], [0.5, 1.0]]))
    return 0.5 * qd @ (coupling * params["m"]) @ qd - jnp.sum(stiff)


def attracting_bodies(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Two bodies in a plane under gravitation: norms of differences."""
    places, speeds = q.reshape(2, 2), qd.reshape(2, 2)
    distance = jnp.linalg.norm(places[0] - places[1] + jnp.array([0.3, 0.0]))
    kinetic = jnp.trace(0.5 * jnp.outer(params["m"][:2], jnp.ones(2)) @ (speeds @ speeds.T))
    return kinetic + 1.0 / jnp.hypot(distance, 0.2) - jnp.sinc(distance / 5)


def spinning_by_quaternion(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A body by four numbers that are not a unit quaternion, its inertia turned."""
    inertia = jnp.diag(params["m"][:3]) + 0.1
    turn, rate = jax.jvp(from_quaternion, (q,), (qd,))
    spin = turn.T @ rate
    omega = jnp.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    return 0.5 * omega @ inertia @ omega + 0.5 * qd @ qd - turn[2, 2]


def gyroscope_by_euler(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Euler angles, a cross product, and an arm that turns in the body."""

    def tip(q: Any) -> Any:
        return from_euler("zxz", q[:3]) @ jnp.array([jnp.cos(q[3]), jnp.sin(q[3]), params["m"][1]])

    arm, moving = jax.jvp(tip, (q,), (qd,))
    twist = jnp.cross(arm, moving)
    return 0.5 * moving @ moving + 0.1 * twist @ twist + 0.5 * qd @ qd - arm[2]


def bead_on_a_table(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A height read from a table between its points, and a wall."""
    table = jnp.cos(jnp.linspace(-6.0, 6.0, 9))
    height = jax.vmap(lambda x: jnp.interp(x, jnp.linspace(-6.0, 6.0, 9), table))(q)
    wall = jnp.where(q > 1.0, (q - 1.0) ** 2, 0.0)
    return 0.5 * jnp.sum((1 + height**2) * qd**2) - jnp.sum(height + wall)


def two_regimes(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A potential with branches: a condition on the state, and a choice of three."""
    soft = lax.cond(q[0] > q[1], lambda x: jnp.sum(x**2), lambda x: jnp.sum(jnp.cosh(x / 3)), q)
    which = jnp.clip(jnp.floor(q[2]), 0, 2).astype(int)
    hard = lax.switch(which, [jnp.sin, jnp.tanh, lambda x: x**3 / 9], q[3])
    return 0.5 * jnp.sum(params["m"] * qd**2) - soft - hard * jnp.cos(t)


def field_from_a_gradient(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A magnetic potential that is itself a gradient, and forces by jax.grad."""

    def well(x: Any) -> Any:
        return jax.nn.logsumexp(jnp.sin(x) * params["m"])

    slope = jax.grad(well)(q)
    return 0.5 * qd @ qd + qd @ jnp.roll(slope, 1) - 0.5 * slope @ slope - well(q)


def loaded_frame(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Energy of a loaded frame: the solution of a linear system, and a determinant."""
    stiffness = jnp.diag(params["m"] + jnp.cos(q)) + 0.2 * jnp.outer(jnp.sin(q), jnp.cos(q))
    sag = jnp.linalg.solve(stiffness, jnp.array([1.0, 2.0, -1.0, 0.5]))
    return 0.5 * qd @ qd * (1 + 0.1 * sag @ sag) - 0.1 * jnp.linalg.det(stiffness[:3, :3])


def mass_by_cholesky(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A kinetic energy by the root of its matrix, and its inverse as potential."""
    matrix = jnp.diag(params["m"] + 3.0) + 0.3 * jnp.cos(q[:, None] - q[None, :])
    root = jnp.linalg.cholesky(matrix)
    return 0.5 * jnp.sum((root.T @ qd) ** 2) - jnp.trace(jnp.linalg.inv(matrix))


def sorted_and_folded(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Ranks, maxima, products and a loop with a carry; whole numbers inside."""
    ranks = jnp.sort(q) @ jnp.arange(4.0)
    top = jnp.max(q**2) + jnp.prod(jnp.cos(q)) + jnp.mod(q[0], 2.0) ** 2
    grown = lax.fori_loop(0, 4, lambda i, x: x + jnp.tanh(q[i]) * x * (i + 1) / 9, 1.0)
    updated = q.at[jnp.array([0, 0, 2])].add(jnp.array([1.0, 2.0, 3.0]) * q[1])
    return 0.5 * jnp.sum(qd**2 * params["m"]) * grown - ranks - top - 0.1 * updated @ updated


LAGRANGIANS = [
    chain_by_cumsum,
    chain_by_scan,
    masses_on_springs,
    attracting_bodies,
    spinning_by_quaternion,
    gyroscope_by_euler,
    bead_on_a_table,
    two_regimes,
    field_from_a_gradient,
    loaded_frame,
    mass_by_cholesky,
    sorted_and_folded,
]
