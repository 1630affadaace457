"""`diffmech doctor`: machines and installations examined from the command line."""

import json

import numpy as np
import pytest

from diffmech.cli import run

from ..tuning.test_tuning import Canary, canary as canary, fresh as fresh, starts as starts


def test_the_command_line_examines_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "pendulum_dae"]) == 0
    assert "1 degree of freedom" in capsys.readouterr().out
    assert run(["doctor", "pendulum_dae", "--set", "x=0.9", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["consistent"]["place"] is False
    short = ["--duration", "0.1", "--samples", "3"]
    assert run(["simulate", "pendulum_dae", "--set", "x=0.6", *short]) == 2
    assert "breaks its constraints" in capsys.readouterr().err
    assert run(["simulate", "pendulum_dae", "--set", "x=0.6", "--assemble", "--json", *short]) == 0
    said = capsys.readouterr()
    assert "changed y by" in said.err
    final = json.loads(said.out)["final"]["q"]
    assert np.hypot(final["x"], final["y"]) == pytest.approx(1.0, abs=1e-12)
    assert run(["doctor", "--set", "x=0.9"]) == 2
    assert "need a SYSTEM" in capsys.readouterr().err


def test_the_doctor_shows_what_is_active_and_its_gain(
    canary: Canary, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("tuning"))
    assert "active, 3.0 times as fast as without; with whole-loop kernels, multi" in line
    assert "not active" not in line


def test_the_doctor_shows_what_failed(canary: Canary, capsys: pytest.CaptureFixture[str]) -> None:
    canary("if fused: os.abort()")
    assert run(["doctor", "--json"]) == 0
    text = json.loads(capsys.readouterr().out)["tuning"]
    assert text.startswith("not active, 3.0 times as fast as without; left out multi-output fusion")
    assert "because the trial ended by SIGABRT; kept whole-loop kernels" in text


def test_the_doctor_says_when_nothing_is_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tuning"].startswith("not active; `tune_cpu()`")
