"""`diffmech fit`: what a machine is made of, from its measured motion."""

import contextlib
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._progress import stop_requested
from ._fit_words import (
    bounds_of,
    channels_of,
    delays_of,
    guesses_of,
    held_of,
    in_words_of_the_command,
    noise,
    offsets,
    priors_of,
    starts_of,
    units,
    words_of,
)
from ._options import (
    as_path,
    debug_option,
    force_option,
    json_option,
    option,
    progress_option,
)
from ._runs import system_with
from ._shell_words import require_known

if TYPE_CHECKING:
    from ..identification import Fit
    from ..model import AbstractSystem


def _several(name: str, metavar: str, text: str) -> Callable[..., Any]:
    """An option that may be given more than once."""
    return click.option(name, multiple=True, metavar=metavar, help=text)


@click.command()
@click.argument("system")
@click.argument("data", metavar="DATA.csv", type=click.Path(path_type=Path))
@_several("--free", "NAMES", "Parameters to find: length,masses[1]; an array means its entries.")
@option("params", "A parameter that is known: mass=0.2.")
@click.option("--record", metavar="COLUMN", help="Rows that agree in it are one record.")
@click.option("--time", default="t", metavar="COLUMN", show_default=True, help="The times.")
@_several(
    "--channel",
    "NAME=COLUMN",
    "The column of a coordinate or rate.  [default: columns called like coordinates]",
)
@_several("--offset", "NAME=VALUE", "To be subtracted from a channel: theta1=180deg.")
@_several("--unit", "NAME=UNIT", "What a channel or the time is in: theta1=deg,t=ms.")
@_several("--unwrap", "NAMES", "Channels of angles that jump by a turn.")
@_several("--noise", "[NAME=]VALUE", "Standard deviation: 0.5deg.  [default: estimated]")
@_several("--guess", "NAME=VALUE", "Where to start from.  [default: the machine's numbers]")
@_several(
    "--bounds", "NAME=LOW:HIGH", "Limits; one may be left out: 0.1: ; of a difference: 'a - b=0:'"
)
@_several("--prior", "NAME=VALUE+-SD", "What is known of a parameter: length=0.5+-0.01.")
@_several("--start", "NAME=VALUE+-SD", "What is known of every record's start: theta_dot=0+-0.1.")
@_several("--free-offset", "NAMES", "Channels whose zero is to be found.")
@_several("--free-scale", "NAMES", "Channels whose scale is to be found.")
@_several("--free-delay", "NAME=MOST", "Channels whose delay is to be found: theta1=20ms.")
@_several("--holdout", "COLUMN=VALUE", "Records to predict instead of fitting: piece=5.")
@_several("--profile", "NAMES", "Free numbers whose 95 % intervals are found by fitting again.")
@click.option(
    "--unknown",
    default="keep",
    show_default=True,
    metavar="WORD",
    help="Where the equations do not determine all that is free: keep it and say so, or refuse.",
)
@click.option(
    "--loss", default="squares", show_default=True, metavar="NAME", help="squares, or huber."
)
@click.option(
    "--guesses", type=int, default=1, show_default=True, help="How many starts to try at once."
)
@option("seed", "Of the starts tried.")
@option("out", "Write the fit: .npz")
@click.option(
    "--report",
    metavar="DIR",
    callback=as_path,
    help="Write a folder: report.md, measured.png, residuals.png, correlations.png, fit.npz.",
)
@force_option
@json_option
@progress_option
@debug_option
def fit(
    system: str,
    data: Path,
    params: tuple[str, ...],
    out: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    progress: bool | None,
    **said: Any,
) -> int:
    """Find the parameters with which SYSTEM moves as measured in DATA.csv.

    The first line of DATA.csv names its columns: the times, and coordinates of SYSTEM by their
    names or by --channel. Starts of all records are found, too.

    \b
    diffmech fit pendulum swing.csv --free length --unit theta=deg
    diffmech fit n_link:n=2 data.csv --param lengths=0.09,0.07 --record piece \\
        --offset theta1=180deg,theta2=180deg --free inertias,centres,frictions \\
        --holdout piece=5 --report result

    Angles take deg, lengths mm, times ms. Exit code 1: the fit did not converge.
    """
    free = words_of(said["free"])
    if not free:
        raise click.UsageError("say what is to be found, --free length.")
    require_known(said["loss"], "loss", ["squares", "huber"])
    require_known(said["unknown"], "word for --unknown", ["keep", "refuse"])
    from .._records import require_writable
    from ..viz import fit_folder

    if out is not None:
        if out.suffix != ".npz":
            raise click.UsageError(f"--out must end in .npz, but is `{out}`.")
        require_writable(out, overwrite=force)
    with contextlib.ExitStack() as stack:
        write = None
        if report is not None:
            write = stack.enter_context(fit_folder(report, overwrite=force))
        machine = system_with(system, params)
        watched = sys.stderr.isatty() if progress is None else progress
        with in_words_of_the_command():
            found = _found(machine, data, free, said, watched)
        if out is not None:
            found.save(out, overwrite=force)
        if write is not None:
            write(found, command=_command_line(), data=str(data))
    click.echo(json.dumps(found.summary(), indent=2, allow_nan=False) if as_json else str(found))
    if report is not None:
        names = ", ".join(sorted(path.name for path in report.iterdir()))
        click.echo(f"In {report}: {names}.", err=True)
    return _exit_code(found)


def _found(
    system: "AbstractSystem", data: Path, free: list[str], said: dict[str, Any], progress: bool
) -> "Fit":
    """Read the data and fit, all words turned into what they stand for first."""
    from .. import identification

    time, by = said["time"], said["record"]
    columns = channels_of(system, data, said["channel"], [time, *([by] if by else [])])
    channels = list(columns)
    given: dict[str, Any] = {
        "guess": guesses_of(system, said["guess"]),
        "bounds": bounds_of(system, said["bounds"]),
        "priors": priors_of(system, said["prior"]),
        "starts": starts_of(system, said["start"]),
        "noise": noise(system, said["noise"], channels),
        "offsets": _channels(said["free_offset"], channels),
        "scales": _channels(said["free_scale"], channels),
        "delays": delays_of(said["free_delay"], channels),
    }
    records = identification.read_records(
        data,
        time=time,
        channels=columns,
        by=by,
        units=units(said["unit"], [*channels, time]),
        offset=offsets(system, said["offset"], channels),
        unwrap=_channels(said["unwrap"], channels),
    )
    held = held_of(said["holdout"], records, by)
    with contextlib.redirect_stdout(sys.stderr):  # what a user's functions print is not our data
        return identification.fit(
            system,
            list(records),
            free,
            holdout=held,
            profile=words_of(said["profile"]),
            unknown=said["unknown"],
            loss=said["loss"],
            guesses=said["guesses"],
            seed=said["seed"],
            progress=progress,
            **given,
        )


def _channels(texts: tuple[str, ...], channels: list[str]) -> list[str]:
    names = words_of(texts)
    for name in names:
        require_known(name, "channel", channels)
    return names


def _command_line() -> str:
    """The command as it can be given again."""
    context = click.get_current_context()
    words = ["diffmech", "fit"]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        source = context.get_parameter_source(parameter.name or "")
        if source is not click.core.ParameterSource.COMMANDLINE:
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif isinstance(parameter, click.Option) and not parameter.is_flag:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0], str(each)]
    return shlex.join(words)


def _exit_code(found: "Fit") -> int:
    if found.converged or stop_requested():
        return 0
    known = ", ".join(f"{path} = {value}" for path, value in found.known.items())
    click.echo(
        "Error: the fit has not converged: its numbers are where it stopped. Try --guess, "
        "--guesses, or fewer free parameters"
        + f"; and is what was taken as known right ({known})? --param says otherwise." * bool(known)
        + "." * (not known),
        err=True,
    )
    return 1
