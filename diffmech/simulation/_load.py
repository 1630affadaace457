"""A run from its file."""

from os import PathLike
from pathlib import Path

import diffrax

from .._checks import require_kind
from .._records import what_is_at
from ..model import AbstractSystem
from ._run_file import read_run
from ._trajectory import Trajectory

RUN_FILE = "run.npz"  # in a run's folder


def load_run(
    path: str | Path,
    system: AbstractSystem | None = None,
    *,
    method: str | diffrax.AbstractSolver | None = None,
) -> Trajectory:
    """Read a run written by `Trajectory.save`, or a folder with a `run.npz` in it.

    Checksums are verified and nothing in the file is executed.

    Given the machine it was made with, the run is whole again: it evaluates between samples and
    its parameters have the machine's structure. That it is the same machine is tried at three
    states. Without, arrays, energies and report are there.

    `method` is asked for if the run was made by a solver object that no name stands for. It never
    changes how a run was made: where the file knows the method, another one is refused.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, another machine or method; the reason is said.
    """
    require_kind(path, (str, PathLike), "path", "the path of a file")
    path = Path(path) / RUN_FILE if what_is_at(path) == "folder" else Path(path)
    kept = read_run(path, system, method)
    return Trajectory.of(kept.run).remembering(kept.report, kept.energies, kept.constraints)
