"""The operations of a tape on plain numbers, as JAX would carry them out."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_WHOLE = np.iinfo(np.int64)


def _remainder(x: Any, y: Any) -> Any:
    """JAX's `rem` has the sign of the dividend; of whole numbers by zero it is the dividend."""
    if isinstance(x, float):
        return np.fmod(x, y)
    return x if y == 0 else x - y * _divided(x, y)


def _divided(x: Any, y: Any) -> Any:
    """Whole numbers are divided towards zero, and by zero to −1, as XLA does."""
    if isinstance(x, float):
        return np.float64(x) / np.float64(y)
    if y == 0:
        return -1
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _sign(x: Any) -> Any:
    """±1, or x itself where it is ±0 or NaN."""
    if x == 0 or x != x:
        return x
    return type(x)(1) if x > 0 else type(x)(-1)


def _whole(x: Any) -> int:
    """The fraction is cut off; NaN is 0, and what is too large is the largest number."""
    return 0 if x != x else int(min(max(x, int(_WHOLE.min)), int(_WHOLE.max)))


def _round_away(x: float) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def _by_jax(function: Callable[..., Any]) -> Callable[[float], Any]:
    """A function that neither Python nor NumPy has, worked out now even inside a trace."""

    def apply(x: float) -> Any:
        with jax.ensure_compile_time_eval():
            return np.asarray(function(jnp.asarray(x, dtype=float)))

    return apply


ON_NUMBERS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "add": lambda x, y: x + y,
    "and": lambda x, y: x & y,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "digamma": _by_jax(lax.digamma),
    "div": _divided,
    "eq": lambda x, y: x == y,
    "erf": math.erf,
    "erf_inv": _by_jax(lax.erf_inv),
    "erfc": math.erfc,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "is_finite": np.isfinite,
    "le": lambda x, y: x <= y,
    "lgamma": _by_jax(lax.lgamma),
    "log": np.log,
    "log1p": np.log1p,
    "logistic": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "lt": lambda x, y: x < y,
    "max": np.maximum,
    "min": np.minimum,
    "mul": lambda x, y: x * y,
    "ne": lambda x, y: x != y,
    "neg": lambda x: -x,
    "not": lambda x: not x if isinstance(x, bool) else ~x,
    "or": lambda x, y: x | y,
    "pow": lambda x, y: np.float64(x) ** np.float64(y),
    "rem": _remainder,
    "round_away": _round_away,
    "round_even": np.rint,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "select": lambda condition, if_false, if_true: if_true if condition else if_false,
    "sign": _sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "sub": lambda x, y: x - y,
    "tan": np.tan,
    "tanh": np.tanh,
    "to_bool": bool,
    "to_float": float,
    "to_int": _whole,
    "xor": lambda x, y: x ^ y,
}


def carried_out(name: str, values: list[Any]) -> Any:
    """An operation on numbers; what has no value is NaN or infinite, without a warning."""
    with np.errstate(all="ignore"):
        return ON_NUMBERS[name](*values)
