"""From words to a run: made anew, or read from where it was saved."""

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import click

from .._units import unit_after
from ..systems import CATALOGUE
from ._machines import is_own_file, machine
from ._options import given_run_options
from ._quantities import each_of, number, numbers
from ._shell_words import assignments, for_the_shell, require_known

if TYPE_CHECKING:
    from ..model import AbstractSystem
    from ..simulation import Trajectory


def is_saved(source: str) -> bool:
    """Whether SOURCE is a run on disk: a folder, or an .npz.

    The catalogue's names are machines, even beside a folder of that name: say `./pendulum`.
    """
    if not source or source.partition(":")[0] in CATALOGUE or is_own_file(source):
        return False
    from .._records import what_is_at

    return source.endswith(".npz") or what_is_at(source) == "folder"


def system_with(text: str, params: tuple[str, ...]) -> "AbstractSystem":
    """The machine with its parameters as asked for."""
    system = machine(text)
    if not params:
        return system
    from ..model import parameter_unit

    changes = {
        path: numbers(value, f"`{path}`", parameter_unit(system, path))
        for path, value in assignments(params, "--param", "mB=0.2").items()
    }
    changed = system.with_params(changes)
    for path, values in changes.items():
        _note_odd_values(system, path, values)
    return changed


def _note_odd_values(system: "AbstractSystem", path: str, values: Any) -> None:
    """Say so on standard error if a parameter has left the range that makes sense."""
    from ..model import parameter_place, parameter_ranges, parameter_unit

    leaf, _ = parameter_place(system.params, path)
    span = parameter_ranges(system)[leaf]
    odd = [
        value for value in each_of(values) if span is not None and not span[0] <= value <= span[1]
    ]
    if odd and span is not None:
        unit = unit_after(parameter_unit(system, path))
        click.echo(
            f"Note: `{path}` = {odd[0]:g}{unit} is unusual: {span[0]:g} to {span[1]:g}{unit} "
            "makes sense.",
            err=True,
        )


def start_of(
    system: "AbstractSystem", start: str | None, sets: tuple[str, ...]
) -> tuple[dict[str, float], dict[str, float]]:
    """Initial coordinates and rates: a named start, changed by the assignments."""
    names = list(system.coordinates)
    if start is not None and not system.starts:
        raise click.UsageError(f"{system.name} has no named starts; use --set.")
    if start is not None:
        require_known(start, "start", list(system.starts))
    chosen = start or ("default" if "default" in system.starts else None)
    q: dict[str, float] = {}
    qd = dict.fromkeys(names, 0.0)
    if chosen is not None:
        q0, qd0 = system.starts[chosen]
        q = dict(zip(names, map(float, q0), strict=True))
        qd = dict(zip(names, map(float, qd0), strict=True))
    rates = {f"{name}_dot": name for name in names}
    for key, value in assignments(sets, "--set", "qA=90deg").items():
        require_known(key, "coordinate or rate", [*names, *rates])
        name = rates.get(key, key)
        unit = system.coordinates[name]
        if key in rates:
            qd[name] = number(value, f"`{key}`", unit, rate=True)
        else:
            q[name] = number(value, f"`{key}`", unit)
    missing = [name for name in names if name not in q]
    if missing:
        raise click.UsageError(
            f"{system.name} has no start named 'default', so set {', '.join(missing)}: --set "
            f"{missing[0]}=0.5"
        )
    return q, qd


def make_run(system: "AbstractSystem", how: dict[str, Any], progress: bool | None) -> "Trajectory":
    """Simulate; raises `SimulationError` with what was computed when the run fails."""
    from ..simulation import simulate

    q0, qd0 = start_of(system, how["start"], how["sets"])
    numeric: dict[str, Any] = {
        name: number(how[name], f"--{name}", unit)
        for name, unit in (("duration", "s"), ("rtol", "1"), ("atol", "1"), ("dt", "s"))
        if how[name] is not None
    }
    if how["dt"] is not None and (how["rtol"] or how["atol"]):
        raise click.UsageError("--dt is a constant step, so --rtol and --atol do not apply.")
    if how["assemble"]:  # it speaks, so all words and numbers are understood by now
        if "duration" in numeric:
            from .._checks import as_duration

            as_duration(numeric["duration"])
        q0, qd0 = _assembled(system, q0, qd0, how["sets"])
    if progress or (progress is None and sys.stderr.isatty()):
        click.echo(f"{system.name}: compiling its equations ... (once)", err=True)
    with contextlib.redirect_stdout(sys.stderr):  # what a user's functions print is not our data
        return simulate(
            system,
            q0,
            qd0,
            samples=how["samples"],
            method=how["method"],
            stabilise=how["stabilise"],
            max_steps=how["max_steps"],
            progress=progress,
            **numeric,
        )


def _assembled(
    system: "AbstractSystem",
    q0: dict[str, float],
    qd0: dict[str, float],
    sets: tuple[str, ...],
) -> tuple[Any, Any]:
    """The nearest start that keeps the constraints; says on standard error what was changed."""
    from ..assembly import assemble

    given = assignments(sets, "--set", "qA=90deg")
    found = assemble(system, q0, qd0, fixed=[name for name in system.coordinates if name in given])
    click.echo(for_the_shell(str(found)), err=True)
    return found.q, found.qd


def saved_run(source: str, system: str | None) -> "Trajectory":
    """Read a run; its machine is `system`, or the catalogue's one that its settings name.

    A user's own file is never run because a folder says so: that takes `--system`.
    """
    from ..simulation import load_run
    from ..viz import read_settings

    if system is None:
        named = read_settings(source).get("system")
        if isinstance(named, str) and named.partition(":")[0] in CATALOGUE:
            system = None if is_own_file(named) else named
    return load_run(source, machine(system) if system else None)


def run_or_load(
    source: str, system: str | None, how: dict[str, Any], progress: bool | None
) -> "Trajectory":
    """A saved run if SOURCE is one, else a new one of the machine it names."""
    if not is_saved(source):
        if system is not None:
            raise click.UsageError("--system goes with a saved run; SOURCE is a machine already.")
        return make_run(system_with(source, how["params"]), how, progress)
    given = given_run_options()
    if given:
        raise click.UsageError(f"{given[0]} does not apply to a saved run; simulate it anew.")
    return saved_run(source, system)
