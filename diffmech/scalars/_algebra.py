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
    """The values of a tape's places in an algebra, worked out as they are asked for.

    `given` maps inputs to their values; what is worked out is kept, so that a later question
    costs only what is new.
    """

    def __init__(self, tape: Tape, algebra: AbstractAlgebra, given: dict[Register, Any]):
        self._tape = tape
        self._algebra = algebra
        self._values = dict(given)

    def of(self, places: Any) -> Any:
        """Values at an array of places: an object array of the same shape."""
        places = np.asarray(places)
        flat = [int(place) for place in places.ravel()]
        self._work_out(flat)
        values = np.empty(len(flat), dtype=object)
        for i, place in enumerate(flat):
            values[i] = self._values[place]
        return values.reshape(places.shape)

    def with_given(self, given: dict[Register, Any]) -> "Evaluation":
        """The same with more inputs known; what was worked out stays."""
        return Evaluation(self._tape, self._algebra, {**self._values, **given})

    def _work_out(self, places: list[Register]) -> None:
        missing = self._missing(places)
        turned = {self._tape.operations[place]: place for place in missing}
        operate = self._algebra.operate  # a module's methods are wrapped anew at each access
        for place in missing:
            name, arguments = self._tape.operations[place]
            partner = turned.get(Operation(_PARTNERS.get(name, ""), arguments))
            if place in self._values:
                continue
            if partner is not None:
                both = self._algebra.sincos(self._values[arguments[0]])
                first, second = (place, partner) if name == "sin" else (partner, place)
                self._values[first], self._values[second] = both
                continue
            if name == "constant":
                self._values[place] = self._algebra.constant(arguments[0])
                continue
            if name == "input":
                raise KeyError(f"input {arguments[0]} of the tape has no value")
            self._values[place] = operate(name, *(self._values[p] for p in arguments))

    def _missing(self, places: list[Register]) -> list[Register]:
        seen: set[Register] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place in seen or place in self._values:
                continue
            seen.add(place)
            name, arguments = self._tape.operations[place]
            if name not in ("constant", "input"):
                waiting.extend(arguments)
        return sorted(seen)


def varying_registers(tape: Tape, places: Any, inputs: Any) -> set[Register]:
    """Of what `places` need, all that any input in `inputs` enters, themselves included."""
    varying = {int(place) for place in np.ravel(inputs)}
    needed = tape.needed_for(np.ravel(places), varying)
    for place in needed:
        name, arguments = tape.operations[place]
        if name not in ("constant", "input") and any(p in varying for p in arguments):
            varying.add(place)
    return varying.intersection(needed)


def independent_of(tape: Tape, places: Any, inputs: Any) -> list[Register]:
    """Of what `places` need, the outermost operations that no input in `inputs` enters.

    They can be worked out once, before the inputs are known.
    """
    varying = varying_registers(tape, places, inputs)
    frontier = {
        p
        for place in varying
        if tape.operations[place].name not in ("constant", "input")
        for p in tape.operations[place].arguments
        if p not in varying
    }
    frontier |= {int(p) for p in np.ravel(places) if int(p) not in varying}
    return sorted(p for p in frontier if tape.operations[p].name != "constant")
