"""Tests of residuals: noise passes, what is not noise does not, and long records are counted."""

import numpy as np
import pytest

from diffmech.identification._whiteness import whiteness


@pytest.mark.parametrize("count", [200, 400_000])
def test_noise_is_called_noise_and_a_slow_wave_in_it_is_not(count: int) -> None:
    """Of 400 000 samples the runs' variance has products beyond 64-bit integers."""
    noise = np.random.default_rng(0).normal(size=(count, 1))
    tested = whiteness([noise])
    assert tested.white, tested.sentence
    assert np.all(np.abs(tested.runs) < 3)
    wave = 0.8 * np.sin(np.linspace(0, 12, count))[:, None]
    assert not whiteness([noise + wave]).white
