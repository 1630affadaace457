"""Intervals of fitted numbers: by hand, by another optimiser, and one-sided on a limit."""

import numpy as np
import pytest
from scipy.optimize import minimize

import diffmech as dm
from diffmech.identification._intervals import allowed, edges_of, interval

from ..made_fits import made_fit
from ..tolerances import ROUND_OFF

FAR = 1.96


def test_without_limits_an_interval_is_so_many_standard_errors() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 5))
    rows[:, -1] -= rows[:, :-1] @ np.linalg.lstsq(rows[:, :-1], rows[:, -1])[0]
    z, along = rng.normal(size=4), rng.normal(size=4)
    covariance = np.linalg.inv(rows[:, :-1].T @ rows[:, :-1])
    reach = FAR * np.sqrt(along @ covariance @ along)
    found = interval(rows, np.zeros((0, 5)), z, along, FAR)
    np.testing.assert_allclose(found, [along @ z - reach, along @ z + reach], rtol=1e-9)


@pytest.mark.parametrize("beyond", [0.0, 0.3, 2.0])
def test_on_a_limit_an_interval_is_one_sided(beyond: float) -> None:
    """χ² = (x + beyond)² with x ≥ 0: it rises by q² at √(q² + beyond²) − beyond."""
    rows, limits = np.array([[1.0, beyond], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    low, high = interval(rows, limits, np.zeros(1), np.ones(1), FAR)
    assert low == pytest.approx(0.0, abs=ROUND_OFF)
    assert high == pytest.approx(np.sqrt(FAR**2 + beyond**2) - beyond, rel=1e-9)


@pytest.mark.parametrize(("seed", "pushed"), [(i, i < 3) for i in range(6)])
def test_between_limits_an_interval_is_what_another_optimiser_finds(
    seed: int, pushed: bool
) -> None:
    """The profile of χ² by SLSQP, along a direction, is q² above its least at both ends.

    `pushed`: whether limits keep the best point from where χ² is least.
    """
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(7, 4))
    limits = np.c_[rng.normal(size=(3, 3)), np.full(3, -0.1)]  # the origin keeps them
    along = rng.normal(size=3)

    def chi2(d: np.ndarray) -> float:
        return float(np.sum((rows[:, :-1] @ d + rows[:, -1]) ** 2))

    inside = {"type": "ineq", "fun": lambda d: limits[:, :-1] @ d - limits[:, -1]}
    best = minimize(chi2, np.zeros(3), constraints=[inside], method="SLSQP", tol=1e-14)
    anywhere = np.linalg.lstsq(rows[:, :-1], -rows[:, -1])[0]
    assert (best.fun - chi2(anywhere) > 0.01) == pushed, "half of the cases start above the least"
    # Seen from the best point, as a fit does.
    moved = rows.copy()
    moved[:, -1] = rows[:, :-1] @ best.x + rows[:, -1]
    for end in interval(moved, limits, best.x, along, FAR):
        held = {"type": "eq", "fun": lambda d, end=end: along @ d - end}
        there = minimize(chi2, best.x, constraints=[inside, held], method="SLSQP", tol=1e-14)
        assert there.fun - best.fun == pytest.approx(FAR**2, rel=1e-4)


def test_limits_alone_bound_what_the_data_do_not() -> None:
    limits = np.array([[1.0, 0.0, 0.2], [-1.0, -1.0, -3.0]])  # x ≥ 0.2, x + y ≤ 3
    assert allowed(limits, 0) == (0.2, np.inf)
    assert allowed(limits, 1) == (-np.inf, 2.8)


def test_an_edge_of_several_numbers_is_named_with_how_far_it_may_be() -> None:
    """x ≤ y + z held as an equality: the best point lies 0.3 inside, 17 errors."""
    rows = np.array([[1.0, 0, 0, 0.1], [0, 1, 0, -0.1], [0, 0, 1, -0.1], [0, 0, 0, 1.0]])
    rows *= 100
    limits = np.array([[-0.5, 0.5, 0.5, 0.0]])
    z = np.array([2.0, 1.0, 1.0])
    (edge,) = edges_of(rows, limits, z, np.array([1.0, 1.0, 1.0]), ("x", "y", "z"), FAR)
    assert edge.text == "y + z - x"
    # y + z − x has the standard error √3/100 and the estimate +0.3 without the limit.
    assert edge.most == pytest.approx(0.3 + FAR * np.sqrt(3) / 100, rel=1e-6)


def test_a_fit_tells_its_intervals_and_bad_levels_get_a_sentence() -> None:
    fit = made_fit()
    low, high = fit.interval("friction", 0.6827)
    assert (low, high) == pytest.approx((0.203 - 0.0027, 0.203 + 0.0027), rel=1e-4)
    pushed = made_fit(values=np.array([40.02, 0.0]), limited=("friction",))
    low, high = pushed.interval("friction")
    assert low == 0.0
    assert high == pytest.approx(1.96 * 0.0027, rel=1e-3)
    assert "friction ended on its limit: its interval is one-sided" in pushed.verdict
    assert f"on its limit: 95 % from 0 to {high:.4g}" in str(pushed)
    lost = made_fit(errors=np.array([np.inf, 0.0027]))
    assert lost.interval("stiffness") == (-np.inf, np.inf)
    with pytest.raises(ValueError, match="`level` must be between 0 and 1"):
        fit.interval("friction", 95.0)
    with pytest.raises(ValueError, match="'mass' was not free"):
        dm.Fit.interval(fit, "mass")
