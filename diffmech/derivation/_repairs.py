"""Which piece of a hand-written expression, put right, would make its equation right.

Every piece x of every operation is tried: where the residual is linear in it, the x′ that makes it
vanish is known at every state, and the question is only whether x′/x, or x′ − x, is a product that
can be named. Inside of functions, likely slips are tried one by one.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..scalars import Register, Tape, on_arrays
from ._explain import Explanation, cost_of, factors_of
from ._recognise import Product, Quantities, tidy

_EXACT = 1e-8  # of the equation's size
_CHANGED = 1e-6  # a repaired equation must still say something: off the motion it does not vanish
_OWN = 0.7  # costs more than an explanation by the machine's terms
_OF_SUMS = 0.3
_LINEAR = 1e-7
_MOST_WORK = 150_000  # operations on arrays, for one equation: about half a second
_SLIPS: tuple[tuple[str, Callable[[Any], Any], float], ...] = (
    ("the sign of {x}", lambda x: -x, 1.4),
    ("factor 2 missing in {x}", lambda x: 2 * x, 1.6),
    ("factor 2 too much in {x}", lambda x: x / 2, 1.6),
    ("{x} does not belong there", lambda x: 0 * x, 1.8),
    ("{x} should be inverted", lambda x: 1 / x, 2.4),
)


class Repair(NamedTuple):
    """A piece of one equation, and what is wrong with it.

    Attributes:
        explanation: in words.
        piece: where it stands on the tape.
        operation: the operation it is part of.
        sharp: whether the piece is a single symbol that should be another one.
    """

    explanation: Explanation
    piece: Register
    operation: Register
    sharp: bool = False


class Pieces:
    """One hand-written equation, taken apart.

    `given` holds the inputs at the true motion and, behind that, at other q̈.
    """

    def __init__(
        self,
        tape: Tape,
        row: Register,
        given: dict[Register, Any],
        size: np.ndarray,
        quantities: Quantities,
        weights: np.ndarray,
    ):
        self._tape, self._row, self._size, self._given = tape, row, size, given
        self._quantities, self._weights = quantities, weights
        self._order = tape.needed_for([row])
        self._states = len(size)
        self._values: dict[Register, Any] = {}
        with np.errstate(all="ignore"):
            for register in self._order:
                name, arguments = tape.operations[register]
                if name == "constant":
                    self._values[register] = arguments[0]
                elif name == "input":
                    self._values[register] = given[register]
                else:
                    taken = [self._values[a] for a in arguments]
                    self._values[register] = on_arrays(name)(*taken)
        self._work = 0
        self._later: dict[Register, list[Register]] = {}

    def repairs(
        self, named: Callable[[Register], str], inputs: dict[str, Register]
    ) -> list[Repair]:
        """Everything that would put the equation right, `inputs` being quantities by name."""
        repairs: list[Repair] = []
        pieces = [
            (register, argument)
            for register in reversed(self._order)  # what little depends on is tried first
            if self._tape.operations[register].name not in ("constant", "input")
            for argument in dict.fromkeys(self._tape.operations[register].arguments)
            if self._tape.kind(argument) is float
        ]
        value = self._on(self._values[self._row])
        for operation, piece in pieces:
            if self._work > _MOST_WORK:
                break
            x = self._values[piece]
            with np.errstate(all="ignore"):
                twice = self._on(self._with(operation, piece, 2 * np.asarray(x)))
                thrice = self._on(self._with(operation, piece, 3 * np.asarray(x)))
            effect = twice - value
            scale = np.abs(twice) + np.abs(thrice) + np.abs(value)
            if not np.all(np.isfinite(scale)) or np.all(np.abs(effect) <= 1e-12 * self._size):
                continue
            if np.all(np.abs(thrice - 2 * twice + value) <= _LINEAR * scale):
                repairs += self._scaled(operation, piece, value, effect, named)
            else:
                repairs += self._slips(operation, piece, named, inputs)
        return repairs

    def _on(self, values: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(values, float), (2 * self._states,))[: self._states]

    def _with(self, operation: Register, piece: Register, instead: Any) -> Any:
        """The residual with another value for one piece of one operation."""
        changed: dict[Register, Any] = {}
        self._work += 1 + len(self._after(operation))
        name, arguments = self._tape.operations[operation]
        taken = [instead if a == piece else self._values[a] for a in arguments]
        with np.errstate(all="ignore"):
            changed[operation] = on_arrays(name)(*taken)
            for register in self._after(operation):
                name, arguments = self._tape.operations[register]
                taken = [changed[a] if a in changed else self._values[a] for a in arguments]
                changed[register] = on_arrays(name)(*taken)
        return changed.get(self._row, self._values[self._row])

    def _after(self, operation: Register) -> list[Register]:
        """What depends on an operation, in order."""
        if operation not in self._later:
            reached, later = {operation}, []
            for register in self._order:
                name, arguments = self._tape.operations[register]
                if name not in ("constant", "input") and not reached.isdisjoint(arguments):
                    reached.add(register)
                    later.append(register)
            self._later[operation] = later
        return self._later[operation]

    def _is_right(self, values: Any) -> bool:
        whole = np.broadcast_to(np.asarray(values, float), (2 * self._states,))
        on, off = whole[: self._states], whole[self._states :]
        return bool(
            np.all(np.abs(on) <= _EXACT * self._size)
            and np.median(np.abs(off) / self._size) > _CHANGED
        )

    def _scaled(
        self,
        operation: Register,
        piece: Register,
        value: np.ndarray,
        effect: np.ndarray,
        named: Callable[[Register], str],
    ) -> Iterator[Repair]:
        """x′ = ρ x, or x′ = x + y, that makes the residual vanish."""
        with np.errstate(all="ignore"):
            ratio = 1 - value / effect
        if not np.all(np.isfinite(ratio)):
            return
        weight = np.abs(effect) / self._size
        allowed = _EXACT * float(np.sqrt(np.mean((value / self._size) ** 2)))
        share = float(value @ effect / (effect @ effect))
        plain = np.sqrt(np.mean(((value - share * effect) / self._size) ** 2)) <= allowed
        if plain:
            multiple = Product(0.0 if abs(1 - share) < _LINEAR else tidy(1 - share), ())
        else:
            (multiple,) = self._quantities.products(ratio[:, None], weight[:, None], [allowed])
        whole = np.broadcast_to(np.asarray(self._values[piece], float), (2 * self._states,))
        if multiple is not None:
            both = np.concatenate([self._quantities.value(multiple)] * 2)
            if self._is_right(self._with(operation, piece, whole * both)):
                yield self._repair(operation, piece, _ratio_words(multiple, named(piece)), multiple)
            return
        if self._tape.operations[operation].name not in ("add", "sub", "neg", "div"):
            return
        lacking = (ratio - 1) * whole[: self._states]
        with np.errstate(all="ignore"):
            per_unit = np.where(lacking != 0, np.abs(value / (lacking * self._size)), 0.0)
        (multiple,) = self._quantities.products(lacking[:, None], per_unit[:, None], [allowed])
        if multiple is not None:
            both = np.concatenate([self._quantities.value(multiple)] * 2)
            if self._is_right(self._with(operation, piece, whole + both)):
                words = f"the term {multiple} is missing beside {named(piece)}"
                text = str(multiple)
                yield Repair(
                    Explanation(2.2 + 0.1 * multiple.weight, text, "missing term", words),
                    piece,
                    operation,
                )

    def _repair(self, operation: Register, piece: Register, words: str, ratio: Product) -> Repair:
        # ρ puts it right, so that 1/ρ is what it has been multiplied by.
        inverse = Product(
            tidy(1 / ratio.number) if ratio.number else 0.0,
            tuple((name, -power) for name, power in ratio.exponents),
        )
        cost = cost_of(inverse) + _OWN + 0.3 * len(self._after(operation)) / len(self._order)
        if self._tape.operations[piece].name in ("add", "sub"):
            cost += _OF_SUMS  # one of its terms is likelier
        return Repair(Explanation(cost, "", "", words), piece, operation)

    def _slips(
        self,
        operation: Register,
        piece: Register,
        named: Callable[[Register], str],
        inputs: dict[str, Register],
    ) -> Iterator[Repair]:
        x = np.asarray(self._values[piece], float)
        with np.errstate(all="ignore"):
            for words, change, cost in _SLIPS:
                if self._is_right(self._with(operation, piece, change(x))):
                    text = words.format(x=named(piece))
                    yield Repair(Explanation(cost + _OWN, "", "", text), piece, operation)
            if self._tape.operations[piece].name != "input":
                return
            for name, register in inputs.items():
                if register != piece:
                    other = self._given[register]
                    if self._is_right(self._with(operation, piece, other)):
                        words = f"{named(piece)} where {name} belongs"
                        cost = 1.9 + _OWN
                        yield Repair(Explanation(cost, "", "", words), piece, operation, True)


def _ratio_words(ratio: Product, name: str) -> str:
    """What is wrong with a piece that must be multiplied by `ratio`."""
    number = ratio.number
    if not ratio.exponents:
        if number == -1:
            return f"the sign of {name}"
        if number == 0:
            return f"{name} does not belong there"
        size, sign = abs(number), " and the other sign" if number < 0 else ""
        if size > 1:
            return f"factor {size:.6g} missing in {name}{sign}"
        return f"factor {1 / size:.6g} too much in {name}{sign}"
    above, below = factors_of(ratio)
    if len(above) == 1 and len(below) == 1 and number in (1.0, -1.0):
        extra = " and the other sign" if number < 0 else ""
        return f"{below[0]} where {above[0]} belongs, in {name}{extra}"
    if not above and number == 1:
        return f"{'*'.join(below)} too much in {name}"
    if not below and number == 1:
        return f"{'*'.join(above)} missing in {name}"
    return f"{name} should be multiplied by {ratio}"
