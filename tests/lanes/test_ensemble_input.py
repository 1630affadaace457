"""What ensembles say to wrong calls, interruptions and too little memory."""

import os
import subprocess
import sys
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import _progress
from diffmech.lanes._program import keeps_constraints

from ..conftest import machine
from ..simulation.test_starts import FAR, cart as cart


@pytest.fixture(scope="module")
def boot() -> dm.System:
    return machine("babyboot")


class _Alone(NamedTuple):
    """The methods of a reducer, inherited from nothing."""

    def init(self, instant: Any, params: Any) -> Any:
        return ()

    def update(self, carry: Any, before: Any, after: Any, params: Any) -> Any:
        return carry

    def finish(self, carry: Any) -> Any:
        return carry


class _ByState(dm.reducers.Last):
    """As reducers were written once."""

    def init(self, t: Any, q: Any, qd: Any, params: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ()


class _Short(dm.reducers.Last):
    def update(self, carry: Any, after: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return carry


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"q0s": np.zeros((5, 3))}, r"`q0s` must have shape \(lanes, 2\) or \(2,\) = \(qA, qB\)"),
        ({"q0s": {"qC": 1.0}}, "`q0s` names 'qC', which is not a coordinate"),
        ({"q0s": {"qA": [1.0, 2.0]}}, "but qB is missing"),
        ({"params": {"mB": -1.0}}, "mB"),
        ({"params": {"mB": np.nan}}, "`mB` must be finite"),
        ({"params": {"mB": [0.1, -0.2, 0.1]}}, r"`mB\[1\]` must not be negative, but is -0\.2"),
        ({"params": {"LA": [0.1, 0.2, 0.0]}}, r"`LA\[2\]` must be greater than zero, but is 0"),
        ({"q0s": {"qA": [1.0, 2.0], "qB": [1.0, 2.0, 3.0]}}, "arrays of one length"),
        ({"q0s": ["a", "b"]}, "`q0s` must be numbers"),
        ({"qd0s": np.zeros((4, 2))}, "must have one number of lanes, but have 3, 4"),
        ({"duration": 0.0}, "`duration` must be greater than zero"),
        ({"duration": np.nan}, "`duration` must be finite"),
        ({"rtol": 1e-16}, "`rtol` must be at least"),
        ({"dt": -1.0}, "`dt` must be greater than zero"),
        ({"method": "Kvaerno5"}, "Lanes take explicit Runge-Kutta steps"),
        ({"method": "Dopri9"}, "Did you mean"),
        ({"method": diffrax.Heun()}, "last stage is the first of the next"),
        ({"params": {"mC": 1.0}}, "there is no parameter 'mC'"),
        ({"params": {"mB": np.ones((3, 2))}}, r"parameter `mB` must have shape \(\)"),
        ({"params": 3.0}, "`params` must have the structure of the system's, or map paths"),
        ({"reduce": "first"}, "there is no reducer 'first'"),
        ({"reduce": 3}, "classes that inherit from `dm.reducers.AbstractReducer`.*but 'int' is 3"),
        ({"reduce": {"it": _Alone()}}, "classes that inherit from `dm.reducers.AbstractReducer`"),
        ({"reduce": dm.reducers.Last}, "'last' is the class Last: call it"),
        (
            {"reduce": {"old": _ByState()}},
            r"`init` of the reducer 'old' must take \(instant, params\), but takes \(t, q, qd, "
            r"params\): the start is `instant.t`, `instant.q`, `instant.qd`",
        ),
        (
            {"reduce": [dm.reducers.Last(), _Short()]},
            r"`update` of the reducer 'short' must take \(carry, before, after, params\), but "
            r"takes \(carry, after\)$",
        ),
        (
            {"reduce": dm.reducers.FirstTime(lambda q, qd, t, p: q)},
            r"`reduce\['first_time'\]` .* must return a scalar, shape \(\), but returns .*\(2,\)",
        ),
        (
            {"reduce": {"far": dm.reducers.Crossings(lambda q, qd, t, p: None)}},
            r"`reduce\['far'\]` .*raised",
        ),
        ({"reduce": dm.reducers.Smallest(lambda q, qd, t, p: q[2])}, "entry 2 of an axis with 2"),
        (
            {"reduce": [dm.reducers.Last(), dm.reducers.Last()]},
            "two reducers called 'last': name them",
        ),
        ({"reduce": dm.reducers.Samples([0.5, 3.0])}, "sample times must lie between 0 s and 1 s"),
        (
            {"reduce": dm.reducers.Growth([1.0, 0.0])},
            r"tangents of Growth must have shape \(k, 4\)",
        ),
        ({"stabilise": "projection"}, "has no constraints to keep"),
        ({"max_steps": 0}, "`max_steps` must be a whole number, at least 1"),
        ({"block": 0}, "`block` must be a whole number"),
    ],
)
def test_a_wrong_call_gets_a_sentence(
    boot: dm.System, change: dict[str, Any], sentence: str
) -> None:
    call: dict[str, Any] = {"system": boot, "q0s": np.zeros((3, 2)), "duration": 1.0, **change}
    with pytest.raises(ValueError, match=sentence):
        dm.ensemble(call.pop("system"), call.pop("q0s"), call.pop("qd0s", None), **call)


def test_stiff_penalties_are_for_simulate() -> None:
    bar = machine("four_bar")
    with pytest.raises(ValueError, match="in an ensemble, but is 'penalty'"):
        dm.ensemble(bar, *bar.starts["default"], duration=1.0, stabilise="penalty")


def test_starts_that_break_their_constraints_are_bad_input() -> None:
    pendulum = machine("pendulum_dae")
    q, qd = pendulum.starts["default"]
    got = dm.ensemble(pendulum, np.stack([q, q + 0.1, q]), qd, duration=0.1)
    assert got.status.tolist() == [dm.Status.OK, dm.Status.BAD_INPUT, dm.Status.OK]
    assert "breaks the constraints" in str(got)


def test_an_interrupted_ensemble_keeps_what_is_done(
    boot: dm.System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diffmech.lanes._ensemble._TILE", 64)
    calls = []
    update = _progress.Progress.update

    def stop_after_two(self: Any, done: float) -> None:
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt
        update(self, done)

    monkeypatch.setattr(_progress.Progress, "update", stop_after_two)
    with pytest.warns(UserWarning, match="interrupted after 128 of 200 motions"):
        got = dm.ensemble(boot, np.full((200, 2), 0.1), duration=0.5)
    assert np.all(got.status[:128] == dm.Status.OK)
    assert np.all(got.status[128:] == dm.Status.INTERRUPTED)
    assert np.all(np.isfinite(got.values["last"][0][:128]))
    assert np.all(np.isnan(got.values["last"][0][128:]))


def test_results_that_do_not_fit_are_refused_with_the_numbers(
    boot: dm.System, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = iter([2**40, 4096])  # enough for the starts
    monkeypatch.setattr("diffmech._memory._available", lambda: next(free))
    with pytest.raises(ValueError, match=r"the results of 5000 motions need .* GiB, but only"):
        dm.ensemble(boot, np.full((5000, 2), 0.1), duration=0.01)


def test_no_lanes_are_no_results(boot: dm.System) -> None:
    got = dm.ensemble(boot, np.zeros((0, 2)), duration=1.0)
    assert len(got) == 0
    assert got.values["last"][0].shape == (0, 2)
    assert str(got)


def test_equations_without_scalar_form_run_as_arrays() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        stiffness = jnp.linalg.eigvalsh(jnp.array([[2.0, 0.1], [0.1, 1.0]]) + jnp.outer(q, q))
        return 0.5 * qd @ qd - jnp.sum(stiffness * q**2)

    odd = dm.System(lagrangian, ("x", "y"))
    got = dm.ensemble(odd, [[0.3, 0.2], [0.1, 0.4]], duration=1.0, rtol=1e-10)
    assert got.settings["form"] == "arrays"
    assert "eigh" in got.settings["why"]
    assert not np.any(got.indefinite)
    run = dm.simulate(odd, [0.3, 0.2], duration=1.0, rtol=1e-11, samples=2)
    assert np.max(np.abs(got.values["last"][0][0] - run.qs[-1])) < 1e-8


def _printed(code: str, **environment: str) -> list[str]:
    """What a program of its own prints, word by word."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_tuned_process_runs_unrolled_lanes_on_all_devices() -> None:
    code = """
import numpy as np, diffmech as dm
dm.tune_cpu(devices=2)
boot = dm.systems.babyboot()
angles = np.linspace(0.1, 3.0, 200)
ends = [dm.ensemble(boot, {"qA": angles, "qB": 0.01}, duration=3.0, devices=k) for k in (2, 1)]
same = ends[0].values["last"][0].tobytes() == ends[1].values["last"][0].tobytes()
print(same, *(e.settings["devices"] for e in ends), ends[0].settings["form"], sum(ends[0].ok))
"""
    assert _printed(code) == ["True", "2", "1", "lanes,", "unrolled", "200"]


def test_single_precision_warns_and_is_recorded() -> None:
    code = """
import warnings, numpy as np, diffmech as dm
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    got = dm.ensemble(dm.systems.babyboot(), [[0.5, 0.1]], duration=1.0)
print(sum("float32" in str(w.message) for w in said), got.settings["precision"], got.status[0])
"""
    assert _printed(code, DIFFMECH_X64="0") == ["1", "float32", "0"]


def test_lanes_judge_starts_as_runs_do(cart: dm.System) -> None:
    starts = np.array([[FAR, y, 1e6, rate] for y, rate in ((0, 0), (0.1, 0), (1e-7, 0), (0, 0.1))])
    judged = jax.jit(
        lambda starts: keeps_constraints(cart.laws, starts, 0.0, cart.params, {"slope": False})
    )
    np.testing.assert_array_equal(judged(starts.T), [True, False, True, False])
