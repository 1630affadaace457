"""`diffmech fit`: words into one call, a report, and sentences for everything that is wrong."""

import dataclasses
import errno
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech._progress import stop_requested

from ..made_fits import made_fit, swing
from .test_cli import Cli, Unread, cli, python, unread  # noqa: F401

MACHINE = """
import diffmech as dm

def lagrangian(q, qd, t, params):
    return 0.5 * params["mass"] * qd[0] ** 2 - 0.5 * params["stiffness"] * q[0] ** 2

def dissipation(q, qd, t, params):
    return 0.5 * params["friction"] * qd[0] ** 2

oscillator = dm.System(
    lagrangian, {"x": "m"}, {"mass": 1.0, "stiffness": 30.0, "friction": 0.1},
    dissipation=dissipation, ranges={"friction": (0.0, 10.0)}, name="oscillator",
    units={"mass": "kg", "stiffness": "N/m", "friction": "N s/m"},
)
"""
FIT = ("fit", "own.py:oscillator", "swing.csv")
PENDULUM = ("fit", "n_link:n=2", "angles.csv", "--record", "piece")


@pytest.fixture
def data(tmp_path: Path) -> None:
    """A machine of the user's own, its swings in millimetres, and angles of a double pendulum."""
    (tmp_path / "own.py").write_text(MACHINE, encoding="utf-8")
    rng, ts = np.random.default_rng(0), np.arange(0, 4, 0.04)
    lines = ["piece,t,x,v"]
    for piece in range(2):
        xs = 1000 * swing(1.0 + piece)(ts) + 10 * rng.normal(size=len(ts))
        lines += [f"{piece},{t:.2f},{x:.3f},0" for t, x in zip(ts, xs, strict=True)]
    (tmp_path / "swing.csv").write_text("\n".join(lines), encoding="utf-8")
    turned = [3.1 - 2 * np.pi * (t >= 25) for t in range(50)]  # theta2 jumps by a turn
    rows = [f"{piece},{t},3.2,{turned[t]},0.5" for piece in range(3) for t in range(50)]
    (tmp_path / "angles.csv").write_text(
        "\n".join(["piece,t,theta1,theta2,omega1", *rows]), encoding="utf-8"
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the library is asked for, which answers with a fit that was made before."""
    found: dict[str, Any] = {"answer": made_fit()}

    def answer(system: Any, records: Any, free: Any, **given: Any) -> dm.Fit:
        found.update(given, system=system, records=records, free=free)
        return found["answer"]

    monkeypatch.setattr("diffmech.identification.fit", answer)
    return found


@pytest.fixture
def no_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to compute anything."""

    def refuse(*args: Any, **named: Any) -> None:
        raise AssertionError("it computed")

    monkeypatch.setattr("diffmech.identification._fit.parameters_from_accelerations", refuse)
    monkeypatch.setattr("diffmech.identification._fit.cut_up", refuse)


def test_the_help_teaches_by_examples_and_loads_nothing_heavy() -> None:
    done = python(
        "import sys; from diffmech.cli import run; code = run(['fit', '--help']); "
        "assert not {'jax', 'numpy', 'matplotlib'} & set(sys.modules); sys.exit(code)"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("diffmech fit") == 3, "the usage and two examples"
    assert "--holdout piece=5" in done.stdout


@pytest.mark.usefixtures("data")
def test_a_machine_of_ones_own_is_fitted_and_reported(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    words = ("--record", "piece", "--unit", "x=mm", "--free", "stiffness,friction")
    more = ("--holdout", "piece=1", "--report", "result", "--out", "fit.npz", "--json")
    code, out, err = cli(*FIT, *words, *more)
    assert code == 0, err
    assert "Note: v of `swing.csv` is not used" in err
    found = json.loads(out)
    for name, truth in (("stiffness", 40.0), ("friction", 0.2)):
        entry = found["free"][name]
        assert abs(entry["value"] - truth) < 4 * entry["error"] < 0.2 * truth, name
    assert found["rms"]["x"] == pytest.approx(0.01, rel=0.2)
    assert found["held"][0]["name"] == "piece 1"
    assert found["converged"]
    report = (tmp_path / "result" / "report.md").read_text("utf-8")
    assert "| stiffness | " in report
    assert "diffmech fit own.py:oscillator swing.csv --free stiffness,friction" in report
    kept = dm.load(tmp_path / "result" / "fit.npz")
    assert kept.summary() == found
    assert (tmp_path / "fit.npz").read_bytes() == (tmp_path / "result/fit.npz").read_bytes()


@pytest.mark.usefixtures("data")
def test_every_option_becomes_an_argument(cli: Cli, asked: dict[str, Any]) -> None:  # noqa: F811
    code, out, err = cli(
        *PENDULUM, "--free", "inertias,centres[1]", "--free", "frictions",
        "--param", "lengths=90mm,70mm", "--offset", "theta1=180deg,theta2=180deg",
        "--noise", "0.5deg", "--guess", "centres[1]=35mm", "--bounds", "inertias=1e-6:",
        "--bounds", "centres[1]=10:60mm", "--prior", "frictions[0]=1e-3+-1e-4",
        "--start", "theta1_dot=0+-10deg/s", "--free-offset", "theta1", "--free-scale", "theta2",
        "--free-delay", "theta1=20ms", "--holdout", "piece=2", "--loss", "huber", "--guesses", "3",
        "--seed", "7", "--unwrap", "theta2", "--bounds", "inertias[0] - inertias[1]=0:",
        "--profile", "inertias[0],frictions[1]",
    )  # fmt: skip
    assert code == 0, err
    assert "Note: omega1 of `angles.csv` is not used" in err
    assert out == f"{asked['answer']}\n"
    assert asked["free"] == ["inertias", "centres[1]", "frictions"]
    np.testing.assert_allclose(asked["system"].params.lengths, [0.09, 0.07])
    assert [record.name for record in asked["records"]] == ["piece 0", "piece 1", "piece 2"]
    assert asked["records"][0].channels == ("theta1", "theta2")
    theta1, theta2 = np.transpose(asked["records"][0].values)
    np.testing.assert_allclose(theta1, 3.2 - np.pi)
    np.testing.assert_allclose(theta2, 3.1 - np.pi, err_msg="its jump by a turn is counted on")
    assert asked["noise"] == pytest.approx(np.radians(0.5))
    assert asked["guess"] == {"centres[1]": pytest.approx(0.035)}
    assert asked["bounds"] == {
        "inertias": (1e-6, None),
        "centres[1]": (pytest.approx(0.01), pytest.approx(0.06)),
        "inertias[0] - inertias[1]": (0.0, None),
    }
    assert asked["priors"] == {"frictions[0]": (1e-3, 1e-4)}
    assert asked["starts"] == {"theta1_dot": (0.0, pytest.approx(np.radians(10)))}
    assert (asked["offsets"], asked["scales"]) == (["theta1"], ["theta2"])
    assert asked["delays"] == {"theta1": pytest.approx(0.02)}
    assert asked["holdout"] == ["piece 2"]
    assert asked["profile"] == ["inertias[0]", "frictions[1]"]
    assert asked["unknown"] == "keep", "the command line says what is not determined, and goes on"
    assert (asked["loss"], asked["guesses"], asked["seed"]) == ("huber", 3, 7)


@pytest.mark.usefixtures("data")
def test_columns_of_other_names_are_chosen_by_channel(cli: Cli, asked: dict[str, Any]) -> None:  # noqa: F811
    code, _, err = cli(
        *PENDULUM, "--free", "inertias", "--channel", "theta1=theta2,theta1_dot=omega1",
        "--noise", "theta1=1deg,theta1_dot=0.1",
    )  # fmt: skip
    assert code == 0, err
    assert err == "", "what was chosen needs no note"
    assert asked["records"][0].channels == ("theta1", "theta1_dot")
    np.testing.assert_allclose(asked["records"][0].values[0], [3.1, 0.5])
    assert asked["noise"] == {"theta1": pytest.approx(np.radians(1)), "theta1_dot": 0.1}


@pytest.mark.usefixtures("data")
def test_a_fit_that_has_not_converged_ends_with_one_and_is_kept(
    cli: Cli,  # noqa: F811
    asked: dict[str, Any],
    tmp_path: Path,
) -> None:
    asked["answer"] = made_fit(converged=False)
    code, out, err = cli(*FIT, "--record", "piece", "--free", "stiffness", "--report", "result")
    assert code == 1
    assert "it has not converged" in out
    assert "Error: the fit has not converged" in err
    assert "is what was taken as known right (mass = 1.)? --param" in err, err
    assert not dm.load(tmp_path / "result" / "fit.npz").converged
    code, _, err = cli(*FIT, "--record", "piece", "--free", "stiffness", "--report", "result")
    assert code == 2
    assert "choose another folder, or pass --force" in err


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_fit_is_kept_and_told_by_the_exit_code(
    cli: Cli,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    number: signal.Signals,
    code: int,
) -> None:
    best = made_fit(converged=False)
    best = dataclasses.replace(best, settings={**best.settings, "interrupted": True})

    def fit(*args: Any, **given: Any) -> dm.Fit:
        del args, given
        os.kill(os.getpid(), number)
        assert stop_requested(), "what runs is asked to end well"
        return best

    monkeypatch.setattr("diffmech.identification.fit", fit)
    words = ("--record", "piece", "--free", "stiffness", "--report", "result", "--out", "fit.npz")
    done, out, err = cli(*FIT, *words)
    assert done == code
    assert "it was broken off: the numbers are the best so far" in out
    assert "has not converged" not in out + err
    assert dm.load(tmp_path / "fit.npz").summary() == best.summary()
    assert (tmp_path / "result" / "report.md").exists()

    def nothing_yet(*args: Any, **given: Any) -> dm.Fit:
        del args, given
        os.kill(os.getpid(), number)
        raise KeyboardInterrupt

    monkeypatch.setattr("diffmech.identification.fit", nothing_yet)
    more = ("--record", "piece", "--free", "stiffness", "--report", "other", "--out", "other.npz")
    done, out, err = cli(*FIT, *more)
    assert (done, out) == (code, "")
    assert err.endswith("Stopped.\n")
    assert not list(tmp_path.glob("*other*")), "nothing is half-written"


@pytest.mark.usefixtures("data", "asked")
def test_a_full_disk_is_named_and_the_old_fit_stays(
    cli: Cli,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def full(*args: Any) -> None:
        del args
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    old = made_fit(seed=3).save(tmp_path / "fit.npz").read_bytes()
    there = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr("diffmech._records.os.fsync", full)
    words = (*FIT, "--record", "piece", "--free", "stiffness")
    for more, sentence in (
        (("--out", "fit.npz", "--force"), "cannot write `fit.npz`: No space left on device; it"),
        (("--report", "result"), "cannot write in `result`: No space left on device; this fit"),
    ):
        code, out, err = cli(*words, *more)
        assert (code, out) == (1, "")
        assert sentence in err
    assert (tmp_path / "fit.npz").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == there


@pytest.mark.usefixtures("data", "asked")
@pytest.mark.parametrize("more", [("--json",), ()], ids=["json", "words"])
def test_a_reader_who_leaves_a_fit_gets_no_complaint(
    unread: Unread,  # noqa: F811
    tmp_path: Path,
    more: tuple[str, ...],
) -> None:
    words = (*FIT, "--record", "piece", "--free", "stiffness", "--out", "fit.npz")
    code, err = unread(*words, *more)
    assert code == 0
    assert err.splitlines() == [err.strip()], "the note on columns, and nothing else"
    assert err.startswith("Note: v of `swing.csv` is not used")
    assert dm.load(tmp_path / "fit.npz").converged


WRONG = [
    ([], "say what is to be found, --free length"),
    (["--free", "inertia"], "Did you mean 'inertias'?"),
    (["--free", "inertias", "--holdout", "piece=9"], "Valid names: piece=0, piece=1, piece=2"),
    (["--free", "inertias", "--holdout", "piece=0,piece=1,piece=2"], "--holdout must leave"),
    (["--free", "inertias", "--channel", "phi=theta1"], "there is no coordinate or rate 'phi'"),
    (["--free", "inertias", "--channel", "theta1=angle"], "--channel must name a column"),
    (["--free", "inertias", "--time", "seconds"], "--time must name a column"),
    (["--free", "inertias", "--record", "swing"], "--record must name a column"),
    (["--free", "inertias", "--offset", "theta1"], "--offset must look like theta1=180deg"),
    (["--free", "inertias", "--offset", "theta1=2kg"], "is a mass"),
    (["--free", "inertias", "--unit", "theta1=parsec"], "--unit must be one of"),
    (["--free", "inertias", "--unit", "theta3=deg"], "there is no channel 'theta3'"),
    (["--free", "inertias", "--noise", "0"], "--noise must be greater than zero"),
    (["--free", "inertias", "--guess", "masses[0]=2"], "--guess names 'masses[0]', which is not"),
    (["--free", "inertias", "--guess", "mases=2"], "Did you mean 'masses'?"),
    (["--free", "inertias", "--guess", "inertias=-1"], "give --guess or other --bounds"),
    (["--free", "inertias", "--bounds", "inertias=5"], "--bounds inertias must look like 0.1:2"),
    (["--free", "inertias", "--bounds", "inertias=2:1"], "--bounds inertias must go up"),
    (["--free", "inertias", "--prior", "inertias[0]=1"], "such as 0.5+-0.01, but is '1'"),
    (["--free", "inertias", "--prior", "inertias[0]=1+-0"], "a standard deviation above zero"),
    (["--free", "inertias", "--prior", "masses[0]=1+-1"], "--prior names 'masses[0]'"),
    (["--free", "inertias", "--start", "theta3=1+-1"], "there is no coordinate or rate 'theta3'"),
    (["--free", "inertias", "--free-offset", "theta3"], "there is no channel 'theta3'"),
    (["--free", "inertias", "--free-delay", "theta1=0"], "--free-delay theta1 must be above zero"),
    (["--free", "inertias", "--loss", "cubes"], "there is no loss 'cubes'"),
    (["--free", "inertias", "--guesses", "0"], "--guesses must be"),
    (["--free", "inertias", "--seed", "-1"], "--seed must be"),
    (["--free", "masses,inertias,centres", "--unknown", "refuse"], "--unknown keep"),
    (["--free", "inertias", "--unknown", "drop"], "Valid names: keep, refuse"),
    (["--free", "inertias", "--offset", "theta1=1,theta1=2"], "--offset theta1 must be given once"),
    (["--free", "inertias", "--out", "fit.csv"], "--out must end in .npz"),
    (["--free", "inertias", "--report", "a/b"], "does not exist; create it first"),
]


@pytest.mark.usefixtures("data", "no_motion")
@pytest.mark.parametrize(("words", "sentence"), WRONG, ids=[" ".join(w) or "-" for w, _ in WRONG])
def test_a_wrong_request_gets_one_sentence_before_anything_is_computed(
    words: list[str],
    sentence: str,
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    before = sorted(tmp_path.iterdir())
    code, out, err = cli(*PENDULUM, *words)
    said = [line for line in err.splitlines() if not line.startswith("Note:")]
    assert (code, out, len(said)) == (2, "", 1), err
    assert sentence in said[0]
    assert "`" not in said[0].replace("`angles.csv`", "").replace("`fit.csv`", "") or "/" in said[0]
    assert sorted(tmp_path.iterdir()) == before, "nothing is left behind"


@pytest.mark.usefixtures("data", "no_motion")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("t,theta1\n0,1\n1,one\n", "line 3, column 'theta1'"),
        ("t,theta1\n0,1\n0,2\n", "line 3, column 't', must be later"),
        ("t,theta1\n0,1\n1,2\n0,1\n1,2\n", "--record COLUMN"),
        ("t,angle\n0,1\n1,2\n", "--channel theta1=COLUMN"),
        ("t,theta1,theta2\n0,1,1\n1,2,2\n", "at least as many data as unknowns"),
        ("", "empty"),
    ],
)
def test_wrong_data_are_named_by_line_and_column(
    text: str,
    sentence: str,
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    code, _, err = cli("fit", "n_link:n=2", "bad.csv", "--free", "inertias")
    assert code == 2
    assert sentence in err
    code, _, err = cli("fit", "n_link:n=2", "nothing.csv", "--free", "inertias")
    assert code == 2
    assert "there is no such file" in err
