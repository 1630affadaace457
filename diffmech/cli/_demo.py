"""`diffmech demo`: the babyboot tumbles."""

from pathlib import Path
from typing import Any

import click

from ._options import as_path, debug_option, progress_option
from ._simulate import run_into_folder, simulate


@click.command()
@click.option(
    "--out", metavar="DIR", default="results", show_default=True, callback=as_path, help="Where to."
)
@progress_option
@debug_option
def demo(out: Path, progress: bool | None) -> int:
    """Run the babyboot from its chaotic start for 10 s; write numbers, pictures and a film.

    An earlier demo in the same folder is replaced.
    """
    defaults: dict[str, Any] = {
        option.name: option.get_default(click.get_current_context())
        for option in simulate.params
        if option.name is not None
    }
    how = {**defaults, "start": "chaotic", "sets": (), "params": ()}
    return run_into_folder(
        "babyboot", how, out, film=True, pictures=True, force=True, as_json=False,
        progress=progress,
    )  # fmt: skip
