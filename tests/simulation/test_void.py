"""What failed is NaN, and so are its derivatives; what was computed before stays."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import Status
from diffmech.lanes._indefinite import indefinite_starts
from diffmech.lanes._lane_equations import Layout
from diffmech.lanes._prepare import checked_tolerances
from diffmech.lanes._program import Form, Program
from diffmech.lanes._tableau import as_tableau
from diffmech.lanes._tiles import Run


def quartic(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Pushed off the origin for k > 0, it is gone within a second; for k < 0 it swings."""
    return 0.5 * params["m"] * qd[0] ** 2 + params["k"] * q[0] ** 4


@pytest.fixture(scope="module")
def system() -> dm.System:
    return dm.System(quartic, {"x": "m"}, {"m": 1.0, "k": 1.0, "stop": 0.0})


# k and m of a motion that swings, one that goes, one without mass, and one of NaN.
NUMBERS = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [np.nan, 1.0]])
SWINGS, GOES, NO_MASS, BAD = range(4)


def run(system: dm.System, numbers: Any, **more: Any) -> dm.Trajectory:
    machine = system.with_params(k=numbers[0], m=numbers[1])
    return dm.simulate(machine, [1.0], duration=3.0, samples=7, **more)


@pytest.fixture(scope="module")
def traced(system: dm.System) -> Any:
    """All runs, and gradients of three losses: masked, of the end, of the first samples."""

    def losses(numbers: Any) -> Any:
        found = run(system, numbers)
        masked = jnp.where(found.status == dm.RESULTS.successful, found.end.q[0], 0.0)
        return jnp.stack([masked, found.end.q[0], jnp.sum(found.qs[:2])]), found

    return jax.jit(jax.vmap(jax.jacrev(losses, has_aux=True)))(NUMBERS)


@pytest.mark.parametrize(
    ("lane", "why"),
    [
        (GOES, dm.RESULTS.step_too_small),
        (NO_MASS, dm.RESULTS.step_too_small),
        (BAD, dm.RESULTS.not_finite_from_the_start),
    ],
    ids=["blows up", "no mass", "NaN"],
)
def test_under_a_trace_the_end_of_a_failed_run_is_nan(traced: Any, lane: int, why: Any) -> None:
    gradients, found = traced
    assert bool(jax.tree.map(lambda leaf: leaf[lane], found.status) == why)
    for leaf in found.end:
        assert np.all(np.isnan(leaf[lane])), "never its start"
    assert np.all(np.isnan(found.qs[lane, 2:]))
    assert np.all(gradients[lane, 0] == 0), "a loss that leaves it out has a gradient"
    assert np.all(np.isnan(gradients[lane, 1])), "and the lack of a result none"


def test_what_came_before_the_failure_stays_with_its_derivative(
    traced: Any, system: dm.System
) -> None:
    gradients, found = traced
    eager = run(system, NUMBERS[GOES], throw=False)
    np.testing.assert_allclose(found.qs[GOES, :2], eager.qs[:2], rtol=1e-12)
    assert np.all(np.isfinite(eager.end.q)), "what was computed up to the failure"
    near = [run(system, NUMBERS[GOES] + [h, 0], throw=False).qs[1, 0] for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(gradients[GOES, 2, 0], (near[0] - near[1]) / 2e-5, rtol=1e-7)


def test_a_sound_run_keeps_its_gradient_beside_failed_ones(traced: Any, system: dm.System) -> None:
    gradients, _ = traced
    near = [run(system, NUMBERS[SWINGS] + [0, h]).end.q[0] for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(gradients[SWINGS, :2, 1], (near[0] - near[1]) / 2e-5, rtol=1e-7)


def test_forward_derivatives_of_what_is_not_there_are_nan(system: dm.System) -> None:
    def outcome(numbers: Any) -> Any:
        found = run(system, numbers, gradient="forward")
        return found.qs[:, 0], found.end.q[0]

    (qs, end), (slopes, slope) = jax.jvp(jax.jit(outcome), (NUMBERS[GOES],), (np.ones(2),))
    for value in (qs[2:], end, slopes[2:], slope):
        assert np.all(np.isnan(value))
    assert np.all(np.isfinite(slopes[:2]))


class Counted(dm.reducers.AbstractReducer):
    """Steps, as an integer and as a number."""

    def init(self, instant: Any, params: Any) -> Any:
        return jnp.zeros_like(instant.t)

    def update(self, carry: Any, before: Any, after: Any, params: Any) -> Any:
        return carry + 1

    def finish(self, carry: Any) -> Any:
        return {"integer": carry.astype(jnp.int32), "number": carry}


TIMES = np.linspace(0.0, 3.0, 7)
REDUCERS = {
    "last": "last",
    "samples": dm.reducers.Samples(TIMES),
    "largest": dm.reducers.Largest(lambda q, qd, t, p: q[0]),
    "balance": "energy_error",
    "counted": Counted(),
    "stopped": dm.reducers.FirstTime(lambda q, qd, t, p: jnp.where(p["stop"] > 0, -q[0], -1.0)),
}


def lanes(system: dm.System, shift: Any = 0.0) -> dm.Ensemble:
    """The four motions, and one that is stopped on its way."""
    numbers = np.concatenate([NUMBERS, NUMBERS[:1]])
    params = {"k": numbers[:, 0] + shift, "m": numbers[:, 1], "stop": np.arange(5) == 4.0}
    return dm.ensemble(system, [1.0], duration=3.0, params=params, reduce=REDUCERS)


@pytest.fixture(scope="module")
def found(system: dm.System) -> dm.Ensemble:
    return lanes(system)


def test_nothing_of_a_failed_lane_looks_like_a_result(found: dm.Ensemble) -> None:
    expected = [Status.OK, Status.STEP_TOO_SMALL, Status.SINGULAR, Status.BAD_INPUT, Status.EVENT]
    assert [Status(int(status)) for status in found.status] == expected
    for name in ("last", "largest", "balance"):
        for leaf in jax.tree.leaves(found.values[name]):
            np.testing.assert_array_equal(np.isnan(leaf).reshape(5), [0, 1, 1, 1, 0], name)
    counted = found.values["counted"]
    np.testing.assert_array_equal(counted["integer"] == -1, [0, 1, 1, 1, 0])
    np.testing.assert_array_equal(np.isnan(counted["number"]), [0, 1, 1, 1, 0])
    np.testing.assert_array_equal(np.isnan(found.values["stopped"]), [0, 1, 1, 1, 0])
    assert np.isinf(found.values["stopped"][SWINGS]), "never"
    assert np.all(np.isfinite(found.ends))
    assert found.steps[GOES] > 0


UNREAL = "2 motions start with a mass matrix that is not positive definite: a negative mass"


def test_lanes_say_how_many_have_a_negative_mass(system: dm.System, found: dm.Ensemble) -> None:
    assert "positive definite" not in str(found)
    params = {"k": np.full(5, -1.0), "m": np.array([1, -1, -2, np.nan, 0]), "stop": np.zeros(5)}
    got = dm.ensemble(system, [1.0], duration=3.0, params=params, reduce=REDUCERS)
    np.testing.assert_array_equal(got.indefinite, [False, True, True, False, False])
    assert UNREAL in str(got)


def test_masses_are_judged_by_the_rates_that_constraints_admit() -> None:
    def unequal(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd[0] ** 2 + (params["m"] - t) * qd[1] ** 2)

    def look(constraint: Any, t: Any = 0.0) -> Any:
        system = dm.System(unequal, ("x", "y"), {"m": 1.0}, constraints=constraint)
        program = Program(system.laws, Layout(2, 0, False), as_tableau("Tsit5"), Form.ROLLED)
        numbers = checked_tolerances(0.0, 1.0, None, None, None, None)
        run = Run(system.params, {"m": True}, None, (), np.zeros((0, 4)), numbers, None)
        masses = np.array([1.0, 0.0, -3.0, np.nan])
        return indefinite_starts(program, run, np.asarray(t), np.zeros((4, 4)), [masses])

    for constraint, found in (((), [2]), (lambda q, t, p: q[0], [2]), (lambda q, t, p: q[1], [])):
        assert np.flatnonzero(look(constraint)).tolist() == found
    assert np.flatnonzero(look((), t=[2.0, -1.0, -4.0, 0.0])).tolist() == [0], "by its own clock"


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


def test_samples_of_lanes_are_nan_once_they_have_ended(
    found: dm.Ensemble, system: dm.System
) -> None:
    for leaf in found.values["samples"]:
        there = np.isfinite(leaf[:, :, 0])
        np.testing.assert_array_equal(there[SWINGS], True)
        np.testing.assert_array_equal(there[GOES], found.ends[GOES] >= TIMES)
        np.testing.assert_array_equal(there[BAD], False)
        np.testing.assert_array_equal(there[4], found.values["stopped"][4] >= TIMES)
    single = run(system, NUMBERS[GOES], throw=False)
    np.testing.assert_allclose(found.values["samples"][0][GOES, :2], single.qs[:2], rtol=1e-6)


def test_derivatives_of_failed_lanes_are_nan(system: dm.System, found: dm.Ensemble) -> None:
    def outcome(shift: Any) -> Any:
        values = lanes(system, shift).values
        return values["last"][0][:, 0], values["samples"][0][:, :, 0]

    values, slopes = jax.jvp(outcome, (0.0,), (1.0,))
    for value, slope in zip(values, slopes, strict=True):
        np.testing.assert_array_equal(np.isnan(slope), np.isnan(value))
    np.testing.assert_array_equal(np.isnan(values[0]), [0, 1, 1, 1, 0])
    np.testing.assert_array_equal(np.isnan(values[1]), np.isnan(found.values["samples"][0])[..., 0])
