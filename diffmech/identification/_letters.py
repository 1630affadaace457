"""The coefficients of a machine's equations, spelled in letters.

The equations are sums of c_k(numbers) f_k(state). A c_k is a product of powers of *letters*: the
free numbers themselves, functions of them, and sums that cannot be split, such as IBx − IBy.
"""

from typing import Any, NamedTuple

import jax
import numpy as np

from ..model import entry_name, parameter_names
from ..scalars import (
    Coefficient,
    Register,
    Tape,
    common_factors,
    terms,
    varying_registers,
    without_all,
    written_coefficient,
)
from ._balance import Balance

_INSIDE = 20  # functions within functions that are looked into
_FUNCTION = 3.0  # how long a function of numbers is to read, in names

Exponents = dict[Register, int]


class Letter(NamedTuple):
    """A factor of coefficients: its register, and how long it is to read."""

    register: Register
    weight: float


def names_of(balance: Balance) -> dict[Register, str]:
    """The path of every parameter that has no number on the tape, by register."""
    leaves = jax.tree.leaves(balance.inputs[-1])
    return {
        int(register): entry_name(path, index)
        for path, leaf in zip(parameter_names(balance.params), leaves, strict=True)
        for index, register in np.ndenumerate(leaf)
        if not balance.tape.is_constant(int(register))
    }


def free_registers(balance: Balance) -> list[Register]:
    """Of the free numbers, in their order."""
    leaves = jax.tree.leaves(balance.inputs[-1])
    return [int(leaves[leaf][index]) for leaf, index in balance.free.where]


def coefficients_of(balance: Balance) -> list[Coefficient]:
    """Every c_k, those inside of functions of the state included."""
    tape, parameters = balance.tape, list(names_of(balance))
    waiting = [
        int(p) for name in ("force", "position", "rate") for p in balance.registers[name].ravel()
    ]
    coefficients: list[Coefficient] = []
    seen: set[Register] = set()
    for _ in range(_INSIDE):
        inside: set[Register] = set()
        for equation in terms(tape, waiting, parameters):
            for factors, coefficient in equation.items():
                coefficients.append(coefficient)
                inside.update(factors)
        # A width or a rest length inside of a function.
        mixed = [p for p in sorted(inside - seen) if varying_registers(tape, [p], parameters)]
        seen |= inside
        waiting = [
            p
            for atom in mixed
            for p in tape.operations[atom].arguments
            if tape.operations[atom].name != "input" and tape.kind(p) is float
        ]
        if not waiting:
            break
    return coefficients


class Alphabet:
    """Letters, and coefficients spelled in them."""

    def __init__(self, balance: Balance):
        self.balance, self.tape, self.names = balance, balance.tape, names_of(balance)
        self.free = free_registers(balance)
        self.letters: dict[Register, Letter] = {}
        self._sums: dict[Any, Register] = {}

    def read(self, coefficient: Coefficient) -> Exponents:
        """A coefficient as a product of powers of letters; numbers and what is fixed fall out."""
        exponents: Exponents = {}
        cleared, below = _without_denominators(self.tape, coefficient)
        for register, power in below.items():
            self._spell(register, -power, exponents)
        common = common_factors(cleared)
        for register in common:
            self._spell(register, 1, exponents)
        rest = {without_all(factors, common): number for factors, number in cleared.items()}
        if len(rest) > 1:
            register, weight = self._sum(rest)
            self._note(register, weight, 1, exponents)
        return {register: power for register, power in exponents.items() if power}

    def numbers_in(self, register: Register) -> list[int]:
        """Which of the free numbers enter a register."""
        needed = set(self.tape.needed_for([register]))
        return [i for i, number in enumerate(self.free) if number in needed]

    def _sum(self, terms: Coefficient) -> tuple[Register, float]:
        """A sum without common factors, whatever number it was multiplied by."""
        first = min(terms)
        number = np.copysign(min(map(abs, terms.values())), terms[first])
        shape = {factors: value / number for factors, value in terms.items()}
        key = tuple(sorted((factors, round(value, 9)) for factors, value in shape.items()))
        if key not in self._sums:
            self._sums[key] = written_coefficient(self.tape, shape)
        weight = sum(len(factors) + 0.5 * (abs(value) != 1) for factors, value in key)
        return self._sums[key], float(weight)

    def _spell(self, register: Register, power: int, exponents: Exponents) -> None:
        """One factor: a name, or a function of names."""
        self._note(register, 1.0 if register in self.names else _FUNCTION, power, exponents)

    def _note(self, register: Register, weight: float, power: int, exponents: Exponents) -> None:
        if self.numbers_in(register):
            self.letters.setdefault(register, Letter(register, weight))
            exponents[register] = exponents.get(register, 0) + power


def _without_denominators(
    tape: Tape, coefficient: Coefficient
) -> tuple[Coefficient, dict[Register, int]]:
    """(numerator, {factor: power} of the denominator) of a sum of quotients."""
    bases: dict[Register, Register] = {}
    for factor in {factor for factors in coefficient for factor in factors}:
        name, arguments = tape.operations[factor]
        if name == "div" and tape.is_constant(arguments[0]) and tape.value(arguments[0]) == 1:
            bases[factor] = arguments[1]
    below = {
        base: max(factors.count(inverse) for factors in coefficient)
        for inverse, base in bases.items()
    }
    cleared: Coefficient = {}
    for factors, number in coefficient.items():
        kept = [factor for factor in factors if factor not in bases]
        for inverse, base in bases.items():
            kept += [base] * (below[base] - factors.count(inverse))
        key = tuple(sorted(kept))
        cleared[key] = cleared.get(key, 0.0) + number
    return cleared, below
