"""Hamilton's principle: motions make the action stationary, and are found that way."""

import math
from typing import Any

import jax
import numpy as np
import pytest

import diffmech as dm


def test_the_action_of_an_oscillator_is_its_closed_form() -> None:
    def oscillator(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * qd[0] ** 2 - 0.5 * p["w"] ** 2 * q[0] ** 2

    system = dm.System(oscillator, ("x",), {"w": 1.3})
    t, a, b = 1.7, 0.4, -0.9
    path = dm.motion_between(system, [a], [b], t)
    w = 1.3
    exact = w / (2 * math.sin(w * t)) * ((a**2 + b**2) * math.cos(w * t) - 2 * a * b)
    assert float(dm.action(system, path)) == pytest.approx(exact, rel=1e-12)
    # The straight path has a larger action (below half a period the motion is the least one).
    straight = dm.ActionPath(0.0, t, a + (b - a) * (path.ts / t)[:, None], path.degree)
    assert float(dm.action(system, straight)) > exact + 0.01


@pytest.mark.parametrize(
    ("name", "elements", "t0"), [("spherical_pendulum", 8, 0.0), ("kapitza", 40, 2.0)]
)
def test_the_actions_gradient_vanishes_on_simulated_motions_only(
    name: str, elements: int, t0: float
) -> None:
    system = getattr(dm.systems, name)()
    run = dm.simulate(
        system, *system.starts["default"], duration=0.4, t0=t0, rtol=1e-13, atol=1e-13
    )
    path = dm.ActionPath.along(run, elements, degree=12)
    q, qd = path(run.ts)  # between its nodes
    np.testing.assert_allclose(q, run.qs, atol=1e-10)  # as the run is, and its path of degree 12
    np.testing.assert_allclose(qd, run.qds, atol=1e-8)  # two digits less for a derivative
    forces = np.abs(dm.bias(system, run.qs[-1], run.qds[-1], t0 + 0.4))
    lacking = np.abs(dm.action_gradient(system, path))
    assert np.max(lacking) < 1e-8 * np.max(forces)
    bump = np.sin(math.pi * (path.ts - path.t0) / (path.t1 - path.t0))[:, None]
    bent = path.qs + 0.01 * bump
    other = dm.ActionPath(path.t0, path.t1, bent, path.degree)
    assert np.max(np.abs(dm.action_gradient(system, other))) > 1e-3
    # A second-order change of the action for a first-order change of the path.
    changes = []
    for e in (1e-3, 2e-3):
        moved = path.qs + e * bump
        other = dm.ActionPath(path.t0, path.t1, moved, path.degree)
        changes.append(float(dm.action(system, other) - dm.action(system, path)))
    assert changes[1] / changes[0] == pytest.approx(4.0, rel=0.02)


def test_a_motion_between_configurations_is_not_found_on_constraints() -> None:
    rod = dm.systems.pendulum_dae()
    with pytest.raises(ValueError, match="but 'pendulum_dae' has constraints"):
        dm.motion_between(rod, [-1.0, 0.0], [0.0, -1.0], duration=0.5)


def test_a_motion_between_two_configurations_is_the_simulated_one() -> None:
    system = dm.systems.double_pendulum()
    q0, q1 = [0.3, -0.2], [1.1, 0.9]
    path = dm.motion_between(system, q0, q1, 0.8)  # by way of shorter ones
    _, qd0 = path(0.0)
    run = dm.simulate(system, q0, qd0, duration=0.8)
    # Eight polynomials of degree 12 leave an error of 1e-7 on this path; sixteen leave 1e-9.
    np.testing.assert_allclose(run.qs[-1], q1, atol=1e-6)
    np.testing.assert_allclose(path(run.ts)[0], run.qs, atol=1e-6)


def test_declared_forces_are_taken_along() -> None:
    system = dm.systems.particle(viscous=0.3)
    path = dm.motion_between(system, [0, 0, 0], [2.0, 1.0, 0.5], 0.9)
    run = dm.simulate(system, [0, 0, 0], path(0.0)[1], duration=0.9)
    np.testing.assert_allclose(run.qs[-1], [2.0, 1.0, 0.5], atol=1e-9)


def test_the_end_decides_which_way_round() -> None:
    system = dm.systems.pendulum()
    forwards = dm.motion_between(system, [0.0], [1.0], 0.6)
    round_the_top = dm.motion_between(system, [0.0], [1.0 - 2 * math.pi], 0.6)
    assert float(forwards(0.0)[1][0]) > 0 > float(round_the_top(0.0)[1][0])
    # From a motion found already as the guess, the same one is found for a slightly later end.
    later = dm.motion_between(system, [0.0], [1.0], 0.62, guess=forwards)
    assert abs(float(forwards(0.0)[1][0] - later(0.0)[1][0])) < 0.1
    np.testing.assert_allclose(later(0.62)[0], [1.0], atol=1e-12)


def test_paths_without_a_motion_are_refused_with_what_lacks() -> None:
    system = dm.systems.pendulum()
    with pytest.raises(ValueError, match=r"`q1` must have shape \(1,\)"):
        dm.motion_between(system, [0.0], [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="`duration` must be greater than zero"):
        dm.motion_between(system, [0.0], [1.0], 0.0)
    with pytest.raises(ValueError, match="the action needs a Lagrangian"):
        dm.action(dm.systems.free_body("euler"), dm.motion_between(system, [0.0], [1.0], 0.5))


def test_gradients_go_through_the_action() -> None:
    system = dm.systems.pendulum()
    path = dm.motion_between(system, [0.0], [1.0], 0.5)
    # dS/dg at fixed path is the integral of −m y.
    slope = jax.grad(lambda p: dm.action(system, path, p))(system.params).gravity
    height = -np.cos(np.asarray(path(np.linspace(0, 0.5, 2001))[0])[:, 0])
    assert float(slope) == pytest.approx(-np.trapezoid(height, dx=0.5 / 2000), rel=1e-6)
