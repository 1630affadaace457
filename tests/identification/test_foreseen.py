"""For how long a run can follow a fitted motion."""

import numpy as np
import pytest

from diffmech.identification._foreseen import foreseen
from diffmech.identification._residuals import Linear
from diffmech.identification._segments import Segments

from ..tolerances import ROUND_OFF

LENGTH = 0.5  # of a segment [s]


def about_a_saddle(rate: float, count: int, noise: float) -> tuple[Segments, Linear, np.ndarray]:
    """x'' = rate² x in two records, of which x is measured, and the motion has size 1."""
    c, s = np.cosh(rate * LENGTH), np.sinh(rate * LENGTH)
    flow = np.array([[c, s / rate], [rate * s, c]])
    starts = 7.0 + LENGTH * np.arange(count)
    record = np.repeat([0, 1], count)
    cut = Segments(record, np.tile(starts, 2), np.tile(starts + LENGTH, 2))
    rows = np.zeros((1, 2 * count, 1, 4))
    rows[..., 0] = 1 / noise
    none = np.zeros(0)
    here = Linear(none, rows, none, np.tile(flow, (1, 2 * count, 1, 1)), none, none)
    return cut, here, np.ones((2 * count, 2))


@pytest.mark.parametrize(("rate", "noise"), [(2.0, 1e-2), (3.0, 1e-4)])
def test_rounding_grows_to_the_noise_when_motions_with_random_rounding_do(
    rate: float, noise: float
) -> None:
    cut, here, states = about_a_saddle(rate, 60, noise)
    rng = np.random.default_rng(1)
    errors, k = np.finfo(float).eps * rng.normal(size=(20_000, 2)), 0
    while np.std(errors[:, 0]) <= noise:
        errors = errors @ here.flow[0, 0].T + np.finfo(float).eps * rng.normal(size=errors.shape)
        k += 1
    assert 5.0 < k * LENGTH < 25.0
    # Standard deviations of a sample grow by a factor of 2.7 or more in each segment.
    assert foreseen(cut, here, states) == pytest.approx(k * LENGTH, abs=ROUND_OFF)


def test_a_regular_motion_is_followed_to_its_end() -> None:
    cut, here, states = about_a_saddle(1e-3, 60, 1e-4)
    assert foreseen(cut, here, states) == np.inf
