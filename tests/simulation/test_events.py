"""Events that hide within a step."""

from typing import Any

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
