"""`diffmech plot`: one picture of a run."""

from pathlib import Path
from typing import Any

import click

from .._suggest import quoted
from ._options import debug_option, force_option, option, progress_option, run_options
from ._runs import run_or_load, saved_run
from ._shell_words import require_known

_NAMED = ("coordinates", "wrapped", "rates", "phase", "overlay", "distance")
_COMPARED = ("overlay", "distance")
KINDS = {
    "overview": "coordinates, rates and paths on one sheet",
    "balance": "energy changes, work, and what they leave unexplained",
    "coordinates": "coordinates against time",
    "wrapped": "angles between -pi and pi",
    "rates": "rates against time",
    "paths": "paths of the machine's points",
    "phase": "a rate against its coordinate",
    "energy": "energy changes and work",
    "imbalance": "|E - E0 - W| on a logarithmic axis",
    "stroboscope": "the machine at equally spaced times",
    "overlay": "coordinates of two runs (with --against)",
    "distance": "how far two runs are apart (with --against)",
}


@click.command(
    epilog="\b\nKinds:\n" + "\n".join(f"  {kind:<12} {text}" for kind, text in KINDS.items())
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
    if kind in _COMPARED and against is None:
        raise click.UsageError(f"{kind} compares two runs: give the other one as --against RUN.")
    if against is not None and kind not in _COMPARED:
        raise click.UsageError(f"--against goes with the kinds overlay and distance, not {kind}.")
    chosen = None if names is None else [name.strip() for name in names.split(",")]
    if chosen is not None and not all(chosen):
        raise click.UsageError(f"--names must be names such as qA,qB, but is {quoted(names)}.")
    if chosen and kind not in _NAMED:
        raise click.UsageError(f"--names goes with the kinds {', '.join(_NAMED)}, not {kind}.")
    if chosen and kind == "phase" and len(chosen) > 1:
        raise click.UsageError("a phase portrait shows one coordinate: give --names one name.")
    from ..viz import require_picture, save_figure

    out = out or Path(f"{kind}.png")
    require_picture(out, overwrite=force)
    other = None if against is None else saved_run(against, system)
    run = run_or_load(source, system, how, progress)
    save_figure(_figure(kind, run, other, chosen), out, overwrite=force)
    click.echo(str(out))


def _figure(kind: str, run: Any, other: Any, names: list[str] | None) -> Any:
    from .. import viz

    if kind in ("overview", "balance"):
        return getattr(viz, kind)(run)
    if kind in _COMPARED:
        return getattr(viz, kind)(run, other, names).figure
    if kind == "phase":
        return viz.phase(run, names[0] if names else None).figure
    if kind == "wrapped":
        return viz.coordinates(run, names, wrapped=True).figure
    if kind in _NAMED:
        return getattr(viz, kind)(run, names).figure
    return getattr(viz, kind)(run).figure
