"""Running: no recompilation, stretches without a trace, events, output, interruption."""

import signal
import subprocess
import sys
import textwrap
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import _stretches

from ..by_tape import by_arrays
from ..conftest import machine


def counting_pendulum() -> tuple[dm.System, list[int]]:
    """A pendulum whose Lagrangian counts how often JAX traces it."""
    calls = [0]

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        calls[0] += 1
        return 0.5 * params["l"] ** 2 * qd[0] ** 2 + params["g"] * params["l"] * jnp.cos(q[0])

    return dm.System(lagrangian, {"theta": "rad"}, {"l": 1.0, "g": 9.81}), calls


def test_new_numbers_do_not_recompile() -> None:
    system, calls = counting_pendulum()
    dm.simulate(system, [1.0], [0.0], duration=2.0)
    after_first = calls[0]
    dm.simulate(system, [2], [1], duration=3, rtol=1e-8)
    dm.simulate(system, np.array([0.3], np.float32), duration=np.float64(1.0), atol=1e-6, t0=5)
    dm.simulate(system, {"theta": 0.1}, duration=2.0, params={"l": 2, "g": np.float32(1.5)})
    dm.simulate(system, jnp.array([0.1]), ts=np.linspace(1, 4, 1001), params={"l": 2.0, "g": 1.0})
    dm.simulate(system, [0.1], duration=200.0, max_steps=10**5)
    other = system.with_params(l=0.5)
    dm.simulate(other, [0.1], duration=2.0)
    assert calls[0] == after_first


def test_accelerations_with_new_numbers_do_not_recompile() -> None:
    system, calls = counting_pendulum()
    dm.acceleration(system, [1.0], [0.0])
    after_first = calls[0]
    dm.acceleration(system, [2], [1], 3, {"l": 1, "g": 1})
    dm.acceleration(system, np.array([0.5]), {"theta": 0.0}, np.float64(1.0))
    assert calls[0] == after_first


def test_fixed_steps_with_new_numbers_do_not_recompile() -> None:
    system, calls = counting_pendulum()
    dm.simulate(system, [1.0], duration=1.0, dt=0.1, method="ImplicitMidpoint")
    after_first = calls[0]
    dm.simulate(system, [0.5], duration=2.0, dt=0.05, method="ImplicitMidpoint")
    assert calls[0] == after_first


@pytest.mark.parametrize("dense", [False, True])
def test_cutting_a_run_into_stretches_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch, dense: bool
) -> None:
    system = machine("double_pendulum")
    start = system.starts["chaotic"]
    whole = dm.simulate(system, *start, duration=5.0, dense=dense)
    monkeypatch.setattr(_stretches, "_FIRST", 7)
    monkeypatch.setattr(_stretches, "_SECONDS", 0.0)  # the shortest stretches there are
    pieces = dm.simulate(system, *start, duration=5.0, dense=dense)
    np.testing.assert_array_equal(whole.qs, pieces.qs)
    np.testing.assert_array_equal(whole.qds, pieces.qds)
    assert int(whole.stats["accepted"]) == int(pieces.stats["accepted"])
    if dense:
        times = np.linspace(0, 5, 137)
        np.testing.assert_array_equal(whole(times)[0], pieces(times)[0])


@pytest.mark.parametrize("name", ["double_pendulum", "n_link"])
def test_traced_and_eager_runs_agree_to_round_off(name: str) -> None:
    any_machine = machine(name)
    q0, qd0 = any_machine.starts["default"]
    eager = dm.simulate(any_machine, q0, qd0, duration=1.0, samples=11)
    traced = jax.jit(lambda q: dm.simulate(any_machine, q, qd0, duration=1.0, samples=11))(q0)
    # The same steps, rounded differently by another compilation, over a second of motion.
    np.testing.assert_allclose(traced.qs, eager.qs, atol=1e-11)
    np.testing.assert_allclose(traced.end.qd, eager.end.qd, atol=1e-10)
    assert int(traced.stats["accepted"]) == int(eager.stats["accepted"])


def test_a_batch_by_vmap_equals_the_loop() -> None:
    system = machine("double_pendulum")
    starts = np.random.default_rng(70).uniform(-2, 2, (4, 2))
    batch = jax.jit(jax.vmap(lambda q: dm.simulate(system, q, duration=1.0, samples=5)))(starts)
    for i, start in enumerate(starts):
        single = dm.simulate(system, start, duration=1.0, samples=5)
        np.testing.assert_allclose(batch.qs[i], single.qs, atol=1e-10)
    assert "batched" in str(batch)


def test_any_diffrax_solver_object_can_be_used() -> None:
    system = machine("pendulum")
    exact = dm.simulate(system, [1.0], duration=2.0)
    for solver in (diffrax.Tsit5(), diffrax.Kvaerno5(), diffrax.HalfSolver(diffrax.Dopri5())):
        run = dm.simulate(system, [1.0], duration=2.0, method=solver, rtol=1e-8)
        np.testing.assert_allclose(run.end.q, exact.end.q, atol=1e-6)


def test_sample_times_are_met_exactly() -> None:
    system = machine("pendulum")
    ts = np.array([1.0, 1.001, 1.5, 2.7, 2.7000001, 9.0])
    run = dm.simulate(system, [1.0], ts=ts)
    np.testing.assert_array_equal(run.ts, ts)
    for i in range(1, len(ts)):
        alone = dm.simulate(system, [1.0], ts=[ts[0], ts[i]])
        np.testing.assert_allclose(run.qs[i], alone.end.q, atol=1e-9)


def test_dense_output_is_as_accurate_as_the_run() -> None:
    system = machine("double_pendulum")
    start = system.starts["default"]
    dense = dm.simulate(system, *start, duration=5.0, dense=True, samples=401)
    plain = dm.simulate(system, *start, duration=5.0, samples=401)
    times = np.random.default_rng(71).uniform(0, 5, 40)
    for t, q, qd in zip(times, *dense(times), strict=True):
        exact = dm.simulate(system, *start, duration=float(t), rtol=1e-13, samples=2)
        np.testing.assert_allclose(q, exact.end.q, atol=1e-8)
        np.testing.assert_allclose(qd, exact.end.qd, atol=1e-7)
        near_q, near_qd = plain(float(t))
        np.testing.assert_allclose(near_q, exact.end.q, atol=1e-8)
        np.testing.assert_allclose(near_qd, exact.end.qd, atol=1e-7)
    with pytest.raises(ValueError, match=r"`t` must lie within the run, 0 to 5 s, but is 5\.1"):
        plain(5.1)


WATCHED = {
    "turned": lambda q, qd, t, p: qd[0],
    "left": lambda q, qd, t, p: q[0] < -0.5,
    "late": lambda q, qd, t, p: t - 9.0,
}


def watched(start: float, duration: float) -> dm.Trajectory:
    """A pendulum released from rest, with all events in one program."""
    return dm.simulate(machine("pendulum"), [start], duration=duration, events=WATCHED)


def test_events_stop_where_they_happen_and_the_first_one_wins() -> None:
    run = watched(1.0, duration=10.0)
    assert run.event == "left"
    assert abs(float(run.end.q[0]) + 0.5) < 1e-10
    assert np.all(np.asarray(run.ts) <= float(run.end.t))
    assert "by the event 'left'" in str(run)
    # Released at rest, the rate is zero at the start: that is not an event.
    turned = watched(-1.0, duration=10.0)
    assert turned.event == "turned"
    np.testing.assert_allclose(turned.end.q, [1.0], atol=1e-9)


def test_a_condition_that_ceases_to_hold_is_no_event() -> None:
    run = watched(-1.0, duration=1.0)  # not yet turned
    assert run.event is None
    assert float(run.end.q[0]) > -0.5


def test_events_have_a_direction_and_may_never_come() -> None:
    system = machine("pendulum")
    bottom = lambda q, qd, t, p: q[0]  # noqa: E731
    up, down = ({way: dm.Event(bottom, direction=way)} for way in ("rising", "falling"))
    falling = dm.simulate(system, [1.0], duration=5.0, events=down)
    rising = dm.simulate(system, [1.0], duration=5.0, events=up)
    assert float(falling.end.qd[0]) < 0 < float(rising.end.qd[0])
    np.testing.assert_allclose(rising.end.t, 3 * falling.end.t, rtol=1e-9)
    never = dm.simulate(system, [1.0], duration=1.0, events=up)
    assert float(falling.end.t) < 1.0  # by then it has passed the other way
    assert never.event is None
    assert float(never.end.t) == 1.0


def test_an_event_under_jit_is_the_same_event() -> None:
    system = machine("pendulum")

    def run(q: Any, condition: Any, mass: Any = 1.0) -> Any:
        params = system.with_params(mass=mass).params
        return dm.simulate(
            system, q, duration=3.0, samples=31, events={"it": condition}, params=params
        )

    def either(q: Any, qd: Any, t: Any, p: Any) -> Any:
        """Two conditions in one program: the mass, which does not move a pendulum, chooses."""
        return jnp.where(p.mass > 1, qd[0], q[0] - 0.3)

    q0 = np.array([1.0])
    compiled = jax.jit(lambda q, mass: run(q, either, mass))
    for mass, end in ((1.0, 0.3), (2.0, -1.0)):  # the second is zero at the start, too
        plain, traced = run(q0, either, mass), compiled(q0, mass)
        assert traced.event == plain.event == "it"
        np.testing.assert_allclose(plain.end.q, [end], atol=1e-9)
        np.testing.assert_allclose(traced.end.t, plain.end.t, atol=1e-9)
        np.testing.assert_allclose(traced.end.q, plain.end.q, atol=1e-9)
        assert traced.ts.shape == (31,)
        late = np.linspace(0.0, 3.0, 31) > float(plain.end.t)
        assert np.all(np.isnan(traced.qs) == late[:, None])
        assert str(traced).splitlines()[1] == str(plain).splitlines()[1]
    becomes = jax.jit(lambda q: run(q, lambda q, qd, t, p: q[0] < 0.3))
    assert becomes(q0).event == "it"
    never = becomes(np.array([0.0]) + 2.0 * np.pi)  # hangs still, a turn away
    assert never.event is None
    assert np.all(np.isfinite(never(3.0)[0]))
    with pytest.raises(ValueError, match="watch one event only"):
        jax.jit(
            lambda q: dm.simulate(
                system,
                q,
                duration=1.0,
                events={"a": lambda q, qd, t, p: q[0], "b": lambda q, qd, t, p: qd[0]},
            )
        )(q0)


def test_spans_whose_ends_do_not_add_up_exactly_still_end() -> None:
    # 0.03 + (0.29 − 0.03) is not 0.29 in floating point.
    run = dm.simulate(machine("pendulum"), [1.0], ts=[0.03, 0.29])
    assert float(run.end.t) == 0.29


def test_lists_may_mix_numbers_and_traced_values() -> None:
    system = machine("double_pendulum")
    slope = by_arrays(
        jax.jacfwd(
            lambda x: dm.acceleration(system.with_params(masses=[x, 1.0]), [x, 0.2], [0.0, x])
        ),
        np.ones(1),
    )
    assert np.all(np.isfinite(slope))


def test_a_progress_bar_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    system = machine("pendulum")
    dm.simulate(system, [1.0], duration=2.0, progress=True)
    assert "pendulum" in capsys.readouterr().err
    dm.simulate(system, [1.0], duration=2.0)
    assert capsys.readouterr().err == ""


def test_ctrl_c_keeps_the_prefix_of_the_whole_run() -> None:
    script = textwrap.dedent(
        """
        import signal, warnings, sys, numpy as np
        import diffmech as dm
        from diffmech import _stretches
        from diffmech.simulation import _run
        # A shell's background job is started deaf to it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _stretches._SECONDS = 0.05
        system = dm.systems.double_pendulum()
        start = system.starts["default"]
        advance, calls = _run.advance, []

        def watched(*arguments):
            # Ctrl-C while JAX compiles may be lost: ask for it once the run is under way.
            calls.append(arguments)
            if len(calls) == 4:
                print("under way", flush=True)
            return advance(*arguments)

        _run.advance = watched
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            part = dm.simulate(system, *start, duration=10000.0, samples=500001)
        again = dm.simulate(system, *start, duration=10000.0, samples=500001, max_steps=3000,
                            throw=False)
        count = min(len(part.ts), len(again.ts))
        same = np.array_equal(part.qs[:count], again.qs[:count])
        print(dm.RESULTS[part.status][:19], len(caught), count > 10, same, flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "under way"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=1800)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, err
    assert out.strip() == "stopped by the user 1 True True"


def test_results_survive_a_round_trip_through_jax() -> None:
    system = machine("pendulum")
    run = dm.simulate(system, [1.0], duration=1.0, samples=5)
    leaves, structure = jax.tree.flatten(run)
    again = jax.tree.unflatten(structure, leaves)
    np.testing.assert_array_equal(again.qs, run.qs)
    assert str(again) == str(run)
