"""Runs that fail: a status with time and state, and what was computed before is kept."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm

from ..conftest import machine, random_states
from ..tolerances import CHAIN_ROUND_OFF


def test_a_massless_pendulum_has_no_acceleration() -> None:
    system = dm.systems.pendulum(mass=0.0)
    with pytest.raises(ValueError, match="mass matrix of 'pendulum' is singular"):
        dm.acceleration(system, [1.0], [0.0])
    with pytest.raises(dm.SimulationError, match="stopped at t = 0 s of 1 s: the mass matrix is"):
        dm.simulate(system, [1.0], duration=1.0)
    run = dm.simulate(system, [1.0], duration=1.0, throw=False)
    assert bool(run.status == dm.RESULTS.singular_mass_matrix)
    np.testing.assert_array_equal(run.qs, [[1.0]])
    assert np.isnan(jax.jit(lambda q: dm.acceleration(system, q, [0.0]))(np.array([1.0])))[0]


def test_a_nearly_singular_mass_matrix_gives_no_numbers() -> None:
    # Two coordinates that mean the same but for 1e-16: finite accelerations of 1e15 would be noise.
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd[0] + qd[1]) ** 2 + 1e-16 * qd[1] ** 2 - q[0] ** 2

    system = dm.System(lagrangian, ("a", "b"), name="twins")
    with pytest.raises(ValueError, match="'twins' is singular"):
        dm.acceleration(system, [1.0, 1.0], [0.0, 0.0])


def gimbal(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A free body of moments 1, 2, 3 in yaw-pitch-roll angles: singular at a pitch of 90°."""
    yaw, pitch, roll = qd
    cos, sin = jnp.cos(q[1:]), jnp.sin(q[1:])
    spin = jnp.stack(
        [
            roll - yaw * sin[0],
            pitch * cos[1] + yaw * cos[0] * sin[1],
            yaw * cos[0] * cos[1] - pitch * sin[1],
        ]
    )
    return 0.5 * jnp.array([1.0, 2.0, 3.0]) @ spin**2


def test_gimbal_lock_is_reported_with_time_and_state() -> None:
    system = dm.System(gimbal, {"yaw": "rad", "pitch": "rad", "roll": "rad"}, name="gimbal")
    with pytest.raises(dm.SimulationError, match=r"gimbal stopped at t = 0 s.*mass matrix is sing"):
        dm.simulate(system, [0.0, np.pi / 2, 0.0], [0.1, 0.2, 0.3], duration=1.0)
    # Pure pitching at 1 rad/s, in steps of 0.01 s, stands at 90° after 0.5 s.
    start = [0.0, np.pi / 2 - 0.5, 0.0]
    arguments = {"duration": 1.0, "samples": 101, "method": "Dopri5", "dt": 0.01}
    with pytest.raises(dm.SimulationError, match="the mass matrix is singular") as caught:
        dm.simulate(system, start, [0.0, 1.0, 0.0], **arguments)
    run = caught.value.trajectory
    assert abs(float(run.end.t) - 0.5) < 0.011
    assert abs(float(run.end.q[1]) - np.pi / 2) < 0.011
    assert np.all(np.isfinite(run.qs))
    assert len(run.ts) >= 49
    assert "gimbal lock" in str(run)


def test_a_vanishing_mass_is_called_singular() -> None:
    # Mass x at place x: 1/2 x ẋ² is kept, so x reaches 0 at t = 2/3 with infinite speed.
    system = dm.System(lambda q, qd, t, p: 0.5 * q[0] * qd[0] ** 2, ("x",), name="melting")
    with pytest.raises(dm.SimulationError, match="the mass matrix is singular") as caught:
        dm.simulate(system, [1.0], [-1.0], duration=1.0)
    assert abs(float(caught.value.trajectory.end.t) - 2 / 3) < 1e-6


def test_a_finite_time_blow_up_is_bounded_and_kept() -> None:
    # ẍ = 6 x² from x = 1, ẋ = 2 is x = 1/(1 − t)²: infinite at t = 1.
    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd + 2 * q[0] ** 3, ("x",), name="runaway")
    run = dm.simulate(system, [1.0], [2.0], duration=2.0, throw=False)
    assert bool(run.status == dm.RESULTS.step_too_small)
    assert abs(float(run.end.t) - 1.0) < 1e-6
    np.testing.assert_allclose(run.qs[:400, 0], (1 - np.asarray(run.ts)[:400]) ** -2.0, rtol=1e-8)
    assert int(run.stats["accepted"]) + int(run.stats["rejected"]) < 5000
    with pytest.raises(dm.SimulationError, match="blows up in finite time"):
        dm.simulate(system, [1.0], [2.0], duration=2.0)


def test_the_step_limit_keeps_the_part_that_was_computed() -> None:
    system = machine("pendulum")
    with pytest.raises(dm.SimulationError, match=r"raise `max_steps`.*Kvaerno5") as caught:
        dm.simulate(system, [1.0], duration=1000.0, max_steps=50)
    part = caught.value.trajectory
    assert int(part.stats["accepted"]) + int(part.stats["rejected"]) == 50
    assert bool(part.status == dm.RESULTS.max_steps_reached)
    assert "early, at t = " in str(part)


def test_a_stall_in_stiff_equations_is_noticed_early_with_the_way_out() -> None:
    # ẍ = −10¹² ẋ: steps of about 10⁻¹² s, 10¹³ of them. They go in stretches of half a second, but
    # of a million steps at most; after the second one it is noticed, however fast the machine.
    system = dm.System(
        lambda q, qd, t, p: 0.5 * qd @ qd,
        ("x",),
        {"c": 1e12},
        forces=lambda q, qd, t, p: -p["c"] * qd,
        name="treacle",
    )
    with pytest.raises(dm.SimulationError, match=r"all of it takes about .*e\+1\d") as caught:
        dm.simulate(system, [1.0], [1.0], duration=10.0, max_steps=10_000_000)
    assert "if damped parts make the equations stiff, try `method='Kvaerno5'`" in str(caught.value)
    part = caught.value.trajectory
    assert bool(part.status == dm.RESULTS.max_steps_reached)
    assert int(part.stats["accepted"]) + int(part.stats["rejected"]) <= 1_001_000
    assert 0 < float(part.end.t) < 1e-5
    np.testing.assert_allclose(part.end.q, 1.0)


def test_a_force_that_becomes_nan_is_reported() -> None:
    def forces(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return jnp.sqrt(0.5 - t) * jnp.ones_like(q)

    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd, ("x",), forces=forces, name="fading")
    run = dm.simulate(system, [0.0], duration=1.0, throw=False)
    assert bool(run.status == dm.RESULTS.non_finite_motion)
    assert abs(float(run.end.t) - 0.5) < 1e-6
    assert np.all(np.isfinite(run.qs))
    with pytest.raises(
        dm.SimulationError, match=r"fading stopped at t = 0\.5.*stopped being finite"
    ):
        dm.simulate(system, [0.0], duration=1.0)


def test_failed_lanes_of_a_batch_do_not_disturb_the_others() -> None:
    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd + 2 * q[0] ** 3, ("x",))
    starts = jnp.array([[-1.0], [1.0], [-0.5]])
    batch = jax.vmap(lambda q: dm.simulate(system, q, [2.0], duration=1.5, samples=4))(starts)
    fine = np.asarray(batch.status == dm.RESULTS.successful)
    assert fine.tolist() == [True, False, True]
    for i in (0, 2):
        alone = dm.simulate(system, starts[i], [2.0], duration=1.5, samples=4)
        np.testing.assert_allclose(batch.qs[i], alone.qs, atol=1e-10)
    assert int(np.max(batch.stats["rejected"])) < 5000
    for use in (lambda b: b.report(), lambda b: b.energies, lambda b: b(0.5)):
        with pytest.raises(ValueError, match="a batch of runs"):
            use(batch)


def test_large_batches_of_long_chains_do_not_wait_for_ever() -> None:
    # Several large batches of LAPACK calls at once make XLA's threads wait for each other.
    system = dm.systems.n_link(n=8)
    q, qd, _ = random_states(system.n, 5000, seed=5)
    batch = np.zeros((0, system.n))
    accelerations = jax.jit(jax.vmap(lambda q, qd: dm.acceleration(system, q, qd)))
    for _ in range(50):  # it is a matter of chance
        batch = jax.block_until_ready(accelerations(q, qd))
    for i in (0, 1234, 4999):
        one = dm.acceleration(system, q[i], qd[i])
        np.testing.assert_allclose(batch[i], one, rtol=CHAIN_ROUND_OFF, atol=CHAIN_ROUND_OFF)


def test_batches_of_indefinite_matrices_are_solved_like_single_ones() -> None:
    # M is zero on its diagonal and has entries of very different size: rows must be exchanged.
    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        del t, p
        one = jnp.cos(0.0 * q[0])  # M is another matrix for each member of a batch
        return qd[0] * qd[1] * 1e-6 * one + qd[1] * qd[2] + 0.5 * qd[2] ** 2 - 0.5 * q @ q

    system = dm.System(lagrangian, ("x", "y", "z"))
    q, qd, _ = random_states(3, 20, seed=6)
    batch = jax.vmap(lambda q, qd: dm.acceleration(system, q, qd))(q, qd)
    one = np.stack([dm.acceleration(system, *state) for state in zip(q, qd, strict=True)])
    # M q̈ = −q, solved by hand.
    y = -q[:, 0] / 1e-6
    z = -q[:, 2] - y
    exact = np.stack([(-q[:, 1] - z) / 1e-6, y, z], axis=1)
    np.testing.assert_allclose(batch, exact, rtol=1e-9)  # a condition of 1e6 squared, and some
    np.testing.assert_allclose(one, exact, rtol=1e-9)


def test_a_motion_that_is_not_finite_is_no_success_under_jit() -> None:
    # Constant steps have nobody to stop them: they go on as NaN.
    def forces(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return jnp.sqrt(0.5 - t) * jnp.ones_like(q)

    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd, ("x",), forces=forces)
    how: dict[str, Any] = {"duration": 1.0, "samples": 11, "dt": 0.03}
    plain = dm.simulate(system, [0.0], throw=False, **how)
    traced = jax.jit(lambda q: dm.simulate(system, q, **how))(np.zeros(1))
    assert bool(plain.status == dm.RESULTS.non_finite_motion)
    assert bool(traced.status == dm.RESULTS.non_finite_motion)
    reached = len(plain.ts)
    np.testing.assert_allclose(traced.qs[:reached], plain.qs, rtol=0, atol=1e-15)
    for values in (traced.ts, traced.qs, traced.qds):
        assert np.all(np.isnan(values[reached:]))
    assert np.isnan(traced.end.t)
