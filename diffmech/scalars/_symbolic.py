"""Scalars that are SymPy's expressions: a tape as formulas to compute with further."""

import importlib
import math
from fractions import Fraction
from typing import Any

from ._algebra import AbstractAlgebra
from ._notation import as_quotient
from ._unknown import NotScalar

_SAME_NAME = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "digamma", "erf"),
    *("erfc", "exp", "floor", "log", "sign", "sin", "sinh", "sqrt", "tan", "tanh"),
)
_OTHER_NAME = {
    "abs": "Abs",
    "and": "And",
    "ceil": "ceiling",
    "eq": "Eq",
    "erf_inv": "erfinv",
    "ge": "Ge",
    "gt": "Gt",
    "le": "Le",
    "lt": "Lt",
    "max": "Max",
    "min": "Min",
    "ne": "Ne",
    "not": "Not",
    "or": "Or",
    "pow": "Pow",
    "xor": "Xor",
}


def require_sympy() -> Any:
    """The package; a sentence that says how to get it if it is not there."""
    try:
        return importlib.import_module("sympy")
    except ModuleNotFoundError as error:
        raise ValueError(
            "SymPy is needed for symbolic expressions, but is not installed: `pip install sympy`, "
            "or `pip install 'diffmech[symbolic]'`"
        ) from error


class Symbolic(AbstractAlgebra):
    """SymPy's arithmetic; numbers are fractions where that is what they are.

    Raises:
        ValueError: SymPy is not installed.
        NotScalar: an operation has no formula (bits of whole numbers).
    """

    def constant(self, value: float | int | bool) -> Any:
        """1/12 rather than 0.0833, 9.81 as it is."""
        sympy = require_sympy()
        if isinstance(value, bool | int):
            return sympy.sympify(value)
        if not math.isfinite(value):
            return sympy.nan if value != value else sympy.oo if value > 0 else -sympy.oo
        above, below = as_quotient(abs(value))
        sign = -1 if value < 0 else 1
        if below != 1 or Fraction(value).denominator <= 8:
            return sympy.Rational(sign * Fraction(above) / below)
        return sympy.Float(repr(value))

    def operate(self, name: str, *arguments: Any) -> Any:
        """The expression of one operation, by SymPy's own functions."""
        sympy = require_sympy()
        if name in _SAME_NAME:
            return getattr(sympy, name)(*arguments)
        if name in _OTHER_NAME:
            return getattr(sympy, _OTHER_NAME[name])(*arguments)
        rule = _RULES.get(name)
        if rule is None:
            raise NotScalar(f"SymPy has no formula for `{name}`: print the equations as text")
        return rule(sympy, *arguments)

    def sincos(self, x: Any) -> tuple[Any, Any]:
        """Both as expressions; SymPy shares nothing between them."""
        sympy = require_sympy()
        return sympy.sin(x), sympy.cos(x)


def _chosen(sympy: Any, condition: Any, if_false: Any, if_true: Any) -> Any:
    return sympy.Piecewise((if_true, condition), (if_false, True))


def _truth_as_number(sympy: Any, x: Any) -> Any:
    return sympy.Piecewise((1, x), (0, True)) if getattr(x, "is_Boolean", False) else x


def _whole(sympy: Any, x: Any) -> Any:
    x = _truth_as_number(sympy, x)
    return x if x.is_integer else sympy.sign(x) * sympy.floor(sympy.Abs(x))


_RULES: dict[str, Any] = {
    "add": lambda sympy, x, y: x + y,
    "cbrt": lambda sympy, x: sympy.sign(x) * sympy.cbrt(sympy.Abs(x)),
    "div": lambda sympy, x, y: x / y,
    "exp2": lambda sympy, x: 2**x,
    "expm1": lambda sympy, x: sympy.exp(x) - 1,
    "is_finite": lambda sympy, x: sympy.true,
    "lgamma": lambda sympy, x: sympy.log(sympy.Abs(sympy.gamma(x))),
    "log1p": lambda sympy, x: sympy.log(1 + x),
    "logistic": lambda sympy, x: 1 / (1 + sympy.exp(-x)),
    "mul": lambda sympy, x, y: x * y,
    "neg": lambda sympy, x: -x,
    "rem": lambda sympy, x, y: sympy.sign(x) * sympy.Mod(sympy.Abs(x), sympy.Abs(y)),
    "round_away": lambda sympy, x: sympy.sign(x) * sympy.floor(sympy.Abs(x) + sympy.Rational(1, 2)),
    "rsqrt": lambda sympy, x: 1 / sympy.sqrt(x),
    "select": _chosen,
    "sub": lambda sympy, x, y: x - y,
    "to_bool": lambda sympy, x: x if getattr(x, "is_Boolean", False) else sympy.Ne(x, 0),
    "to_float": _truth_as_number,
    "to_int": _whole,
}
