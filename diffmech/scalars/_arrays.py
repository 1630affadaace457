"""Scalars that are NumPy arrays, one entry a lane: for what is asked once, and not compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._numbers import ON_NUMBERS
from ._tape import Place, Tape
from ._unknown import NotScalar

_OWN: dict[str, Callable[..., Any]] = {
    "div": np.divide,
    "not": np.logical_not,
    "select": lambda condition, if_false, if_true: np.where(condition, if_true, if_false),
    "sign": np.sign,
    "to_bool": lambda x: np.asarray(x, bool),
    "to_float": lambda x: np.asarray(x, float),
    "to_int": lambda x: np.asarray(x, int),
}
# These are the same for arrays as for numbers.
_ALIKE = {
    *("abs", "acos", "add", "and", "asin", "atan", "atan2", "cos", "cosh", "eq", "exp", "ge"),
    *("gt", "is_finite", "le", "log", "lt", "max", "min", "mul", "ne", "neg", "or", "pow"),
    *("rsqrt", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "xor"),
}


def on_arrays(name: str) -> Callable[..., Any]:
    """An operation of a tape for arrays of floats and truths."""
    if name in _OWN:
        return _OWN[name]
    if name not in _ALIKE:
        raise NotScalar(f"there is no `{name}` of arrays here yet")
    return ON_NUMBERS[name]


class ArrayProgram:
    """Some places of a tape, worked out one after the other for any number of lanes.

    Made once, so that asking costs little more than the arithmetic.
    """

    def __init__(self, tape: Tape, places: Any):
        self._known: dict[Place, Any] = {}
        self._steps: list[tuple[Place, Callable[..., Any], tuple[Place, ...]]] = []
        for place in tape.needed_for(places):
            name, arguments = tape.operations[place]
            if name == "constant":
                self._known[place] = arguments[0]
            elif name != "input":
                self._steps.append((place, on_arrays(name), arguments))

    def __call__(self, given: dict[Place, Any]) -> dict[Place, Any]:
        """The values of all places on the way, from those of the inputs.

        What has no value is NaN or infinite, as in lanes.
        """
        values = self._known | given
        with np.errstate(all="ignore"):
            for place, operate, arguments in self._steps:
                values[place] = operate(*[values[argument] for argument in arguments])
        return values
