"""Records from CSV files, read with care: every mistake is named by file, line and column."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from .._checks import as_scalar, require_kind
from .._suggest import quoted, suggestion
from .._typing import Number, Numbers
from .._units import CONVERTED, in_si
from ._csv_cells import Layout, Table, read_columns, read_layout
from ._record import Record

Columns = Sequence[str] | Mapping[str, str]  # names, or the column of each name


def read_records(
    path: str | Path,
    *,
    time: str = "t",
    channels: Columns | None = None,
    inputs: Columns = (),
    by: str | None = None,
    units: Mapping[str, str | float] | None = None,
    offset: Mapping[str, Number] | None = None,
    noise: Number | Numbers | Mapping[str, Number] | None = None,
    unwrap: Sequence[str] = (),
) -> tuple[Record, ...]:
    """Read measured motions from a CSV file.

        pieces = dm.read_records("swing.csv", channels=["theta1"], by="piece",
                                 units={"theta1": "deg"}, offset={"theta1": np.pi})

    The first line names the columns; cells are separated by commas, semicolons or tabs, numbers
    have decimal points. Empty cells and `nan` are missing samples. Nothing in it is executed.

    Args:
        time: column of the times [s], which must increase within each record.
        channels: columns of what was measured, or {name: column}; None means all that are left.
        inputs: columns of what was done to the machine, or {name: column}; without gaps.
        by: column that tells records apart: rows that agree in it are one record, named after it,
            such as "piece 3". Without, the file is one record, named after the file.
        units: what a channel, an input or the time is in, where that is not SI: "deg", "mm",
            "deg/s", "ms", or how many SI units one is, such as 1e-3.
        offset: subtracted from a channel or an input, in SI units, so that its zero is the model's.
        noise: standard deviations of the channels in SI units: one, one for each, or by name.
        unwrap: channels of angles that jump by a turn, to be counted on.

    Returns:
        The records in the order of the file: times [s], values in SI units and radians, shape
        (k, channels), NaN where a sample is missing.

    Raises:
        ValueError: what is no such file; line and column are named.
        FileNotFoundError: there is no file.
    """
    require_kind(path, (str, PathLike), "path", "the path of a CSV file")
    layout = read_layout(Path(path))
    pushed = _chosen(inputs, "inputs")
    rest = [name for name in layout.header if name not in (time, by, *pushed.values())]
    measured = _chosen(rest if channels is None else channels, "channels")
    columns = {time: time, **measured, **pushed}
    _require_columns(layout, "time", [time])
    _require_columns(layout, "by", [by] if by is not None else [])
    _require_columns(layout, "channels", measured.values())
    _require_columns(layout, "inputs", pushed.values())
    _require_apart(time, measured, pushed, layout.path)
    scales = _scales(units or {}, columns)
    _require_a_time(time, (units or {}).get(time))
    shifts = _shifts(offset or {}, columns)

    table = read_columns(layout, list(dict.fromkeys(columns.values())), by)
    _require_complete(table, layout.path, {time: time, **pushed})
    converted = {
        name: table.numbers[column] * scales.get(name, 1.0) - shifts.get(name, 0.0)
        for name, column in columns.items()
    }
    records = []
    for name, rows in _split(table, by, layout.path).items():
        _require_increasing(table, rows, time, name, by, layout.path)
        record = Record(
            converted[time][rows],
            {channel: converted[channel][rows] for channel in measured},
            inputs={each: converted[each][rows] for each in pushed},
            noise=noise,
            name=name,
            units={
                channel: unit
                for channel, unit in (units or {}).items()
                if channel in measured and isinstance(unit, str)
            },
        )
        records.append(record.unwrapped(*unwrap) if unwrap else record)
    return tuple(records)


def column_names(path: str | Path) -> tuple[str, ...]:
    """Names of the columns of a CSV file, as its first line has them."""
    return read_layout(Path(path)).header


def _chosen(columns: Columns, label: str) -> dict[str, str]:
    """The column of every name."""
    if isinstance(columns, str):
        raise ValueError(
            f"`{label}` must be names of columns, such as [{columns!r}], but is {columns!r}"
        )
    if isinstance(columns, Mapping):
        return dict(columns)
    for name in columns:
        if list(columns).count(name) > 1:
            raise ValueError(f"`{label}` must be distinct, but {quoted(name)} is there twice")
    return {name: name for name in columns}


def _require_columns(layout: Layout, label: str, names: Iterable[str]) -> None:
    """Refuse names of columns that are not there, twice there, or empty."""
    header, path = layout.header, layout.path
    for name in names:
        if name not in header and len(header) == 1:
            raise ValueError(
                f"`{path}` must have cells separated by commas, semicolons or tabs, but its "
                f"header is one cell, {quoted(header[0])}"
            )
        if name not in header:
            raise ValueError(
                f"`{label}` must name a column of `{path}`, but {quoted(name)} is none."
                + suggestion(str(name), [each for each in header if each])
            )
        if not name:
            raise ValueError(
                f"`{path}`, line {layout.line}, must name every column, but column "
                f"{header.index(name) + 1} has no name: choose others by `channels`"
            )
        if header.count(name) > 1:
            raise ValueError(
                f"`{path}`, line {layout.line}, must have distinct names, but two columns are "
                f"called {quoted(name)}"
            )


def _require_apart(
    time: str, measured: Mapping[str, str], pushed: Mapping[str, str], path: Path
) -> None:
    if not measured:
        raise ValueError(f"`{path}` must have a column of what was measured, but has none left")
    both = [name for name in measured if name in pushed or name == time]
    both += [name for name in pushed if name == time]
    if both:
        raise ValueError(
            f"names must be a time, a channel or an input, but {quoted(both[0])} is two of them"
        )


def _scales(units: Mapping[str, str | float], names: Mapping[str, str]) -> dict[str, float]:
    """How many SI units one of a column's is, by name."""
    scales = {}
    for name, unit in units.items():
        _require_known(name, names, "units")
        if isinstance(unit, str):
            known = in_si(unit)
            if known is None:
                raise ValueError(
                    f"`units[{name!r}]` must be one of {', '.join(CONVERTED)}, one of these /s, or "
                    f"how many SI units it is, but is {quoted(unit)}: leave out what is in SI"
                )
            scales[name] = known[1]
        else:
            scales[name] = float(as_scalar(unit, f"units[{name!r}]"))  # below 0: turned round
            if scales[name] == 0:
                raise ValueError(f"`units[{name!r}]` must not be zero: nothing would be left")
    return scales


def _require_a_time(time: str, unit: object) -> None:
    known = in_si(unit) if isinstance(unit, str) else None
    if known is not None and known[0] != "s":
        raise ValueError(f"`units[{time!r}]` must be a unit of time, s or ms, but is {unit!r}")


def _shifts(offset: Mapping[str, Number], names: Mapping[str, str]) -> dict[str, float]:
    for name in offset:
        _require_known(name, names, "offset")
    return {name: float(as_scalar(by, f"offset[{name!r}]")) for name, by in offset.items()}


def _require_known(name: str, names: Mapping[str, str], label: str) -> None:
    if name not in names:
        raise ValueError(
            f"`{label}` names {quoted(name)}, which is not a channel, an input or the time."
            + suggestion(str(name), names)
        )


def _require_complete(table: Table, path: Path, columns: Mapping[str, str]) -> None:
    """Times and inputs have no gaps."""
    for name, column in columns.items():
        empty = np.flatnonzero(np.isnan(table.numbers[column]))
        if len(empty):
            raise ValueError(
                f"`{path}`, line {table.lines[empty[0]]}, column {quoted(column)}, must have a "
                f"number, since {quoted(name)} is a time or an input, but is empty or nan"
            )


def _split(table: Table, by: str | None, path: Path) -> dict[str, np.ndarray]:
    """The rows of every record, in the order in which they begin."""
    if by is None:
        return {path.stem: np.arange(len(table.lines))}
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(table.labels):
        if not label:
            raise ValueError(
                f"`{path}`, line {table.lines[row]}, column {quoted(by)}, must say which record "
                "the row belongs to, but is empty"
            )
        rows.setdefault(label, []).append(row)
    return {f"{by} {label}": np.array(indices) for label, indices in rows.items()}


def _require_increasing(
    table: Table, rows: np.ndarray, time: str, name: str, by: str | None, path: Path
) -> None:
    """Times of a record go up; two rows at least."""
    who = f" of {quoted(name)}" if by else ""
    if len(rows) < 2:
        raise ValueError(
            f"`{path}`, line {table.lines[rows[0]]}, must not be the only row{who}, but is: a "
            "motion has at least 2 samples"
        )
    ts = table.numbers[time][rows]
    wrong = np.flatnonzero(np.diff(ts) <= 0)
    if len(wrong):
        after = int(wrong[0]) + 1
        said = (
            f"`{path}`, line {table.lines[rows[after]]}, column {quoted(time)}, must be later than "
            f"the row before{who}, but {ts[after]:.9g} follows {ts[after - 1]:.9g}"
        )
        if by is None and ts[after] < ts[after - 1]:
            said += ": if the file holds several records, say which column tells them, `by=`"
        raise ValueError(said)
