"""Sums of products, multiplied out, collected and factorised again.

Derivatives of a Lagrangian come as long sums in which many terms cancel or differ only by factors
that do not change along a motion. Here every expression is a polynomial in atoms. Like terms meet,
c·sin²x·y + c·cos²x·y becomes c·y, and what is left is factorised so that cold factors and common
ones stand outside. Exact but for the order of rounding.
"""

from typing import Any

import numpy as np

from ._algebra import varying_registers
from ._factorise import written
from ._polynomials import AbstractReader, Polynomial, multiplied
from ._shapes import Registers
from ._tape import Register, Tape

_MOST_TERMS = 400  # of one polynomial; larger products stay products


def collected(tape: Tape, registers: Any, inputs: Any, far: Any = ()) -> Registers:
    """The same values in registers that cost fewer operations while `inputs` vary, if any do.

    What does not depend on `inputs` is free, since it is worked out once. An input may be any
    register: what it is made of is not looked at. Inputs in `far` may be large while their
    differences are small.
    """
    registers = np.asarray(registers, dtype=np.int64)
    cheaper = _Collector(tape, registers, inputs, far).result()
    return min((registers, cheaper), key=lambda way: len(varying_registers(tape, way, inputs)))


class _Collector(AbstractReader):
    """Multiplies out what loses no digits by it."""

    def __init__(self, tape: Tape, registers: Registers, inputs: Any, far: Any):
        super().__init__(tape, varying_registers(tape, registers, inputs), _MOST_TERMS)
        self._far = {int(register) for register in np.ravel(far)}
        self._registers = registers
        self._inputs = {int(register) for register in np.ravel(inputs)}
        self._rebuilt: dict[Register, Register] = {}

    def result(self) -> Registers:
        flat = self._registers.ravel().tolist()
        self._read(flat, self._inputs)
        collected = [self._register(register) for register in flat]
        return np.array(collected, dtype=np.int64).reshape(self._registers.shape)

    def _register(self, register: Register) -> Register:
        """Where the collected form of a register stands."""
        if register not in self._rebuilt:
            self._rebuilt[register] = written(self._tape, self._polynomials[register])
        return self._rebuilt[register]

    def _product(self, x: Polynomial, y: Polynomial) -> Polynomial | None:
        x, y = self._factors(x, y)
        return multiplied(x, y) if len(x) * len(y) <= _MOST_TERMS else None

    def _quotient(self, above: Register, below: Register) -> Polynomial | None:
        if below in self._hot:
            return None
        one = self._tape.operate("div", self._tape.constant(1.0), below)
        return multiplied(*self._factors(self._polynomials[above], self._atom(one)))

    def _other(self, register: Register) -> Polynomial:
        # It stays as it was written, with all it is made of: the argument of a square root may be
        # a small difference.
        self._rebuilt[register] = register
        return self._atom(register)

    def _factors(self, x: Polynomial, y: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Two polynomials to be multiplied, sums that must stay sums as atoms."""
        if len(x) == 1 and len(y) == 1:
            return x, y
        number = ((), ())
        if list(x) == [number] or list(y) == [number]:
            return x, y
        return self._closed(x), self._closed(y)

    def _closed(self, x: Polynomial) -> Polynomial:
        """A sum that must not be multiplied out, as an atom.

        (x − y)² is small where x² − 2xy + y² is the difference of large numbers. Sines and cosines
        are no larger than 1, so that products of sums of them lose nothing; a term without any, or
        with an input that may be far, is not to be trusted.
        """
        open_ = all(
            any(self._tape.operations[f].name in ("sin", "cos") for f in hot)
            and not any(f in self._far for f in hot)
            for hot, _ in x
        )
        if len(x) < 2 or open_ or not any(hot for hot, _ in x):
            return x
        register = written(self._tape, x)
        if not self._tape.is_constant(register):
            self._hot.add(register)
            self._far.add(register)
        return self._atom(register)
