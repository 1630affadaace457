"""`diffmech systems`: what there is to run."""

import inspect
import json
import math
from typing import Any

import click

from .._printing import aligned
from .._units import unit_after
from ..systems import CATALOGUE
from ._machines import machine
from ._options import debug_option, json_option
from ._quantities import as_typed


@click.command()
@click.argument("name", required=False, metavar="[SYSTEM]")
@click.option("-v", "--verbose", is_flag=True, help="Coordinates, parameters and starts as well.")
@json_option
@debug_option
def systems(name: str | None, verbose: bool, as_json: bool) -> None:
    """List the machines, or describe one: a name, a family, a file of your own.

    \b
    diffmech systems -v
    diffmech systems n_link:n=2
    diffmech systems my_system.py:boot
    """
    if name is not None:
        shown = {name: _details(name)}
    elif verbose:
        shown = {key: _details(key) for key in CATALOGUE}
    else:
        shown = {key: {"text": text} for key, (_, text) in CATALOGUE.items()}
    if as_json:
        click.echo(json.dumps(_plain(shown), indent=2, allow_nan=False))
        return
    if name is None and not verbose:
        click.echo(aligned((key, details["text"]) for key, details in shown.items()))
        return
    for details in shown.values():
        lines = (details["description"], details["sensible"], details["family"])
        click.echo("\n".join(filter(None, lines)))


def _details(text: str) -> dict[str, Any]:
    from ..model import parameter_paths, parameter_ranges, parameter_units

    system = machine(text)
    name = text.partition(":")[0]
    title, *rest = str(system).splitlines()
    known = CATALOGUE.get(name)
    if known:
        title += f": {known[1]}"
    units, ranges = parameter_units(system), parameter_ranges(system)
    return {
        "text": known[1] if known else system.name,
        "description": "\n".join([title, *rest]),
        "sensible": _sensible(units, ranges),
        "family": family(name) if known else "",
        "coordinates": dict(system.coordinates),
        "units": units,
        "ranges": {path: list(span) if span else None for path, span in ranges.items()},
        "params": {path: value.tolist() for path, value in parameter_paths(system.params).items()},
        "starts": {
            label: {"q": q.tolist(), "qd": qd.tolist()} for label, (q, qd) in system.starts.items()
        },
    }


def _sensible(units: dict[str, str], ranges: dict[str, Any]) -> str:
    """One line: what the parameters may sensibly be, those with the same range together."""
    alike: dict[str, list[str]] = {}
    for path, span in ranges.items():
        if span is not None:
            said = f"{span[0]:g} to {span[1]:g}{unit_after(units[path])}"
            alike.setdefault(said, []).append(path)
    spans = "; ".join(f"{', '.join(paths)} {said}" for said, paths in alike.items())
    return f"  sensible     {spans}" if spans else ""


def _plain(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not know."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def family(name: str) -> str:
    """One line: the arguments of a machine of the catalogue, as they are given; "" for none."""
    from .. import systems as catalogue

    arguments = inspect.signature(getattr(catalogue, name)).parameters.values()
    spelled = [f"{a.name}={as_typed(a.default)}" for a in arguments if a.default is not None]
    if not spelled:
        return ""
    return f"  arguments    {', '.join(spelled)}; as in {name}:{spelled[0]}"
