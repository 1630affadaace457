"""Registers of a tape as polynomials in *atoms*: inputs, sines, quotients, whatever is no sum.

A polynomial is a sum of number × cold atoms × hot atoms, where the hot ones depend on inputs that
vary. How far products are multiplied out is decided by each reader.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TypeAlias

from ._tape import Register, Tape

Monomial: TypeAlias = tuple[Register, ...]  # sorted, with repetitions
Polynomial: TypeAlias = dict[tuple[Monomial, Monomial], float]  # (hot, cold) -> number


def without(factors: Monomial, factor: Register) -> Monomial:
    """A product with one of its factors left out, once."""
    i = factors.index(factor)
    return factors[:i] + factors[i + 1 :]


def without_all(factors: Monomial, taken: Monomial) -> Monomial:
    """A product with several of its factors left out."""
    for factor in taken:
        factors = without(factors, factor)
    return factors


def common_factors(products: Iterable[Monomial]) -> Monomial:
    """The factors that all products share, as often as all have them."""
    first, *others = products
    shared: Monomial = ()
    for factor in first:
        if all(factor in other for other in others):
            others = [without(other, factor) for other in others]
            shared += (factor,)
    return shared


def scaled(x: Polynomial, number: float) -> Polynomial:
    """number × x."""
    return {key: number * value for key, value in x.items()}


def added(x: Polynomial, y: Polynomial) -> Polynomial:
    """x + y."""
    total = dict(x)
    for key, value in y.items():
        total[key] = total.get(key, 0.0) + value
        if total[key] == 0:
            del total[key]
    return total


def multiplied(x: Polynomial, y: Polynomial) -> Polynomial:
    """x y, multiplied out."""
    total: Polynomial = {}
    for (hot, cold), number in x.items():
        for (other_hot, other_cold), other in y.items():
            key = (tuple(sorted(hot + other_hot)), tuple(sorted(cold + other_cold)))
            total[key] = total.get(key, 0.0) + number * other
            if total[key] == 0:
                del total[key]
    return total


class AbstractReader(ABC):
    """Reads registers as polynomials, each once.

    Sums and signs are read here; what becomes of products, quotients and other operations is for
    each reader to say.
    """

    def __init__(self, tape: Tape, hot: set[Register], most_terms: int):
        self._tape = tape
        self._hot = hot
        self._most_terms = most_terms
        self._polynomials: dict[Register, Polynomial] = {}

    def _read(self, registers: Iterable[Register], known: set[Register]) -> None:
        """All that registers need; of `known` ones it is not looked at what they are made of."""
        for register in self._tape.needed_for(list(registers), known):
            if register not in self._polynomials:
                whole = register in known
                self._polynomials[register] = (
                    self._atom(register) if whole else self._polynomial(register)
                )

    def _atom(self, register: Register) -> Polynomial:
        if self._tape.is_constant(register) and self._tape.kind(register) is float:
            return {((), ()): float(self._tape.value(register))}
        return {((register,), ()): 1.0} if register in self._hot else {((), (register,)): 1.0}

    def _polynomial(self, register: Register) -> Polynomial:
        name, arguments = self._tape.operations[register]
        if name in ("constant", "input"):
            return self._atom(register)
        if self._tape.kind(register) is not float:
            # Whole numbers and truth values have their own arithmetic: 3/2 = 1.
            return self._other(register)
        if name == "neg":
            return scaled(self._polynomials[arguments[0]], -1.0)
        polynomial = None
        if name in ("add", "sub"):
            x, y = (self._polynomials[p] for p in arguments)
            polynomial = added(x, y if name == "add" else scaled(y, -1.0))
            polynomial = polynomial if len(polynomial) <= self._most_terms else None
        elif name == "mul":
            polynomial = self._product(*(self._polynomials[p] for p in arguments))
        elif name == "div":
            polynomial = self._quotient(*arguments)
        return self._other(register) if polynomial is None else polynomial

    @abstractmethod
    def _product(self, x: Polynomial, y: Polynomial) -> Polynomial | None:
        """x y; None if it is to stay a product."""

    @abstractmethod
    def _quotient(self, above: Register, below: Register) -> Polynomial | None:
        """One register over another; None if it is to stay a quotient."""

    @abstractmethod
    def _other(self, register: Register) -> Polynomial:
        """Any other operation, and what stays as it is."""
