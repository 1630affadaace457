"""What a user says of measured data and of what is free, word by word."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._suggest import quoted, suggestion
from ._quantities import both_ends, number
from ._shell_words import assignments, for_the_shell, listed, require_known

if TYPE_CHECKING:
    from ..model import AbstractSystem

_PLUS_MINUS = re.compile(r"\s*(?:\+-|\+/-|±)\s*")
# Arguments of the library that are options of this command.
_OPTIONS = {
    **{word: f"--{word}" for word in (
        "bounds", "free", "guess", "guesses", "holdout", "loss", "noise", "offset", "profile",
        "seed", "time",
        "unknown",
        "unwrap",
    )},
    "by": "--record",
    "channels": "--channel",
    "delays": "--free-delay",
    "offsets": "--free-offset",
    "priors": "--prior",
    "scales": "--free-scale",
    "starts": "--start",
    "units": "--unit",
}  # fmt: skip
_SENTENCES = {
    "say which column tells them, `by=`": "say which column tells them, --record COLUMN",
    "`guess={...}`": "--guess",
    "`unknown='keep'`": "--unknown keep",
    ", or give `measure`": "",
}


@contextmanager
def in_words_of_the_command() -> Iterator[None]:
    """Sentences of the library about a fit, with options in place of arguments."""
    try:
        yield
    except ValueError as error:
        if type(error).__name__ == "LinAlgError":  # not the user's fault; a ValueError to NumPy
            raise RuntimeError(str(error)) from error
        text = str(error)
        for python, shell in _SENTENCES.items():
            text = text.replace(python, shell)
        text = re.sub(r"`(\w+)(?:\[[^`]*\])?`", lambda m: _OPTIONS.get(m[1], m[0]), text)
        raise click.UsageError(for_the_shell(text)) from error


def words_of(texts: Sequence[str]) -> list[str]:
    """All words of an option that is given several times, or once with commas."""
    return [word for text in texts for word in listed(text)]


def channels_of(
    system: "AbstractSystem", path: Path, given: Sequence[str], besides: Sequence[str]
) -> dict[str, str]:
    """The column of every channel.

    Without words of the user these are the columns that are called like coordinates; the others are
    named on standard error, for they are not used.
    """
    from ..identification import column_names

    known = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
    if given:
        chosen = {}
        for word in words_of(given):
            name, _, column = word.partition("=")
            require_known(name.strip(), "coordinate or rate", known)
            if name.strip() in chosen:
                raise click.UsageError(f"--channel {name.strip()} is given twice.")
            chosen[name.strip()] = column.strip() or name.strip()
        return chosen
    columns = column_names(path)
    chosen = {name: name for name in system.coordinates if name in columns}
    if not chosen:
        raise click.UsageError(
            f"no column of `{path}` is called like a coordinate of {system.name} "
            f"({', '.join(system.coordinates)}): say which one it is, --channel "
            f"{next(iter(system.coordinates))}=COLUMN, of {', '.join(columns)}."
        )
    unused = [name for name in columns if name not in chosen and name not in besides]
    if unused:
        click.echo(
            f"Note: {', '.join(unused)} of `{path}` {'is' if len(unused) == 1 else 'are'} not "
            "used; --channel NAME=COLUMN makes a channel of a column.",
            err=True,
        )
    return chosen


def quantity(system: "AbstractSystem", name: str, text: str, what: str) -> float:
    """A number of a coordinate's or a rate's own kind."""
    known = system.coordinates.get(name.removesuffix("_dot"), "")
    return number(text, f"{what} {name}", known, rate=name not in system.coordinates)


def offsets(
    system: "AbstractSystem", texts: Sequence[str], channels: Sequence[str]
) -> dict[str, float]:
    """`theta1=180deg,theta2=180deg`."""
    subtracted = {}
    for name, value in assignments(words_of(texts), "--offset", "theta1=180deg").items():
        require_known(name, "channel", channels)
        subtracted[name] = quantity(system, name, value, "--offset")
    return subtracted


def units(texts: Sequence[str], names: Sequence[str]) -> dict[str, str | float]:
    """`theta1=deg,t=ms`, or how many SI units one is, `x=0.0254`."""
    units_by_name: dict[str, str | float] = {}
    for name, value in assignments(words_of(texts), "--unit", "theta1=deg").items():
        require_known(name, "channel", names)
        units_by_name[name] = (
            number(value, f"--unit {name}", "1") if value[0] in "0123456789." else value
        )
    return units_by_name


def noise(
    system: "AbstractSystem", texts: Sequence[str], channels: Sequence[str]
) -> float | dict[str, float] | None:
    """`0.5deg` for all channels, or `theta1=0.5deg,theta2=1deg`."""
    words = words_of(texts)
    if len(words) == 1 and "=" not in words[0]:
        kinds = {system.coordinates.get(name, f"{name} is a rate") for name in channels}
        if len(kinds) > 1:
            raise click.UsageError(
                f"--noise must be said of each channel, {channels[0]}={words[0]}, since they are "
                "of different units."
            )
        name = channels[0]
        known = system.coordinates.get(name.removesuffix("_dot"), "")
        return number(words[0], "--noise", known, rate=name not in system.coordinates)
    deviations = {}
    for name, value in assignments(words, "--noise", f"{channels[0]}=0.01").items():
        require_known(name, "channel", channels)
        deviations[name] = quantity(system, name, value, "--noise")
    return deviations or None


def guesses_of(system: "AbstractSystem", texts: Sequence[str]) -> dict[str, float]:
    """`length=0.5`, in the parameter's unit."""
    guesses = {}
    for path, value in assignments(texts, "--guess", "length=0.5").items():
        guesses[path] = number(value, f"--guess {path}", _parameter_unit(system, path))
    return guesses


def bounds_of(
    system: "AbstractSystem", texts: Sequence[str]
) -> dict[str, tuple[float | None, float | None]]:
    """`length=0.1:2`; one end may be left out, `length=0.1:`. Also of a difference, `a - b=0:`."""
    bounds: dict[str, tuple[float | None, float | None]] = {}
    for path, span in assignments(texts, "--bounds", "length=0.1:2").items():
        low, colon, high = span.partition(":")
        if not colon or not (low.strip() or high.strip()):
            raise click.UsageError(
                f"--bounds {path} must look like 0.1:2 (or 0.1: or :2), but is {quoted(span)}."
            )
        units = {_parameter_unit(system, part.strip()) for part in path.split(" - ")}
        if len(units) > 1:
            raise click.UsageError(
                f"--bounds {path} must be a difference of the same kind, but is of "
                f"{' and '.join(sorted(quoted(unit) for unit in units))}."
            )
        unit, what = units.pop(), f"--bounds {path}"
        if low.strip() and high.strip():
            least, most = both_ends(low, high, what, unit)
            if not least < most:
                raise click.UsageError(f"{what} must go up, but is {quoted(span)}.")
            bounds[path] = (least, most)
        else:
            bounds[path] = (
                number(low, what, unit) if low.strip() else None,
                number(high, what, unit) if high.strip() else None,
            )
    return bounds


def priors_of(system: "AbstractSystem", texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """`length=0.5+-0.01`: a value and its standard deviation."""
    priors = {}
    for path, about in assignments(texts, "--prior", "length=0.5+-0.01").items():
        unit = _parameter_unit(system, path)
        priors[path] = _with_deviation(about, f"--prior {path}", unit)
    return priors


def starts_of(system: "AbstractSystem", texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """`theta_dot=0+-0.01`: what is known of the start of every record."""
    known = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
    starts = {}
    for name, about in assignments(texts, "--start", "theta_dot=0+-0.01").items():
        require_known(name, "coordinate or rate", known)
        unit = system.coordinates[name if name in system.coordinates else name[:-4]]
        rate = name not in system.coordinates
        starts[name] = _with_deviation(about, f"--start {name}", unit, rate=rate)
    return starts


def delays_of(texts: Sequence[str], channels: Sequence[str]) -> dict[str, float]:
    """`theta1=20ms`: a channel and its largest possible delay [s]."""
    delays = {}
    for name, value in assignments(words_of(texts), "--free-delay", "theta1=20ms").items():
        require_known(name, "channel", channels)
        delays[name] = number(value, f"--free-delay {name}", "s")
        if not delays[name] > 0:
            raise click.UsageError(f"--free-delay {name} must be above zero, but is {value!r}.")
    return delays


def held_of(texts: Sequence[str], records: Sequence[Any], by: str | None) -> list[str]:
    """Names of records: `piece=5` (rows with 5 in the column piece), or as they are printed."""
    names = [record.name for record in records]
    held = []
    for word in words_of(texts):
        column, equals, label = word.partition("=")
        name = f"{column.strip()} {label.strip()}" if equals else word
        if name not in names and by is None:
            raise click.UsageError("--holdout needs --record, the column that tells records apart.")
        if name not in names:
            shown = [f"{by}={each.removeprefix(f'{by} ')}" for each in names]
            raise click.UsageError(
                f"--holdout must name a record, but {quoted(word)} is none."
                + suggestion(word, shown)
            )
        held.append(name)
    return held


def _with_deviation(about: str, what: str, unit: str, *, rate: bool = False) -> tuple[float, float]:
    parts = _PLUS_MINUS.split(about)
    if len(parts) != 2 or not all(parts):
        raise click.UsageError(
            f"{what} must be a value and its standard deviation, such as 0.5+-0.01, but is "
            f"{quoted(about)}."
        )
    value, deviation = (number(part, what, unit, rate=rate) for part in parts)
    if not deviation > 0:
        raise click.UsageError(
            f"{what} must have a standard deviation above zero, but is {quoted(about)}."
        )
    return value, deviation


def _parameter_unit(system: "AbstractSystem", path: str) -> str:
    from ..model import parameter_unit

    return parameter_unit(system, path)
