"""Columns of numbers from text in cells; nothing is executed, every odd cell is named."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._memory import require_memory
from .._records import what_is_at
from .._suggest import quoted, shortened

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_MARK = b"\xef\xbb\xbf"  # before UTF-8 by some programs
_LOOKED_AT = 65536  # bytes by which the kind of file and the length of its lines are judged
_AT_ONCE = 32768  # rows that are turned into numbers together
_BYTES_OF_LABEL = 64
_DIGITS = r"(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"[+-]?(?:\d+\.?\d*|\.\d+){_DIGITS}", re.ASCII)
_WITH_COMMA = re.compile(rf"[+-]?\d*,\d+{_DIGITS}", re.ASCII)
_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)


class Layout(NamedTuple):
    """How a file is laid out: the names of its columns, in which line, and what separates cells."""

    path: Path
    header: tuple[str, ...]
    line: int
    separator: str


class Table(NamedTuple):
    """Some columns of a file: numbers by name (NaN where empty), labels, and the lines of rows."""

    numbers: dict[str, np.ndarray]
    labels: list[str]
    lines: np.ndarray


def read_layout(path: Path) -> Layout:
    """The header and the separator of a text file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is empty, binary, or begins with numbers.
    """
    there = what_is_at(path)
    if there != "file":
        what = "is a folder" if there == "folder" else "there is no such file"
        raise FileNotFoundError(f"`{path}` must be a CSV file, but {what}")
    start = _start(path)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"`{path}` must be text in UTF-8, but is in UTF-16: save it as UTF-8")
    if b"\0" in start:
        raise ValueError(f"`{path}` must be a text file of columns, but is binary")
    separator = _separator(start)
    for row, line in _rows(path, separator):
        header = tuple(cell.strip() for cell in row)
        if all(_is_number(cell) for cell in header):
            raise ValueError(
                f"`{path}`, line {line}, must be a header with the names of the columns, but "
                f"holds numbers ({shortened(', '.join(header))}): put a line such as "
                "`t,theta1` before it"
            )
        return Layout(path, header, line, separator)
    raise ValueError(f"`{path}` must have a header and rows of numbers, but is empty")


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LOOKED_AT)
    except PermissionError as error:
        raise PermissionError(f"`{path}` may not be read: {error.strerror}") from error


def _separator(start: bytes) -> str:
    """What splits the first line into most cells; commas if nothing does."""
    lines = start.removeprefix(_MARK).splitlines()
    first = next((line for line in lines if line.strip()), b"").decode(errors="replace")
    cells = {mark: next(csv.reader([first], delimiter=mark)) for mark in _SEPARATORS}
    for mark, parts in cells.items():
        if mark != "," and len(parts) > 1 and all(_WITH_COMMA.fullmatch(cell) for cell in parts):
            return mark  # a header is missing, and these commas are decimal ones
    return max(cells, key=lambda mark: len(cells[mark]))


def read_columns(layout: Layout, wanted: Sequence[str], label: str | None) -> Table:
    """The columns of some names as numbers, and one as text.

    Raises:
        ValueError: a row of another length, text in place of a number; line and column are named.
    """
    header, path = layout.header, layout.path
    columns = {name: header.index(name) for name in wanted}
    _require_room(path, len(wanted), label is not None)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in wanted}
    labels: list[str] = []
    lines: list[np.ndarray] = []
    for rows, numbers in _in_portions(layout):
        for name, column in columns.items():
            cells = [row[column] for row in rows]
            parts[name].append(_as_numbers(cells, numbers, name, path))
        if label is not None:
            column = header.index(label)
            labels += [row[column].strip() for row in rows]
        lines.append(np.array(numbers))
    if not lines:
        raise ValueError(f"`{path}` must have rows of numbers, but has a header only")
    columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return Table(columns, labels, np.concatenate(lines))


def _rows(path: Path, separator: str) -> Iterator[tuple[list[str], int]]:
    """Every row that is not blank, and the line on which it ends."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            for row in reader:
                if len(row) > 1 or (row and row[0].strip()):
                    yield row, reader.line_num
        except csv.Error as error:
            raise ValueError(
                f"`{path}`, line {reader.line_num}, must be cells separated by "
                f"{_SEPARATORS[separator]}, but cannot be read: {error}"
            ) from error
        except UnicodeDecodeError as error:
            raise ValueError(_not_utf8(path)) from error


def _not_utf8(path: Path) -> str:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return (
                    f"`{path}`, line {number}, must be text in UTF-8, but has the byte "
                    f"0x{line[error.start]:02x}: save the file as UTF-8"
                )
    return f"`{path}` must be text in UTF-8, but is not"


def _in_portions(layout: Layout) -> Iterator[tuple[list[list[str]], list[int]]]:
    """The rows below the header, many at a time, and their lines."""
    width = len(layout.header)
    rows: list[list[str]] = []
    lines: list[int] = []
    for row, line in _rows(layout.path, layout.separator):
        if line == layout.line:
            continue
        if len(row) != width:
            raise ValueError(_ragged(layout, row, line))
        rows.append(row)
        lines.append(line)
        if len(rows) == _AT_ONCE:
            yield rows, lines
            rows, lines = [], []
    if rows:
        yield rows, lines


def _ragged(layout: Layout, row: list[str], line: int) -> str:
    width = len(layout.header)
    said = (
        f"`{layout.path}`, line {line}, must have {width} cells like the header, separated by "
        f"{_SEPARATORS[layout.separator]}, but has {len(row)}"
    )
    if layout.separator == "," and width < len(row) <= 2 * width:
        said += ": if it has decimal commas, write decimal points"
    elif width > len(row):
        said += f": {quoted(layout.header[len(row)])} and what follows is missing"
    return said


def _require_room(path: Path, columns: int, labels: bool) -> None:
    size, start = path.stat().st_size, _start(path)
    rows = size * (start.count(b"\n") + 1) / max(len(start), 1)
    each = 3 * 8 * (columns + 1) + labels * _BYTES_OF_LABEL  # portions, columns, records
    require_memory(
        rows * each,
        f"about {rows:.2g} rows of `{path}`",
        "cut the file, or choose fewer columns by `channels`",
    )


def _is_number(cell: str) -> bool:
    return any(form.fullmatch(cell) for form in (_NUMBER, _WITH_COMMA, _NAN)) or not cell


def _as_numbers(cells: list[str], lines: list[int], column: str, path: Path) -> np.ndarray:
    """A column's cells as floats; by the fast way if there is nothing odd among them."""
    text = "".join(cells)
    if "_" not in text and text.isascii():  # Python reads 1_0 as ten, and digits of all scripts
        try:
            numbers = np.array(list(map(float, cells)))
        except ValueError:
            numbers = None
        if numbers is not None and not np.any(np.isinf(numbers)):
            return numbers
    pairs = zip(cells, lines, strict=True)
    return np.array([_as_number(cell.strip(), line, column, path) for cell, line in pairs])


def _as_number(cell: str, line: int, column: str, path: Path) -> float:
    if not cell or _NAN.fullmatch(cell):
        return np.nan
    where = f"`{path}`, line {line}, column {quoted(column)},"
    if _NUMBER.fullmatch(cell):
        value = float(cell)
        if np.isfinite(value):
            return value
        raise ValueError(f"{where} must be finite, but is {quoted(cell)}")
    if _WITH_COMMA.fullmatch(cell):
        raise ValueError(
            f"{where} must be a number with a decimal point, but is {quoted(cell)} with a decimal "
            f"comma: write {cell.replace(',', '.')}, in the whole file"
        )
    raise ValueError(
        f"{where} must be a number, or empty for a missing sample, but is {quoted(cell)}"
    )
