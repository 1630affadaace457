"""A mistake in words: which term, and what is wrong with it."""

from typing import NamedTuple

from ._recognise import Product

_RATIOS = {(-1.0): 1.0, 0.0: 1.2, 2.0: 1.2, 0.5: 1.2}
_FEW = 12  # the largest numerator and denominator of a likely factor


class Explanation(NamedTuple):
    """What would make an equation what it is.

    Attributes:
        cost: how far-fetched it is; the least is believed.
        term: the part that is wrong, spelled out.
        where: what part that is: "gravity term", "coefficient of qB''".
        guess: the mistake in words.
        row: which of the machine's equations it is in; −1 if it is in all.
        register: of the term on the tape; −1 if there is none.
    """

    cost: float
    term: str
    where: str
    guess: str
    row: int = -1
    register: int = -1


def cost_of(ratio: Product) -> float:
    """How far-fetched it is that a term has been multiplied by this."""
    number = _cost_of_number(ratio.number)
    if not ratio.exponents:
        return number
    number = 0.0 if ratio.number == 1 else 0.4 if ratio.number == -1 else 0.8
    powers = sorted(power for _, power in ratio.exponents)
    if len(powers) == 2 and powers[0] == -powers[1]:
        return 1.4 + 0.2 * powers[1] + number + _across(ratio)
    if len(powers) == 1:
        return 1.4 + 0.3 * abs(powers[0]) + number
    return 2.0 + 0.4 * ratio.weight + number


def _across(ratio: Product) -> float:
    """Quantities of one kind are mistaken for each other, rather than an angle for a mass."""
    (one, _), (other, _) = ratio.exponents
    return 0.0 if _family(one) == _family(other) else 0.5


def _family(name: str) -> str:
    if name.startswith(("sin(", "cos(")):
        return "function"
    return "rate" if name.endswith("'") else "number"


def _cost_of_number(number: float) -> float:
    if number in _RATIOS:
        return _RATIOS[number]
    for denominator in range(1, _FEW + 1):
        whole = round(number * denominator)
        if abs(whole) <= _FEW and abs(number * denominator - whole) < 1e-9:
            return 2.2
    return 3.5


def wrong_factor(ratio: Product, term: str, kind: str, whereabouts: str) -> str:
    """A term stands there times `ratio`.

    Args:
        term: it, spelled out.
        kind: "gravity term", or "coefficient of qB''".
        whereabouts: "in equation 1".
    """
    return f"{_what(ratio, kind, whereabouts)}: {term}"


def _what(ratio: Product, kind: str, whereabouts: str) -> str:
    number = ratio.number
    if not ratio.exponents:
        if number == -1:
            return f"sign of the {kind} {whereabouts}"
        if number == 0:
            what = kind.replace("coefficient of", "term with")
            return f"{'a' if what != kind else 'the'} {what} is missing {whereabouts}"
        return f"{_factor(number)} in the {kind} {whereabouts}"
    above, below = factors_of(ratio)
    extra = ""
    if number == -1:
        extra = ", and the other sign"
    elif number != 1:
        extra = f", and {_factor(number)}"
    if len(above) == 1 and len(below) == 1:
        swapped = f"{above[0]} where {below[0]} belongs"
        if kind.startswith("coefficient of "):
            factor = kind.removeprefix("coefficient of ")
            return f"{factor} is multiplied by {swapped} {whereabouts}{extra}"
        return f"{swapped} in the {kind} {whereabouts}{extra}"
    if not below:
        return f"{'*'.join(above)} too much in the {kind} {whereabouts}{extra}"
    if not above:
        return f"{'*'.join(below)} missing in the {kind} {whereabouts}{extra}"
    return f"the {kind} {whereabouts} is multiplied by {ratio}"


def factors_of(product: Product) -> tuple[list[str], list[str]]:
    """What stands above and below the line."""
    above = [name if p == 1 else f"{name}^{p}" for name, p in product.exponents if p > 0]
    below = [name if p == -1 else f"{name}^{-p}" for name, p in product.exponents if p < 0]
    return above, below


def _factor(number: float) -> str:
    size, sign = abs(number), " and the other sign" if number < 0 else ""
    if size < 1:
        return f"factor {1 / size:.6g} missing{sign}"
    return f"factor {size:.6g} too much{sign}"
