"""The Euler-Lagrange equations, solved for the accelerations.

    M q̈ + b = 0,   M = ∂²L/∂q̇²,   b = (∂²L/∂q̇∂q) q̇ + ∂²L/∂q̇∂t − ∂L/∂q − Q + ∂D/∂q̇

Functions ending in `_of` take `laws` and raw arrays and are pure; the others are the doors that a
user calls: they take a system, fill in its parameters, check shapes and compile once.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from .._typing import Coordinates, Matrix, Number, Params, Scalar, Vector
from ..model import AbstractSystem, ExplicitLaws, LagrangianOfParts, Laws, System
from ._arguments import prepare
from ._constrained import Motion, constrained_motion, scaled_rows
from ._solve import condition_estimate, max_condition, solve_symmetric
from ._stabilise import AbstractStabilisation
from ._virtual_power import mass_and_bias_of_parts

by_laws = partial(jax.jit, static_argnums=0, inline=True)


def force_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    """Q − ∂D/∂q̇, shape (n,)."""
    force = jnp.zeros_like(q)
    if laws.forces is not None:
        force = force + laws.forces(q, qd, t, params)
    if laws.dissipation is not None:
        force = force - jax.grad(laws.dissipation, argnums=1)(q, qd, t, params)
    return force


def mass_and_bias_of(
    laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Matrix, Vector]:
    """M and b in M q̈ + b = 0.

    One reverse pass for (∂L/∂q, ∂L/∂q̇), linearised once; one forward pass per column of M and
    one along (q̇, 0, 1) for the velocity and time terms. No n x n x n tensor appears. A machine of
    parts goes by virtual power, which is the same for less.
    """
    force = force_of(laws, q, qd, t, params)
    if isinstance(laws.lagrangian, LagrangianOfParts):
        mass, bias_ = mass_and_bias_of_parts(laws.lagrangian.parts, q, qd, t, params)
        return mass, bias_ - force

    def gradients(q: Vector, qd: Vector, t: Scalar) -> tuple[Vector, Vector]:
        return jax.grad(laws.lagrangian, argnums=(0, 1))(q, qd, t, params)

    (slope, _), push = jax.linearize(gradients, q, qd, t)
    still, now = jnp.zeros_like(q), jnp.zeros_like(t)
    mass = jax.vmap(lambda direction: push(still, direction, now)[1])(
        jnp.eye(q.size, dtype=q.dtype)
    )
    drift = push(qd, still, jnp.ones_like(t))[1]
    return mass, drift - slope - force


def mass_matrix_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Matrix:
    """M alone."""
    return mass_and_bias_of(laws, q, qd, t, params)[0]


def acceleration_of(
    laws: Laws | ExplicitLaws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> Vector:
    """q̈; NaN where the motion is not determined."""
    return motion_of(laws, q, qd, t, params).qdd


def motion_of(
    laws: Laws | ExplicitLaws,
    q: Vector,
    qd: Vector,
    t: Scalar,
    params: Params,
    stabilise: AbstractStabilisation | None = None,
) -> Motion:
    """q̈ and the multipliers of the constraints, shape (m,); m = 0 without constraints."""
    none = jnp.zeros(0, q.dtype)
    if isinstance(laws, ExplicitLaws):
        return Motion(laws.acceleration(q, qd, t, params), none)
    mass, bias_ = mass_and_bias_of(laws, q, qd, t, params)
    if laws.constraints:
        return constrained_motion(laws, mass, bias_, q, qd, t, params, stabilise)
    return Motion(solve_symmetric(mass, -bias_), none)


def mass_condition_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """Condition estimate of M, on the rates that the constraints admit; units are scaled out."""
    mass = mass_matrix_of(laws, q, qd, t, params)
    if laws.constraints:
        mass = scaled_rows(laws, mass, q, t, params).mass
    return condition_estimate(mass)


_mass_and_bias = by_laws(mass_and_bias_of)
_acceleration = by_laws(acceleration_of)
_mass_condition = by_laws(mass_condition_of)


@by_laws
def _inverse(laws: Laws, q: Vector, qd: Vector, qdd: Vector, t: Scalar, params: Params) -> Vector:
    mass, bias_ = mass_and_bias_of(laws, q, qd, t, params)
    return mass @ qdd + bias_


def require_lagrangian(system: AbstractSystem, what: str) -> Laws:
    """The laws of a Lagrangian system; a sentence if there is no Lagrangian."""
    if not isinstance(system, System):
        raise ValueError(
            f"{what} needs a Lagrangian, but {getattr(system, 'name', system)!r} is a "
            f"{type(system).__name__}: describe it as a `System` to use this"
        )
    return system.laws


def mass_matrix(
    system: AbstractSystem,
    q: Coordinates,
    t: Number = 0.0,
    qd: Coordinates | None = None,
    params: Params = None,
) -> Matrix:
    """The mass matrix M = ∂²L/∂q̇², shape (n, n), symmetric.

    Entries are [kg] between lengths, [kg m²] between angles, [kg m] between one and the other.
    Costs one forward-over-reverse pass per column. It depends on the rates `qd` only if L is not
    quadratic in them; None means at rest.

    Raises:
        ValueError: the system has no Lagrangian.
    """
    laws = require_lagrangian(system, "the mass matrix")
    return _mass_and_bias(laws, *prepare(system, t, params, q=q, qd=qd))[0]


def mass_condition(
    system: AbstractSystem,
    q: Coordinates,
    t: Number = 0.0,
    qd: Coordinates | None = None,
    params: Params = None,
) -> Scalar:
    """How close the mass matrix is to singular: 1 is a diagonal matrix, infinite is singular.

        κ = max |dᵢ| / min |dᵢ|,   S M S = L D Lᵀ,   D = diag(dᵢ),   S = diag(1/√|Mᵢᵢ|)

    S takes the coordinates' units out. An indefinite M is eliminated with pivoting instead, dᵢ its
    pivots. With constraints M + JᵀwJ takes the place of M, w scaling the rows to unit size: masses
    count where the constraints admit rates. A dimensionless number, shape (). Accelerations are
    refused from κ = 1/(50 eps) on, 4.5e13 in float64 and 1.7e5 in float32.

    Raises:
        ValueError: the system has no Lagrangian.
    """
    laws = require_lagrangian(system, "the condition of the mass matrix")
    return _mass_condition(laws, *prepare(system, t, params, q=q, qd=qd))


def bias(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> Vector:
    """Everything in the equations of motion but the accelerations: b in M q̈ + b = 0.

        b = (∂²L/∂q̇∂q) q̇ + ∂²L/∂q̇∂t − ∂L/∂q − Q + ∂D/∂q̇

    Velocity terms, potential forces, the declared forces and dissipation; shape (n,), newtons for
    lengths and newton metres for angles.

    Raises:
        ValueError: the system has no Lagrangian.
    """
    laws = require_lagrangian(system, "the bias")
    return _mass_and_bias(laws, *prepare(system, t, params, q=q, qd=qd))[1]


def acceleration(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> Vector:
    """Solve the Euler-Lagrange equations for q̈.

        M q̈ = ∂L/∂q − (∂²L/∂q̇∂q) q̇ − ∂²L/∂q̇∂t + Q − ∂D/∂q̇ + Jᵀλ

    With constraints, J q̈ + c = 0 is solved along, and λ found (`multipliers`). Where rows are
    redundant or become dependent, q̈ is what is still determined.

    Args:
        q: coordinates, shape (n,), or a mapping by name.
        qd: their rates, shape (n,) [1/s].
        t: time [s].
        params: the system's own if None.

    Returns:
        q̈, shape (n,) [1/s²].

    Raises:
        ValueError: the mass matrix is singular there (by condition estimate), or a function of
            the system returned NaN. Under `jit`, `grad` or `vmap` the result is NaN instead.
    """
    arguments = prepare(system, t, params, q=q, qd=qd)
    qdd = _acceleration(system.laws, *arguments)
    if not is_traced(qdd) and not np.all(np.isfinite(qdd)):
        raise ValueError(_why_not_finite(system, arguments))
    return qdd


def _why_not_finite(system: AbstractSystem, arguments: tuple[Any, ...]) -> str:
    q, qd, t, _ = arguments
    state = f"q = {np.asarray(q)}, qd = {np.asarray(qd)}, t = {float(t):g}"
    if isinstance(system, System):
        condition = float(_mass_condition(system.laws, *arguments))
        if not condition < max_condition(q.dtype):
            return (
                f"the mass matrix of {system.name!r} is singular (condition estimate "
                f"{condition:.1e}) at {state}: a part without mass or inertia, or coordinates at a "
                "pole; use other coordinates there, or give the part a mass"
            )
    return f"the equations of {system.name!r} give NaN or infinity at {state}"


def inverse_dynamics(
    system: AbstractSystem,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    t: Number = 0.0,
    params: Params = None,
) -> Vector:
    """The generalised force needed on top of the declared ones to make the motion q̈ happen.

        τ = M q̈ + b

    Zero on a free motion; what motors must supply on a prescribed one. Shape (n,), newtons for
    lengths and newton metres for angles; `qdd` are q̈, shape (n,) [1/s²]. Constraint forces are not
    declared ones: on the motion of a constrained machine τ = Jᵀλ.

    Raises:
        ValueError: the system has no Lagrangian.
    """
    laws = require_lagrangian(system, "inverse dynamics")
    q_, qd_, qdd_, t_, params_ = prepare(system, t, params, q=q, qd=qd, qdd=qdd)
    return _inverse(laws, q_, qd_, qdd_, t_, params_)
