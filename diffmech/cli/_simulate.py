"""`diffmech simulate`: one run, its report, and a folder of results."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._machines import is_own_file
from ._options import (
    as_path,
    debug_option,
    force_option,
    json_option,
    progress_option,
    run_options,
)
from ._runs import make_run

if TYPE_CHECKING:
    from ..simulation import Trajectory


@click.command()
@click.argument("system")
@run_options
@click.option(
    "--out",
    metavar="DIR",
    callback=as_path,
    help="Write a folder: settings.json, run.npz, run.csv, report.txt, trajectory.png, energy.png.",
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
    if out is None:
        if film:
            raise click.UsageError("--film needs --out DIR to write to.")
        run, code = _attempt(system, how, progress)
        _show(run, as_json)
        return code
    return run_into_folder(
        system, how, out, film=film, pictures=pictures, force=force, as_json=as_json,
        progress=progress,
    )  # fmt: skip


def run_into_folder(
    system: str,
    how: dict[str, Any],
    out: Path,
    *,
    film: bool,
    pictures: bool,
    force: bool,
    as_json: bool,
    progress: bool | None,
) -> int:
    """Run, write the folder whatever part of the run there is, and print the report."""
    from .. import _progress
    from .._folders import staged_folder
    from ..viz import FOLDER_MEMBERS, fill_folder

    with staged_folder(out, FOLDER_MEMBERS, overwrite=force) as stage:
        run, code = _attempt(system, how, progress)
        spelled = str(Path(system).absolute()) if is_own_file(system) else system
        fill_folder(
            run,
            stage,
            film=film and code == 0 and not _progress.stop_requested(),
            pictures=pictures and len(run.ts) > 1,
            about={"system": spelled},
            progress=progress,
        )
    _show(run, as_json)
    names = ", ".join(name for name in FOLDER_MEMBERS if (out / name).exists())
    click.echo(f"Written to {out}: {names}.", err=True)
    if _progress.stop_requested():
        click.echo("To make the whole run, give the same command with --force.", err=True)
    return code


def _attempt(system: str, how: dict[str, Any], progress: bool | None) -> tuple["Trajectory", int]:
    """The run, whole or in part, with the exit code it calls for.

    An interrupted run is not followed by the second run that would measure its errors.
    """
    from .. import _progress
    from ..simulation import SimulationError

    code = 0
    try:
        run = make_run(system, how, progress)
    except SimulationError as error:
        run, code = error.trajectory, 1
        click.echo(f"Error: {str(error).partition('. What was computed')[0]}.", err=True)
    try:
        run.report(second_run=False if _progress.stop_requested() else None)
    except KeyboardInterrupt:
        run.report(second_run=False)
    return run, code


def _show(run: "Trajectory", as_json: bool) -> None:
    click.echo(json.dumps(summary(run), indent=2, allow_nan=False) if as_json else str(run))


def summary(run: "Trajectory") -> dict[str, Any]:
    """What `--json` prints."""
    import numpy as np

    from .._results import name_of

    names, report = list(run.system.coordinates), run.report()

    def by_name(values: Any) -> dict[str, float | None]:
        return dict(zip(names, map(_finite, np.asarray(values).tolist()), strict=True))

    return {
        "system": run.system.name,
        "coordinates": dict(run.system.coordinates),
        "t": float(run.end.t),
        "final": {"q": by_name(run.end.q), "qd": by_name(run.end.qd)},
        "energy_imbalance": _finite(report.imbalance),
        "report": {
            "verdict": report.verdict,
            "status": name_of(run.status),
            "believable_until": _finite(report.believable_until),
            "final_error": {"q": by_name(report.error[-1]), "qd": by_name(report.rate_error[-1])},
            "against": report.reference,
            "momenta": {key: _finite(value) for key, value in report.momenta.items()},
            "mass_condition": _finite(report.condition),
            "steps": {key: int(value) for key, value in run.stats.items()},
            "text": str(report).splitlines(),
        },
    }


def _finite(value: float) -> float | None:
    """JSON knows neither NaN nor infinity."""
    return value if math.isfinite(value) else None
