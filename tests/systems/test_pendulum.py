"""The simple pendulum against elliptic functions and the IFToMM benchmark A01."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import diffmech as dm

PERIOD = 2.36784194757623745  # from the horizontal, l = 1 m, g = 9.81 m/s²


def exact_angle(t: np.ndarray, amplitude: float, gravity: float, length: float) -> np.ndarray:
    """θ = 2 arcsin(k sn(K − ωt)), k = sin(amplitude/2), released at rest."""
    k = np.sin(amplitude / 2)
    sn, _, _, _ = ellipj(ellipk(k**2) - np.sqrt(gravity / length) * t, k**2)
    return 2 * np.arcsin(k * sn)


def test_horizontal_release_meets_the_published_positions() -> None:
    system = dm.systems.pendulum()
    run = dm.simulate(system, [-np.pi / 2], [0.0], ts=[0.0, 5.0, 10.0], rtol=1e-13)
    places = np.stack([np.sin(run.qs[:, 0]), -np.cos(run.qs[:, 0])], axis=1)
    # Printed to 15 digits; 1e-11 is what rtol 1e-13 leaves after ten periods' worth of steps.
    np.testing.assert_allclose(places[1], [-0.942305435043757, -0.334754338414001], atol=1e-11)
    np.testing.assert_allclose(places[2], [-0.275087462576117, -0.961419205099125], atol=1e-11)


@pytest.mark.parametrize(("amplitude", "length"), [(0.3, 1.0), (2.0, 0.4), (3.1, 2.5)])
def test_motion_follows_the_elliptic_functions(amplitude: float, length: float) -> None:
    system = dm.systems.pendulum(length=length)
    run = dm.simulate(system, [amplitude], duration=6.0)
    exact = exact_angle(np.asarray(run.ts), amplitude, 9.81, length)
    # rtol 1e-11 times the growth of phase errors; near the top (3.1 rad) errors grow most.
    np.testing.assert_allclose(run.qs[:, 0], exact, atol=1e-8)


def test_quarter_period_is_found_as_an_event() -> None:
    system = dm.systems.pendulum()
    run = dm.simulate(
        system, [np.pi / 2], duration=5.0, events={"bottom": lambda q, qd, t, p: q[0]}, rtol=1e-13
    )
    assert run.event == "bottom"
    assert abs(float(run.end.t) - PERIOD / 4) < 1e-12
    assert abs(float(run.qs[-1, 0])) < 1e-12
    assert float(run.ts[-1]) == float(run.end.t)


def test_small_oscillations_have_the_linear_period() -> None:
    system = dm.systems.pendulum(length=0.7, gravity=3.0)
    period = 2 * np.pi * np.sqrt(0.7 / 3.0)
    run = dm.simulate(system, [1e-6], duration=period, atol=1e-20)
    assert abs(float(run.qs[-1, 0]) / 1e-6 - 1) < 1e-9
