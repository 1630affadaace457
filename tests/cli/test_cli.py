"""The command line: words understood, mistakes answered in a sentence, nothing heavy loaded."""

import contextlib
import errno
import functools
import inspect
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech import _records
from diffmech.cli import run
from diffmech.cli._machines import machine as machine_of
from diffmech.cli._quantities import number
from diffmech.cli._systems import family
from diffmech.systems import CATALOGUE

from ..damaged_files import DAMAGES

MAP = "diffmech.maps.stability_map"
SHORT = ("--duration", "0.5", "--samples", "11")


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command line in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return call


Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run a command line whose output nobody reads, as in `| true`: exit code, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str]:
        reading, writing = os.pipe()
        os.close(reading)
        pipe = os.fdopen(writing, "w")
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", pipe)
            patched.setattr(sys, "stderr", sys.stderr)  # Click wraps both
            code = run(words)
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
        said = capfd.readouterr()
        assert said.out == ""
        return code, said.err

    return call


Unread = Callable[..., tuple[int, str]]


def python(code: str, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True, text=True, timeout=1800, check=False, **options,
    )  # fmt: skip


@pytest.mark.parametrize("words", [["--help"], ["systems"], ["simulate", "--help"], ["--version"]])
def test_help_and_the_list_of_machines_load_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys; from diffmech.cli import run; code = run(sys.argv[1:]); "
        "heavy = {'jax', 'numpy', 'matplotlib', 'diffrax'} & set(sys.modules); "
        "assert not heavy, heavy; sys.exit(code)"
    )
    done = python(code, *words)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) > 10


def test_bare_command_and_every_help_teach(cli: Cli) -> None:
    code, out, _ = cli()
    assert code == 0
    for command in ("systems", "simulate", "animate", "plot", "report", "demo", "doctor"):
        assert command in out
        code, text, _ = cli(command, "--help")
        assert code == 0
        assert "Usage: diffmech " + command in text


def test_systems_are_listed_and_described(cli: Cli) -> None:
    code, out, _ = cli("systems")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(CATALOGUE)
    code, out, _ = cli("systems", "-v")
    assert code == 0
    assert "qA [rad], qB [rad]" in out
    assert "as in n_link:n=3" in out
    code, out, _ = cli("systems", "n_link:n=2", "--json")
    assert json.loads(out)["n_link:n=2"]["params"]["masses"] == [1.0, 1.0]


def test_what_is_printed_of_families_is_what_the_command_line_takes(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line of arguments, and the example after it, give the defaults again."""
    assert family("five_bar") == (
        "  arguments    lengths=[1.0,1.5,1.5,1.0], ground=1.5, density=1.0, gravity=9.81; as in "
        "five_bar:lengths=[1.0,1.5,1.5,1.0]"
    )
    several = 0
    for name in CATALOGUE:
        every, _, example = family(name).removeprefix("  arguments    ").partition("; as in ")
        factory = getattr(dm.systems, name)
        given: dict[str, Any] = {}
        noted = functools.wraps(factory)(functools.partial(dict.update, given))
        monkeypatch.setattr(dm.systems, name, noted)
        defaults = {
            key: np.asarray(argument.default)
            for key, argument in inspect.signature(factory).parameters.items()
            if argument.default is not None
        }
        for words in (f"{name}:{every}", example) if example else ():
            machine_of(words)
            assert given.keys() <= defaults.keys()
            for key, value in given.items():
                np.testing.assert_array_equal(value, defaults[key], err_msg=f"{name} {key}")
            several += any(isinstance(value, list) for value in given.values())
        assert given.keys() == defaults.keys(), name
    assert several >= 5
    for rows in ("[[1,0,0],[0,1]]", "[[1,0,0],0]"):
        code, _, err = cli("systems", f"double_pendulum_3d:axes={rows}")
        assert (code, err) == (2, f"Error: `axes` must have rows of one length, but is '{rows}'.\n")
    code, _, err = cli("systems", f"double_pendulum_3d:axes={'[' * 5000}")
    assert code == 2
    assert "`axes` must be a number" in err


def test_json_holds_what_the_api_computes(cli: Cli) -> None:
    code, out, _ = cli(
        "simulate", "babyboot", "--start", "regular", "--set", "qA=30deg", "--set", "qB_dot=-0.5",
        "--param", "mB=0.2", "--duration", "1", "--rtol", "1e-10", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    boot = dm.systems.babyboot().with_params(mB=0.2)
    q0 = {"qA": np.deg2rad(30), "qB": float(boot.starts["regular"][0][1])}
    ours = dm.simulate(boot, q0, {"qA": 0, "qB": -0.5}, duration=1.0, rtol=1e-10)
    assert list(found)[:6] == [
        "system", "coordinates", "t", "final", "energy_imbalance", "report",
    ]  # fmt: skip
    assert found["system"] == "babyboot"
    assert found["coordinates"] == {"qA": "rad", "qB": "rad"}
    assert found["t"] == 1.0
    assert list(found["final"]["q"].values()) == ours.end.q.tolist()
    assert list(found["final"]["qd"].values()) == ours.end.qd.tolist()
    assert found["energy_imbalance"] == ours.report().imbalance
    assert found["report"]["verdict"] == ours.report().verdict


def test_families_lists_and_entries_of_parameters(cli: Cli) -> None:
    code, out, _ = cli(
        "simulate", "n_link:n=2,masses=[1,2]", "--param", "lengths=1,0.5", "--param",
        "frictions[1]=0.3", "--method", "Midpoint", "--dt", "0.01", *SHORT, "--json",
    )  # fmt: skip
    assert code == 0
    chain = dm.systems.n_link(n=2, masses=[1, 2]).with_params(
        {"lengths": [1, 0.5], "frictions[1]": 0.3}
    )
    ours = dm.simulate(
        chain, *chain.starts["default"], duration=0.5, samples=11, method="Midpoint", dt=0.01
    )
    assert list(json.loads(out)["final"]["q"].values()) == ours.end.q.tolist()


def test_parameters_are_printed_in_a_row(cli: Cli) -> None:
    _, out, _ = cli("systems", "rolling_disc")
    assert "disc.mass [kg] = 1, disc.inertia [kg m^2] = [0.0225, 0.0225, 0.045], radius" in out
    _, out, _ = cli("systems", "n_link:n=12")
    assert "masses [kg] = [1, 1, 1, ..., 1, 1, 1], inertias" in out


def test_families_take_words(cli: Cli) -> None:
    code, out, _ = cli("systems", "free_body:route=euler")
    assert code == 0
    assert "free_body:route=euler" in out
    assert "R33" in out


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5), ("-1e-3", -1e-3), (".5", 0.5), ("90deg", np.pi / 2), ("-90 deg", -np.pi / 2),
        ("pi", np.pi), ("-pi/3", -np.pi / 3), ("2pi", 2 * np.pi), ("2*pi/3", 2 * np.pi / 3),
        ("0.5turn", np.pi), ("1rad", 1.0), ("45°", np.pi / 4),
    ],
)  # fmt: skip
def test_numbers_are_read_with_their_units(text: str, value: float) -> None:
    assert number(text, "x") == pytest.approx(value, rel=1e-15)


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "wire": (("simulate", "bead_on_wire:wire=square"), "there is no wire 'square'"),
    "command": (("simulte",), "there is no command 'simulte'. Did you mean 'simulate'?"),
    "system": (("simulate", "babybot"), "there is no system 'babybot'. Did you mean 'babyboot'?"),
    "option": (("simulate", "babyboot", "--duratoin", "3"), "--duration"),
    "method": (("simulate", "pendulum", "--method", "Dopri9"), "Did you mean 'Dopri8'?"),
    "parameter": (("simulate", "pendulum", "--param", "lenght=1"), "Did you mean 'length'?"),
    "coordinate": (("simulate", "pendulum", "--set", "tehta=1"), "Did you mean 'theta'?"),
    "start": (("simulate", "babyboot", "--start", "chaotc"), "Did you mean 'chaotic'?"),
    "argument": (("simulate", "n_link:masse=5"), "Did you mean 'masses'?"),
    "kind": (("plot", "pendulum", "--kind", "energi"), "Did you mean 'energy'?"),
    "no argument": (("simulate",), "Missing argument 'SYSTEM'"),
    "assignment": (("simulate", "pendulum", "--set", "theta"), "must look like qA=90deg"),
    "number": (("simulate", "pendulum", "--set", "theta=90grad"), "must be a number such as"),
    "product": (("simulate", "pendulum", "--set", "theta=2*"), "must be a number such as"),
    "zero": (("simulate", "pendulum", "--set", "theta=pi/0"), "divides by zero"),
    "nan": (("simulate", "pendulum", "--set", "theta=nan"), "must be finite, but is nan"),
    "duration": (("simulate", "pendulum", "--duration", "-1"), "must be greater than zero"),
    "degrees": (("simulate", "pendulum", "--duration", "9deg"), "is in s, but '9deg' is an angle"),
    "rate": (("simulate", "pendulum", "--set", "theta=1deg/s"), "is not a rate"),
    "tolerance": (("simulate", "pendulum", "--rtol", "1e-20"), "must be at least 1e-14"),
    "step": (("simulate", "pendulum", "--dt", "1e-300"), "a step is lost in rounding"),
    "both": (("simulate", "pendulum", "--dt", "0.1", "--rtol", "1e-3"), "do not apply"),
    "twice": (("simulate", "n_link:n=2,n=3"), "is given twice"),
    "set twice": (
        ("simulate", "pendulum", "--set", "theta=1", "--set", "theta = 2"),
        "--set theta must be given once, but is given as '1' and as '2'",
    ),
    "param twice": (
        ("doctor", "four_bar", "--param", "gravity=1", "--param", "gravity=2"),
        "--param gravity must be given once",
    ),
    "criterion twice": (
        ("map", "pendulum", "--axis", "theta=0:1:3", "--criterion", "ftle:calm=1,calm=2"),
        "--criterion calm must be given once",
    ),
    "long name": (("simulate", "pendulum", "--out", "a" * 300), "must be a shorter name"),
    "long folder": (("plot", "pendulum", "--out", f"{'a' * 300}/b.png"), "must be a shorter name"),
    "long csv": (
        ("map", "pendulum", "--axis", "theta=0:1:3", "--criterion", "ftle", "--csv", "a" * 250),
        "it has 250 bytes",
    ),
    "long run": (("report", f"{'a' * 300}.npz"), "there is no file `aaa"),
    "unconstrained": (
        ("doctor", "pendulum"),
        "`diffmech doctor SYSTEM` examines constraints, but 'pendulum' has none.",
    ),
    "no family": (("simulate", "babyboot:n=5"), "babyboot takes no arguments"),
    "count": (("simulate", "n_link:n=0"), "must be a whole number, at least 1"),
    "film": (("simulate", "pendulum", "--film"), "--film needs --out"),
    "against": (("plot", "pendulum", "--kind", "overlay"), "--against RUN"),
    "names": (("plot", "pendulum", "--kind", "paths", "--names", "theta"), "--names goes with"),
    "no names": (("plot", "pendulum", "--names", ""), "--names must be names such as qA,qB"),
    "no name": (("plot", "pendulum", "--names", "theta,"), "but is 'theta,'"),
    "assembled": (
        ("simulate", "pendulum_dae", "--assemble", "--duration", "3deg"),
        "is in s, but '3deg' is an angle",
    ),
    "backwards": (
        ("simulate", "pendulum_dae", "--assemble", "--set", "x=1.5", "--duration", "-1"),
        "--duration must be greater than zero, but is -1",
    ),
    "picture": (("plot", "pendulum", "--out", "a.bmp"), "must end in .png, .pdf or .svg"),
    "suffix": (("animate", "pendulum", "--out", "a.avi"), "must end in .gif or .mp4"),
    "speed": (("animate", "pendulum", "--speed", "0"), "must be greater than zero"),
    "dash": (("simulate", "pendulum", "--out", "--film"), "must be a path, but is '--film'"),
    "folder": (("simulate", "pendulum", "--out", "a/b/c"), "does not exist; create it first"),
    "run": (("report", "nothing"), "there is no run `nothing`"),
    "npz": (("report", "nothing.npz"), "there is no file `nothing.npz`"),
    "empty": (("plot", ""), "there is no system ''"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_words_get_one_sentence_and_exit_2(
    case: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("it started to integrate")

    monkeypatch.setattr("diffmech.simulation._simulate.run_in_stretches", refuse)
    words, sentence = WRONG[case]
    code, out, err = cli(*words)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_advises_the_command_line_in_json_too(cli: Cli) -> None:
    code, out, _ = cli("doctor", "pendulum_dae", "--set", "x=1.5", "--json")
    assert code == 1
    remedy = json.loads(out)["text"][-1]
    assert remedy.startswith("remedy: `diffmech simulate SYSTEM --assemble` starts from")


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        ("edges babyboot --family qA --plot e.png", "diffmech.orbits.band_edges"),
        ("fit pendulum swing.csv --free length --out f.npz", "diffmech.identification.fit"),
        ("map pendulum --axis theta=0:1:3 --criterion ftle --csv m.csv", MAP),
        ("map pendulum --axis theta=0:1:3 --criterion ftle --plot m.png", MAP),
        ("plot pendulum --out p.png", "diffmech.simulation.simulate"),
        ("animate pendulum --out p.gif", "diffmech.simulation.simulate"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(
    words: str, verb: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(_records.tempfile, "mkstemp", refuse)
    monkeypatch.setattr(verb, lambda *_, **__: pytest.fail("was computed"))
    code, out, said = cli(*words.split())
    assert (code, out) == (1, "")
    assert said == "Error: cannot write in `.`: Permission denied.\n"


@pytest.mark.parametrize(
    "words",
    [
        "simulate pendulum --out closed/x",
        "map pendulum --axis theta=0:1:3 --criterion ftle --out closed/x --resume",
        "fit pendulum d.csv --free length --report closed/x",
        "fit pendulum closed/x --free length",
        "report closed/x",
        "plot closed/x --out p.png",
        "simulate closed/x.py:boot",
    ],
)
def test_what_may_not_be_looked_at_is_not_said_to_be_missing(
    words: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.stat

    def refuse(path: Any, *more: Any, **others: Any) -> Any:
        if str(path).endswith(("closed/x", "closed/x.py", "closed/x.npz")):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path, *more, **others)

    monkeypatch.setattr(os, "stat", refuse)
    Path("closed").mkdir()
    code, out, said = cli(*words.replace("--criterion", "--duration 1 --criterion").split())
    assert (code, out) == (1, "")
    path = next(word for word in words.split() if "closed" in word).partition(":")[0]
    assert said.startswith(f"Error: `{path}` cannot be looked at: permission to enter the folder ")


def test_a_cache_that_may_not_be_cleared_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", "home/programs")

    monkeypatch.setattr("diffmech.tuning._cache._root", lambda: Path())
    monkeypatch.setattr("diffmech.tuning._cache.shrink", refuse)
    monkeypatch.setattr("diffmech.tuning._cache._state.store", None)
    code, out, said = cli("doctor", "--clear-cache")
    assert (code, out) == (1, "")
    assert said == (
        "Error: the programs in `.` cannot be deleted: permission to read and write "
        "`home/programs` is needed.\n"
    )


def test_a_missing_package_is_named_as_it_is_installed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*words: Any) -> None:
        raise ModuleNotFoundError("No module named 'PIL.Image'", name="PIL.Image")

    monkeypatch.setattr("diffmech.cli._simulate.system_with", missing)
    code, _, err = cli("simulate", "pendulum")
    assert code == 1
    assert "the package 'pillow' is not installed: `pip install pillow`" in err


def test_debug_shows_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "babybot", "--debug"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert said.splitlines()[-1].startswith("Error: there is no system 'babybot'")


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_runs_are_refused(damage: str, cli: Cli, tmp_path: Path) -> None:
    pendulum = dm.systems.pendulum()
    saved = dm.simulate(pendulum, [1.0], duration=0.5, samples=11).save(tmp_path / "run.npz")
    spoil, reason = DAMAGES[damage]
    spoil(saved)
    for words in (("report", "run.npz"), ("plot", "run.npz", "--out", "a.png")):
        code, out, err = cli(*words)
        assert code == 2
        assert out == ""
        assert reason in err
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


VOCABULARY = [
    "systems", "simulate", "animate", "plot", "report", "demo?", "doctor?", "simulate", "plot",
    "pendulum", "pendulum", "babybot", "n_link:n=1", "n_link:n=x", "n_link:", ":", ".py:", "a.py:b",
    "--set", "--set", "theta=1", "theta=90deg", "theta_dot=pi", "=", "theta=", "x=1", "--param",
    "mass=2", "mass=-0", "length=1,2", "gravity=nan", "--duration", "0.2", "-1", "1e400", "", "nan",
    "--samples", "5", "1", "abc", "--method", "Tsit5", "Euler", "--rtol", "1e-6", "--dt", "0.01",
    "--out", "made", "a/b", "--json", "--start", "default", "horizontal", "--kind", "phase",
    "stroboscope", "--names", "theta", "--force", "--no-pictures", "--film", "--", "-", "-v", "-x",
    "--help", "--version", "\N{SNOWMAN}", "a b", "'", "$HOME", "%s", "{}", "\n", "--speed", "0",
    "--no-clock", "--max-steps", "3", "made/run.npz", "--against", "made", "--system", "--progress",
]  # fmt: skip


def test_random_command_lines_never_end_in_a_trace(cli: Cli, tmp_path: Path) -> None:
    rng = random.Random(20)
    codes = []
    for _ in range(200):
        words = [rng.choice(VOCABULARY) for _ in range(rng.randint(1, 7))]
        if rng.random() < 0.6:  # let some get further than the first word
            words = [rng.choice(["simulate", "plot", "report"]), "pendulum", *words]
        code, out, err = cli(*words)
        assert code in (0, 1, 2), words
        assert "should not happen" not in err, words
        assert "Error" in err or code == 0, words
        if code == 0 and "--json" in words and "simulate" in words and "--help" not in words:
            json.loads(out)
        codes.append(code)
    assert set(codes) >= {0, 2}
    assert codes.count(0) >= 5, "some of them are right"


@pytest.mark.parametrize("more", [("--json",), ("--out", "run", "--no-pictures")])
def test_a_reader_who_leaves_a_run_gets_no_complaint(
    unread: Unread, tmp_path: Path, more: tuple[str, ...]
) -> None:
    code, err = unread("simulate", "pendulum", *SHORT, *more)
    assert code == 0
    assert "Error" not in err
    if "--out" in more:
        assert len(dm.load(tmp_path / "run").ts) == 11, "the run is kept"
    else:
        assert err == ""


def test_closed_pipes_odd_encodings_and_no_terminal_leave_no_trace(tmp_path: Path) -> None:
    command = f"{sys.executable} -m diffmech systems"
    for words in (f"{command} | true", f"{command} | head -1", f"{command} >&-", f"{command} <&-"):
        done = subprocess.run(
            ["/bin/sh", "-c", words], capture_output=True, text=True, timeout=1800, check=False
        )
        assert done.stderr == "", words
    odd = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PATH": ""}
    code = (
        "import sys; from diffmech.cli import main; sys.argv[1:] = ['report', sys.argv[1]]; main()"
    )
    folder = tmp_path / "a run é"
    dm.viz.save_folder(
        dm.simulate(dm.systems.pendulum(), [1.0], duration=0.5, samples=11), folder, pictures=False
    )
    done = python(code, str(folder), env=odd)
    assert done.returncode == 0, done.stderr
    assert "theta = " in done.stdout
    assert done.stderr == ""
