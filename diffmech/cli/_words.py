"""What a user types: numbers with units, and assignments."""

import math
import re
from collections.abc import Sequence

import click

from .._suggest import suggestion

_UNITS = {"": 1.0, "rad": 1.0, "deg": math.pi / 180, "°": math.pi / 180, "turn": 2 * math.pi}
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(
    rf"(?P<number>{_NUMBER}|[+-]?(?=pi)|[+-]?nan|[+-]?inf)(?:\*?(?P<pi>pi))?(?:/(?P<over>{_NUMBER}))?"
    r"\s*(?P<unit>deg|rad|turn|°)?(?P<per>/s)?",
    re.IGNORECASE,
)


def assignment(text: str, option: str, example: str) -> tuple[str, str]:
    """The two sides of `name=value`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.UsageError(f"{option} must look like {example}, but is {text!r}.")
    return name.strip(), value.strip()


def number(text: str, what: str, unit: str = "rad", *, rate: bool = False) -> float:
    """A number such as 0.5, 90deg, pi/3 or 2turn; rates may say deg/s.

    `unit` is that of the quantity: only angles take degrees and turns.
    """
    found = _QUANTITY.fullmatch(text.strip())
    if not found:
        raise click.UsageError(
            f"{what} must be a number such as 0.5, 90deg or pi/3, but is {text!r}."
        )
    if found["per"] and not rate:
        raise click.UsageError(f"{what} is not a rate, so {text!r} does not fit.")
    angle = (found["unit"] or "").lower()
    if angle and unit != "rad":
        raise click.UsageError(
            f"{what} is in {unit or 'an unknown unit'}, not an angle, so {text!r} does not fit."
        )
    digits = found["number"]
    value = float(f"{digits}1" if digits in ("", "+", "-") else digits)
    if found["pi"]:
        value *= math.pi
    if found["over"]:
        over = float(found["over"])
        if over == 0:
            raise click.UsageError(f"{what} divides by zero: {text!r}.")
        value /= over
    return value * _UNITS[angle]


_ANGLE = re.compile(r"(deg|rad|turn|°)(/s)?$", re.IGNORECASE)


def both_ends(
    low: str, high: str, what: str, unit: str, *, rate: bool = False
) -> tuple[float, float]:
    """Two numbers of one quantity; a unit after the second, as in 0 and 180deg, is that of both."""
    low, high = low.strip(), high.strip()
    units = [_ANGLE.search(end) for end in (low, high)]
    if units[1] and not units[0]:
        low += units[1][0]
    if units[0] and not units[1]:
        raise click.UsageError(
            f"{what} must have its unit after the second number, but is '{low}:{high}'."
        )
    return number(low, what, unit, rate=rate), number(high, what, unit, rate=rate)


def numbers(text: str, what: str) -> float | list[float]:
    """One number, or several: `1,2,3` or `[1, 2, 3]`."""
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1]
        return [number(part, what) for part in inner.split(",")]
    parts = inner.split(",")
    return number(inner, what) if len(parts) == 1 else [number(part, what) for part in parts]


def require_known(word: str, kind: str, options: Sequence[str]) -> None:
    """Refuse a name that is not among the valid ones."""
    if word not in options:
        raise click.UsageError(f"there is no {kind} {word!r}.{suggestion(word, options)}")


_SHELL = {
    "pass `overwrite=True`": "pass --force",
    "or `overwrite=True` to start anew": "or --force to start anew",
    "start anew with `overwrite=True`": "start anew with --force",
    "pass `resume=True`": "pass --resume",
    "raise `max_steps`": "raise --max-steps",
    "`max_steps` is": "--max-steps is",
    "than `max_steps` allows": "than --max-steps allows",
    "`max_steps` must": "--max-steps must",
    "lengthen `dt`": "lengthen --dt",
    "`dt` = ": "--dt ",
    "take `dt` of": "take --dt of",
    "try `method='Kvaerno5'`": "try --method Kvaerno5",
    "an implicit method such as 'Kvaerno5'": "an implicit method, --method Kvaerno5,",
    "`diffmech.load(path, system)`": "--system",
    "; `report(second_run=True)` makes one": "",
}


def for_the_shell(text: str) -> str:
    """A sentence of the library with its ways out as the command line spells them."""
    for python, shell in _SHELL.items():
        text = text.replace(python, shell)
    return text
