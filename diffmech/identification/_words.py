"""Which combinations of numbers the equations determine, in words.

A product of powers of letters (`_letters`) is determined if its gradient by the free numbers lies
in the row space of the sensitivity, at several values of the numbers; of those, a few simple ones
are chosen that say everything.
"""

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from ..scalars import Arrays, Coefficient, Evaluation, NotScalar, Register, gathered, given, spelled
from ._balance import Balance
from ._letters import Alphabet, Exponents, Letter, coefficients_of, free_registers
from ._sensitivity import Sensitivity

_STEP = 1e-3  # of log p: the five-point rule leaves 1e-12
_OUTSIDE = 1e-6  # of a gradient that may lie outside of the row space: rounding leaves 1e-9
_MOST_LETTERS = 36  # of which all triples are tried
_LATE = 1000.0  # more weight than any product has


class Combination(NamedTuple):
    """A determined product of powers of letters: text, register, and whether it is one number."""

    text: str
    register: Register
    single: bool


class Words(NamedTuple):
    """Determined combinations, simple ones first, and the equations they were found in."""

    balance: Balance
    combinations: list[Combination]

    def values(self, numbers: np.ndarray) -> np.ndarray:
        """Of each combination, shape (combinations,), for free numbers of shape (p,)."""
        registers = [one.register for one in self.combinations]
        return _values(self.balance, registers, numbers[None])[0]


def words_of(balance: Balance, rank: int, points: Sequence[Sensitivity]) -> Words:
    """`rank` determined combinations, or fewer if no more are found.

    Args:
        points: the sensitivity at several values of the numbers, the given ones first.
    """
    if rank == len(balance.free.names):
        alone = zip(balance.free.names, free_registers(balance), strict=True)
        return Words(balance, [Combination(name, register, True) for name, register in alone])
    coefficients = _coefficients(balance)
    if coefficients is None:  # too long with names for everything
        balance = balance.with_numbers()
        coefficients = _coefficients(balance)
    if coefficients is None:
        return Words(balance, [])
    alphabet = Alphabet(balance)
    for register in alphabet.free:
        alphabet.read({(register,): 1.0})
    spellings = [alphabet.read(coefficient) for coefficient in coefficients]
    return Words(balance, _chosen(alphabet, spellings, rank, points))


def _coefficients(balance: Balance) -> list[Coefficient] | None:
    """Those of the equations; None if there are no equations to read, or too long ones."""
    try:
        return coefficients_of(balance) if balance.written else None
    except NotScalar:
        return None


def _values(balance: Balance, registers: Sequence[Register], numbers: np.ndarray) -> np.ndarray:
    """Functions of the numbers, shape (lanes, p), at registers: shape (lanes, registers)."""
    if not registers:
        return np.zeros((len(numbers), 0))
    known = given(balance.inputs[-1], balance.free.put(balance.params, numbers))
    values = Evaluation(balance.tape, Arrays(), known).of(np.array(registers))
    return gathered(values, len(numbers))


def _gradients(balance: Balance, registers: Sequence[Register], numbers: np.ndarray) -> np.ndarray:
    """∂ log |letter|/∂ log p, shape (letters, p)."""
    p = len(numbers)
    steps = _STEP * np.array([-2, -1, 1, 2])
    weights = np.array([1, -8, 8, -1]) / (12 * _STEP)
    lanes = numbers * np.exp(np.eye(p)[:, None, :] * steps[:, None])
    values = _values(balance, registers, lanes.reshape(-1, p))
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(values)).T.reshape(len(registers), p, 4)
        return logs @ weights


def _chosen(
    alphabet: Alphabet, spellings: list[Exponents], rank: int, points: Sequence[Sensitivity]
) -> list[Combination]:
    """The simplest products that are determined and say all there is to say."""
    letters = list(alphabet.letters.values())
    registers = [letter.register for letter in letters]
    slopes = [_gradients(alphabet.balance, registers, point.numbers) for point in points[1:]]
    sound = np.all(np.isfinite(slopes), axis=(0, 2))
    slopes = [np.where(sound[:, None], slope, 0.0) for slope in slopes]
    tried = _tried(letters, sound, spellings)
    outside = np.zeros(len(tried))
    for slope, point in zip(slopes, points[1:], strict=True):
        gradients = tried @ slope
        missed = np.linalg.norm(gradients @ point.null_space(rank), axis=1)
        lengths = np.linalg.norm(gradients, axis=1)
        outside = np.maximum(outside, missed / np.maximum(lengths, 1e-300))
    good = tried[outside < _OUTSIDE]
    weights = np.array([letter.weight for letter in letters])
    given_numbers = points[0].numbers
    zero = _values(alphabet.balance, registers, given_numbers[None])[0] == 0
    empty = [np.all(given_numbers[alphabet.numbers_in(register)] == 0) for register in registers]
    # Numbers that are zero at the given values come last, over something that is not zero.
    hollow = np.sum(good[:, zero] != 0, axis=1) > 1
    late = np.any(good[:, np.array(empty)] != 0, axis=1) | hollow
    order = np.argsort(np.abs(good) @ weights + _LATE * late + _LATE * hollow, kind="stable")
    kept: list[np.ndarray] = []
    for exponents in good[order]:
        if len(kept) == rank:
            break
        more = np.array([*kept, exponents]) @ slopes[0]
        if np.linalg.matrix_rank(more, tol=_OUTSIDE) > len(kept):
            kept.append(exponents)
    turned = [_upright(exponents, kept, weights, zero) for exponents in kept]
    return [_combination(alphabet, letters, exponents) for exponents in turned]


def _tried(letters: list[Letter], sound: np.ndarray, spellings: list[Exponents]) -> np.ndarray:
    """Products of powers that may be determined, shape (products, letters)."""
    count = len(letters)
    index = {letter.register: i for i, letter in enumerate(letters)}
    rows: list[np.ndarray] = []
    few = 3 if count <= _MOST_LETTERS else 2
    for size in range(1, few + 1):
        for chosen in combinations(range(count), size):
            for powers in product((1, -1), *[(1, -1, 2, -2)] * (size - 1)):
                if powers[0] > 0:
                    row = np.zeros(count)
                    row[list(chosen)] = powers
                    rows.append(row)
    spelled_out = np.zeros((len(spellings), count))
    for row, exponents in zip(spelled_out, spellings, strict=True):
        for register, power in exponents.items():
            row[index[register]] = power
    spelled_out = np.unique(spelled_out, axis=0)
    rows += [*spelled_out, *(x - y for x, y in combinations(spelled_out, 2))]
    tried = np.array(rows)
    return tried[np.any(tried != 0, axis=1) & ~np.any(tried[:, ~sound] != 0, axis=1)]


def _upright(
    exponents: np.ndarray, kept: list[np.ndarray], weights: np.ndarray, zero: np.ndarray
) -> np.ndarray:
    """A product or its inverse: never zero below the line.

    Else what most products have in common stands below, else the shorter side.
    """
    sides = (exponents > 0, exponents < 0)
    shared = np.sum([row != 0 for row in kept], axis=0)
    ranks = [
        (not np.any(side & zero), np.max(shared[side], initial=0), -weights[side].sum())
        if np.any(side)
        else (True, np.inf, 0.0)  # nothing below the line is best
        for side in sides
    ]
    return exponents if ranks[1] >= ranks[0] else -exponents


def _combination(alphabet: Alphabet, letters: list[Letter], exponents: np.ndarray) -> Combination:
    tape = alphabet.tape
    result = tape.constant(1.0)
    for letter, power in zip(letters, exponents.astype(int).tolist(), strict=True):
        if power:
            factor = tape.power(letter.register, abs(power))
            result = tape.operate("mul" if power > 0 else "div", result, factor)
    return Combination(spelled(tape, result, alphabet.names), result, result in alphabet.names)
