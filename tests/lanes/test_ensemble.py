"""Lanes against Diffrax, `simulate` and themselves."""

from collections.abc import Callable
from functools import cache
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.lanes._compiling import compiling_seconds
from diffmech.lanes._program import Form, Program
from diffmech.lanes._tableau import as_tableau
from diffmech.lanes._tiles import run_tile
from diffmech.motion import jacobian_of, motion_of, rate_residual_of, residual_of

from ..by_tape import carried_out
from ..conftest import machine, random_states
from ..tolerances import ORDER, ROUND_OFF

METHODS = ("Tsit5", "Dopri5", "Dopri8", "Bosh3")


def _starts(system: dm.System, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random states near the machine's own start, on its constraints."""
    q0, qd0 = system.starts["default"]
    q, qd, _ = random_states(system.n, count, seed)
    q, qd = q0 + 0.05 * q, qd0 + 0.05 * qd
    if not getattr(system, "constraints", ()):
        return q, qd
    laws, params, t = system.laws, system.params, np.zeros(())

    def seen(q: Any, qd: Any) -> Any:
        off = residual_of(laws, q, t, params), rate_residual_of(laws, q, qd, t, params)
        return jacobian_of(laws, q, t, params), *off

    look = carried_out(seen, q[0], qd[0])
    for _ in range(10):  # Newton's method: the smallest change
        rows, off, off_rate = look(q, qd)
        step = np.linalg.pinv(rows)
        q, qd = q - np.einsum("knm,km->kn", step, off), qd - np.einsum("knm,km->kn", step, off_rate)
    return q, qd


def _rates(system: dm.AbstractSystem) -> Callable[[float, np.ndarray], np.ndarray]:
    """dy/dt of states y, shape (states, 2n)."""
    nothing = np.zeros(system.n)
    look = carried_out(
        lambda q, qd, t: motion_of(system.laws, q, qd, t, system.params).qdd, nothing, nothing, 0.0
    )

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, qd = np.split(y, 2, axis=1)
        return np.concatenate([qd, look(q, qd, np.full(len(y), t))], axis=1)

    return rates


def _by_its_tableau(
    system: dm.AbstractSystem, q: Any, qd: Any, duration: float, steps: int, method: str
) -> np.ndarray:
    """The ends of motions by constant steps of a Diffrax solver, whose coefficients are used."""
    tableau, rates = getattr(diffrax, method)().tableau, _rates(system)
    y, step = np.concatenate([q, qd], axis=1), duration / steps
    for k in range(steps):
        slopes = [rates(k * step, y)]
        for node, row in zip(tableau.c, tableau.a_lower, strict=True):
            moved = y + step * np.tensordot(row, slopes, 1)
            slopes.append(rates((k + node) * step, moved))
        y = y + step * np.tensordot(tableau.b_sol, slopes, 1)
    return y


def _by_diffrax(
    system: dm.AbstractSystem, q: Any, qd: Any, duration: float, steps: int, method: str
) -> np.ndarray:
    n = system.n

    def rate(t: Any, y: Any, params: Any) -> Any:
        return jnp.concatenate([y[n:], motion_of(system.laws, y[:n], y[n:], t, params).qdd])

    @jax.jit
    def end(y: Any) -> Any:
        solver = getattr(diffrax, method)()
        term = diffrax.ODETerm(rate)
        step = duration / steps
        solved = diffrax.diffeqsolve(term, solver, 0.0, duration, step, y, system.params)
        return jax.tree.leaves(solved.ys)[0][-1]

    return np.stack([end(y) for y in np.concatenate([q, qd], axis=1)])


def _end(result: dm.Ensemble) -> np.ndarray:
    return np.concatenate(result.values["last"], axis=1)


def test_lanes_take_the_steps_of_diffrax(any_machine: dm.System) -> None:
    q, qd = _starts(any_machine, 3, seed=5)
    how = "none" if getattr(any_machine, "constraints", ()) else None
    got = dm.ensemble(any_machine, q, qd, duration=0.2, dt=0.002, method="Bosh3", stabilise=how)
    assert set(got.steps) == {100}
    assert got.settings["form"].startswith("lanes")
    wanted = _by_its_tableau(any_machine, q, qd, 0.2, 100, "Bosh3")
    assert np.max(np.abs(_end(got) - wanted)) < ROUND_OFF * (1 + np.max(np.abs(wanted)))


@pytest.mark.parametrize("name", ["four_bar", "kapitza"])
def test_steps_by_a_tableau_are_those_of_diffrax(name: str) -> None:
    """With constraints, and driven; without either see the methods below."""
    system = machine(name)
    q, qd = _starts(system, 3, seed=5)
    wanted = _by_diffrax(system, q, qd, 0.2, 100, "Bosh3")
    ours = _by_its_tableau(system, q, qd, 0.2, 100, "Bosh3")
    assert np.max(np.abs(ours - wanted)) < ROUND_OFF * (1 + np.max(np.abs(wanted)))


def _driven(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Forced, with inertia that depends on the place."""
    del params
    inertia = 1 + 0.3 * jnp.sin(q[0])
    return 0.5 * inertia * qd[0] ** 2 + jnp.cos(q[0]) + 0.3 * q[0] * jnp.sin(t)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_has_its_order_and_takes_the_steps_of_diffrax(method: str) -> None:
    boot = machine("babyboot")
    q, qd = _starts(boot, 3, seed=1)
    same = dm.ensemble(boot, q, qd, duration=0.5, dt=0.01, method=method)
    assert np.max(np.abs(_end(same) - _by_diffrax(boot, q, qd, 0.5, 50, method))) < ROUND_OFF
    driven = dm.System(_driven, {"x": "m"})
    exact = _end(dm.ensemble(driven, [1.0], duration=20.0, dt=20 / 3000, method="Dopri8"))
    counts = {"Dopri8": (100, 120), "Bosh3": (800, 1600)}.get(method, (400, 800))
    errors = [
        np.max(
            np.abs(_end(dm.ensemble(driven, [1.0], duration=20, dt=20 / k, method=method)) - exact)
        )
        for k in counts
    ]
    order = np.log(errors[0] / errors[1]) / np.log(counts[1] / counts[0])
    expected = {"Bosh3": 3, "Dopri8": 8}.get(method, 5)
    assert abs(order - expected) < ORDER, f"{method}: {order:.2f} from {errors}"


def test_adaptive_lanes_follow_simulate_within_their_tolerance() -> None:
    boot = machine("babyboot")
    angles = np.radians([5.0, 20.0, 45.0, 120.0])
    for rtol in (1e-5, 1e-8, 1e-11):
        got = dm.ensemble(boot, {"qA": angles, "qB": 0.01}, duration=5.0, rtol=rtol)
        assert np.all(got.ok)
        for i, angle in enumerate(angles):
            run = dm.simulate(boot, [angle, 0.01], duration=5.0, rtol=1e-12, samples=2)
            wanted = np.concatenate([run.qs[-1], run.qds[-1]])
            assert np.max(np.abs(_end(got)[i] - wanted)) < 300 * rtol


def test_four_bars_in_lanes_equal_simulate() -> None:
    bar = machine("four_bar")
    q, qd = _starts(bar, 8, seed=3)
    lanes = 1024
    many = np.tile(q, (lanes // 8, 1)), np.tile(qd, (lanes // 8, 1))
    got = dm.ensemble(bar, *many, duration=2.0, rtol=1e-10)
    assert np.all(got.ok)
    assert np.array_equal(_end(got)[:8], _end(got)[-8:])
    for i in range(8):
        run = dm.simulate(bar, q[i], qd[i], duration=2.0, rtol=1e-12, samples=2)
        wanted = np.concatenate([run.qs[-1], run.qds[-1]])
        assert np.max(np.abs(_end(got)[i] - wanted)) < 1e-8


def test_baumgarte_in_lanes_equals_simulate() -> None:
    bar = machine("four_bar")
    q, qd = bar.starts["default"]
    how = dm.solvers.baumgarte(20.0, 1.0)
    got = dm.ensemble(bar, q, qd, duration=1.0, rtol=1e-11, stabilise=how)
    run = dm.simulate(bar, q, qd, duration=1.0, rtol=1e-12, samples=2, stabilise=how)
    assert np.max(np.abs(_end(got)[0] - np.concatenate([run.qs[-1], run.qds[-1]]))) < 1e-8


def test_new_numbers_do_not_compile() -> None:
    boot = machine("babyboot")
    angles = np.linspace(0.1, 1.0, 5)

    def go(count: int, duration: float, rtol: float, mass: float) -> None:
        starts = {"qA": np.resize(angles, count), "qB": 0.01}
        dm.ensemble(boot, starts, duration=duration, rtol=rtol, params={"mB": mass})

    go(5, 1.0, 1e-6, 0.1)
    before = compiling_seconds()
    go(4200, 0.5, 1e-7, 0.12)
    go(1, 2, 1e-5, 1)
    assert compiling_seconds() == before


def test_the_same_call_gives_the_same_bytes_whatever_else_runs() -> None:
    boot = machine("babyboot")
    angles = np.radians(np.linspace(1, 179, 300))
    one = dm.ensemble(boot, {"qA": angles, "qB": 0.01}, duration=5.0)
    two = dm.ensemble(boot, {"qA": angles, "qB": 0.01}, duration=5.0)
    assert _end(one).tobytes() == _end(two).tobytes()
    some = dm.ensemble(boot, {"qA": angles[64:200], "qB": 0.01}, duration=5.0)
    assert _end(some).tobytes() == _end(one)[64:200].tobytes()


def _blowing_up() -> dm.System:
    """ẍ = k x³ runs to infinity in finite time where k > 0; M = 1 − m has no inertia at m = 1."""

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        inertia = 1.0 - params["m"]
        return 0.5 * inertia * jnp.sum(qd**2) + 0.25 * params["k"] * jnp.sum(q**4)

    return dm.System(lagrangian, {"x": "m"}, {"k": -1.0, "m": 0.0})


def test_bad_lanes_leave_the_others_bit_for_bit_alone() -> None:
    system = _blowing_up()
    good = np.linspace(0.5, 1.5, 6)
    alone = dm.ensemble(
        system, good[:, None], duration=3.0, params={"k": -np.ones(6), "m": np.zeros(6)}
    )
    q = np.array([0.5, np.nan, 0.7, 0.9, 1.1, 1.3, 1.5, 1.0, np.inf])
    q[[0, 2, 3, 4, 5, 6]] = good
    k = np.where(np.arange(9) == 7, 4.0, -1.0)
    m = np.zeros(9)
    q = np.append(q, 1.0)
    k, m = np.append(k, -1.0), np.append(m, 1.0)
    mixed = dm.ensemble(system, q[:, None], duration=3.0, params={"k": k, "m": m})
    kept = [0, 2, 3, 4, 5, 6]
    assert _end(mixed)[kept].tobytes() == _end(alone).tobytes()
    assert np.array_equal(mixed.steps[kept], alone.steps)
    assert mixed.status[1] == mixed.status[8] == dm.Status.BAD_INPUT
    assert mixed.status[7] == dm.Status.STEP_TOO_SMALL
    assert mixed.status[9] == dm.Status.SINGULAR
    assert np.all(np.isnan(_end(mixed)[[1, 7, 8, 9]]))
    assert "BAD_INPUT" in str(mixed)
    assert "singular" in str(mixed)


def test_the_bound_on_steps_is_a_status() -> None:
    boot = machine("babyboot")
    got = dm.ensemble(boot, {"qA": [0.1, 1.5], "qB": 0.01}, duration=10.0, max_steps=30)
    assert set(got.status) == {dm.Status.MAX_STEPS}
    assert np.all(got.ends < 10)


def test_parameters_may_vary_from_lane_to_lane() -> None:
    boot = machine("babyboot")
    masses = np.linspace(0.05, 0.2, 4)
    got = dm.ensemble(boot, [1.0, 0.02], duration=3.0, rtol=1e-10, params={"mB": masses})
    for i, mass in enumerate(masses):
        one = dm.ensemble(boot.with_params(mB=mass), [1.0, 0.02], duration=3.0, rtol=1e-10)
        # Sums of parameters are rounded in another order than where they are common to all lanes.
        assert np.max(np.abs(_end(got)[i] - _end(one)[0])) < 1e-12
    chain = machine("n_link")
    lengths = np.stack([chain.params.lengths, 1.1 * chain.params.lengths])
    both = dm.ensemble(chain, chain.starts["default"][0], duration=1.0, params={"lengths": lengths})
    alone = dm.ensemble(
        chain.with_params(lengths=lengths[1]), chain.starts["default"][0], duration=1.0
    )
    assert np.max(np.abs(_end(both)[1] - _end(alone)[0])) < 1e-10


def test_derivatives_go_forward_and_say_so_backward() -> None:
    boot = machine("babyboot")

    def end(mass: Any) -> Any:
        result = dm.ensemble(boot, [1.0, 0.02], duration=2.0, rtol=1e-11, params={"mB": mass})
        return jnp.concatenate(result.values["last"], axis=1)[0]

    def by_simulate(mass: Any) -> Any:
        params = boot.with_params(mB=mass).params
        run = dm.simulate(
            boot,
            [1.0, 0.02],
            duration=2.0,
            rtol=1e-11,
            params=params,
            samples=2,
            gradient="forward",
        )
        return jnp.concatenate([run.qs[-1], run.qds[-1]])

    mass = jnp.asarray(0.1)
    slope = np.asarray(jax.jit(jax.jacfwd(end))(mass))
    wanted = np.asarray(jax.jit(jax.jacfwd(by_simulate))(mass))
    assert np.max(np.abs(slope - wanted)) < 1e-7 * np.max(np.abs(slope))
    # Tracing is enough to be told.
    with pytest.raises(ValueError, match=r"forward-mode.*`simulate` under `jax.vmap`"):
        jax.eval_shape(jax.grad(lambda mass: end(mass)[0]), mass)


def test_an_ensemble_works_inside_a_users_transformations() -> None:
    boot = machine("babyboot")

    def end(angle: Any) -> Any:
        result = dm.ensemble(boot, {"qA": angle, "qB": 0.01}, duration=1.0)
        return result.values["last"][0], result.status

    angles = jnp.linspace(0.1, 1.0, 3)
    plain = np.asarray(end(angles)[0])
    compiled, status = map(np.asarray, jax.jit(end)(angles))
    # Another program rounds in another way, and the sizes of the steps follow.
    assert np.max(np.abs(compiled - plain)) < 1e-10
    assert np.all(status == dm.Status.OK)
    mapped = np.asarray(jax.jit(jax.vmap(end))(angles[:, None])[0])
    assert np.max(np.abs(mapped[:, 0] - plain)) < 1e-10


@cache
def _pendulums() -> dm.Ensemble:
    """Two double pendulums in the form that is chosen here, with something of every kind kept."""
    pendulum = machine("double_pendulum")
    starts = np.array([[0.3, 0.2], [1.0, -0.5]])
    reduce = {
        "last": dm.reducers.Last(),
        "growth": dm.reducers.Growth([1.0, 0, 0, 0]),
        "e": dm.reducers.EnergyError(pendulum),
    }
    return dm.ensemble(pendulum, starts, duration=1.0, reduce=reduce, method="Bosh3", rtol=1e-9)


@pytest.mark.parametrize("form", Form)
def test_every_form_gives_the_same_motion_and_lowers_for_a_gpu(
    form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = _pendulums()
    module = "diffmech.lanes._ensemble"
    tableau = as_tableau("Bosh3")

    def in_this_form(_: Any, laws: Any, layout: Any, *__: Any) -> tuple[Program, str]:
        return Program(laws, layout, tableau, form), "for a test"

    monkeypatch.setattr(f"{module}.choose_program", in_this_form)
    calls = []

    def spy(*arguments: Any) -> Any:
        calls.append(arguments)
        return run_tile(*arguments)

    monkeypatch.setattr("diffmech.lanes._host_loop.run_tile", spy)
    got = _pendulums.__wrapped__()
    for name in ("last", "growth"):
        for a, b in zip(
            jax.tree.leaves(got.values[name]), jax.tree.leaves(usual.values[name]), strict=True
        ):
            assert np.max(np.abs(a - b)) < 1e-11
    lowered = run_tile.trace(*calls[0]).lower(lowering_platforms=("cuda",))
    assert "func.func" in lowered.as_text()
