"""What failed is NaN in lanes too, and so are its derivatives; what was computed before stays."""

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

from ..simulation.test_void import BAD, GOES, NUMBERS, SWINGS, run, system as system


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
