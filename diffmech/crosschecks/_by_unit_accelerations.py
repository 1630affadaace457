"""The mass matrix in numbers only: momentum balances with one unit acceleration after another."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ..model import placed, weight_of
from ._batched import moved
from ._kinematics import acting, bodies_of, inertia_of, own_forces, placing_of
from ._problem import Accelerations, Problem


def demand(parts: Any, q: Vector, qd: Vector, qdd: Vector, t: Scalar, params: Params) -> Any:
    """The generalised force that a motion (q, q̇, q̈) needs beside all declared ones, shape (n,).

    The rate of every body's momenta (m v, R I Rᵀ ω) along the motion, less weight and loads,
    against ∂(v, ω)/∂q̇; nothing is written out: the momenta themselves are differentiated.
    """
    pieces, rates = placed(parts, q, qd, t, params)
    bodies = bodies_of(pieces).values()
    masses = [part.mass for part in bodies]
    down = jnp.stack([jnp.asarray(g) for g in weight_of(pieces)])
    acts = acting(pieces, rates)

    def where(q: Vector, t: Scalar) -> Any:
        pieces = parts(q, t, params)
        placings = [placing_of(part) for part in bodies_of(pieces).values()]
        places = {kind: [jnp.asarray(x) for x, _ in v] for kind, v in acting(pieces, rates).items()}
        return placings, places

    def velocities(q: Vector, qd: Vector, t: Scalar) -> Any:
        (placings, places), (rate, moving) = jax.jvp(where, (q, t), (qd, jnp.ones_like(t)))
        pairs = zip(placings, rate, strict=True)
        turns = zip(places["frames"], moving["frames"], strict=True)
        moving = {**moving, "frames": [_omega(r, rd) for r, rd in turns]}
        return [(v, _omega(r, rd)) for (_, r), (v, rd) in pairs], moving

    def momenta(q: Vector, qd: Vector, t: Scalar) -> Any:
        placings, _ = where(q, t)
        moving, _ = velocities(q, qd, t)
        kept = zip(bodies, placings, moving, strict=True)
        return [
            (part.mass * v, r @ (inertia_of(part) @ (r.T @ omega)))
            for part, (_, r), (v, omega) in kept
        ]

    _, needed = jax.jvp(momenta, (q, qd, t), (qd, qdd, jnp.ones_like(t)))
    pushed = [(p - m * down, h) for m, (p, h) in zip(masses, needed, strict=True)]
    against = {kind: [-jnp.asarray(force) for _, force in pairs] for kind, pairs in acts.items()}
    _, pull = jax.vjp(lambda qd: velocities(q, qd, t), qd)
    return pull((pushed, against))[0] - own_forces(parts, q, qd, t, params)


def _omega(rotation: Any, rate: Any) -> Any:
    spin = rate @ rotation.T
    return 0.5 * jnp.stack(
        [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
    )


def by_unit_accelerations(problem: Problem) -> Accelerations:
    """n + 1 evaluations of the momentum balance, τ(q̈): b = τ(0), column i of M = τ(eᵢ) − τ(0).

    The unit is 1/s², or the square of the fastest rate, next to which 1/s² would lose digits.
    """
    parts = problem.parts
    assert problem.bodies
    n, count = problem.system.n, len(problem.q)
    program = problem.program(
        "unit accelerations",
        lambda q, qd, t, qdd, params: demand(parts, q, qd, qdd, t, params),
        np.zeros(n),
    )
    unit = np.maximum(1.0, np.max(np.abs(problem.qd), axis=1))[:, None, None] ** 2
    asked = unit * np.concatenate([np.zeros((1, n)), np.eye(n)])
    states = (np.repeat(x, n + 1, axis=0) for x in (problem.q, problem.qd, problem.t))
    needed = program(*states, asked.reshape(-1, n)).reshape(count, n + 1, n)
    bias = needed[:, 0]
    mass = np.swapaxes((needed[:, 1:] - bias[:, None]) / unit, 1, 2)
    return Accelerations(*moved(mass, bias - problem.extra, problem.rows))
