"""Files damaged by others, by a kill while they are written, by a full disk."""

import csv
import errno
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diffmech import _records

from .conftest import ROOT


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _rewrite(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    """Another archive with a valid checksum of the whole, as somebody hostile would write it."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, blob in members.items():
            archive.writestr(name, blob)
        archive.comment = b"0" * 64
    data = path.read_bytes()
    path.write_bytes(data[:-64] + hashlib.sha256(data).hexdigest().encode())


def _npy(array: np.ndarray, **kwargs: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **kwargs)
    return buffer.getvalue()


def _with_manifest(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    members = _members(path)
    manifest = json.loads(np.load(io.BytesIO(members["manifest.npy"])).tobytes())
    change(manifest)
    text = np.frombuffer(json.dumps(manifest).encode(), np.uint8)
    _rewrite(path, {**members, "manifest.npy": _npy(text)})


def _absurd_header() -> bytes:
    return _npy(np.zeros(3)).replace(b"(3,), }", b"(9" + b"9" * 15 + b",), }")[:128]


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    position = data.find(b"NUMPY", len(data) // 2) + 300
    data[position] ^= 1
    path.write_bytes(bytes(data))


def _other_numbers(path: Path) -> None:
    members = _members(path)
    _rewrite(path, {**members, "qs.npy": _npy(np.load(io.BytesIO(members["qs.npy"])) + 1)})


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (_truncate, "damaged or not a diffmech file"),
    "flipped byte": (_flip_a_byte, "damaged or not a diffmech file"),
    "wrong checksum": (_other_numbers, "array 'qs' does not match its checksum"),
    "newer schema": (
        lambda p: _with_manifest(p, lambda m: m.update(schema=99)),
        "schema version 99, newer than",
    ),
    "another kind": (
        lambda p: _with_manifest(p, lambda m: m.update(kind="ensemble")),
        "it holds a 'ensemble', not a 'trajectory'",
    ),
    "pickled array": (
        lambda p: _rewrite(
            p, {**_members(p), "manifest.npy": _npy(np.array([{}]), allow_pickle=True)}
        ),
        "is pickled; diffmech never unpickles",
    ),
    "absurd header": (
        lambda p: _rewrite(p, {**_members(p), "manifest.npy": _absurd_header()}),
        "which its bytes do not fill",
    ),
    "zip bomb": (
        lambda p: _rewrite(p, {"manifest.npy": bytes(10**7)}, zipfile.ZIP_DEFLATED),
        "is compressed; diffmech never writes such",
    ),
    "path outside": (
        lambda p: _rewrite(p, {"../evil.npy": _npy(np.zeros(1))}),
        "a member with the odd name '../evil.npy'",
    ),
    "no manifest": (lambda p: _rewrite(p, {"qs.npy": _npy(np.zeros(1))}), "it has no manifest"),
    "manifest is no JSON": (
        lambda p: _rewrite(p, {"manifest.npy": _npy(np.frombuffer(b"{nope", np.uint8))}),
        "its manifest is not JSON",
    ),
    "missing array": (
        lambda p: _rewrite(p, {k: v for k, v in _members(p).items() if k != "qs.npy"}),
        "its arrays are not the ones its manifest lists",
    ),
    "incomplete contents": (
        lambda p: _with_manifest(p, lambda m: m["meta"].pop("settings")),
        "its contents are incomplete",
    ),
    "text file": (lambda p: p.write_text("t,x\n0,1\n"), "damaged or not a diffmech file"),
    "empty file": (lambda p: p.write_bytes(b""), "damaged or not a diffmech file"),
}


# A process that writes a file again, changed, and kills itself on the way.
KILLED = """
import os, signal, sys
from pathlib import Path
from diffmech import _records

source, kind, target, where = sys.argv[1:]

def kill(*words):
    os.kill(os.getpid(), signal.SIGKILL)

def half(path, data, whole=Path.write_bytes):
    whole(path, data[: len(data) // 2])
    kill()

if where == "writing":
    Path.write_bytes = half
elif where == "syncing":
    os.fsync = kill
else:
    Path.replace = kill
meta, arrays = _records.read_record(source, kind)
_records.write_record(target, kind, {**meta, "more": 1}, arrays, overwrite=True)
"""


def killed_while_saving(source: Path, kind: str, target: Path, where: str) -> None:
    """Write a file in a process that kills itself while "writing", "syncing" or "renaming"."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(source), kind, str(target), where],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr


def _no_room(*args: Any) -> None:
    del args
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def require_old_file_on_a_full_disk(
    save: Callable[..., Path], folder: Path, patch: pytest.MonkeyPatch, *, table: bool = False
) -> None:
    """The path and the need are named, at the first byte and at the last; the old file stays."""
    old, new = folder / "old", folder / "new"
    before = save(old).read_bytes()
    size = "" if table else f"; it needs {len(before) / 1e6:.3g} MB there"
    for place in ("fsync", "write"):
        with patch.context() as patched:
            if place == "fsync":
                patched.setattr(_records.os, "fsync", _no_room)
            else:  # the first byte already
                patched.setattr(Path, "write_bytes", _no_room)
                patched.setattr(csv, "writer", _no_room)
            for path in (old, new):
                sentence = f"cannot write `{path}`: No space left on device{size}"
                with pytest.raises(OSError, match=f"^{re.escape(sentence)}$"):
                    save(path, overwrite=True)
        assert old.read_bytes() == before
        assert [path.name for path in folder.iterdir()] == ["old"], place
