"""Kane's equations: generalised speeds instead of rates, and no multipliers.

T. R. Kane, D. A. Levinson, Dynamics: Theory and Applications, McGraw-Hill, 1985, chapters 2 and 6.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ._batched import independent, solved
from ._kinematics import transposed
from ._problem import Accelerations, Problem

_BEND = 0.3  # by how much the speeds drawn at random turn with the coordinates
_INDEPENDENT = 1e-9  # smallest singular value of speeds and constraints, over the largest
_LINEAR = 1e-9  # relative: what speeds may differ from linear ones


class Speeds(NamedTuple):
    """q̇ = Z u + z, so q̈ = Z u̇ + rest; shapes (k, n, p) and (k, n)."""

    partial: np.ndarray
    rest: np.ndarray


def by_kane(problem: Problem) -> Accelerations:
    """F_r + F_r* = 0 for every generalised speed u_r, in body components.

        F_r = Σ ∂v/∂u_r·m g + Q·∂q̇/∂u_r,   F_r* = −Σ ∂v/∂u_r·m a + ∂ω/∂u_r·(I ω̇ + ω × I ω)

    Of a machine with constraints the speeds are independent ones, any basis of the rates that the
    constraints admit, and the constraints' forces have vanished: there are no multipliers. Of
    others they are quasi-velocities u = Y(q) q̇, with a matrix Y drawn at random; or the user's.
    """
    seen, speeds = problem.kinematics, speeds_of(problem)
    back = transposed(seen.rotation)
    omega = np.einsum("kbij,kbj->kbi", back, seen.omega)
    of_speeds = np.einsum("knbi,knp->kpbi", seen.carried, speeds.partial)
    turned = np.einsum("kbij,knbj->knbi", back, seen.turned)
    turning = np.einsum("knbi,knp->kpbi", turned, speeds.partial)
    still = seen.drift + np.einsum("knbi,kn->kbi", seen.carried, speeds.rest)
    spinning = np.einsum("kbij,kbj->kbi", back, seen.turning_drift)
    spinning = spinning + np.einsum("knbi,kn->kbi", turned, speeds.rest)
    gyration = np.cross(omega, np.einsum("kbij,kbj->kbi", seen.inertia, omega))

    active = np.einsum("kpbi,kbi->kp", of_speeds, seen.weight)
    active = active + np.einsum("kn,knp->kp", seen.loads, speeds.partial)
    inertial = np.einsum("kpbi,kb,kbi->kp", of_speeds, seen.mass, still)
    euler = np.einsum("kbij,kbj->kbi", seen.inertia, spinning) + gyration
    inertial = inertial + np.einsum("kpbi,kbi->kp", turning, euler)
    matrix = np.einsum("kpbi,kb,kobi->kpo", of_speeds, seen.mass, of_speeds)
    matrix = matrix + np.einsum("kpbi,kbij,kobj->kpo", turning, seen.inertia, turning)
    speed_rates = solved(matrix, (active - inertial)[..., None])
    return Accelerations((speeds.partial @ speed_rates)[..., 0] + speeds.rest)


def speeds_of(problem: Problem) -> Speeds:
    """The user's speeds; else independent ones; else quasi-velocities drawn at random."""
    if problem.speeds is not None:
        return _given(problem, problem.speeds)
    rows = problem.rows
    if rows is not None and rows.rank:
        return Speeds(rows.free, np.einsum("kmn,km->kn", rows.rows, rows.right))
    return _drawn(problem)


def _drawn(problem: Problem) -> Speeds:
    """u = Y(q) q̇ with Y = E₀ + sin(w·q) E₁, E₀ orthogonal and E₁ smaller."""
    n = problem.system.n
    rng = np.random.default_rng(problem.seed)
    level = np.linalg.qr(rng.normal(size=(n, n)))[0]
    bent = _BEND * np.linalg.qr(rng.normal(size=(n, n)))[0]
    weights = rng.uniform(0.5, 1.5, n)
    phase = problem.q @ weights
    matrix = level + np.sin(phase)[:, None, None] * bent
    change = (np.cos(phase) * (problem.qd @ weights))[:, None, None] * bent
    inverse = solved(matrix, np.broadcast_to(np.eye(n), matrix.shape))
    return Speeds(inverse, -np.einsum("kij,kj->ki", inverse @ change, problem.qd))


def _given(problem: Problem, speeds: Any) -> Speeds:
    def look(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
        def values(q: Vector, qd: Vector, t: Scalar) -> Any:
            return jnp.asarray(speeds(q, qd, t, params))

        still, now = jnp.zeros_like(qd), jnp.ones_like(t)
        value, drift = jax.jvp(values, (q, qd, t), (qd, still, now))
        jacobian = jax.jacfwd(values, argnums=1)(q, qd, t)
        return value, drift, jacobian, value - values(q, still, t) - jacobian @ qd

    value, drift, jacobian, bent = problem.at_states("speeds", look)
    count, n, rows = value.shape[1], problem.system.n, problem.rows
    rank = 0 if rows is None else rows.rank
    if count not in (n, n - rank):
        wanted = f"{n - rank}" if rank == 0 else f"{n - rank} (the freedoms) or {n}"
        raise ValueError(
            f"`speeds` must return {wanted} generalised speeds for {problem.system.name!r}, but "
            f"returns {count}"
        )
    if np.max(np.abs(bent)) > _LINEAR * np.max(np.abs(value)):
        raise ValueError("`speeds` must be linear in the rates, u = Y(q, t) q̇ + y, but are not")
    if count == n:
        _require_independent(jacobian, problem)
        inverse = solved(jacobian, np.broadcast_to(np.eye(n), jacobian.shape))
        rest = -(inverse @ drift[..., None])[..., 0]
        if rows is None or not rank:
            return Speeds(inverse, rest)
        # Not all speeds are free: u̇ = N w, with N a basis of those that the rows admit.
        lacking = rows.right - np.einsum("kmn,kn->km", rows.rows, rest)
        held = independent(rows.rows @ inverse, -lacking)
        rest = rest + np.einsum("kij,kmj,km->ki", inverse, held.rows, held.right)
        return Speeds(inverse @ held.free, rest)
    assert rows is not None
    stacked = np.concatenate([jacobian, rows.rows], axis=1)
    _require_independent(stacked, problem)
    inverse = np.linalg.pinv(stacked)
    right = np.concatenate([-drift, rows.right], axis=1)
    return Speeds(inverse[:, :, :count], (inverse @ right[..., None])[..., 0])


def _require_independent(matrix: np.ndarray, problem: Problem) -> None:
    values = np.linalg.svd(matrix, compute_uv=False)[:, : problem.system.n]
    state = int(np.argmin(values[:, -1] / values[:, 0]))
    if not values[state, -1] > _INDEPENDENT * values[state, 0]:
        raise ValueError(
            "`speeds` must determine all rates, with the constraints, but at "
            f"q = {problem.q[state]} two of them say the same"
        )
