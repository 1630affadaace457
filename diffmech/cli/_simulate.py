"""`diffmech simulate`: one run, its report, and a folder of results."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._progress import stop_requested
from ._machines import is_own_file
from ._options import debug_option, force_option, json_option, option, progress_option, run_options
from ._runs import make_run, system_with
from ._shell_words import for_the_shell

if TYPE_CHECKING:
    from ..model import AbstractSystem
    from ..simulation import Trajectory


@click.command()
@click.argument("system")
@run_options
@option(
    "out",
    "Write a folder: settings.json, run.npz, run.csv, report.txt, trajectory.png, energy.png.",
    metavar="DIR",
)
@click.option("--film", is_flag=True, help="With --out: also motion.gif.")
@click.option("--pictures/--no-pictures", default=True, help="With --out: draw, or numbers only.")
@force_option
@json_option
@progress_option
@debug_option
def simulate(
    system: str,
    how: dict[str, Any],
    out: Path | None,
    film: bool,
    pictures: bool,
    force: bool,
    as_json: bool,
    progress: bool | None,
) -> int:
    """Run SYSTEM and say why the result can be believed.

    SYSTEM is a name from `diffmech systems`, a family with arguments such as n_link:n=5, or a
    machine in a Python file of your own, my_system.py:name (the file is run).

    \b
    diffmech simulate babyboot --set qA=90deg --set qB=1deg --duration 10
    diffmech simulate n_link:n=8 --start chaotic --param frictions=0.1 --out run8
    diffmech simulate pendulum --json
    """
    if film and out is None:
        raise click.UsageError("--film needs --out DIR to write to.")
    if out is None:
        run, code = _attempt(system_with(system, how["params"]), how, progress)
        _show(run, as_json)
        return code
    from ..viz import require_film, run_folder

    with run_folder(out, overwrite=force) as write:
        machine = system_with(system, how["params"])
        if film:
            require_film("motion.gif", machine, overwrite=True)
        run, code = _attempt(machine, how, progress)
        write(
            run,
            film=film and code == 0 and not stop_requested(),
            pictures=pictures and len(run.ts) > 1,
            about={"system": str(Path(system).absolute()) if is_own_file(system) else system},
            progress=progress,
        )
    _show(run, as_json)
    names = ", ".join(sorted(path.name for path in out.iterdir()))
    click.echo(f"In {out}: {names}.", err=True)
    if stop_requested():
        click.echo("To have all of it, give the same command with --force.", err=True)
    return code


def _attempt(
    system: "AbstractSystem", how: dict[str, Any], progress: bool | None
) -> tuple["Trajectory", int]:
    """The run, whole or in part, with the exit code it calls for.

    An interrupted run is not followed by the second run that would measure its errors.
    """
    from ..simulation import SimulationError

    code = 0
    try:
        run = make_run(system, how, progress)
    except SimulationError as error:
        run, code = error.trajectory, 1
        click.echo(f"Error: {for_the_shell(error.reason)}.", err=True)
    try:
        run.report(second_run=False if stop_requested() else None, progress=progress)
    except KeyboardInterrupt:
        run.report(second_run=False)
    return run, code


def _show(run: "Trajectory", as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(run.summary(), indent=2, allow_nan=False))
    else:
        click.echo(for_the_shell(str(run)))
