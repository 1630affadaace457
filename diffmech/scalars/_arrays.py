"""Scalars that are NumPy arrays, one entry a lane: nothing is compiled."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ._algebra import AbstractAlgebra
from ._numbers import ON_NUMBERS
from ._tape import Register, Tape


def _one_by_one(name: str) -> Callable[..., Any]:
    """What NumPy has no function of arrays for."""
    return np.vectorize(ON_NUMBERS[name])


def _by_kind(name: str, of_floats: Callable[..., Any]) -> Callable[..., Any]:
    """Whole numbers have a rule of their own."""
    of_whole = _one_by_one(name)

    def apply(x: Any, y: Any) -> Any:
        return (of_floats if np.result_type(x, y).kind == "f" else of_whole)(x, y)

    return apply


_LONELY = ("digamma", "erf", "erf_inv", "erfc", "lgamma", "round_away", "to_int")
_ON_ARRAYS: dict[str, Callable[..., Any]] = {
    **{name: _one_by_one(name) for name in _LONELY},
    "div": _by_kind("div", np.divide),
    "not": np.invert,
    "pow": np.power,
    "rem": _by_kind("rem", np.fmod),
    "select": lambda condition, if_false, if_true: np.where(condition, if_true, if_false),
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    "to_bool": lambda x: np.asarray(x, bool),
    "to_float": lambda x: np.asarray(x, float),
}


def on_arrays(name: str) -> Callable[..., Any]:
    """One operation of a tape as a function of arrays; the rest is as for numbers."""
    return _ON_ARRAYS.get(name) or ON_NUMBERS[name]


class Arrays(AbstractAlgebra):
    """NumPy's arithmetic."""

    def constant(self, value: float | int | bool) -> Any:
        """The number itself."""
        return value

    def operate(self, name: str, *arguments: Any) -> Any:
        """One operation; what has no value is NaN or infinite, as in lanes."""
        with np.errstate(all="ignore"):
            return on_arrays(name)(*arguments)

    def sincos(self, x: Any) -> tuple[Any, Any]:
        """NumPy has no function for both: one after the other."""
        return np.sin(x), np.cos(x)


def given(registers: Any, batch: Any) -> dict[Register, Any]:
    """What each register holds, by register: the batch's arrays have the lanes in front."""
    return {
        register: column
        for array, values in zip(jax.tree.leaves(registers), jax.tree.leaves(batch), strict=True)
        for register, column in zip(
            np.ravel(array).tolist(), np.reshape(values, (len(values), -1)).T, strict=True
        )
    }


def gathered(values: Any, lanes: int) -> np.ndarray:
    """An object array of lanes as one array, the lanes in front."""
    rows = [np.broadcast_to(np.asarray(value), (lanes,)) for value in values.ravel()]
    if not rows:
        return np.zeros((lanes, *values.shape))
    return np.stack(rows, axis=-1).reshape(lanes, *values.shape)


class ArrayProgram:
    """Some registers of a tape, worked out one after the other for any number of lanes.

    Made once, so that asking costs little more than the arithmetic.
    """

    def __init__(self, tape: Tape, registers: Any):
        self._known: dict[Register, Any] = {}
        self._steps: list[tuple[Register, Callable[..., Any], tuple[Register, ...]]] = []
        for register in tape.needed_for(registers):
            name, arguments = tape.operations[register]
            if name == "constant":
                self._known[register] = arguments[0]
            elif name != "input":
                self._steps.append((register, on_arrays(name), arguments))

    def __call__(self, given: dict[Register, Any]) -> dict[Register, Any]:
        """The values of all registers on the way, from those of the inputs.

        What has no value is NaN or infinite, as in lanes.
        """
        values = self._known | given
        with np.errstate(all="ignore"):
            for register, operate, arguments in self._steps:
                values[register] = operate(*[values[argument] for argument in arguments])
        return values
