"""Laws of mechanics that every machine of the catalogue must obey at random states.

One function per machine has them all, and is carried out without being compiled: a state is looked
at once, and compiling takes a thousand times as long as computing.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import (
    ClosedJaxpr,  # pyright: ignore[reportPrivateImportUsage]: so in JAX 0.12
    jaxpr_as_fun,
)
from jax.flatten_util import ravel_pytree

import diffmech as dm
from diffmech.model import potential_of
from diffmech.motion import corrector, mass_matrix_of, rate_residual_of, scaled_rows

from ..by_tape import by_arrays, carried_out
from ..conftest import jittered_params, random_states
from ..tolerances import CHAIN_ROUND_OFF, FINITE_DIFFERENCE

STATES = 20
SINGLES = 5  # of them, looked at one by one


def _gauged(system: dm.System) -> dm.System:
    """The same machine with d/dt f(q, t), f = sin(a·q) cos 3t, added to its Lagrangian."""
    weights = jnp.linspace(0.5, 1.5, system.n)

    def f(q: Any, t: Any) -> Any:
        return jnp.sin(weights @ q) * jnp.cos(3 * t)

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        _, rate = jax.jvp(f, (q, t), (qd, jnp.ones_like(t)))
        return system.lagrangian(q, qd, t, params) + rate

    return dm.System(
        lagrangian,
        system.coordinates,
        system.params,
        forces=system.forces,
        dissipation=system.dissipation,
        constraints=system.constraints,
    )


def _in_a_batch(function: Any) -> Any:
    """A function of (q, qd, t, params) as `vmap` has it: solved by arithmetic, not by LAPACK."""

    def alone(q: Any, qd: Any, t: Any, params: Any) -> Any:
        batch = jax.vmap(lambda *at: function(*at, params))(q[None], qd[None], t[None])
        return jax.tree.map(lambda result: result[0], batch)

    return alone


def _seen(
    system: dm.System, q: Any, qd: Any, qdd: Any, asked: Any, t: Any, params: Any
) -> dict[str, Any]:
    """All that the laws compare, at one state with the acceleration `qdd` of its motion.

    And the forces that the accelerations `asked` about need, shape (k, n).
    """
    flow = (qd, qdd, jnp.ones_like(t))
    mass = dm.mass_matrix(system, q, t, qd, params)

    def energy(q: Any, qd: Any, t: Any) -> Any:
        return dm.energy(system, q, qd, t, params).total

    def momentum(q: Any, qd: Any, t: Any) -> Any:
        return dm.momentum(system, q, qd, t, params)

    h, dh_dt = jax.jvp(energy, (q, qd, t), flow)
    p, dp_dt = jax.jvp(momentum, (q, qd, t), flow)
    value, slope = jax.value_and_grad(system.lagrangian)(q, qd, t, params)
    seen: dict[str, Any] = {"M": mass, "definite": mass, "b": dm.bias(system, q, qd, t, params)}
    seen["needed"] = jax.vmap(lambda a: dm.inverse_dynamics(system, q, qd, a, t, params))(asked)
    seen |= {"h": h, "dh/dt": dh_dt, "p": p, "dp/dt": dp_dt, "L": value, "∂L/∂q": slope}
    seen |= {
        "kinetic": dm.energy(system, q, qd, t, params).kinetic,
        "power": dm.power(system, q, qd, t, params),
    }
    if system.constraints:
        scaled = scaled_rows(system.laws, mass, q, t, params)

        def rate(q: Any, qd: Any, t: Any) -> Any:
            return rate_residual_of(system.laws, q, qd, t, params)

        drift, change = jax.jvp(rate, (q, qd, t), flow)
        _, coasting = jax.jvp(rate, (q, qd, t), (qd, 0 * qd, jnp.ones_like(t)))
        seen |= {"definite": scaled.mass, "J": scaled.rows / scaled.roots[:, None]}
        seen |= {"drift": drift, "its change": change, "coasting": coasting}
    if system.parts is not None:  # ω and R I Rᵀ of each body; L has no ω in it
        bodies = dm.body_states(system, q, qd, t, params).values()
        seen["kinetic of bodies"] = sum(body.kinetic for body in bodies)
        seen["potential"] = potential_of(system.parts(q, t, params))
    return seen


def _without_idle_work(function: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
    """The same function of arrays like x, less what its result does not depend on."""
    traced, kept = jax.make_jaxpr(function)(x), []
    needed = set(map(id, traced.jaxpr.outvars))
    for equation in reversed(traced.jaxpr.eqns):
        if not needed.isdisjoint(map(id, equation.outvars)):
            kept.append(equation)
            needed.update(map(id, equation.invars))
    shorter = ClosedJaxpr(traced.jaxpr.replace(eqns=kept[::-1]), traced.consts)
    return lambda x: jaxpr_as_fun(shorter)(x)[0]


def _hamiltons_form(
    system: dm.System, q: Any, p: Any, t: Any, along: Any, params: Any
) -> tuple[Any, Any, Any]:
    """q̇, ṗ, and the slope of H along a direction in q."""
    velocity, force = dm.hamilton_equations(system, q, p, t, params)
    # With H comes the force, whose derivative would take as long again.
    value = _without_idle_work(lambda q: dm.hamiltonian(system, q, p, t, params), q)
    _, slope = jax.jvp(value, (q,), (along,))
    return velocity, force, slope


def _worst(differences: Any, *sizes: Any) -> float:
    """The largest difference, relative to the sizes at the same state."""
    error, *scales = (
        np.max(np.abs(np.reshape(x, (len(x), -1))), axis=1) for x in (differences, *sizes)
    )
    return float(np.max(error / sum(scales)))


def _solved(matrices: Any, rows: Any) -> np.ndarray:
    return np.linalg.solve(matrices, rows[..., None])[..., 0]


class _States(NamedTuple):
    """Random states of a machine, shapes (STATES, ...): accelerations asked about, parameters."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    t: np.ndarray
    params: Any


def _admitted(system: dm.System, at: _States) -> np.ndarray:
    """The rates nearest to qd that the constraints admit: the laws of energy are about those."""

    def step_and_gap(q: Any, qd: Any, t: Any, params: Any) -> tuple[Any, Any]:
        mass = mass_matrix_of(system.laws, q, qd, t, params)
        step = corrector(scaled_rows(system.laws, mass, q, t, params), None)
        return step, rate_residual_of(system.laws, q, qd, t, params)

    nothing = np.zeros(system.n)
    look = carried_out(step_and_gap, nothing, nothing, 0.0, system.params)
    rates = at.qd
    step, gap = look(at.q, rates, at.t, at.params)
    for _ in range(3):
        rates = rates - np.einsum("knm,km->kn", step, gap)
        _, gap = look(at.q, rates, at.t, at.params)
    return rates


def _accelerated(system: dm.System) -> Callable[..., np.ndarray]:
    """Accelerations at batches of (q, qd, t, params), traced once for all of them."""
    nothing = np.zeros(system.n)
    return carried_out(lambda *x: dm.acceleration(system, *x), nothing, nothing, 0.0, system.params)


def _has_momenta(system: dm.System, look: Callable[..., dict[str, Any]]) -> bool:
    """Whether rates follow from momenta: not if a coordinate has no inertia of its own."""
    q, qd = np.array(system.starts["default"])[:, None]
    params = jax.tree.map(lambda leaf: np.asarray(leaf)[None], system.params)
    nothing = np.zeros((1, system.n + 3, system.n))
    (mass,) = look(q, qd, nothing[:, 0], nothing, np.zeros(1), params)["M"]
    return bool(np.linalg.cond(mass) < 1e10)


def _breaches(
    system: dm.System, at: _States, accelerated: Callable[..., np.ndarray]
) -> dict[str, float]:
    """How far each law is broken; `accelerated` are the machine's own accelerations."""
    n, every, one = system.n, at.params, np.ones((STATES, 1))
    rates = _admitted(system, at) if system.constraints else at.qd
    motion = accelerated(at.q, rates, at.t, every)
    # What forces it takes: for the accelerations asked about, none, the motion's, unit ones.
    units = np.broadcast_to(np.eye(n), (STATES, n, n))
    asked = np.concatenate([np.stack([at.qdd, 0 * motion, motion], axis=1), units], axis=1)
    states = at.q, rates, motion, asked, at.t, every
    look = carried_out(lambda *x: _seen(system, *x), *jax.tree.map(lambda batch: batch[0], states))
    seen = look(*states)
    bias, mass, needed = seen["b"], seen["M"], seen["needed"].swapaxes(0, 1)
    held = np.zeros_like(bias)
    if system.constraints:
        forces = _in_a_batch(lambda *x: dm.multipliers(system, *x))
        forces = by_arrays(forces, at.q, rates, at.t, every)
        held = np.einsum("km,kmn->kn", forces, seen["J"])
    unit = np.sqrt(np.einsum("kii->ki", seen["definite"]))
    definite = seen["definite"] / (unit[:, :, None] * unit[:, None, :])
    breaches = {
        "mass matrix is symmetric": _worst(mass - mass.swapaxes(1, 2), mass),
        "mass matrix is positive definite on admissible rates": float(
            np.any(np.linalg.eigvalsh(definite)[:, 0] <= 0)
        ),
        "energy changes at the rate of the power": _worst(
            seen["dh/dt"] - seen["power"],
            seen["h"],
            seen["dh/dt"],
            np.sum(bias * rates, axis=1),
            np.sum(held * rates, axis=1),
        ),
        "kinetic energy is half q̇·M·q̇": _worst(
            seen["kinetic"] - 0.5 * np.einsum("ki,kij,kj->k", rates, mass, rates),
            seen["h"],
            seen["kinetic"],
        ),
        "inverse after forward is what the constraints do": _worst(needed[2] - held, bias, held),
        "mass matrix from unit accelerations": _worst(
            needed[3:].swapaxes(0, 1) - needed[1][:, None] - mass, needed[1], mass
        ),
        "a total derivative changes nothing": _worst(
            _accelerated(_gauged(system))(at.q, rates, at.t, every) - motion, motion, one
        ),
    }
    if system.constraints:
        pushed = np.einsum("kmn,kn->km", seen["J"], motion)
        breaches["motion keeps the constraints' rates"] = _worst(
            seen["its change"], seen["coasting"], pushed, one
        )
        breaches["rates were admissible"] = _worst(
            seen["drift"], np.einsum("kmn,kn->km", seen["J"], at.qd), one
        )
    if _has_momenta(system, look):
        momenta = at.q, seen["p"], at.t, at.qdd, every  # along qdd, as along any direction
        velocity, force, slope = by_arrays(lambda *x: _hamiltons_form(system, *x), *momenta)
        along = np.sum(seen["∂L/∂q"] * at.qdd, axis=1)
        breaches |= {
            "Legendre transform inverts the momentum": _worst(velocity - rates, rates),
            "Hamilton's force is the momentum's rate": _worst(force - seen["dp/dt"], force, bias),
            "∂H/∂q = −∂L/∂q": _worst(slope + along, seen["∂L/∂q"], seen["h"]),
            "forward after inverse is the identity": _worst(
                _solved(mass, needed[0] - bias) - at.qdd, at.qdd, _solved(mass, bias)
            ),
        }
    if system.parts is not None:
        kinetic, potential = seen["kinetic of bodies"], seen["potential"]
        breaches["kinetic energy is that of the bodies"] = _worst(
            kinetic - seen["L"] - potential, kinetic, potential
        )
    return breaches


def _around(x: np.ndarray, steps: tuple[float, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Points on both sides of x along each axis, for each step; and the distances to them."""
    sizes = [step * np.maximum(np.abs(x), 1e-3) for step in steps]
    moved = [x + sign * np.diag(size) for size in sizes for sign in (1, -1)]
    return np.concatenate(moved), sizes


def test_accelerations_obey_the_laws_however_computed_and_have_the_right_derivatives(
    any_machine: dm.System,
) -> None:
    """Laws and derivatives are traced and carried out in NumPy; accelerations are compiled too."""
    n, params = any_machine.n, jittered_params(any_machine, seed=1)
    flat, unravel = ravel_pytree(params)
    every = jax.tree.map(lambda leaf: np.tile(leaf, (STATES, *[1] * np.ndim(leaf))), params)
    t = np.random.default_rng(3).uniform(0, 5, STATES)
    at = _States(*random_states(n, STATES, seed=2), t, every)
    accelerated = _accelerated(any_machine)
    for law, breach in _breaches(any_machine, at, accelerated).items():
        assert breach < CHAIN_ROUND_OFF, f"{any_machine.name}: {law}: off by {breach:.1e}"

    def accelerate(x: Any) -> Any:
        """The acceleration at x = (q, qd, t, parameters)."""
        return dm.acceleration(any_machine, x[:n], x[n : 2 * n], x[2 * n], unravel(x[2 * n + 1 :]))

    xs = np.column_stack([at.q, at.qd, at.t, np.tile(flat, (STATES, 1))])
    around, (fine, coarse) = _around(xs[0], (2e-4, 4e-4))
    # It runs once, and making it fast would take longer; the plain ones are made so.
    batch = jax.jit(jax.vmap(accelerate), compiler_options={"xla_backend_optimization_level": 0})
    batched = np.asarray(batch(np.concatenate([xs, around])))
    traced = accelerated(at.q, at.qd, at.t, every)
    assert _worst(batched[:STATES] - traced, traced) < CHAIN_ROUND_OFF, "compiled or not"
    plain = [
        dm.acceleration(any_machine, q, qd, t, params)
        for q, qd, t in zip(at.q[:SINGLES], at.qd, at.t, strict=False)
    ]
    assert _worst(batched[:SINGLES] - plain, plain) < CHAIN_ROUND_OFF, "batched and plain differ"

    def slopes(x: Any, along: Any, weights: Any) -> Any:
        """Forward, what the acceleration changes by along a direction; in reverse, its gradient."""
        _, push = jax.linearize(accelerate, x)
        return push(along), jax.linear_transpose(push, x)(weights)[0]

    # The directions are lanes: each of x at the first state, each of the acceleration repeated.
    first = np.tile(xs[0], (len(xs[0]), 1))
    forward, gradients = by_arrays(
        slopes, first, np.eye(len(first)), np.resize(np.eye(n), (len(first), n))
    )
    exact, reverse = forward.T, gradients[:n]
    right, left, far_right, far_left = np.split(batched[STATES:], 4)
    richardson = (4 * (right - left).T / (2 * fine) - (far_right - far_left).T / (2 * coarse)) / 3
    scale = np.max(np.abs(exact), axis=0) + np.max(np.abs(batched[0]))
    assert np.max(np.abs(exact - reverse) / scale) < CHAIN_ROUND_OFF, "forward and reverse differ"
    assert np.max(np.abs(exact - richardson) / scale) < FINITE_DIFFERENCE, "∂q̈/∂(q, qd, t, params)"
