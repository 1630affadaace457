"""Maps on disk: kills, interruptions, faults of the disk, damage, settings."""

import errno
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import _folders, _records
from diffmech.lanes._compiling import compiling_seconds
from diffmech.maps import load_map
from diffmech.maps._evaluate import Evaluator
from diffmech.simulation import load_run

from ..conftest import COMPILES_AS_HERE, machine
from ..damaged_files import DAMAGES
from ..lanes.test_failed_lanes import UNREAL
from ..simulation.test_kept_settings import bead, wire
from ..simulation.test_void import system as system

POINTS = 61
CHUNK = 16
BOUND = 1.5
Map = dm.StabilityMap
ARRAYS = ("values", "verdicts", "energy_error", "status")


def pendulum_map(path: Path | None = None, **changes: Any) -> Map:
    """Which pushes take a pendulum beyond a bound; a part of a second once compiled."""
    call: dict[str, Any] = {
        "system": machine("pendulum"),
        "axes": {"theta_dot": (0.1, 12.0, POINTS)},
        "criterion": dm.criteria.Tumble("theta", BOUND),
        "duration": 2.0,
        "accuracy": 1e-6,
        **changes,
    }
    return dm.stability_map(**call, path=path)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(autouse=True)
def _in_small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffmech.maps._stability_map._CHUNK", CHUNK)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map made in one go."""
    path = tmp_path_factory.mktemp("unbroken") / "map.npz"
    pendulum_map(path)
    return path


def interrupt_chunk(patch: pytest.MonkeyPatch, number: int) -> None:
    """Let Ctrl-C come while the chunk of this number, counted from 1, is computed."""
    honest, calls = Evaluator.evaluate, []

    def evaluate(evaluator: Evaluator, places: Any) -> Any:
        calls.append(1)
        if len(calls) == number:
            raise KeyboardInterrupt
        return honest(evaluator, places)

    patch.setattr(Evaluator, "evaluate", evaluate)


def refuse_to_compute(patch: pytest.MonkeyPatch) -> None:
    def evaluate(evaluator: Evaluator, places: Any) -> Any:
        raise AssertionError("it computed")

    patch.setattr(Evaluator, "evaluate", evaluate)


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a map of which two chunks are done."""
    path = tmp_path / "map.npz"
    with monkeypatch.context() as patch:
        interrupt_chunk(patch, 3)
        with pytest.warns(UserWarning, match="interrupted after 32 of 61"):
            pendulum_map(path)
    return path


def test_two_calls_give_the_same_bytes_and_leave_nothing_else(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diffmech.maps._stability_map._CHUNK", 16384)
    monkeypatch.setattr("diffmech.maps._checkpoint._SAVE_EVERY", -1.0)
    made = pendulum_map(tmp_path / "map.npz")
    assert (tmp_path / "map.npz").read_bytes() == unbroken.read_bytes()
    assert names(tmp_path) == ["map.npz"]
    assert made.save(tmp_path / "saved.npz").read_bytes() == unbroken.read_bytes()


# A process that makes the map and kills itself, where the word says, once two chunks are done.
KILLED = """
import os, signal, sys
import jax
jax.devices()
os.environ.pop("XLA_FLAGS")  # as this process has it once they are read: the file keeps them
import numpy as np
import diffmech as dm
from diffmech import _records
from diffmech.maps import _checkpoint, _stability_map
from diffmech.maps._evaluate import Evaluator

path, where, points, chunk, bound = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
_stability_map._CHUNK, _checkpoint._SAVE_EVERY = int(chunk), -1.0

def dying(function, call):
    calls = []
    def instead(*args, **kwargs):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return instead

chunks = -(-int(points) // int(chunk))
if where == "computing":
    Evaluator.evaluate = dying(Evaluator.evaluate, 3)
elif where == "refining":
    Evaluator.evaluate = dying(Evaluator.evaluate, chunks + 2)
elif where == "keeping":
    _records.os.fsync = dying(os.fsync, 3)
else:
    _records.os.fsync = dying(os.fsync, chunks + 1)
dm.stability_map(
    dm.systems.pendulum(), {"theta_dot": (0.1, 12.0, int(points))},
    dm.criteria.Tumble("theta", bound), 2.0, accuracy=1e-6, path=path,
)
"""


@pytest.mark.parametrize("where", ["computing", "keeping", "refining", "finishing"])
def test_a_killed_map_leaves_no_half_file_and_resumes_to_the_same_bytes(
    where: str, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.npz"
    words = [str(path), where, str(POINTS), str(CHUNK), str(BOUND)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words],
        capture_output=True, text=True, timeout=1800, check=False,
        env={
            **os.environ, **COMPILES_AS_HERE,
            "PYTHONPATH": str(Path(dm.__file__).parent.parent),
        },
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not path.exists()
    part = dm.load(tmp_path / "map.npz.part")
    computed = POINTS if where in ("refining", "finishing") else 2 * CHUNK
    assert np.all((part.verdicts != dm.Verdict.MISSING) == (np.arange(POINTS) < computed))
    assert part.edges is None

    honest, places = Evaluator.evaluate, []

    def evaluate(evaluator: Evaluator, where: Any) -> Any:
        places.append(len(where[0]))
        return honest(evaluator, where)

    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    again = pendulum_map(path, resume=True)
    assert path.read_bytes() == unbroken.read_bytes()
    assert again.complete
    assert again.edges
    assert sum(places[: -(-(POINTS - computed) // CHUNK)]) == POINTS - computed
    assert "map.npz.part" not in names(tmp_path)
    assert ".map.npz.writing" not in names(tmp_path), "the claim of the dead is gone"


def test_an_interruption_in_python_keeps_what_is_done(
    begun: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = dm.load(unbroken)
    with monkeypatch.context() as patch:
        interrupt_chunk(patch, 2)
        with pytest.warns(
            UserWarning, match=r"after 48 of 61 points.*MISSING in `.*map\.npz\.part`: pass `resume"
        ):
            made = pendulum_map(begun, resume=True)
    assert not made.complete
    assert made.edges is None
    assert made.counts[dm.Verdict.MISSING] == POINTS - 3 * CHUNK
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(made, name)[: 3 * CHUNK], getattr(whole, name)[: 3 * CHUNK]
        )
    assert np.all(made.status[3 * CHUNK :] == dm.Status.INTERRUPTED)
    assert "21.3 % missing" in str(made)
    assert names(begun.parent) == ["map.npz.part"]

    with monkeypatch.context() as patch:
        interrupt_chunk(patch, 3)  # at the edges
        with pytest.warns(UserWarning, match="61 of 61"):
            made = pendulum_map(begun, resume=True)
    assert made.edges is None
    assert names(begun.parent) == ["map.npz.part"]
    pendulum_map(begun, resume=True)
    assert begun.read_bytes() == unbroken.read_bytes()
    assert names(begun.parent) == ["map.npz"]


def test_without_a_path_an_interruption_returns_the_part_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        interrupt_chunk(patch, 3)
        with pytest.warns(UserWarning, match="the others are MISSING$"):
            assert pendulum_map().counts[dm.Verdict.MISSING] == POINTS - 2 * CHUNK
    with monkeypatch.context() as patch:
        interrupt_chunk(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            pendulum_map(tmp_path / "map.npz")
    assert names(tmp_path) == []


OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "duration": ({"duration": 2.5}, r"\(duration: 2\.5 against 2\.0\)"),
    "rtol": ({"rtol": 1e-6}, r"\(atol: 1e-06 against 1e-08; rtol: 1e-06 against 1e-08\)"),
    "method": ({"method": "Tsit5"}, r'method: "Tsit5" against "Dopri8"'),
    "max_steps": ({"max_steps": 500}, r"\(max_steps: 500 against 100000\)"),
    "bound": (
        {"criterion": dm.criteria.Tumble("theta", 1.0)},
        r"\(criterion\.bound: 1\.0 against 1\.5\)",
    ),
    "criterion": (
        {"criterion": dm.criteria.Ftle()},
        r'criterion\.criterion: "ftle" against "tumble"',
    ),
    "accuracy": ({"accuracy": 1e-3}, r"\(accuracy: 0\.001 against 1e-06\)"),
    "trust": ({"trust": 1e-2}, r"\(trust: 0\.01 against 0\.0001\)"),
    "params": ({"params": {"length": 1.5}}, r"\(params\.length: 1\.5 against 1\.0\)"),
    "start": ({"q0": {"theta": 0.5}}, r"\(q0: \[0\.5\] against \[0\.0\]\)"),
    "range": (
        {"axes": {"theta_dot": (0.1, 9.0, POINTS)}},
        r"other axes \(theta_dot from 0\.1 rad/s to 9 rad/s, 61 values against theta_dot from 0\.1 "
        r"rad/s to 12 rad/s, 61 values\)",
    ),
    "axis": ({"axes": {"theta": (0.1, 1.0, POINTS)}}, r"other axes \(theta from 5\.72"),
}


@pytest.mark.parametrize("what", OTHER)
def test_a_resume_with_other_settings_is_refused_with_the_differences(
    what: str, begun: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, sentence = OTHER[what]
    before = (begun.parent / "map.npz.part").read_bytes()
    refuse_to_compute(monkeypatch)
    for path in (begun, unbroken):  # begun, or finished
        with pytest.raises(ValueError, match=sentence + r".*start anew with `overwrite=True`"):
            pendulum_map(path, resume=True, **changes)
    assert names(begun.parent) == ["map.npz.part"]
    assert (begun.parent / "map.npz.part").read_bytes() == before


def test_a_finished_map_is_returned_without_computing(
    unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, stamp = unbroken.read_bytes(), compiling_seconds()
    refuse_to_compute(monkeypatch)
    again = pendulum_map(unbroken, resume=True)
    assert compiling_seconds() == stamp
    assert unbroken.read_bytes() == before
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(dm.load(unbroken), name))
    assert again.criterion == dm.criteria.Tumble("theta", BOUND)


def test_a_resume_of_nothing_computes(unbroken: Path, tmp_path: Path) -> None:
    pendulum_map(tmp_path / "map.npz", resume=True)
    assert (tmp_path / "map.npz").read_bytes() == unbroken.read_bytes()


def test_a_map_begun_anew_beside_an_old_one_is_the_one_to_resume(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.npz"
    path.write_bytes(unbroken.read_bytes())
    with monkeypatch.context() as patch:
        interrupt_chunk(patch, 3)
        with pytest.warns(UserWarning, match="interrupted"):
            pendulum_map(path, duration=1.0, overwrite=True)
    assert path.read_bytes() == unbroken.read_bytes(), "the old one is there until the new one is"
    made = pendulum_map(path, duration=1.0, resume=True)
    assert made.settings["duration"] == 1.0
    assert made.complete
    assert dm.load(path).settings == made.settings
    assert names(tmp_path) == ["map.npz"]


def test_what_is_in_the_way_is_named_before_anything_is_computed(
    begun: Path, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_compute(monkeypatch)
    before = unbroken.read_bytes()
    with pytest.raises(FileExistsError, match=r"map\.npz` exists already; pass `overwrite=True`"):
        pendulum_map(unbroken)
    assert unbroken.read_bytes() == before
    with pytest.raises(FileExistsError, match=r"map\.npz\.part` holds the beginning.*resume=True"):
        pendulum_map(begun)
    for how in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(FileNotFoundError, match=r"the directory `.*nowhere` does not exist"):
            pendulum_map(tmp_path / "nowhere" / "map.npz", **how)
        with pytest.raises(FileExistsError, match="is not a file; choose another name"):
            pendulum_map(tmp_path, **how)
    with pytest.raises(ValueError, match="choose one"):
        pendulum_map(begun, resume=True, overwrite=True)
    assert names(tmp_path) == ["map.npz.part"]


def test_two_writers_of_one_map_do_not_meet(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = begun.parent / "map.npz.part"
    before = part.read_bytes()
    with monkeypatch.context() as patch, _folders.sole_writer(begun):
        refuse_to_compute(patch)
        for how in ({"resume": True}, {"overwrite": True}):
            busy = r"writing to `[^`]*map\.npz` at the moment.*\.map\.npz\.writing"
            with pytest.raises(BlockingIOError, match=busy):
                pendulum_map(begun, **how)
    assert part.read_bytes() == before
    assert names(begun.parent) == ["map.npz.part"]
    # Another map in the same folder is nobody's business.
    with _folders.sole_writer(begun.parent / "other.npz"):
        pendulum_map(begun, resume=True)


def _fault(kind: type[OSError], number: int) -> Callable[..., Any]:
    def instead(*args: Any, **kwargs: Any) -> Any:
        raise kind(number, os.strerror(number))

    return instead


def test_a_full_disk_leaves_the_old_map_and_names_the_path_and_the_need(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    old.write_bytes(unbroken.read_bytes())
    monkeypatch.setattr(_records.os, "fsync", _fault(OSError, errno.ENOSPC))
    for path in (old, new):
        with pytest.raises(
            OSError,
            match=rf"cannot write `.*{path.name}`: No space left on device; the map needs 0\.001",
        ):
            pendulum_map(path, overwrite=True, duration=1.0)
    monkeypatch.setattr("diffmech.maps._checkpoint._SAVE_EVERY", -1.0)
    with pytest.raises(OSError, match=r"cannot write `.*new\.npz\.part`: No space left"):
        pendulum_map(new)
    assert old.read_bytes() == unbroken.read_bytes()
    assert names(tmp_path) == ["old.npz"]


def test_a_folder_that_may_not_be_written_to_is_named_before_anything_is_computed(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.npz"
    path.write_bytes(unbroken.read_bytes())
    refuse_to_compute(monkeypatch)
    monkeypatch.setattr(_folders.tempfile, "mkdtemp", _fault(PermissionError, errno.EACCES))
    with pytest.raises(PermissionError, match=rf"cannot write in `{tmp_path}`: Permission denied"):
        pendulum_map(path, overwrite=True, duration=1.0)
    assert path.read_bytes() == unbroken.read_bytes()
    assert names(tmp_path) == ["map.npz"]


def test_a_loaded_map_is_the_same_map(unbroken: Path, tmp_path: Path) -> None:
    made = pendulum_map(params={"length": 1.25})
    path = made.save(tmp_path / "map.npz")
    whole, alone = dm.load(path, machine("pendulum")), dm.load(path)
    for again in (whole, alone):
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
            assert getattr(again, name).dtype == getattr(made, name).dtype
        np.testing.assert_array_equal(again.axes[0].grid, made.axes[0].grid)
        assert [a[:2] + a[3:] for a in again.axes] == [a[:2] + a[3:] for a in made.axes]
        assert again.edges == made.edges
        assert again.edges
        assert again.settings == made.settings
        assert again.summary() == made.summary()
        assert str(again) in str(made)  # without the line of the time it took
        assert again.save(path, overwrite=True).read_bytes() == path.read_bytes()
    assert float(whole.system.params.length) == 1.25, "the machine has the map's parameters"
    assert float(dm.load(unbroken, machine("pendulum")).system.params.length) == 1.0
    with pytest.raises(ValueError, match="loaded without its machine"):
        dm.stability_map(alone.system, {"theta": [0.1]}, dm.criteria.Tumble("theta"), 1.0)


DAMAGED = [
    "truncated", "flipped byte", "newer schema", "pickled array", "absurd header", "zip bomb",
    "path outside", "no manifest", "incomplete contents", "text file", "empty file",
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_maps_are_refused_with_the_reason(
    damage: str, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, reason = DAMAGES[damage]
    refuse_to_compute(monkeypatch)
    for name in ("map.npz", "map.npz.part"):
        path = tmp_path / name
        path.write_bytes(unbroken.read_bytes())
        spoil(path)
        spoiled = path.read_bytes()
        with pytest.raises(ValueError, match=rf"{name}` was not loaded: .*{reason}"):
            dm.load(path)
        with pytest.raises(ValueError, match=rf"{name}` was not loaded: .*{reason}"):
            pendulum_map(tmp_path / "map.npz", resume=True)
        assert path.read_bytes() == spoiled
        assert names(tmp_path) == [name]
        path.unlink()


def test_contents_that_do_not_fit_are_refused_with_the_path(unbroken: Path, tmp_path: Path) -> None:
    meta, arrays = _records.read_record(unbroken, "stability_map")
    bad: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "array 'values' does not fit": ({}, {"values": arrays["values"][1:]}),
        "array 'verdicts' does not fit": ({}, {"verdicts": arrays["values"]}),
        "99 is not a valid Verdict": ({"edges": [[99, 0]]}, {}),
        "argument": ({"edges": []}, {}),
        "62 of 61 points are done": ({"done": POINTS + 1}, {}),
        "-1 of 61 points are done": ({"done": -1}, {}),
        "axis.1": ({"axes": [*meta["axes"], ["theta", "rad", "coordinate"]]}, {}),
    }
    for reason, (other, others) in bad.items():
        path = tmp_path / "map.npz"
        _records.write_record(
            path, "stability_map", {**meta, **other}, {**arrays, **others}, overwrite=True
        )
        with pytest.raises(ValueError, match=rf"map\.npz` was not loaded: .*{reason}"):
            dm.load(path)


def test_other_records_and_other_machines_are_refused(unbroken: Path, tmp_path: Path) -> None:
    run = dm.simulate(machine("pendulum"), [0.1], duration=0.1, samples=3)
    path = run.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="it holds a 'trajectory', not a 'stability_map'"):
        load_map(path)
    with pytest.raises(ValueError, match="it holds a 'trajectory', not a 'stability_map'"):
        pendulum_map(path, resume=True)
    with pytest.raises(ValueError, match="it holds a 'stability_map', not a 'trajectory'"):
        load_run(unbroken)
    with pytest.raises(ValueError, match="coordinates theta, but 'babyboot' has qA, qB"):
        dm.load(unbroken, machine("babyboot"))
    with pytest.raises(FileNotFoundError, match=r"there is no file `.*gone\.npz`"):
        dm.load(tmp_path / "gone.npz")


# Pictures


def test_a_function_of_the_same_name_is_another_criterion() -> None:
    def beyond(limit: float) -> Any:
        return lambda q, qd, t, p: jnp.abs(q[0]) - limit

    same = dm.criteria.Leaves(beyond(1.0)).describe()
    assert dm.criteria.Leaves(beyond(1.0)).describe() == same
    assert dm.criteria.Leaves(beyond(2.0)).describe() != same, "it reads another number"
    other = dm.criteria.Leaves(lambda q, qd, t, p: q[0] - 1.0).describe()
    assert dm.criteria.Leaves(lambda q, qd, t, p: q[0] + 1.0).describe() != other, (
        "it has other code"
    )
    ones, twos = (
        dm.criteria.Leaves(
            functools.partial(lambda limit, q, qd, t, p: q[0] - limit, limit)
        ).describe()
        for limit in (1.0, 2.0)
    )
    assert ones != twos
    defaults = [
        dm.criteria.Leaves(lambda q, qd, t, p, limit=limit: q[0] - limit).describe()
        for limit in (1.0, 2.0)
    ]
    assert defaults[0] != defaults[1]


DIGEST = """
from diffmech._fingerprint import digest_of
names, held = {"a", "b", "c", "d"}, [print, 1.0]
print(digest_of(lambda q: held[1] if q in names or q in {"x", "y", "z"} else len(names)))
"""


def test_a_criterion_is_known_again_in_another_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=1800,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_a_map_knows_its_machine_and_a_closer_look_its_settings(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "method": "Tsit5",
        "rtol": 1e-6,
        "atol": 1e-7,
        "t0": 0.5,
        "stabilise": dm.solvers.baumgarte(omega=7.0, zeta=0.3),
        "fixed_params": True,
        "max_steps": 777,
        "block": 8,
        "devices": 1,
    }
    path = tmp_path / "map.npz"
    chart = dm.stability_map(
        bead(),
        {"k": (1.0, 2.0, 3)},
        dm.criteria.Tumble("x", 2.0),
        1.0,
        trust=0.5,
        path=path,
        **options,
    )
    again = dm.load(path, bead())
    closer = dm.zoom(again, {"k": (1.2, 1.4)}, criterion=dm.criteria.Tumble("x", 2.0))
    assert closer.settings == again.settings == chart.settings
    assert closer.settings["stabilise"] == {"name": "baumgarte", "omega": 7.0, "zeta": 0.3}
    with pytest.raises(ValueError, match="residual of 'wire' at a stored state"):
        dm.load(path, bead(constraint=lambda q, t, p: 2 * wire(q, t, p)))


def test_maps_count_points_of_a_negative_mass_and_files_keep_the_count(
    system: dm.System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ran(machine: Any, q0s: Any, qd0s: Any, *, params: Any, reduce: Any, **_: Any) -> Any:
        nothing = np.zeros(len(q0s))
        return dm.Ensemble(
            values=dict.fromkeys(reduce, nothing), status=nothing.astype(int), steps=nothing,
            rejected=nothing, ends=nothing, settings={"why": ""}, system=machine, compiling=0.0,
            running=0.0, indefinite=params["m"] < 0,
        )  # fmt: skip

    monkeypatch.setattr("diffmech.maps._evaluate.ensemble", ran)
    whole = dm.stability_map(system, {"m": (-1.0, 1.0, 4)}, lambda q, qd, t, p: q[0], 0.5)
    assert whole.indefinite == whole.summary()["indefinite"] == 2
    assert UNREAL in str(whole)
    assert UNREAL in str(dm.load(whole.save(tmp_path / "map.npz")))
