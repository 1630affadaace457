"""Lanes with clocks of their own: starts, ends and samples that differ, traced or not."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import Status

STIFFNESS, DRIVE = 9.0, 2.0


def forced(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A mass of 1 kg on a spring, pushed by sin(w t)."""
    return 0.5 * qd[0] ** 2 - 0.5 * params["k"] * q[0] ** 2 + q[0] * jnp.sin(params["w"] * t)


def closed_form(t: Any, t0: Any, x0: Any, v0: Any) -> Any:
    """x(t) and v(t) of x'' + k x = sin(w t) from (x0, v0) at t0."""
    omega, amplitude = np.sqrt(STIFFNESS), 1 / (STIFFNESS - DRIVE**2)
    a = x0 - amplitude * jnp.sin(DRIVE * t0)
    b = (v0 - amplitude * DRIVE * jnp.cos(DRIVE * t0)) / omega
    c, s = jnp.cos(omega * (t - t0)), jnp.sin(omega * (t - t0))
    x = a * c + b * s + amplitude * jnp.sin(DRIVE * t)
    v = omega * (b * c - a * s) + amplitude * DRIVE * jnp.cos(DRIVE * t)
    return jnp.stack([x, v], axis=-1)


NAN = np.nan
STARTS = np.array([0.0, 0.3, 1.7, -2.0])
DURATIONS = np.array([1.0, 2.5, 0.5, 2.0])
TIMES = np.array(  # at the start, twice, at the end, with gaps, and one alone
    [[0.0, 0.5, 1.0], [0.7, NAN, 2.0], [1.9, 1.9, 2.2], [NAN, -0.25, NAN]]
)
STATES = np.array([[0.4, 0.1], [-0.2, 0.5], [1.0, 0.0], [0.0, -1.0]])


@pytest.fixture(scope="module")
def system() -> dm.System:
    return dm.System(forced, {"x": "m"}, {"k": STIFFNESS, "w": DRIVE})


def run(system: dm.System, t0: Any, duration: Any, times: Any, **more: Any) -> dm.Ensemble:
    return dm.ensemble(
        system, STATES[:, :1], STATES[:, 1:], t0=t0, duration=duration, rtol=1e-11,
        reduce={"samples": dm.reducers.Samples(times), "last": "last"}, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def ran(system: dm.System) -> dm.Ensemble:
    return run(system, STARTS, DURATIONS, TIMES)


def expected(t0: Any, times: Any) -> Any:
    return closed_form(times, t0[:, None], STATES[:, :1], STATES[:, 1:])


def test_every_lane_starts_and_is_sampled_by_its_own_clock(ran: dm.Ensemble) -> None:
    samples = np.concatenate(ran.values["samples"], axis=-1)
    truth = np.asarray(expected(STARTS, TIMES))
    assert np.array_equal(np.isnan(samples), np.isnan(truth)), "NaN where nothing was asked for"
    np.testing.assert_allclose(samples, truth, rtol=0, atol=3e-10)


def test_every_lane_ends_by_its_own_clock(ran: dm.Ensemble) -> None:
    assert np.all(ran.status == Status.OK)
    np.testing.assert_array_equal(ran.ends, STARTS + DURATIONS)
    last = np.concatenate(ran.values["last"], axis=-1)
    ends = STARTS + DURATIONS
    np.testing.assert_allclose(last, closed_form(ends, STARTS, *STATES.T), rtol=0, atol=3e-10)
    assert "0.5 to 2.5 s" in str(ran)
    assert ran.settings["t0"] == STARTS.tolist()


def test_derivatives_pass_through_starts_ends_and_sample_times(system: dm.System) -> None:
    """At a start and at a time asked for twice too, where no step is made."""

    def ours(shift: Any) -> Any:
        ends = STARTS + DURATIONS
        found = run(system, STARTS + shift[0], ends + shift[2] - STARTS - shift[0],
                    TIMES + shift[1])  # fmt: skip
        return found.values["samples"], found.values["last"]

    def truth(shift: Any) -> Any:
        x = expected(STARTS + shift[0], TIMES + shift[1])
        ends = closed_form(STARTS + DURATIONS + shift[2], STARTS + shift[0], *STATES.T)
        return (x[..., :1], x[..., 1:]), (ends[:, :1], ends[:, 1:])

    none = jnp.zeros(3)
    found, wanted = jax.jit(jax.jacfwd(ours))(none), jax.jacfwd(truth)(none)
    for own, exact in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        # Derivatives of steps with an error of 1e-11 are known to about 1e-10 here.
        np.testing.assert_allclose(own, exact, rtol=0, atol=1e-9)


def test_a_traced_time_that_goes_back_gives_nan(system: dm.System) -> None:
    @jax.jit
    def samples(times: Any) -> Any:
        found = run(system, STARTS, DURATIONS, times)
        return found.values["samples"][0]

    backwards = TIMES.copy()
    backwards[0] = [0.5, 0.25, 1.0]
    assert np.array_equal(np.isnan(samples(backwards))[0, :, 0], [False, True, False])
    assert np.isfinite(samples(TIMES)[0]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"times": TIMES[:3]}, "one number of lanes, but have `t0` 4, `duration` 4, `times of"),
        ({"times": TIMES[:, :, None]}, "must have shape (lanes, k) or (k,), but has shape (4, 3"),
        ({"t0": STARTS[:, None]}, "`t0` must have shape (lanes,) or (), but has shape (4, 1)"),
        ({"t0": STARTS + NAN}, "t0"),
        ({"duration": DURATIONS - 1.0}, "greater than zero, but is 0 in lane 0"),
        ({"times": TIMES + 0.5}, "between 0 s and 1 s in lane 0, but sample 2 is at 1.5 s"),
        ({"times": TIMES[:, ::-1]}, "must not decrease, but in lane 0 sample 1 is at 0.5 s after"),
        ({"t0": 0.0, "duration": 3.0, "times": np.ones((3, 2))}, "times and varying parameters"),
    ],
)  # fmt: skip
def test_times_of_a_wrong_shape_or_order_are_refused(
    system: dm.System, change: dict[str, Any], words: str
) -> None:
    given = {"t0": STARTS, "duration": DURATIONS, "times": TIMES, **change}
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        run(system, **given)
    assert words in str(refused.value)
