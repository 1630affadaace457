"""Runs from the command line: folders, films, users' files, interruption, faults of the disk."""

import errno
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
from diffmech import _folders, _records

from .test_cli import SHORT, Cli, cli  # noqa: F401

FILES = ["energy.png", "report.txt", "run.csv", "run.npz", "settings.json", "trajectory.png"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_folder_is_complete_and_reloads(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    words = ("simulate", "n_link:n=2", "--start", "chaotic", *SHORT, "--out", "my run")
    code, out, err = cli(*words)
    assert code == 0
    assert names(tmp_path / "my run") == FILES
    assert (tmp_path / "my run" / "report.txt").read_text("utf-8") == out
    assert "trajectory.png" in err
    chain = dm.systems.n_link(n=2)
    again = dm.load(tmp_path / "my run", chain)
    ours = dm.simulate(chain, *chain.starts["chaotic"], duration=0.5, samples=11)
    np.testing.assert_array_equal(again.qs, ours.qs)
    settings = json.loads((tmp_path / "my run" / "settings.json").read_text("utf-8"))
    assert settings["system"] == "n_link:n=2"
    assert settings["q0"] == dict(zip(chain.coordinates, ours.qs[0].tolist(), strict=True))
    assert settings["method"] == "Dopri8"

    before = {p.name: p.read_bytes() for p in (tmp_path / "my run").iterdir()}
    code, _, err = cli(*words)
    assert code == 2
    assert "holds results already" in err
    assert "pass --force" in err
    code, _, _ = cli(*words, "--force")
    assert code == 0
    assert {p.name: p.read_bytes() for p in (tmp_path / "my run").iterdir()} == before

    assert cli("report", "my run")[:2] == (0, out)
    for kind in ("stroboscope", "phase", "balance"):
        code, said, _ = cli("plot", "my run", "--kind", kind)
        assert (code, said) == (0, f"{kind}.png\n")
        with Image.open(tmp_path / f"{kind}.png") as picture:
            assert np.ptp(np.asarray(picture.convert("L"))) > 100
    ours = (tmp_path / "phase.png").read_bytes()
    for name, same in (("theta1", True), ("theta2", False)):  # the first one, if none is named
        assert cli("plot", "my run", "--kind", "phase", "--names", name, "--force")[0] == 0
        assert ((tmp_path / "phase.png").read_bytes() == ours) is same
    code, _, err = cli("plot", "my run", "--duration", "3", "--force")
    assert code == 2
    assert "--duration does not apply to a saved run" in err
    code, _, _ = cli("plot", "my run", "--kind", "distance", "--against", "my run")
    assert code == 0


def test_a_film_moves(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    code, out, _ = cli("animate", "pendulum", "--duration", "1", "--fps", "10", "--out", "a.gif")
    assert (code, out) == (0, "a.gif\n")
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 11  # pyright: ignore[reportAttributeAccessIssue]
    code, _, err = cli("animate", "pendulum", "--out", "a.gif")
    assert code == 2
    assert "exists already; pass --force" in err


def test_demo_and_doctor(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    code, out, _ = cli("demo")
    assert code == 0
    assert "Believable to the end" in out
    assert names(tmp_path / "results") == sorted([*FILES, "motion.gif"])
    code, out, _ = cli("doctor", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["healthy"] is True
    assert found["precision"] == "float64"
    assert found["packages"]["jax"].startswith("0.")


MISTAKES = {
    "shape": ("dm.System(lambda q, qd, t, p: 0.5 * qd**2, ('x', 'y'))", "shape (), but returns"),
    "numpy": ("dm.System(lambda q, qd, t, p: np.sum(np.asarray(qd) ** 2), ('x',))", "JAX operat"),
    "missing": ("dm.System(lambda q, qd, t, p: p['m'] * qd @ qd, ('x',), {'k': 1})", "KeyError"),
    "typo": ("dm.Systm(None)", "has no attribute 'Systm'"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "exits": ("sys.exit(7)", "SystemExit: 7"),
    "other": ("42", "must be a diffmech System"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_users_file_get_a_sentence_with_the_line(
    mistake: str,
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    body, sentence = MISTAKES[mistake]
    imports = "import sys\nimport numpy as np\nimport diffmech as dm\n\n"
    text = f"{imports}def boot():\n    return {body}\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    code, out, err = cli("simulate", "mine.py:boot")
    assert code == 2
    assert out == ""
    assert sentence in err
    assert "`mine.py" in err
    assert mistake == "other" or "line 6" in err
    assert len(err.splitlines()) == 1


def test_broken_files_and_missing_names(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    def write(text: str) -> None:
        (tmp_path / "mine.py").write_text(text, encoding="utf-8")

    write("def f(:\n")
    assert "`mine.py`, line 1: " in cli("simulate", "mine.py:f")[2]
    write("import nothing_of_this_name\n")
    assert "No module named 'nothing_of_this_name'" in cli("simulate", "mine.py:f")[2]
    write("def boot():\n    return None\n\ndef needs(a):\n    return a\n")
    assert "has no 'bot'. Did you mean 'boot'?" in cli("simulate", "mine.py:bot")[2]
    assert "say which machine of `mine.py` you mean" in cli("simulate", "mine.py")[2]
    assert "is a function of (a)" in cli("simulate", "mine.py:needs")[2]
    assert "there is no file `mime.py`. Did you mean 'mine.py'?" in cli("simulate", "mime.py:x")[2]


GOOD = """
import helper
import jax.numpy as jnp
import diffmech as dm

print("hello from the file")

def lagrangian(q, qd, t, p):
    return 0.5 * qd @ qd - 0.5 * p["k"] * q @ q

def broken(q, qd, t, p):
    return 0.5 * qd @ qd + jnp.sqrt(0.25 - t) * q[0]

spring = dm.System(lagrangian, {"x": "m"}, {"k": helper.STIFFNESS}, name="<b>$x$ 100%")
nan = dm.System(broken, {"x": "m"}, starts={"default": ([1.0], [0.0])})
"""


def test_a_users_own_machine_runs(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "mine.py").write_text(GOOD, encoding="utf-8")
    (folder / "helper.py").write_text("STIFFNESS = 4.0\n", encoding="utf-8")
    where = "a folder/mine.py"
    code, out, err = cli("simulate", f"{where}:spring", "--set", "x=1", "--json", "--out", "run")
    assert code == 0
    assert "hello from the file" in err, "what a file prints is not mixed with the data"
    found = json.loads(out)
    assert found["system"] == "<b>$x$ 100%"
    assert found["final"]["q"]["x"] == pytest.approx(np.cos(20.0), abs=1e-9)
    code, _, err = cli("simulate", f"{where}:spring")
    assert code == 2
    assert "no start named 'default', so set x: --set x=0.5" in err
    code, _, err = cli("animate", f"{where}:spring", "--set", "x=1")
    assert code == 2
    assert "has no drawing: declare `landmarks=`" in err

    # A folder that names a user's file does not make us run it.
    (folder / "mine.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    assert cli("report", "run")[0] == 0
    assert cli("plot", "run", "--kind", "rates")[0] == 0
    assert "it was run" in cli("plot", "run", "--system", f"{where}:spring", "--force")[2]
    (tmp_path / "pendulum:evil.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    settings = tmp_path / "run" / "settings.json"
    settings.write_text('{"system": "pendulum:evil.py"}', encoding="utf-8")
    assert cli("plot", "run", "--kind", "rates", "--force")[0] == 0


def test_a_run_that_fails_keeps_its_part_and_names_the_function(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "helper.py").write_text("STIFFNESS = 4.0\n", encoding="utf-8")
    code, out, err = cli("simulate", "mine.py:nan", "--duration", "1", "--json", "--out", "run")
    assert code == 1
    assert "it is `lagrangian` (broken)" in err
    assert json.loads(out)["report"]["status"] == "non_finite_motion"
    assert dm.load(tmp_path / "run").ts[-1] == pytest.approx(0.25, abs=2e-3)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminated"]
)
def test_an_interrupted_run_leaves_a_usable_folder(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    words = ["simulate", "pendulum", "--duration", "1e5", "--samples", "100001", "--rtol", "1e-8"]
    with subprocess.Popen(
        [sys.executable, "-m", "diffmech", *words, "--out", "run", "--progress"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(dm.__file__).parent.parent)},
    ) as process:
        assert process.stderr is not None
        assert "compiling its equations ... (once)" in process.stderr.readline()
        said = ""
        while "left" not in said:  # the bar says how long it will take
            said += process.stderr.read(1)
        assert not (tmp_path / "run" / "run.npz").exists()
        process.send_signal(number)
        out, err = process.communicate(timeout=1800)
    assert process.returncode == code, err
    assert "give the same command with --force" in err
    assert "stopped by the user" in out
    assert "simulated" in said
    assert set(names(tmp_path / "run")) >= {"run.npz", "run.csv", "report.txt", "settings.json"}
    again = dm.load(tmp_path / "run", dm.systems.pendulum())
    assert 0 < float(again.end.t) < 1e5
    assert len(again.ts) > 1
    assert "second run" in again.report().verdict


def test_a_full_disk_leaves_the_old_run(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("simulate", "pendulum", *SHORT, "--no-pictures", "--out", "run")
    assert cli(*words)[0] == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()}

    def full(descriptor: int) -> None:
        del descriptor
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_records.os, "fsync", full)
    for target in ("run", "new"):
        code, _, err = cli(*words[:-1], target, "--set", "theta=1", "--force")
        assert code == 1
        assert f"cannot write in `{target}`: No space left on device" in err
        assert "MB there" in err
    assert {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()} == before
    assert names(tmp_path) == ["run"]


def test_two_writers_do_not_meet(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "run"
    words = ("simulate", "pendulum", *SHORT, "--no-pictures", "--out", "run")
    with _folders.staged_folder(out, ["run.npz"]) as stage:
        (stage / "run.npz").write_text("the first one's", encoding="utf-8")
        code, _, err = cli(*words, "--force")
        assert code == 1
        assert "another process is writing to `run` at the moment" in err
    assert (out / "run.npz").read_text("utf-8") == "the first one's"
    assert names(out) == ["run.npz"]
    # One that was killed does not block the folder for ever; a stranger's folder is left alone.
    (out / ".writing").mkdir()
    (out / ".writing" / "owner").write_text("999999999 " + os.uname().nodename, encoding="utf-8")
    assert cli(*words, "--force")[0] == 0
    (out / ".writing").mkdir()
    (out / ".writing" / "mine.txt").write_text("mine", encoding="utf-8")
    assert cli(*words, "--force")[0] == 1
    assert (out / ".writing" / "mine.txt").exists()


def test_only_the_runs_own_files_are_replaced(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    words = ("simulate", "pendulum", *SHORT, "--no-pictures", "--out", "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    assert cli(*words)[0] == 0
    assert (tmp_path / "run" / "notes.txt").read_text("utf-8") == "mine"
    (tmp_path / "run" / "energy.png").mkdir()
    code, _, err = cli(*words, "--force")
    assert code == 2
    assert "is a folder where a file would go" in err
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    code, _, err = cli(*words[:-1], "file", "--force")
    assert code == 2
    assert "`file` is a file, not a folder" in err
    assert cli(*words[:-1], "/proc/run")[0] in (1, 2)


def test_no_display_and_no_ffmpeg(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("it started to integrate")

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("diffmech.simulation._simulate.run_in_stretches", refuse)
    code, _, err = cli("animate", "pendulum", "--out", "a.mp4")
    assert code == 2
    assert "ffmpeg, which is not installed" in err
    monkeypatch.undo()
    code = (
        "import sys, os; from diffmech import cli; "
        "sys.argv[1:] = ['plot', 'pendulum', '--kind', 'phase', '--out', sys.argv[1]]; cli.main()"
    )
    hidden = {k: v for k, v in os.environ.items() if k != "DISPLAY"} | {"MPLBACKEND": "TkAgg"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a b.png")],
        env=hidden, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a b.png").exists()


def test_a_picture_that_fails_does_not_take_the_numbers_with_it(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    text = (
        "import jax.numpy as jnp\nimport diffmech as dm\n"
        "def L(q, qd, t, p):\n    return 0.5 * qd @ qd\n"
        "def points(q, t, p):\n    return jnp.stack([jnp.log(0.2 - t), t])[None]\n"
        "m = dm.System(L, ('x',), landmarks=points, starts={'default': ([0.], [1.])})\n"
    )
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    code, _, err = cli("simulate", "mine.py:m", *SHORT, "--out", "run")
    assert code == 0
    assert "trajectory.png was not drawn: `landmarks` of 'mine' must be finite" in err
    assert names(tmp_path / "run") == [n for n in FILES if n != "trajectory.png"]


def test_an_interruption_while_drawing_keeps_the_numbers(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("diffmech.viz._folder.balance", interrupt)
    code, out, _ = cli("simulate", "pendulum", *SHORT, "--out", "run", "--film")
    assert code == 0  # no signal came here; one that comes is told by 130 or 143
    assert "Believable to the end" in out
    assert names(tmp_path / "run") == [n for n in FILES if n != "energy.png"]
