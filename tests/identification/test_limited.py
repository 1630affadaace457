"""Least squares under linear limits, against SciPy, and from points that lie on limits."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from diffmech.identification._limited import active, limited

from ..tolerances import ROUND_OFF


@pytest.mark.parametrize("seed", range(40))
def test_from_a_corner_the_best_step_along_its_limits_is_taken(seed: int) -> None:
    """z lies exactly on some bounds, as after many steps of a fit: rounding must not hold it."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 7))
    rows = rng.normal(size=(p + 3, p + 1)) * 10.0 ** rng.uniform(-4, 4, size=p + 1)
    z = np.where(rng.uniform(size=p) < 0.5, 0.0, rng.uniform(size=p))
    limits = np.c_[np.eye(p), np.zeros(p)]
    step = limited(rows, limits, z)
    assert np.all(z + step >= 0), "not below zero by one bit"
    best = lsq_linear(rows[:, :-1], rows[:, :-1] @ z - rows[:, -1], (0, np.inf), tol=1e-14)
    ours = np.sum((rows[:, :-1] @ step + rows[:, -1]) ** 2)
    assert ours <= 2 * best.cost * (1 + 1e-9) + 1e-9 * np.sum(rows[:, -1] ** 2)


@pytest.mark.parametrize("seed", range(12))
def test_limits_of_several_numbers_hold_and_do_not_hold_back(seed: int) -> None:
    """A body on the edge of the possible: x = y + z, one number of it known well."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(6, 4))
    edge = np.array([[-1.0, 1, 1, 0], [1, -1, 1, 0], [1, 1, -1, 0]])
    z = np.array([0.7, 0.4, 0.7 - 0.4])
    step = limited(rows, edge, z)
    assert np.min(edge[:, :-1] @ (z + step)) > -ROUND_OFF

    def cost(d: np.ndarray) -> float:
        return float(np.sum((rows[:, :-1] @ d + rows[:, -1]) ** 2))

    inside = {"type": "ineq", "fun": lambda d: edge[:, :-1] @ (z + d)}
    best = minimize(cost, np.zeros(3), constraints=[inside], method="SLSQP", tol=1e-14)
    assert cost(step) <= best.fun * (1 + 1e-6) + 1e-9


def test_limits_that_are_touched_are_known() -> None:
    limits = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    assert active(limits, np.array([0.0, 0.7])).tolist() == [True, False]
