"""MEGNO and SALI against closed forms, and against Lyapunov exponents."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipk

import diffmech as dm

from ..conftest import machine

SIMPSON = 1e-5  # of the integrals, over steps of 0.05 s


def _line(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """ẍ = a x: free for 0, an oscillator below, a hill above."""
    del t
    return 0.5 * (qd @ qd + params["a"] * q @ q)


LINE = dm.System(_line, {"x": "m"}, {"a": 0.0})


def _megno(a: float, direction: list[float], duration: float, t0: float = 0.0) -> Any:
    got = dm.ensemble(
        LINE,
        [[0.3]],
        duration=duration,
        t0=t0,
        params={"a": a},
        reduce=dm.reducers.Megno(direction),
        dt=0.05,
    )
    return got.values["megno"]["last"][0], got.values["megno"]["mean"][0]


def test_megno_of_neighbours_that_part_uniformly() -> None:
    """ẍ = 0: δ = (t, 1), so Y = 2 (1 − arctan(t)/t), which tends to 2."""
    last, mean = _megno(0.0, [0.0, 1.0], 30.0)
    assert abs(last - 2 * (1 - np.arctan(30.0) / 30.0)) < SIMPSON
    exact = quad(lambda s: 2 * (1 - np.arctan(s) / s), 0, 30.0)[0] / 30.0
    assert abs(mean - exact) < SIMPSON


def test_megno_of_neighbours_that_part_exponentially() -> None:
    """ẍ = 4 x: δ = e²ᵗ (1, 2), so Y = 2 t and ⟨Y⟩ = t; beyond the range of doublings too."""
    for duration in (5.0, 40.0):
        last, mean = _megno(4.0, [1.0, 2.0], duration)
        assert abs(last / (2 * duration) - 1) < SIMPSON
        assert abs(mean / duration - 1) < SIMPSON


def test_megno_of_neighbours_that_stay_close() -> None:
    """ẍ = −4 x: δ = (cos 2t, −2 sin 2t) for ever; times count from the start of the run."""
    duration = 12.0

    def rate(s: float) -> float:  # δ̇·δ / δ²
        return 3 * np.sin(4 * s) / (np.cos(2 * s) ** 2 + 4 * np.sin(2 * s) ** 2)

    def y(t: float) -> float:
        return 2 / t * quad(lambda s: s * rate(s), 0, t, limit=200)[0]

    exact = quad(y, 1e-9, duration, limit=200)[0] / duration
    for t0 in (0.0, 3.0):
        last, mean = _megno(-4.0, [1.0, 0.0], duration, t0)
        assert abs(last - y(duration)) < 1e-4
        assert abs(mean - exact) < 1e-4


def test_megno_of_a_pendulum_tends_to_two() -> None:
    got = dm.ensemble(
        machine("pendulum"),
        [[1.5], [2.5]],
        duration=800.0,
        reduce=dm.reducers.Megno([1.0, 0.0]),
        rtol=1e-9,
    )
    assert np.all(np.abs(got.values["megno"]["mean"] - 2) < 0.05)


@pytest.fixture(scope="module")
def boot() -> dict[str, Any]:
    """32 chaotic babyboots and a regular one."""
    got = dm.ensemble(
        machine("babyboot"),
        np.radians([*([90.0 + 1e-7 * k, 1.0] for k in range(32)), [45.0, 1.0]]),
        duration=200.0,
        reduce={
            "megno": dm.reducers.Megno([0.1, 1.0, 0.3, 0.5]),
            "growth": dm.reducers.Growth([0.1, 1.0, 0.3, 0.5]),
            "late": dm.reducers.Sali([0.1, 1.0, 0.3, 0.5], [1.0, 0.2, -0.4, 0.6]),
        },
        rtol=1e-10,
    )
    assert np.all(got.ok)
    return got.values


@pytest.mark.long_runs
def test_megno_and_the_lyapunov_exponent_agree_in_chaos(boot: dict[str, Any]) -> None:
    # In episodes of fast spinning a boot is nearly regular, and rounding decides who has them: one
    # motion in twenty stays below 1.4 over 1000 s, one of these 32 at 0.45. So many are compared.
    grown = boot["growth"][:-1, 0] / 200.0
    megno = 2 * boot["megno"]["mean"][:-1] / 200.0
    assert np.std(megno - grown) < 0.12  # of the same motions; 0.05 to 0.07 in three such sets
    assert abs(np.mean(megno - grown)) < 0.05
    exponents = [
        dm.lyapunov(
            machine("babyboot"),
            np.radians([90.0 + 1e-7 * k, 1.0]),
            duration=1000.0,
            transient=10.0,
            count=1,
        ).exponents[0]
        for k in range(6)
    ]
    # The median of six scatters by 0.12, that of the 32 by 0.05.
    assert abs(np.median(grown) - np.median(exponents)) < 0.4
    assert boot["megno"]["mean"][-1] < 3


def test_sali_tells_chaos_from_order(boot: dict[str, Any]) -> None:
    # What is left of the angle is rounding, stretched where neighbours are long and thin: 7e-15 to
    # 4.5e-14 is the largest of 32, in three such sets.
    assert np.all(boot["late"][:-1] < 1e-13)
    assert boot["late"][-1] > 0.05


def test_sali_falls_as_the_growth_of_areas_over_squared_growth() -> None:
    """ẍ = 4 x: eigendirections (1, 2) and (1, −2) of growth ±2, so that SALI = C exp(−4 t)."""
    first, second = [1.0, 2.0 + 1e-1], [1.0, 2.0 - 1e-1]
    found = [
        dm.ensemble(
            LINE,
            [[0.3]],
            duration=T,
            params={"a": 4.0},
            reduce=dm.reducers.Sali(first, second),
            rtol=1e-12,
        ).values["sali"][0]
        for T in (2.0, 3.0)
    ]
    assert abs(np.log(found[0] / found[1]) - 4) < 1e-4


@pytest.mark.long_runs
def test_sali_of_one_freedom_falls_as_the_square_of_time() -> None:
    """At whole periods neighbours of a pendulum are δ₀ + t a T; their angle goes as 1/t²."""
    pendulum = machine("pendulum")
    period = 4 / np.sqrt(9.81) * ellipk(np.sin(1.0) ** 2)
    found = [
        dm.ensemble(
            pendulum,
            [[2.0]],
            duration=k * period,
            reduce=dm.reducers.Sali([1.0, 0.4], [0.7, -2.0]),
            rtol=1e-11,
        ).values["sali"][0]
        for k in (100, 400)
    ]
    assert abs(np.log(found[0] / found[1]) / np.log(4) - 2) < 0.05


def test_sali_starts_with_the_directions_given() -> None:
    got = dm.ensemble(
        LINE, [[0.3]], duration=1e-9, reduce=dm.reducers.Sali([1.0, 0.0], [0.0, 1.0]), rtol=1e-9
    )
    assert abs(got.values["sali"][0] - np.sqrt(2)) < 1e-8


def test_reducers_refuse_directions_of_another_size() -> None:
    for reducer in (dm.reducers.Megno([1.0]), dm.reducers.Sali([1.0], [2.0])):
        with pytest.raises(ValueError, match=r"must have shape \(k, 2\)"):
            dm.ensemble(LINE, [[0.3]], duration=1.0, reduce=reducer)
    assert jnp.shape(dm.reducers.Megno([1.0, 0.0]).tangents) == (1, 2)


def test_neighbours_that_are_aligned_from_the_start_are_refused() -> None:
    for first, second in (([1, 0], [1, 0]), ([1, 2], [-3, -6 * (1 + 1e-15)]), ([0, 0], [0, 1])):
        with pytest.raises(ValueError, match="directions that are not parallel"):
            dm.reducers.Sali(first, second)
    assert dm.reducers.Sali([1, 0], [1, 1e-6]).tangents.shape == (2, 2)
