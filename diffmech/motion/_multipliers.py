"""What holds a constrained machine: multipliers, constraint forces, violations."""

from typing import NamedTuple

import jax.numpy as jnp

from .._typing import AnyArray, Coordinates, Number, Params, Scalar, Vector
from ..model import AbstractSystem, Laws
from ._arguments import prepare
from ._constrained import scaled_rows
from ._constraint_rows import rate_residual_of, residual_of
from ._euler_lagrange import (
    acceleration_of,
    by_laws,
    mass_and_bias_of,
    mass_matrix_of,
    motion_of,
    require_lagrangian,
)
from ._kkt import inverse_of_rows, unique_rows


class Violations(NamedTuple):
    """How far a state is from its constraints, one entry per row of `system.rows`.

        residual = φ(q, t),   rate residual = (∂φ/∂q) q̇ + ∂φ/∂t,   or A q̇ + a of Pfaffian rows

    Attributes:
        residual: shape (m,), in the unit of φ; zero for rows that restrict rates only.
        rate_residual: shape (m,), in the unit of φ per second, or in that of A q̇.
    """

    residual: AnyArray
    rate_residual: AnyArray


def multipliers_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> AnyArray:
    """λ, shape (m,); NaN where it is not unique."""
    lam = motion_of(laws, q, qd, t, params).multipliers
    mass = mass_matrix_of(laws, q, qd, t, params)
    _, inverse = inverse_of_rows(scaled_rows(laws, mass, q, t, params))
    return jnp.where(unique_rows(inverse), lam, jnp.nan)


def violations_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Violations:
    """φ and φ̇ of a constrained machine."""
    return Violations(residual_of(laws, q, t, params), rate_residual_of(laws, q, qd, t, params))


_multipliers = by_laws(multipliers_of)
_violations = by_laws(violations_of)


@by_laws
def _forces(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    mass, bias = mass_and_bias_of(laws, q, qd, t, params)
    return mass @ acceleration_of(laws, q, qd, t, params) + bias


def require_constraints(system: AbstractSystem, what: str) -> Laws:
    """The laws of a machine that has constraints; a sentence if it has none."""
    laws = require_lagrangian(system, what)
    if not laws.constraints:
        raise ValueError(
            f"{what} need constraints, but {system.name!r} has none; "
            "`System(..., constraints=...)` declares them"
        )
    return laws


def multipliers(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> AnyArray:
    """The multipliers λ in M q̈ + b = Jᵀλ, one per row of `system.rows`, shape (m,) [J per unit].

    J, shape (m, n), is ∂φ/∂q, or A of Pfaffian rows. λ is the force that a constraint exerts along
    its gradient: in newtons where φ is a length. NaN where rows are redundant, or have just become
    dependent: the forces share a load there in a way that rigid bodies do not determine.
    `constraint_forces` are determined even so.

    Raises:
        ValueError: the machine has no constraints.
    """
    laws = require_constraints(system, "multipliers")
    return _multipliers(laws, *prepare(system, t, params, q=q, qd=qd))


def constraint_forces(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> Vector:
    """The generalised forces of all constraints together, shape (n,) [J per unit of q].

        Jᵀλ = M q̈ + b

    Newtons for lengths, newton metres for angles. They are unique where the multipliers are not.

    Raises:
        ValueError: the machine has no constraints.
    """
    laws = require_constraints(system, "constraint forces")
    return _forces(laws, *prepare(system, t, params, q=q, qd=qd))


def violations(
    system: AbstractSystem,
    q: Coordinates,
    qd: Coordinates | None = None,
    t: Number = 0.0,
    params: Params = None,
) -> Violations:
    """By how much a state misses the constraints, in place and in rate.

        φ(q, t)   and   φ̇ = (∂φ/∂q) q̇ + ∂φ/∂t,   or A(q, t) q̇ + a(q, t) for Pfaffian rows

    Args:
        q: coordinates, shape (n,), or a mapping by name.
        qd: their rates, shape (n,) [1/s]; at rest if None.
        t: time [s].
        params: the system's own if None.

    Returns:
        `Violations(residual, rate_residual)`, each of shape (m,), one entry a row of `system.rows`.

    Raises:
        ValueError: the machine has no constraints.
    """
    laws = require_constraints(system, "violations")
    return _violations(laws, *prepare(system, t, params, q=q, qd=qd))
