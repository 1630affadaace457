"""Guesses are weighted by what they miss, and moved without leaving what is possible."""

import numpy as np
import pytest

from diffmech.identification._sieve import _weights


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e6])
def test_a_fifth_of_the_guesses_counts_at_least(spread: float) -> None:
    cost = spread * np.random.default_rng(0).exponential(size=1000)
    weights = _weights(cost)
    assert np.sum(weights) == pytest.approx(1.0)
    assert 1 / np.sum(weights**2) >= 0.199 * len(cost), "so many count"
    assert np.argmax(weights) == np.argmin(cost)
    assert np.all(np.diff(weights[np.argsort(cost)]) <= 0), "the better, the more"


def test_motions_that_failed_have_no_weight() -> None:
    cost = np.full(1000, np.inf)
    assert not np.any(_weights(cost))
    cost[[3, 500]] = 1.0, 1e9
    weights = _weights(cost)
    assert np.flatnonzero(weights)[0] == 3
    assert np.all(np.isfinite(weights))
    assert np.sum(weights) == pytest.approx(1.0)
