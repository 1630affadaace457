"""`diffmech map`: where a machine is stable by a criterion, and where it is not."""

import json
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from .._printing import aligned
from .._progress import stop_requested
from ..criteria import CATALOGUE, named
from ._options import (
    as_path,
    debug_option,
    force_option,
    json_option,
    option,
    progress_option,
)
from ._quantities import both_ends, number
from ._runs import start_of, system_with
from ._shell_words import assignment, assignments, require_known
from ._tuned import tuned

if TYPE_CHECKING:
    from ..criteria import AbstractCriterion
    from ..maps import StabilityMap
    from ..model import AbstractSystem

_TOO_MANY_FAILED = 3  # exit code
_LIST = aligned([(entry.usage, entry.text) for entry in CATALOGUE.values()])


@click.command(name="map", epilog=f"\b\nCriteria:\n{indent(_LIST, '  ')}")
@click.argument("system")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    required=True,
    metavar="NAME=FROM:TO:COUNT",
    help="A coordinate, rate or parameter and its values: qA=0:180deg:1801. One or two.",
)
@click.option("--criterion", required=True, metavar="WORD", help="What counts; see below.")
@option("duration", "Of every motion.")
@option("start", "The named start the rest is taken from.")
@option("sets", "Another coordinate or rate: qB=1deg.")
@option("params", "A parameter: mB=0.2.")
@click.option("--accuracy", metavar="NUMBER", help="One axis: find its edges this well, 1e-6deg.")
@option("method", "Dopri8, Tsit5, Dopri5, Bosh3.")
@option("rtol", "Tolerance per step.  [default: 1e-8]")
@option("dt", "A constant step instead of a tolerance.")
@option("max_steps", "Of one motion.")
@click.option(
    "--allow-failed",
    default="0.05",
    metavar="SHARE",
    show_default=True,
    help="Exit with 3 if more motions than this fail.",
)
@option("out", "Write the map: .npz")
@click.option("--csv", metavar="FILE", callback=as_path, help="Write the points as a table.")
@option("plot")
@click.option("--resume", is_flag=True, help="Go on with the unfinished map of --out.")
@force_option
@json_option
@progress_option
@debug_option
def stability_map(
    system: str,
    axes: tuple[str, ...],
    criterion: str,
    start: str | None,
    sets: tuple[str, ...],
    params: tuple[str, ...],
    accuracy: str | None,
    allow_failed: str,
    out: Path | None,
    csv: Path | None,
    plot: Path | None,
    resume: bool,
    force: bool,
    as_json: bool,
    progress: bool | None,
    **numbers: Any,
) -> int:
    """Judge SYSTEM's motion at every point of one or two axes.

    \b
    diffmech map babyboot --axis qA=0:180deg:1801 --set qB=1deg \\
        --criterion tumble:qB=90deg --plot bands.png
    diffmech map babyboot --axis qA=0:180deg:500 --axis qB=0.1:20deg:500 \\
        --criterion tumble:qB=90deg --out map.npz --plot map.png
    diffmech map n_link:n=3 --axis masses[1]=0.5:2:101 --criterion ftle

    Ctrl-C keeps what is done beside --out; --resume goes on with it.
    """
    if resume and out is None:
        raise click.UsageError("--resume needs --out, the map it goes on with.")
    share = number(allow_failed, "--allow-failed", "1")
    if not 0 <= share <= 1:
        raise click.UsageError(f"--allow-failed must be from 0 to 1, but is {allow_failed!r}.")
    tuned()  # before JAX starts
    from .._records import require_writable
    from ..maps import stability_map as make_map
    from ..viz import require_picture, save_figure, stability

    if plot is not None:
        require_picture(plot, overwrite=force or resume)
    if csv is not None:
        require_writable(csv, overwrite=force or resume)
    made = system_with(system, params)
    grids = dict(_axis(made, text) for text in axes)
    if len(grids) != len(axes):
        raise click.UsageError("--axis must name each axis once.")
    q0, qd0 = _rest(made, start, sets, list(grids))
    given: dict[str, Any] = {
        name: number(numbers[name], f"--{name}", unit)
        for name, unit in (("rtol", "1"), ("dt", "s"))
        if numbers[name] is not None
    }
    given |= {name: numbers[name] for name in ("method", "max_steps") if numbers[name] is not None}
    if accuracy is not None:
        name = next(iter(grids))
        unit, rate = _unit(made, name)
        given["accuracy"] = number(accuracy, "--accuracy", unit, rate=rate)
    record = make_map(
        made,
        grids,
        as_criterion(made, criterion),
        number(numbers["duration"], "--duration", "s"),
        q0=q0,
        qd0=qd0,
        path=out,
        resume=resume,
        overwrite=force and out is not None,
        progress=progress,
        **given,
    )
    if csv is not None:
        record.to_csv(csv, overwrite=force or resume)
    if plot is not None and not stop_requested():
        save_figure(stability(record), plot, overwrite=force or resume)
    click.echo(json.dumps(record.summary(), indent=2, allow_nan=False) if as_json else str(record))
    return _exit_code(record, share)


def _exit_code(record: "StabilityMap", share: float) -> int:
    if record.share_failed > share:
        click.echo(
            f"Error: {100 * record.share_failed:.3g} % of the motions failed, more than "
            f"--allow-failed {100 * share:.3g} %.",
            err=True,
        )
        return _TOO_MANY_FAILED
    return 0


def _axis(system: "AbstractSystem", text: str) -> tuple[str, tuple[float, float, int]]:
    """`qA=0:180deg:1801` as a name and (from, to, count)."""
    name, span = assignment(text, "--axis", "qA=0:180deg:1801")
    parts = span.split(":")
    if len(parts) != 3 or not parts[2].strip().isdigit():
        raise click.UsageError(f"--axis must look like qA=0:180deg:1801, but is {text!r}.")
    low, high, count = (part.strip() for part in parts)
    unit, rate = _unit(system, name)
    first, last = both_ends(low, high, f"--axis {name}", unit, rate=rate)
    return name, (first, last, int(count))


def _unit(system: "AbstractSystem", name: str) -> tuple[str, bool]:
    """The unit of what an axis is called after, of the coordinate if it is a rate; if it is one."""
    from ..maps import axis_kind

    kind, unit = axis_kind(system, name)
    if kind == "rate":
        return system.coordinates[name.removesuffix("_dot")], True
    return unit, False


def _rest(
    system: "AbstractSystem", start: str | None, sets: tuple[str, ...], on_axes: list[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """The start without what lies on an axis."""
    for name in assignments(sets, "--set", "qB=1deg"):
        if name in on_axes:
            raise click.UsageError(f"--set {name} does not go with --axis {name}.")
    filled = tuple(f"{name}=0" for name in on_axes if name in system.coordinates)
    q0, qd0 = start_of(system, start, (*filled, *sets))
    return (
        {name: value for name, value in q0.items() if name not in on_axes},
        {name: value for name, value in qd0.items() if f"{name}_dot" not in on_axes},
    )


def as_criterion(system: "AbstractSystem", text: str) -> "AbstractCriterion":
    """`tumble:qB=90deg` and the like."""
    word, _, rest = text.partition(":")
    require_known(word, "criterion", list(CATALOGUE))
    parts = [part for part in rest.split(",") if part]
    words = assignments(parts, "--criterion", CATALOGUE[word].usage)

    def quantity(text: str, name: str, unit: str, *, rate: bool = False) -> float:
        return number(text, f"--criterion {name}", unit, rate=rate)

    return named(word).from_words(words, system, quantity)
