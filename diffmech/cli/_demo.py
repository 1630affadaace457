"""`diffmech demo`: the babyboot tumbles."""

from pathlib import Path

import click

from ._options import debug_option, option, progress_option
from ._simulate import simulate


@click.command()
@option("out", "Where to.", metavar="DIR", default="results", show_default=True)
@progress_option
@debug_option
@click.pass_context
def demo(context: click.Context, out: Path, progress: bool | None) -> int:
    """Run the babyboot from its chaotic start for 10 s; write numbers, pictures and a film.

    A run that is in the folder already is replaced.
    """
    return context.invoke(
        simulate,
        system="babyboot",
        start="chaotic",
        out=out,
        film=True,
        force=True,
        progress=progress,
    )
