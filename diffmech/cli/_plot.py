"""`diffmech plot`: one picture of a run."""

from pathlib import Path
from typing import Any

import click

from .._suggest import quoted
from ..viz import KINDS, draw
from ._options import debug_option, force_option, option, progress_option, run_options
from ._runs import run_or_load, saved_run
from ._shell_words import require_known


@click.command(
    epilog="\b\nKinds:\n" + "\n".join(f"  {kind:<12} {each.text}" for kind, each in KINDS.items())
)
@click.argument("source")
@click.option("--kind", default="overview", show_default=True, help="What to draw; see below.")
@click.option("--names", metavar="A,B", help="Which coordinates, of one unit.  [default: all]")
@option("out")
@click.option("--against", metavar="RUN", help="A saved run of the same machine to compare with.")
@option("system")
@run_options
@force_option
@progress_option
@debug_option
def plot(
    source: str,
    kind: str,
    names: str | None,
    out: Path | None,
    against: str | None,
    system: str | None,
    how: dict[str, Any],
    force: bool,
    progress: bool | None,
) -> None:
    """Draw SOURCE: a SYSTEM to run, or a saved run (a folder, or its run.npz).

    \b
    diffmech plot babyboot --kind phase --names qA --out phase.png
    diffmech plot run8 --kind balance
    """
    require_known(kind, "kind of picture", list(KINDS))
    entry = KINDS[kind]
    if entry.runs == 2 and against is None:
        raise click.UsageError(f"{kind} compares two runs: give the other one as --against RUN.")
    if against is not None and entry.runs == 1:
        compared = " and ".join(name for name, each in KINDS.items() if each.runs == 2)
        raise click.UsageError(f"--against goes with the kinds {compared}, not {kind}.")
    chosen = None if names is None else [name.strip() for name in names.split(",")]
    if chosen is not None and not all(chosen):
        raise click.UsageError(f"--names must be names such as qA,qB, but is {quoted(names)}.")
    if chosen and entry.coordinates == "none":
        named = ", ".join(name for name, each in KINDS.items() if each.coordinates != "none")
        raise click.UsageError(f"--names goes with the kinds {named}, not {kind}.")
    if chosen and entry.coordinates == "one" and len(chosen) > 1:
        raise click.UsageError(f"{kind} shows one coordinate: give --names one name.")
    from ..viz import require_picture, save_figure

    out = out or Path(f"{kind}.png")
    require_picture(out, overwrite=force)
    others = [] if against is None else [saved_run(against, system)]
    run = run_or_load(source, system, how, progress)
    save_figure(draw(kind, run, *others, names=chosen), out, overwrite=force)
    click.echo(str(out))
