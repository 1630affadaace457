"""Registers of a tape written anew, on another tape, as people write formulas.

Sums are opened (`terms`), sines and cosines merged (`merged`), and what is left is factorised.
"""

import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ._algebra import varying_registers
from ._factorise import written
from ._harmonics import Wave, Waves, merged, written_wave
from ._polynomials import Monomial, Polynomial
from ._tape import Register, Tape
from ._terms import Terms, terms

Grouped: TypeAlias = dict[Monomial, Register]  # product of inputs -> what stands before it

_TRIGONOMETRIC = ("sin", "cos")


class OutOfTime(Exception):  # noqa: N818
    """Rewriting has taken longer than it may."""


class Readable:
    """Rewrites registers of one tape on a new one.

    Args:
        tape: what is rewritten; atoms are added to it.
        first: inputs that come first on the new tape, which orders factors: parameters, then
            coordinates. The others come when they are needed.
        varying: inputs whose functions are kept apart from those of the others (the parameters).
        halves: whether 2 sin u cos u is written rather than sin 2u.
        deadline: of `time.monotonic()`, after which it raises `OutOfTime`.
    """

    def __init__(
        self, tape: Tape, first: Any, varying: Any, halves: bool = True, deadline: float = np.inf
    ):
        self.tape = Tape()
        self._old = tape
        self._halves, self._deadline = halves, deadline
        self._varying = [int(register) for register in np.ravel(varying)]
        self._registers: dict[Register, Register] = {}  # old -> new
        for register in np.ravel(first).tolist():
            self.register_of(register)

    def grouped(self, registers: Any, apart: Any) -> list[Grouped]:
        """Each register as Σ coefficient × product of inputs in `apart`, all on the new tape.

        Raises:
            NotScalar: there are too many terms.
            OutOfTime: it takes too long.
        """
        outside = {int(register) for register in np.ravel(apart)}
        result = []
        for register in np.ravel(registers).tolist():
            self._go_on()
            (opened,) = terms(self._old, [register], [])
            result.append(self._grouped(opened, outside))
        return result

    def register_of(self, register: Register) -> Register:
        """Where a register of the old tape stands on the new one."""
        if register not in self._registers:
            self._registers[register] = self._new(register)
        return self._registers[register]

    def _go_on(self) -> None:
        if time.monotonic() > self._deadline:
            raise OutOfTime

    def _new(self, register: Register) -> Register:
        name, arguments = self._old.operations[register]
        if name == "input":
            return self.tape.input()
        if name == "constant":
            return self.tape.constant(arguments[0])
        if self._old.kind(register) is not float:
            return self.tape.operate(name, *map(self.register_of, arguments))
        self._go_on()
        (opened,) = terms(self._old, [register], [])
        return self._grouped(opened, set()).get((), self.tape.constant(0.0))

    def _atom(self, atom: Register) -> Register:
        """A function of what is rewritten."""
        name, arguments = self._old.operations[atom]
        if name in ("input", "constant"):
            return self.register_of(atom)
        return self.tape.operate(name, *map(self.register_of, arguments))

    def _grouped(self, opened: Terms, outside: set[Register]) -> Grouped:
        groups: dict[Monomial, dict[Monomial, Waves]] = {}
        angles: list[Register] = sorted(
            {
                self._old.operations[factor].arguments[0]
                for factors in opened
                for factor in factors
                if self._old.operations[factor].name in _TRIGONOMETRIC
            }
        )
        for factors, coefficient in opened.items():
            product = tuple(factor for factor in factors if factor in outside)
            inner = [factor for factor in factors if factor not in outside]
            waves = tuple(sorted(wave for f in inner if (wave := self._wave(f, angles))))
            rest = tuple(f for f in inner if not self._wave(f, angles))
            group = groups.setdefault(product, {}).setdefault(rest, {})
            group[waves] = group.get(waves, 0.0) + sum(coefficient.values())
        return {product: self._written(parts, angles) for product, parts in sorted(groups.items())}

    def _wave(self, factor: Register, angles: Sequence[Register]) -> Wave | None:
        name, arguments = self._old.operations[factor]
        if name not in _TRIGONOMETRIC:
            return None
        return Wave(name, tuple(int(angle == arguments[0]) for angle in angles))

    def _written(self, parts: dict[Monomial, Waves], angles: Sequence[Register]) -> Register:
        """A coefficient on the new tape."""
        moving = varying_registers(self._old, [f for rest in parts for f in rest], self._varying)
        apart: Polynomial = {}
        together: Polynomial = {}
        for rest, waves in parts.items():
            self._go_on()
            cold = tuple(sorted(self._atom(factor) for factor in rest if factor not in moving))
            warm = [self._atom(factor) for factor in rest if factor in moving]
            for product, number in merged(waves, self._halves).items():
                factors = [*warm, *(self._turned(wave, angles) for wave in product)]
                for polynomial, key in (
                    (apart, (tuple(sorted(factors)), cold)),
                    (together, (tuple(sorted((*factors, *cold))), ())),
                ):
                    polynomial[key] = polynomial.get(key, 0.0) + number
        # What multiplies one function of the coordinates together, or common factors outside first.
        return min((written(self.tape, way) for way in (apart, together)), key=self._cost)

    def _cost(self, register: Register) -> int:
        return self.tape.count([register])

    def _turned(self, wave: Wave, angles: Sequence[Register]) -> Register:
        """A sine or cosine on the new tape."""
        basic = list(map(self.register_of, angles))
        multiples = [
            (angle, times) for angle, times in zip(basic, wave.angle, strict=True) if times
        ]
        return written_wave(self.tape, wave.name, multiples)
