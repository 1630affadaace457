"""Sine and cosine without branches, so that XLA vectorises them on a CPU.

XLA:CPU calls libm once for every element and function. Here the angle is reduced by a multiple of
π/2, which is held in three parts (Cody and Waite), and polynomials do the rest. The error is below
2e-16 up to `LARGEST_ANGLE`.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

# π/2 in parts: products of the first two, of 26 bits, with whole numbers below 2²⁷ are exact.
_PARTS = (1.5707963109016418, 1.5893254712295857e-08, 6.123233995736766e-17)
_ONES_LAST = 1.5 * 2.0**52
# [rad] 2²⁷ quarter turns are 2.1e8 rad; beyond, the result is NaN.
LARGEST_ANGLE = 2e8
# Chebyshev fits in x² on |x| < π/4 of (sin x / x − 1)/x² and (cos x − 1 + x²/2)/x⁴, with the
# largest errors 2e-17 and 1.3e-18; the last one of the sine again, on |x| < π/2, with 4e-19.
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
_WIDE_SINE = (
    -0.16666666666666666,
    0.008333333333333316,
    -0.00019841269841254966,
    2.7557319219160833e-06,
    -2.505210761669045e-08,
    1.6058977292642743e-10,
    -7.643969663988074e-13,
    2.7314368769379893e-15,
)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def _reduced(x: Any, quarters: Any) -> Any:
    """x less a whole number of quarter turns."""
    return ((x - quarters * _PARTS[0]) - quarters * _PARTS[1]) - quarters * _PARTS[2]


def _rounded(x: Any) -> tuple[Any, Any]:
    """The nearest whole number, as a float and as the last bits of an integer (|x| < 2⁵¹).

    The ones of a number added to 1.5·2⁵² stand in its last bits. (That sum would round, too, but
    XLA takes the addition and its reversal for nothing.)
    """
    whole = jnp.round(x)
    return whole, lax.bitcast_convert_type(whole + _ONES_LAST, jnp.int64)


def _negated_if(bits: Any, which: int, value: Any) -> Any:
    """−value where bit number `which` of an integer is set."""
    sign = lax.shift_left(
        lax.bitwise_and(bits, _filled(bits, 1 << which)), _filled(bits, 63 - which)
    )
    flipped = lax.bitwise_xor(lax.bitcast_convert_type(value, jnp.int64), sign)
    return lax.bitcast_convert_type(flipped, jnp.float64)


def _filled(like: Any, number: int) -> Any:
    return lax.full_like(like, number)


def _guarded(x: Any, rest: Any) -> Any:
    """NaN where the angle is too large to be reduced."""
    return jnp.where(jnp.abs(x) < LARGEST_ANGLE, rest, jnp.nan)


def _both(x: Any) -> tuple[Any, Any]:
    quarters, bits = _rounded(x * 0.6366197723675814)  # 2/π
    rest = _guarded(x, _reduced(x, quarters))
    square = rest * rest
    sine = rest + rest * square * _polynomial(_SINE, square)
    cosine = (1.0 - 0.5 * square) + square * square * _polynomial(_COSINE, square)
    # Odd quarters swap the two, and signs change every second one.
    swap = lax.bitwise_and(bits, _filled(bits, 1)) == 1
    return (
        _negated_if(bits, 1, jnp.where(swap, cosine, sine)),
        _negated_if(bits + 1, 1, jnp.where(swap, sine, cosine)),
    )


def _wide_sine(x: Any, bits: Any, quarters: Any) -> Any:
    rest = _guarded(x, _reduced(x, quarters))
    square = rest * rest
    return _negated_if(bits, 0, rest + rest * square * _polynomial(_WIDE_SINE, square))


def _one_sine(x: Any) -> Any:
    half_turns, bits = _rounded(x * 0.3183098861837907)  # 1/π
    return _wide_sine(x, bits, 2.0 * half_turns)


def _one_cosine(x: Any) -> Any:
    """cos x = (−1)ᵏ sin(x − (2k − 1) π/2)."""
    half_turns, bits = _rounded(x * 0.3183098861837907 + 0.5)
    return _wide_sine(x, bits, 2.0 * half_turns - 1.0)


def _chosen(vectorised: Any, native: Any, x: Any) -> Any:
    """The library's own off CPUs and in float32."""
    if x.dtype != jnp.float64:
        return native(x)
    return lax.platform_dependent(x, cpu=vectorised, default=native)


@jax.custom_jvp
def sincos(x: Any) -> tuple[Any, Any]:
    """(sin x, cos x) for |x| < 2e8, NaN beyond."""
    return _chosen(_both, lambda x: (jnp.sin(x), jnp.cos(x)), x)


@jax.custom_jvp
def sine(x: Any) -> Any:
    """sin x alone, for less than both; NaN beyond 2e8."""
    return _chosen(_one_sine, jnp.sin, x)


@jax.custom_jvp
def cosine(x: Any) -> Any:
    """cos x alone, for less than both; NaN beyond 2e8."""
    return _chosen(_one_cosine, jnp.cos, x)


@sincos.defjvp
def _sincos_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    s, c = sincos(x)
    return (s, c), (c * dx, -s * dx)


@sine.defjvp
def _sine_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    s, c = sincos(x)
    return s, c * dx


@cosine.defjvp
def _cosine_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    s, c = sincos(x)
    return c, -s * dx
