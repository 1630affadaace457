"""What may be wrong in a machine's equations: their terms, one by one and in groups."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..model import parameter_unit
from ..scalars import (
    Coefficient,
    Monomial,
    Register,
    Terms,
    spelled,
    written_coefficient,
    written_product,
)
from ._openings import openings
from ._symbols import Symbols
from ._truth import Truth

_MOST_TERMS = 2500  # of all rows together, which share them evenly

# How far a term is from what somebody writes down as one: added to the cost of an explanation.
_SINGLE, _WHOLE, _ENTRY, _GROUP = 0.0, 0.1, 0.2, 0.3
_MULTIPLE = 0.9
_ODD_FORM, _MANY = 0.5, 1.4  # terms of a form that has so many times more of them than another


class Term(NamedTuple):
    """Part of one of the machine's equations.

    Attributes:
        row: which equation.
        register: on the tape.
        kind: in words, "gravity term", "Coriolis term qA' qB'".
        cost: how far it is from a single term.
        second: whose accelerations are in it, indices.
    """

    row: int
    register: Register
    kind: str
    cost: float
    second: tuple[int, ...]


class Library:
    """All terms of a machine's n + m equations, in several forms."""

    def __init__(self, truth: Truth, symbols: Symbols):
        assert truth.registers is not None
        self._truth, self._symbols, self._tape = truth, symbols, truth.tape
        self._order = {int(p): k for k, p in enumerate(truth.inputs.qdd)}
        self._rates = {int(p): k for k, p in enumerate(truth.inputs.qd)}
        self._parameters = sorted(symbols.parameters.values())
        self._gravity = self._registers_of_gravity()
        self.terms: list[Term] = []
        self._seen: set[tuple[int, Register]] = set()
        rows = [int(register) for register in truth.registers["rows"]]
        self._counts: dict[int, int] = {}
        self._kept: dict[int, int] = {}
        self._rows = len(rows)
        forms = openings(self._tape, rows, self._parameters)
        for row in range(len(rows)):
            self._counts[row] = min(sum(map(len, form[row].values())) for form in forms)
            # A term that two forms have is kept as the one that is not odd has it.
            fewest = min(len(form[row]) for form in forms)
            of_row = [(len(form[row]) > _MANY * fewest, form[row]) for form in forms]
            of_row.sort(key=lambda pair: pair[0])
            for add in (self._add_terms, self._add_groups):
                for odd, one in of_row:
                    add(row, one, _ODD_FORM if odd else 0.0)

    def of_row(self, row: int) -> list[Term]:
        """The terms of one equation."""
        return [term for term in self.terms if term.row == row]

    def text(self, term: Term) -> str:
        """A term spelled out."""
        return spelled(self._tape, term.register, self._symbols.spelled)

    def count(self, row: int) -> int:
        """How many terms one equation has, as people write it."""
        return self._counts.get(row, 0)

    def _registers_of_gravity(self) -> set[Register]:
        named = {"g", "gravity", "grav"}
        gravity = set()
        for path, register in self._symbols.parameters.items():
            leaf = path.split("[")[0].split(".")[-1]
            if leaf in named or parameter_unit(self._truth.system, path) == "m/s^2":
                gravity.add(register)
        return gravity

    def _add_terms(self, row: int, one: Terms, odd_form: float) -> None:
        # Hardly anybody writes cos 2x: a wrong sign of it is sin² x for cos² x.
        odd = any(_MULTIPLE in self._angles(hot) for hot in one)
        for hot, coefficient in one.items():
            if self._is_full(row):
                return
            more = _MULTIPLE if odd and _SINGLE not in self._angles(hot) else odd_form
            for cold, number in coefficient.items():
                self._add(row, hot, {cold: number}, _SINGLE + more)
            if len(coefficient) > 1:
                self._add(row, hot, coefficient, _WHOLE + more)

    def _is_full(self, row: int) -> bool:
        return self._kept.get(row, 0) * self._rows >= _MOST_TERMS

    def _angles(self, hot: Monomial) -> set[float]:
        """What its sines and cosines cost: of multiples of one angle, of sums of several."""
        costs = set()
        for register in hot:
            name, arguments = self._tape.operations[register]
            if name in ("sin", "cos"):
                inside, factors = self._tape.operations[arguments[0]]
                if inside == "mul" and any(map(self._tape.is_constant, factors)):
                    costs.add(_MULTIPLE)
                elif inside in ("add", "sub"):
                    costs.add(_SINGLE)
        return costs

    def _add_groups(self, row: int, one: Terms, odd_form: float) -> None:
        """What stands before one acceleration, or one product of rates; weight; what shares a
        coefficient."""
        groups: dict[tuple[object, ...], list[tuple[Monomial, Coefficient]]] = {}
        for hot, coefficient in one.items():
            moving = tuple(p for p in hot if p in self._order or p in self._rates)
            if moving:
                groups.setdefault(("rates", *moving), []).append((hot, coefficient))
            else:
                weight = {c: x for c, x in coefficient.items() if self._gravity & self._inside(c)}
                if weight:
                    groups.setdefault(("gravity",), []).append((hot, weight))
            for cold, number in coefficient.items():
                groups.setdefault(("cold", *cold), []).append((hot, {cold: number}))
        for key, parts in groups.items():
            if len(parts) > 1 and not self._is_full(row):
                registers = [self._register(hot, coefficient) for hot, coefficient in parts]
                cost = odd_form + (_ENTRY if key[0] != "cold" else _GROUP)
                hots = [hot for hot, _ in parts]
                colds = [c for _, coefficient in parts for c in coefficient]
                self._keep(row, self._tape.total(registers), hots, colds, cost)

    def _add(self, row: int, hot: Monomial, coefficient: Coefficient, cost: float) -> None:
        self._keep(row, self._register(hot, coefficient), [hot], list(coefficient), cost)

    def _register(self, hot: Monomial, coefficient: Coefficient) -> Register:
        return self._tape.operate(
            "mul", written_coefficient(self._tape, coefficient), written_product(self._tape, hot)
        )

    def _keep(
        self, row: int, register: Register, hots: list[Monomial], colds: list[Monomial], cost: float
    ) -> None:
        if (row, register) in self._seen:
            return
        self._kept[row] = self._kept.get(row, 0) + 1
        self._seen.add((row, register))
        second = tuple(sorted({self._order[p] for hot in hots for p in hot if p in self._order}))
        self.terms.append(Term(row, register, self._kind(hots, colds), cost, second))

    def _inside(self, factors: Iterable[Register]) -> set[Register]:
        """Inputs that factors are made of."""
        needed = self._tape.needed_for(list(factors))
        return {p for p in needed if self._tape.operations[p].name == "input"}

    def _kind(self, hots: list[Monomial], colds: list[Monomial]) -> str:
        names = self._symbols.spelled
        inside = {p for factors in (*hots, *colds) for p in self._inside(factors)}
        second = sorted(p for p in inside if p in self._order)
        if second:
            return f"coefficient of {' and '.join(names[p] for p in second)}"
        if any(p in set(self._truth.inputs.lam.tolist()) for p in inside):
            return "constraint force"
        rates = {tuple(sorted(p for p in hot if p in self._rates)) for hot in hots}
        moving = sorted({p for one in rates for p in one})
        if not moving:
            moving = sorted(p for p in inside if p in self._rates)
            if moving:
                return f"term with {' and '.join(names[p] for p in moving)}"
            return "gravity term" if inside & self._gravity else "term without rates"
        if len(rates) == 1:
            (one,) = rates
            if len(one) == 2 and len(set(one)) == 2:
                return f"Coriolis term {names[one[0]]} {names[one[1]]}"
            if len(one) == 2:
                return f"centrifugal term {names[one[0]]}^2"
        return f"velocity term {' and '.join(names[p] for p in moving)}"


def values_of(truth: Truth, terms: list[Term], points: object) -> np.ndarray:
    """Of terms at points, shape (states, terms)."""
    registers = np.array([term.register for term in terms], dtype=np.int64)
    return truth.of(points, registers)  # pyright: ignore[reportArgumentType]
