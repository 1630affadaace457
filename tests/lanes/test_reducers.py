"""What is kept of many motions, against single runs, closed forms and differences."""

import inspect
import itertools
import textwrap
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm

from ..conftest import machine
from ..simulation.test_events import above, oscillator

DURATION = 6.0
ANGLES = np.radians([20.0, 75.0, 100.0, 140.0])


@pytest.fixture(scope="module")
def boot() -> dm.System:
    return machine("babyboot")


@pytest.fixture(scope="module")
def runs(boot: dm.System) -> list[dm.Trajectory]:
    return [
        dm.simulate(boot, [angle, 0.02], duration=DURATION, samples=6001, rtol=1e-12)
        for angle in ANGLES
    ]


def _lean(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del qd, t, params
    return jnp.abs(q[1])


def _excess(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return _lean(q, qd, t, params) - 0.2


@pytest.fixture(scope="module")
def reduce(boot: dm.System) -> dict[str, Any]:
    """A bit of everything, in one program."""
    return {
        "last": dm.reducers.Last(),
        "most": dm.reducers.Largest(_lean),
        "least": dm.reducers.Smallest(lambda q, qd, t, params: q[0]),
        "time": dm.reducers.FirstTime(_excess, stop=False),
        "truth": dm.reducers.FirstTime(lambda *state: _excess(*state) > 0, stop=False),
        "swings": dm.reducers.Crossings(lambda q, qd, t, params: q[0]),
        "rising": dm.reducers.Crossings(lambda q, qd, t, params: q[0], 1),
        "samples": dm.reducers.Samples([0.0, 1.5, DURATION]),
        "growth": dm.reducers.Growth([0.0, 1.0, 0, 0], [0, 0, 1.0, 0.5]),
        "energy": dm.reducers.EnergyError(boot),
    }


@pytest.fixture(scope="module")
def kept(boot: dm.System, reduce: dict[str, Any]) -> dict[str, Any]:
    starts = {"qA": ANGLES, "qB": 0.02}
    return dm.ensemble(boot, starts, duration=DURATION, reduce=reduce, rtol=1e-11).values


def test_extremes_are_those_of_single_runs(kept: dict[str, Any], runs: list[dm.Trajectory]) -> None:
    for i, run in enumerate(runs):
        # Samples are 1 ms apart: their largest misses a peak by at most 1e-5.
        assert abs(kept["most"][i] - np.max(np.abs(run.qs[:, 1]))) < 1e-5
        assert abs(kept["least"][i] - np.min(run.qs[:, 0])) < 1e-5


def test_first_times_lie_where_single_runs_cross(
    kept: dict[str, Any], runs: list[dm.Trajectory]
) -> None:
    found = 0
    for i, run in enumerate(runs):
        over = np.abs(run.qs[:, 1]) >= 0.2
        if not over.any():
            assert kept["time"][i] == kept["truth"][i] == np.inf
            continue
        found += 1
        k = int(np.argmax(over))
        slope = np.sign(run.qs[k, 1]) * run.qds[k, 1]
        exact = run.ts[k] - (abs(run.qs[k, 1]) - 0.2) / slope  # linear inside 1 ms
        assert abs(kept["time"][i] - exact) < 1e-5
        assert abs(kept["truth"][i] - kept["time"][i]) < 1e-6
    assert 0 < found < len(runs)


def test_a_motion_may_end_when_its_condition_holds(boot: dm.System, kept: dict[str, Any]) -> None:
    starts = {"qA": ANGLES, "qB": 0.02}
    reduce = [dm.reducers.FirstTime(_excess), "last"]
    got = dm.ensemble(boot, starts, duration=DURATION, reduce=reduce, rtol=1e-11)
    times = got.values["first_time"]
    ended = np.isfinite(times)
    assert np.array_equal(got.status == dm.Status.EVENT, ended)
    # Other steps: those of the other run end on samples.
    assert np.max(np.abs(times[ended] - kept["time"][ended])) < 1e-8
    assert np.all(got.ends[ended] >= times[ended])
    assert np.all(got.ends[ended] < DURATION)
    already = dm.ensemble(boot, [0.5, 1.0], duration=1.0, reduce=reduce)
    assert already.values["first_time"][0] == 0


def test_a_short_excursion_inside_a_step_is_noticed() -> None:
    """x = sin t exceeds 1 − 1e-4 for 0.03 s, which is less than a step."""
    spring = dm.System(lambda q, qd, t, p: 0.5 * (qd @ qd - q @ q), {"x": "m"})
    reduce = {
        "time": dm.reducers.FirstTime(lambda q, qd, t, p: q[0] - (1 - 1e-4), stop=False),
        "most": dm.reducers.Largest(lambda q, qd, t, p: q[0]),
    }
    got = dm.ensemble(spring, [[0.0]], [[1.0]], duration=2.0, reduce=reduce, rtol=1e-9)
    assert got.steps[0] < 40
    assert abs(got.values["time"][0] - np.arcsin(1 - 1e-4)) < 1e-4
    assert abs(got.values["most"][0] - 1) < 1e-7


def test_crossings_are_counted(kept: dict[str, Any], runs: list[dm.Trajectory]) -> None:
    for i, run in enumerate(runs):
        sign = run.qs[:, 0] >= 0
        assert kept["swings"][i] == np.sum(sign[1:] != sign[:-1])
        assert kept["rising"][i] == np.sum(sign[1:] & ~sign[:-1])


def test_samples_are_the_states_of_single_runs(
    kept: dict[str, Any], runs: list[dm.Trajectory]
) -> None:
    q, qd = kept["samples"]
    assert q.shape == qd.shape == (len(runs), 3, 2)
    for i, run in enumerate(runs):
        error = np.abs(q[i] - run.qs[[0, 1500, 6000]])
        assert np.max(error[:2]) < 1e-8
        assert np.max(error) < 1e-5  # chaos has grown by then
    assert np.array_equal(q[:, -1], kept["last"][0])


def test_growth_is_that_of_neighbours(
    boot: dm.System, kept: dict[str, Any], reduce: dict[str, Any]
) -> None:
    regular = 0  # for a chaotic start differences are not small for long
    for row, (dq, dqd) in enumerate((([0.0, 1.0], [0.0, 0.0]), ([0.0, 0.0], [1.0, 0.5]))):
        step = 1e-6
        ends = [
            np.concatenate(
                dm.ensemble(
                    boot,
                    np.array([ANGLES[regular], 0.02]) + side * step * np.array(dq),
                    side * step * np.array(dqd),
                    duration=DURATION,
                    reduce=reduce,
                    rtol=1e-13,
                ).values["last"],
                axis=1,
            )[0]
            for side in (-1, 1)
        ]
        size = np.linalg.norm(ends[1] - ends[0]) / (2 * step * np.linalg.norm([*dq, *dqd]))
        assert abs(kept["growth"][regular, row] - np.log(size)) < 1e-6


def test_growth_survives_where_numbers_would_overflow() -> None:
    """ẍ = 100² x: δ grows as cosh(100 t), to 1e434 in 10 s."""
    hill = dm.System(lambda q, qd, t, p: 0.5 * (qd @ qd + 1e4 * q @ q), {"x": "m"})
    got = dm.ensemble(
        hill, [[0.0]], duration=10.0, reduce=dm.reducers.Growth([1.0, 100.0]), rtol=1e-9
    )
    assert abs(got.values["growth"][0, 0] - 1000.0) < 1e-3


def test_energy_errors_are_small_and_grow_with_the_tolerance(
    boot: dm.System, kept: dict[str, Any], reduce: dict[str, Any]
) -> None:
    assert np.all(kept["energy"] < 1e-9)
    starts = {"qA": ANGLES, "qB": 0.02}
    loose = dm.ensemble(boot, starts, duration=DURATION, reduce=reduce, rtol=1e-4)
    assert np.all(loose.values["energy"] > 10 * kept["energy"])
    damped = machine("cart_pole")
    got = dm.ensemble(
        damped, damped.starts["default"][0], duration=3.0, reduce="energy_error", rtol=1e-11
    )
    assert got.values["energy_error"][0] < 1e-9  # friction's work is counted


class _MeanSquare(dm.reducers.AbstractReducer):
    """A user's own: the mean of θ² over time, by the trapezoidal rule."""

    def init(self, instant: dm.reducers.Instant, params: Any) -> Any:
        zero = jnp.zeros_like(instant.t)
        return {"area": zero, "steps": jnp.zeros((), jnp.int32), "t": instant.t}

    def update(self, carry: Any, before: Any, after: Any, params: Any) -> Any:
        slab = 0.5 * (after.t - before.t) * (before.q[0] ** 2 + after.q[0] ** 2)
        return {"area": carry["area"] + slab, "steps": carry["steps"] + 1, "t": after.t}

    def finish(self, carry: Any) -> Any:
        return {"mean": carry["area"] / carry["t"], "steps": carry["steps"]}


def test_a_users_own_reducer_is_a_small_class(boot: dm.System, runs: list[dm.Trajectory]) -> None:
    got = dm.ensemble(
        boot, {"qA": ANGLES, "qB": 0.02}, duration=DURATION, reduce={"mine": _MeanSquare()}, dt=1e-3
    )
    mine = got.values["mine"]
    assert np.array_equal(mine["steps"], got.steps)
    for i, run in enumerate(runs[:2]):
        assert abs(mine["mean"][i] - np.mean(run.qs[:, 0] ** 2)) < 1e-3


def test_the_example_of_the_protocol_is_the_mean_of_a_square(
    boot: dm.System, runs: list[dm.Trajectory]
) -> None:
    """As `help(dm.reducers.AbstractReducer)` shows it."""
    text = inspect.getdoc(dm.reducers.AbstractReducer) or ""
    lines = text[text.index("    class MeanSquare") :].split("\n")
    example = itertools.takewhile(lambda line: line.startswith("    ") or not line, lines)
    names: dict[str, Any] = {"dm": dm, "jnp": jnp, "system": boot, "q0s": [[ANGLES[0], 0.02]]}
    exec(textwrap.dedent("\n".join(example)), names)
    run = dm.simulate(boot, [ANGLES[0], 0.02], duration=10.0, samples=10001)
    assert names["means"].shape == (1,)
    # Trapezia over the steps of the integration: to the square of a step.
    assert abs(names["means"][0] - np.mean(run.qs[:, 0] ** 2)) < 1e-2 * names["means"][0]


class _Half(dm.reducers.AbstractReducer):
    """A reducer that lacks a method."""

    def init(self, instant: Any, params: Any) -> Any:
        return ()

    def update(self, carry: Any, before: Any, after: Any, params: Any) -> Any:
        return carry


def test_a_reducer_that_lacks_a_method_cannot_be_made() -> None:
    with pytest.raises(TypeError, match=r"abstract class _Half .*abstract method.*finish"):
        _Half()  # pyright: ignore[reportAbstractUsage]


class _Accelerations(dm.reducers.AbstractSample):
    times: Any = None

    def sample(self, instant: dm.reducers.Instant, params: Any) -> Any:
        return instant.qdd


class _Beginning(dm.reducers.AbstractReducer):
    """The neighbours at the start, and whether the start knows of work."""

    tangents: Any
    needs_work = True

    def init(self, instant: dm.reducers.Instant, params: Any) -> Any:
        return instant.dq, instant.dqd, instant.doublings, instant.work

    def update(self, carry: Any, before: Any, after: Any, params: Any) -> Any:
        return carry

    def finish(self, carry: Any) -> Any:
        return carry


def test_a_users_samples_are_taken_at_times_or_at_the_end_and_starts_know_neighbours() -> None:
    spring = dm.System(lambda q, qd, t, p: 0.5 * (qd @ qd - q @ q), {"x": "m"})
    directions = np.array([[1.0, 0.0], [0.5, 2.0]])
    reduce = {
        "on the way": _Accelerations([0.0, 1.0]),
        "at the end": _Accelerations(),
        "start": _Beginning(directions),
    }
    got = dm.ensemble(spring, [[1.0], [2.0]], duration=2.0, reduce=reduce, rtol=1e-10).values
    size = np.array([1.0, 2.0])
    wanted = -size[:, None] * np.cos([0.0, 1.0])
    np.testing.assert_allclose(got["on the way"][:, :, 0], wanted, atol=1e-8)
    np.testing.assert_allclose(got["at the end"][:, 0], -size * np.cos(2.0), atol=1e-8)
    dq, dqd, doublings, work = got["start"]
    np.testing.assert_array_equal(np.concatenate([dq, dqd], axis=2), [directions, directions])
    np.testing.assert_array_equal(doublings, np.zeros((2, 2)))
    np.testing.assert_array_equal(work, np.zeros(2))


def test_a_reducer_without_scalar_form_runs_all_the_same(boot: dm.System) -> None:
    class Sorted(dm.reducers.AbstractReducer):
        """The eigenvalues of a matrix: nothing that can be written out."""

        def init(self, instant: Any, params: Any) -> Any:
            return jnp.zeros_like(instant.q)

        def update(self, carry: Any, before: Any, after: Any, params: Any) -> Any:
            return jnp.linalg.eigvalsh(jnp.outer(after.q, after.q))

        def finish(self, carry: Any) -> Any:
            return carry

    got = dm.ensemble(boot, [0.5, 0.02], duration=1.0, reduce=[Sorted(), "last"])
    q = got.values["last"][0][0]
    assert abs(got.values["sorted"][0, 1] - q @ q) < 1e-12


def test_first_times_have_derivatives(boot: dm.System) -> None:
    def when(mass: Any) -> Any:
        got = dm.ensemble(
            boot,
            [ANGLES[2], 0.02],
            duration=DURATION,
            reduce=[dm.reducers.FirstTime(_excess), "last"],
            rtol=1e-12,
            params={"mB": mass},
        )
        return got.values["first_time"][0]

    step = 1e-6
    mass = float(boot.params.mB)
    slope = jax.jvp(when, (jnp.asarray(mass),), (jnp.ones(()),))[1]
    difference = (when(mass + step) - when(mass - step)) / (2 * step)
    assert np.isfinite(slope)
    assert abs(slope - difference) < 1e-4 * abs(difference)


def test_grazing_events_are_found_as_lanes_find_them() -> None:
    # x = sin(t + phase): the level is passed by the margin for 2·√(2·margin) s, or missed by it.
    rng = np.random.default_rng(0)
    margins = np.where(rng.random(200) < 0.7, 1, -1) * 10 ** rng.uniform(-5.5, -2, 200)
    phases = rng.uniform(0, 2 * np.pi, 200)
    system = dm.System(oscillator, {"x": "m"}, {"level": 0.5})
    starts = np.sin(phases)[:, None], np.cos(phases)[:, None]
    lanes = dm.ensemble(
        system,
        *starts,
        duration=10.0,
        params={"level": 1 - margins},
        reduce={"first": dm.reducers.FirstTime(above)},
    ).values["first"]
    first = (np.arcsin(np.minimum(1 - margins, 1)) - phases) % (2 * np.pi)
    begun = np.sin(phases) > 1 - margins  # there from the start, which ends a lane and no run
    for i in np.flatnonzero(~begun):
        run = dm.simulate(
            system.with_params(level=1 - margins[i]),
            starts[0][i],
            starts[1][i],
            duration=10.0,
            events={"above": above},
        )
        assert (run.event is not None) == bool(np.isfinite(lanes[i])) == bool(margins[i] > 0)
        if run.event:
            np.testing.assert_allclose(run.end.t, first[i], atol=1e-8)
            # Lanes take steps h of up to 0.8 s, and interpolate them by a polynomial of degree 5,
            # which is off by h⁶/46080 at most.
            height = np.sin(lanes[i] + phases[i])
            np.testing.assert_allclose(height, 1 - margins[i], atol=5.7e-6)


def test_directions_that_mean_nothing_are_refused() -> None:
    for wrong in (2, "up", True):
        with pytest.raises(ValueError, match="`direction` must be 1, -1 or 0, but is"):
            dm.reducers.Crossings(lambda q, qd, t, params: q[0], wrong)
    for reducer in (dm.reducers.Growth, dm.reducers.Megno):
        with pytest.raises(ValueError, match="must be finite and not zero"):
            reducer([0.0, 0.0])
        with pytest.raises(ValueError, match="must be finite and not zero"):
            reducer([np.nan, 1.0])
