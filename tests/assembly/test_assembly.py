"""Assembling, examining and comparing: `assemble`, `doctor`, `tournament` and what they say."""

import json
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.optimize import minimize

import diffmech as dm
from diffmech.cli import run

from ..simulation.test_constraints import pendulum_of_two_lengths


@pytest.fixture(scope="module")
def linkage() -> dm.System:
    return dm.systems.four_bar()


GUESS = np.array([1.0, 0.2, -1.4])


def test_the_assembled_place_is_the_nearest_in_the_metric_of_the_masses(linkage: dm.System) -> None:
    found = dm.assemble(linkage, GUESS, [1.0, 0.0, 0.0])
    assert np.max(np.abs(found.violations.place)) < 1e-14
    assert np.max(np.abs(found.violations.rate)) < 1e-14
    q, qd = found
    mass = np.asarray(dm.mass_matrix(linkage, GUESS))
    best = minimize(
        lambda x: (x - GUESS) @ mass @ (x - GUESS),
        GUESS,
        constraints={"type": "eq", "fun": lambda x: np.asarray(dm.violations(linkage, x).place)},
        options={"ftol": 1e-14, "maxiter": 200},
    )
    np.testing.assert_allclose(q, best.x, atol=1e-6)  # SLSQP's own accuracy
    mass = np.asarray(dm.mass_matrix(linkage, q))
    # The change of the rates is perpendicular, in that metric, to every admissible motion.
    admissible = np.asarray(qd) / np.linalg.norm(qd)
    assert abs(admissible @ mass @ (qd - np.array([1.0, 0, 0]))) < 1e-12
    assert "changed" in str(found)


def test_fixed_coordinates_stay_and_branches_are_counted(linkage: dm.System) -> None:
    first, second = (
        dm.assemble(linkage, GUESS, [2.0, 0, 0], fixed=["theta1"], branch=i) for i in (0, 1)
    )
    for found in (first, second):
        assert found.q[0] == GUESS[0]
        assert found.qd[0] == 2.0
        assert np.max(np.abs(found.violations.place)) < 1e-13
    assert np.max(np.abs(first.q - second.q)) > 0.5
    with pytest.raises(ValueError, match="2 ways to close"):
        dm.assemble(linkage, GUESS, fixed=["theta1"], branch=2)
    with pytest.raises(ValueError, match="leave 'four_bar' no freedom"):
        dm.assemble(linkage, GUESS, branch=1)
    with pytest.raises(ValueError, match="which is not a coordinate"):
        dm.assemble(linkage, GUESS, fixed=["theta"])


def test_a_linkage_that_cannot_close_says_by_how_much() -> None:
    short = dm.systems.four_bar().with_params({"ground": 7.0})  # 0.5 m more than all links
    with pytest.raises(ValueError, match=r"cannot close.*closure\[0\] by -0\.5"):
        dm.assemble(short, [0.1, 0.0, -0.1])


def test_the_doctor_tells_redundant_from_conflicting_rows() -> None:
    twice, conflicting = pendulum_of_two_lengths(2), pendulum_of_two_lengths(2, offset=0.1)
    good = dm.doctor(twice, [0.6, -0.8], [0.8, 0.6])
    assert (good.freedoms, good.rank) == (1, 1)
    assert good.dependent == (("rod1", "rod2"),)
    assert not good.conflicts
    assert "1 redundant: rod1 and rod2" in str(good)
    assert "not unique" in str(good)
    bad = dm.doctor(conflicting, [0.6, -0.8], [0.8, 0.6])
    ((names, size),) = bad.conflicts
    assert names == ("rod1", "rod2")
    assert size > 1e-3
    assert "contradict" in str(bad)
    with pytest.raises(ValueError, match="cannot close"):
        dm.assemble(conflicting, [0.6, -0.8])


def test_the_doctor_finds_change_points_here_and_nearby() -> None:
    system = dm.systems.four_bar("parallelogram")
    here = dm.doctor(system, [0.0, 0.0, np.pi], [1.0, 0.0, 1.0])
    assert here.change_point
    assert "a change point" in str(here)
    away = dm.doctor(system, [1.0, 0.0, 1.0 - np.pi], [1.0, 0.0, 1.0])
    assert away.freedoms == 1
    assert not away.dependent
    assert away.singular is not None
    # All links in line, half a turn of the crank to and fro: 1 rad away.
    assert away.singular_distance == pytest.approx(1.0, abs=1e-2)
    assert abs(np.sin(away.singular[0])) < 1e-3


def test_the_doctor_finds_inconsistent_rates_and_assembling_mends_them(linkage: dm.System) -> None:
    """At a place that is consistent, with rates that are not and those nearest to them."""
    place, broken = linkage.starts["default"][0], np.array([1.0, 0.3, -0.2])
    found = dm.doctor(linkage, np.round(place, 7), broken)  # as printed
    assert found.consistent == (True, False)
    text = str(found)
    assert "rates" in text
    assert "inconsistent" in text
    assert "assemble" in text
    mended = dm.assemble(linkage, place, broken)
    np.testing.assert_allclose(mended.q, place, rtol=0, atol=1e-12)
    # min (v − v₀)ᵀ M (v − v₀) with J v = 0, J of the closure Σ l e(θ) = ground.
    rows = np.asarray(linkage.params.lengths) * np.stack([-np.sin(place), np.cos(place)])
    push = np.linalg.solve(np.asarray(dm.mass_matrix(linkage, place)), rows.T)
    nearest = broken - push @ np.linalg.solve(rows @ push, rows @ broken)
    np.testing.assert_allclose(mended.qd, nearest, atol=1e-12)


def test_nonholonomic_freedoms_are_counted_twice() -> None:
    """A rolling disc of five coordinates whose kinetic energy is as short as it can be."""

    def rolling(q: Any, t: Any, params: Any) -> Any:
        """ẋ = spin cos(heading), ẏ = spin sin(heading)."""
        along = jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])])
        return jnp.concatenate([jnp.eye(2), jnp.zeros((2, 2)), -along[:, None]], axis=1)

    disc = dm.System(
        lambda q, qd, t, params: 0.5 * qd @ qd,
        ("x", "y", "heading", "lean", "spin"),
        constraints=dm.Pfaffian(rolling, name="rolling"),
    )
    found = dm.doctor(disc, [0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 0.0, 1.0, 0.5, 0.0])
    assert (found.freedoms, found.place_freedoms) == (3, 5)


def test_a_tournament_ranks_the_ways_and_draws_them() -> None:
    system = dm.systems.pendulum_dae()
    record = dm.tournament(
        system, *system.starts["default"], duration=2.0, samples=41,
        ways=["projection", "nullspace", dm.solvers.baumgarte(10, 0.8), "penalty", "none"],
    )  # fmt: skip
    assert record["projection"].residual < 1e-14
    assert record["nullspace"].residual < 1e-14
    assert 1e-14 < record["baumgarte"].residual < record["none"].residual
    assert record["penalty"].residual > 1e-9
    assert all(entry.error < 1e-4 for entry in record.entries)
    assert "projection" in str(record).splitlines()[1]
    figure = dm.viz.tournament(record)
    assert len(figure.axes) == 3
    assert all(ax.get_ylabel() for ax in figure.axes)
    plt.close(figure)
    with pytest.raises(KeyError, match="magic"):
        record["magic"]


def test_a_stiff_penalty_runs_with_an_implicit_method() -> None:
    system = dm.systems.pendulum_dae()
    run = dm.simulate(
        system, *system.starts["default"], duration=0.5, samples=11, rtol=1e-7,
        stabilise=dm.solvers.penalty(inertial=False),
    )  # fmt: skip
    exact = dm.simulate(system, *system.starts["default"], duration=0.5, samples=11)
    assert run.settings.method == "Kvaerno5"
    # The rod gives way by force / (α ω²), at most 20 N / 1e5 N/m here.
    assert 1e-6 < float(np.max(np.abs(run.residuals))) < 3e-4
    np.testing.assert_allclose(run.qs, exact.qs, atol=1e-3)


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


def test_missing_constraints_are_said() -> None:
    pendulum = dm.systems.pendulum()
    for call in (dm.assemble, dm.doctor, dm.violations):
        with pytest.raises(ValueError, match="need constraints, but 'pendulum' has none"):
            call(pendulum, [1.0], [0.0])
    assert jnp.zeros(0).size == dm.simulate(pendulum, [1.0], duration=0.1).multipliers[0].size


def test_a_state_without_a_gradient_names_the_row() -> None:
    system = dm.systems.pendulum_dae()
    sentence = r"rod of 'pendulum_dae' must have a finite gradient, but has none at q = \[0, 0\]"
    for verb in (dm.assemble, dm.doctor):
        with pytest.raises(ValueError, match=sentence):
            verb(system, [0.0, 0.0])
