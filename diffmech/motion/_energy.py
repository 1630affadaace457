"""Energy, power and momentum of a motion at one instant."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from .._typing import AnyArray, Coordinates, Number, Params, Scalar, Vector
from ..model import AbstractSystem, ExplicitLaws, Laws
from ._arguments import prepare
from ._constrained import power_of_guides
from ._euler_lagrange import by_laws, force_of, motion_of, require_lagrangian


class Energy(NamedTuple):
    """Energies [J]: scalars at one instant, or arrays of shape (k,) along a trajectory."""

    total: AnyArray
    kinetic: AnyArray
    potential: AnyArray


def momentum_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    """p = ∂L/∂q̇."""
    return jax.grad(laws.lagrangian, argnums=1)(q, qd, t, params)


def energy_of(
    laws: Laws | ExplicitLaws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> Energy:
    """h = p·q̇ − L, split at U = −L(q, 0, t); NaN where an explicit system declares no energy."""
    if isinstance(laws, ExplicitLaws):
        unknown = jnp.full((), jnp.nan, q.dtype)
        total = unknown if laws.energy is None else laws.energy(q, qd, t, params)
        return Energy(total, unknown, unknown)
    value, p = jax.value_and_grad(laws.lagrangian, argnums=1)(q, qd, t, params)
    total = p @ qd - value
    potential = -laws.lagrangian(q, jnp.zeros_like(qd), t, params)
    return Energy(total, total - potential, potential)


def power_of(laws: Laws | ExplicitLaws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """dh/dt = (Q − ∂D/∂q̇)·q̇ − ∂L/∂t − λ·∂φ/∂t [W]; zero for explicit systems."""
    multipliers = jnp.zeros(0, q.dtype)
    if isinstance(laws, Laws) and laws.constraints:
        multipliers = motion_of(laws, q, qd, t, params).multipliers
    return power_with(laws, multipliers, q, qd, t, params)


def power_with(
    laws: Laws | ExplicitLaws,
    multipliers: AnyArray,
    q: Vector,
    qd: Vector,
    t: Scalar,
    params: Params,
) -> Scalar:
    """The same where the multipliers are known; zero where the forces are unknown."""
    if isinstance(laws, ExplicitLaws):
        return jnp.zeros((), q.dtype)
    given = force_of(laws, q, qd, t, params) @ qd
    given = given - jax.grad(laws.lagrangian, argnums=2)(q, qd, t, params)
    if laws.constraints:
        given = given + power_of_guides(laws, multipliers, q, t, params)
    return given


_momentum = by_laws(momentum_of)
_energy = by_laws(energy_of)
_power = by_laws(power_of)


def momentum(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> Vector:
    """Generalised momenta p = ∂L/∂q̇, shape (n,): [kg m/s] of lengths, [kg m²/s] of angles.

    Raises:
        ValueError: the system has no Lagrangian.
    """
    laws = require_lagrangian(system, "the momentum")
    return _momentum(laws, *prepare(system, t, params, q=q, qd=qd))


def energy(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> Energy:
    """The energy h = p·q̇ − L and its two parts [J].

        potential = U = −L(q, 0, t),   kinetic = h − U

    For a natural system (kinetic energy quadratic in the rates, a potential) these are T and V,
    and h = T + V. For a relativistic particle they are the rest and potential energy and
    (γ − 1) m c²; for a machine with prescribed motion, the part of T quadratic in the rates and
    the effective potential. h changes at the rate `power(...)`.

    Returns:
        Energy(total, kinetic, potential), scalars. For an `Explicit` without energy, NaN.
    """
    return _energy(system.laws, *prepare(system, t, params, q=q, qd=qd))


def power(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> Scalar:
    """The rate at which the energy h changes [W].

        dh/dt = (Q − ∂D/∂q̇)·q̇ − ∂L/∂t − λ·∂φ/∂t

    Constraints do work only where they move by themselves: −λ·∂φ/∂t, or −λ·a for Pfaffian ones.
    A scalar, shape ().

    Raises:
        ValueError: the system has no Lagrangian.
    """
    laws = require_lagrangian(system, "the power")
    return _power(laws, *prepare(system, t, params, q=q, qd=qd))
