"""Laws of mechanics that every machine of the catalogue must obey at random states.

One compiled function per machine evaluates all of them: tracing costs more than computing.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import diffmech as dm
from diffmech.model import potential_of
from diffmech.motion import corrector, mass_matrix_of, rate_residual_of, scaled_rows

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


def _relative(difference: Any, *sizes: Any) -> Any:
    scale = sum(jnp.max(jnp.abs(size)) for size in sizes)
    return jnp.max(jnp.abs(difference)) / scale


def _admitted(system: dm.System, q: Any, qd: Any, t: Any, params: Any) -> Any:
    """The rates nearest to qd that the constraints admit: the laws of energy are about those."""
    laws = system.laws
    mass = mass_matrix_of(laws, q, qd, t, params)
    step = corrector(scaled_rows(laws, mass, q, t, params), None)
    for _ in range(3):
        qd = qd - step @ rate_residual_of(laws, q, qd, t, params)
    return qd


def _has_momenta(system: dm.System) -> bool:
    """Whether rates follow from momenta: not if a coordinate has no inertia of its own."""
    q, qd = system.starts["default"]
    with jax.ensure_compile_time_eval():
        return bool(np.linalg.cond(dm.mass_matrix(system, q, qd=qd)) < 1e10)


def _laws(system: dm.System, params: Any) -> Any:
    """A function of one state: how far it is from each law, and the acceleration there."""
    gauged = _gauged(system)
    invertible = _has_momenta(system)

    def laws(q: Any, qd: Any, qdd: Any, t: Any) -> tuple[dict[str, Any], Any]:
        asked_at = qd
        if system.constraints:
            qd = _admitted(system, q, qd, t, params)
        mass = dm.mass_matrix(system, q, t, qd, params)
        bias = dm.bias(system, q, qd, t, params)
        motion = dm.acceleration(system, q, qd, t, params)
        momentum = dm.momentum(system, q, qd, t, params)
        # One program for all accelerations asked about: given, none, the motion's, unit ones.
        asked = jnp.concatenate([jnp.stack([qdd, 0 * qdd, motion]), jnp.eye(q.size)])
        inverse = jax.vmap(lambda a: dm.inverse_dynamics(system, q, qd, a, t, params))(asked)
        needed, rest, free, units = inverse[0], inverse[1], inverse[2], inverse[3:]

        def energy(q: Any, qd: Any, t: Any) -> Any:
            return dm.energy(system, q, qd, t, params).total

        flow = (qd, motion, jnp.ones_like(t))
        h, dh_dt = jax.jvp(energy, (q, qd, t), flow)
        power = dm.power(system, q, qd, t, params)
        energies = dm.energy(system, q, qd, t, params)
        other = dm.acceleration(gauged, q, qd, t, params)
        definite = mass
        held, jacobian = jnp.zeros_like(bias), jnp.zeros((0, q.size))
        if system.constraints:
            scaled = scaled_rows(system.laws, mass, q, t, params)
            definite = scaled.mass
            jacobian = scaled.rows / scaled.roots[:, None]
            held = dm.multipliers(system, q, qd, t, params) @ jacobian
        units_out = jnp.sqrt(jnp.outer(jnp.diagonal(definite), jnp.diagonal(definite)))
        residuals = {
            "mass matrix is symmetric": _relative(mass - mass.T, mass),
            "mass matrix is positive definite on admissible rates": jnp.where(
                jnp.min(jnp.linalg.eigvalsh(definite / units_out)) > 0, 0.0, 1.0
            ),
            "energy changes at the rate of the power": _relative(
                dh_dt - power, h, dh_dt, bias @ qd, held @ qd
            ),
            "kinetic energy is half q̇·M·q̇": _relative(
                energies.kinetic - 0.5 * qd @ mass @ qd, energies.total, energies.kinetic
            ),
            "inverse after forward is what the constraints do": _relative(free - held, bias, held),
            "mass matrix from unit accelerations": _relative(units - rest - mass, rest, mass),
            "a total derivative changes nothing": _relative(other - motion, motion, 1.0),
        }
        if system.constraints:

            def rate(q: Any, qd: Any, t: Any) -> Any:
                return rate_residual_of(system.laws, q, qd, t, params)

            drift, change = jax.jvp(rate, (q, qd, t), flow)
            _, coasting = jax.jvp(rate, (q, qd, t), (qd, 0 * qd, jnp.ones_like(t)))
            residuals["motion keeps the constraints' rates"] = _relative(
                change, coasting, jacobian @ motion, 1.0
            )
            residuals["rates were admissible"] = _relative(drift, jacobian @ asked_at, 1.0)
        if invertible:
            residuals |= _of_momenta(system, params, q, qd, t, flow, momentum)
            residuals["forward after inverse is the identity"] = _relative(
                jnp.linalg.solve(mass, needed - bias) - qdd, qdd, jnp.linalg.solve(mass, bias)
            )
        if system.parts is not None:  # ω and R I Rᵀ of each body; L has no ω in it
            made = system.parts(q, t, params)
            bodies = dm.body_states(system, q, qd, t, params).values()
            kinetic = sum(body.kinetic for body in bodies)
            potential = potential_of(made)
            residuals["kinetic energy is that of the bodies"] = _relative(
                kinetic - system.lagrangian(q, qd, t, params) - potential, kinetic, potential
            )
        return residuals, dm.acceleration(system, q, asked_at, t, params)

    return laws


def _of_momenta(
    system: dm.System, params: Any, q: Any, qd: Any, t: Any, flow: Any, momentum: Any
) -> dict[str, Any]:
    """The laws of Hamilton's form."""
    _, momentum_rate = jax.jvp(
        lambda q, qd, t: dm.momentum(system, q, qd, t, params), (q, qd, t), flow
    )
    velocity, force = dm.hamilton_equations(system, q, momentum, t, params)
    slope_h = jax.grad(lambda q: dm.hamiltonian(system, q, momentum, t, params))(q)
    slope_l = jax.grad(system.lagrangian)(q, qd, t, params)
    h = dm.energy(system, q, qd, t, params).total
    bias = dm.bias(system, q, qd, t, params)
    return {
        "Legendre transform inverts the momentum": _relative(velocity - qd, qd),
        "Hamilton's force is the momentum's rate": _relative(force - momentum_rate, force, bias),
        "∂H/∂q = −∂L/∂q": _relative(slope_h + slope_l, slope_l, h),
    }


def _program(system: dm.System, unravel: Any) -> Any:
    """All that is looked at: the laws, in a batch; accelerations one by one; their derivatives."""
    n = system.n

    def accelerate(x: Any) -> Any:
        """The acceleration at x = (q, qd, t, parameters)."""
        return dm.acceleration(system, x[:n], x[n : 2 * n], x[2 * n], unravel(x[2 * n + 1 :]))

    @jax.jit
    def evaluate(states: Any, params: Any, points: Any) -> Any:
        residuals, batched = jax.vmap(_laws(system, params))(*states)
        _, push = jax.linearize(accelerate, points[0])
        pull = jax.linear_transpose(push, points[0])
        forward = jax.vmap(push, out_axes=1)(jnp.eye(points.shape[1]))
        (reverse,) = jax.vmap(pull)(jnp.eye(n))
        return residuals, batched, jax.lax.map(accelerate, points), forward, reverse

    return evaluate


def _around(x: np.ndarray, steps: tuple[float, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Points on both sides of x along each axis, for each step; and the distances to them."""
    sizes = [step * np.maximum(np.abs(x), 1e-3) for step in steps]
    moved = [x + sign * np.diag(size) for size in sizes for sign in (1, -1)]
    return np.concatenate(moved), sizes


def test_accelerations_obey_the_laws_however_computed_and_have_the_right_derivatives(
    any_machine: dm.System,
) -> None:
    params = jittered_params(any_machine, seed=1)
    flat, unravel = ravel_pytree(params)
    q, qd, qdd = random_states(any_machine.n, STATES, seed=2)
    t = np.random.default_rng(3).uniform(0, 5, STATES)
    xs = np.column_stack([q, qd, t, np.tile(flat, (STATES, 1))])[:SINGLES]
    around, (fine, coarse) = _around(xs[0], (2e-4, 4e-4))
    residuals, batched, compiled, exact, reverse = _program(any_machine, unravel)(
        (q, qd, qdd, t), params, np.concatenate([xs, around])
    )

    for law, residual in residuals.items():
        worst = float(np.max(residual))
        assert worst < CHAIN_ROUND_OFF, f"{any_machine.name}: {law}: off by {worst:.1e}"

    for i in range(SINGLES):
        plain = dm.acceleration(any_machine, q[i], qd[i], t[i], params)
        scale = np.max(np.abs(plain))
        for name, other in (("compiled", compiled[i]), ("batched", batched[i])):
            np.testing.assert_allclose(
                other, plain, atol=CHAIN_ROUND_OFF * scale, err_msg=f"{name} and plain differ"
            )

    right, left, far_right, far_left = np.split(np.asarray(compiled[SINGLES:]), 4)
    richardson = (4 * (right - left).T / (2 * fine) - (far_right - far_left).T / (2 * coarse)) / 3
    scale = np.max(np.abs(exact), axis=0) + np.max(np.abs(compiled[0]))
    assert np.max(np.abs(exact - reverse) / scale) < CHAIN_ROUND_OFF, "forward and reverse differ"
    assert np.max(np.abs(exact - richardson) / scale) < FINITE_DIFFERENCE, "∂q̈/∂(q, qd, t, params)"
