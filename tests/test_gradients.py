"""Derivatives of whole runs: forward, reverse, closed forms, finite differences."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import diffmech as dm

from .conftest import jittered_params, machine

# Drake's mass_damper_spring: m = 1, b = 0, k = 9, x0 = 1, v0 = 0, t = 4.25: d(x, v, a)/dm.
PUBLISHED = np.array([1.164069483273479, 19.07735862673189, -1.627938326032988])


def spring(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * params["m"] * qd[0] ** 2 - 0.5 * params["k"] * q[0] ** 2


def spring_outcome(m: Any, mode: str) -> Any:
    system = dm.System(spring, {"x": "m"}, {"m": 1.0, "k": 9.0})
    params = {"m": m, "k": 9.0}
    run = dm.simulate(
        system,
        [1.0],
        [0.0],
        duration=4.25,
        params=params,
        gradient=mode,
        samples=2,
        rtol=1e-12,
    )
    accelerations = dm.acceleration(system, run.end.q, run.end.qd, params=params)
    return jnp.concatenate([run.end.q, run.end.qd, accelerations])


@cache
def spring_derivatives() -> tuple[Any, Any]:
    """First and second derivative by the mass in forward mode, from one program."""

    def slope(m: Any) -> tuple[Any, Any]:
        first = jax.jacfwd(lambda m: spring_outcome(m, "forward"))(m)
        return first, first

    second, first = jax.jit(jax.jacfwd(slope, has_aux=True))(1.0)
    return first, second


def closed_form(m: Any) -> Any:
    """x = cos ωt with ω = √(9/m), at 4.25 s."""
    w = jnp.sqrt(9.0 / m)
    return jnp.stack([jnp.cos(w * 4.25), -w * jnp.sin(w * 4.25), -(w**2) * jnp.cos(w * 4.25)])


def test_mass_sensitivity_of_an_oscillator_forward_and_reverse() -> None:
    exact = jax.jacfwd(closed_form)(1.0)
    forward, _ = spring_derivatives()
    reverse = jax.jit(jax.jacrev(lambda m: spring_outcome(m, "reverse")))(1.0)
    np.testing.assert_allclose(forward, exact, atol=1e-9)
    np.testing.assert_allclose(reverse, exact, atol=1e-9)
    np.testing.assert_allclose(exact, PUBLISHED, atol=1e-9)


@pytest.mark.parametrize("name", ["babyboot", "n_link"])  # the laws look at every machine's M q̈
def test_run_derivatives_equal_richardson_differences(name: str) -> None:
    """d(final state)/d(parameters, initial state, duration), both modes."""
    any_machine = machine(name)
    params = jittered_params(any_machine, seed=60)
    flat, unravel = ravel_pytree(params)
    q0, qd0 = any_machine.starts["default"]
    n = any_machine.n
    x = np.concatenate([[1.0], q0, qd0 + 0.1, flat])

    def outcome(x: Any, mode: str) -> Any:
        run = dm.simulate(
            any_machine,
            x[1 : n + 1],
            x[n + 1 : 2 * n + 1],
            duration=x[0],
            params=unravel(x[2 * n + 1 :]),
            gradient=mode,
            samples=2,
            rtol=1e-12,
        )
        return jnp.concatenate([run.end.q, run.end.qd])

    # Three directions at once suffice: everything moves in each.
    directions = np.random.default_rng(61).normal(size=(3, x.size)) * np.maximum(np.abs(x), 1e-3)

    @jax.jit
    def pushed(x: Any, d: Any) -> Any:
        """The final state and its derivative along `d`: one program for both sides."""
        return jax.jvp(lambda x: outcome(x, "forward"), (x,), (d,))

    forward = np.stack([pushed(x, d)[1] for d in directions])
    weights = np.random.default_rng(62).normal(size=2 * n)
    gradient = jax.jit(jax.grad(lambda x: weights @ outcome(x, "reverse")))(x)
    scale = np.max(np.abs(forward))
    np.testing.assert_allclose(directions @ gradient, forward @ weights, atol=1e-9 * scale)

    def plain(x: np.ndarray) -> np.ndarray:
        return np.asarray(pushed(x, np.zeros_like(x))[0])

    def central(d: np.ndarray, step: float) -> np.ndarray:
        return (plain(x + step * d) - plain(x - step * d)) / (2 * step)

    for d, exact in zip(directions, forward, strict=True):
        richardson = (4 * central(d, 1e-3) - central(d, 2e-3)) / 3
        # Fourth-order differences of a run good to 1e-12: (2e-3)⁴ and 1e-12/1e-3, some thousand
        # times over for the sensitive directions.
        np.testing.assert_allclose(exact, richardson, atol=1e-6 * scale)


def test_time_derivatives_of_samples_are_the_rates() -> None:
    system = dm.systems.pendulum()

    def place(t: Any) -> Any:
        run = dm.simulate(
            system, [1.0], ts=jnp.stack([0.0, t, 2.0]), gradient="forward", rtol=1e-12
        )
        return run.qs[1], run.qds[1]

    moved, rates = jax.jvp(place, (0.73,), (1.0,))
    np.testing.assert_allclose(rates[0], moved[1], atol=1e-9)


def test_the_time_of_an_event_has_a_derivative() -> None:
    system = dm.systems.pendulum()

    def quarter(gravity: Any) -> Any:
        run = dm.simulate(
            system,
            [np.pi / 2],
            duration=3.0,
            params=system.with_params(gravity=gravity).params,
            events={"bottom": lambda q, qd, t, p: q[0]},
            gradient="forward",
        )
        return run.end.t

    time, slope = jax.jvp(quarter, (9.81,), (1.0,))
    np.testing.assert_allclose(slope, -0.5 * time / 9.81, rtol=1e-7)


def test_second_derivatives_exist_in_forward_mode() -> None:
    _, second = spring_derivatives()
    np.testing.assert_allclose(second, jax.jacfwd(jax.jacfwd(closed_form))(1.0), rtol=1e-7)


@pytest.mark.parametrize(
    ("mode", "wrong", "advice"),
    [
        ("reverse", jax.jacfwd, "gradient='forward'"),
        ("forward", jax.jacrev, "gradient='reverse'"),
    ],
)
def test_the_wrong_direction_is_named(mode: str, wrong: Any, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        wrong(lambda m: spring_outcome(m, mode))(1.0)
    with pytest.raises(ValueError, match=advice):
        jax.jit(wrong(lambda m: spring_outcome(m, mode)))(1.0)


def test_symplectic_runs_are_differentiable_both_ways() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, gravity: Any) -> Any:
        """A pendulum, written as shortly as it can be: this is traced many times."""
        return 0.5 * qd[0] ** 2 + gravity * jnp.cos(q[0])

    system = dm.System(lagrangian, {"theta": "rad"}, 9.81)

    def outcome(g: Any, mode: str) -> Any:
        return dm.simulate(
            system,
            [0.5],
            duration=0.6,
            dt=0.1,
            samples=2,
            method="ImplicitMidpoint",
            params=g,
            gradient=mode,
        ).end.q[0]

    # One number in, one out: `jvp` and `grad` are the Jacobian, without a batch of size one.
    pushed = jax.jit(lambda g: jax.jvp(lambda g: outcome(g, "forward"), (g,), (1.0,)))
    forward = pushed(9.81)[1]
    reverse = jax.jit(jax.grad(lambda g: outcome(g, "reverse")))(9.81)
    np.testing.assert_allclose(forward, reverse, rtol=1e-10)
    plain = (pushed(9.82)[0] - pushed(9.80)[0]) / 0.02
    np.testing.assert_allclose(forward, plain, rtol=1e-4)
