"""Fits on disk, with the records they were made from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._records import arrays_under, read_record, require_writable, write_record
from ..model import AbstractSystem, CoordinateUnits, parameter_names
from ..motion import Likeness, likeness, params_like, require_alike, require_same_coordinates
from ..simulation import SystemOnFile
from ._fit_numbers import AbstractFit
from ._record import Record
from ._whiteness import Whiteness

_KIND = "fit"
_PARAM, _LIKENESS, _WHITENESS = "params.", "likeness.", "whiteness."
_SHOWN = {"record": "computed", "held": "predicted"}
_ARRAYS = ("values", "errors", "covariance", "unknown", "rows", "limits", "starts", "noise",
           "noise_given")  # fmt: skip
_NUMBERS = ("chi2", "condition", "jump")  # in an array: they may be infinite, which JSON is not


def save_fit(fit: AbstractFit, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit, its records included, to a checksummed `.npz`, all of it or nothing.

    Functions are not written: `diffmech.load` takes the machine again.
    """
    require_writable(path, overwrite=overwrite)
    meta = {
        "system": fit.system.name,
        "coordinates": list(fit.system.coordinates.items()),
        "params": parameter_names(fit.system.params),
        "names": list(fit.names),
        "units": list(fit.units),
        "limited": list(fit.limited),
        "count": int(fit.count),
        "unknowns": int(fit.unknowns),
        "converged": bool(fit.converged),
        "profiles": json.dumps(fit.profiles),
        "settings": json.dumps(fit.settings),  # in its own order, with numbers that are infinite
        "record": [_described(record) for record in fit.records],
        "held": [_described(record) for record in fit.held],
    }
    arrays: dict[str, Any] = {name: getattr(fit, name) for name in _ARRAYS}
    arrays["numbers"] = np.array([getattr(fit, name) for name in _NUMBERS], float)
    arrays |= {_WHITENESS + key: getattr(fit.whiteness, key) for key in Whiteness.__annotations__}
    arrays |= {_LIKENESS + key: value for key, value in _likeness(fit)._asdict().items()}
    arrays |= {f"{_PARAM}{i}": leaf for i, leaf in enumerate(jax.tree.leaves(fit.system.params))}
    for kind, records, shown in (
        ("record", fit.records, fit.computed),
        ("held", fit.held, fit.predicted),
    ):
        for i, (record, values) in enumerate(zip(records, shown, strict=True)):
            arrays |= _kept(record, values, f"{kind}.{i}.", _SHOWN[kind])
    plain = {key: np.asarray(value) for key, value in arrays.items()}
    return write_record(path, _KIND, meta, plain, overwrite=overwrite)


def _described(record: Record) -> dict[str, Any]:
    return {"name": record.name, "channels": list(record.channels), "inputs": list(record.inputs)}


def _kept(record: Record, shown: Any, prefix: str, label: str) -> dict[str, Any]:
    """The arrays of a record and what the model shows, by names of the file."""
    arrays = {"ts": record.ts, "values": record.values, label: shown}
    for name in ("noise", "weights"):
        if getattr(record, name) is not None:
            arrays[name] = getattr(record, name)
    arrays |= {f"input.{i}": column for i, column in enumerate(record.inputs.values())}
    return {prefix + key: value for key, value in arrays.items()}


def _likeness(fit: AbstractFit) -> Likeness:
    if isinstance(fit.system, SystemOnFile) and fit.system.likeness is not None:
        return fit.system.likeness
    q, qd = np.split(np.asarray(fit.starts[0]), 2)
    return likeness(fit.system, fit.system.params, fit.records[0].ts[0], q, qd)


def fields_on_file(path: str | Path, system: AbstractSystem | None) -> dict[str, Any]:
    """The fields of a fit that `save_fit` wrote; its machine is `system`, if given.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, or another machine; the reason is said.
    """
    meta, arrays = read_record(path, _KIND)
    try:
        return _rebuilt(meta, arrays, system)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(
            f"`{path}` was not loaded: its contents are incomplete ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"`{path}` was not loaded: {error}") from None


def _rebuilt(
    meta: dict[str, Any], arrays: dict[str, np.ndarray], system: AbstractSystem | None
) -> dict[str, Any]:
    p, count = len(meta["names"]), len(meta["record"])
    shapes = {"values": (p,), "errors": (p,), "covariance": (p, p), "rows": (p + 1, p + 1)}
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype.kind != "f":
            raise ValueError(f"its array {name!r} must be floats of shape {shape}, but is not")
    if not count or len(arrays["starts"]) != count or len(meta["units"]) != p:
        raise ValueError("its records, starts, names and units must belong together, but do not")
    whole = {
        kind: [
            _of_file(about, arrays, f"{kind}.{i}.", _SHOWN[kind]) for i, about in enumerate(each)
        ]
        for kind, each in (("record", meta["record"]), ("held", meta["held"]))
    }
    return dict(
        system=_machine(meta, arrays, system),
        names=_words(meta["names"]),
        units=_words(meta["units"]),
        limited=_words(meta["limited"]),
        records=tuple(record for record, _ in whole["record"]),
        computed=tuple(shown for _, shown in whole["record"]),
        held=tuple(record for record, _ in whole["held"]),
        predicted=tuple(shown for _, shown in whole["held"]),
        count=int(meta["count"]),
        unknowns=int(meta["unknowns"]),
        converged=bool(meta["converged"]),
        whiteness=Whiteness(**arrays_under(arrays, _WHITENESS)),
        profiles={name: tuple(ends) for name, ends in json.loads(meta["profiles"]).items()},
        settings=dict(json.loads(meta["settings"])),
        **{name: arrays[name] for name in _ARRAYS},
        **dict(zip(_NUMBERS, map(float, arrays["numbers"]), strict=True)),
    )


def _machine(
    meta: dict[str, Any], arrays: dict[str, np.ndarray], system: AbstractSystem | None
) -> AbstractSystem:
    """The machine with the parameters found, if it is the one that was fitted."""
    params = [(str(path), arrays[f"{_PARAM}{i}"]) for i, path in enumerate(meta["params"])]
    coordinates = CoordinateUnits(dict(meta["coordinates"]))
    kept = Likeness(**arrays_under(arrays, _LIKENESS))
    if system is None:
        return SystemOnFile(str(meta["system"]), coordinates, dict(params), likeness=kept)
    require_same_coordinates(system, coordinates)
    tree = params_like(system, params)
    require_alike(system, tree, kept)
    return eqx.tree_at(lambda machine: machine.params, system, tree)


def _of_file(
    about: dict[str, Any], arrays: dict[str, np.ndarray], prefix: str, label: str
) -> tuple[Record, np.ndarray]:
    of_record = arrays_under(arrays, prefix)
    record = Record(
        of_record["ts"],
        of_record["values"],
        _words(about["channels"]),
        inputs={str(name): of_record[f"input.{i}"] for i, name in enumerate(about["inputs"])},
        noise=of_record.get("noise"),
        weights=of_record.get("weights"),
        name=str(about["name"]),
    )
    if of_record[label].shape != record.values.shape:
        raise ValueError(f"record {record.name!r} and what the model shows must be equally long")
    return record, of_record[label]


def _words(names: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(str, names))
