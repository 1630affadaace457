"""Lagrangians outside the catalogue, as a user would write them, against independent solutions."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import diffmech as dm

from ..conftest import random_states
from ..tolerances import ROUND_OFF


def scipy_final(rate: Any, y0: Any, duration: float) -> np.ndarray:
    """The final state by SciPy's DOP853 at 1e-12."""
    run = solve_ivp(rate, (0.0, duration), y0, method="DOP853", rtol=1e-12, atol=1e-12)
    return run.y[:, -1]


def test_driven_oscillator_with_growing_spring_and_quadratic_drag() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        stiffness = params["k"] * (1 + 0.1 * t)
        return 0.5 * qd[0] ** 2 - 0.5 * stiffness * q[0] ** 2 + q[0] * jnp.cos(2 * t)

    def drag(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return -params["c"] * jnp.abs(qd) * qd

    system = dm.System(lagrangian, {"x": "m"}, {"k": 4.0, "c": 0.3}, forces=drag)
    run = dm.simulate(system, [1.0], [0.5], duration=8.0)

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -4 * (1 + 0.1 * t) * y[0] + np.cos(2 * t) - 0.3 * abs(y[1]) * y[1]]

    np.testing.assert_allclose(
        np.concatenate([run.end.q, run.end.qd]), scipy_final(rate, [1.0, 0.5], 8.0), atol=1e-9
    )
    # |v| v has a kink in its second derivative at every turning point, so steps shrink there.
    assert run.report().imbalance < 1e-8
    assert abs(float(run.work[-1])) > 0.1


def test_relativistic_particle_moves_hyperbolically() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        m, c, force = params["m"], params["c"], params["force"]
        return -m * c**2 * jnp.sqrt(1 - (qd @ qd) / c**2) + force * q[0]

    system = dm.System(lagrangian, ("x", "y"), {"m": 2.0, "c": 3.0, "force": 5.0})
    run = dm.simulate(system, [0.0, 0.0], duration=4.0)
    ts = np.asarray(run.ts)
    # p = F t, hence x = (√((m c²)² + (F t c)²) − m c²)/F.
    exact = (np.sqrt(18.0**2 + (15.0 * ts) ** 2) - 18.0) / 5.0
    np.testing.assert_allclose(run.qs[:, 0], exact, atol=1e-10)
    np.testing.assert_allclose(run.energies.kinetic - 5 * run.qs[:, 0], 0.0, atol=1e-9)
    speed = np.array([2.4, -0.9])
    gamma = 1 / np.sqrt(1 - speed @ speed / 9)
    mass = 2 * gamma * (np.eye(2) + gamma**2 * np.outer(speed, speed) / 9)
    np.testing.assert_allclose(
        dm.mass_matrix(system, [0, 0], 0.0, speed), mass, rtol=ROUND_OFF, atol=ROUND_OFF
    )
    momentum = dm.momentum(system, [0, 0], speed)
    np.testing.assert_allclose(dm.velocity(system, [0, 0], momentum), speed, rtol=ROUND_OFF)
    assert run.report().imbalance < 1e-9
    # Close to the speed of light the momentum is steep: a small Newton step proves nothing there.
    for size in (1e3, 1e5):
        fast = dm.velocity(system, [0, 0], [size, 0.0])
        np.testing.assert_allclose(dm.momentum(system, [0, 0], fast)[0], size, rtol=1e-6)


def test_velocity_is_found_where_the_mass_matrix_vanishes_at_rest() -> None:
    system = dm.System(lambda q, qd, t, p: 0.25 * qd[0] ** 4, ("x",))
    np.testing.assert_allclose(dm.velocity(system, [0.0], [8.0]), [2.0], rtol=ROUND_OFF)


def test_charge_in_a_magnetic_field_circles() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        potential = 0.5 * params["B"] * jnp.stack([-q[1], q[0]])
        return 0.5 * params["m"] * qd @ qd + params["e"] * qd @ potential

    system = dm.System(lagrangian, ("x", "y"), {"m": 1.5, "e": 2.0, "B": 3.0})
    rate = 2.0 * 3.0 / 1.5  # clockwise for e B > 0
    run = dm.simulate(system, [0.0, 0.0], [1.0, 0.0], duration=5.0)
    ts = np.asarray(run.ts)
    circle = np.stack([np.sin(rate * ts), np.cos(rate * ts) - 1], axis=1) / rate
    np.testing.assert_allclose(run.qs, circle, atol=1e-10)
    np.testing.assert_allclose(run.energies.kinetic, 0.75, rtol=1e-9)


def test_pendulum_on_a_moving_pivot() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        """Length l, pivot moving as (a sin Ωt, b cos Ωt)."""
        a, b, w = params["a"], params["b"], params["w"]
        vx = a * w * jnp.cos(w * t) + params["l"] * jnp.cos(q[0]) * qd[0]
        vy = -b * w * jnp.sin(w * t) + params["l"] * jnp.sin(q[0]) * qd[0]
        height = b * jnp.cos(w * t) - params["l"] * jnp.cos(q[0])
        return 0.5 * (vx**2 + vy**2) - 9.81 * height

    params = {"a": 0.3, "b": 0.2, "w": 5.0, "l": 0.8}
    system = dm.System(lagrangian, {"theta": "rad"}, params)

    def rate(t: float, y: np.ndarray) -> list[float]:
        across, up = -0.3 * 25 * np.sin(5 * t), -0.2 * 25 * np.cos(5 * t)
        return [y[1], -((9.81 + up) * np.sin(y[0]) + across * np.cos(y[0])) / 0.8]

    run = dm.simulate(system, [0.4], [0.0], duration=6.0)
    np.testing.assert_allclose(
        np.concatenate([run.end.q, run.end.qd]), scipy_final(rate, [0.4, 0.0], 6.0), atol=1e-8
    )
    # The pivot's drive does the work; the balance holds though h is not T + V here.
    assert run.report().imbalance < 1e-9
    assert float(np.max(np.abs(run.work))) > 1.0


def test_kepler_orbit_keeps_its_laplace_vector() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd[0] ** 2 + (q[0] * qd[1]) ** 2) + params / q[0]

    system = dm.System(lagrangian, {"r": "m", "phi": "rad"}, 1.0)
    run = dm.simulate(system, [1.0, 0.0], [0.0, 1.3], duration=30.0, rtol=1e-12)
    r, phi = np.asarray(run.qs).T
    spin = r**2 * np.asarray(run.qds)[:, 1]
    conic = 1.3**2 / (1 + (1.3**2 - 1) * np.cos(phi))
    np.testing.assert_allclose(r, conic, rtol=1e-8)
    np.testing.assert_allclose(spin, 1.3, rtol=1e-9)
    report = run.report()
    assert set(report.momenta) == {"phi"}
    assert report.momenta["phi"] < 1e-9
    assert "momentum" in str(report)


def test_indefinite_lagrangian_is_solved_without_cholesky() -> None:
    # Bateman's dual oscillators: ẍ + 2c ẋ + x = 0 and its mirror image.
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        x, y = q
        return qd[0] * qd[1] + params["c"] * (x * qd[1] - qd[0] * y) - x * y

    system = dm.System(lagrangian, ("x", "y"), {"c": 0.1})
    np.testing.assert_allclose(
        dm.acceleration(system, [1.0, 2.0], [3.0, 4.0]),
        [-1.0 - 0.2 * 3.0, -2.0 + 0.2 * 4.0],
        rtol=ROUND_OFF,
    )


def test_explicit_equations_run_through_the_same_tools() -> None:
    def equations(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return -(params["w"] ** 2) * q

    def energy(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd @ qd + params["w"] ** 2 * q @ q)

    system = dm.Explicit(equations, ("x", "y"), {"w": 2.0}, energy=energy)
    run = dm.simulate(system, [1.0, 0.0], [0.0, 0.5], duration=3.0)
    np.testing.assert_allclose(run.end.q, [np.cos(6.0), 0.25 * np.sin(6.0)], atol=1e-10)
    assert run.report().imbalance < 1e-9
    assert "no work terms" in str(run)
    silent = dm.Explicit(equations, ("x", "y"), {"w": 2.0})
    quiet = dm.simulate(silent, [1.0, 0.0], duration=1.0)
    assert "without an energy function" in str(quiet)
    assert "Believable" in quiet.report().verdict


def test_kinetic_and_potential_energy_of_a_natural_system() -> None:
    system = dm.systems.pendulum(mass=2.0, length=0.5)
    for q, qd, _ in zip(*random_states(1, 5, seed=50), strict=True):
        energy = dm.energy(system, q, qd)
        np.testing.assert_allclose(energy.kinetic, 0.25 * qd[0] ** 2, rtol=1e-11)
        np.testing.assert_allclose(energy.potential, -9.81 * np.cos(q[0]), rtol=ROUND_OFF)
        np.testing.assert_allclose(energy.total, energy.kinetic + energy.potential)
