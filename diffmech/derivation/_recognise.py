"""Which product of a machine's quantities a row of numbers is.

    y = number × Π a^e   ⇒   log|y| = log|number| + Σ e log|a|

linear in the exponents, over many states with parameters of their own; they are rounded to whole
numbers, and the product is then compared with y exactly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_ROUND = 0.02  # what an exponent may be off a whole number before it is compared
_LARGEST = 4  # exponent
_FEW_FACTORS = 2  # of a product with a number that nobody would write
_LARGEST_NUMBER = 100
_NEW = 1e-6  # of its size: how far a logarithm must be from all combinations of the others


class Product(NamedTuple):
    """number × Π name^exponent."""

    number: float
    exponents: tuple[tuple[str, int], ...]

    @property
    def weight(self) -> int:
        """How many factors it has."""
        return sum(abs(power) for _, power in self.exponents)

    def __str__(self) -> str:
        above = [_power(name, power) for name, power in self.exponents if power > 0]
        below = [_power(name, -power) for name, power in self.exponents if power < 0]
        number = f"{self.number:.10g}"
        if above and abs(abs(self.number) - 1) < 1e-9:
            text = "-" * (self.number < 0) + "*".join(above)
        else:
            text = "*".join([number, *above])
        if not below:
            return text
        return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


class Quantities:
    """The factors that a product may be made of, at many states."""

    def __init__(self, named: dict[str, np.ndarray], states: int):
        self.names: list[str] = []
        values: list[np.ndarray] = []
        logs = [np.ones(states)]
        basis = np.ones((states, 1)) / np.sqrt(states)
        for name, one in named.items():
            with np.errstate(all="ignore"):
                log = np.log(np.abs(one))
            if not np.all(np.isfinite(log)) or np.ptp(log) < 1e-9:
                continue
            # What is a product of others already, as sin 2x is, would make exponents ambiguous.
            rest = log - basis @ (basis.T @ log)
            rest -= basis @ (basis.T @ rest)
            if np.linalg.norm(rest) < _NEW * np.linalg.norm(log - np.mean(log)):
                continue
            basis = np.concatenate([basis, rest[:, None] / np.linalg.norm(rest)], axis=1)
            self.names.append(name)
            values.append(one)
            logs.append(log)
        self.values = np.stack(values, axis=1) if values else None
        self._inverse = np.linalg.pinv(np.stack(logs, axis=1))

    def kept(self, which: np.ndarray) -> "Quantities":
        """At some of the states."""
        if np.all(which):
            return self
        named = {}
        if self.values is not None:
            named = {name: self.values[which, i] for i, name in enumerate(self.names)}
        return Quantities(named, int(np.sum(which)))

    def value(self, product: Product) -> np.ndarray:
        """What a product of the quantities is at every state, shape (states,)."""
        total = np.full(self._inverse.shape[1], product.number)
        for name, power in product.exponents:
            assert self.values is not None
            total = total * self.values[:, self.names.index(name)] ** power
        return total

    def products(
        self, ys: np.ndarray, weights: np.ndarray, allowed: Sequence[float]
    ) -> list[Product | None]:
        """For each column of `ys`, shape (states, columns), the product that it is, if any.

        Exact where |y − product| × weight is at most `allowed` of each column, in the mean square.
        """
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(ys))
        usable = np.all(np.isfinite(logs), axis=0)
        exponents = self._inverse @ np.where(usable, logs, 0.0)
        named: list[Product | None] = []
        for k in range(ys.shape[1]):
            powers = exponents[1:, k]
            whole = np.rint(powers)
            plain = (
                usable[k]
                and np.all(np.abs(powers - whole) < _ROUND)
                and np.all(np.abs(whole) <= _LARGEST)
            )
            named.append(self._exact(ys[:, k], whole, weights[:, k], allowed[k]) if plain else None)
        return named

    def _exact(
        self, y: np.ndarray, powers: np.ndarray, weight: np.ndarray, allowed: float
    ) -> Product | None:
        product = np.ones(len(y))
        if self.values is not None:
            product = np.prod(self.values**powers, axis=1)
        number = float(np.median(y / product))
        if not np.sqrt(np.mean(((y - number * product) * weight) ** 2)) <= allowed:
            return None
        names = [(self.names[i], int(powers[i])) for i in np.flatnonzero(powers)]
        fraction = _fraction(number)
        plain = fraction is not None and abs(fraction) <= _LARGEST_NUMBER
        if not plain and np.sum(np.abs(powers)) > _FEW_FACTORS:
            return None  # parameters in proportion may be anything times the right number
        return Product(tidy(number), tuple(names))


def tidy(number: float) -> float:
    """A number without the dust of rounding."""
    fraction = _fraction(number)
    return float(f"{number:.10g}") if fraction is None else fraction


def _fraction(number: float) -> float | None:
    """A fraction such as stands in equations."""
    for denominator in (1, 2, 3, 4, 5, 6, 8, 12):
        whole = round(number * denominator)
        if whole and abs(number * denominator - whole) < 1e-7 * max(1.0, abs(whole)):
            return whole / denominator
    return None
