"""Functions written for plain numbers and NumPy, traced: scalars that write what is done to them.

NumPy calls the methods of an array's entries where they are objects, so that `np.sin(q)` writes
"sin" for every entry. What needs a number to go on, an `if` or `math.sin`, raises.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..scalars import Register, Tape

_FUNCTIONS = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")},
    "sign": "sign",
    "arcsinh": "asinh",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
}


class NotPlainError(TypeError):
    """A scalar was asked for its value."""


class WritingScalar:
    """A register on a tape that writes arithmetic behind itself."""

    __slots__ = ("_tape", "register")

    def __init__(self, tape: Tape, register: Register):
        self._tape, self.register = tape, register

    def _other(self, value: Any) -> Register | None:
        if isinstance(value, WritingScalar):
            return value.register
        if isinstance(value, int | float | np.number):
            return self._tape.constant(float(value))
        return None

    def _binary(self, name: str, other: Any, swapped: bool = False) -> Any:
        register = self._other(other)
        if register is None:
            return NotImplemented
        pair = (register, self.register) if swapped else (self.register, register)
        return WritingScalar(self._tape, self._tape.operate(name, *pair))

    def __add__(self, other: Any) -> Any:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._binary("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("sub", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._binary("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("mul", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("div", other, True)

    def __neg__(self) -> Any:
        return WritingScalar(self._tape, self._tape.operate("neg", self.register))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return WritingScalar(self._tape, self._tape.operate("abs", self.register))

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, int | float | np.number) and float(power) == int(power):
            return WritingScalar(self._tape, self._tape.power(self.register, int(power)))
        return self._binary("pow", power)

    def __bool__(self) -> bool:
        raise NotPlainError("a value decides")

    def __float__(self) -> float:
        raise NotPlainError("a plain number is needed")

    def __lt__(self, other: Any) -> bool:
        raise NotPlainError("a value decides")

    __le__ = __gt__ = __ge__ = __lt__

    def __getattr__(self, name: str) -> Callable[[], Any]:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        register = self._tape.operate(_FUNCTIONS[name], self.register)
        return lambda: WritingScalar(self._tape, register)


def written_by_objects(tape: Tape, function: Callable[..., Any], arguments: Any) -> np.ndarray:
    """What a function of plain numbers does, on the tape.

    Raises:
        Exception: whatever the function does when it is given no numbers.
    """

    def scalars(registers: np.ndarray) -> Any:
        whole = np.empty(np.shape(registers), dtype=object)
        for index, register in np.ndenumerate(registers):
            whole[index] = WritingScalar(tape, int(register))
        return whole if whole.shape else whole[()]

    result = np.asarray(function(*jax.tree.map(scalars, tuple(arguments))), dtype=object)
    registers = np.empty(result.shape, dtype=np.int64)
    for index, value in np.ndenumerate(result):
        plain = isinstance(value, int | float | np.number)
        registers[index] = tape.constant(float(value)) if plain else value.register
    return registers
