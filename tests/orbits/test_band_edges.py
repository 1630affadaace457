"""Band edges against Hill's and Mathieu's equations, solved elsewhere."""

from collections.abc import Callable
from functools import cache
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipk, mathieu_a, mathieu_b

import diffmech as dm
from diffmech.motion._symmetries import SymmetryTrials
from diffmech.orbits._edge_slopes import _linearised
from diffmech.orbits._return_maps import close_all

from ..conftest import machine


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes sign."""
    return float(brentq(function, low, high, xtol=1e-13))  # pyright: ignore[reportArgumentType]


def hill_traces(kappa: float, degrees: np.ndarray) -> np.ndarray:
    """tr Φ of δ'' + κ qA'² δ = 0 over half a swing of qA'' = −sin qA from rest, by DOP853.

    Swings of all amplitudes are run side by side, each in shares of its half period.
    """
    amplitude = np.deg2rad(degrees)
    half_period = 2 * ellipk(np.sin(amplitude / 2) ** 2)

    def rate(_share: float, y: np.ndarray) -> np.ndarray:
        a, da, u, du, v, dv = y.reshape(6, -1)
        pull = -kappa * da**2
        return np.ravel(half_period * np.array([da, -np.sin(a), du, pull * u, dv, pull * v]))

    one, nil = np.ones_like(amplitude), np.zeros_like(amplitude)
    start = np.concatenate([amplitude, nil, one, nil, nil, one])
    end = solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-13, atol=1e-13)
    last = end.y[:, -1].reshape(6, -1)
    return last[2] + last[5]


@cache
def hill_trace(kappa: float, degrees: float) -> float:
    """The same of one amplitude."""
    return float(hill_traces(kappa, np.array([degrees]))[0])


def hill_edge(kappa: float, low: float, high: float) -> float:
    """The edge between two amplitudes [deg]."""
    level = 2.0 if max(hill_trace(kappa, low), hill_trace(kappa, high)) > 2 else -2.0
    return root(lambda a: hill_trace(kappa, a) - level, low, high)


@cache
def hill_edges(kappa: float) -> list[float]:
    """All edges between 1° and 179° [deg], of bands wider than 3°."""
    grid = np.linspace(1, 179, 61)
    stable = np.abs(hill_traces(kappa, grid)) < 2
    return [hill_edge(kappa, grid[i], grid[i + 1]) for i in range(60) if stable[i] != stable[i + 1]]


@cache
def boot_edges(kappa: float = 1.0, half_turn: bool | None = None) -> dm.BandEdges:
    """The babyboot's edges, or those of one whose plate has another κ = (IBx − IBy)/IBz."""
    boot = dm.systems.babyboot().with_params(IBx=1.5e-4 + 1e-4 * kappa, IBy=1.5e-4 - 1e-4 * kappa)
    return dm.band_edges(boot, "qA", half_turn=half_turn)


def test_the_edges_of_the_babyboot_are_those_of_hills_equation() -> None:
    found = boot_edges()
    wanted = [hill_edge(1.0, *near) for near in ((60, 70), (108, 116), (150, 158))]
    # SciPy's and our error are both near 1e-11 degrees.
    np.testing.assert_allclose(np.rad2deg(found.values), wanted, rtol=0, atol=1e-8)
    assert found.opens.tolist() == [True, False, True]
    assert [band[2] for band in found.bands] == [True, False, True, False]
    assert found.map == "half turn"
    assert not len(found.touches)
    assert "64.727698° opens" in str(found)


@pytest.mark.parametrize("kappa", [0.3, 0.8])
def test_other_plates_have_the_edges_of_their_hills_equation(kappa: float) -> None:
    found = np.rad2deg(boot_edges(kappa).values)
    np.testing.assert_allclose(found, hill_edges(kappa), rtol=0, atol=1e-8)


def test_a_plate_of_one_half_is_stable_up_to_a_right_angle_exactly() -> None:
    found = boot_edges(0.5)
    np.testing.assert_allclose(found.values, [np.pi / 2], rtol=0, atol=1e-11)
    assert [band[2] for band in found.bands] == [True, False]


def test_a_plate_hung_the_wrong_way_round_is_never_stable_and_says_so() -> None:
    found = boot_edges(-0.5)
    assert found.values.shape == (0,)
    assert [band[2] for band in found.bands] == [False]
    assert found.derivatives["mB"].shape == (0,)
    assert "none found" in str(found)


def test_edges_move_with_the_moments_of_the_plate_alone() -> None:
    found = boot_edges()
    p = found.params
    step = 1e-3
    near = ((60, 70), (108, 116), (150, 158))
    for i, bracket in enumerate(near):
        # Richardson's extrapolation of central differences of SciPy's edges [rad per unit of κ].
        wide, narrow = (
            (hill_edge(1 + h, *bracket) - hill_edge(1 - h, *bracket)) / (2 * h)
            for h in (2 * step, step)
        )
        slope = np.deg2rad((4 * narrow - wide) / 3)
        by_moment = {"IBx": 1 / p.IBz, "IBy": -1 / p.IBz, "IBz": -(p.IBx - p.IBy) / p.IBz**2}
        for path, factor in by_moment.items():
            np.testing.assert_allclose(found.derivatives[path][i], slope * factor, rtol=1e-6)
        for path in ("g", "LA", "LB", "mA", "mB", "IA"):
            # What a change of the parameter by all of itself would do, against that of a moment.
            moved = found.derivatives[path][i] * getattr(p, path)
            assert abs(moved) < 1e-9 * abs(found.derivatives["IBz"][i] * p.IBz)


def test_where_the_whole_turn_touches_minus_two_there_is_no_edge() -> None:
    whole, half = boot_edges(1.0, half_turn=False), boot_edges()
    assert whole.map == "whole turn"
    np.testing.assert_allclose(whole.values, half.values, rtol=0, atol=1e-10)
    # There the half turn's trace vanishes.
    wanted = [root(lambda a: hill_trace(1.0, a), *near) for near in ((35, 45), (130, 140))]
    np.testing.assert_allclose(np.rad2deg(whole.touches), wanted, rtol=0, atol=1e-6)


def test_a_rod_with_two_plates_is_stable_where_both_are() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        """A pendulum of unit frequency whose inertia is 1 + Σ (i + κ j cos² q) of two plates."""
        del t
        turned = params["kappa"] * params["moments"] * (jnp.cos(q[1:]) ** 2 - 1)
        swung = 0.5 * (1 + jnp.sum(turned)) * qd[0] ** 2
        return swung + 0.5 * jnp.sum(params["moments"] * qd[1:] ** 2) + jnp.cos(q[0])

    system = dm.System(
        lagrangian,
        {"rod": "rad", "one": "rad", "two": "rad"},
        {"kappa": np.array([0.3, 0.8]), "moments": np.array([0.02, 0.03])},
    )
    found = dm.band_edges(system, "rod", points=91)
    low, high = hill_edges(0.3), hill_edges(0.8)
    unstable = [*_pairs(low), *_pairs(high)]
    wanted = [edge for edge in (*low, *high) if not any(a < edge < b for a, b in unstable)]
    np.testing.assert_allclose(np.rad2deg(found.values), np.sort(wanted), rtol=0, atol=1e-8)
    inside = [edge for edge in (*low, *high) if edge not in wanted]
    np.testing.assert_allclose(np.rad2deg(found.inner), np.sort(inside), rtol=0, atol=1e-8)


def _pairs(edges: list[float]) -> list[tuple[float, float]]:
    """The unstable bands of a motion that is stable at first."""
    closed = [*edges, *([180.0] if len(edges) % 2 else [])]
    return list(zip(closed[::2], closed[1::2], strict=True))


def test_edges_of_a_mode_do_not_change_with_the_units() -> None:
    system = dm.systems.double_pendulum()
    found = dm.band_edges(system, "theta1", (0.5, 1.5), q0=[0.5, -0.6], points=15)
    # The mode in opposite phase; all masses, or all lengths, or gravity scaled change no angle.
    assert found.opens.tolist() == [True]
    slopes = found.derivatives
    assert abs(np.sum(slopes["masses"])) < 1e-9
    assert abs(np.sum(slopes["lengths"])) < 1e-9
    assert abs(slopes["gravity"][0]) < 1e-11
    assert abs(slopes["lengths"][0, 0]) > 0.1
    edge = float(found.values[0])
    for amplitude, verdict in ((edge - 1e-3, "stable"), (edge + 1e-3, "unstable")):
        orbit = dm.periodic_orbit(
            system, [0.9, -0.9], family="theta1", amplitude=amplitude, period=found.periods[0]
        )
        judged = dm.floquet(system, (orbit.q, orbit.qd, orbit.period))
        assert judged.verdict == verdict
        assert judged.closing < 1e-9


def test_what_nothing_moves_is_held() -> None:
    boot, double = dm.systems.babyboot(), dm.systems.double_pendulum()
    trials = SymmetryTrials(boot.laws, 1.0, 3.0, boot.params)
    assert trials.staying(np.zeros(2), (0,)) == (1,)
    assert trials.staying(np.array([0.0, 0.1]), (0,)) == ()
    assert SymmetryTrials(double.laws, 1.0, 3.0, double.params).staying(np.zeros(2), (0,)) == ()
    assert trials.point_symmetric(2)


def test_new_numbers_compile_nothing() -> None:
    boot_edges()
    counts = [program._cache_size() for program in (close_all, _linearised)]  # pyright: ignore
    boot = dm.systems.babyboot().with_params(mB=1, g=3.7)
    other = dm.band_edges(boot, "qA", (0.5, 2.5), rtol=1e-11)
    np.testing.assert_allclose(other.values, boot_edges().values[:2], atol=1e-9)
    assert counts == [program._cache_size() for program in (close_all, _linearised)]  # pyright: ignore


def mathieu(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """L = ½ ẋ² − ½ (a − 2 q cos 2t) x²."""
    return 0.5 * qd[0] ** 2 - 0.5 * (params["a"] - 2 * params["q"] * jnp.cos(2 * t)) * q[0] ** 2


@pytest.mark.parametrize("q", [0.2, 0.8, 5.0])
def test_the_tongues_of_mathieus_equation_come_out_narrow_ones_too(q: float) -> None:
    system = dm.System(mathieu, {"x": "m"}, {"a": 1.0, "q": q})
    found = dm.band_edges(system, "a", (-8.0, 20.0), period=np.pi)
    every = [mathieu_a(k, q) for k in range(6)] + [mathieu_b(k, q) for k in range(1, 6)]
    wanted = np.sort([edge for edge in every if -8 < edge < 20])
    # At q = 0.2 the fourth tongue is 1.4e-6 wide, on a grid with spacing 0.16.
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-9)
    assert found.opens.tolist() == [bool(i % 2) for i in range(len(wanted))]
    # a = a(q): the slope of an edge along the other parameter.
    h = 1e-4
    slope = (mathieu_a(0, q + h) - mathieu_a(0, q - h)) / (2 * h)
    np.testing.assert_allclose(found.derivatives["q"][0], slope, rtol=1e-6)
    np.testing.assert_allclose(found.derivatives["a"], 0, atol=1e-12)


def _damped_oscillators(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """L of Mathieu's x and of a spring with y; a = fixed + slope · p."""
    a = params["fixed"] + params["slope"] * params["p"]
    spring = 0.5 * qd[1] ** 2 - 0.5 * params["stiffness"] * q[1] ** 2
    return mathieu(q[:1], qd[:1], t, {"a": a, "q": params["q"]}) + spring


def _friction(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Of coefficients c = friction + change · p."""
    return 0.5 * jnp.sum((params["friction"] + params["change"] * params["p"]) * qd**2)


def _drive_period(params: Any) -> Any:
    return params["period"]


DAMPING = 0.1
DAMPED_OSCILLATORS = dm.System(
    _damped_oscillators,
    {"x": "m", "y": "m"},
    {
        "p": 1.0,
        "fixed": 0.0,
        "slope": 1.0,
        "q": 0.4,
        "stiffness": 2.5,
        "friction": np.array([DAMPING, 1.0]),  # y dies out, whatever p is
        "change": np.zeros(2),
        "period": np.pi,
    },
    dissipation=_friction,
)


def test_damping_lifts_the_tongues_as_it_should() -> None:
    damping = DAMPING
    found = dm.band_edges(DAMPED_OSCILLATORS, "p", (0.0, 6.0), period=_drive_period)

    def trace(a: float) -> float:
        """Of u'' + (a − c²/4 − 2 q cos 2t) u = 0, x = u exp(−c t/2)."""

        def rate(t: float, y: np.ndarray) -> list[float]:
            pull = -(a - damping**2 / 4 - 0.8 * np.cos(2 * t))
            return [y[1], pull * y[0], y[3], pull * y[2]]

        end = solve_ivp(rate, (0, np.pi), [1, 0, 0, 1], method="DOP853", rtol=1e-13, atol=1e-13)
        return float(end.y[0, -1] + end.y[3, -1])

    level = -2 * np.cosh(damping * np.pi / 2)
    wanted = [root(lambda a: trace(a) - level, *near) for near in ((0.3, 1.0), (1.0, 2.0))]
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-9)
    assert found.kinds == ("-1", "-1")
    assert found.opens.tolist() == [True, False]


def _two_oscillators(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """L of Mathieu's x, and `sign` times that of his y, less ε x y; a = fixed + slope · p."""
    a = params["fixed"] + params["slope"] * params["p"]
    one, two = (
        mathieu(q[i : i + 1], qd[i : i + 1], t, {"a": a[i], "q": params["q"][i]}) for i in (0, 1)
    )
    return one + params["sign"] * two - params["coupling"] * q[0] * q[1]


TWO_OSCILLATORS = dm.System(
    _two_oscillators,
    {"x": "m", "y": "m"},
    {
        "p": 1.0,
        "fixed": np.array([0.0, 0.2]),
        "slope": np.array([1.0, 1.3]),
        "q": np.array([0.8, 0.9]),
        "sign": 1.0,
        "coupling": 0.0,
    },
)


def test_two_oscillators_in_one_machine_have_the_edges_of_both() -> None:
    found = dm.band_edges(TWO_OSCILLATORS, "p", (0.2, 5.0), period=np.pi)
    first = [mathieu_b(1, 0.8), mathieu_a(1, 0.8), mathieu_b(2, 0.8), mathieu_a(2, 0.8)]
    second = [
        (edge - 0.2) / 1.3 for edge in (mathieu_a(1, 0.9), mathieu_b(2, 0.9), mathieu_a(2, 0.9))
    ]
    # The second oscillator settles at 1.22, while the first is unstable up to 1.71.
    np.testing.assert_allclose(found.inner, second[:1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.values, np.sort([*first[1:], *second[1:]]), rtol=0, atol=1e-9)
    # Multipliers of oscillators that do not know each other pass through each other.
    assert len(found.touches)


def test_oscillators_with_opposite_energies_collide() -> None:
    """x and y with energies of opposite sign, coupled by ε x y; M = exp(A T) of a drive T."""
    opposed = TWO_OSCILLATORS.with_params(
        p=3.0,
        fixed=np.array([4.0, 0.0]),
        slope=np.array([0.0, 1.0]),
        q=np.zeros(2),
        sign=-1.0,
        coupling=0.3,
    )
    found = dm.band_edges(opposed, "p", (2.5, 5.5), period=1.0)
    # ω² of x'' = −4 x − 0.3 y, y'' = −k y + 0.3 x: (4 − s)(k − s) + 0.09 = 0, double at
    # (k − 4)² = 4 · 0.09.
    np.testing.assert_allclose(found.values, [3.4, 4.6], rtol=0, atol=1e-9)
    assert found.kinds == ("collision", "collision")
    assert [band[2] for band in found.bands] == [True, False, True]


def test_oscillations_start_where_damping_turns_negative() -> None:
    """Two springs with the frictions p and p − 0.1."""
    system = DAMPED_OSCILLATORS.with_params(
        p=0.1,
        fixed=1.0,
        slope=0.0,
        q=0.0,
        friction=np.array([0.0, -0.1]),
        change=np.ones(2),
        period=1.0,
    )
    found = dm.band_edges(system, "p", (-0.15, 0.3), period=_drive_period)
    np.testing.assert_allclose(found.values, [0.1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.inner, [0.0], rtol=0, atol=1e-10)
    assert found.kinds == ("complex pair",)
    assert found.opens.tolist() == [False]


def test_wrong_calls_are_answered_with_sentences() -> None:
    boot = dm.systems.babyboot()
    with pytest.raises(ValueError, match=r"neither.*Did you mean 'qA'"):
        dm.band_edges(boot, "qa ")
    with pytest.raises(ValueError, match="`period` must be given for the parameter family"):
        dm.band_edges(boot, "mB", (0.1, 0.2))
    with pytest.raises(ValueError, match=r"`span` must be given"):
        dm.band_edges(boot, "mB", period=1.0)
    with pytest.raises(ValueError, match="low < high"):
        dm.band_edges(boot, "qA", (2.0, 1.0))
    with pytest.raises(ValueError, match="between −π and π"):
        dm.band_edges(boot, "qA", (1.0, 4.0))
    with pytest.raises(ValueError, match="mB"):
        dm.band_edges(boot, "mB", (-0.1, 0.2), period=1.0)
    with pytest.raises(ValueError, match=r"single number.*masses\[0\]"):
        dm.band_edges(dm.systems.double_pendulum(), "masses", (1, 2), period=1.0)
    with pytest.raises(ValueError, match="minimal coordinates"):
        dm.band_edges(dm.systems.pendulum_dae(), "x")
    with pytest.raises(ValueError, match="at least 5"):
        dm.band_edges(boot, "qA", points=2)
    damped = dm.System(
        boot.lagrangian,
        boot.coordinates,
        boot.params,
        dissipation=lambda q, qd, t, params: 1e-4 * jnp.sum(qd**2),
    )
    with pytest.raises(ValueError, match="has losses or gyroscopic terms"):
        dm.band_edges(damped, "qA")
    driven = dm.System(mathieu, {"x": "m"}, {"a": 1.0, "q": 0.2}, name="driven")
    with pytest.raises(ValueError, match="is driven"):
        dm.band_edges(driven, "x", (0.1, 0.2))
    with pytest.raises(ValueError, match="not driven"):
        dm.band_edges(boot, "mB", (0.1, 0.2), period=1.0, q0=[0.5, 0.0])
    free = dm.System(lambda q, qd, t, p: 0.5 * qd[0] ** 2 - q[0], {"x": "m"})
    with pytest.raises(ValueError, match="does not swing back"):
        dm.band_edges(free, "x", (0.1, 0.2))


def test_no_edges_are_claimed_where_no_orbits_were() -> None:
    found = dm.band_edges(machine("pendulum"), "theta", (0.1, 0.2), points=5)
    assert "edges    none found\n" in str(found)
    lost = np.asarray(found.edge_functions).copy()
    lost[2:] = np.nan
    part = eqx.tree_at(lambda one: one.edge_functions, found, lost)
    assert "none found where there was an orbit; nothing is known elsewhere" in str(part)
