"""Events that hide within a step, and events under a transformation."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm


def oscillator(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd[0] ** 2 - 0.5 * q[0] ** 2


def above(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return q[0] - params["level"]


def test_what_goes_over_and_back_is_seen_by_slopes_or_at_samples() -> None:
    system = dm.System(oscillator, {"x": "m"}, {"level": 0.9999})
    half = np.arccos(0.9999)
    for direction, at in (("rising", -half), ("falling", half), (None, -half)):
        run = dm.simulate(
            system,
            [0.0],
            [1.0],
            ts=[0.0, 3.0],
            events={"it": dm.Event(above, direction)},  # pyright: ignore[reportArgumentType]
        )
        np.testing.assert_allclose(run.end.t, np.pi / 2 + at, atol=1e-5)
    # A boolean has no slopes; the sample in the middle of a long step sees it.
    middle = dm.simulate(
        system,
        [0.0],
        [1.0],
        ts=[0.0, np.pi / 2, 3.0],
        dt=3.0,
        method="GaussLegendre4",
        events={"it": lambda q, qd, t, p: q[0] > 0.4},
    )
    assert middle.event == "it"


def root_of_height(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """NaN below zero."""
    return jnp.sqrt(q[0]) - params["level"]


def test_a_condition_that_is_not_a_number_is_no_reason_to_go_on() -> None:
    system = dm.System(oscillator, {"x": "m"}, {"level": 2.0})
    with pytest.raises(
        dm.SimulationError, match=r"at t = 3\.\d* s of 10 s: the condition of an event"
    ):
        dm.simulate(system, [0.0], [1.0], duration=10.0, events={"it": root_of_height})


def either_way(start: float, condition: Any, **how: Any) -> tuple[dm.Trajectory, dm.Trajectory]:
    """x = start cos t + sin t, run eagerly and under `jit`."""
    system = dm.System(oscillator, {"x": "m"}, {"level": 0.5})
    how = {"duration": 8.0, "samples": 11, "events": {"it": condition}, **how}
    plain = dm.simulate(system, [start], [1.0], throw=False, **how)
    return plain, jax.jit(lambda q: dm.simulate(system, q, [1.0], **how))(np.array([start]))


ROUND_OFF_OF_TIME = 1e-14  # [s]; both halve the same step of the same solver


@pytest.mark.parametrize(
    ("start", "condition", "at"),
    [
        (0.0, lambda q, qd, t, p: q[0] > 0.5, np.pi / 6),
        # True at the start: it must cease before it can become true.
        (0.0, lambda q, qd, t, p: q[0] < 0.5, np.pi * 5 / 6),
        (0.0, dm.Event(lambda q, qd, t, p: q[0] > 0.5, "falling"), np.pi * 5 / 6),
        (0.0, above, np.pi / 6),
        (0.0, dm.Event(above, "falling"), np.pi * 5 / 6),
        (0.0, lambda q, qd, t, p: q[0], np.pi),  # zero at the start
        (0.0, dm.Event(lambda q, qd, t, p: t - 0.8, "rising"), 0.8),  # zero where a step ends
    ],
    ids=["becomes", "is from the start", "ceases", "number", "falls", "zero", "at a sample"],
)  # fmt: skip
def test_an_event_happens_at_the_same_time_under_jit(
    start: float, condition: Any, at: float
) -> None:
    plain, traced = either_way(start, condition)
    assert plain.event == traced.event == "it"
    np.testing.assert_allclose(plain.end.t, at, atol=1e-9)  # the run's tolerance, and some
    np.testing.assert_allclose(traced.end.t, plain.end.t, rtol=0, atol=ROUND_OFF_OF_TIME)
    np.testing.assert_allclose(traced.end.q, plain.end.q, rtol=0, atol=1e-13)
    before = np.asarray(plain.ts)[:-1]  # the last one is the event
    np.testing.assert_array_equal(traced.ts[: len(before)], before)
    assert np.all(np.isnan(np.asarray(traced.ts)[len(plain.ts) :]))


@pytest.mark.parametrize("direction", [None, "rising", "falling"])
def test_a_condition_that_is_not_a_number_fails_under_jit_too(direction: Any) -> None:
    event = dm.Event(lambda q, qd, t, p: jnp.sqrt(0.5 - q[0]) + 1, direction)
    for start in (0.0, 0.6):  # NaN on the way, and from the start
        for run in either_way(start, event):
            assert bool(run.status == dm.RESULTS.event_not_a_number)
            assert run.event is None


def test_the_time_of_a_boolean_event_has_the_derivative_zero() -> None:
    system = dm.System(oscillator, {"x": "m"})

    def end(speed: Any) -> Any:
        how: Any = {"events": {"it": lambda q, qd, t, p: q[0] > 0.5}, "gradient": "forward"}
        run = dm.simulate(system, [0.0], [speed], duration=3.0, samples=4, **how)
        return run.end.t, run.end.q[0]

    (time, _), slopes = jax.jit(lambda v: jax.jvp(end, (v,), (1.0,)))(1.0)
    # x = v sin t, stopped at a time that does not move.
    np.testing.assert_allclose(slopes, (0.0, np.sin(time)), atol=1e-9)
