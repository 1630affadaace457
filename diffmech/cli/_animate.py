"""`diffmech animate`: the machine in motion."""

from pathlib import Path
from typing import Any

import click

from ._options import debug_option, force_option, option, progress_option, run_options
from ._quantities import number
from ._runs import is_saved, make_run, run_or_load, system_with


@click.command()
@click.argument("source")
@option("out", ".gif, or .mp4 with ffmpeg  [motion.gif]")
@click.option("--speed", default="1", show_default=True, help="1 is real time, 0.5 half as fast.")
@click.option("--fps", default="25", show_default=True, help="Frames per second, at most 50.")
@click.option("--trail", default="1", show_default=True, help="Seconds of path behind; inf, 0.")
@click.option("--clock/--no-clock", default=True, help="Show the time.")
@click.option("--hinges/--no-hinges", default=True, help="Mark the joints.")
@option("system")
@run_options
@force_option
@progress_option
@debug_option
def animate(
    source: str,
    out: Path | None,
    speed: str,
    fps: str,
    trail: str,
    clock: bool,
    hinges: bool,
    system: str | None,
    how: dict[str, Any],
    force: bool,
    progress: bool | None,
) -> None:
    """Film SOURCE: a SYSTEM to run, or a saved run (a folder, or its run.npz).

    \b
    diffmech animate babyboot --start chaotic --out boot.gif
    diffmech animate run8 --speed 0.5 --out slow.mp4
    """
    from ..viz import animate as film, require_film

    out = out or Path("motion.gif")
    options: dict[str, Any] = {
        "speed": number(speed, "--speed", "1"),
        "fps": number(fps, "--fps", "1/s"),
        "trail": number(trail, "--trail", "s"),
    }
    require_film(out, **options, overwrite=force)
    if is_saved(source):
        run = run_or_load(source, system, how, progress)
    else:
        machine = system_with(source, how["params"])
        require_film(out, machine, overwrite=force)
        run = make_run(machine, how, progress)
    film(run, **options, clock=clock, hinges=hinges).save(out, overwrite=force, progress=progress)
    click.echo(str(out))
