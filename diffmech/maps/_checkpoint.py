"""A map on disk while it is computed: begun, interrupted, resumed, finished."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._folders import sole_writer
from .._records import reason_of, require_writable
from ._map_files import differences, part_of, write_map
from ._map_record import StabilityMap, read_map, span

_SAVE_EVERY = 5.0  # [s]


class MapCheckpoint:
    """Keeps what is done of a map beside its path, and takes it up again.

    Nothing is written under the final name before the map is whole.
    """

    def __init__(self, path: str | Path | None, *, resume: bool, overwrite: bool):
        if path is None and (resume or overwrite):
            raise ValueError("`resume` and `overwrite` need `path`, the file they are about")
        if resume and overwrite:
            raise ValueError("`resume` goes on with a map and `overwrite` starts anew: choose one")
        self._path = None if path is None else Path(path)
        self._resume, self._overwrite = resume, overwrite
        self._saved_settings: dict[str, Any] | None = None
        self._saved_at = time.monotonic()
        if self._path is not None:
            require_writable(self._path, overwrite=overwrite or resume)
            part = part_of(self._path)
            if part.exists() and not (overwrite or resume):
                raise FileExistsError(
                    f"`{part}` holds the beginning of a map: pass `resume=True` to go on with it, "
                    "or `overwrite=True` to start anew"
                )

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other writers away while the block runs."""
        if self._path is None:
            yield
        else:
            with sole_writer(self._path):
                yield

    @property
    def way_on(self) -> str:
        """How to go on, as the end of a sentence."""
        return "" if self._path is None else f" in `{part_of(self._path)}`: pass `resume=True`"

    def earlier(self, record: StabilityMap) -> tuple[StabilityMap, int]:
        """What there is of this map already, and how many points of it are done.

        Raises:
            ValueError: it was made with other settings; they are named.
        """
        if self._path is None or not self._resume:
            return record, 0
        # A map that was begun anew beside an old one is the one to go on with.
        part = part_of(self._path)
        source = part if part.exists() else self._path
        if not source.exists():
            return record, 0
        saved, done = read_map(source, record.system)
        if [axis[:2] for axis in saved.axes] != [axis[:2] for axis in record.axes] or any(
            not np.array_equal(mine.grid, yours.grid)
            for mine, yours in zip(record.axes, saved.axes, strict=True)
        ):
            raise ValueError(
                f"`{source}` was begun with other axes ({_named(record)} against {_named(saved)}): "
                "use those, or start anew with `overwrite=True`"
            )
        self._saved_settings = saved.settings
        ours = record.settings
        self.require_same({**saved.settings, **ours})
        return replace(
            saved,
            axes=record.axes,
            system=record.system,
            criterion=record.criterion,
            words=record.words,
        ), done

    def require_same(self, settings: dict[str, Any]) -> None:
        """Refuse to go on with a map that was begun with other settings."""
        if self._saved_settings is None:
            return
        different = differences(settings, self._saved_settings)
        if different:
            raise ValueError(
                f"`{self._path}` was begun with other settings ({'; '.join(different)}): use "
                "those, or start anew with `overwrite=True`"
            )

    def keep(self, record: StabilityMap, done: int) -> None:
        """Write down what is done, not too often."""
        if self._path is not None and time.monotonic() - self._saved_at > _SAVE_EVERY:
            self.pause(record, done)

    def pause(self, record: StabilityMap, done: int) -> None:
        """Write down what is done, now."""
        if self._path is not None:
            with _named_faults(part_of(self._path), record):
                write_map(record, part_of(self._path), done=done, overwrite=True)
            self._saved_at = time.monotonic()

    def finish(self, record: StabilityMap) -> None:
        """Write the whole map under its own name."""
        if self._path is None:
            return
        with _named_faults(self._path, record):
            write_map(record, self._path, overwrite=self._overwrite or self._resume)
        part_of(self._path).unlink(missing_ok=True)


@contextlib.contextmanager
def _named_faults(path: Path, record: StabilityMap) -> Iterator[None]:
    """Say of a fault of the disk where it was, and how much room the map takes."""
    try:
        yield
    except OSError as error:
        reason = reason_of(error)
        if reason is None:  # it says so itself
            raise
        arrays = (record.values, record.verdicts, record.energy_error, record.status)
        need = sum(array.nbytes for array in arrays) / 1e6
        raise type(error)(
            f"cannot write `{path}`: {reason}; the map needs {need:.3g} MB there"
        ) from error


def _named(record: StabilityMap) -> str:
    return ", ".join(span(axis) for axis in record.axes)
