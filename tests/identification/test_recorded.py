"""Recorded signals among the parameters of a machine."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech.identification import as_records
from diffmech.model import parameter_units
from tests.by_tape import by_arrays
from tests.tolerances import FINITE_DIFFERENCE, ROUND_OFF

TS = np.array([0.0, 0.3, 0.7, 1.2, 2.0])
PUSH = np.array([0.5, -1.0, 2.0, 0.0, 1.0])
TIMES = np.linspace(-0.5, 2.5, 61)


def _energies(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del t
    return 0.5 * params["m"] * qd[0] ** 2 - 0.5 * params["k"] * q[0] ** 2


def _push(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del q, qd
    return jnp.array([params["push"](t)])


def pushed_mass(push: dm.Recorded) -> dm.System:
    params = {"m": 2.0, "k": 30.0, "push": push}
    return dm.System(_energies, {"x": "m"}, params, forces=_push, name="pushed mass")


def test_it_is_linear_between_samples_and_constant_beyond_in_lanes_too() -> None:
    lanes = jax.tree.map(lambda x: np.tile(x, (len(TIMES), 1)), dm.Recorded(TS, PUSH))
    found = by_arrays(lambda signal, t: signal(t), lanes, TIMES)
    np.testing.assert_allclose(found, np.interp(TIMES, TS, PUSH), atol=ROUND_OFF)


def test_long_records_are_searched_and_short_ones_are_summed() -> None:
    def operations(k: int) -> str:
        signal = dm.Recorded(np.arange(k), np.arange(k))
        return str(jax.make_jaxpr(lambda t: signal(t))(0.5))

    assert "interp" not in operations(128)
    assert "interp" in operations(129)


@given(
    ends=st.tuples(st.floats(-1.0, 3.0), st.floats(0.0, 2.0)), size=st.integers(5, 9),
    seed=st.integers(0, 9),
)  # fmt: skip
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_window_is_the_same_function_inside(
    ends: tuple[float, float], size: int, seed: int
) -> None:
    values = np.random.default_rng(seed).normal(size=len(TS))
    t0, t1 = ends[0], ends[0] + ends[1]
    part = dm.Recorded(TS, values).window(t0, t1, size)
    assert part.ts.shape == part.values.shape == (size,)
    assert np.all(np.diff(part.ts) > 0)
    inside = np.linspace(t0, t1, 33)
    np.testing.assert_allclose(
        np.interp(inside, part.ts, part.values), np.interp(inside, TS, values), atol=ROUND_OFF
    )


def test_windows_are_made_for_many_lanes_at_once() -> None:
    signal = dm.Recorded(TS, PUSH)
    starts = np.array([0.1, 0.8, 5.0])
    parts = signal.window(starts, starts + 0.5)
    assert parts.ts.shape == (3, 3)
    for i, start in enumerate(starts):
        one = signal.window(start, start + 0.5, 3)
        np.testing.assert_array_equal(parts.ts[i], one.ts)
        np.testing.assert_array_equal(parts.values[i], one.values)
    parts.require("push")
    with pytest.raises(ValueError, match="`size` must be at least 5 for this window, but is 4"):
        signal.window(0.0, 2.0, 4)


def test_what_is_no_signal_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shapes \(5,\) and \(4,\)"):
        dm.Recorded(TS, PUSH[:4])
    with pytest.raises(ValueError, match=r"at least 2, but they have shapes \(1,\)"):
        dm.Recorded([0.0], [1.0])
    with pytest.raises(ValueError, match=r"`Recorded.ts` must increase, but entry 2, 0 s, follows"):
        dm.Recorded([0.0, 1.0, 0.0], [1.0, 2.0, 3.0])
    mass = pushed_mass(dm.Recorded(TS, PUSH))
    with pytest.raises(ValueError, match=r"`push.ts` must increase, but entry 1, -1 s, follows 0"):
        mass.with_params({"push.ts[1]": -1.0})
    assert parameter_units(mass)["push.ts"] == "s"


def test_a_pushed_mass_moves_as_scipy_says_and_its_motion_counts_as_measured(
    tmp_path: Path,
) -> None:
    mass = pushed_mass(dm.Recorded(TS, PUSH))
    run = dm.simulate(mass, [0.1], [0.0], duration=2.2, samples=12, rtol=1e-9)
    exact = solve_ivp(
        lambda t, y: [y[1], (np.interp(t, TS, PUSH) - 30.0 * y[0]) / 2.0],
        (0.0, 2.2), [0.1, 0.0], t_eval=np.asarray(run.ts), rtol=1e-10, atol=1e-12, max_step=0.01,
    )  # fmt: skip
    np.testing.assert_allclose(run.qs[:, 0], exact.y[0], atol=1e-7)

    (live,) = as_records(run)
    (saved,) = as_records(run.save(tmp_path / "run.npz"))
    for found in (live, saved):
        assert found.channels == ("x",)
        assert found.name == "pushed mass"
        np.testing.assert_array_equal(found.values, run.qs)


def test_it_has_a_derivative_by_every_sample_and_time() -> None:
    def at(numbers: Any) -> Any:
        return dm.Recorded(*jnp.split(numbers, 2))(0.55)

    def by_numpy(numbers: Any) -> float:
        ts, values = np.split(numbers, 2)
        return float(np.interp(0.55, ts, values))

    numbers, step = np.concatenate([TS, PUSH]), 1e-4
    wanted = [
        (by_numpy(numbers + step * way) - by_numpy(numbers - step * way)) / (2 * step)
        for way in np.eye(len(numbers))
    ]
    np.testing.assert_allclose(jax.grad(at)(numbers), wanted, atol=FINITE_DIFFERENCE)
