"""Derivatives of whole runs: forward, reverse, closed forms, finite differences."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm

from ..by_tape import by_arrays

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


NAMES = ("m", "k", "coupling", "friction", "force", "drive")
ALL_ON = np.array([1.1, 2.3, 0.8, 0.15, 0.4, 0.3])
SPRING = np.array([1.0, 9.0, 0.0, 0.0, 0.0, 0.0])  # every coordinate is one of its own


N = 3  # coordinates


@cache
def oscillators() -> dm.System:
    """Springs with a mass matrix m + c q qᵀ that couples them, friction, forces and a drive.

    Short to trace; that the derivatives of every machine's q̈ are right is seen with its laws.
    """

    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        kinetic = 0.5 * p["m"] * qd @ qd + 0.5 * p["coupling"] * (q @ qd) ** 2
        return kinetic - 0.5 * p["k"] * q @ q + p["drive"] * jnp.sin(2 * t) * q[0]

    def forces(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return p["force"] * jnp.roll(q, 1)

    def dissipation(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * p["friction"] * qd @ qd

    params = dict(zip(NAMES, ALL_ON.tolist(), strict=True))
    names = tuple(f"x{i}" for i in range(N))
    return dm.System(lagrangian, names, params, forces=forces, dissipation=dissipation)


def point(duration: float, q0: Any, qd0: Any, params: np.ndarray) -> np.ndarray:
    """All that a run of the oscillators depends on, in one row."""
    assert len(q0) == len(qd0) == N
    return np.concatenate([[duration], q0, qd0, params])


@cache
def programs() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The final state with its derivative along d, and the gradient of weights @ final state."""

    def outcome(x: Any, mode: str) -> Any:
        run = dm.simulate(
            oscillators(),
            x[1 : N + 1],
            x[N + 1 : 2 * N + 1],
            duration=x[0],
            params={name: x[2 * N + 1 + i] for i, name in enumerate(NAMES)},
            gradient=mode,
            samples=2,
            rtol=1e-12,
        )
        return jnp.concatenate([run.end.q, run.end.qd])

    def pushed(x: Any, d: Any) -> Any:
        return jax.jvp(lambda x: outcome(x, "forward"), (x,), (d,))

    def pulled(x: Any, weights: Any) -> Any:
        return jax.grad(lambda x: weights @ outcome(x, "reverse"))(x)

    return jax.jit(pushed), jax.jit(pulled)


def spring_derivatives_in_reverse() -> np.ndarray:
    """d(x, v, a)/dm of one of the springs when none knows of another; a = −k x/m."""
    pushed, pulled = programs()
    x = point(duration=4.25, q0=[1.0, 0.0, 0.0], qd0=np.zeros(N), params=SPRING)
    mass = 2 * N + 1 + NAMES.index("m")
    place, rate = (pulled(x, weights)[mass] for weights in np.eye(2 * N)[[0, N]])
    end = pushed(x, np.zeros_like(x))[0]
    return np.array([place, rate, -9.0 * place + 9.0 * end[0]])


def closed_form(m: Any) -> Any:
    """x = cos ωt with ω = √(9/m), at 4.25 s."""
    w = jnp.sqrt(9.0 / m)
    return jnp.stack([jnp.cos(w * 4.25), -w * jnp.sin(w * 4.25), -(w**2) * jnp.cos(w * 4.25)])


def test_mass_sensitivity_of_an_oscillator_forward_and_reverse() -> None:
    exact = by_arrays(jax.jacfwd(closed_form), np.ones(1))[0]
    forward, _ = spring_derivatives()
    reverse = spring_derivatives_in_reverse()
    np.testing.assert_allclose(forward, exact, atol=1e-9)
    np.testing.assert_allclose(reverse, exact, atol=1e-9)
    np.testing.assert_allclose(exact, PUBLISHED, atol=1e-9)


@pytest.mark.parametrize("seed", [60, 63])
def test_run_derivatives_equal_richardson_differences(seed: int) -> None:
    """d(final state)/d(parameters, initial state, duration), both modes."""
    pushed, pulled = programs()
    rng = np.random.default_rng(seed)
    q0, qd0 = rng.normal(scale=0.5, size=(2, N))
    x = point(1.0, q0, qd0, ALL_ON * rng.uniform(0.8, 1.2, ALL_ON.size))
    # Three directions at once suffice: everything moves in each.
    directions = np.random.default_rng(61).normal(size=(3, x.size)) * np.maximum(np.abs(x), 1e-3)
    forward = np.stack([pushed(x, d)[1] for d in directions])
    weights = np.random.default_rng(62).normal(size=2 * N)
    gradient = np.asarray(pulled(x, weights))
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


@cache
def pendulum() -> dm.System:
    """Written as shortly as it can be: this is traced many times."""

    def lagrangian(q: Any, qd: Any, t: Any, gravity: Any) -> Any:
        return 0.5 * qd[0] ** 2 + gravity * jnp.cos(q[0])

    return dm.System(lagrangian, {"theta": "rad"}, 9.81)


def test_time_derivatives_of_samples_are_the_rates() -> None:
    def place(t: Any) -> Any:
        run = dm.simulate(
            pendulum(), [1.0], ts=jnp.stack([0.0, t, 2.0]), gradient="forward", rtol=1e-12
        )
        return run.qs[1], run.qds[1]

    moved, rates = jax.jit(lambda t: jax.jvp(place, (t,), (1.0,)))(0.73)
    np.testing.assert_allclose(rates[0], moved[1], atol=1e-9)


def test_the_time_of_an_event_has_a_derivative() -> None:
    def quarter(gravity: Any) -> Any:
        run = dm.simulate(
            pendulum(),
            [np.pi / 2],
            duration=3.0,
            params=gravity,
            events={"bottom": lambda q, qd, t, p: q[0]},
            gradient="forward",
        )
        return run.end.t

    time, slope = jax.jit(lambda g: jax.jvp(quarter, (g,), (1.0,)))(9.81)
    np.testing.assert_allclose(slope, -0.5 * time / 9.81, rtol=1e-7)


def test_second_derivatives_exist_in_forward_mode() -> None:
    _, second = spring_derivatives()
    exact = by_arrays(jax.jacfwd(jax.jacfwd(closed_form)), np.ones(1))[0]
    np.testing.assert_allclose(second, exact, rtol=1e-7)


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
    def outcome(g: Any, mode: str) -> Any:
        return dm.simulate(
            pendulum(),
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
