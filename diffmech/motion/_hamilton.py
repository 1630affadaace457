"""Hamilton's form: momenta instead of rates, by the Legendre transform of any Lagrangian."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import is_traced
from .._typing import Coordinates, Number, Params, Scalar, Truth, Vector
from ..model import AbstractSystem, LagrangianOfParts, Laws
from ._arguments import prepare
from ._constraint_rows import jacobian_of
from ._energy import momentum_of
from ._euler_lagrange import by_laws, force_of, mass_matrix_of, motion_of, require_lagrangian
from ._newton import newton
from ._solve import solve_symmetric

_MOMENTUM_GAP = 1e-6  # relative; Newton's method leaves rounding only, wherever it converges
_ROUNDING = 1e-10  # of the largest momentum


def velocity_of(
    laws: Laws, q: Vector, p: Vector, t: Scalar, params: Params, guess: Vector
) -> tuple[Vector, Truth]:
    """q̇ with ∂L/∂q̇ = p, and whether Newton's method converged.

    One step if L is quadratic in q̇. Of a machine of parts it is known to be: q̇ = M⁻¹ (p − p₀),
    p₀ the momenta at q̇ = 0.
    """
    if isinstance(laws.lagrangian, LagrangianOfParts):
        still = jnp.zeros_like(q)
        at_rest = momentum_of(laws, q, still, t, params)
        qd = solve_symmetric(mass_matrix_of(laws, q, still, t, params), p - at_rest)
        return qd, jnp.all(jnp.isfinite(qd))
    scale = jnp.max(jnp.abs(p))
    qd, converged = newton(lambda qd: momentum_of(laws, q, qd, t, params) - p, guess, scale=scale)
    # A tiny step is no proof where the momenta are steep, as near the speed of light.
    gap = jnp.abs(momentum_of(laws, q, qd, t, params) - p)
    close = gap <= _MOMENTUM_GAP * jnp.abs(p) + _ROUNDING * scale
    return qd, converged & jnp.all(close)


@by_laws
def _velocity(laws: Laws, q: Vector, p: Vector, t: Scalar, params: Params) -> tuple[Vector, Truth]:
    qd, converged = velocity_of(laws, q, p, t, params, jnp.zeros_like(q))
    if isinstance(laws.lagrangian, LagrangianOfParts):
        return qd, converged
    # The mass matrix may be singular at rest only, as of L = q̇⁴.
    return lax.cond(
        converged, lambda: (qd, converged), lambda: velocity_of(laws, q, p, t, params, p)
    )


@by_laws
def _hamilton(
    laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Scalar, Vector]:
    value, slope = jax.value_and_grad(laws.lagrangian)(q, qd, t, params)
    p = momentum_of(laws, q, qd, t, params)
    force = slope + force_of(laws, q, qd, t, params)
    if laws.constraints:
        multipliers = motion_of(laws, q, qd, t, params).multipliers
        force = force + multipliers @ jacobian_of(laws, q, t, params)
    return p @ qd - value, force


def velocity(
    system: AbstractSystem, q: Coordinates, p: Coordinates, t: Number = 0.0, params: Params = None
) -> Vector:
    """The rates q̇ that belong to the momenta p, by solving ∂L/∂q̇ (q, q̇, t) = p.

    Both of shape (n,); p in [kg m/s] for lengths and [kg m²/s] for angles, q̇ in [1/s].

    Raises:
        ValueError: no rates have these momenta (a singular mass matrix, or p out of reach). Under a
            transformation the result is NaN instead.
    """
    laws = require_lagrangian(system, "the Legendre transform")
    qd, converged = _velocity(laws, *prepare(system, t, params, q=q, p=p))
    if is_traced(converged):
        return jnp.where(converged, qd, jnp.nan)
    if not bool(converged):
        raise ValueError(
            f"no rates of {system.name!r} have the momenta p = {np.asarray(p)} at "
            f"q = {np.asarray(q)}: its mass matrix is singular there, or p is out of reach"
        )
    return qd


def hamiltonian(
    system: AbstractSystem, q: Coordinates, p: Coordinates, t: Number = 0.0, params: Params = None
) -> Scalar:
    """H(q, p, t) = p·q̇ − L, with q̇ eliminated by the Legendre transform, shape () [J].

    Raises:
        ValueError: as `velocity`.
    """
    laws = require_lagrangian(system, "the Hamiltonian")
    qd = velocity(system, q, p, t, params)
    return _hamilton(laws, *prepare(system, t, params, q=q, qd=qd))[0]


def hamilton_equations(
    system: AbstractSystem, q: Coordinates, p: Coordinates, t: Number = 0.0, params: Params = None
) -> tuple[Vector, Vector]:
    """Hamilton's equations with forces.

        q̇ = ∂H/∂p,   ṗ = −∂H/∂q + Q − ∂D/∂q̇ + Jᵀλ = ∂L/∂q + Q − ∂D/∂q̇ + Jᵀλ

    Returns:
        (q̇, ṗ), each of shape (n,).

    Raises:
        ValueError: as `velocity`.
    """
    laws = require_lagrangian(system, "Hamilton's equations")
    qd = velocity(system, q, p, t, params)
    return qd, _hamilton(laws, *prepare(system, t, params, q=q, qd=qd))[1]
