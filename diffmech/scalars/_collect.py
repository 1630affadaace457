"""Sums of products, multiplied out, collected and factorised again.

Derivatives of a Lagrangian come as long sums in which many terms cancel or differ only by factors
that do not change along a motion. Here every expression is a polynomial in *atoms* (inputs, sines,
quotients, ...), a sum of number × cold atoms × hot atoms, where the hot ones depend on inputs that
vary. Like terms meet, c·sin²x·y + c·cos²x·y becomes c·y, and what is left is factorised so that
cold factors and common ones stand outside. Exact but for the order of rounding.
"""

from collections import Counter
from typing import Any, TypeAlias

import numpy as np

from ._algebra import varying_places
from ._shapes import Places
from ._tape import Place, Tape

Monomial: TypeAlias = tuple[Place, ...]  # sorted, with repetitions
Polynomial: TypeAlias = dict[tuple[Monomial, Monomial], float]  # (hot, cold) -> number
Term: TypeAlias = tuple[float, Monomial]

_MOST_TERMS = 400  # of one polynomial; larger products stay products


def collected(tape: Tape, places: Any, inputs: Any, far: Any = ()) -> Places:
    """The same values at places that cost fewer operations while `inputs` vary, if there are any.

    What does not depend on `inputs` is free, since it is worked out once. An input may be any
    place: what it is made of is not looked at. Inputs in `far` may be large while their differences
    are small.
    """
    places = np.asarray(places, dtype=np.int64)
    made = _Collector(tape, places, inputs, far).result()
    return min((places, made), key=lambda way: len(varying_places(tape, way, inputs)))


class _Collector:
    def __init__(self, tape: Tape, places: Places, inputs: Any, far: Any):
        self._tape = tape
        self._far = {int(place) for place in np.ravel(far)}
        self._places = places
        self._hot = varying_places(tape, places, inputs)
        self._inputs = {int(place) for place in np.ravel(inputs)}
        self._polynomials: dict[Place, Polynomial] = {}
        self._rebuilt: dict[Place, Place] = {}

    def result(self) -> Places:
        for place in self._tape.needed_for(self._places.ravel(), self._inputs):
            known = place in self._inputs
            self._polynomials[place] = self._atom(place) if known else self._polynomial(place)
        flat = [self._place(int(place)) for place in self._places.ravel()]
        return np.array(flat, dtype=np.int64).reshape(self._places.shape)

    def _place(self, place: Place) -> Place:
        """Where the collected form of a place stands."""
        if place not in self._rebuilt:
            self._rebuilt[place] = self._written(self._polynomials[place])
        return self._rebuilt[place]

    def _atom(self, place: Place) -> Polynomial:
        if self._tape.is_constant(place) and self._tape.kind(place) is float:
            return {((), ()): float(self._tape.value(place))}
        return {((place,), ()): 1.0} if place in self._hot else {((), (place,)): 1.0}

    def _polynomial(self, place: Place) -> Polynomial:
        name, arguments = self._tape.operations[place]
        if name in ("constant", "input"):
            return self._atom(place)
        if self._tape.kind(place) is not float:
            # Whole numbers and truth values have their own arithmetic: 3/2 = 1.
            self._rebuilt[place] = place
            return self._atom(place)
        if name == "neg":
            return _scaled(self._polynomials[arguments[0]], -1.0)
        if name in ("add", "sub"):
            x, y = (self._polynomials[p] for p in arguments)
            total = _sum(x, y if name == "add" else _scaled(y, -1.0))
            if len(total) <= _MOST_TERMS:
                return total
        elif name == "mul":
            x, y = self._factors(*(self._polynomials[p] for p in arguments))
            if len(x) * len(y) <= _MOST_TERMS:
                return _product(x, y)
        elif name == "div" and arguments[1] not in self._hot:
            one = self._tape.operate("div", self._tape.constant(1.0), arguments[1])
            return _product(*self._factors(self._polynomials[arguments[0]], self._atom(one)))
        # Anything else stays as it was written, with all it is made of: the argument of a square
        # root may be a small difference.
        self._rebuilt[place] = place
        return self._atom(place)

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
        place = self._written(x)
        if not self._tape.is_constant(place):
            self._hot.add(place)
            self._far.add(place)
        return self._atom(place)

    def _written(self, polynomial: Polynomial) -> Place:
        """A polynomial on the tape: cold factors worked out first, common ones outside."""
        polynomial = self._with_squares_joined(polynomial)
        cold: dict[Monomial, list[Term]] = {}
        for (hot, factors), number in polynomial.items():
            cold.setdefault(hot, []).append((number, factors))
        terms: list[Term] = []
        for hot, parts in cold.items():
            number, rest = parts[0] if len(parts) == 1 else (1.0, ())
            if len(parts) > 1:
                sign, place = self._factorised(parts)
                number, rest = sign, (place,)
            elif rest:
                rest = (self._multiplied(rest),)
            terms.append((number, tuple(sorted((*hot, *rest)))))
        if not terms:
            return self._tape.constant(0.0)
        sign, place = self._factorised(terms)
        return self._tape.operate("neg", place) if sign < 0 else place

    def _multiplied(self, factors: Monomial) -> Place:
        result = factors[0]
        for factor in factors[1:]:
            result = self._tape.operate("mul", result, factor)
        return result

    def _factorised(self, terms: list[Term]) -> tuple[float, Place]:
        """(1 or −1, place of a sum up to that sign): the most common factor outside, and so on."""
        tape = self._tape
        terms = sorted(terms, key=lambda term: term[1])
        sign = -1.0 if terms[0][0] < 0 else 1.0
        terms = [(sign * number, factors) for number, factors in terms]
        if len(terms) == 1:
            number, factors = terms[0]
            place = self._multiplied(factors) if factors else tape.constant(1.0)
            return sign, tape.operate("mul", tape.constant(number), place)
        number = terms[0][0]
        if number != 1.0 and all(abs(other) == number for other, _ in terms):
            inner, place = self._factorised([(n / number, factors) for n, factors in terms])
            return sign * inner, tape.operate("mul", tape.constant(number), place)
        counts = Counter(factor for _, factors in terms for factor in set(factors))
        best, count = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if count < 2:
            total = None
            for number, factors in terms:
                term_sign, place = self._factorised([(number, factors)])
                if total is None:
                    total = place  # the first is positive
                else:
                    total = tape.operate("add" if term_sign > 0 else "sub", total, place)
            assert total is not None
            return sign, total
        inside = [(n, _without(factors, best)) for n, factors in terms if best in factors]
        outside = [(n, factors) for n, factors in terms if best not in factors]
        inner, place = self._factorised(inside)
        product = tape.operate("mul", best, place)
        if not outside:
            return sign * inner, product
        rest_sign, rest = self._factorised(outside)
        if inner == rest_sign:
            return sign * inner, tape.operate("add", product, rest)
        return sign * inner, tape.operate("sub", product, rest)

    def _with_squares_joined(self, polynomial: Polynomial) -> Polynomial:
        """c sin²x y + c cos²x y = c y, wherever both are there with the same c."""
        waiting = list(polynomial)
        while waiting:
            hot, cold = key = waiting.pop()
            for factor in {f for f in hot if hot.count(f) > 1}:
                if key not in polynomial or self._tape.operations[factor].name != "sin":
                    continue
                cosine = self._tape.operate("cos", self._tape.operations[factor].arguments[0])
                rest = _without(_without(hot, factor), factor)
                other = (tuple(sorted((*rest, cosine, cosine))), cold)
                number = polynomial[key]
                if polynomial.get(other) == number:
                    left = {k: n for k, n in polynomial.items() if k not in (key, other)}
                    polynomial = _sum(left, {(rest, cold): number})
                    # The rest may be half of another pair, by its sines or by its cosines.
                    waiting = list(polynomial)
        return polynomial


def _without(factors: Monomial, factor: Place) -> Monomial:
    i = factors.index(factor)
    return factors[:i] + factors[i + 1 :]


def _scaled(x: Polynomial, number: float) -> Polynomial:
    return {key: number * value for key, value in x.items()}


def _sum(x: Polynomial, y: Polynomial) -> Polynomial:
    total = dict(x)
    for key, value in y.items():
        total[key] = total.get(key, 0.0) + value
        if total[key] == 0:
            del total[key]
    return total


def _product(x: Polynomial, y: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for (hot, cold), number in x.items():
        for (other_hot, other_cold), other in y.items():
            key = (tuple(sorted(hot + other_hot)), tuple(sorted(cold + other_cold)))
            total[key] = total.get(key, 0.0) + number * other
            if total[key] == 0:
                del total[key]
    return total
