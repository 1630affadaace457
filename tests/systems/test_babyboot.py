"""The babyboot against its source's equations and the published digits (Kane's pendulum)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm

from ..conftest import random_states
from ..tolerances import PUBLISHED_QA_DEG, PUBLISHED_QB_DEG, PUBLISHED_RATE, ROUND_OFF

# MotionGenesis at error 1e-12, in Drake's benchmark chaotic_babyboot: t = 10 s.
ANGLES_DEG = np.array([-61.312983340691, -929.47789677244])
RATES = np.array([-6.7440081040646, -2.7795690128833])
ACCELERATIONS = np.array([41.137023263571, 19.483647096003])


def source_equations(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The two ODEs as the source prints them."""
    g, la, lb, ma, mb, ia, ix, iy, iz = 9.81, 0.075, 0.2, 0.01, 0.1, 5e-6, 2.5e-4, 0.5e-4, 2e-4
    sin, cos = np.sin(q[1]), np.cos(q[1])
    qa = 2 * qd[0] * qd[1] * sin * cos * (ix - iy) - (ma * la + mb * lb) * g * np.sin(q[0])
    qa /= ia + ma * la**2 + mb * lb**2 + ix * cos**2 + iy * sin**2
    return np.array([qa, -(qd[0] ** 2) * sin * cos * (ix - iy) / iz])


def reduced_equations(q: np.ndarray, qd: np.ndarray, a: float, b: float) -> np.ndarray:
    """The source's reduced form; it prints b = 21.556 and a = 508.89."""
    sin, cos = np.sin(q[1]), np.cos(q[1])
    qa = 2 * (a * np.sin(q[0]) - sin * cos * qd[0] * qd[1]) / (-b + sin**2)
    return np.array([qa, -sin * cos * qd[0] ** 2])


def test_equations_equal_the_sources_at_random_states() -> None:
    system = dm.systems.babyboot()
    q, qd, _ = random_states(2, 100, seed=10)
    for place, rate in zip(q, qd, strict=True):
        ours = np.asarray(dm.acceleration(system, place, rate))
        scale = np.max(np.abs(ours))
        np.testing.assert_allclose(ours, source_equations(place, rate), atol=ROUND_OFF * scale)
        exact = reduced_equations(place, rate, 508.89375, 21.55625)
        printed = reduced_equations(place, rate, 508.89, 21.556)
        np.testing.assert_allclose(ours, exact, atol=ROUND_OFF * scale)
        # The printed constants are rounded to five digits.
        np.testing.assert_allclose(ours, printed, atol=2e-5 * scale)
        assert np.max(np.abs(ours - printed)) > 1e-7 * scale


def test_the_published_digits_come_out_at_ten_seconds() -> None:
    system = dm.systems.babyboot()
    run = dm.simulate(system, *system.starts["chaotic"], duration=10.0, rtol=5e-14)
    qa, qb = np.rad2deg(run.end.q) - ANGLES_DEG
    assert abs(qa) < PUBLISHED_QA_DEG
    assert abs(qb) < PUBLISHED_QB_DEG
    assert np.max(np.abs(run.end.qd - RATES)) < PUBLISHED_RATE
    accelerations = dm.acceleration(system, run.end.q, run.end.qd)
    # The accelerations move by up to 50 1/s² per rad and the angles by 3e-8 rad.
    np.testing.assert_allclose(accelerations, ACCELERATIONS, atol=1e-5)
    assert run.report().imbalance < 1e-10


def test_half_a_degree_decides_at_ninety_degrees_but_not_at_forty_five() -> None:
    system = dm.systems.babyboot()

    def plate_after_ten_seconds(qa_deg: float, qb_deg: float) -> float:
        run = dm.simulate(system, np.deg2rad([qa_deg, qb_deg]), duration=10.0, rtol=1e-12)
        return float(np.rad2deg(run.end.q[1]))

    assert abs(plate_after_ten_seconds(90, 0.5) - plate_after_ten_seconds(90, 1.0)) > 2000
    assert abs(plate_after_ten_seconds(45, 0.5) - plate_after_ten_seconds(45, 1.0)) < 1


@pytest.mark.parametrize(("qa_deg", "duration"), [(30, 10), (60, 10), (100, 4), (130, 10)])
def test_other_starts_agree_with_scipy(qa_deg: float, duration: float) -> None:
    system = dm.systems.babyboot()
    q0 = np.deg2rad([qa_deg, 1.0])
    run = dm.simulate(system, q0, duration=duration, rtol=5e-14)

    def rate(_t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], source_equations(y[:2], y[2:])])

    other = solve_ivp(rate, (0, duration), [*q0, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13)
    # SciPy's own error at 1e-13 is near 1e-11 on these runs; 100° is chaotic, hence 4 s there.
    np.testing.assert_allclose(run.end.q, other.y[:2, -1], atol=1e-9)
    np.testing.assert_allclose(run.end.qd, other.y[2:, -1], atol=1e-8)


def test_the_drawn_plate_has_the_moments_of_the_model() -> None:
    system = dm.systems.babyboot()
    assert system.landmarks is not None
    corners = np.asarray(system.landmarks(np.zeros(2), 0.0, system.params))[2:]
    _, width, height = np.ptp(corners, axis=0)
    p = system.params
    np.testing.assert_allclose(p.mB * height**2 / 12, p.IBy, rtol=ROUND_OFF)
    np.testing.assert_allclose(p.mB * width**2 / 12, p.IBz, rtol=ROUND_OFF)
    # At rest the rod hangs down; swung by +90° about n_x it points along +n_y.
    swung = np.asarray(system.landmarks(np.array([np.pi / 2, 0.0]), 0.0, system.params))
    np.testing.assert_allclose(swung[1], [0, p.LB, 0], atol=1e-15)
