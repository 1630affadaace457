"""Equations as sums of terms, in the forms in which people write them.

- "distributed": products multiplied out, sin² x left beside cos² x;
- "opened": with one form for dependent functions, as `scalars.terms` has it (sin² x = 1 − cos² x);
- "harmonic": products of sines and cosines as sums of sines and cosines of sums,
  cos x cos y + sin x sin y = cos(x − y).
"""

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

import numpy as np

from ..scalars import (
    AbstractReader,
    NotScalar,
    Polynomial,
    Register,
    Tape,
    Terms,
    multiplied,
    terms,
    varying_registers,
    written_wave,
)

_MOST_TERMS = 600  # of one polynomial
_MOST_TURNED = 7  # sines and cosines in one product

Angle: TypeAlias = tuple[tuple[Register, int], ...]  # Σ multiple × register


def openings(
    tape: Tape, registers: list[Register], parameters: list[Register]
) -> list[list[Terms]]:
    """Every register as {f: {c: number}}, Σ number × c(parameters) × f(everything else), in each
    form that is not too long."""
    forms: list[list[Terms]] = []
    inputs = {int(p) for p in parameters}
    needed = tape.needed_for(registers)
    moving = [p for p in needed if tape.operations[p].name == "input" and p not in inputs]
    reader = _Distributed(tape, varying_registers(tape, registers, moving))
    forms.append([_grouped(reader.polynomial(register)) for register in registers])
    try:
        opened = terms(tape, registers, parameters)
    except NotScalar:
        return forms
    forms.append(opened)
    forms.append([_harmonic(tape, one) for one in opened])
    return forms


def _grouped(polynomial: Polynomial) -> Terms:
    grouped: Terms = {}
    for (hot, cold), number in polynomial.items():
        grouped.setdefault(hot, {})[cold] = number
    return grouped


class _Distributed(AbstractReader):
    """Multiplies sums out, and leaves functions as they are."""

    def __init__(self, tape: Tape, hot: set[Register]):
        super().__init__(tape, hot, _MOST_TERMS)

    def polynomial(self, register: Register) -> Polynomial:
        """What one register holds, as a polynomial."""
        self._read([register], set())
        return self._polynomials[register]

    def _product(self, x: Polynomial, y: Polynomial) -> Polynomial | None:
        return multiplied(x, y) if len(x) * len(y) <= _MOST_TERMS else None

    def _quotient(self, above: Register, below: Register) -> Polynomial | None:
        inverse = self._tape.operate("div", self._tape.constant(1.0), below)
        if below in self._hot:
            self._hot.add(inverse)
        self._polynomials.setdefault(inverse, self._atom(inverse))
        x = self._polynomials[above]
        return multiplied(x, self._atom(inverse)) if len(x) <= _MOST_TERMS else None

    def _other(self, register: Register) -> Polynomial:
        return self._atom(register)


def _harmonic(tape: Tape, opened: Terms) -> Terms:
    """Products of sines and cosines as sums."""
    sums: Terms = {}
    for hot, coefficient in opened.items():
        turned = [p for p in hot if tape.operations[p].name in ("sin", "cos")]
        if len(turned) > _MOST_TURNED:
            turned = []
        rest = tuple(p for p in hot if p not in turned)
        for share, name, angle in _sums(tape, turned):
            factor = written_wave(tape, name, angle) if angle else None
            if factor is None and name == "sin":
                continue
            key = tuple(sorted((*rest, *(() if factor is None else (factor,)))))
            cold = sums.setdefault(key, {})
            for names, number in coefficient.items():
                cold[names] = cold.get(names, 0.0) + share * number
    tidied: Terms = {}
    largest = max((abs(x) for one in sums.values() for x in one.values()), default=0.0)
    for key, cold in sums.items():
        kept = {names: x for names, x in cold.items() if abs(x) > 1e-12 * largest}
        if kept:
            tidied[key] = kept
    return tidied


def _sums(tape: Tape, turned: list[Register]) -> Iterator[tuple[float, str, Angle]]:
    """Π sin, cos of angles = Σ share × sin or cos of a sum of the angles.

    cos x = (e^ix + e^−ix)/2, sin x = (e^ix − e^−ix)/2i, multiplied out.
    """
    totals: dict[Angle, complex] = {}
    for signs in product((1, -1), repeat=len(turned)):
        share: complex = 1.0
        multiples: dict[Register, int] = {}
        for sign, register in zip(signs, turned, strict=True):
            name, (argument,) = tape.operations[register]
            share *= 0.5 if name == "cos" else sign / 2j
            multiples[argument] = multiples.get(argument, 0) + sign
        angle = tuple(sorted((p, k) for p, k in multiples.items() if k))
        totals[angle] = totals.get(angle, 0.0) + share
    for angle, share in totals.items():
        # Each angle comes with its opposite: both together are real.
        if angle and angle[0][1] < 0:
            continue
        both = 1.0 if not angle else 2.0
        if abs(share.real) > 1e-14:
            yield both * share.real, "cos", angle
        if angle and abs(share.imag) > 1e-14:
            yield -both * share.imag, "sin", angle


def angles_in(tape: Tape, registers: np.ndarray | list[Register]) -> list[Register]:
    """Arguments of all sines, cosines and tangents that registers are made of."""
    angles = {
        tape.operations[p].arguments[0]
        for p in tape.needed_for(registers)
        if tape.operations[p].name in ("sin", "cos", "tan")
    }
    return sorted(p for p in angles if not tape.is_constant(p))
