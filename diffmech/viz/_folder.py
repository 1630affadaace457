"""A run as a folder: numbers, pictures, report and settings side by side."""

import contextlib
import functools
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .._folders import staged_folder
from .._records import atomic_file, reason_of
from .._results import name_of
from ..model import parameter_paths
from ..simulation import RUN_FILE, Trajectory
from ._animation import animate
from ._pages import balance, overview, save_figure
from ._scene import require_drawing

CSV, REPORT, SETTINGS = "run.csv", "report.txt", "settings.json"
COORDINATES, ENERGY, FILM = "trajectory.png", "energy.png", "motion.gif"
# The run itself moves into place last: where it is, the rest belongs to it.
_MEMBERS = (CSV, REPORT, SETTINGS, COORDINATES, ENERGY, FILM, RUN_FILE)
_PICTURE_BYTES = 1_000_000  # what pictures may need beside the numbers
_LONGEST_FILM = 60.0  # [s]; longer runs are shown faster


def save_folder(
    run: Trajectory,
    path: str | Path,
    *,
    film: bool = False,
    pictures: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write everything about a run into a folder; if that fails, an older run there stays.

    `run.npz` (`diffmech.load(folder, system)` gives the run back), `run.csv`, `settings.json`,
    `report.txt`, `trajectory.png`, `energy.png`, and with `film=True` `motion.gif`: in real time,
    or faster if that would last more than a minute.

    Raises:
        FileExistsError: the folder holds a run already and `overwrite` is not set.
        ValueError: a film of a machine without landmarks.
    """
    with run_folder(path, overwrite=overwrite) as write:
        write(run, film=film, pictures=pictures)
    return Path(path)


@contextlib.contextmanager
def run_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Callable[..., None]]:
    """Reserve a folder for a run that is still to be made; gives the function that fills it.

    `write(run, film=, pictures=, about=, progress=)` takes the run; `about` is added to the
    settings. Ctrl-C while it draws leaves out what was not drawn, and keeps the numbers.
    """
    with staged_folder(path, _MEMBERS, overwrite=overwrite) as stage:
        yield functools.partial(_fill, stage)


def _fill(
    folder: Path,
    run: Trajectory,
    *,
    film: bool = False,
    pictures: bool = True,
    about: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> None:
    if film:
        require_drawing(run.system)
    try:
        run.save(folder / RUN_FILE)
        run.to_csv(folder / CSV)
        _write_text(folder / REPORT, f"{run}\n")
        _write_text(folder / SETTINGS, json.dumps({**(about or {}), **settings_of(run)}, indent=2))
        with contextlib.suppress(KeyboardInterrupt):
            _draw(folder, run, film=film, pictures=pictures, progress=progress)
    except OSError as error:
        numbers = sum(np.asarray(x).nbytes for x in (run.ts, run.qs, run.qds, run.work))
        need = (8 * numbers + pictures * _PICTURE_BYTES) / 1e6
        raise type(error)(
            f"cannot write in `{folder.parent}`: {reason_of(error) or error}; this run needs "
            f"about {math.ceil(need)} MB there"
        ) from error


def _draw(
    folder: Path, run: Trajectory, *, film: bool, pictures: bool, progress: bool | None
) -> None:
    """Pictures and film; one that cannot be drawn is warned about, for the numbers matter more."""
    pictures = pictures and len(run.ts) > 1
    known = bool(np.all(np.isfinite(np.asarray(run.energies.total))))
    speed = max(1.0, float(run.ts[-1] - run.ts[0]) / _LONGEST_FILM)
    wanted: list[tuple[str, bool, Callable[[Path], Any]]] = [
        (COORDINATES, pictures, lambda path: save_figure(overview(run, figure=Figure()), path)),
        (ENERGY, pictures and known, lambda path: save_figure(balance(run, figure=Figure()), path)),
        (FILM, film, lambda path: animate(run, speed=speed).save(path, progress=progress)),
    ]
    for name, asked, draw in wanted:
        try:
            if asked:
                draw(folder / name)
        except ValueError as error:
            warnings.warn(f"{name} was not drawn: {error}", stacklevel=2)


def read_settings(path: str | Path) -> dict[str, Any]:
    """The settings in a run's folder, or beside its `run.npz`; empty if there are none."""
    path = Path(path)
    try:
        settings = json.loads(
            ((path if path.is_dir() else path.parent) / SETTINGS).read_text(encoding="utf-8")
        )
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def settings_of(run: Trajectory) -> dict[str, Any]:
    """How a run was made, as JSON can hold it."""
    settings, names = run.settings, list(run.system.coordinates)
    return {
        "name": run.system.name,
        "coordinates": dict(run.system.coordinates),
        "params": {
            path: np.asarray(value).tolist() for path, value in parameter_paths(run.params).items()
        },
        "q0": dict(zip(names, np.asarray(run.qs[0]).tolist(), strict=True)),
        "qd0": dict(zip(names, np.asarray(run.qds[0]).tolist(), strict=True)),
        "t0": float(run.ts[0]),
        "duration": float(run.goal) - float(run.ts[0]),
        "samples": len(run.ts),
        "method": settings.method,
        "rtol": float(settings.rtol) if settings.dt is None else None,
        "atol": float(settings.atol) if settings.dt is None else None,
        "dt": None if settings.dt is None else float(settings.dt),
        "max_steps": settings.max_steps,
        "precision": str(np.asarray(run.qs).dtype),
        "status": name_of(run.status),
        "event": run.event,
    }


def _write_text(path: Path, text: str) -> None:
    with atomic_file(path, overwrite=False) as temporary:
        temporary.write_text(text, encoding="utf-8")
