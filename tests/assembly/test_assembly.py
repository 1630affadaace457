"""Assembling and examining: `assemble`, `doctor` and what they say."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

import diffmech as dm

from ..conftest import imbalance
from ..simulation.test_constraints import GRAVITY, along, pendulum_of_two_lengths
from ..simulation.test_trust import free


@pytest.fixture(scope="module")
def linkage() -> dm.System:
    return dm.systems.four_bar()


GUESS = np.array([1.0, 0.2, -1.4])


def test_the_assembled_place_is_the_nearest_in_the_metric_of_the_masses(linkage: dm.System) -> None:
    found = dm.assemble(linkage, GUESS, [1.0, 0.0, 0.0])
    assert np.max(np.abs(found.violations.residual)) < 1e-14
    assert np.max(np.abs(found.violations.rate_residual)) < 1e-14
    q, qd = found
    mass = np.asarray(dm.mass_matrix(linkage, GUESS))
    best = minimize(
        lambda x: (x - GUESS) @ mass @ (x - GUESS),
        GUESS,
        constraints={"type": "eq", "fun": lambda x: np.asarray(dm.violations(linkage, x).residual)},
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
        assert np.max(np.abs(found.violations.residual)) < 1e-13
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


def test_a_coupler_on_three_equal_cranks_is_redundant_and_runs() -> None:
    """One degree of freedom, by 3 + 3 coordinates and 6 rows, of which one says nothing new."""
    pivots = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        cranks = 0.5 * jnp.sum(qd[:3] ** 2) / 3
        coupler = 0.5 * 2.0 * (qd[3] ** 2 + qd[4] ** 2) + 0.5 * 0.7 * qd[5] ** 2
        return cranks + coupler - GRAVITY * (0.5 * jnp.sum(jnp.sin(q[:3])) + 2.0 * q[4])

    def tip(i: int, q: Any, t: Any, params: Any) -> Any:
        on_coupler = q[3:5] + along(pivots[i, 0] - 1.0, q[5])
        return pivots[i] + along(1.0, q[i]) - on_coupler

    tips = {f"tip{i + 1}": functools.partial(tip, i) for i in range(3)}
    names = {"a": "rad", "b": "rad", "c": "rad", "x": "m", "y": "m", "turn": "rad"}
    system = dm.System(lagrangian, names, constraints=tips)
    angle, rate = 0.9, 3.0
    q = np.array([angle, angle, angle, 1 + np.cos(angle), np.sin(angle), 0.0])
    qd = rate * np.array([1, 1, 1, -np.sin(angle), np.cos(angle), 0.0])
    found = dm.doctor(system, q, qd)
    assert (found.freedoms, found.rank) == (1, 5)
    assert len(found.dependent) == 1
    assert not found.change_point
    assert not found.conflicts
    run = dm.simulate(system, q, qd, duration=3.0, samples=61)
    # One angle: (1 + 2) θ̈ = −g (1.5 + 2) cos θ.
    expected = -GRAVITY * 3.5 * np.cos(np.asarray(run.qs)[:, 0]) / 3.0
    qdd = jax.vmap(lambda q, qd: dm.acceleration(system, q, qd))(run.qs, run.qds)
    np.testing.assert_allclose(qdd[:, 0], expected, atol=1e-8)
    np.testing.assert_allclose(run.qs[:, 5], 0.0, atol=1e-9)
    assert imbalance(run) < 1e-9


def test_rows_that_say_the_same_are_called_redundant_everywhere() -> None:
    def line(q: Any, t: Any, params: Any) -> Any:
        return q[0] - q[1]

    rows = {"one": line, "same": lambda q, t, params: 2 * line(q, t, params)}
    system = dm.System(free, {"x": "m", "y": "m"}, {"m": 1.0}, constraints=rows)
    run = dm.simulate(system, [0.0, 0.0], [1.0, 1.0], duration=1.0)
    lines = dict(run.report(second_run=False).lines)
    assert lines["rank"].startswith("redundant among one, same all along; otherwise nothing became")
    assert lines["multipliers"] == "not unique (redundant rows), given as NaN: one, same"
    assert "1 redundant: one and same" in str(dm.doctor(system, [0.0, 0.0]))
