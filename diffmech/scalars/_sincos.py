"""Sine and cosine together, without branches, so that XLA vectorises them on a CPU.

XLA:CPU calls libm once for every element and function. Here the angle is reduced by a multiple of
π/2, which is held in three parts (Cody and Waite), and two polynomials do the rest. The error is
below 2e-16 up to `LARGEST_ANGLE`.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

# π/2 in parts of 33 bits: their products with whole numbers below 2²⁰ are exact.
_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_SPLIT = 2.0**20  # the multiple is taken apart there, so that it may have 40 bits
# [rad] Beyond, the result is NaN: neighbouring numbers are 2e-4 rad apart there.
LARGEST_ANGLE = 1.7e12
# Chebyshev fits in x² on |x| < π/4 of (sin x / x − 1)/x² and (cos x − 1 + x²/2)/x⁴, with the
# largest errors 2e-17 and 1.3e-18.
_SINE = (
    -0.16666666666666666,
    0.008333333333330948,
    -0.00019841269836756774,
    2.7557316101617874e-06,
    -2.505113165023518e-08,
    1.5918115263265974e-10,
)
_COSINE = (
    0.041666666666666664,
    -0.0013888888888887398,
    2.480158729876456e-05,
    -2.7557317271145144e-07,
    2.087614614655861e-09,
    -1.1382623647474604e-11,
)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def _vectorised(x: Any) -> tuple[Any, Any]:
    multiple = jnp.round(x * 0.6366197723675814)  # 2/π
    high = jnp.round(multiple * (1.0 / _SPLIT)) * _SPLIT
    low = multiple - high
    rest = ((x - high * _PARTS[0]) - low * _PARTS[0]) - high * _PARTS[1]
    rest = (rest - low * _PARTS[1]) - multiple * _PARTS[2]
    square = rest * rest
    sine = rest + rest * square * _polynomial(_SINE, square)
    cosine = (1.0 - 0.5 * square) + square * square * _polynomial(_COSINE, square)
    # The quadrant: odd multiples swap the two, and signs change every second one.
    half = jnp.floor(multiple * 0.5)
    odd = multiple - 2.0 * half  # 0 or 1
    sign = 1.0 - 2.0 * (half - 2.0 * jnp.floor(half * 0.5))  # 1 or −1
    swap = odd > 0.5
    sound = jnp.where(jnp.abs(x) < LARGEST_ANGLE, sign, jnp.nan)
    return (
        sound * jnp.where(swap, cosine, sine),
        sound * jnp.where(swap, -sine, cosine),
    )


def _native(x: Any) -> tuple[Any, Any]:
    return jnp.sin(x), jnp.cos(x)


@jax.custom_jvp
def sincos(x: Any) -> tuple[Any, Any]:
    """(sin x, cos x) for |x| < 1.7e12, NaN beyond; the library's own off CPUs and in float32."""
    if x.dtype != jnp.float64:
        return _native(x)
    return lax.platform_dependent(x, cpu=_vectorised, default=_native)


@sincos.defjvp
def _sincos_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    sine, cosine = sincos(x)
    return (sine, cosine), (cosine * dx, -sine * dx)
