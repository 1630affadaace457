"""`diffmech edges`: where periodic motions lose their stability, and how that depends on design."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._suggest import quoted, suggestion
from ._options import debug_option, force_option, json_option, option
from ._quantities import both_ends, number
from ._runs import start_of, system_with
from ._shell_words import assignments, for_the_shell

if TYPE_CHECKING:
    from ..model import AbstractSystem


@click.command()
@click.argument("system")
@click.option(
    "--family",
    required=True,
    metavar="NAME",
    help="The coordinate that swings from rest, or the parameter that changes.",
)
@click.option("--span", metavar="FROM:TO", help="Which values: 10:170deg.  [default: half a turn]")
@click.option(
    "--period", metavar="SECONDS", help="Of the drive, for a family along a parameter: pi, 0.5."
)
@option("sets", "Another coordinate.")
@option("params", "A parameter: IBz=3e-4.")
@click.option("--points", type=int, default=181, show_default=True, help="Of the first look.")
@option("plot", "Draw the derivatives: .png, .pdf")
@force_option
@json_option
@debug_option
def edges(
    system: str,
    family: str,
    span: str | None,
    period: str | None,
    sets: tuple[str, ...],
    params: tuple[str, ...],
    points: int,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Find where the periodic motions of SYSTEM become unstable, to ten digits.

    A family is all motions that start at rest with one coordinate displaced; or, for a machine
    that is driven with a period, one motion while a parameter changes. Angles in degrees.

    \b
    diffmech edges babyboot --family qA
    diffmech edges babyboot --family qA --param IBz=3e-4 --json
    """
    from ..orbits import band_edges
    from ..viz import edge_slopes, require_picture, save_figure

    if plot is not None:
        require_picture(plot, overwrite=force)
    machine = system_with(system, params)
    given: dict[str, Any] = {"points": points}
    unit = _unit(machine, family)
    if span is not None:
        low, colon, high = span.partition(":")
        if not colon:
            raise click.UsageError(f"--span must look like 10:170deg, but is {span!r}.")
        given["span"] = both_ends(low, high, "--span", unit)
    if period is not None:
        given["period"] = number(period, "--period", "s")
    if sets:
        places = assignments(sets, "--set", "qB=1deg")
        zero = tuple(f"{name}=0" for name in machine.coordinates if name not in places)
        given["q0"], rates = start_of(machine, None, (*zero, *sets))
        if any(rates.values()):
            given["qd0"] = rates
    found = band_edges(machine, family, **given)
    if plot is not None:
        save_figure(edge_slopes(found), plot, overwrite=force)
    if as_json:
        click.echo(json.dumps(found.summary(), indent=2, allow_nan=False))
    else:
        click.echo(for_the_shell(str(found)))
        for line in found.slope_lines():
            click.echo(line)


def _unit(machine: "AbstractSystem", family: str) -> str:
    """The unit of a family's values."""
    from ..model import parameter_paths, parameter_unit

    if family in machine.coordinates:
        return machine.coordinates[family]
    try:
        return parameter_unit(machine, family)
    except ValueError as error:
        names = [*machine.coordinates, *parameter_paths(machine.params)]
        raise click.UsageError(
            f"--family must name a coordinate or a parameter, but {quoted(family)} is neither."
            + suggestion(family, names)
        ) from error
