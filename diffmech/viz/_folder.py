"""A run as a folder: numbers, pictures, report and settings side by side."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._folders import staged_folder
from .._records import atomic_file
from .._results import name_of
from ..model import parameter_paths
from ..simulation import RUN_FILE, Trajectory
from ._animation import animate
from ._pages import balance, overview, save_figure

CSV, REPORT, SETTINGS = "run.csv", "report.txt", "settings.json"
COORDINATES, ENERGY, FILM = "trajectory.png", "energy.png", "motion.gif"
FOLDER_MEMBERS = (RUN_FILE, CSV, REPORT, SETTINGS, COORDINATES, ENERGY, FILM)
_PICTURE_BYTES = 1_000_000  # what pictures may need beside the numbers


def save_folder(
    run: Trajectory,
    path: str | Path,
    *,
    film: bool = False,
    pictures: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write everything about a run into a folder, all of it or nothing.

    `run.npz` (`diffmech.load(folder, system)` gives the run back), `run.csv`, `settings.json`,
    `report.txt`, `trajectory.png`, `energy.png`, and with `film=True` `motion.gif`.

    Raises:
        FileExistsError: the folder holds a run already and `overwrite` is not set.
    """
    with staged_folder(path, FOLDER_MEMBERS, overwrite=overwrite) as stage:
        fill_folder(run, stage, film=film, pictures=pictures)
    return Path(path)


def fill_folder(
    run: Trajectory,
    folder: Path,
    *,
    film: bool = False,
    pictures: bool = True,
    about: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> None:
    """Write everything about a run into an existing, empty folder.

    `about` is added to the settings: what the caller knows beyond the run.
    """
    try:
        run.save(folder / RUN_FILE)
        run.to_csv(folder / CSV)
        _write_text(folder / REPORT, f"{run}\n")
        _write_text(folder / SETTINGS, json.dumps({**(about or {}), **settings_of(run)}, indent=2))
        if pictures:
            save_figure(overview(run), folder / COORDINATES)
            if np.all(np.isfinite(np.asarray(run.energies.total))):
                save_figure(balance(run), folder / ENERGY)
        if film:
            animate(run).save(folder / FILM, progress=progress)
    except OSError as error:
        numbers = sum(np.asarray(x).nbytes for x in (run.ts, run.qs, run.qds, run.work))
        need = (8 * numbers + pictures * _PICTURE_BYTES) / 1e6
        raise type(error)(
            f"cannot write in `{folder.parent}`: {error.strerror or error}; this run needs about "
            f"{math.ceil(need)} MB there"
        ) from error


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
