"""What becomes of a step: refused ones are only counted, and derivatives pass the last one."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import diffmech as dm
from diffmech._results import Status
from diffmech.lanes._control import OK, Pace, accept_or_reject, next_step
from diffmech.lanes._prepare import checked_tolerances

STOP = 2.0  # [s]


def _pace(**other: Any) -> Pace:
    """Four lanes after one step: one on its way, one with its last step, one there, one lost."""
    lanes = {
        "t": [0.5, 1.95, 2.0, 0.7],
        "h": [0.1, 0.1, 0.1, 0.1],
        "error": [-2.0] * 4,
        "status": [OK, OK, OK, float(Status.NON_FINITE)],
        "accepted": [1.0] * 4,
        "rejected": [0.0] * 4,
    }
    return Pace(**{name: jnp.array(lane) for name, lane in (lanes | other).items()})


def _accepted_or_rejected(size: float, **other: Any) -> tuple[Pace, Any]:
    numbers = checked_tolerances(0.0, STOP, 1e-8, None, None, 50)
    return accept_or_reject(_pace(**other), jnp.full(4, size), STOP, 8, numbers)


def test_the_next_step_ends_at_the_stop_and_is_nothing_for_lanes_that_are_done() -> None:
    h, t = next_step(_pace(), STOP)
    np.testing.assert_allclose(h, [0.1, 0.05, 0.0, 0.0], rtol=1e-12)
    np.testing.assert_allclose(t[:2], [0.6, 2.0], rtol=1e-15)


def test_a_refused_step_is_counted_and_tried_again_shorter() -> None:
    pace, accept = _accepted_or_rejected(100.0)
    np.testing.assert_array_equal(accept, np.zeros(4))
    np.testing.assert_array_equal(pace.t, _pace().t)
    np.testing.assert_array_equal(pace.error, _pace().error)
    np.testing.assert_array_equal(pace.accepted, np.ones(4))
    np.testing.assert_array_equal(pace.rejected, [1.0, 1.0, 0.0, 0.0])
    assert np.all(np.asarray(pace.h[:2]) < [0.1, 0.05])
    np.testing.assert_array_equal(pace.status, _pace().status)


def test_an_accepted_step_moves_the_lanes_that_are_on_their_way() -> None:
    pace, accept = _accepted_or_rejected(1e-4)
    np.testing.assert_array_equal(accept, [1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(pace.t, [0.6, 2.0, 2.0, 0.7], rtol=1e-15)
    np.testing.assert_array_equal(pace.accepted, [2.0, 2.0, 1.0, 1.0])
    np.testing.assert_array_equal(pace.rejected, np.zeros(4))
    assert pace.h[1] >= 0.1  # the stop cut the step short, not the error


def test_what_is_not_finite_or_too_short_or_too_often_has_a_status() -> None:
    tiny = {"t": [0.5, 0.5, 2.0, 0.7], "h": [1e-16] * 4}
    lost = float(Status.NON_FINITE)
    for size, reason in ((100.0, Status.STEP_TOO_SMALL), (np.nan, Status.NON_FINITE)):
        found = _accepted_or_rejected(size, **tiny)[0].status
        np.testing.assert_array_equal(found, [float(reason)] * 2 + [OK, lost])
    found = _accepted_or_rejected(0.1, accepted=[49.0, 48.0, 49.0, 49.0])[0].status
    np.testing.assert_array_equal(found, [float(Status.MAX_STEPS), OK, OK, lost])


def test_the_end_moves_with_the_duration() -> None:
    """dq/dT = q̇ and dq̇/dT = q̈: derivatives pass through the last step."""
    system = dm.systems.pendulum()

    def end(duration: Any) -> Any:
        found = dm.ensemble(system, [[1.0]], duration=duration, rtol=1e-11)
        return jnp.concatenate(found.values["last"], axis=1)[0]

    q, qd = np.asarray(end(1.3))
    slope = jax.jacfwd(end)(1.3)
    expected = [qd, dm.acceleration(system, [q], [qd])[0]]
    np.testing.assert_allclose(slope, expected, rtol=1e-8)
