"""Runs on disk: faithful, atomic, and safe to read whatever the file."""

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

import diffmech as dm
from diffmech import _records
from diffmech._records import read_record, write_record

from ..conftest import machine
from ..made_fits import made_fit


@pytest.fixture(scope="module")
def run() -> dm.Trajectory:
    system = machine("babyboot").with_params(mB=0.12)
    return dm.simulate(
        system,
        *system.starts["regular"],
        duration=2.0,
        samples=21,
        events={"turned": lambda q, qd, t, p: qd[0]},
    )


@pytest.fixture
def saved(run: dm.Trajectory, tmp_path: Path) -> Path:
    return run.save(tmp_path / "run.npz")


def test_a_loaded_run_is_the_same_run(run: dm.Trajectory, saved: Path) -> None:
    again = dm.load(saved, machine("babyboot"))
    for name in ("ts", "qs", "qds", "work"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    assert str(again) == str(run)
    assert again.event == run.event == "turned"
    assert float(again.params.mB) == 0.12
    np.testing.assert_array_equal(again.energies.total, run.energies.total)
    np.testing.assert_array_equal(again.end.q, run.end.q)
    np.testing.assert_array_equal(again(0.3)[0], run(0.3)[0])
    assert again.settings.method == "Dopri8"


def test_without_the_machine_the_numbers_are_there(run: dm.Trajectory, saved: Path) -> None:
    alone = dm.load(saved)
    assert str(alone) == str(run)
    assert float(alone.params["mB"]) == 0.12
    assert dict(alone.system.coordinates) == {"qA": "rad", "qB": "rad"}
    with pytest.raises(ValueError, match="loaded without its machine"):
        alone(0.3)


def test_equal_runs_give_equal_bytes(run: dm.Trajectory, tmp_path: Path) -> None:
    first = run.save(tmp_path / "a.npz")
    second = run.save(tmp_path / "b.npz")
    assert first.read_bytes() == second.read_bytes()
    with np.load(first) as plain:  # an ordinary npz for everybody else
        np.testing.assert_array_equal(plain["qs"], run.qs)


def test_another_machine_is_refused(saved: Path) -> None:
    with pytest.raises(ValueError, match="coordinates qA, qB, but 'pendulum' has theta"):
        dm.load(saved, machine("pendulum"))


def test_existing_files_and_missing_folders_are_respected(
    run: dm.Trajectory, saved: Path, tmp_path: Path
) -> None:
    before = saved.read_bytes()
    with pytest.raises(FileExistsError, match="exists already; pass `overwrite=True`"):
        run.save(saved)
    assert saved.read_bytes() == before
    run.save(saved, overwrite=True)
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        run.save(tmp_path / "nowhere" / "run.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_csv_has_a_header_and_every_digit(run: dm.Trajectory, tmp_path: Path) -> None:
    path = run.to_csv(tmp_path / "run.csv")
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    assert header == "t,qA,qB,qA_dot,qB_dot,energy,work"
    table = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    np.testing.assert_array_equal(table[:, 1:3], run.qs)
    np.testing.assert_array_equal(table[:, 5], run.energies.total)


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


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_or_hostile_files_are_refused_with_the_reason(saved: Path, damage: str) -> None:
    spoil, reason = DAMAGES[damage]
    spoil(saved)
    with pytest.raises(ValueError, match=reason):
        dm.load(saved)
    assert [p.name for p in saved.parent.iterdir()] == ["run.npz"]


def test_no_flipped_byte_goes_unnoticed(tmp_path: Path) -> None:
    path = write_record(tmp_path / "a.npz", "trajectory", {"x": 1}, {"a": np.arange(4.0)})
    data = path.read_bytes()
    read_record(path, "trajectory")
    for position in range(0, len(data), 3):
        spoiled = bytearray(data)
        spoiled[position] ^= 0x10
        path.write_bytes(bytes(spoiled))
        with pytest.raises(ValueError, match="was not loaded"):
            read_record(path, "trajectory")
    path.write_bytes(data + b"x")
    with pytest.raises(ValueError, match="was not loaded"):
        read_record(path, "trajectory")


def test_odd_parameter_names_survive(tmp_path: Path) -> None:
    params = {"γ": 0.5, "k/m": [1.0, 2.0], "a.b": 3.0, "a": {"b": 4.0}}
    system = dm.System(
        lambda q, qd, t, p: 0.5 * qd @ qd - p["γ"] * p["k/m"][1] * q[0] ** 2, ("x",), params
    )
    run = dm.simulate(system, [1.0], duration=1.0, samples=3)
    again = dm.load(run.save(tmp_path / "run.npz"), system)
    assert float(again.params["γ"]) == 0.5
    assert float(again.params["a.b"]) == 3.0
    assert float(again.params["a"]["b"]) == 4.0


def test_a_folder_or_device_is_never_replaced(run: dm.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError, match="is not a file; choose another name"):
        run.save(tmp_path, overwrite=True)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file `.*gone\.npz`"):
        dm.load(tmp_path / "gone.npz")


@pytest.mark.parametrize("what", ["run", "table", "fit"])
def test_a_full_disk_names_the_path_and_the_need_and_leaves_the_old_file(
    run: dm.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    save = {"run": run.save, "table": run.to_csv, "fit": made_fit().save}[what]
    old, new = tmp_path / "old", tmp_path / "new"
    before = save(old).read_bytes()
    size = "" if what == "table" else f"; it needs {len(before) / 1e6:.3g} MB there"
    for place in ("fsync", "write"):
        with monkeypatch.context() as patched:
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
        assert [path.name for path in tmp_path.iterdir()] == ["old"], place


def _no_room(*args: Any) -> None:
    del args
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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


@pytest.mark.parametrize(
    ("where", "kind", "over"),
    [("writing", "trajectory", False), ("syncing", "fit", True), ("renaming", "trajectory", True)],
)
def test_kill_9_while_saving_leaves_the_old_file_or_none(
    saved: Path, tmp_path: Path, where: str, kind: str, over: bool
) -> None:
    made_fit().save(tmp_path / "fit.npz")
    source = saved if kind == "trajectory" else tmp_path / "fit.npz"
    target = source if over else tmp_path / "new.npz"
    before = source.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(source), kind, str(target), where],
        env={**os.environ, "PYTHONPATH": str(Path(dm.__file__).parent.parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    shown = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert shown == {"run.npz", "fit.npz"}
    assert source.read_bytes() == before
    # What was left behind is in nobody's way.
    dm.load(tmp_path / "fit.npz").save(target, overwrite=over)
    assert dm.load(target).summary() == made_fit().summary()
