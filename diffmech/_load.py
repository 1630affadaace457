"""One verb for every file: which kind of record it holds is in its head."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._checks import require_kind
from ._records import kind_of, what_is_at
from .model import AbstractSystem, require_system

if TYPE_CHECKING:
    import diffrax

_RUN, _MAP, _FIT = "trajectory", "stability_map", "fit"


def load(
    path: str | Path,
    system: AbstractSystem | None = None,
    *,
    method: "str | diffrax.AbstractSolver | None" = None,
) -> Any:
    """Read what a record's `save` wrote: a run, a stability map or a fit; the file knows which.

        run = dm.load("run.npz", dm.systems.babyboot())

    Checksums are verified and nothing in the file is executed. Functions are not in it, so numbers,
    reports and pictures need the file alone, and anything computed anew needs the machine:

    - a run, or a folder with a `run.npz` in it: a `Trajectory`. With the machine it evaluates
      between samples, and its parameters have the machine's structure.
    - a map: a `StabilityMap`. With the machine `zoom` works.
    - a fit: a `Fit`. With the machine that was fitted, with any parameters, `fit.system` is that
      machine with the parameters found.

    That it is the same machine is tried at three states. `method` is asked for if a run was made by
    a solver object that no name stands for; it never changes how a run was made.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, another machine or method; the reason is said.
    """
    require_kind(path, (str, PathLike), "path", "the path of a file")
    if system is not None:
        require_system(system)
    # A folder is one of a run: the others are single files.
    kind = _RUN if what_is_at(path) == "folder" else kind_of(path)
    if kind == _RUN:
        from .simulation import load_run

        return load_run(path, system, method=method)
    if method is not None:
        raise ValueError(f"`method` must be left out: `{path}` holds a {kind!r}, not a run")
    return _loader(kind, path)(path, system)


def _loader(kind: str, path: str | Path) -> Callable[..., Any]:
    if kind == _MAP:
        from .maps import load_map

        return load_map
    if kind == _FIT:
        from .identification import load_fit

        return load_fit
    raise ValueError(
        f"`{path}` was not loaded: it holds a {kind!r}, not a {_RUN!r}, {_MAP!r} or {_FIT!r}"
    )
