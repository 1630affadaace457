"""Sine and cosine together: right to the last digit for large angles too, with derivatives."""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from diffmech.scalars import LARGEST_ANGLE, sincos
from diffmech.scalars._sincos import cosine, sine

from ..tolerances import COMPOSED

# [1] absolute. The reduced angle, up to π/2, is rounded twice, by at most 1.1e-16 each time; both
# where the function is steep are rare: 2.23e-16 was the worst of 18 million.
LAST_DIGIT = 2.3e-16


def _one_by_one(x: Any) -> tuple[Any, Any]:
    return sine(x), cosine(x)


def _exact(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with mpmath.workdps(60):
        numbers = [mpmath.mpf(float(value)) for value in x]
        return (
            np.array([mpmath.sin(number) for number in numbers]),
            np.array([mpmath.cos(number) for number in numbers]),
        )


def _worst(x: np.ndarray, function: Any = sincos) -> float:
    """The largest error against 60 digits."""
    found = function(jnp.asarray(x))
    errors = [
        float(abs(mpmath.mpf(float(ours)) - exact))
        for column, exacts in zip(found, _exact(x), strict=True)
        for ours, exact in zip(np.asarray(column), exacts, strict=True)
    ]
    return float(np.max(errors))  # NaN if any is


@pytest.mark.parametrize("largest", [1e-8, 0.7, 10.0, 1e4, 1e6, 1e8, 0.99 * LARGEST_ANGLE])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("function", [sincos, _one_by_one])
def test_the_last_digit_is_right_up_to(largest: float, compiled: bool, function: Any) -> None:
    x = np.random.default_rng(0).uniform(-largest, largest, 1500)
    assert _worst(x, jax.jit(function) if compiled else function) < LAST_DIGIT


def test_the_last_digit_is_right_near_multiples_of_a_right_angle() -> None:
    rng, most = np.random.default_rng(1), int(0.6 * LARGEST_ANGLE)
    counts = np.concatenate([np.arange(-40, 41), rng.integers(-most, most, 300)])
    near = counts * (np.pi / 2)
    x = np.concatenate([near, np.nextafter(near, np.inf), near + 1e-9, near + np.pi / 4])
    assert _worst(x) < LAST_DIGIT
    assert _worst(x, _one_by_one) < LAST_DIGIT
    # The zeros themselves are right in relative terms: what is left of π there is not noise.
    small = np.arange(1, 41) * np.pi
    exact = np.array([float(value) for value in _exact(small)[0]])
    np.testing.assert_allclose(sincos(jnp.asarray(small))[0], exact, rtol=1e-9)


def test_tiny_angles_are_their_own_sines() -> None:
    x = jnp.array([0.0, -0.0, 1e-300, -1e-200, 1e-20, 3e-9])
    sine, cosine = sincos(x)
    np.testing.assert_array_equal(sine, x)
    np.testing.assert_array_equal(cosine, jnp.ones(6))


def test_what_is_no_angle_or_too_large_is_not_a_number() -> None:
    x = jnp.array([np.nan, np.inf, -np.inf, LARGEST_ANGLE, -LARGEST_ANGLE, 1e300])
    assert np.all(np.isnan(np.stack(sincos(x))))
    assert np.all(np.isfinite(np.stack(sincos(jnp.asarray(np.nextafter(LARGEST_ANGLE, 0))))))


def test_plain_numbers_and_whole_arrays_are_taken() -> None:
    np.testing.assert_allclose(sincos(0.5), (np.sin(0.5), np.cos(0.5)), rtol=1e-15)
    grid = np.linspace(-3, 3, 12).reshape(3, 4)
    np.testing.assert_allclose(sincos(jnp.asarray(grid)), (np.sin(grid), np.cos(grid)), atol=1e-15)


def test_derivatives_of_every_kind_are_those_of_sine_and_cosine() -> None:
    def both(x: Any) -> Any:
        sine, cosine = sincos(x)
        return 2 * sine + 3 * cosine * x

    def plain(x: Any) -> Any:
        return 2 * jnp.sin(x) + 3 * jnp.cos(x) * x

    x = jnp.linspace(-20.0, 20.0, 41)
    for differentiate in (
        jax.grad,
        jax.jacfwd,
        lambda f: jax.jacfwd(jax.jacfwd(f)),
        lambda f: jax.grad(jax.grad(f)),
        lambda f: jax.jacfwd(jax.grad(jax.grad(f))),
    ):
        ours, theirs = (jax.jit(jax.vmap(differentiate(f)))(x) for f in (both, plain))
        np.testing.assert_allclose(ours, theirs, atol=COMPOSED)
        alone = differentiate(both)(x[7])
        np.testing.assert_allclose(alone, theirs[7], atol=COMPOSED)


def test_it_compiles_for_graphics_processors_with_their_own_functions() -> None:
    x = jnp.linspace(0.0, 1.0, 8)
    lowered = jax.jit(sincos).trace(x).lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.sine" in lowered
    assert "stablehlo.sine" not in jax.jit(sincos).trace(x).lower().as_text()


def test_single_precision_is_left_to_the_library() -> None:
    x = jnp.linspace(-9, 9, 31, dtype=jnp.float32)
    sine, cosine = sincos(x)
    assert sine.dtype == cosine.dtype == jnp.float32
    np.testing.assert_array_equal(sine, jnp.sin(x))
