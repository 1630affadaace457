"""Periodic orbits and their multipliers against closed forms."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipk

import diffmech as dm


def swing(amplitude: float) -> float:
    """The period of the 1 m pendulum [s]."""
    return float(4 * ellipk(np.sin(amplitude / 2) ** 2) / np.sqrt(9.81))


@pytest.mark.parametrize("amplitude", [0.1, np.pi / 2, 3.0])
def test_a_pendulum_released_from_rest_has_the_period_of_the_elliptic_integral(
    amplitude: float,
) -> None:
    system = dm.systems.pendulum()
    orbit = dm.periodic_orbit(system, family="theta", amplitude=amplitude)
    assert abs(float(orbit.period) - swing(amplitude)) < 1e-10
    assert orbit.kind == "brake"
    found = dm.floquet(system, orbit)
    assert found.trivial == 2
    assert found.verdict == "stable"
    np.testing.assert_allclose(found.multipliers, 1.0)
    np.testing.assert_array_equal(orbit.multipliers, found.multipliers)
    # The motion's own direction (0, q̈) comes back, and so does its neighbour in energy, later.
    np.testing.assert_allclose(found.monodromy @ [0, 1], [0, 1], atol=1e-9)
    np.testing.assert_allclose(np.diagonal(found.monodromy), 1.0, atol=1e-9)


def test_the_published_period_of_a_horizontal_release_comes_out() -> None:
    orbit = dm.periodic_orbit(dm.systems.pendulum(), family="theta", amplitude=np.pi / 2)
    assert abs(float(orbit.period) - 2.36784194757623745) < 1e-12


def test_shooting_finds_swings_and_whole_turns_near_a_guess() -> None:
    system = dm.systems.pendulum()
    orbit = dm.periodic_orbit(system, [1.2], [0.1], period=2.0)
    top = float(np.arccos(np.cos(orbit.q[0]) - orbit.qd[0] ** 2 / (2 * 9.81)))
    assert abs(float(orbit.period) - swing(top)) < 1e-10
    assert abs(orbit.q[0] - 1.2) < 0.2
    turning = dm.periodic_orbit(system, [0.0], [8.0], period=0.9, turns=[1])
    # From the bottom at rate w: T = 4 K(m)/w with m = 4 g/w².
    rate = float(np.sqrt(turning.qd[0] ** 2 + 2 * 9.81 * (1 - np.cos(turning.q[0]))))
    assert abs(float(turning.period) - 4 * ellipk(4 * 9.81 / rate**2) / rate) < 1e-10
    assert float(dm.floquet(system, turning).closing) < 1e-9


def test_modes_of_the_double_pendulum_begin_as_the_linear_ones_and_close() -> None:
    system = dm.systems.double_pendulum()
    for ratio in (np.sqrt(2), -np.sqrt(2)):
        small = dm.periodic_orbit(system, [1e-3, 1e-3 * ratio], family="theta1", amplitude=1e-3)
        linear = 2 * np.pi / np.sqrt(9.81 * (2 - ratio))
        np.testing.assert_allclose(float(small.period), linear, rtol=1e-5)  # amplitude² and less
        np.testing.assert_allclose(small.q, [1e-3, 1e-3 * ratio], rtol=1e-5)
        row = dm.continue_orbit(small, "amplitude", [0.1, 0.2, 0.3])
        assert not row.ended
        for orbit in row.orbits:
            run = dm.simulate(system, orbit.q, orbit.qd, duration=float(orbit.period), samples=2)
            assert np.max(np.abs(run.end.q - orbit.q)) < 1e-9
            assert np.max(np.abs(run.end.qd)) < 1e-9
        found = dm.floquet(system, row.orbits[-1])
        # From half a turn, there and back, as from a whole one.
        last = row.orbits[-1]
        whole = dm.floquet(system, (last.q, last.qd, last.period))
        np.testing.assert_allclose(found.monodromy, whole.monodromy, rtol=0, atol=1e-8)
        (mu, other) = found.pairs[0]
        assert abs(mu * other - 1) < 1e-9
        assert abs(found.determinant - 1) < 1e-9
        # The trivial multipliers are in the monodromy: its trace is two more than the pair's.
        assert abs(np.trace(found.monodromy) - 2 - (mu + other).real) < 1e-8
    assert "3 brake periodic motions" in str(row)


def duffing(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """ẍ + c ẋ + x + x³ = F cos ωt."""
    drive = params["F"] * jnp.cos(params["w"] * t)
    return 0.5 * qd[0] ** 2 - 0.5 * q[0] ** 2 - 0.25 * q[0] ** 4 + drive * q[0]


def damping(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * params["c"] * qd[0] ** 2


def driven_duffing() -> dm.System:
    params = {"c": 0.2, "F": 0.3, "w": 1.6}
    return dm.System(duffing, {"x": "m"}, params, dissipation=damping, name="duffing")


def test_a_forced_response_shrinks_areas_by_its_damping_alone() -> None:
    system = driven_duffing()
    period = 2 * np.pi / 1.6
    orbit = dm.periodic_orbit(system, [0.0], [0.0], period=period, forced=True)
    assert float(orbit.residual) < 1e-10
    found = dm.floquet(system, orbit)
    assert found.trivial == 0
    assert abs(found.determinant - np.exp(-0.2 * period)) < 1e-11
    assert abs(np.prod(found.multipliers) - np.exp(-0.2 * period)) < 1e-11
    assert found.verdict == "stable"
    assert abs(np.sum(found.exponents.real) + 0.2) < 1e-10
    np.testing.assert_allclose(orbit.multipliers, found.multipliers)
    run = dm.simulate(system, orbit.q, orbit.qd, duration=period, samples=2)
    np.testing.assert_allclose(run.end.q, orbit.q, atol=1e-9)


def test_a_forced_response_is_followed_to_the_fold_where_it_vanishes() -> None:
    system = driven_duffing()

    def period(params: Any) -> Any:
        return 2 * jnp.pi / params["w"]

    edges = dm.band_edges(system, "F", (0.1, 1.5), period=period, points=29)
    assert edges.kinds == ("fold",)
    place = float(edges.values[0])
    before, after = (
        dm.continue_orbit(
            dm.periodic_orbit(system, [0.0], period=2 * np.pi / 1.6, forced=True),
            "F",
            np.linspace(0.3, place + beyond, 9),
        )
        for beyond in (-1e-5, 1e-3)
    )
    # A fold: 1 − μ falls with the root of the distance, and beyond there is nothing near.
    assert not before.ended
    largest = float(np.max(np.abs(dm.floquet(system, before.orbits[-1]).multipliers)))
    assert 0 < 1 - largest < 0.05
    jumped = after.ended or abs(after.orbits[-1].q[0] - before.orbits[-1].q[0]) > 0.1
    assert jumped
    # How the fold moves with the damping, against the fold of another damping.
    h = 1e-3
    moved = [
        dm.band_edges(system.with_params(c=0.2 + d), "F", (0.1, 1.5), period=period, points=29)
        for d in (h, -h)
    ]
    slope = (moved[0].values[0] - moved[1].values[0]) / (2 * h)
    np.testing.assert_allclose(edges.derivatives["c"][0], slope, rtol=1e-5)


def test_a_limit_cycle_attracts_by_the_mean_of_its_damping() -> None:
    def acceleration(q: Any, qd: Any, t: Any, params: Any) -> Any:
        """Van der Pol's oscillator, μ = 1: period 6.6632868593, the other multiplier 8.6e-4."""
        del t, params
        return (1 - q**2) * qd - q

    system = dm.Explicit(acceleration, ("x",), name="van der Pol")
    orbit = dm.periodic_orbit(system, [2.0], [0.0], period=6.5)
    assert abs(float(orbit.period) - 6.6632868593) < 1e-9
    found = dm.floquet(system, orbit)
    assert found.trivial == 1
    assert found.verdict == "stable"
    # Liouville: det M = exp ∫ (1 − x²) dt along the cycle.
    run = dm.simulate(system, orbit.q, orbit.qd, duration=float(orbit.period), samples=2001)
    wanted = np.exp(np.trapezoid(1 - np.asarray(run.qs)[:, 0] ** 2, run.ts))
    np.testing.assert_allclose(found.nontrivial, [wanted], rtol=1e-6)
    np.testing.assert_allclose(found.determinant, wanted, rtol=1e-6)


def test_an_upside_down_pendulum_stands_on_a_fast_pivot_and_falls_on_a_slow_one() -> None:
    system = dm.System(
        lambda q, qd, t, p: (
            0.5 * qd[0] ** 2 - 0.5 * (p["w"] ** 2 * p["b"] * jnp.cos(p["w"] * t) - 1) * q[0] ** 2
        ),
        {"x": "rad"},
        {"w": 1.0, "b": 0.1},
    )
    for w, verdict in ((10.0, "unstable"), (20.0, "stable")):  # b w = √2 lies between
        fast = system.with_params(w=w)
        assert dm.floquet(fast, ([0.0], [0.0], 2 * np.pi / w)).verdict == verdict


def test_wrong_calls_and_lost_orbits_are_answered_with_sentences() -> None:
    system = dm.systems.pendulum()
    with pytest.raises(ValueError, match="`period` must be given"):
        dm.periodic_orbit(system, [1.0])
    with pytest.raises(ValueError, match="`q0` must be given"):
        dm.periodic_orbit(system, period=1.0)
    with pytest.raises(ValueError, match="given together"):
        dm.periodic_orbit(system, family="theta")
    with pytest.raises(ValueError, match="Did you mean 'theta'"):
        dm.periodic_orbit(system, family="thetta", amplitude=1.0)
    with pytest.raises(ValueError, match="equilibrium"):
        dm.periodic_orbit(system, [1e-3], [0.0], period=1.3)
    with pytest.raises(ValueError, match="must be a `PeriodicOrbit`"):
        dm.floquet(system, ([1.0], [0.0]))
    with pytest.raises(ValueError, match="minimal coordinates"):
        dm.floquet(dm.systems.pendulum_dae(), ([1, 0], [0, 0], 1.0))
    falling = dm.System(lambda q, qd, t, p: 0.5 * qd[0] ** 2 + q[0], {"x": "m"})
    with pytest.raises(ValueError, match="no periodic motion"):
        dm.periodic_orbit(falling, [0.0], [1.0], period=1.0)
    orbit = dm.periodic_orbit(system, family="theta", amplitude=1.0)
    with pytest.raises(ValueError, match="'amplitude' or 'period', but there is no parameter"):
        dm.continue_orbit(orbit, "lenght", [1.0])
    with pytest.raises(ValueError, match="motion from rest"):
        dm.continue_orbit(orbit, "period", [1.0])
    longer = dm.continue_orbit(orbit, "length", [1.0, 2.0, 4.0])
    np.testing.assert_allclose(longer.periods, np.sqrt([1, 2, 4]) * swing(1.0), rtol=1e-10)


def test_a_motion_that_does_not_close_is_not_called_stable() -> None:
    system, period = dm.systems.pendulum(), swing(1.0)
    assert dm.floquet(system, ([1.0], [0.0], period)).verdict == "stable"
    assert dm.floquet(system, ([1.0], [0.0], round(period, 4))).closed, "typed by hand"
    found = dm.floquet(system, ([1.0], [0.0], 0.37))
    assert found.verdict == "not periodic"
    assert not found.stable
    assert "`periodic_orbit` finds" in str(found)
    assert dm.floquet(system, ([1e-6], [0.0], 0.37)).verdict == "not periodic", "however small"
    # Whole turns of an angle are taken off, and an equilibrium closes after any time.
    rate = 8.0
    turning = ([0.0], [rate], 4 * ellipk(4 * 9.81 / rate**2) / rate)
    assert float(dm.floquet(system, turning).closing) < 1e-9
    assert dm.floquet(system, ([np.pi], [0.0], 1.0)).verdict == "unstable"
    assert dm.floquet(system, ([0.0], [0.0], 1.0)).verdict == "stable"
