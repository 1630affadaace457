"""Runs on disk: faithful, atomic, and safe to read whatever the file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech._records import read_record, write_record

from ..conftest import machine
from ..damaged_files import DAMAGES, killed_while_saving, require_old_file_on_a_full_disk


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


@pytest.mark.parametrize("what", ["run", "table"])
def test_a_full_disk_names_the_path_and_the_need_and_leaves_the_old_file(
    run: dm.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    save = {"run": run.save, "table": run.to_csv}[what]
    require_old_file_on_a_full_disk(save, tmp_path, monkeypatch, table=what == "table")


@pytest.mark.parametrize(
    ("where", "over"), [("writing", False), ("syncing", True), ("renaming", True)]
)
def test_kill_9_while_saving_leaves_the_old_file_or_none(
    run: dm.Trajectory, saved: Path, where: str, over: bool
) -> None:
    target = saved if over else saved.parent / "new.npz"
    before = saved.read_bytes()
    killed_while_saving(saved, "trajectory", target, where)
    assert [path.name for path in saved.parent.glob("[!.]*")] == ["run.npz"]
    assert saved.read_bytes() == before
    # What was left behind is in nobody's way.
    run.save(target, overwrite=over)
    np.testing.assert_array_equal(dm.load(target).qs, run.qs)


def test_constrained_runs_survive_files(tmp_path: Any) -> None:
    system = dm.systems.pendulum_dae()
    run = dm.simulate(system, *system.starts["default"], duration=1.0, samples=11)
    run.save(tmp_path / "run.npz")
    for again in (dm.load(tmp_path / "run.npz"), dm.load(tmp_path / "run.npz", system)):
        np.testing.assert_array_equal(again.multipliers, run.multipliers)
    run.to_csv(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert header.endswith("lambda_rod")
    text = str(run.report(second_run=False))
    assert "nothing was singular" in text
    assert "by projection" in text
