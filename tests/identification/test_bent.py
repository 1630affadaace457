"""Steps that shrink slowly are bent by what the last ones have shown."""

import numpy as np

from diffmech.identification._bent import Steps


def steps_to_the_bottom(curvatures: np.ndarray, bend: bool) -> int:
    """How many steps −g bring a quadratic valley, of these curvatures, down to 1e-8."""
    x, last = np.ones(len(curvatures)), Steps()
    for count in range(200):
        if np.linalg.norm(x) < 1e-8:
            return count
        plain = -curvatures * x
        better = last.bent(x, plain, lambda step: step) if bend else None
        x = x + (plain if better is None else better)
    return 200


def test_bent_steps_go_down_a_valley_that_plain_ones_hardly_do() -> None:
    curvatures = np.array([0.05, 0.2, 0.7, 1.0, 1.3])  # of what Gauss and Newton's problem has
    assert steps_to_the_bottom(curvatures, bend=False) == 200
    assert steps_to_the_bottom(curvatures, bend=True) < 30


def test_steps_that_shrink_fast_stay_as_they_are() -> None:
    x, last = np.ones(2), Steps()
    for _ in range(5):
        step = -0.9 * x
        assert last.bent(x, step, lambda step: step) is None
        x = x + step


def test_nothing_is_bent_by_a_curvature_that_is_not_there() -> None:
    """Along a ridge steps grow: what they say of the curvature is not used."""
    x, last = np.ones(2), Steps()
    for _ in range(4):
        step = 0.5 * x
        assert last.bent(x, step, lambda step: step) is None
        x = x + step
