"""How a constrained machine must move at one instant, and the nearest state that is allowed.

    M q̈ + b = Jᵀ λ,   J q̈ + c = feedback of the violations

λ is the force along the constraint's gradient: Jᵀλ is the generalised force that the constraints
exert on the machine.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from .._typing import AnyArray, Matrix, Params, Scalar, Vector
from ..model import Laws
from ._constraint_rows import (
    Rows,
    is_holonomic,
    jacobian_elsewhere,
    jacobian_of,
    rate_residual_of,
    residual_of,
    rows_of,
)
from ._kkt import Scaled, inverse_of_rows, scaled, solve_kkt
from ._solve import solve_symmetric
from ._stabilise import AbstractStabilisation, Baumgarte, Penalty

CORRECTIONS = 3  # each multiplies what is left by the size of the correction made


class Motion(NamedTuple):
    """q̈, shape (n,), and the multipliers λ, shape (m,)."""

    qdd: Vector
    multipliers: AnyArray


def _feedback(laws: Laws, rows: Rows, gains: Any, q: Vector, t: Scalar, params: Params) -> AnyArray:
    """2ζω φ̇ + ω² φ; for rows that restrict rates only, ω (A q̇ + a)."""
    position = gains.omega**2 * residual_of(laws, q, t, params)
    rate = jnp.where(is_holonomic(laws, q, t, params), 2 * gains.zeta * gains.omega, gains.omega)
    return position + rate * rows.rate


def wanted_of(
    laws: Laws,
    rows: Rows,
    q: Vector,
    t: Scalar,
    params: Params,
    stabilise: AbstractStabilisation | None = None,
) -> AnyArray:
    """J q̈ as the constraints want it, shape (m,): −c, less Baumgarte's feedback."""
    if isinstance(stabilise, Baumgarte):
        return -rows.drift - _feedback(laws, rows, stabilise, q, t, params)
    return -rows.drift


def constrained_motion(
    laws: Laws,
    mass: Matrix,
    bias: Vector,
    q: Vector,
    qd: Vector,
    t: Scalar,
    params: Params,
    stabilise: AbstractStabilisation | None = None,
) -> Motion:
    """q̈ and λ of a machine whose M and b are known."""
    rows = rows_of(laws, q, qd, t, params)
    if isinstance(stabilise, Penalty):
        return _by_penalty(laws, mass, bias, rows, q, t, params, stabilise)
    wanted = wanted_of(laws, rows, q, t, params, stabilise)
    return Motion(*solve_kkt(mass, rows.jacobian, rows.elsewhere, -bias, wanted))


def _by_penalty(
    laws: Laws,
    mass: Matrix,
    bias: Vector,
    rows: Rows,
    q: Vector,
    t: Scalar,
    params: Params,
    gains: Penalty,
) -> Motion:
    """(M + αJᵀJ) q̈ = −b − αJᵀ(c + feedback); without φ̈ the left side is M alone."""
    jacobian, pull = rows.jacobian, _feedback(laws, rows, gains, q, t, params)
    if not gains.inertial:
        force = -gains.alpha * pull
        return Motion(solve_symmetric(mass, jacobian.T @ force - bias), force)
    pull = rows.drift + pull
    heavy = mass + gains.alpha * jacobian.T @ jacobian
    qdd = solve_symmetric(heavy, -bias - gains.alpha * jacobian.T @ pull)
    return Motion(qdd, -gains.alpha * (jacobian @ qdd + pull))


def corrector(system: Scaled, stay: AnyArray | None) -> AnyArray:
    """P, shape (n, m): δ = −P φ is the smallest change, in the metric of M, with J δ = −φ.

    Coordinates where `stay`, shape (n,), is true are left as they are.
    """
    if stay is not None:
        rows = jnp.where(stay, 0.0, system.rows)
        apart = stay[:, None] | stay
        mass = jnp.where(apart, jnp.eye(stay.shape[0], dtype=rows.dtype), system.inertia)
        system = Scaled(mass, rows, system.roots)
    pushed, inverse = inverse_of_rows(system)
    return lax.stop_gradient((pushed @ inverse) * system.roots)


def nearest(
    laws: Laws,
    mass: Matrix,
    q: Vector,
    qd: Vector,
    t: Scalar,
    params: Params,
    stay: AnyArray | None = None,
    corrections: int = CORRECTIONS,
) -> tuple[Vector, Vector]:
    """The state next to (q, q̇) with φ = 0 and φ̇ = 0, for one that is nearly so.

    Newton's method with the factorisation of the start: a small violation v leaves about
    v^(corrections + 1). Along combinations of rows that are nearly lost nothing is moved.
    """
    step = corrector(scaled_rows(laws, mass, q, t, params), stay)
    for _ in range(corrections):
        q = q - step @ residual_of(laws, q, t, params)
    for _ in range(corrections):
        qd = qd - step @ rate_residual_of(laws, q, qd, t, params)
    return q, qd


def independent_coordinates(
    laws: Laws, mass: Matrix, q: Vector, t: Scalar, params: Params
) -> AnyArray:
    """Which coordinates may be chosen freely, shape (n,): those that no row needs as a pivot.

    Gauss elimination with full pivoting on the scaled rows; a row that says nothing new takes no
    pivot.
    """
    system = scaled_rows(laws, mass, q, t, params)
    table = lax.stop_gradient(system.rows / jnp.sqrt(jnp.diagonal(system.mass)))
    m, n = table.shape
    small = 1e-6

    def clear(_: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        table, free = carry
        largest = jnp.argmax(jnp.abs(table))
        i, j = largest // n, largest % n
        pivot = table[i, j]
        independent = jnp.abs(pivot) > small
        row = table[i] / jnp.where(independent, pivot, 1.0)
        table = jnp.where(independent, table - table[:, j][:, None] * row, 0.0)
        return table, free & ~(independent & (jnp.arange(n) == j))

    return lax.fori_loop(0, m, clear, (table, jnp.ones(n, bool)))[1]


def power_of_guides(
    laws: Laws, multipliers: AnyArray, q: Vector, t: Scalar, params: Params
) -> Scalar:
    """The power of constraints that move by themselves, −λ·∂φ/∂t or −λ·a [W]."""
    moving = rate_residual_of(laws, q, jnp.zeros_like(q), t, params)
    # A multiplier that is not known does no work on a guide that does not move.
    return -jnp.sum(jnp.where(moving == 0, 0.0, multipliers * moving))


def scaled_rows(laws: Laws, mass: Matrix, q: Vector, t: Scalar, params: Params) -> Scaled:
    """The rows scaled to about unit size, and M̃: definite wherever the motion is determinate."""
    return scaled(mass, jacobian_of(laws, q, t, params), jacobian_elsewhere(laws, q, t, params))
