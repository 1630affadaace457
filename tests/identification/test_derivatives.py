"""Rates of samples: evenly spaced ones take a short way to the same numbers."""

import numpy as np

from diffmech.identification._derivatives import chosen_half, local_polynomials


def test_evenly_spaced_samples_give_what_nearly_even_ones_give() -> None:
    """Times off by 1e-5 of their spacing are not even: each window has its own equations."""
    rng = np.random.default_rng(0)
    even = np.linspace(0.0, 3.0, 301)
    uneven = even + 1e-7 * rng.uniform(-1, 1, len(even))
    for half in (0.044, 0.124):
        short, usual = (
            local_polynomials(ts, np.sin(3 * ts) + 100.0, even, half, 4) for ts in (even, uneven)
        )
        inner = np.isfinite(short.spare) & np.isfinite(usual.spare)
        assert np.sum(inner) > 270
        np.testing.assert_array_equal(short.spare[inner], usual.spare[inner])
        np.testing.assert_allclose(short.states[inner], usual.states[inner], rtol=0, atol=1e-2)
        sizes = np.sqrt(np.diagonal(usual.covariances[inner][100]))
        size = np.outer(sizes, sizes)
        np.testing.assert_allclose(
            short.covariances[inner] / size, usual.covariances[inner] / size, rtol=0, atol=1e-3
        )
    noisy = np.sin(3 * even) + 0.01 * rng.normal(size=len(even))
    np.testing.assert_allclose(
        chosen_half(even, noisy, None, 4), chosen_half(uneven, noisy, None, 4), rtol=1e-4
    )
