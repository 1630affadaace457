"""`diffmech map`: words, exit codes, files, and interruption from outside."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import diffmech as dm
from diffmech import _records

from ..conftest import COMPILES_AS_HERE
from .test_cli import Cli, Unread, cli, python, unread  # noqa: F401

# One program for all maps of this file that compute the same.
AXIS = ("--axis", "qA=0:180deg:37")
REST = ("--set", "qB=20deg", "--duration", "2")
TUMBLE = ("--criterion", "tumble:qB=90deg")
MAP = ("map", "babyboot", *AXIS, *REST, *TUMBLE)


def the_same_map(**more: Any) -> dm.StabilityMap:
    return dm.stability_map(
        dm.systems.babyboot(),
        {"qA": (0.0, 180 * (np.pi / 180), 37)},
        dm.criteria.Tumble("qB", 90 * (np.pi / 180)),
        2.0,
        q0={"qB": 20 * (np.pi / 180)},
        **more,
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(autouse=True)
def _already_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has started JAX; to say so is `test_tuning`'s matter."""
    monkeypatch.setattr("diffmech.cli._map.tuned", lambda: None)


@pytest.fixture
def no_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to compute anything."""

    def refuse(*args: Any) -> None:
        raise AssertionError("it computed")

    monkeypatch.setattr("diffmech.lanes._ensemble.run_tiles", refuse)


def test_the_help_loads_nothing_heavy() -> None:
    done = python(
        "import sys; from diffmech.cli import run; code = run(['map', '--help']); "
        "heavy = {'jax', 'numpy', 'matplotlib', 'diffrax'} & set(sys.modules); "
        "assert not heavy, heavy; sys.exit(code)"
    )
    assert done.returncode == 0, done.stderr
    for word in ("--axis", "--resume", "tumble:qB=90deg", "spread:", "ftle:", "megno:", "sali:"):
        assert word in done.stdout


def test_the_json_is_the_summary_and_the_table_has_every_point(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    words = (*MAP, "--json", "--accuracy", "1e-3deg")
    code, out, _ = cli(*words, "--csv", "t.csv", "--out", "m.npz", "--plot", "m.png")
    assert code == 0
    ours = the_same_map(accuracy=1e-3 * (np.pi / 180))
    assert json.loads(out) == json.loads(json.dumps(ours.summary()))
    assert json.loads(out)["edges"]
    assert {"stable", "unstable"} <= {k for k, v in json.loads(out)["verdicts"].items() if v}
    assert (tmp_path / "m.npz").read_bytes() == ours.save(tmp_path / "api.npz").read_bytes()
    header, *rows = (tmp_path / "t.csv").read_text("utf-8").splitlines()
    assert header == "qA,value,verdict,energy_error,status"
    table = np.array([[float(cell) for cell in row.split(",")] for row in rows]).T
    for column, wanted in zip(
        table, [ours.axes[0].grid, ours.values, ours.verdicts, ours.energy_error, ours.status],
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(column, wanted)
    with Image.open(tmp_path / "m.png") as picture:
        shades = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    for shade in ((0x2E, 0x9E, 0x4F), (0x11, 0x11, 0x11)):
        assert np.sum(np.all(shades == shade, axis=1)) > 1000

    # A finished map is drawn again without being computed again.
    code, again, _ = cli(*words, "--out", "m.npz", "--csv", "t.csv", "--plot", "m.png", "--resume")
    assert code == 0
    assert json.loads(again) == json.loads(out)


def test_a_map_prints_itself(cli: Cli) -> None:  # noqa: F811
    code, out, err = cli(*MAP)
    assert (code, err) == (0, "")
    ours = str(the_same_map()).splitlines()
    assert out.splitlines()[:-1] == ours[:-1]
    assert out.startswith("babyboot: 37 motions of 2 s\n  axis       qA from 0 deg to 180 deg")


def test_two_axes_parameters_and_rates(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    code, out, _ = cli(
        "map", "pendulum", "--axis", "length=0.5:2:3", "--axis", "theta_dot=45:360deg/s:5",
        "--criterion", "tumble:theta=60°", "--duration", "1", "--json",
        "--csv", "t.csv", "--plot", "a.png", "--param", "mass=2",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["axes"]["length"] == {"unit": "m", "from": 0.5, "to": 2.0, "count": 3}
    rates = found["axes"]["theta_dot"]
    assert (rates["from"], rates["to"]) == pytest.approx(np.radians((45, 360)))
    assert rates["unit"] == "rad/s"
    assert found["settings"]["params"]["mass"] == 2.0
    assert sum(found["verdicts"].values()) == 15
    header, *rows = (tmp_path / "t.csv").read_text("utf-8").splitlines()
    assert header == "length,theta_dot,value,verdict,energy_error,status"
    assert [float(row.split(",")[0]) for row in rows] == [0.5] * 5 + [1.25] * 5 + [2.0] * 5
    assert (tmp_path / "a.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("qA=10:90deg:3", (10, 90)),
        ("qA=10:90°:3", (10, 90)),
        ("qA=10:90DEG:3", (10, 90)),
        ("qA=0.25:0.5turn:3", (90, 180)),
        ("qA=90deg:pi rad:3", (90, 180)),
        ("qA=-pi/2:pi/2:3", (-90, 90)),
        ("qA_dot=10:90deg/s:3", (10, 90)),
        ("qA_dot=10:90deg:3", (10, 90)),
        ("qA = 90deg : 10deg : 3", (90, 10)),
    ],
)
def test_one_unit_at_the_end_is_that_of_both(text: str, ends: tuple[float, float]) -> None:
    from diffmech.cli._map import _axis

    _, (low, high, count) = _axis(dm.systems.babyboot(), text)
    assert np.degrees((low, high)) == pytest.approx(ends)
    assert count == 3


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no axis": (("map", "babyboot", *TUMBLE), "Missing option '--axis'"),
    "no criterion": (("map", "babyboot", *AXIS), "Missing option '--criterion'"),
    "no machine": (("map", "babybot", *AXIS, *TUMBLE), "Did you mean 'babyboot'?"),
    "two parts": ((*MAP[:2], "--axis", "qA=0:1", *TUMBLE), "--axis must look like qA=0:180deg"),
    "no count": ((*MAP[:2], "--axis", "qA=0:1:x", *TUMBLE), "--axis must look like qA=0:180deg"),
    "half a point": ((*MAP[:2], "--axis", "qA=0:1:2.5", *TUMBLE), "--axis must look like"),
    "none": ((*MAP[:2], "--axis", "qA=0:1:0", *TUMBLE), "number of values of qA"),
    "no name": ((*MAP[:2], "--axis", "0:1:5", *TUMBLE), "--axis must look like"),
    "no number": ((*MAP[:2], "--axis", "qA=a:1:5", *TUMBLE), "--axis qA must be a number such as"),
    "empty": ((*MAP[:2], "--axis", "qA=1:1:5", *TUMBLE), "must increase, or decrease"),
    "not finite": ((*MAP[:2], "--axis", "qA=0:inf:5", *TUMBLE), "must be finite"),
    "half a unit": (
        (*MAP[:2], "--axis", "qA=0deg:180:5", *TUMBLE),
        "--axis qA must have its unit after the second number",
    ),
    "unknown axis": (
        (*MAP[:2], "--axis", "qa=0:1:5", *TUMBLE),
        "no coordinate, rate or parameter 'qa'. Did you mean 'qA'?",
    ),
    "twice": ((*MAP, *AXIS), "--axis must name each axis once"),
    "three": (
        (*MAP[:2], *AXIS, "--axis", "qB=0:1:2", "--axis", "mB=1:2:2", *TUMBLE),
        "one or two names",
    ),
    "negative mass": ((*MAP[:2], "--axis", "mB=-1:1:5", *TUMBLE), "`mB` must not be negative"),
    "length in degrees": (
        ("map", "cart_pole", "--axis", "x=0:90deg:5", "--criterion", "tumble:theta=90deg"),
        "--axis x is in m, but '90deg' is an angle",
    ),
    "not a rate": ((*MAP[:2], "--axis", "qA=0:9deg/s:5", *TUMBLE), "--axis qA is not a rate"),
    "unknown criterion": (
        (*MAP[:2], *AXIS, "--criterion", "tumbel:qB=1"),
        "no criterion 'tumbel'. Did you mean 'tumble'?",
    ),
    "no bound": ((*MAP[:2], *AXIS, "--criterion", "tumble"), "needs one bound: tumble:qB=90deg"),
    "no bound of a length": (
        ("map", "spring_pendulum", "--axis", "r=0.1:1:5", "--criterion", "tumble"),
        "needs one bound: tumble:theta=90deg",
    ),
    "no second start of a length": (
        ("map", "particle", "--axis", "z=1:2:5", "--criterion", "spread:limit=1"),
        "needs a second start: spread:z=0.01",
    ),
    "bad bound": ((*MAP[:2], *AXIS, "--criterion", "tumble:qB"), "--criterion must look like"),
    "negative bound": ((*MAP[:2], *AXIS, "--criterion", "tumble:qB=-1"), "greater than zero"),
    "bound of nothing": (
        (*MAP[:2], *AXIS, "--criterion", "tumble:qb=90deg"),
        "no coordinate 'qb'. Did you mean 'qB'?",
    ),
    "no second start": ((*MAP[:2], *AXIS, "--criterion", "spread:limit=1"), "a second start"),
    "calm above wild": (
        (*MAP[:2], *AXIS, "--criterion", "sali:apart=1e-9,aligned=1e-3"),
        "`aligned` must be at most `apart`, but 0.001 > 1e-09",
    ),
    "the same start twice": (
        (*MAP[:2], *AXIS, "--criterion", "spread:qA=0"),
        "`offset` must move the second start",
    ),
    "second start of nothing": (
        (*MAP[:2], *AXIS, "--criterion", "spread:qB_dt=1deg/s"),
        "no coordinate or rate 'qB_dt'. Did you mean 'qB_dot'?",
    ),
    "number of nothing": (
        (*MAP[:2], *AXIS, "--criterion", "ftle:calmer=1"),
        "no number of ftle 'calmer'. Did you mean 'calm'?",
    ),
    "set on an axis": ((*MAP, "--set", "qA=1"), "--set qA does not go with --axis qA"),
    "set of nothing": ((*MAP, "--set", "qC=1"), "no coordinate or rate 'qC'"),
    "no such start": ((*MAP, "--start", "chaotc"), "Did you mean 'chaotic'?"),
    "resume of nothing": ((*MAP, "--resume"), "--resume needs --out"),
    "resume and force": ((*MAP, "--resume", "--force", "--out", "m.npz"), "choose one"),
    "accuracy of an area": (
        (*MAP[:2], *AXIS, "--axis", "qB=0:1:2", *TUMBLE, "--accuracy", "1deg"),
        "edges are curves",
    ),
    "no accuracy": ((*MAP, "--accuracy", "0"), "--accuracy must be greater than zero"),
    "no duration": ((*MAP, "--duration", "-1"), "--duration must be greater than zero"),
    "share": ((*MAP, "--allow-failed", "few"), "--allow-failed must be a number"),
    "method": ((*MAP, "--method", "Dopri9"), "Did you mean 'Dopri8'?"),
    "picture": ((*MAP, "--plot", "m.bmp"), "must end in .png, .pdf or .svg"),
    "place": ((*MAP, "--out", "no/m.npz"), "the directory `no` does not exist"),
    "place of the table": ((*MAP, "--csv", "no/m.csv"), "the directory `no` does not exist"),
    "place of the picture": ((*MAP, "--plot", "no/m.png"), "the directory `no` does not exist"),
    "old map": ((*MAP, "--out", "old.npz"), "`old.npz` exists already; pass --force"),
    "old table": ((*MAP, "--csv", "old.csv"), "`old.csv` exists already; pass --force"),
    "old picture": ((*MAP, "--plot", "old.png"), "`old.png` exists already; pass --force"),
    "begun": ((*MAP, "--out", "new.npz"), "pass --resume to go on with it, or --force to start"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_words_get_a_sentence_before_anything_is_computed(
    mistake: str,
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    no_motion: None,
) -> None:
    del no_motion
    olds = ("old.npz", "old.csv", "old.png", "new.npz.part")
    for name in olds:
        (tmp_path / name).write_text("mine", encoding="utf-8")
    words, sentence = WRONG[mistake]
    code, out, err = cli(*words)
    assert code == 2, err
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert names(tmp_path) == sorted(olds)
    assert all((tmp_path / name).read_text("utf-8") == "mine" for name in olds)


RUNAWAY = """
import diffmech as dm

def lagrangian(q, qd, t, p):
    return 0.5 * qd @ qd + 0.25 * q[0] ** 4

runaway = dm.System(lagrangian, {"x": "m"})
"""


def test_too_many_failed_motions_are_told_by_the_exit_code(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text(RUNAWAY, encoding="utf-8")
    words = (
        "map", "mine.py:runaway", "--axis", "x=0.001:4:4", "--criterion", "tumble:x=1e300",
    )  # fmt: skip
    code, out, err = cli(*words, "--json", "--out", "m.npz", "--plot", "m.png")
    assert code == 3
    assert err == "Error: 75 % of the motions failed, more than --allow-failed 5 %.\n"
    assert json.loads(out)["verdicts"]["failed"] == 3
    assert dm.load(tmp_path / "m.npz").share_failed == 0.75, "what there is was written"
    assert (tmp_path / "m.png").exists()
    code, out, err = cli(*words, "--allow-failed", "1")
    assert (code, err) == (0, "")
    assert "75 % failed" in out


# The command as it stands, in small chunks that leave the sender of signals some time.
SLOW = """
import os, jax
jax.devices()
os.environ.pop("XLA_FLAGS")  # as this process has it once they are read: the file keeps them
import sys, time
from diffmech import cli
from diffmech.maps import _stability_map
from diffmech.maps._evaluate import Evaluator
from diffmech.cli import _map

_map.tuned = lambda: None
_stability_map._CHUNK = 4
honest = Evaluator.evaluate

def evaluate(evaluator, places):
    time.sleep(0.2)
    return honest(evaluator, places)

Evaluator.evaluate = evaluate
cli.main()
"""


@pytest.mark.parametrize(
    ("number", "exit_code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143)],
    ids=["ctrl-c", "terminated"],
)
def test_an_interrupted_map_is_kept_and_resumed_to_the_same_bytes(
    number: signal.Signals,
    exit_code: int,
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *MAP, "--out", "map.npz", "--plot", "m.png", "--progress"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            **COMPILES_AS_HERE,
            "PYTHONPATH": str(Path(dm.__file__).parent.parent),
        },
    ) as process:
        assert process.stderr is not None
        said = ""
        while "left" not in said:  # the bar is there once the first chunk is done
            heard = process.stderr.read(1)
            assert heard, said
            said += heard
        process.send_signal(number)
        out, err = process.communicate(timeout=1800)
    assert process.returncode == exit_code, err
    assert "map.npz.part`: pass --resume." in err
    assert "missing" in out
    assert names(tmp_path) == ["map.npz.part"]
    part = dm.load(tmp_path / "map.npz.part")
    kept = int(np.sum(part.verdicts != dm.Verdict.MISSING))
    assert 4 <= kept < 37
    assert f"interrupted after {kept} of 37 points" in err

    code, _, err = cli(*MAP, "--out", "map.npz")
    assert code == 2
    assert "pass --resume to go on with it, or --force to start anew" in err
    code, _, err = cli(*MAP, "--out", "map.npz", "--resume", "--rtol", "1e-6")
    assert code == 2
    assert "rtol: 1e-06 against 1e-08" in err
    assert "start anew with --force" in err
    code, out, _ = cli(*MAP, "--out", "map.npz", "--resume", "--plot", "m.png")
    assert code == 0
    assert "missing" not in out
    assert names(tmp_path) == ["m.png", "map.npz"]
    whole = the_same_map().save(tmp_path / "whole.npz")
    assert (tmp_path / "map.npz").read_bytes() == whole.read_bytes()


def test_a_full_disk_is_named_and_the_old_map_stays(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "map.npz").write_text("mine", encoding="utf-8")

    def full(descriptor: int) -> None:
        del descriptor
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(_records.os, "fsync", full)
    monkeypatch.setattr("diffmech.maps._checkpoint._SAVE_EVERY", np.inf)  # however slow it is
    code, out, err = cli(*MAP, "--out", "map.npz", "--force")
    assert (code, out) == (1, "")
    assert "cannot write `map.npz`: No space left on device; the map needs" in err
    assert (tmp_path / "map.npz").read_text("utf-8") == "mine"
    assert names(tmp_path) == ["map.npz"]


@pytest.mark.parametrize("more", [("--json",), ()], ids=["json", "words"])
def test_a_reader_who_leaves_a_map_gets_no_complaint(
    unread: Unread,  # noqa: F811
    tmp_path: Path,
    more: tuple[str, ...],
) -> None:
    code, err = unread(*MAP, "--out", "map.npz", *more)
    assert (code, err) == (0, "")
    assert dm.load(tmp_path / "map.npz").verdicts.size == 37
