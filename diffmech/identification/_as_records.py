"""Data in any of the forms that people have them in, as records."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._records import what_is_at
from ..simulation import Trajectory, load_run
from ._csv import read_records
from ._record import Record

_FORMS = (
    "a `Record`, (ts, values), {'t': ..., 'theta': ...}, a `Trajectory`, the path of a CSV or of a "
    "saved run, or a list of these"
)


def as_records(data: Any, names: Sequence[str] | None = None) -> tuple[Record, ...]:
    """Everything that counts as measured motion, as records.

    Args:
        data: a `Record`; a tuple (ts, values) with values of shape (k,) or (k, n); a mapping with
            the times as "t" and a column for every other name; a `Trajectory`, of which the
            coordinates count as measured; the path of a CSV file whose columns are "t" and
            channels (`read_records` has the choices), of a saved run, or of a run's folder; or a
            list of these.
        names: what the columns of bare arrays are, such as a machine's coordinates.

    Returns:
        One record or several, with distinct names.

    Raises:
        ValueError: what is none of these, or not a motion; the record, row and column are named.
    """
    if not isinstance(data, list | tuple) or _is_bare(data):
        return _distinct(_of_one(data, names, "record"))
    if not data:
        raise ValueError(f"`data` must be {_FORMS}, but is empty")
    return _distinct(
        tuple(
            record
            for number, each in enumerate(data)
            for record in _of_one(each, names, f"record {number}")
        )
    )


def _is_bare(data: Any) -> bool:
    """Whether it is (ts, values), not two records, each of them perhaps such a pair."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    first = data[0]
    if isinstance(first, tuple):
        return all(np.ndim(entry) == 0 for entry in first)
    return not isinstance(first, Record | Mapping | Trajectory | str | Path)


def _of_one(data: Any, names: Sequence[str] | None, name: str) -> tuple[Record, ...]:
    if isinstance(data, Record):
        return (data,)
    if isinstance(data, Trajectory):
        run = data.single_run()
        return (Record(run.ts, run.qs, tuple(run.system.coordinates), name=run.system.name),)
    if isinstance(data, Mapping):
        if "t" not in data:
            listed = ", ".join(map(str, data)) or "nothing"
            raise ValueError(f"data by name must have the times as 't', but has {listed}")
        columns = {key: column for key, column in data.items() if key != "t"}
        return (Record(data["t"], columns, name=name),)
    if isinstance(data, str | Path):
        return _from_file(Path(data))
    if _is_bare(data):
        ts, values = data
        width = np.shape(values)[1] if np.ndim(values) == 2 else 1
        if names is None:
            names = [f"y{i}" for i in range(width)]
        return (Record(ts, values, names, name=name),)
    raise ValueError(f"`data` must be {_FORMS}, but has a {type(data).__name__}")


def _from_file(path: Path) -> tuple[Record, ...]:
    if what_is_at(path) == "folder" or path.suffix == ".npz":
        return _of_one(load_run(path), None, path.stem)
    return read_records(path)


def _distinct(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Two called "swing" become "swing (1)" and "swing (2)": "swing" might be either of them."""
    counts = Counter(record.name for record in records)
    taken = {name for name, count in counts.items() if count == 1}
    result = []
    for record in records:
        name = record.name
        if counts[name] > 1:
            numbered = (f"{name} ({number})" for number in itertools.count(1))
            name = next(each for each in numbered if each not in taken)
            record = dataclasses.replace(record, name=name)
        taken.add(name)
        result.append(record)
    return tuple(result)
