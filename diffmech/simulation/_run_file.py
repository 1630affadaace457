"""What a run's file holds, and how it is written and read: plain data, no `Trajectory`."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import diffrax
import jax
import numpy as np

from .._records import (
    arrays_under,
    finite_or_none,
    read_record,
    write_record,
)
from .._results import name_of, result_named
from .._typing import Params
from ..model import AbstractSystem, CoordinateUnits, parameter_names
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
from ._run_data import End, RunData
from ._system_on_file import SystemOnFile

_KIND = "trajectory"  # in the head of its file
_PARAM = "params."
_ENERGY = "energy."
_END = "end."
# Fields of the record of constraints, and what the arrays are called in files of schema 1.
_CONSTRAINTS = {
    "residual": "held.place",
    "rate_residual": "held.rate",
    "multipliers": "held.multipliers",
    "distance": "held.distance",
}
_LIKENESS = "likeness."


class RunOnFile(NamedTuple):
    """What a file holds: a run, and all that was computed from it."""

    run: RunData
    report: Report
    energies: Energy
    constraints: ConstraintRecord


def write_run(kept: RunOnFile, path: str | Path, *, overwrite: bool) -> Path:
    """Write a run and its report to a checksummed `.npz`, all of it or nothing.

    Functions are not written: reading takes the machine again, and a method that has no name; of
    events their names are kept. Dense output is not written either.
    """
    run, report = kept.run, kept.report
    meta = {
        "system": run.system.name,
        "coordinates": list(run.system.coordinates.items()),
        "status": name_of(run.status),
        "params": parameter_names(run.params),
        "goal": float(run.goal),
        "steps": [int(run.stats["accepted"]), int(run.stats["rejected"])],
        "settings": {**settings_as_data(run.settings), "event": int(run.event_index)},
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
    constraints = kept.constraints._asdict()
    arrays = {
        "ts": run.ts,
        "qs": run.qs,
        "qds": run.qds,
        "work": run.work,
        **{_END + key: value for key, value in run.end._asdict().items()},
        "error": report.error,
        "rate_error": report.rate_error,
        **{_ENERGY + key: value for key, value in kept.energies._asdict().items()},
        **{on_file: constraints[key] for key, on_file in _CONSTRAINTS.items()},
        **{_LIKENESS + key: value for key, value in _likeness(run)._asdict().items()},
        **{f"{_PARAM}{i}": value for i, value in enumerate(jax.tree.leaves(run.params))},
    }
    plain = {key: np.asarray(value) for key, value in arrays.items()}
    return write_record(path, _KIND, meta, plain, overwrite=overwrite)


def _likeness(run: RunData) -> Likeness:
    if isinstance(run.system, SystemOnFile) and run.system.likeness is not None:
        return run.system.likeness
    return likeness(run.system, run.params, run.ts[0], run.qs[0], run.qds[0])


def read_run(
    path: Path, system: AbstractSystem | None, method: str | diffrax.AbstractSolver | None
) -> RunOnFile:
    """What `write_run` wrote; with its machine given, and like it, the run is of that.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, another machine or method; the reason is said.
    """
    meta, arrays = read_record(path, _KIND)
    try:
        return _rebuilt(meta, arrays, system, method)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(
            f"`{path}` was not loaded: its contents are incomplete ({error})"
        ) from error


def _rebuilt(
    meta: dict[str, Any],
    arrays: dict[str, np.ndarray],
    system: AbstractSystem | None,
    method: str | diffrax.AbstractSolver | None,
) -> RunOnFile:
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
    run = RunData(
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
    constraints = {key: arrays[on_file] for key, on_file in _CONSTRAINTS.items()}
    return RunOnFile(
        run,
        _report(meta["report"], arrays),
        Energy(**arrays_under(arrays, _ENERGY)),
        ConstraintRecord(**constraints),
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
