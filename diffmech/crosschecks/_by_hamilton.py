"""Hamilton's equations: momenta instead of rates."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ._batched import moved, solved
from ._problem import Accelerations, InapplicableError, Problem

_INVERTIBLE = 1e10  # condition of ∂p/∂q̇ above which rates do not follow from momenta


def by_hamilton(problem: Problem) -> Accelerations:
    """q̈ = d/dt ∂H/∂p along q̇ = ∂H/∂p, ṗ = −∂H/∂q + Q + Jᵀλ.

    H(q, p, t) = p·v − L(q, v, t) is differentiated itself, with respect to q, p and t. In it the
    rates v(q, p, t) are one step of Newton's method for ∂L/∂v = p,

        v = q̇ + W (p − ∂L/∂v(q, q̇, t)),   W = (∂²L/∂v²)⁻¹ at the state,

    exact with its first derivatives at p = ∂L/∂q̇; since H does not change with v there, all second
    derivatives of H that are needed are exact too.
    """
    lagrangian = problem.system.lagrangian
    momentum = jax.grad(lagrangian, argnums=1)

    def inertia(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
        return jax.jacfwd(momentum, argnums=1)(q, qd, t, params)

    mass = problem.at_states("Hamilton", inertia)
    unit = 1 / np.sqrt(np.maximum(np.abs(np.einsum("kii->ki", mass)), 1e-300))
    condition = np.linalg.cond(unit[:, :, None] * mass * unit[:, None])
    if not np.max(condition) < _INVERTIBLE:
        raise InapplicableError("∂²L/∂q̇² is singular: rates do not follow from momenta")
    mobility = solved(mass, np.broadcast_to(np.eye(problem.system.n), mass.shape))
    force = problem.forces

    def free(q: Vector, qd: Vector, t: Scalar, mobility: Any, force: Vector, params: Params) -> Any:
        def hamiltonian(q: Vector, p: Vector, t: Scalar) -> Scalar:
            v = qd + mobility @ (p - momentum(q, qd, t, params))
            return p @ v - lagrangian(q, v, t, params)

        def flow(q: Vector, p: Vector, t: Scalar) -> tuple[Vector, Vector]:
            slope, rate = jax.grad(hamiltonian, argnums=(0, 1))(q, p, t)
            return rate, force - slope

        p = momentum(q, qd, t, params)
        rate, pushed = flow(q, p, t)
        return jax.jvp(
            jax.grad(hamiltonian, argnums=1), (q, p, t), (rate, pushed, jnp.ones_like(t))
        )[1]

    qdd = problem.at_states("Hamilton", free, mobility, force)
    return Accelerations(*moved(mass, -np.einsum("kij,kj->ki", mass, qdd), problem.rows))
