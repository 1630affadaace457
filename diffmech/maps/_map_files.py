"""Maps on disk: whole, or as far as they got."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from .._records import read_record, write_record
from ..model import AbstractSystem, CoordinateUnits
from ..motion import Likeness, likeness, require_alike, require_same_coordinates
from ..simulation import SystemOnFile
from ._abstract_criterion import CriterionWords
from ._axes import Axis
from ._map_numbers import MapEdge, MapNumbers
from ._verdicts import Verdict

_KIND = "stability_map"
_LIKENESS = "likeness."
_ARRAYS = {"values": "f", "verdicts": "i", "energy_error": "f", "status": "i"}


def part_of(path: str | Path) -> Path:
    """Where an unfinished map waits to be resumed."""
    path = Path(path)
    return path.with_name(f"{path.name}.part")


def write_map(
    record: MapNumbers, path: str | Path, *, done: int | None = None, overwrite: bool = False
) -> Path:
    """Write a map; `done` is how many of its points are computed, all if None."""
    edges, settings = record.edges, record.settings
    meta = {
        "system": record.system.name,
        "coordinates": list(record.system.coordinates.items()),
        "axes": [[axis.name, axis.unit, axis.kind] for axis in record.axes],
        # A criterion is read in its own order; objects of the file are in that of the alphabet.
        "settings": {**settings, "criterion": list(settings["criterion"].items())},
        "words": record.words._asdict(),
        "done": record.verdicts.size if done is None else done,
        "indefinite": record.indefinite,
        "edges": None if edges is None else [[int(e.before), int(e.after)] for e in edges],
    }
    arrays = {name: np.asarray(getattr(record, name)) for name in _ARRAYS}
    arrays |= {f"axis.{i}": axis.grid for i, axis in enumerate(record.axes)}
    kept = record.likeness or likeness_of(record)
    arrays |= {_LIKENESS + key: value for key, value in kept._asdict().items()}
    arrays["edges"] = np.array([[e.place, e.width] for e in edges or ()], float).reshape(-1, 2)
    return write_record(path, _KIND, meta, arrays, overwrite=overwrite)


def likeness_of(record: MapNumbers) -> Likeness:
    """How the map's machine moves near the start that all its points share."""
    start = record.settings["q0"], record.settings["qd0"]
    return likeness(record.system, record.system.params, record.settings.get("t0") or 0.0, *start)


def fields_on_file(path: str | Path, system: AbstractSystem | None) -> tuple[dict[str, Any], int]:
    """The fields of a map that `write_map` wrote, and how many of its points are computed.

    Its machine is `system` with the parameters of the map, if given.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, or another machine; the reason is said.
    """
    meta, arrays = read_record(path, _KIND)
    try:
        fields, done = _rebuilt(meta, arrays), int(meta["done"])
        if not 0 <= done <= fields["verdicts"].size:
            raise ValueError(f"{done} of {fields['verdicts'].size} points are done")
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise ValueError(
            f"`{path}` was not loaded: its contents are incomplete ({error})"
        ) from error
    if system is None:
        return fields, done
    try:
        require_same_coordinates(system, fields["system"].coordinates)
        machine = system.with_params(fields["settings"]["params"])
        require_alike(machine, machine.params, fields["likeness"])
    except ValueError as error:
        raise ValueError(f"`{path}` was not loaded: {error}") from None
    return {**fields, "system": machine}, done


def _rebuilt(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    axes = tuple(
        Axis(str(name), str(unit), arrays[f"axis.{i}"], str(kind))
        for i, (name, unit, kind) in enumerate(meta["axes"])
    )
    shape = tuple(axis.grid.size for axis in axes)
    for name, kind in _ARRAYS.items():
        if arrays[name].shape != shape or arrays[name].dtype.kind != kind:
            raise ValueError(f"array {name!r} does not fit the axes of the map")
    settings, pairs = meta["settings"], meta["edges"]
    edges = None
    if pairs is not None:
        edges = tuple(
            MapEdge(float(place), float(width), Verdict(before), Verdict(after))
            for (place, width), (before, after) in zip(arrays["edges"], pairs, strict=True)
        )
    return {
        "axes": axes,
        "values": arrays["values"],
        "verdicts": arrays["verdicts"],
        "energy_error": arrays["energy_error"],
        "status": arrays["status"],
        "edges": edges,
        "indefinite": int(meta["indefinite"]),
        "settings": {**settings, "criterion": dict(settings["criterion"])},
        "system": SystemOnFile(str(meta["system"]), CoordinateUnits(dict(meta["coordinates"])), {}),
        "words": _words(meta.get("words", {})),
        "likeness": Likeness(**{name: arrays[_LIKENESS + name] for name in Likeness._fields}),
    }


def _words(saved: dict[str, Any]) -> CriterionWords:
    """The criterion's words; files that are older than these have none."""
    words = CriterionWords(**saved)
    return words if words.range is None else words._replace(range=tuple(words.range))


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Settings that are not the same, as "name: here against there"."""
    said = []
    ours, theirs = _flat(ours), _flat(theirs)
    for key in sorted({*ours, *theirs}):
        here, there = (json.dumps(each.get(key), sort_keys=True) for each in (ours, theirs))
        if here != there:
            said.append(f"{key}: {here} against {there}")
    return said


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings within settings under names of their own: `params.mB`."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{inner}": each for inner, each in value.items()}
        else:
            flat[key] = value
    return flat
