"""Laws of mechanics that every machine of the catalogue must obey at random states.

One function per machine has them all, and is carried out without being compiled: a state is looked
at once, and compiling takes a thousand times as long as computing.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import diffmech as dm
from diffmech.model import potential_of
from diffmech.motion import corrector, mass_matrix_of, rate_residual_of, scaled_rows

from .by_tape import by_arrays
from .conftest import jittered_params, random_states
from .tolerances import CHAIN_ROUND_OFF, FINITE_DIFFERENCE

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


def _admitted(system: dm.System, q: Any, qd: Any, t: Any, params: Any) -> Any:
    """The rates nearest to qd that the constraints admit: the laws of energy are about those."""
    laws = system.laws
    mass = mass_matrix_of(laws, q, qd, t, params)
    step = corrector(scaled_rows(laws, mass, q, t, params), None)
    for _ in range(3):
        qd = qd - step @ rate_residual_of(laws, q, qd, t, params)
    return qd


def _in_a_batch(function: Any) -> Any:
    """A function of (q, qd, t, params) as `vmap` has it: solved by arithmetic, not by LAPACK."""

    def alone(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return jax.vmap(lambda *at: function(*at, params))(q[None], qd[None], t[None])[0]

    return alone


def _has_momenta(system: dm.System) -> bool:
    """Whether rates follow from momenta: not if a coordinate has no inertia of its own."""
    q, qd = system.starts["default"]
    with jax.ensure_compile_time_eval():
        return bool(np.linalg.cond(dm.mass_matrix(system, q, qd=qd)) < 1e10)


def _seen(system: dm.System, q: Any, qd: Any, qdd: Any, t: Any, params: Any) -> dict[str, Any]:
    """All that the laws compare, at one state with the acceleration `qdd` of its motion."""
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


def _hamiltons_form(system: dm.System, params: Any, states: Any) -> tuple[np.ndarray, ...]:
    """At states (q, p, t, direction): q̇, ṗ, and the slope of H along a direction in q."""

    def form(state: Any) -> Any:
        q, p, t, along = state
        velocity, force = dm.hamilton_equations(system, q, p, t, params)
        _, slope = jax.jvp(lambda q: dm.hamiltonian(system, q, p, t, params), (q,), (along,))
        return velocity, force, slope

    return tuple(map(np.asarray, jax.jit(lambda states: jax.lax.map(form, states))(states)))


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


def _breaches(system: dm.System, at: _States, params: Any) -> dict[str, float]:
    """How far each law is broken; `params` are the ones that `at` repeats."""
    n, every, one = system.n, at.params, np.ones((STATES, 1))
    rates = at.qd
    if system.constraints:
        admitted = _in_a_batch(lambda *x: _admitted(system, *x))
        rates = by_arrays(admitted, at.q, at.qd, at.t, every)

    def accelerated(machine: dm.System) -> Any:
        return by_arrays(lambda *x: dm.acceleration(machine, *x), at.q, rates, at.t, every)

    motion = accelerated(system)
    seen = by_arrays(lambda *x: _seen(system, *x), at.q, rates, motion, at.t, every)
    bias, mass = seen["b"], seen["M"]
    held = np.zeros_like(bias)
    if system.constraints:
        forces = _in_a_batch(lambda *x: dm.multipliers(system, *x))
        forces = by_arrays(forces, at.q, rates, at.t, every)
        held = np.einsum("km,kmn->kn", forces, seen["J"])
    # What forces it takes: for the accelerations asked about, none, the motion's, unit ones.
    asked = np.stack(
        [at.qdd, 0 * motion, motion, *np.broadcast_to(np.eye(n), (STATES, n, n)).swapaxes(0, 1)]
    )
    repeated = jax.tree.map(lambda x: np.concatenate([x] * len(asked)), (at.q, rates, at.t, every))
    q, qd, t, of_each = repeated
    needed = by_arrays(
        lambda q, qd, a, t, params: dm.inverse_dynamics(system, q, qd, a, t, params),
        q, qd, asked.reshape(-1, n), t, of_each,
    ).reshape(asked.shape)  # fmt: skip
    units = needed[3:].swapaxes(0, 1)
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
            units - needed[1][:, None] - mass, needed[1], mass
        ),
        "a total derivative changes nothing": _worst(
            accelerated(_gauged(system)) - motion, motion, one
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
    if _has_momenta(system):
        states = (at.q, seen["p"], at.t, at.qdd)  # along the asked accelerations, as any direction
        velocity, force, slope = _hamiltons_form(system, params, states)
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
    for law, breach in _breaches(any_machine, at, params).items():
        assert breach < CHAIN_ROUND_OFF, f"{any_machine.name}: {law}: off by {breach:.1e}"

    def accelerate(x: Any) -> Any:
        """The acceleration at x = (q, qd, t, parameters)."""
        return dm.acceleration(any_machine, x[:n], x[n : 2 * n], x[2 * n], unravel(x[2 * n + 1 :]))

    xs = np.column_stack([at.q, at.qd, at.t, np.tile(flat, (STATES, 1))])
    around, (fine, coarse) = _around(xs[0], (2e-4, 4e-4))
    batched = np.asarray(jax.jit(jax.vmap(accelerate))(np.concatenate([xs, around])))
    traced = by_arrays(accelerate, xs)
    assert _worst(batched[:STATES] - traced, traced) < CHAIN_ROUND_OFF, "compiled or not"
    plain = [
        dm.acceleration(any_machine, q, qd, t, params)
        for q, qd, t in zip(at.q[:SINGLES], at.qd, at.t, strict=False)
    ]
    assert _worst(batched[:SINGLES] - plain, plain) < CHAIN_ROUND_OFF, "batched and plain differ"

    def slopes(x: Any) -> Any:
        _, push = jax.linearize(accelerate, x)
        (reverse,) = jax.vmap(jax.linear_transpose(push, x))(jnp.eye(n))
        return jax.vmap(push, out_axes=1)(jnp.eye(x.size)), reverse

    (exact,), (reverse,) = by_arrays(slopes, xs[:1])
    right, left, far_right, far_left = np.split(batched[STATES:], 4)
    richardson = (4 * (right - left).T / (2 * fine) - (far_right - far_left).T / (2 * coarse)) / 3
    scale = np.max(np.abs(exact), axis=0) + np.max(np.abs(batched[0]))
    assert np.max(np.abs(exact - reverse) / scale) < CHAIN_ROUND_OFF, "forward and reverse differ"
    assert np.max(np.abs(exact - richardson) / scale) < FINITE_DIFFERENCE, "∂q̈/∂(q, qd, t, params)"
