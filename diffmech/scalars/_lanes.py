"""Scalars that are lanes: JAX arrays of shape (lanes,), or () where all lanes agree."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import erf, erfc

from ._algebra import AbstractAlgebra
from ._sincos import cosine, sincos, sine

_PLAIN: dict[str, Callable[..., Any]] = {
    "abs": lax.abs,
    "acos": lax.acos,
    "acosh": lax.acosh,
    "add": lax.add,
    "and": lax.bitwise_and,
    "asin": lax.asin,
    "asinh": lax.asinh,
    "atan": lax.atan,
    "atan2": lax.atan2,
    "atanh": lax.atanh,
    "cbrt": lax.cbrt,
    "ceil": lax.ceil,
    "cos": cosine,
    "cosh": lax.cosh,
    "digamma": lax.digamma,
    "div": lax.div,
    "eq": lax.eq,
    "erf": erf,
    "erf_inv": lax.erf_inv,
    "erfc": erfc,
    "exp": lax.exp,
    "exp2": lax.exp2,
    "expm1": lax.expm1,
    "floor": lax.floor,
    "ge": lax.ge,
    "gt": lax.gt,
    "is_finite": lax.is_finite,
    "le": lax.le,
    "lgamma": lax.lgamma,
    "log": lax.log,
    "log1p": lax.log1p,
    "logistic": lax.logistic,
    "lt": lax.lt,
    "max": lax.max,
    "min": lax.min,
    "mul": lax.mul,
    "ne": lax.ne,
    "neg": lax.neg,
    "not": lax.bitwise_not,
    "or": lax.bitwise_or,
    "pow": lax.pow,
    "rem": lax.rem,
    "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "rsqrt": lax.rsqrt,
    "select": lambda condition, if_false, if_true: lax.select(condition, if_true, if_false),
    "sign": lax.sign,
    "sin": sine,
    "sinh": lax.sinh,
    "sqrt": lax.sqrt,
    "sub": lax.sub,
    "tan": lax.tan,
    "tanh": lax.tanh,
    "xor": lax.bitwise_xor,
}


class Lanes(AbstractAlgebra):
    """Vectorised arithmetic."""

    def constant(self, value: float | int | bool) -> Any:
        """A NumPy number of JAX's default type for its kind."""
        return np.asarray(value, dtype=jnp.result_type(type(value)))

    def operate(self, name: str, *arguments: Any) -> Any:
        """One JAX operation on arrays brought to one shape."""
        if name in _CONVERT:
            return lax.convert_element_type(arguments[0], jnp.result_type(_CONVERT[name]))
        shape = np.broadcast_shapes(*(np.shape(x) for x in arguments))
        return _PLAIN[name](*(_spread(x, shape) for x in arguments))

    def sincos(self, x: Any) -> tuple[Any, Any]:
        """Both by one reduction of the angle, without branches (`sincos`)."""
        return sincos(x)


_CONVERT = {"to_float": float, "to_int": int, "to_bool": bool}


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    return x if np.shape(x) == shape else lax.broadcast(jnp.asarray(x), shape)
