"""A list of scalar operations, each written down once.

A scalar is an integer: its register. Writing an operation that is there already gives the
old register (hash-consing), operations on constants are carried out, zeros and ones vanish.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ._numbers import carried_out
from ._unknown import NotScalar

Register: TypeAlias = int
Value: TypeAlias = float | int | bool
Kind: TypeAlias = type

_COMMUTE = frozenset({"add", "mul", "max", "min", "eq", "ne", "and", "or", "xor"})
# What comes out, where that is not of the kind of the first argument.
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "is_finite", "to_bool"), bool),
    "input": float,
    "to_float": float,
    "to_int": int,
}
_LARGEST_WHOLE = 2**63  # whole numbers are those of mathematics up to here, and do not wrap


class Operation(NamedTuple):
    """What one register holds: an operation's name, and the registers of its arguments.

    A constant is ("constant", value), an input ("input", number).
    """

    name: str
    arguments: tuple[Any, ...]


class Tape:
    """Operations on scalars, in an order in which they can be carried out."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._kinds: list[Kind] = []
        self._numbers: dict[Register, Value] = {}  # those of the constants, by register
        self._registers: dict[tuple[Any, ...], Register] = {}
        self._inputs = 0

    def __len__(self) -> int:
        return len(self.operations)

    def input(self) -> Register:
        """A new unknown scalar."""
        self._inputs += 1
        return self._write("input", self._inputs - 1)

    def constant(self, value: Any) -> Register:
        """A number or truth value."""
        value = value.item() if hasattr(value, "item") else value
        if type(value) not in (float, int, bool):
            raise NotScalar(f"{value!r} is not a real number")
        if type(value) is int and not -_LARGEST_WHOLE <= value < _LARGEST_WHOLE:
            raise NotScalar(f"the whole number {value} has more than 64 bits")
        # 1, 1.0 and True are equal in Python, and so are 0.0 and −0.0: the key tells them apart.
        return self._write("constant", value, key=(type(value), repr(value)))

    def is_constant(self, register: Register) -> bool:
        """Whether a number stands there."""
        return register in self._numbers

    def value(self, register: Register) -> Value:
        """The number that the register of a constant holds."""
        return self._numbers[register]

    def kind(self, register: Register) -> Kind:
        """Whether it is a float, an int or a bool."""
        return self._kinds[register]

    def operate(self, name: str, *registers: Register) -> Register:
        """Write an operation down, unless it can be carried out or left out."""
        numbers = self._numbers
        if all(register in numbers for register in registers):
            return self.constant(carried_out(name, [numbers[register] for register in registers]))
        simpler = _SIMPLER.get(name)
        simplified = None if simpler is None else simpler(self, *registers)
        if simplified is not None:
            return simplified
        return self._write(name, *(sorted(registers) if name in _COMMUTE else registers))

    def power(self, base: Register, exponent: int) -> Register:
        """base ** exponent by squaring."""
        if exponent < 0:
            return self.operate("div", self._like(base, 1), self.power(base, -exponent))
        if exponent == 0:
            return self._like(base, 1)
        half = self.power(base, exponent // 2) if exponent > 1 else None
        if half is None:
            return base
        square = self.operate("mul", half, half)
        return self.operate("mul", square, base) if exponent % 2 else square

    def total(self, registers: Any) -> Register:
        """The sum of registers; 0.0 of none."""
        result = None
        for register in registers:
            result = register if result is None else self.operate("add", result, register)
        return self.constant(0.0) if result is None else result

    def needed_for(self, registers: Any, known: Any = ()) -> list[Register]:
        """The registers that the given ones depend on, themselves included, in order.

        What `known` ones depend on is left out.
        """
        seen = set()
        waiting = np.ravel(registers).tolist()
        known = {int(register) for register in known}
        while waiting:
            register = waiting.pop()
            if register in seen:
                continue
            seen.add(register)
            name, arguments = self.operations[register]
            if name not in ("constant", "input") and register not in known:
                waiting.extend(arguments)
        return sorted(seen)

    def count(self, registers: Any) -> int:
        """How many operations the registers cost."""
        needed = self.needed_for(registers)
        return sum(self.operations[p].name not in ("constant", "input") for p in needed)

    def _write(self, name: str, *arguments: Any, key: tuple[Any, ...] | None = None) -> Register:
        key = (name, *(arguments if key is None else key))
        known = self._registers.get(key)
        if known is not None:
            return known
        register = self._registers[key] = len(self.operations)
        self.operations.append(Operation(name, arguments))
        kind = _KINDS.get(name)
        if name == "constant":
            self._numbers[register] = arguments[0]
            kind = type(arguments[0])
        elif kind is None:
            kind = self._kinds[arguments[name == "select"]]
        self._kinds.append(kind)
        return register

    def _like(self, register: Register, value: int) -> Register:
        """A number of the kind of a register."""
        return self.constant(self.kind(register)(value))

    # What follows looks at constants. `x·0` counts as 0 and `x − x` as 0 for every x: a formula
    # is meant, not the spreading of NaN.

    def _multiple(self, register: Register) -> tuple[Value, Register]:
        """(c, x), if the register holds c·x; else (1, the register)."""
        name, arguments = self.operations[register]
        if name == "mul" and self._kinds[register] is float:
            for one, other in (arguments, arguments[::-1]):
                factor = self._numbers.get(one)
                if factor is not None and math.isfinite(factor):
                    return factor, other
        return 1, register

    def _add(self, x: Register, y: Register) -> Register | None:
        if self._numbers.get(x) == 0:
            return y
        if self._numbers.get(y) == 0:
            return x
        for one, other in ((x, y), (y, x)):
            name, arguments = self.operations[other]
            if name == "neg":
                return self.operate("sub", one, arguments[0])
        return self._together(x, y, 1)

    def _sub(self, x: Register, y: Register) -> Register | None:
        if x == y:
            return self._like(x, 0)
        if self._numbers.get(y) == 0:
            return x
        if self._numbers.get(x) == 0:
            return self.operate("neg", y)
        name, arguments = self.operations[y]
        if name == "neg":
            return self.operate("add", x, arguments[0])
        return self._together(x, y, -1)

    def _together(self, x: Register, y: Register, sign: int) -> Register | None:
        """a·z ± b·z = (a ± b)·z with numbers a and b."""
        if x in self._numbers or y in self._numbers or self._kinds[x] is not float:
            return None
        (a, z), (b, other) = self._multiple(x), self._multiple(y)
        if z != other:
            return None
        return self.operate("mul", self.constant(float(a + sign * b)), z)

    def _mul(self, x: Register, y: Register) -> Register | None:
        for one, other in ((x, y), (y, x)):
            number = self._numbers.get(one)
            if number == 0:
                return self._like(one, 0)
            if number == 1:
                return other
            if number == -1:
                return self.operate("neg", other)
            name, arguments = self.operations[other]
            if name == "neg":
                return self.operate("neg", self.operate("mul", one, arguments[0]))
            if name != "mul":
                continue
            factor, rest = self._multiple(other)
            if rest == other:
                continue
            if number is not None:
                product = factor * number
                if product != 0 and math.isfinite(product):
                    return self.operate("mul", self.constant(product), rest)
            elif math.frexp(abs(factor))[0] == 0.5:
                # Powers of two go outwards, which is exact: there ½ and 2 meet.
                return self.operate("mul", self.constant(factor), self.operate("mul", one, rest))
        return None

    def _div(self, x: Register, y: Register) -> Register | None:
        if self._numbers.get(x) == 0:
            return self._like(x, 0)
        if self._numbers.get(y) == 1:
            return x
        name, arguments = self.operations[x]
        if name != "neg":
            return None
        return self.operate("neg", self.operate("div", arguments[0], y))

    def _neg(self, x: Register) -> Register | None:
        name, arguments = self.operations[x]
        if name == "sub":
            return self.operate("sub", arguments[1], arguments[0])
        return arguments[0] if name == "neg" else None

    def _and(self, x: Register, y: Register) -> Register | None:
        return self._lattice(x, y, identity=True)

    def _or(self, x: Register, y: Register) -> Register | None:
        return self._lattice(x, y, identity=False)

    def _lattice(self, x: Register, y: Register, identity: bool) -> Register | None:
        """One of the truth values decides, the other changes nothing."""
        for one, other in ((x, y), (y, x)):
            number = self._numbers.get(one)
            if isinstance(number, bool):
                return other if number is identity else one
        return x if x == y else None

    def _same(self, x: Register, y: Register) -> Register | None:
        """max(x, x) and min(x, x)."""
        return x if x == y else None

    def _ge(self, x: Register, y: Register) -> Register | None:
        """A truth value that became 0 or 1 to choose a branch."""
        name, arguments = self.operations[x]
        of_truth = name == "to_int" and self._kinds[arguments[0]] is bool
        return arguments[0] if of_truth and self._numbers.get(y) == 1 else None

    def _convert(self, x: Register, kind: Kind) -> Register | None:
        return x if self._kinds[x] is kind else None

    def _select(
        self, condition: Register, if_false: Register, if_true: Register
    ) -> Register | None:
        if if_false == if_true:
            return if_false
        number = self._numbers.get(condition)
        if number is None:
            return None
        return if_true if number else if_false


_SIMPLER: dict[str, Callable[..., Register | None]] = {
    "add": Tape._add,
    "and": Tape._and,
    "div": Tape._div,
    "ge": Tape._ge,
    "max": Tape._same,
    "min": Tape._same,
    "mul": Tape._mul,
    "neg": Tape._neg,
    "or": Tape._or,
    "select": Tape._select,
    "sub": Tape._sub,
    "to_bool": lambda tape, x: Tape._convert(tape, x, bool),
    "to_float": lambda tape, x: Tape._convert(tape, x, float),
    "to_int": lambda tape, x: Tape._convert(tape, x, int),
}
