"""Sine and cosine without branches, so that XLA vectorises them on a CPU.

XLA:CPU calls libm once for every element and function. Here the angle is reduced by a multiple of
π, which is held in three parts (W. J. Cody, W. Waite, Software Manual for the Elementary Functions,
Prentice-Hall, 1980, chapter 8), and polynomials do the rest; odd multiples change both signs. The
error is below 2.3e-16 up to `LARGEST_ANGLE`, half of it from rounding what is left of the angle.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

# π in parts: products of the first two, of 26 bits, with whole numbers below 2²⁶ are exact.
_PARTS = (3.1415926218032837, 3.1786509424591713e-08, 1.2246467991473532e-16)
_HALF_TURNS = 0.3183098861837907  # 1/π, in a radian
_ONES_LAST = 1.5 * 2.0**52
# [rad] 2²⁶ half turns are 2.1e8 rad; beyond, the result is NaN.
LARGEST_ANGLE = 2e8
# Fits in x² on |x| < π/2 of (sin x / x − 1)/x² and (cos x − 1 + x²/2)/x⁴: least errors of the sine
# and cosine themselves, 4e-19 and 9e-18 at most.
_SINE = (
    -0.16666666666666666,
    0.008333333333333316,
    -0.00019841269841254966,
    2.7557319219160833e-06,
    -2.505210761669045e-08,
    1.6058977292642743e-10,
    -7.643969663988074e-13,
    2.7314368769379893e-15,
)
_COSINE = (
    0.04166666666666583,
    -0.0013888888888830013,
    2.4801587285776778e-05,
    -2.755731706781507e-07,
    2.087659255630339e-09,
    -1.1463634476567385e-11,
    4.616124812268783e-14,
)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def _reduced(x: Any, half_turns: Any) -> Any:
    """x less a number of half turns; NaN where it is too large for that."""
    rest = ((x - half_turns * _PARTS[0]) - half_turns * _PARTS[1]) - half_turns * _PARTS[2]
    return jnp.where(jnp.abs(x) < LARGEST_ANGLE, rest, jnp.nan)


def _rounded(x: Any) -> tuple[Any, Any]:
    """The nearest whole number, and an integer with the sign bit of (−1)ⁿ (|x| < 2⁵¹).

    The ones of a number added to 1.5·2⁵² stand in its last bits. (That sum would round, too, but
    XLA takes the addition and its reversal for nothing.)
    """
    whole = jnp.round(x)
    bits = lax.bitcast_convert_type(whole + _ONES_LAST, jnp.int64)
    return whole, lax.shift_left(bits, lax.full_like(bits, 63))


def _negated(sign: Any, value: Any) -> Any:
    """−value where the sign bit of an integer is set."""
    flipped = lax.bitwise_xor(lax.bitcast_convert_type(value, jnp.int64), sign)
    return lax.bitcast_convert_type(flipped, jnp.float64)


def _one_sine(x: Any) -> Any:
    """sin x = (−1)ᵏ sin(x − k π)."""
    half_turns, sign = _rounded(x * _HALF_TURNS)
    rest = _reduced(x, half_turns)
    square = rest * rest
    return _negated(sign, rest + rest * square * _polynomial(_SINE, square))


def _one_cosine(x: Any) -> Any:
    """cos x = (−1)ᵏ cos(x − k π)."""
    half_turns, sign = _rounded(x * _HALF_TURNS)
    rest = _reduced(x, half_turns)
    square = rest * rest
    series = (1.0 - 0.5 * square) + square * square * _polynomial(_COSINE, square)
    return _negated(sign, series)


def _both(x: Any) -> tuple[Any, Any]:
    """Sine and cosine in one loop over the lanes.

    XLA puts what two results share into loops of their own, five of them here. Results without
    anything in common it computes side by side in one loop, and there LLVM finds out what they do
    share. The barrier keeps XLA from seeing it first, and is gone before loops are made.
    """
    return _one_sine(x), _one_cosine(lax.optimization_barrier(x))


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
