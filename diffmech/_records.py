"""Result files: checksummed npz written atomically, and CSV.

A file is an ordinary, uncompressed `.npz` (NumPy can open it) whose member `manifest.npy` holds
JSON: kind, schema version, meta data, and the SHA-256 of every array's bytes. The archive's comment
is the SHA-256 of the whole file (with zeros in its own place). Equal contents give equal bytes.
Reading executes nothing and never unpickles; anything unexpected is refused with the
reason, before memory for it is taken.
"""

import contextlib
import csv
import errno
import hashlib
import io
import json
import math
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._suggest import quoted

SCHEMA_VERSION = 1
_MANIFEST = "manifest"
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\[\],-]*")
_NO_MANIFEST = "it has no manifest, so it was not written by diffmech"
_MOST_MEMBERS = 10_000
_BLANK = b"0" * 64  # stands for the file's own checksum while that is computed
_EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's zero: no wall clock in the bytes


_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # faults that are no user's


@contextlib.contextmanager
def atomic_file(path: Path, *, overwrite: bool, need: int | None = None) -> Iterator[Path]:
    """Give a temporary sibling of `path` to write to; rename it to `path` once it is on disk.

    A full disk is told with the path, and with the `need` in bytes if that is known.
    """
    _require_free(path, overwrite=overwrite)
    temporary = _sibling(path)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if error.errno not in _DISK:
            raise
        room = "" if need is None else f"; it needs {need / 1e6:.3g} MB there"
        raise type(error)(f"cannot write `{path}`: {error.strerror}{room}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _sibling(path: Path) -> Path:
    """A new, empty file beside `path`."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise type(error)(f"cannot write in `{path.parent}`: {error.strerror}") from error
    os.close(handle)
    return Path(name)


def reason_of(error: OSError) -> str | None:
    """What the system said was wrong; also of a full disk that was told with its path. None: ours.

    For what is written in several files, or aside, and says itself where and how much it needs.
    """
    cause = error.__cause__
    if error.errno is None and isinstance(cause, OSError) and cause.errno in _DISK:
        return cause.strerror
    return error.strerror


# What stands around a file's name while it is written: `.map.npz.part.a1b2c3d4` at most.
_ASIDE = (".", ".part.a1b2c3d4")


def require_nameable(path: Path) -> None:
    """Refuse a path that is too long for a file here, or for its unfinished self beside it."""
    if not path.name:
        return
    try:
        os.lstat(path.with_name(path.name.join(_ASIDE)))
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            return
        size, whole = (len(os.fsencode(each)) for each in (path.name, path.absolute()))
        raise ValueError(
            f"{quoted(path.name)} must be a shorter name, or lie in a shorter folder: it has "
            f"{size} bytes ({whole} with its folders), and while it is written "
            f"{sum(map(len, _ASIDE))} more, which is more than a file here can have"
        ) from error


def require_writable(path: str | Path, *, overwrite: bool) -> None:
    """Refuse a path that must not or cannot be written to, before any work is done for it."""
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"`path` must be the path of a file, but is a {type(path).__name__}")
    path = Path(path)
    _require_free(path, overwrite=overwrite)
    _sibling(path).unlink()  # as the file will begin: nothing else tells whether it can


def _require_free(path: Path, *, overwrite: bool) -> None:
    require_nameable(path)
    there = what_is_at(path)
    if there not in (None, "file"):
        raise FileExistsError(f"`{path}` is not a file; choose another name")
    if there and not overwrite:
        raise FileExistsError(f"`{path}` exists already; pass `overwrite=True` to replace it")
    if what_is_at(path.parent) != "folder":
        raise FileNotFoundError(f"the directory `{path.parent}` does not exist; create it first")


def what_is_at(path: str | Path) -> str | None:
    """A "file", a "folder", something "else", or None for nothing.

    Raises:
        PermissionError: a folder on the way, which is named, may not be entered.
    """
    path = Path(path)
    try:
        mode = os.stat(path).st_mode
    except PermissionError as error:
        raise PermissionError(
            f"`{path}` cannot be looked at: permission to enter the folder `{_closed(path)}` is "
            "needed"
        ) from error
    except (OSError, ValueError):  # or a name that no file can have
        return None
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "else"


def _closed(path: Path) -> Path:
    """The first folder on the way to `path` that may not be entered."""
    return next(
        (each for each in reversed(path.parents) if not os.access(each, os.X_OK)), path.parent
    )


def write_record(
    path: str | Path,
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    *,
    overwrite: bool = False,
) -> Path:
    """Write arrays and JSON-able meta data to `path`, all of it or nothing."""
    path = Path(path)
    blobs = {name: _to_npy(array) for name, array in arrays.items()}
    manifest = {
        "kind": kind,
        "schema": SCHEMA_VERSION,
        "meta": dict(meta),
        "sha256": {name: hashlib.sha256(blob).hexdigest() for name, blob in blobs.items()},
    }
    text = json.dumps(manifest, sort_keys=True, allow_nan=False).encode()
    blobs = {_MANIFEST: _to_npy(np.frombuffer(text, dtype=np.uint8)), **blobs}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, blob in blobs.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), blob)
        archive.comment = _BLANK
    data = buffer.getvalue()
    with atomic_file(path, overwrite=overwrite, need=len(data)) as temporary:
        temporary.write_bytes(data.removesuffix(_BLANK) + _digest(data))
    return path


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def read_record(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The meta data and arrays of a file written by `write_record`, verified."""
    with _refusing(path) as file:
        return _read(file, kind)


def kind_of(path: str | Path) -> str:
    """The kind of a file written by `write_record`; only its head is read and checked."""
    with _refusing(path) as file, zipfile.ZipFile(file) as archive:
        members = _plain_members(archive, file.stat().st_size)
        if _MANIFEST not in members:
            raise _RefusedError(_NO_MANIFEST)
        return _parse_manifest(_from_npy(archive.read(members[_MANIFEST]), _MANIFEST))["kind"]


@contextlib.contextmanager
def _refusing(path: str | Path) -> Iterator[Path]:
    """A file to read; whatever is wrong with it is said with its path."""
    path = Path(path)
    if what_is_at(path) != "file":
        raise FileNotFoundError(f"there is no file `{path}`")
    try:
        yield path
    except _RefusedError as error:
        raise ValueError(f"`{path}` was not loaded: {error}") from error
    except PermissionError as error:
        raise PermissionError(f"`{path}` may not be read: {error.strerror}") from error
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"`{path}` was not loaded: it is damaged or not a diffmech file ({error})"
        ) from error


class _RefusedError(Exception):
    """A reason not to load a file."""


def _read(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = _plain_members(archive, len(data))
        blobs = {name: archive.read(member) for name, member in members.items()}
    if _MANIFEST not in blobs:
        raise _RefusedError(_NO_MANIFEST)
    if data[-len(_BLANK) :] != _digest(data[: -len(_BLANK)] + _BLANK):
        raise _RefusedError("its bytes do not match its checksum, so it is damaged")
    manifest = _parse_manifest(_from_npy(blobs.pop(_MANIFEST), _MANIFEST))
    if manifest["kind"] != kind:
        raise _RefusedError(f"it holds a {manifest['kind']!r}, not a {kind!r}")
    if set(blobs) != set(manifest["sha256"]):
        raise _RefusedError("its arrays are not the ones its manifest lists")
    for name, blob in blobs.items():
        if hashlib.sha256(blob).hexdigest() != manifest["sha256"][name]:
            raise _RefusedError(f"array {name!r} does not match its checksum")
    return manifest["meta"], {name: _from_npy(blob, name) for name, blob in blobs.items()}


def _plain_members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Members by name; none that takes more memory than the file has bytes, or has an odd name."""
    if len(archive.infolist()) > _MOST_MEMBERS:
        raise _RefusedError(f"it has {len(archive.infolist())} members, more than {_MOST_MEMBERS}")
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name == member.filename or not _SAFE_NAME.fullmatch(name):
            raise _RefusedError(f"it has a member with the odd name {member.filename!r}")
        if member.compress_type != zipfile.ZIP_STORED or member.file_size > size:
            raise _RefusedError(f"member {name!r} is compressed; diffmech never writes such")
        if name in members:
            raise _RefusedError(f"member {name!r} occurs twice")
        members[name] = member
    return members


def _parse_manifest(array: np.ndarray) -> dict[str, Any]:
    try:
        manifest = json.loads(array.tobytes().decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _RefusedError(f"its manifest is not JSON ({error})") from error
    shape = {"kind": str, "schema": int, "meta": dict, "sha256": dict}
    if not isinstance(manifest, dict) or any(
        not isinstance(manifest.get(key), type_) for key, type_ in shape.items()
    ):
        raise _RefusedError("its manifest lacks kind, schema, meta or sha256")
    if manifest["schema"] > SCHEMA_VERSION:
        raise _RefusedError(
            f"it has schema version {manifest['schema']}, newer than the {SCHEMA_VERSION} this "
            "version of diffmech reads; update diffmech"
        )
    return manifest


def _to_npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array, order="C"), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(blob: bytes, name: str) -> np.ndarray:
    buffer = io.BytesIO(blob)
    try:
        version = np.lib.format.read_magic(buffer)
        if version != (1, 0):
            raise _RefusedError(f"array {name!r} has npy version {version}")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    except _RefusedError:
        raise
    except Exception as error:  # NumPy parses the header as Python literals: many ways to fail
        raise _RefusedError(f"array {name!r} has a broken header ({error})") from error
    if dtype.hasobject:
        raise _RefusedError(f"array {name!r} is pickled; diffmech never unpickles")
    count = 1
    for extent in shape:  # Python integers: an absurd header cannot overflow
        count *= max(int(extent), -1)
    if fortran or min(shape, default=0) < 0 or count * dtype.itemsize != len(blob) - buffer.tell():
        raise _RefusedError(f"array {name!r} claims shape {shape}, which its bytes do not fill")
    return np.frombuffer(blob, dtype, offset=buffer.tell()).reshape(shape).copy()


def arrays_under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, Any]:
    """Those whose names start with `prefix`, by the rest of their names."""
    return {
        key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)
    }


def finite_or_none(value: float) -> float | None:
    """JSON knows neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def write_csv(
    path: str | Path,
    header: Sequence[str],
    columns: Sequence[np.ndarray],
    *,
    overwrite: bool = False,
) -> Path:
    """One row per sample with every digit that matters (repr of float), a header row first."""
    path = Path(path)
    with (
        atomic_file(path, overwrite=overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns, strict=True))
    return path
