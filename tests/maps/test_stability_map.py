"""Maps: their verdicts, edges, criteria and wrong calls."""

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import mathieu_a, mathieu_b

import diffmech as dm
from diffmech.lanes._compiling import compiling_seconds
from diffmech.maps._stability_map import OPTIONS

from ..conftest import machine
from ..simulation.test_events import oscillator, root_of_height
from ..systems.test_babyboot import source_equations

# An edge of a pendulum by energy: the map's default tolerance of 1e-8 a step, amplified by the
# slowness of motions that nearly stop at the bound.
BY_ENERGY = 1e-6


def boot_map(points: Any, duration: float = 10.0, **more: Any) -> dm.StabilityMap:
    return dm.stability_map(
        machine("babyboot"),
        {"qA": points},
        dm.criteria.Tumble("qB", np.pi / 2),
        duration,
        q0={"qB": np.radians(1)},
        **more,
    )


def _tumbles_by_scipy(degrees: float) -> bool:
    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], source_equations(y[:2], y[2:])])

    def beyond(t: float, y: np.ndarray) -> float:
        return abs(y[1]) - np.pi / 2

    beyond.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    start = np.radians([degrees, 1, 0, 0])
    solved = solve_ivp(rate, (0, 10), start, method="DOP853", rtol=1e-12, atol=1e-12, events=beyond)
    return bool(solved.t_events[0].size)


def test_verdicts_equal_those_of_scipy_away_from_edges() -> None:
    rng = np.random.default_rng(3)
    places = np.sort(np.concatenate([rng.uniform(0, 180, 24), rng.uniform(70, 112, 24)]))
    around = np.radians(places[:, None] + [-0.1, 0.0, 0.1]).ravel()
    found = boot_map(np.sort(around)).verdicts.reshape(-1, 3)
    away = np.all(found == found[:, :1], axis=1)
    assert np.sum(away) > 35
    wanted = [_tumbles_by_scipy(place) for place in places[away]]
    assert list(found[away, 1] == dm.Verdict.UNSTABLE) == wanted
    assert 10 < sum(wanted) < 40


def test_the_edge_between_swinging_and_passing_a_bound_is_where_the_energy_says() -> None:
    pendulum = machine("pendulum")
    length, gravity = (float(getattr(pendulum.params, name)) for name in ("length", "gravity"))
    made = dm.stability_map(
        pendulum,
        {"theta_dot": (0.1, 12.0, 25)},
        dm.criteria.Tumble("theta", np.pi / 2),
        20.0,
        accuracy=1e-9,
    )
    assert made.edges is not None
    (edge,) = made.edges
    assert abs(edge.place - np.sqrt(2 * gravity / length)) < BY_ENERGY
    assert edge.width <= 1e-9
    assert (edge.before, edge.after) == (dm.Verdict.STABLE, dm.Verdict.UNSTABLE)
    assert np.all(np.isfinite(made.values[made.verdicts == dm.Verdict.UNSTABLE]))
    assert np.all(np.isinf(made.values[made.verdicts == dm.Verdict.STABLE]))
    backwards = dm.stability_map(
        pendulum,
        {"theta_dot": np.linspace(12.0, 0.1, 25)},
        dm.criteria.Tumble("theta", np.pi / 2),
        20.0,
        accuracy=1e-9,
    )
    assert backwards.edges is not None
    assert backwards.edges[0].place == pytest.approx(edge.place, abs=1e-8)


def _there(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return q[1] - 0.7


def test_axes_are_coordinates_rates_parameters_and_their_entries() -> None:
    chain = dm.systems.n_link(n=2)
    made = dm.stability_map(
        chain,
        {"lengths[1]": [0.8, 1.1], "theta1_dot": [0.5, 1.5, 2.5]},
        _there,
        3.0,
        q0={"theta1": 0.4},
        qd0={"theta2": 0.3},
    )
    assert made.values.shape == (2, 3)
    for i, length in enumerate([0.8, 1.1]):
        for j, rate in enumerate([0.5, 1.5, 2.5]):
            run = dm.simulate(
                chain.with_params({"lengths[1]": length}),
                [0.4, 0.0],
                [rate, 0.3],
                duration=3.0,
                events={"there": _there},
                throw=False,
            )
            time = float(run.ts[-1]) if run.event else np.inf
            assert made.values[i, j] == pytest.approx(time, abs=1e-6)
    assert np.any(np.isfinite(made.values))


def _saddle(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd @ qd + 0.5 * params["k"] * q[0] ** 2


def test_criteria_measure_what_is_known_of_a_saddle() -> None:
    # x'' = k x: every difference grows as exp(√k t) in the end.
    saddle = dm.System(_saddle, {"x": "m"}, params={"k": 4.0})
    grid = {"k": [1.0, 4.0]}
    along = dm.stability_map(saddle, grid, dm.criteria.Ftle(direction=(1.0, 0.0)), 6.0)
    growth = [np.log(np.hypot(np.cosh(6 * w), w * np.sinh(6 * w))) / 6 for w in (1.0, 2.0)]
    np.testing.assert_allclose(along.values, growth, rtol=1e-7)
    assert list(along.verdicts) == [dm.Verdict.UNDECIDED, dm.Verdict.UNSTABLE]
    apart = dm.stability_map(saddle, grid, dm.criteria.Spread({"x": 1e-3}, limit=1.0), 6.0)
    np.testing.assert_allclose(apart.values, 1e-3 * np.cosh([6.0, 12.0]), rtol=1e-6)
    assert list(apart.verdicts) == [dm.Verdict.STABLE, dm.Verdict.UNSTABLE]


def test_regular_and_chaotic_boots_are_told_apart_by_tangents() -> None:
    boot = machine("babyboot")
    for criterion in (dm.criteria.MegnoBelow(), dm.criteria.SaliAbove()):
        made = dm.stability_map(
            boot, {"qA": np.radians([45.0, 90.0])}, criterion, 30.0, q0={"qB": np.radians(1)}
        )
        assert list(made.verdicts) == [dm.Verdict.STABLE, dm.Verdict.UNSTABLE], criterion


def _blows_up(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd @ qd + 0.25 * q[0] ** 4


def test_motions_that_blow_up_are_failed_and_disturb_nobody() -> None:
    runaway = dm.System(_blows_up, {"x": "m"})
    bound = dm.criteria.Tumble("x", 1e300)
    made = dm.stability_map(runaway, {"x": np.array([0.001, 0.01, 3.0, 5.0])}, bound, 10.0)
    assert list(made.verdicts[2:]) == [dm.Verdict.FAILED] * 2
    assert made.share_failed == 0.5
    assert all(dm.Status(int(s)).sentence for s in made.status[2:])
    alone = dm.stability_map(runaway, {"x": np.array([0.001, 0.01])}, bound, 10.0)
    np.testing.assert_array_equal(made.energy_error[:2], alone.energy_error)
    assert list(alone.verdicts) == [dm.Verdict.STABLE] * 2
    assert "50 % failed" in str(made)


def test_motions_whose_energy_is_off_are_undecided() -> None:
    careless = boot_map((0.3, 1.5, 8), 5.0, rtol=1e-2, trust=1e-5)
    assert np.all(careless.energy_error > 1e-5)
    assert np.all(careless.verdicts == dm.Verdict.UNDECIDED)


def test_machines_without_an_energy_are_judged_by_their_motion_alone() -> None:
    def van_der_pol(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return params["mu"] * (1 - q**2) * qd - q

    cycle = dm.Explicit(van_der_pol, {"x": ""}, params={"mu": 1.0})
    # From inside it grows to its cycle, whose amplitude is 2.00862 (Andersen & Geer 1982).
    made = [
        dm.stability_map(cycle, {"x": [0.1, 1.0]}, dm.criteria.Tumble("x", b), 40.0)
        for b in (2.0, 2.02)
    ]
    assert np.all(made[0].verdicts == dm.Verdict.UNSTABLE)
    assert np.all(made[1].verdicts == dm.Verdict.STABLE)


def test_new_numbers_compile_nothing() -> None:
    boot = machine("babyboot")
    boot_map((0.3, 1.5, 8), 1.0)
    before = compiling_seconds()
    dm.stability_map(
        boot.with_params(mB=0.2),
        {"qA": (0.1, 3.0, 70)},
        dm.criteria.Tumble("qB", 0.3),
        2.0,
        q0={"qB": 0.2},
    )
    assert compiling_seconds() == before


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"axes": {}}, "`axes` must map one or two names"),
        ({"axes": {"qA": [0, 1], "qB": [0, 1], "mB": [1, 2]}}, "`axes` must map one or two names"),
        ({"axes": [0, 1]}, "`axes` must map one or two names"),
        ({"axes": {"qC": [0, 1]}}, "no coordinate, rate or parameter 'qC'"),
        ({"axes": {"qA": [0, 1, 0.5]}}, "`qA` must increase, or decrease"),
        ({"axes": {"qA": [0, np.nan]}}, "must be finite"),
        ({"axes": {"qA": "many"}}, "`qA` must be numbers"),
        ({"axes": {"qA": (0, 1, 2.5)}}, "number of values of qA` must be a whole number"),
        ({"axes": {"mB": [0.1, -0.1]}}, "`mB` must not be negative"),
        ({"criterion": "tumble"}, "`criterion` must be a criterion such as"),
        ({"criterion": lambda q, qd, t, p: q}, r"`criterion` .* must return a scalar"),
        ({"criterion": dm.criteria.Tumble("qC")}, "no coordinate 'qC'"),
        ({"criterion": dm.criteria.Spread({"qD": 1.0})}, "no coordinate or rate 'qD'"),
        ({"duration": -1.0}, "`duration` must be greater than zero"),
        ({"q0": {"qA": 1.0}}, "`q0` must leave 'qA' to its axis"),
        ({"q0": {"qX": 1.0}}, "`q0` names 'qX'"),
        ({"rtoll": 1e-3}, "no argument 'rtoll'"),
        ({"trust": 0.0}, "`trust` must be greater than zero"),
        ({"resume": True}, "need `path`"),
        ({"axes": {"qA": [0, 1], "qB": [0, 1]}, "accuracy": 1e-3}, "edges are curves"),
    ],
)
def test_wrong_calls_get_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    call: dict[str, Any] = {
        "axes": {"qA": [0.1, 0.2]},
        "criterion": dm.criteria.Tumble("qB"),
        "duration": 1.0,
        **changes,
    }
    with pytest.raises(ValueError, match=sentence):
        dm.stability_map(machine("babyboot"), **call)


def test_an_axis_of_an_array_asks_for_one_of_its_entries() -> None:
    with pytest.raises(ValueError, match=r"such as `lengths\[0\]`"):
        dm.stability_map(
            dm.systems.n_link(n=2), {"lengths": [1.0, 2.0]}, dm.criteria.Tumble("theta1"), 1.0
        )


def test_a_map_too_large_for_memory_is_refused_with_the_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("diffmech._memory._available", lambda: 2**20)
    with pytest.raises(ValueError, match=r"the results of 1000000 points need .* GiB, but only"):
        dm.stability_map(
            machine("babyboot"),
            {"qA": (0, 1, 1000), "qB": (0, 1, 1000)},
            dm.criteria.Tumble("qB"),
            1.0,
        )


def _shaken(q: Any, qd: Any, t: Any, params: Any) -> Any:
    stiffness = params["a"] - 2 * params["q"] * jnp.cos(2 * t)
    return 0.5 * qd[0] ** 2 - 0.5 * stiffness * q[0] ** 2


def test_multipliers_map_the_tongues_of_mathieu() -> None:
    # At q = 1 the rest at x = 0 is stable between a₀ and b₁, unstable between b₁ and a₁.
    system = dm.System(_shaken, {"x": "m"}, params={"a": 1.0, "q": 1.0})
    known = [float(mathieu_a(0, 1)), float(mathieu_b(1, 1)), float(mathieu_a(1, 1))]
    made = dm.stability_map(
        system, {"a": (-1.0, 2.5, 36)}, dm.criteria.FloquetStable(), np.pi, accuracy=1e-6
    )
    assert made.edges is not None
    places = [edge.place for edge in made.edges]
    # |μ| grows as the root of the distance from an edge: 1e-5 of it is 1e-10 of that.
    np.testing.assert_allclose(places, known, atol=1e-5)
    away = dm.stability_map(
        system, {"a": [0.5, 1.5]}, dm.criteria.FloquetStable(), np.pi, q0={"x": 0.3}
    )
    assert np.all(away.verdicts == dm.Verdict.UNDECIDED), "no orbit of that period there"


def test_a_zoom_is_the_map_itself_on_a_finer_grid() -> None:
    chart = boot_map((1.2, 1.4, 21), 5.0, rtol=1e-7)
    closer = dm.zoom(chart, {"qA": (1.25, 1.35)}, points=21)
    assert closer.settings["rtol"] == 1e-7
    shared = closer.axes[0].grid[::2]
    np.testing.assert_allclose(shared, chart.axes[0].grid[5:16], atol=1e-15)
    np.testing.assert_array_equal(closer.verdicts[::2], chart.verdicts[5:16])
    with pytest.raises(ValueError, match="the map has no axis 'qB'"):
        dm.zoom(chart, {"qB": (0, 1)})
    with pytest.raises(ValueError, match="the window of `qA` must be"):
        dm.zoom(chart, {"qA": (1, 1)})


def test_a_zoom_keeps_an_axis_that_decreases() -> None:
    axes = {"theta": [0.3, 0.2], "theta_dot": [0.0, 1.0]}
    chart = dm.stability_map(dm.systems.pendulum(), axes, dm.criteria.Tumble("theta", 1.0), 1.0)
    closer = dm.zoom(chart, {"theta_dot": (0.0, 0.5)})
    assert list(closer.axes[0].grid) == [0.3, 0.2]


def test_a_map_hands_on_and_a_zoom_keeps_every_option_of_an_ensemble() -> None:
    of_the_map = {"q0s", "qd0s", "system", "duration", "reduce", "params", "progress"}
    assert {*inspect.signature(dm.ensemble).parameters} - of_the_map == {*OPTIONS}


@pytest.mark.parametrize("traced", ["duration", "params", "q0", "nothing"])
def test_a_map_under_a_transformation_is_refused_with_the_way_out(traced: str) -> None:
    """Also where nothing is traced but the call is within `jit`."""
    pendulum = dm.systems.pendulum()

    def values(x: Any) -> Any:
        given: dict[str, Any] = {
            "duration": {"duration": x},
            "params": {"duration": 1.0, "params": {"length": x}},
            "q0": {"duration": 1.0, "q0": {"theta": x}},
            "nothing": {"duration": 1.0},
        }[traced]
        axis = "theta_dot" if traced == "q0" else "theta"
        return dm.stability_map(
            pendulum, {axis: (0.0, 1.0, 3)}, dm.criteria.Tumble("theta", 1.5), **given
        )

    with pytest.raises(
        ValueError,
        match=r"^`stability_map` must be called outside of `jit`, .* `ensemble` runs under them",
    ):
        jax.jit(lambda x: values(x).values)(1.0)


def test_maps_take_it_too() -> None:
    system = dm.systems.hinged_pendulum()
    made = [
        dm.stability_map(
            system,
            {"theta": (0.5, 3.0, 6)},
            dm.criteria.Tumble("theta", bound=2.0),
            duration=2.0,
            fixed_params=fixed,
        )
        for fixed in (False, True)
    ]
    np.testing.assert_array_equal(made[0].verdicts, made[1].verdicts)
    assert [each.settings["fixed_params"] for each in made] == [False, True]


def test_a_condition_that_is_not_a_number_leaves_its_point_undecided() -> None:
    system = dm.System(oscillator, {"x": "m"}, {"level": 2.0})
    chart = dm.stability_map(
        system, {"x_dot": [1.0, 2.0]}, root_of_height, duration=10.0, q0={"x": 1e-3}
    )
    assert np.all(np.isnan(chart.values))
    assert np.all(chart.verdicts == dm.Verdict.UNDECIDED)
