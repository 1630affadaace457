"""Runs on disk."""

import math
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import diffrax
import equinox as eqx
import jax
import numpy as np

from .._checks import require_kind
from .._records import (
    arrays_under,
    finite_or_none,
    read_record,
    require_writable,
    what_is_at,
    write_record,
)
from .._results import name_of, result_named
from .._typing import Params
from ..model import AbstractSystem, CoordinateUnits, FixedMapping, Laws, Range, parameter_names
from ..motion import (
    Energy,
    Likeness,
    likeness,
    params_like,
    require_alike,
    require_same_coordinates,
)
from ._constraint_record import ConstraintRecord
from ._kept_settings import settings_as_data, settings_from_data
from ._report import Report
from ._run import End
from ._trajectory import Trajectory

RUN_FILE = "run.npz"  # in a run's folder
_KIND = "trajectory"
_PARAM = "params."
_ENERGY = "energy."
_END = "end."
_HELD = "held."
_LIKENESS = "likeness."


class SystemOnFile(AbstractSystem):
    """What a file knows of the machine whose run it holds: names and numbers, no functions.

    `params` is a dictionary by path.
    """

    name: str = eqx.field(static=True)
    coordinates: CoordinateUnits = eqx.field(static=True)
    params: Params
    landmarks: Callable[..., Any] | None = eqx.field(static=True, default=None)
    links: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    springs: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    dampers: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    faces: tuple[tuple[int, ...], ...] = eqx.field(static=True, default=())
    starts: dict[str, Any] = eqx.field(default_factory=dict)
    units: FixedMapping[str] = eqx.field(static=True, default=FixedMapping())
    ranges: FixedMapping[Range] = eqx.field(static=True, default=FixedMapping())
    likeness: Likeness | None = None  # how the machine of the run moves at a few states

    @property
    def laws(self) -> Laws:
        raise ValueError(
            f"the run of {self.name!r} was loaded without its machine, so nothing new can be "
            "computed from it: load it with `diffmech.load(path, system)`"
        )


def save(trajectory: Trajectory, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a run and its report to a checksummed `.npz`, all of it or nothing.

    Functions are not written: `load` takes the machine again, and a method that has no name; of
    events their names are kept. Dense output is not written either.
    """
    require_writable(path, overwrite=overwrite)
    report, settings = trajectory.report(), trajectory.settings
    meta = {
        "system": trajectory.system.name,
        "coordinates": list(trajectory.system.coordinates.items()),
        "status": name_of(trajectory.status),
        "params": parameter_names(trajectory.params),
        "goal": float(trajectory.goal),
        "steps": [int(trajectory.stats["accepted"]), int(trajectory.stats["rejected"])],
        "settings": {**settings_as_data(settings), "event": int(trajectory.event_index)},
        "report": {
            "imbalance": finite_or_none(report.imbalance),
            "condition": finite_or_none(report.condition),
            "momenta": report.momenta,
            "believable_until": finite_or_none(report.believable_until),
            "reference": report.reference,
            "verdict": report.verdict,
            "lines": [list(line) for line in report.lines],
        },
    }
    arrays = {
        "ts": trajectory.ts,
        "qs": trajectory.qs,
        "qds": trajectory.qds,
        "work": trajectory.work,
        **{_END + key: value for key, value in trajectory.end._asdict().items()},
        "error": report.error,
        "rate_error": report.rate_error,
        **{_ENERGY + key: value for key, value in trajectory.energies._asdict().items()},
        **{_HELD + key: value for key, value in trajectory.held._asdict().items()},
        **{_LIKENESS + key: value for key, value in _likeness(trajectory)._asdict().items()},
        **{f"{_PARAM}{i}": value for i, value in enumerate(jax.tree.leaves(trajectory.params))},
    }
    plain = {key: np.asarray(value) for key, value in arrays.items()}
    return write_record(path, _KIND, meta, plain, overwrite=overwrite)


def _likeness(trajectory: Trajectory) -> Likeness:
    if isinstance(trajectory.system, SystemOnFile) and trajectory.system.likeness is not None:
        return trajectory.system.likeness
    start = trajectory.ts[0], trajectory.qs[0], trajectory.qds[0]
    return likeness(trajectory.system, trajectory.params, *start)


def load(
    path: str | Path,
    system: AbstractSystem | None = None,
    *,
    method: str | diffrax.AbstractSolver | None = None,
) -> Trajectory:
    """Read a run written by `save`, or a folder with a run in it, as the command line writes them.

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
    meta, arrays = read_record(path, _KIND)
    try:
        return _rebuild(meta, arrays, system, method)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(
            f"`{path}` was not loaded: its contents are incomplete ({error})"
        ) from error


def _rebuild(
    meta: dict[str, Any],
    arrays: dict[str, np.ndarray],
    system: AbstractSystem | None,
    method: str | diffrax.AbstractSolver | None,
) -> Trajectory:
    _check_shapes(arrays, len(meta["coordinates"]))
    params = [(str(path), arrays[f"{_PARAM}{i}"]) for i, path in enumerate(meta["params"])]
    coordinates = CoordinateUnits(dict(meta["coordinates"]))
    if system is None:
        tree: Params = dict(params)
        machine: AbstractSystem = SystemOnFile(
            str(meta["system"]),
            coordinates,
            tree,
            likeness=Likeness(**arrays_under(arrays, _LIKENESS)),
        )
    else:
        require_same_coordinates(system, coordinates)
        machine, tree = system, params_like(system, params)
        require_alike(machine, tree, Likeness(**arrays_under(arrays, _LIKENESS)))
    trajectory = Trajectory(
        ts=arrays["ts"],
        qs=arrays["qs"],
        qds=arrays["qds"],
        work=arrays["work"],
        status=result_named(meta["status"]),
        stats={
            "accepted": np.asarray(meta["steps"][0]),
            "rejected": np.asarray(meta["steps"][1]),
        },
        params=tree,
        system=machine,
        settings=settings_from_data(meta["settings"], method),
        end=End(**arrays_under(arrays, _END)),
        goal=np.asarray(meta["goal"]),
        event_index=np.asarray(meta["settings"]["event"]),
        interpolation=None,
        version=() if system is None else system.laws.version,
    )
    return trajectory.remembering(
        _report(meta["report"], arrays),
        Energy(**arrays_under(arrays, _ENERGY)),
        ConstraintRecord(**arrays_under(arrays, _HELD)),
    )


def _check_shapes(arrays: dict[str, np.ndarray], n: int) -> None:
    """Refuse arrays that do not belong together."""
    ts = arrays["ts"]
    k = len(ts)
    expected = {"ts": (k,), "qs": (k, n), "qds": (k, n), "work": (k,), "error": (k, n)}
    for name, shape in expected.items():
        if arrays[name].shape != shape or arrays[name].dtype.kind != "f":
            raise ValueError(
                f"its array {name!r} is {arrays[name].dtype} of shape {arrays[name].shape}, not "
                f"floats of shape {shape}"
            )
    if k < 1 or not np.all(ts[1:] > ts[:-1]):
        raise ValueError("its times do not increase")


def _report(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> Report:
    return Report(
        imbalance=_or_nan(meta["imbalance"]),
        momenta={str(key): float(value) for key, value in meta["momenta"].items()},
        condition=_or_nan(meta["condition"]),
        error=arrays["error"],
        rate_error=arrays["rate_error"],
        believable_until=_or_nan(meta["believable_until"]),
        reference=str(meta["reference"]),
        verdict=str(meta["verdict"]),
        lines=tuple((str(label), str(text)) for label, text in meta["lines"]),
    )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
