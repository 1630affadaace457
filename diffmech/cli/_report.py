"""`diffmech report`: what a saved run says of itself."""

import json

import click

from ._options import debug_option, json_option
from ._runs import is_saved


@click.command()
@click.argument("run", metavar="RUN")
@json_option
@debug_option
def report(run: str, as_json: bool) -> None:
    """Verify a saved RUN (a folder, or its run.npz) and print its report."""
    if not is_saved(run):
        raise click.UsageError(f"there is no run `{run}`: give a folder, or an .npz file.")
    from ..simulation import load_run

    found = load_run(run)
    click.echo(json.dumps(found.summary(), indent=2, allow_nan=False) if as_json else str(found))
