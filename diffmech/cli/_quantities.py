"""Numbers with units, as a user types them: 0.5, 90deg, pi/3, 20mm, 3turn/s."""

import math
import re
from typing import Any, NamedTuple

import click

from .._suggest import quoted
from .._units import in_si, rate_unit
from ._shell_words import between_commas

_KINDS = {
    "rad": "an angle",
    "m": "a length",
    "kg": "a mass",
    "s": "a time",
    "rad/s": "an angular velocity",
    "m/s": "a velocity",
    "/s": "a rate",
}
_EXAMPLES = {
    "rad": "0.5, 90deg or pi/3",
    "rad/s": "0.5 or 90deg/s",
    "m": "0.5 or 20mm",
    "kg": "0.5 or 200g",
    "s": "0.5 or 20ms",
}
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(
    rf"(?P<number>{_NUMBER}|[+-]?(?=[pP][iI])|[+-]?(?i:nan|inf))(?:\*?(?P<pi>[pP][iI]))?"
    rf"(?:/(?P<over>{_NUMBER}))?\s*(?P<unit>(?:[a-zA-Z°/](?:.*[^\s])?)?)"
)


class _Carried(NamedTuple):
    """A unit after a number."""

    unit: str  # in SI, as `_KINDS` has it; "" for none
    size: float


def number(text: str, what: str, unit: str = "rad", *, rate: bool = False) -> float:
    """A number of a quantity whose SI unit is known; "" if it is not, "1" for a pure number.

    Angles take deg and turn, lengths mm, cm and km, masses g, times ms; what is per second may say
    so, 90deg/s, and the `rate` of a coordinate in this unit may leave it out. The quantity's own
    unit may stand after any number.

    Raises:
        click.UsageError: not a number, or the unit of something else; both are named.
    """
    own = rate_unit(unit) if rate else unit
    match = _QUANTITY.fullmatch(text.strip())
    carried = _carried(match["unit"], own) if match else None
    if match is None or carried is None:
        example = _EXAMPLES.get(own, "0.5")
        raise click.UsageError(f"{what} must be a number such as {example}, but is {quoted(text)}.")
    if carried.unit and not (_fits(carried.unit, own) or (rate and carried.unit == unit)):
        raise click.UsageError(_misfit(text, what, own, carried.unit))
    return _value(match, text, what) * carried.size


def _carried(word: str, unit: str) -> _Carried | None:
    """What stands after a number; None for a word that is no unit."""
    if not word or word == unit:
        return _Carried("", 1.0)
    if word == "/s":  # of whatever the coordinate is in
        return _Carried("/s", 1.0)
    known = in_si(word)
    return None if known is None else _Carried(*known)


def _fits(carried: str, unit: str) -> bool:
    return carried == unit or (carried == "/s" and unit.endswith("/s"))


def _misfit(text: str, what: str, unit: str, carried: str) -> str:
    kind = _KINDS.get(carried, f"in {carried}")
    if carried.endswith("/s") and unit == carried.removesuffix("/s"):
        return f"{what} is not a rate: it is in {unit}, but {quoted(text)} is {kind}."
    if unit == "1":
        return f"{what} is a pure number, but {quoted(text)} is {kind}."
    if not unit:
        return f"{what} has no known unit, but {quoted(text)} is {kind}: give a plain number."
    return f"{what} is in {unit}, but {quoted(text)} is {kind}."


def _value(match: re.Match[str], text: str, what: str) -> float:
    digits = match["number"]
    value = float(f"{digits}1" if digits in ("", "+", "-") else digits)
    if match["pi"]:
        value *= math.pi
    if match["over"]:
        over = float(match["over"])
        if over == 0:
            raise click.UsageError(f"{what} divides by zero: {quoted(text)}.")
        value /= over
    return value


def both_ends(
    low: str, high: str, what: str, unit: str, *, rate: bool = False
) -> tuple[float, float]:
    """Two numbers of one quantity; a unit after the second, as in 0 and 180deg, is that of both."""
    matches = [_QUANTITY.fullmatch(end.strip()) for end in (low, high)]
    units = [end["unit"] if end else "" for end in matches]
    if units[0] and not units[1]:
        raise click.UsageError(
            f"{what} must have its unit after the second number, but is "
            f"{quoted(f'{low.strip()}:{high.strip()}')}."
        )
    last = number(high, what, unit, rate=rate)  # first, as its unit stands where the user put it
    first = low if units[0] else low.strip() + units[1]
    return number(first, what, unit, rate=rate), last


_MOST_LEVELS = 4  # of brackets


def numbers(text: str, what: str, unit: str, levels: int = _MOST_LEVELS) -> Any:
    """One number, or several: `1,2,3` or `[1,2,3]`, or rows of them: `[[1,0],[0,1]]`."""
    inner = text.strip()
    parts = between_commas(inner)
    if len(parts) == 1:
        if not (levels and inner.startswith("[") and inner.endswith("]")):
            return number(inner, what, unit)
        parts = between_commas(inner[1:-1])
    parsed = [numbers(part, what, unit, levels - 1) for part in parts]
    if len({_shape(each) for each in parsed}) > 1:
        raise click.UsageError(f"{what} must have rows of one length, but is {quoted(text)}.")
    return parsed


def _shape(value: Any) -> tuple[int, ...]:
    return (len(value), *_shape(value[0])) if isinstance(value, list) else ()


def each_of(value: Any) -> list[float]:
    """The numbers in rows of rows, one after the other."""
    return [x for part in value for x in each_of(part)] if isinstance(value, list) else [value]


def as_typed(value: Any) -> str:
    """A value as it is typed: `[1.0,2.0]`, which no shell takes apart."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(as_typed, value))}]"
    return str(value)


def has_unit(text: str) -> bool:
    """Whether any number in the text carries a unit."""
    parts = (part.strip(" []") for part in text.split(","))
    return any(match["unit"] for match in map(_QUANTITY.fullmatch, parts) if match)
