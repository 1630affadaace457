"""What an expression is as a function: Σ c_k(parameters) f_k(everything else), every sum opened.

The collector keeps sums closed where multiplying out would lose digits. Here nothing is computed
with the result, so that every sum is opened and dependent functions are brought to one form:

    sin² x = 1 − cos² x,  sin(x + y) and cos(x + y) by sin and cos of x and y,  tan = sin/cos,
    √x √x = x,  |x|² = x²,  x (1/x) = 1.

Where a choice hangs on two numbers being exactly equal, the other branch is read: what guards a
norm at zero is no term of its own. Then like terms meet, and what stands before one f_k is all that
multiplies it.
"""

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ._algebra import varying_registers
from ._factorise import written
from ._polynomials import (
    AbstractReader,
    Monomial,
    Polynomial,
    added,
    common_factors,
    multiplied,
    scaled,
    without,
    without_all,
)
from ._tape import Register, Tape
from ._unknown import NotScalar

Coefficient: TypeAlias = dict[Monomial, float]  # atoms of the parameters -> number
Terms: TypeAlias = dict[Monomial, Coefficient]  # f_k, a product of atoms -> c_k

_MOST_TERMS = 5000  # of one polynomial
_LARGEST_MULTIPLE = 8  # sin(n x) up to here by sines and cosines of x
_DUST = 1e-13  # of the largest number: what is left in floats where terms cancel, cos(π/2)


def terms(tape: Tape, registers: Any, parameters: Any) -> list[Terms]:
    """Each register as Σ c_k f_k.

    f_k is a product of atoms that some input beyond `parameters` enters (such an atom may hold
    parameters, too: tanh(q̇/width)); c_k is a sum of number × product of atoms of the parameters
    alone. An atom is a register on the tape: an input, a function, or 1/x for a quotient.

    Args:
        registers: what is asked for, of any shape.
        parameters: registers of inputs.

    Returns:
        For each register, in order, {f_k: c_k}.

    Raises:
        NotScalar: multiplied out, an expression has too many terms.
    """
    flat = np.ravel(registers).tolist()
    known = {int(register) for register in np.ravel(parameters)}
    needed = tape.needed_for(flat)
    inputs = [p for p in needed if tape.operations[p].name == "input" and p not in known]
    reader = _Opener(tape, varying_registers(tape, flat, inputs))
    opened = []
    for polynomial in reader.polynomials(flat):
        grouped: Terms = {}
        least = _DUST * max(map(abs, polynomial.values()), default=0.0)
        for (hot, cold), number in polynomial.items():
            if abs(number) > least:
                grouped.setdefault(hot, {})[cold] = number
        opened.append(grouped)
    return opened


def written_coefficient(tape: Tape, coefficient: Coefficient) -> Register:
    """A coefficient on the tape, common factors outside."""
    return written(tape, {((), cold): number for cold, number in coefficient.items()})


def written_product(tape: Tape, factors: Monomial) -> Register:
    """A product of atoms on the tape; 1 of none."""
    return written(tape, {((), tuple(sorted(factors))): 1.0})


class _Opener(AbstractReader):
    """Multiplies everything out."""

    def __init__(self, tape: Tape, hot: set[Register]):
        super().__init__(tape, hot, _MOST_TERMS)
        self._inverses: dict[Register, Register] = {}  # 1/x -> x
        self._squares: dict[Register, Polynomial | None] = {}

    def polynomials(self, registers: list[Register]) -> list[Polynomial]:
        """Of each register."""
        self._read(registers, set())
        return [self._polynomials[register] for register in registers]

    def _product(self, x: Polynomial, y: Polynomial) -> Polynomial:
        total: Polynomial = {}
        for key, number in multiplied(x, y).items():
            total = self._with(total, key, number)
        if len(total) > _MOST_TERMS:
            raise _too_long()
        return total

    def _with(self, total: Polynomial, key: tuple[Monomial, Monomial], number: float) -> Polynomial:
        """One more term, in the form that dependent functions share."""
        hot, cold = key
        simpler = self._simpler(hot + cold)
        if simpler is None:
            value = total.get(key, 0.0) + number
            if abs(value) <= _DUST * abs(number):
                total.pop(key, None)
            else:
                total[key] = value
            return total
        left_out, instead = simpler
        for factor in left_out:
            if factor in hot:
                hot = without(hot, factor)
            else:
                cold = without(cold, factor)
        for (new_hot, new_cold), value in instead.items():
            new = (tuple(sorted(hot + new_hot)), tuple(sorted(cold + new_cold)))
            total = self._with(total, new, number * value)
        return total

    def _simpler(self, factors: Monomial) -> tuple[Monomial, Polynomial] | None:
        """(two factors, what their product is), if that is known."""
        present = set(factors)
        for factor in factors:
            base = self._inverses.get(factor)
            if base in present:
                return (factor, base), {((), ()): 1.0}
        for factor, following in pairwise(sorted(factors)):
            if factor == following:
                if factor not in self._squares:
                    self._squares[factor] = self._square(factor)
                square = self._squares[factor]
                if square is not None:
                    return (factor, factor), square
        return None

    def _square(self, factor: Register) -> Polynomial | None:
        """The square of an atom, if there is another form of it."""
        name, arguments = self._tape.operations[factor]
        if name == "sin":
            ((key, _),) = self._function("cos", arguments[0]).items()
            twice = (tuple(sorted(key[0] * 2)), tuple(sorted(key[1] * 2)))
            return {((), ()): 1.0, twice: -1.0}
        if name in ("sqrt", "abs"):
            inside = self._polynomials[arguments[0]]
            return inside if name == "sqrt" else self._product(inside, inside)
        base = self._inverses.get(factor)
        if base is not None and self._tape.operations[base].name in ("sqrt", "abs"):
            square = self._square(base)
            return None if square is None else self._inverse(square)
        return None

    def _quotient(self, above: Register, below: Register) -> Polynomial | None:
        denominator = self._polynomials[below]
        if not denominator:
            return None  # 0 in the denominator for every state: infinite, and left so
        return self._product(self._polynomials[above], self._inverse(denominator))

    def _inverse(self, x: Polynomial) -> Polynomial:
        """1/x: factors that all terms have in common each by itself, the rest as one atom."""
        keys = list(x)
        hot, cold = (common_factors(products) for products in zip(*keys, strict=True))
        number = x[min(keys)]  # so that (2a + 2b) and (a + b) are one atom
        result: Polynomial = {((), ()): 1.0 / number}
        for factor in (*hot, *cold):
            result = self._product(result, self._inverse_of_atom(factor))
        if len(keys) > 1:
            rest = {
                (without_all(key[0], hot), without_all(key[1], cold)): value / number
                for key, value in x.items()
            }
            result = self._product(result, self._inverse_of_atom(self._register_of(rest)))
        return result

    def _inverse_of_atom(self, register: Register) -> Polynomial:
        if register in self._inverses:
            return self._polynomials[self._inverses[register]]
        inverse = self._tape.operate("div", self._tape.constant(1.0), register)
        self._inverses[inverse] = register
        return self._atom_like(inverse, register)

    def _register_of(self, x: Polynomial) -> Register:
        """Where a polynomial stands, in its one form."""
        register = written(self._tape, x)
        if any(hot for hot, _ in x):
            self._hot.add(register)
        self._polynomials.setdefault(register, x)
        return register

    def _atom_like(self, register: Register, *arguments: Register) -> Polynomial:
        """An operation as an atom, hot if one of its arguments is."""
        if any(argument in self._hot for argument in arguments):
            self._hot.add(register)
        atom = self._atom(register)
        self._polynomials.setdefault(register, atom)
        return atom

    def _other(self, register: Register) -> Polynomial:
        """A function: of arguments in their one form."""
        name, arguments = self._tape.operations[register]
        if self._tape.kind(register) is not float:
            return self._atom_like(register)
        if name in ("sin", "cos"):
            return self._turned(name, self._polynomials[arguments[0]])
        if name == "tan":
            sine, cosine = (self._turned(f, self._polynomials[arguments[0]]) for f in _BOTH)
            return (
                self._product(sine, self._inverse(cosine)) if cosine else self._atom_like(register)
            )
        if name in ("sqrt", "rsqrt"):
            root = self._root(self._polynomials[arguments[0]])
            return root if name == "sqrt" or not root else self._inverse(root)
        if name == "select":
            chosen = self._almost_everywhere(*self._tape.operations[arguments[0]])
            if chosen is not None:
                return self._polynomials[arguments[2 if chosen else 1]]
        if name in ("add", "sub"):
            raise _too_long()
        if name == "div":  # over zero, for every state
            return self._atom_like(register, *arguments)
        return self._function(name, *(self._argument(p) for p in arguments))

    def _almost_everywhere(self, name: str, compared: tuple[Any, ...]) -> bool | None:
        """What a comparison says but for single points; None if that depends."""
        if name not in ("eq", "ne", "gt", "ge", "lt", "le"):
            return None
        if any(self._tape.kind(register) is not float for register in compared):
            return None  # whole numbers are equal more often
        x, y = (self._polynomials[register] for register in compared)
        difference = added(x, scaled(y, -1.0)) if name[0] != "l" else added(y, scaled(x, -1.0))
        if name in ("eq", "ne"):
            if difference and self._may_stand_still(difference):
                return None
            return (name == "ne") == bool(difference)
        squares = all(
            number > 0 and all((hot + cold).count(factor) % 2 == 0 for factor in hot + cold)
            for (hot, cold), number in difference.items()
        )
        return True if squares and difference else None

    def _may_stand_still(self, difference: Polynomial) -> bool:
        """Whether something vanishes on more than single points, as max(x, 1) − 1 does."""
        products = [hot + cold for hot, cold in difference if hot + cold]
        needed = self._tape.needed_for([factor for product in products for factor in product])
        names = {self._tape.operations[register].name for register in needed}
        if [len(product) for product in products] == [1]:
            names.discard("abs")  # |x| − 1 vanishes where x does one of two things
        return not names.isdisjoint(_IN_PIECES)

    def _argument(self, register: Register) -> Register:
        is_real = self._tape.kind(register) is float
        return self._register_of(self._polynomials[register]) if is_real else register

    def _function(self, name: str, *arguments: Register) -> Polynomial:
        register = self._tape.operate(name, *arguments)
        return self._atom_like(register, *arguments)

    def _turned(self, name: str, angle: Polynomial) -> Polynomial:
        """sin or cos of an angle, by those of its terms."""
        if not angle:
            return {((), ()): 1.0} if name == "cos" else {}
        key = min(angle)
        first, rest = angle[key], {k: n for k, n in angle.items() if k != key}
        if not rest and key == ((), ()):
            value = float(np.sin(first) if name == "sin" else np.cos(first))
            return {((), ()): value} if abs(value) > _DUST else {}
        if not rest and first < 0:
            return scaled(self._turned(name, {key: -first}), 1.0 if name == "cos" else -1.0)
        if not rest and first > 1 and first == int(first) and first <= _LARGEST_MULTIPLE:
            rest, first = {key: first - 1}, 1.0
        if not rest:
            return self._function(name, self._register_of(angle))
        one, other = {key: first}, rest
        (s, c), (other_s, other_c) = (
            [self._turned(f, part) for f in _BOTH] for part in (one, other)
        )
        if name == "sin":
            return added(self._product(s, other_c), self._product(c, other_s))
        return added(self._product(c, other_c), scaled(self._product(s, other_s), -1.0))

    def _root(self, x: Polynomial) -> Polynomial:
        """√x; squares that all terms have in common go outside as absolute values."""
        if len(x) != 1:
            return self._function("sqrt", self._register_of(x))
        (((hot, cold), number),) = x.items()
        if number < 0:
            return self._function("sqrt", self._register_of(x))
        result: Polynomial = {((), ()): float(np.sqrt(number))}
        inside: list[Register] = []
        for factor in (*hot, *cold):
            if factor in inside:
                inside.remove(factor)
                result = self._product(result, self._function("abs", factor))
            else:
                inside.append(factor)
        if inside:
            left: Polynomial = {((), ()): 1.0}
            for factor in inside:
                left = self._product(left, self._polynomials[factor])
            result = self._product(result, self._function("sqrt", self._register_of(left)))
        return result


_BOTH = ("sin", "cos")
# Functions that may be constant, or equal to one another, on more than single points.
_IN_PIECES = frozenset(
    ("abs", "ceil", "floor", "max", "min", "rem", "round_away", "round_even", "select", "sign")
    + ("to_float",)
)


def _too_long() -> NotScalar:
    return NotScalar(
        f"multiplied out, an expression has more than {_MOST_TERMS} terms: give fewer parameters "
        "names, and the others their numbers"
    )
