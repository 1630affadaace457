"""What scalars are: an algebra gives every operation of a tape a meaning."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import numpy as np

from ._tape import Operation, Register, Tape

_PARTNERS = {"sin": "cos", "cos": "sin"}


class AbstractAlgebra(eqx.Module):
    """How to carry out the operations of a tape."""

    @abstractmethod
    def constant(self, value: float | int | bool) -> Any:
        """A number."""

    @abstractmethod
    def operate(self, name: str, *arguments: Any) -> Any:
        """One operation, by its name on the tape."""

    @abstractmethod
    def sincos(self, x: Any) -> tuple[Any, Any]:
        """Sine and cosine of one angle, where both are needed."""


class Evaluation:
    """The values of a tape's registers in an algebra, worked out as they are asked for.

    `given` maps inputs to their values; what is worked out is kept, so that a later question
    costs only what is new.
    """

    def __init__(self, tape: Tape, algebra: AbstractAlgebra, given: dict[Register, Any]):
        self._tape = tape
        self._algebra = algebra
        self._values = dict(given)

    def of(self, registers: Any) -> Any:
        """Values at an array of registers: an object array of the same shape."""
        registers = np.asarray(registers)
        flat = [int(register) for register in registers.ravel()]
        self._work_out(flat)
        values = np.empty(len(flat), dtype=object)
        for i, register in enumerate(flat):
            values[i] = self._values[register]
        return values.reshape(registers.shape)

    def with_given(self, given: dict[Register, Any]) -> "Evaluation":
        """The same with more inputs known; what was worked out stays."""
        return Evaluation(self._tape, self._algebra, {**self._values, **given})

    def _work_out(self, registers: list[Register]) -> None:
        missing = self._missing(registers)
        turned = {self._tape.operations[register]: register for register in missing}
        operate = self._algebra.operate  # a module's methods are wrapped anew at each access
        for register in missing:
            name, arguments = self._tape.operations[register]
            partner = turned.get(Operation(_PARTNERS.get(name, ""), arguments))
            if register in self._values:
                continue
            if partner is not None:
                both = self._algebra.sincos(self._values[arguments[0]])
                first, second = (register, partner) if name == "sin" else (partner, register)
                self._values[first], self._values[second] = both
                continue
            if name == "constant":
                self._values[register] = self._algebra.constant(arguments[0])
                continue
            if name == "input":
                raise KeyError(f"input {arguments[0]} of the tape has no value")
            self._values[register] = operate(name, *(self._values[p] for p in arguments))

    def _missing(self, registers: list[Register]) -> list[Register]:
        seen: set[Register] = set()
        waiting = list(registers)
        while waiting:
            register = waiting.pop()
            if register in seen or register in self._values:
                continue
            seen.add(register)
            name, arguments = self._tape.operations[register]
            if name not in ("constant", "input"):
                waiting.extend(arguments)
        return sorted(seen)


def varying_registers(tape: Tape, registers: Any, inputs: Any) -> set[Register]:
    """Of what `registers` need, all that any input in `inputs` enters, themselves included."""
    varying = {int(register) for register in np.ravel(inputs)}
    needed = tape.needed_for(np.ravel(registers), varying)
    for register in needed:
        name, arguments = tape.operations[register]
        if name not in ("constant", "input") and any(p in varying for p in arguments):
            varying.add(register)
    return varying.intersection(needed)


def independent_of(tape: Tape, registers: Any, inputs: Any) -> list[Register]:
    """Of what `registers` need, the outermost operations that no input in `inputs` enters.

    They can be worked out once, before the inputs are known.
    """
    varying = varying_registers(tape, registers, inputs)
    frontier = {
        p
        for register in varying
        if tape.operations[register].name not in ("constant", "input")
        for p in tape.operations[register].arguments
        if p not in varying
    }
    frontier |= {int(p) for p in np.ravel(registers) if int(p) not in varying}
    return sorted(p for p in frontier if tape.operations[p].name != "constant")
