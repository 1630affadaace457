"""`diffmech doctor`: is this installation well?"""

import json

import click

from ._options import debug_option, json_option


@click.command()
@json_option
@debug_option
def doctor(as_json: bool) -> int:
    """Look at the installation: versions, precision, devices, and a short run checked exactly."""
    from ..simulation import installation

    found = installation()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return 0 if found["healthy"] else 1
    width = max(map(len, found))
    for key, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {number}" for name, number in value.items())
        click.echo(f"{key:<{width}}  {value}")
    return 0 if found["healthy"] else 1
