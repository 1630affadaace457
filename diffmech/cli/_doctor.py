"""`diffmech doctor`: is this installation well? And the constraints of a machine?"""

import json
from typing import Any

import click

from .._printing import aligned
from ._options import debug_option, json_option, option
from ._runs import start_of, system_with
from ._shell_words import for_the_shell
from ._tuned import remember_programs, tuned


@click.command()
@click.argument("system", required=False)
@option("start", "A named start of SYSTEM; see `systems -v`.")
@option("sets", "A coordinate or rate of SYSTEM: theta1=90deg. Repeatable.")
@option("params", "A parameter of SYSTEM.")
@click.option(
    "--clear-cache", is_flag=True, help="Delete the compiled programs kept on disk, and end."
)
@json_option
@debug_option
def doctor(
    system: str | None,
    start: str | None,
    sets: tuple[str, ...],
    params: tuple[str, ...],
    clear_cache: bool,
    as_json: bool,
) -> int:
    """Examine the installation, or the constraints of SYSTEM.

    Without SYSTEM: versions, precision, devices, compiler options for ensembles (tried out the
    first time, about 6 s), compiled programs kept on disk, and a short run checked exactly. With
    SYSTEM: degrees of freedom,
    redundant and conflicting constraints, whether a state obeys them, and the nearest singular
    position.

    \b
    diffmech doctor
    diffmech doctor --clear-cache
    diffmech doctor four_bar
    diffmech doctor four_bar:kind=parallelogram --set theta1=0 --set theta2=0 --set theta3=pi
    """
    if clear_cache:
        if system is not None or start is not None or sets or params:
            raise click.UsageError("--clear-cache goes alone: it deletes the programs of all.")
        return _clear_cache(as_json)
    if system is None:
        if start is not None or sets or params:
            raise click.UsageError("--start, --set and --param need a SYSTEM to examine.")
        return _installation(as_json)
    from ..assembly import doctor as examine

    machine = system_with(system, params)
    diagnosis = examine(machine, *start_of(machine, start, sets))
    if as_json:
        click.echo(json.dumps(_as_json(diagnosis), indent=2, allow_nan=False))
    else:
        click.echo(for_the_shell(str(diagnosis)))
    return 0 if all(diagnosis.consistent) and not diagnosis.conflicts else 1


def _as_json(diagnosis: Any) -> dict[str, Any]:
    return {
        "freedoms": diagnosis.freedoms,
        "place_freedoms": diagnosis.place_freedoms,
        "rank": diagnosis.rank,
        "dependent": [list(names) for names in diagnosis.dependent],
        "change_point": diagnosis.change_point,
        "conflicts": [[list(names), size] for names, size in diagnosis.conflicts],
        "consistent": {"place": diagnosis.consistent[0], "rates": diagnosis.consistent[1]},
        "violations": {
            "place": [float(x) for x in diagnosis.violations.residual],
            "rate": [float(x) for x in diagnosis.violations.rate_residual],
        },
        "distance": diagnosis.distance,
        "singular": None if diagnosis.singular is None else [float(x) for x in diagnosis.singular],
        "text": [for_the_shell(f"{label}: {text}") for label, text in diagnosis.lines],
    }


def _clear_cache(as_json: bool) -> int:
    from ..tuning import clear_cache, current_cache

    folder, deleted = current_cache().folder, clear_cache()
    if as_json:
        told = {"folder": str(folder), "programs": deleted.programs, "bytes": deleted.size}
        click.echo(json.dumps(told, indent=2))
    else:
        megabytes = f"{deleted.size / 1e6:.3g} MB"
        click.echo(f"Deleted {deleted.programs} programs, {megabytes}, from {folder}.")
    return 0


def _installation(as_json: bool) -> int:
    tuned()
    remember_programs()
    from ..simulation import installation

    checks = installation()
    if as_json:
        click.echo(json.dumps(checks, indent=2))
        return 0 if checks["healthy"] else 1
    click.echo(aligned((key, _in_words(value)) for key, value in checks.items()))
    return 0 if checks["healthy"] else 1


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return str(value)
