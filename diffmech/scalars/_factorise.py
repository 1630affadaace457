"""Polynomials written back on a tape: like factors outside, squares of sines and cosines joined."""

from collections import Counter
from typing import TypeAlias

from ._polynomials import Monomial, Polynomial, added, without
from ._tape import Register, Tape

Term: TypeAlias = tuple[float, Monomial]


def written(tape: Tape, polynomial: Polynomial) -> Register:
    """A polynomial on the tape: cold factors worked out first, common ones outside."""
    polynomial = _with_squares_joined(tape, polynomial)
    cold: dict[Monomial, list[Term]] = {}
    for (hot, factors), number in polynomial.items():
        cold.setdefault(hot, []).append((number, factors))
    terms: list[Term] = []
    for hot, parts in cold.items():
        number, rest = parts[0] if len(parts) == 1 else (1.0, ())
        if len(parts) > 1:
            sign, register = _factorised(tape, parts)
            number, rest = sign, (register,)
        elif rest:
            rest = (_multiplied(tape, rest),)
        terms.append((number, tuple(sorted((*hot, *rest)))))
    if not terms:
        return tape.constant(0.0)
    sign, register = _factorised(tape, terms)
    return tape.operate("neg", register) if sign < 0 else register


def _multiplied(tape: Tape, factors: Monomial) -> Register:
    result = factors[0]
    for factor in factors[1:]:
        result = tape.operate("mul", result, factor)
    return result


def _factorised(tape: Tape, terms: list[Term]) -> tuple[float, Register]:
    """(1 or −1, register of a sum up to that sign): the most common factor outside, and so on."""
    terms = sorted(terms, key=lambda term: term[1])
    sign = -1.0 if terms[0][0] < 0 else 1.0
    terms = [(sign * number, factors) for number, factors in terms]
    if len(terms) == 1:
        number, factors = terms[0]
        register = _multiplied(tape, factors) if factors else tape.constant(1.0)
        return sign, tape.operate("mul", tape.constant(number), register)
    number = terms[0][0]
    if number != 1.0 and all(abs(other) == number for other, _ in terms):
        inner, register = _factorised(tape, [(n / number, factors) for n, factors in terms])
        return sign * inner, tape.operate("mul", tape.constant(number), register)
    counts = Counter(factor for _, factors in terms for factor in set(factors))
    best, count = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    if count < 2:
        total = None
        for number, factors in terms:
            term_sign, register = _factorised(tape, [(number, factors)])
            if total is None:
                total = register  # the first is positive
            else:
                total = tape.operate("add" if term_sign > 0 else "sub", total, register)
        assert total is not None
        return sign, total
    inside = [(n, without(factors, best)) for n, factors in terms if best in factors]
    outside = [(n, factors) for n, factors in terms if best not in factors]
    inner, register = _factorised(tape, inside)
    product = tape.operate("mul", best, register)
    if not outside:
        return sign * inner, product
    rest_sign, rest = _factorised(tape, outside)
    if inner == rest_sign:
        return sign * inner, tape.operate("add", product, rest)
    return sign * inner, tape.operate("sub", product, rest)


def _with_squares_joined(tape: Tape, polynomial: Polynomial) -> Polynomial:
    """c sin²x y + c cos²x y = c y, wherever both are there with the same c."""
    waiting = list(polynomial)
    while waiting:
        hot, cold = key = waiting.pop()
        for factor in {f for f in hot if hot.count(f) > 1}:
            if key not in polynomial or tape.operations[factor].name != "sin":
                continue
            cosine = tape.operate("cos", tape.operations[factor].arguments[0])
            rest = without(without(hot, factor), factor)
            other = (tuple(sorted((*rest, cosine, cosine))), cold)
            number = polynomial[key]
            if polynomial.get(other) == number:
                left = {k: n for k, n in polynomial.items() if k not in (key, other)}
                polynomial = added(left, {(rest, cold): number})
                # The rest may be half of another pair, by its sines or by its cosines.
                waiting = list(polynomial)
    return polynomial
