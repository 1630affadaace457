"""Free bodies and tops: four routes to one motion, published digits, closed forms."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech import geometry as geo
from diffmech.systems import tops
from diffmech.systems.free_body import rotation_of

from ..by_tape import by_arrays

ROUTES = ("lagrange", "momentum", "quaternion", "euler")
MOMENTS = np.array([1.0, 2.0, 3.0])
OMEGA = np.array([0.3, 0.2, 2.0])  # about the largest axis: the pitch stays far from its pole


def rotations(route: str, run: dm.Trajectory) -> np.ndarray:
    return by_arrays(lambda q: rotation_of(route, q), np.asarray(run.qs))


def test_four_routes_of_the_free_body_are_one_motion() -> None:
    runs = {}
    for route in ROUTES:
        body = dm.systems.free_body(route, MOMENTS, OMEGA)
        runs[route] = dm.simulate(body, *body.starts["default"], ts=np.linspace(0, 20, 81))
    found = {route: rotations(route, run) for route, run in runs.items()}

    def by_hand(t: float, y: np.ndarray) -> np.ndarray:
        r, w = y[:9].reshape(3, 3), y[9:]
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(r @ spin).ravel(), -np.cross(w, MOMENTS * w) / MOMENTS])

    start = np.concatenate([np.eye(3).ravel(), OMEGA])
    exact = solve_ivp(by_hand, (0, 20), start, "DOP853", runs["euler"].ts, rtol=1e-13, atol=1e-13)
    for route, matrices in found.items():
        gap = np.max(np.abs(matrices - exact.y[:9].T.reshape(-1, 3, 3)))
        assert gap < 1e-8, f"{route}: {gap:.1e}"
        energies = np.asarray(runs[route].energies.total)
        assert np.ptp(energies) < 1e-9 * energies[0]


@pytest.mark.parametrize(("axis", "stable"), [("x", True), ("y", False), ("z", True)])
def test_a_body_flips_about_its_middle_axis_only(axis: str, stable: bool) -> None:
    body = dm.systems.free_body("quaternion", MOMENTS)
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    growth = (MOMENTS[k] - MOMENTS[i]) * (MOMENTS[i] - MOMENTS[j]) / (MOMENTS[j] * MOMENTS[k])
    assert (growth > 0) is not stable
    # Small enough to grow by e^6 and stay small; along the growing direction, so nothing beats.
    small = 1e-7
    omega = np.zeros(3)
    omega[i] = 1.0
    rate = math.sqrt(abs(growth))
    omega[j] = small
    omega[k] = small if stable else small * rate * MOMENTS[j] / (MOMENTS[k] - MOMENTS[i])
    start = (np.array([1.0, 0, 0, 0]), np.array([0.0, *(0.5 * omega)]))
    duration = 6 / rate if not stable else 200.0
    run = dm.simulate(body, *start, duration=duration, rtol=1e-12, atol=1e-16)
    spins = by_arrays(
        lambda q, qd: geo.angular_velocity(geo.from_quaternion, q, qd),
        np.asarray(run.qs),
        np.asarray(run.qds),
    )
    across = np.abs(spins[:, j])
    if stable:
        assert np.max(across) < 5 * small
    else:
        slope = np.polyfit(run.ts, np.log(across), 1)[0]
        assert slope == pytest.approx(rate, rel=0.01)


def test_the_published_heavy_top_to_its_digits() -> None:
    top = dm.systems.heavy_top()
    run = dm.simulate(top, *top.starts["published"], ts=np.linspace(0, 0.2, 41))
    # The source's symmetry axis is y and its R(0) = 1; ours is z.
    at_start, ours = by_arrays(
        lambda q: geo.from_euler("ZXZ", q), np.asarray(run.qs)[np.array([0, -1])]
    )
    quaternion = by_arrays(geo.to_quaternion, (ours @ at_start.T)[None])[0]
    printed = np.array([-0.7083, 0.4388, 0.5457, 0.0894])
    np.testing.assert_allclose(quaternion * np.sign(quaternion[0]) * -1, printed, atol=5e-5)
    energies = np.asarray(run.energies.total)
    assert np.ptp(energies) < 1e-9 * np.max(np.abs(energies))
    momenta = by_arrays(
        lambda q, qd: dm.momentum(top, q, qd), np.asarray(run.qs), np.asarray(run.qds)
    )
    for i in (0, 2):  # about the vertical and about the axis
        assert np.ptp(momenta[:, i]) < 1e-9 * np.max(np.abs(momenta[:, i]))


@pytest.mark.parametrize("elevation", [-0.7, 0.0, 0.4, 1.1])
def test_both_steady_precessions_satisfy_their_equation_and_the_motion(elevation: float) -> None:
    top = dm.systems.heavy_top()
    I1, I3, mgh = tops.top_numbers(top)
    spin = 260.0
    rates = tops.steady_precession(top, spin, elevation)
    assert len(rates) == (1 if elevation == 0 else 2)
    nutation = math.pi / 2 - elevation
    for rate in rates:
        left = I3 * spin * rate + (I3 - I1) * rate**2 * math.sin(elevation)
        assert left == pytest.approx(mgh, rel=1e-12)
        qdd = dm.acceleration(top, [0.3, nutation, 0.1], [rate, 0.0, spin])
        size = max(abs(spin * rate), rate**2)
        assert np.max(np.abs(qdd)) < 1e-12 * size


def test_a_top_on_its_steady_precession_stays_there_for_100_precessions() -> None:
    top = dm.systems.heavy_top()
    spin, elevation = 260.0, 0.4
    slow = float(tops.steady_precession(top, spin, elevation)[0])
    nutation = math.pi / 2 - elevation
    duration = 100 * 2 * math.pi / slow
    run = dm.simulate(
        top, [0.0, nutation, 0.0], [slow, 0.0, spin], ts=np.linspace(0, duration, 201)
    )
    assert np.max(np.abs(np.asarray(run.qs)[:, 1] - nutation)) < 1e-8
    assert np.max(np.abs(np.asarray(run.qds)[:, 0] - slow)) < 1e-8 * slow


def test_nutation_stays_between_its_limits_and_reaches_both() -> None:
    top = dm.systems.heavy_top()
    for label in ("default", "slow"):
        q0, qd0 = top.starts[label]
        low, high = tops.nutation_limits(top, q0, qd0)
        run = dm.simulate(top, q0, qd0, duration=6.0)
        seen = np.asarray(run.qs)[:, 1]
        assert low - 1e-9 < seen.min()
        assert seen.max() < high + 1e-9
        # Samples come within a parabola's height of the turning points.
        step = float(run.ts[1] - run.ts[0]) * np.max(np.abs(run.qds[:, 1]))
        assert seen.min() - low < step
        assert high - seen.max() < step
    steady = float(tops.steady_precession(top, 260.0, 0.4)[0])
    lean = math.pi / 2 - 0.4
    limits = tops.nutation_limits(top, [0, lean, 0], [steady, 0.0, 260.0])
    np.testing.assert_allclose(limits, lean, atol=1e-6)  # a double zero: half of the digits


def test_a_sleeping_top_wakes_below_its_spin() -> None:
    top = dm.systems.heavy_top("XYZ")
    found = tops.sleeping_spin(top)

    @jax.jit
    def growth(spin: Any) -> Any:
        """Largest real part of the eigenvalues of the motion linearised about the upright spin."""

        def flow(x: Any) -> Any:
            q = jnp.array([x[0], x[1], 0.0])
            qd = jnp.array([x[2], x[3], spin])
            return jnp.concatenate([x[2:], dm.acceleration(top, q, qd)[:2]])

        return jax.jacfwd(flow)(jnp.zeros(4))

    def unstable(spin: float) -> bool:
        return np.max(np.real(np.linalg.eigvals(growth(spin)))) > 1e-5

    low, high = 0.5 * found, 1.5 * found
    assert unstable(low)
    assert not unstable(high)
    while high - low > 1e-8 * found:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if unstable(middle) else (low, middle)
    assert 0.5 * (low + high) == pytest.approx(found, rel=1e-6)


def test_a_free_symmetric_body_precesses_as_its_formula_says() -> None:
    I1, I3, rate, lean = 1.0, 1.7, 2.3, 0.6
    spin = tops.torque_free_spin(I1, I3, rate, lean)
    assert spin == pytest.approx((I1 / I3 - 1) * math.cos(lean) * rate, rel=1e-15)
    # A steady state of the Lagrangian in precession, nutation and spin, without gravity.
    body = dm.systems.heavy_top(mass=0.0, transverse=I1, axial=I3, gravity=0.0)
    qdd = dm.acceleration(body, [0.1, lean, 0.2], [rate, 0.0, spin])
    np.testing.assert_allclose(qdd, 0.0, atol=1e-14)
    # A plate that leans a little wobbles twice as fast as it spins, the other way.
    assert tops.torque_free_spin(1.0, 2.0, 1.0, 1e-9) == pytest.approx(-0.5)


def test_the_torque_that_holds_an_axis_is_the_rate_of_angular_momentum() -> None:
    tensor = np.array([[2.0, 0.1, -0.3], [0.1, 2.5, 0.2], [-0.3, 0.2, 3.0]])
    torque = tops.fixed_axis_torque(tensor, 1.7)
    np.testing.assert_allclose(torque, 1.7**2 * np.array([-0.2, -0.3, 0.0]), rtol=1e-15)
    # In space: d/dt of R I Rᵀ ω as R turns about its axis 3.
    omega = jnp.array([0.0, 0.0, 1.7])

    def momentum(t: Any) -> Any:
        r = geo.rotation_about(2, 1.7 * t)
        return r @ tensor @ r.T @ omega

    _, rate = jax.jvp(momentum, (0.4,), (1.0,))
    np.testing.assert_allclose(geo.rotation_about(2, 0.68) @ torque, rate, atol=1e-14)


def test_tops_that_cannot_are_told_why() -> None:
    top = dm.systems.heavy_top()
    with pytest.raises(ValueError, match=r"`spin` must be at least .* rad/s for steady precession"):
        tops.steady_precession(top, 10.0, 1.0)
    with pytest.raises(ValueError, match="must not be zero for a top with a level axis"):
        tops.steady_precession(top, 0.0, 0.0)
    with pytest.raises(ValueError, match="there is no route 'euler_angles'"):
        dm.systems.free_body("euler_angles")
    with pytest.raises(ValueError, match="`sequence` must be one of"):
        dm.systems.heavy_top("ZZZ")


def test_a_top_that_is_pulled_up_nutates_the_other_way() -> None:
    top = dm.systems.heavy_top(gravity=-9.81)
    q, qd = [0.0, 1.0, 0.0], [0.0, 0.0, 150.0]
    low, high = tops.nutation_limits(top, q, qd)
    run = dm.simulate(top, q, qd, duration=1.0, samples=401)
    nutation = np.asarray(run.qs)[:, 1]
    assert high == pytest.approx(np.max(nutation), abs=1e-3)
    assert low == pytest.approx(np.min(nutation), abs=1e-3)
    with pytest.raises(ValueError, match="needs no spin"):
        tops.sleeping_spin(top)
