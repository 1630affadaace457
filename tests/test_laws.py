"""Laws of mechanics that every machine of the catalogue must obey at random states.

One compiled function per machine evaluates all of them.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import diffmech as dm

from .conftest import jittered_params, random_states
from .tolerances import CHAIN_ROUND_OFF, FINITE_DIFFERENCE

STATES = 20


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
    )


def _relative(difference: Any, *sizes: Any) -> Any:
    scale = sum(jnp.max(jnp.abs(size)) for size in sizes)
    return jnp.max(jnp.abs(difference)) / scale


def _residuals(system: dm.System, gauged: dm.System) -> Any:
    def laws(q: Any, qd: Any, qdd: Any, t: Any, params: Any) -> dict[str, Any]:
        mass = dm.mass_matrix(system, q, t, qd, params)
        bias = dm.bias(system, q, qd, t, params)
        motion = dm.acceleration(system, q, qd, t, params)
        momentum = dm.momentum(system, q, qd, t, params)
        needed = dm.inverse_dynamics(system, q, qd, qdd, t, params)
        rest = dm.inverse_dynamics(system, q, qd, jnp.zeros_like(q), t, params)

        def energy(q: Any, qd: Any, t: Any) -> Any:
            return dm.energy(system, q, qd, t, params).total

        flow = (qd, motion, jnp.ones_like(t))
        h, dh_dt = jax.jvp(energy, (q, qd, t), flow)
        power = dm.power(system, q, qd, t, params)
        _, momentum_rate = jax.jvp(
            lambda q, qd, t: dm.momentum(system, q, qd, t, params), (q, qd, t), flow
        )
        velocity, force = dm.hamilton_equations(system, q, momentum, t, params)
        slope_h = jax.grad(lambda q: dm.hamiltonian(system, q, momentum, t, params))(q)
        slope_l = jax.grad(system.lagrangian)(q, qd, t, params)
        units = jax.vmap(lambda e: dm.inverse_dynamics(system, q, qd, e, t, params))(
            jnp.eye(q.size)
        )
        energies = dm.energy(system, q, qd, t, params)
        forward = jax.jacfwd(lambda p: dm.acceleration(system, q, qd, t, p))(params)
        reverse = jax.jacrev(lambda p: dm.acceleration(system, q, qd, t, p))(params)
        gap = jax.tree.map(lambda a, b: _relative(a - b, a, 1.0), forward, reverse)
        scaled = mass / jnp.sqrt(jnp.outer(jnp.diagonal(mass), jnp.diagonal(mass)))
        other = dm.acceleration(gauged, q, qd, t, params)
        return {
            "mass matrix is symmetric": _relative(mass - mass.T, mass),
            "mass matrix is positive definite": jnp.where(
                jnp.min(jnp.linalg.eigvalsh(scaled)) > 0, 0.0, 1.0
            ),
            "energy changes at the rate of the power": _relative(
                dh_dt - power, h, dh_dt, bias @ qd
            ),
            "kinetic energy is half q̇·M·q̇": _relative(
                energies.kinetic - 0.5 * qd @ mass @ qd, energies.total, energies.kinetic
            ),
            "inverse after forward is zero": _relative(
                dm.inverse_dynamics(system, q, qd, motion, t, params), bias
            ),
            "forward after inverse is the identity": _relative(
                jnp.linalg.solve(mass, needed - bias) - qdd, qdd, motion
            ),
            "mass matrix from unit accelerations": _relative(units - rest - mass, rest, mass),
            "a total derivative changes nothing": _relative(other - motion, motion, 1.0),
            "Legendre transform inverts the momentum": _relative(velocity - qd, qd),
            "Hamilton's force is the momentum's rate": _relative(
                force - momentum_rate, force, bias
            ),
            "∂H/∂q = −∂L/∂q": _relative(slope_h + slope_l, slope_l, h),
            "forward and reverse derivatives agree": jnp.max(jnp.stack(jax.tree.leaves(gap))),
        }

    return laws


def test_laws_of_mechanics_hold_at_random_states(any_machine: dm.System) -> None:
    params = jittered_params(any_machine, seed=1)
    q, qd, qdd = random_states(any_machine.n, STATES, seed=2)
    t = np.random.default_rng(3).uniform(0, 5, STATES)
    laws = jax.jit(
        jax.vmap(_residuals(any_machine, _gauged(any_machine)), in_axes=(0, 0, 0, 0, None))
    )
    for law, residual in laws(q, qd, qdd, t, params).items():
        worst = float(np.max(residual))
        assert worst < CHAIN_ROUND_OFF, f"{any_machine.name}: {law}: off by {worst:.1e}"


def test_compiled_batched_and_plain_accelerations_agree(any_machine: dm.System) -> None:
    params = jittered_params(any_machine, seed=4)
    q, qd, _ = random_states(any_machine.n, 5, seed=5)

    def accelerate(q: Any, qd: Any) -> Any:
        return dm.acceleration(any_machine, q, qd, 0.3, params)

    batched = jax.vmap(accelerate)(q, qd)
    compiled = jax.jit(accelerate)
    for i in range(len(q)):
        plain = accelerate(q[i], qd[i])
        scale = np.max(np.abs(plain))
        np.testing.assert_allclose(compiled(q[i], qd[i]), plain, atol=CHAIN_ROUND_OFF * scale)
        np.testing.assert_allclose(batched[i], plain, atol=CHAIN_ROUND_OFF * scale)


def test_derivatives_of_the_acceleration_equal_finite_differences(any_machine: dm.System) -> None:
    params = jittered_params(any_machine, seed=6)
    flat, unravel = ravel_pytree(params)
    q, qd, _ = (x[0] for x in random_states(any_machine.n, 1, seed=7))
    n = any_machine.n

    @jax.jit
    def accelerate(x: Any) -> Any:
        return dm.acceleration(any_machine, x[:n], x[n : 2 * n], x[2 * n], unravel(x[2 * n + 1 :]))

    x = np.concatenate([q, qd, [0.7], flat])
    exact = jax.jit(jax.jacfwd(accelerate))(x)

    def central(step: float) -> np.ndarray:
        sizes = step * np.maximum(np.abs(x), 1e-3)
        moved = np.diag(sizes)
        rise = np.stack([accelerate(x + d) - accelerate(x - d) for d in moved], axis=1)
        return rise / (2 * sizes)

    richardson = (4 * central(5e-4) - central(1e-3)) / 3
    scale = np.max(np.abs(exact), axis=0) + np.max(np.abs(accelerate(x)))
    assert np.max(np.abs(exact - richardson) / scale) < FINITE_DIFFERENCE
