"""Scalar programs as text: one walk over the tape, and a small table for each notation.

The walk knows sums, products, quotients and powers, and where parentheses are needed; a `Notation`
says how they, the numbers and the functions are spelled. Another language is another table.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from ._tape import Register, Tape

# How tightly a piece of text holds together, from loose to tight.
ANY, COMPARISON, SUM, PRODUCT, POWER, ATOM = range(6)

_SHORT = 6  # characters of a decimal number that need no fraction: 0.125, 9.81, -1e-05
_LARGEST_DENOMINATOR = 1000
_SAME = 4e-16  # relative: 1/12 in floats is the fraction


class Form(NamedTuple):
    """How one operation is spelled: a template, how tightly the result and the arguments hold."""

    template: str
    holds: int = ATOM
    needs: tuple[int, ...] = ()  # of each argument to stand without parentheses; `ANY` if missing


class Notation(NamedTuple):
    """A language's spelling.

    Attributes:
        forms: by the operation's name on the tape, and "over" and "power".
        call: of all other functions, from name and arguments.
        number: of a number that is not negative.
        times, plus, minus, negative: between factors, between terms, before the first term.
        parentheses: around what holds too loosely.
        ordered: whether terms of sums stand in the order of the tape, as factors do.
    """

    forms: Mapping[str, Form]
    call: str
    number: Callable[[float | int | bool], str]
    times: str = "*"
    plus: str = " + "
    minus: str = " - "
    negative: str = "-"
    parentheses: str = "({})"
    ordered: bool = False


def short_number(value: float | int | bool) -> str:
    """2, 0.5, 1e-05, true: as few characters as say it exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and abs(value) < 1e6 and value == int(value):
        return str(int(value))
    return repr(value)


_COMPARED = {"eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<", "ne": "!="}
TEXT = Notation(
    forms={
        "over": Form("{}/{}", PRODUCT, (PRODUCT, POWER)),
        "power": Form("{}^{}", POWER, (ATOM, ATOM)),
        "pow": Form("{}^{}", POWER, (ATOM, ATOM)),
        "select": Form("where({0}, {2}, {1})"),  # the tape has the false branch first
        "to_float": Form("{}"),
        **{
            name: Form(f"{{}} {sign} {{}}", COMPARISON, (SUM, SUM))
            for name, sign in _COMPARED.items()
        },
    },
    call="{}({})",
    number=short_number,
)


class _Piece(NamedTuple):
    """A piece of text that is one factor; `order` among others is its register."""

    text: str
    holds: int
    order: Register = 0


class _Product(NamedTuple):
    """number × Π piece^power."""

    number: float
    powers: Mapping[_Piece, int]


_Sum = list[_Product]


def spelled(
    tape: Tape, register: Register, names: Mapping[Register, str], notation: Notation = TEXT
) -> str:
    """What a register holds, as text.

    Args:
        names: of inputs, or of any register that is to be called by a name.

    Raises:
        KeyError: an input has no name.
    """
    return _spelled_sum(_Walk(tape, names, notation).sum_at(int(register)), notation).text


class _Walk:
    """Every register as a sum of products of pieces, in the tape's order, so that none is deep."""

    def __init__(self, tape: Tape, names: Mapping[Register, str], notation: Notation):
        self._tape = tape
        self._names = names
        self._notation = notation
        self._sums: dict[Register, _Sum] = {}

    def sum_at(self, register: Register) -> _Sum:
        for needed in self._tape.needed_for([register], self._names):
            self._sums[needed] = self._sum(needed)
        return self._sums[register]

    def _sum(self, register: Register) -> _Sum:
        if register in self._names:
            return _one(_Piece(self._names[register], ATOM, register))
        name, arguments = self._tape.operations[register]
        if name == "input":
            raise KeyError(f"input {arguments[0]} of the tape has no name")
        if name == "constant":
            value = arguments[0]
            if type(value) is float and abs(value) < float("inf"):
                return [_Product(value, {})] if value else []
            holds = ATOM if value >= 0 else SUM
            return _one(_Piece(self._notation.number(value), holds, register))
        taken = [self._sums[argument] for argument in arguments]
        if self._tape.kind(register) is float and name in _ARITHMETIC:
            return _ARITHMETIC[name](*self._factors(name, arguments))
        pieces = [_spelled_sum(one, self._notation) for one in taken]
        return _one(self._called(name, pieces)._replace(order=register))

    def _factors(self, name: str, arguments: tuple[Register, ...]) -> list[_Sum]:
        """What is added up as it is; of what is multiplied, sums as pieces, which stay closed."""
        taken = [self._sums[argument] for argument in arguments]
        if name not in ("mul", "div"):
            return taken
        return [
            one
            if len(one) < 2
            else _one(_spelled_sum(one, self._notation)._replace(order=register))
            for register, one in zip(arguments, taken, strict=True)
        ]

    def _called(self, name: str, pieces: list[_Piece]) -> _Piece:
        form = self._notation.forms.get(name)
        if form is None:
            listed = ", ".join(piece.text for piece in pieces)
            return _Piece(self._notation.call.format(name, listed), ATOM)
        return _formed(form, pieces, self._notation)


def _one(piece: _Piece) -> _Sum:
    return [_Product(1.0, {piece: 1})]


def _negated(x: _Sum) -> _Sum:
    return [_Product(-number, powers) for number, powers in x]


def _multiplied(x: _Sum, y: _Sum) -> _Sum:
    """The product of single terms: factors that are the same meet."""
    if not x or not y:
        return []
    (first,), (second,) = x, y
    powers = dict(first.powers)
    for piece, power in second.powers.items():
        powers[piece] = powers.get(piece, 0) + power
    kept = {piece: power for piece, power in powers.items() if power}
    return [_Product(first.number * second.number, kept)]


def _inverted(x: _Sum) -> _Sum:
    if not x:
        return [_Product(float("inf"), {})]
    (product,) = x
    return [_Product(1 / product.number, {piece: -n for piece, n in product.powers.items()})]


_ARITHMETIC: dict[str, Callable[..., _Sum]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x + _negated(y),
    "mul": _multiplied,
    "div": lambda x, y: _multiplied(x, _inverted(y)),
    "neg": _negated,
}


def _formed(form: Form, pieces: list[_Piece], notation: Notation) -> _Piece:
    """Arguments put into a template, in parentheses where they hold too loosely."""
    needs = form.needs + (ANY,) * len(pieces)
    texts = [
        piece.text if piece.holds >= need else notation.parentheses.format(piece.text)
        for piece, need in zip(pieces, needs, strict=False)
    ]
    return _Piece(form.template.format(*texts), form.holds)


def _spelled_sum(x: _Sum, notation: Notation) -> _Piece:
    if not x:
        return _Piece(notation.number(0), ATOM)
    if notation.ordered:
        x = sorted(x, key=lambda product: max((p.order for p in product.powers), default=-1))
    # Something positive in front, where there is anything: "b - a" rather than "-a + b".
    first = next((i for i, product in enumerate(x) if product.number > 0), 0)
    ordered = [x[first], *x[:first], *x[first + 1 :]]
    pieces = [_spelled_product(product, notation) for product in ordered]
    if len(ordered) == 1 and ordered[0].number > 0:
        return pieces[0]
    text = (notation.negative if ordered[0].number < 0 else "") + pieces[0].text
    for product, piece in zip(ordered[1:], pieces[1:], strict=True):
        text += (notation.minus if product.number < 0 else notation.plus) + piece.text
    return _Piece(text, SUM)


def _spelled_product(product: _Product, notation: Notation) -> _Piece:
    """A product without its sign; what has a negative power below the line."""
    above, below = as_quotient(abs(product.number))
    numerator = [] if above == 1 else [_Piece(notation.number(above), ATOM)]
    denominator = [] if below == 1 else [_Piece(notation.number(below), ATOM)]
    for piece, power in sorted(product.powers.items(), key=lambda item: item[0].order):
        (numerator if power > 0 else denominator).append(_power(piece, abs(power), notation))
    top = _joined(numerator or [_Piece(notation.number(1), ATOM)], notation)
    if not denominator:
        return top
    return _formed(notation.forms["over"], [top, _joined(denominator, notation)], notation)


def _power(piece: _Piece, power: int, notation: Notation) -> _Piece:
    if power == 1:
        return piece
    exponent = _Piece(notation.number(power), ATOM)
    return _formed(notation.forms["power"], [piece, exponent], notation)


def _joined(pieces: list[_Piece], notation: Notation) -> _Piece:
    if len(pieces) == 1:
        return pieces[0]
    form = Form(notation.times.join(["{}"] * len(pieces)), PRODUCT, (POWER,) * len(pieces))
    return _formed(form, pieces, notation)


def as_quotient(number: float) -> tuple[Any, Any]:
    """(numerator, denominator) of a fraction where that is exact and shorter: 1/12, not 0.5."""
    if len(repr(number)) <= _SHORT:
        return number, 1
    fraction = Fraction(number).limit_denominator(_LARGEST_DENOMINATOR)
    if fraction and abs(float(fraction) - number) <= _SAME * number:
        return fraction.numerator, fraction.denominator
    return number, 1
