"""The terms of all equations, as readable as time allows."""

import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..scalars import Grouped, NotScalar, OutOfTime, Readable, Register, Registers, Tape, in_order
from ._sections import Sections

_LONGEST_IN_FULL = 500  # operations, shared ones counted as often as they are written
_CLEARLY = 0.95  # of the operations with 2 sin u cos u: from here on sin 2u is worth it
_SHORTER = 0.7  # of the simplified one's operations: so much shorter as it came, it stays so
_LONG = 150  # operations from which much that is written again gets a name
_AGAIN = 2.5  # times as many operations as there are different ones
_SMALLEST_SHARED = 3  # operations of what gets a name of its own


class Term(NamedTuple):
    """Coefficient × rates, accelerations or a multiplier: registers of all, of the first alone."""

    whole: Register
    coefficient: Register
    factors: tuple[Register, ...]


Sum = tuple[Term, ...]


class Line(NamedTuple):
    """One equation, left = right, in parts; what has no terms is empty."""

    inertia: Sum = ()
    velocity: Sum = ()
    potential: Sum = ()
    forces: Sum = ()
    multipliers: Sum = ()

    @property
    def left(self) -> Sum:
        return (*self.inertia, *self.velocity, *self.potential)

    @property
    def right(self) -> Sum:
        return (*self.forces, *self.multipliers)


class Page(NamedTuple):
    """All equations, as registers of one tape.

    Attributes:
        balance: a line for each coordinate.
        rates, rows: for each row of constraints what vanishes, of the rates and of accelerations.
        numbers, q, t, qd, qdd, lam: what stands for the inputs.
        remark: why sums are not simplified; "" if they are.
    """

    tape: Tape
    balance: tuple[Line, ...]
    rates: tuple[Line, ...]
    rows: tuple[Line, ...]
    numbers: tuple[Register, ...]
    q: tuple[Register, ...]
    t: Register
    qd: tuple[Register, ...]
    qdd: tuple[Register, ...]
    lam: tuple[Register, ...]
    remark: str

    @property
    def registers(self) -> list[Register]:
        """Of all terms, in the order of printing."""
        lines = (*self.balance, *self.rates, *self.rows)
        return [term.whole for line in lines for part in line for term in part]


def page_of(sections: Sections, seconds: float) -> Page:
    """Sorted and simplified within a time; else as they came from the functions."""
    deadline = time.monotonic() + seconds
    try:
        page = _Simplified(sections, deadline).page("")
        full = written_in_full(page)
        if full <= _LONGEST_IN_FULL:
            with suppress(OutOfTime):
                other = _Simplified(sections, deadline, halves=False).page("")
                page = other if written_in_full(other) < _CLEARLY * full else page
            return page
        other = _AsWritten(sections).page("not simplified: that makes them longer")
        operations = [one.tape.count(one.registers) for one in (page, other)]
        return other if operations[1] < _SHORTER * operations[0] else page
    except OutOfTime:
        remark = f"not simplified: that takes longer than {seconds:g} s"
    except NotScalar:
        remark = "not simplified: there are too many terms"
    return _AsWritten(sections).page(remark)


class _AbstractLines(ABC):
    """What both ways of writing a page share: which terms go where."""

    def __init__(self, sections: Sections, tape: Tape):
        self.sections, self.tape = sections, tape

    @abstractmethod
    def grouped(self, register: Register, apart: Registers) -> Grouped:
        """A register as Σ coefficient × product of inputs in `apart`."""

    @abstractmethod
    def register_of(self, register: Register) -> Register:
        """Where an input stands."""

    def page(self, remark: str) -> Page:
        s, none = self.sections, np.zeros(0, dtype=np.int64)
        n, m = len(s.q), len(s.rows)
        # Coefficients first, rates after them: factors are printed in the order of their registers.
        mass = [[self.grouped(int(register), none) for register in row] for row in s.mass]
        rows = [[self.grouped(int(register), none) for register in row] for row in s.rows]
        velocity, forces, rates, drift = (
            [self.grouped(int(register), s.qd) for register in registers]
            for registers in (s.velocity, s.forces, s.rates, s.drift)
        )
        potential = [self.grouped(int(register), none) for register in s.potential]
        balance = []
        for i in range(n):
            if s.is_explicit:
                one = self.tape.constant(1.0)
                balance.append(
                    Line((self._term(one, (int(s.qdd[i]),)),), forces=self._sum(forces[i]))
                )
                continue
            pulls = [rows[k][i] for k in range(m)]
            balance.append(
                Line(
                    self._times(mass[i], s.qdd),
                    self._sum(velocity[i]),
                    self._sum(potential[i]),
                    self._sum(forces[i]),
                    self._times(pulls, s.lam),
                )
            )
        rates_to_be = tuple(Line(velocity=self._sum(one)) for one in rates)
        rows_to_be = tuple(
            Line(self._times(row, s.qdd), self._sum(rest))
            for row, rest in zip(rows, drift, strict=True)
        )
        return self._ordered(tuple(balance), rates_to_be, rows_to_be, remark)

    def _ordered(
        self,
        balance: tuple[Line, ...],
        rates: tuple[Line, ...],
        rows: tuple[Line, ...],
        remark: str,
    ) -> Page:
        s = self.sections
        groups = [
            [self.register_of(int(register)) for register in np.ravel(registers)]
            for registers in (s.numbers, (*s.q, s.t), s.qd, s.qdd, s.lam)
        ]
        lines = (*balance, *rates, *rows)
        wanted = [term.whole for line in lines for part in line for term in part]
        wanted += [term.coefficient for line in lines for part in line for term in part]
        tape, to = in_order(self.tape, wanted, groups)

        def moved(lines: tuple[Line, ...]) -> tuple[Line, ...]:
            return tuple(
                Line(
                    *(
                        tuple(
                            Term(to[whole], to[first], tuple(to[register] for register in factors))
                            for whole, first, factors in part
                        )
                        for part in line
                    )
                )
                for line in lines
            )

        numbers, (*q, t), qd, qdd, lam = (
            tuple(to[register] for register in group) for group in groups
        )
        return Page(
            tape,
            moved(balance),
            moved(rates),
            moved(rows),
            numbers,
            tuple(q),
            t,
            qd,
            qdd,
            lam,
            remark,
        )

    def _times(self, coefficients: list[Grouped], inputs: Registers) -> Sum:
        """Σ coefficient × input."""
        return tuple(
            self._term(one[()], (int(register),))
            for one, register in zip(coefficients, inputs, strict=True)
            if () in one and not self._is_zero(one[()])
        )

    def _sum(self, groups: Grouped) -> Sum:
        return tuple(
            self._term(coefficient, product)
            for product, coefficient in groups.items()
            if not self._is_zero(coefficient)
        )

    def _is_zero(self, register: Register) -> bool:
        return self.tape.is_constant(register) and self.tape.value(register) == 0

    def _term(self, coefficient: Register, inputs: tuple[Register, ...]) -> Term:
        factors = tuple(map(self.register_of, inputs))
        whole = coefficient
        for factor in factors:
            whole = self.tape.operate("mul", whole, factor)
        return Term(whole, coefficient, factors)


class _Simplified(_AbstractLines):
    """Sums opened, sines and cosines merged, factorised."""

    def __init__(self, sections: Sections, deadline: float, halves: bool = True):
        s = sections
        self._readable = Readable(
            s.tape, [*s.numbers, *s.q, s.t], [*s.q, s.t, *s.qd], halves, deadline
        )
        super().__init__(sections, self._readable.tape)

    def grouped(self, register: Register, apart: Registers) -> Grouped:
        (sums,) = self._readable.grouped([register], apart)
        return sums

    def register_of(self, register: Register) -> Register:
        return self._readable.register_of(register)


class _AsWritten(_AbstractLines):
    """Like terms collected, nothing else."""

    def __init__(self, sections: Sections):
        super().__init__(sections, sections.tape)
        s = sections
        parts = (s.mass, s.velocity, s.potential, s.forces, s.rates, s.rows, s.drift)
        flat = np.concatenate([part.ravel() for part in parts])
        together = s.collected(flat)
        self._found = dict(zip(flat.tolist(), together.tolist(), strict=True))

    def grouped(self, register: Register, apart: Registers) -> Grouped:
        del apart
        return {(): self._found[register]}

    def register_of(self, register: Register) -> Register:
        return register


def written_in_full(page: Page) -> int:
    """How many operations the page shows if nothing gets a name of its own."""
    costs: dict[Register, int] = {}
    for register in page.tape.needed_for(page.registers):
        name, arguments = page.tape.operations[register]
        inner = () if name in ("constant", "input") else arguments
        costs[register] = len(inner) and 1 + sum(costs[argument] for argument in inner)
    return sum(costs[register] for register in page.registers)


def shared(page: Page) -> list[Register]:
    """Registers that get names of their own, in order: none, unless the page would be too long."""
    full = written_in_full(page)
    repeats = full > _LONG and full > _AGAIN * page.tape.count(page.registers)
    if full <= _LONGEST_IN_FULL and not repeats:
        return []
    uses: dict[Register, int] = {}
    needed = page.tape.needed_for(page.registers)
    for register in needed:
        name, arguments = page.tape.operations[register]
        for argument in () if name in ("constant", "input") else arguments:
            uses[argument] = uses.get(argument, 0) + 1
    named: list[Register] = []
    for register in needed:
        name = page.tape.operations[register].name
        again = uses.get(register, 0) > 1
        if again and name not in ("constant", "input", "neg"):
            inner = set(page.tape.needed_for([register], named)).difference(named)
            operations = sum(
                page.tape.operations[p].name not in ("constant", "input") for p in inner
            )
            if operations >= _SMALLEST_SHARED:
                named.append(register)
    return named
