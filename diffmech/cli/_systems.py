"""`diffmech systems`: what there is to run."""

import inspect
import json
import math
from typing import Any

import click

from ..systems import CATALOGUE
from ._machines import machine
from ._options import debug_option, json_option


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
    width = max(map(len, CATALOGUE))
    for key, details in shown.items():
        if "description" in details:
            click.echo("\n".join(filter(None, [details["description"], details["family"], ""])))
        else:
            click.echo(f"{key:<{width}}  {details['text']}")


def _details(text: str) -> dict[str, Any]:
    from ..model import parameter_paths

    system = machine(text)
    name = text.partition(":")[0]
    title, *rest = str(system).splitlines()
    known = CATALOGUE.get(name)
    if known:
        title += f": {known[1]}"
    family = ""
    if known:
        from .. import systems as catalogue

        arguments = inspect.signature(getattr(catalogue, name)).parameters.values()
        spelled = ", ".join(f"{a.name}={a.default}" for a in arguments if a.default is not None)
        family = f"  arguments    {spelled}; as in {name}:{_example(arguments)}" if spelled else ""
    return {
        "text": known[1] if known else system.name,
        "description": "\n".join([title, *rest]),
        "family": family,
        "coordinates": dict(system.coordinates),
        "params": {path: value.tolist() for path, value in parameter_paths(system.params).items()},
        "starts": {
            label: {"q": q.tolist(), "qd": qd.tolist()} for label, (q, qd) in system.starts.items()
        },
    }


def _plain(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not know."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _example(arguments: Any) -> str:
    first = next(iter(arguments))
    return f"{first.name}={first.default}"
