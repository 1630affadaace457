"""Sections, returns, windings and bifurcations against closed forms and SciPy."""

import csv
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import diffmech as dm
from diffmech import _stretches
from diffmech._progress import forget_stop, request_stop
from diffmech.lanes._compiling import compiling_seconds
from diffmech.sections._sections import as_section

from ..conftest import machine

ON_SECTION = 1e-12  # what Newton leaves: rounding of the state
ON_MOTION = 1e-9  # rtol 1e-12 over some ten swings

ANGLES = np.array([0.4, 1.2, 2.2])


def _two_springs(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Frequencies 1 and w, not coupled."""
    del t
    return 0.5 * (qd @ qd - q[0] ** 2 - params["w"] ** 2 * q[1] ** 2)


W = np.sqrt(2.0)
SPRINGS = dm.System(_two_springs, {"x": "m", "y": "m"}, {"w": W}, name="two springs")


@pytest.fixture(scope="module")
def swings() -> dm.PoincareSection:
    return dm.poincare(
        machine("pendulum"), ANGLES[:, None], section="theta", duration=30.0, rtol=1e-12
    )


def test_crossings_of_a_pendulum_come_at_its_elliptic_period(swings: dm.PoincareSection) -> None:
    for i, angle in enumerate(ANGLES):
        period = 4 / np.sqrt(9.81) * ellipk(np.sin(angle / 2) ** 2)
        one = swings.lane(i)
        wanted = period * (0.75 + np.arange(len(one)))
        assert len(one) == int((30.0 - 0.75 * period) // period) + 1
        assert np.max(np.abs(one.times - wanted)) < ON_MOTION
        assert np.max(np.abs(dm.return_times(one) - period)) < ON_MOTION
    assert len(dm.return_times(swings)) == len(swings) - 3


def test_crossings_lie_on_the_section_and_on_the_motion(swings: dm.PoincareSection) -> None:
    pendulum = machine("pendulum")
    assert np.max(np.abs(swings.q)) < ON_SECTION
    assert np.max(np.abs(swings.values)) < ON_SECTION
    assert np.all(swings.qd > 0)
    for i, angle in enumerate(ANGLES):
        one = swings.lane(i)
        start = dm.energy(pendulum, [angle], [0.0]).total
        ends = [dm.energy(pendulum, q, qd).total for q, qd in zip(one.q, one.qd, strict=True)]
        assert np.max(np.abs(np.array(ends) - start)) < ON_MOTION
        run = dm.simulate(pendulum, [angle], ts=np.append(0.0, one.times), rtol=1e-13)
        assert np.max(np.abs(run.qs[1:] - one.q)) < ON_MOTION
        assert np.max(np.abs(run.qds[1:] - one.qd)) < 10 * ON_MOTION


def test_a_section_of_two_springs_is_an_ellipse() -> None:
    """At x = 0, ẋ > 0, y² + ẏ²/w² is what it was; crossings come 2π apart."""
    starts = np.array([[1.0, 0.5], [0.3, 1.0]])
    found = dm.poincare(SPRINGS, starts, [0.0, 0.2], section="x", duration=80.0, rtol=1e-12)
    assert np.array_equal(found.counts, [12, 12])
    radius = found.q[:, 1] ** 2 + (found.qd[:, 1] / W) ** 2
    wanted = (starts[:, 1] ** 2 + (0.2 / W) ** 2)[found.lanes]
    assert np.max(np.abs(radius - wanted)) < ON_MOTION
    assert np.max(np.abs(found.qd[:, 0] - starts[found.lanes, 0])) < ON_MOTION
    times = 2 * np.pi * (0.75 + np.arange(12))
    assert np.max(np.abs(found.times - np.tile(times, 2))) < ON_MOTION


@pytest.mark.parametrize("direction", [1, -1, 0])
def test_the_direction_is_respected(direction: int) -> None:
    """x = cos t falls through 1/2 at π/3 + 2πk and rises at −π/3 + 2πk."""
    found = dm.poincare(
        SPRINGS,
        [1.0, 0.0],
        section=dm.Plane("x", 0.5, direction=direction),
        duration=40.0,
        rtol=1e-12,
    )
    k = 2 * np.pi * np.arange(8)
    falling, rising = np.pi / 3 + k, 2 * np.pi - np.pi / 3 + k
    wanted = {1: rising, -1: falling, 0: np.sort(np.concatenate([rising, falling]))}[direction]
    wanted = wanted[wanted < 40.0]
    assert np.max(np.abs(found.times - wanted)) < ON_MOTION
    signs = np.sign(found.qd[:, 0])
    assert np.all(signs == direction) if direction else set(signs) == {1.0, -1.0}


def test_rates_and_functions_make_sections_too() -> None:
    rate = dm.poincare(SPRINGS, [1.0, 0.0], section="x_dot", duration=20.0, rtol=1e-12)
    assert np.max(np.abs(rate.times - np.pi * np.array([1.0, 3.0, 5.0]))) < ON_MOTION
    found = dm.poincare(
        SPRINGS,
        [1.0, 0.0],
        section=lambda q, qd, t, p: q[0] - p["w"] * qd[0],
        duration=20.0,
        rtol=1e-12,
    )
    # cos t + w sin t rises at arctan(w) − π/2 + 2πk.
    wanted = np.arctan(W) - np.pi / 2 + 2 * np.pi * np.arange(1, 4)
    assert np.max(np.abs(found.times - wanted)) < ON_MOTION


def test_two_crossings_within_one_step_are_both_found() -> None:
    """x = sin t is above 0.9999 for 0.028 s, far less than a step."""
    top = 0.9999
    found = dm.poincare(
        SPRINGS,
        [0.0, 0.0],
        [1.0, 0.0],
        section=dm.Plane("x", top, direction=0),
        duration=6.0,
        rtol=1e-10,
    )
    wanted = [np.arcsin(top), np.pi - np.arcsin(top)]
    assert np.max(np.abs(found.times - wanted)) < 1e-6  # grazing: 70 times less certain
    bottom = dm.poincare(
        SPRINGS, [0.0, 0.0], [-1.0, 0.0], section=dm.Plane("x", -top), duration=6.0, rtol=1e-10
    )
    assert np.max(np.abs(bottom.times - wanted[1:])) < 1e-6


def _free(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del q, t, params
    return 0.5 * qd @ qd


ROTOR = dm.System(_free, {"phi": "rad"}, name="rotor")


def test_angles_count_modulo_a_turn_unless_told_otherwise() -> None:
    """φ = 0.5 ± 10 t, which the integration could cross in one step."""
    found = dm.poincare(ROTOR, [[0.5]], [[10.0]], section=dm.Plane("phi", 1.0), duration=10.0)
    wanted = (0.5 + 2 * np.pi * np.arange(16)) / 10
    assert np.max(np.abs(found.times - wanted)) < ON_SECTION
    assert np.max(np.abs(found.q[:, 0] - (1.0 + 2 * np.pi * np.arange(16)))) < ON_SECTION * 100
    rising, falling = dm.Plane("phi", 1.0), dm.Plane("phi", 1.0, direction=-1)
    back = dm.poincare(ROTOR, [[0.5]], [[-10.0]], section=rising, duration=10.0)
    assert len(back) == 0
    back = dm.poincare(ROTOR, [[0.5]], [[-10.0]], section=falling, duration=10.0)
    assert np.max(np.abs(back.q[:, 0] - (1.0 - 2 * np.pi * np.arange(1, 16)))) < ON_SECTION * 100
    single = dm.Plane("phi", 1.0, wrap=False)
    once = dm.poincare(ROTOR, [[0.5]], [[10.0]], section=single, duration=10.0)
    assert np.max(np.abs(once.times - 0.05)) < ON_SECTION
    assert "modulo" in str(found)
    assert "modulo" not in str(once)


def test_a_quick_function_needs_looks() -> None:
    fast = dm.Surface(lambda q, qd, t, p: jnp.sin(40 * q[0]), every=0.02)
    found = dm.poincare(ROTOR, [[0.0]], [[1.0]], section=fast, duration=10.0)
    assert np.max(np.abs(found.times - np.pi / 20 * np.arange(1, 64))) < ON_SECTION


def test_a_strobe_looks_every_period() -> None:
    """The start does not count and the end does, however they are rounded."""
    found = dm.poincare(
        SPRINGS, [1.0, 0.0], section=dm.Strobe(0.1), t0=0.3, duration=2.0, rtol=1e-12
    )
    assert np.max(np.abs(found.times - 0.1 * np.arange(4, 24))) < ON_SECTION
    assert np.max(np.abs(found.q[:, 0] - np.cos(found.times - 0.3))) < 1e-11
    phased = dm.poincare(SPRINGS, [1.0, 0.0], section=dm.Strobe(0.1, phase=0.05), duration=1.0)
    assert np.max(np.abs(phased.times - (0.05 + 0.1 * np.arange(10)))) < ON_SECTION


def test_transients_and_limits_cut_the_record() -> None:
    found = dm.poincare(SPRINGS, [1.0, 0.0], section="x", duration=1000.0, transient=100.0, limit=5)
    first = 2 * np.pi * (0.75 + np.ceil(100 / (2 * np.pi) - 0.75))
    assert np.max(np.abs(found.times - (first + 2 * np.pi * np.arange(5)))) < 1e-7
    assert found.status[0] == dm.Status.EVENT
    assert found.ends[0] < 140


def test_many_motions_and_crossings_are_those_of_single_runs() -> None:
    """More motions than a block has lanes, more crossings than a block has room for."""
    rng = np.random.default_rng(5)
    starts = rng.uniform(-1, 1, size=(70, 2))
    stiff = rng.uniform(1, 2, size=70)
    settings: dict[str, Any] = {"section": "y", "duration": 1500.0, "rtol": 1e-11}
    found = dm.poincare(SPRINGS, starts, params={"w": stiff}, **settings)
    for i in (0, 63, 69):
        one = found.lane(i)
        quarter = 0.75 if starts[i, 1] > 0 else 0.25
        wanted = 2 * np.pi / stiff[i] * (quarter + np.arange(len(one)))
        assert len(one) > 64
        assert np.max(np.abs(one.times - wanted)) < 1e-6
        assert one.params["w"] == stiff[i]
    assert np.all(np.diff(found.lanes) >= 0)
    assert np.all(np.abs(dm.return_times(found)) > 3)


def test_constrained_motions_have_sections() -> None:
    bob = machine("pendulum_dae")
    found = dm.poincare(bob, *bob.starts["published"], section="x", duration=8.0, rtol=1e-12)
    period = 2.36784194757623745  # IFToMM A01
    assert np.max(np.abs(found.times - period * (0.25 + np.arange(4)))) < ON_MOTION
    assert np.max(np.abs(found.q - [0.0, -1.0])) < 1e-11
    wrong = dm.poincare(bob, [[0.5, 0.0]], section="x", duration=1.0)
    assert wrong.status[0] == dm.Status.BAD_INPUT
    assert dm.Status.BAD_INPUT.sentence in str(wrong)


def test_no_crossing_is_an_empty_record_that_prints_itself(tmp_path: Path) -> None:
    found = dm.poincare(SPRINGS, [[1.0, 0.0]], section=dm.Plane("x", 2.0), duration=5.0)
    assert len(found) == 0
    assert found.q.shape == (0, 2)
    assert "0 crossings" in str(found)
    assert "x = 2, rising" in str(found)
    assert len(dm.return_times(found)) == 0
    assert len(found.to_csv(tmp_path / "none.csv").read_text().splitlines()) == 1
    with pytest.raises(ValueError, match="two points at least"):
        dm.winding_number(found, "x")


def test_a_table_has_every_digit(swings: dm.PoincareSection, tmp_path: Path) -> None:
    path = swings.to_csv(tmp_path / "swings.csv")
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["lane", "t", "theta", "theta_dot"]
    assert [float(row[1]) for row in rows] == list(swings.times)
    assert "residual" in str(swings)


def test_new_numbers_do_not_compile_anew() -> None:
    compiling_seconds()
    dm.poincare(SPRINGS, np.ones((20, 2)), section=dm.Plane("x", 0.3), duration=8.0)
    before = compiling_seconds()
    dm.poincare(
        SPRINGS,
        np.zeros((30, 2)) + 0.7,
        section=dm.Plane("x", 0.1),
        duration=9,
        limit=1,
        t0=1,
        rtol=1e-9,
    )
    assert compiling_seconds() == before


def test_cutting_motions_into_stretches_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = np.stack([np.linspace(0.1, 1.0, 5), np.full(5, 0.7)], axis=1)
    whole = dm.poincare(SPRINGS, starts, section={"x": 0.1}, duration=20.0)
    monkeypatch.setattr(_stretches, "_FIRST", 7)
    monkeypatch.setattr(_stretches, "_SECONDS", 0.0)  # the shortest stretches there are
    pieces = dm.poincare(SPRINGS, starts, section={"x": 0.1}, duration=20.0)
    np.testing.assert_array_equal(pieces.times, whole.times)
    np.testing.assert_array_equal(pieces.q, whole.q)
    assert len(whole) > 5


def test_a_section_of_starts_without_numbers_says_bad_input() -> None:
    found = dm.poincare(SPRINGS, np.full((2, 2), np.nan), section={"x": 0.0}, duration=1.0)
    assert np.all(found.status == dm.Status.BAD_INPUT)
    assert len(found) == 0


def test_an_interrupted_section_keeps_what_it_has() -> None:
    request_stop()
    try:
        with pytest.warns(UserWarning, match="interrupted"):
            found = dm.poincare(SPRINGS, np.ones((70, 2)), section="x", duration=1e6)
    finally:
        forget_stop()
    assert np.all(found.status == dm.Status.INTERRUPTED)
    assert 0 < len(found) < 1e6


def test_windings_of_springs_are_ratios_of_frequencies() -> None:
    def phase(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t
        return jnp.arctan2(-qd[1] / params["w"], q[1])

    found = dm.poincare(SPRINGS, [1.0, 0.5], section="x", duration=150.0, rtol=1e-12)
    assert abs(dm.winding_number(found, phase) - (W - 1)) < ON_MOTION
    run = dm.simulate(SPRINGS, [1.0, 0.5], duration=50.0)
    assert abs(dm.winding_number(run, phase) - W / (2 * np.pi)) < ON_MOTION


def test_the_winding_of_a_rotating_pendulum_is_one_over_its_period() -> None:
    """θ̇ = 10 at the bottom: over the top, with period (4/θ̇) K(4 g / (l θ̇²))."""
    pendulum = machine("pendulum")
    period = 4 / 10.0 * ellipk(4 * 9.81 / 100.0)
    run = dm.simulate(pendulum, [0.0], [10.0], duration=50.0)
    # The plain mean is off by a part of a turn in 65; the weighted one by next to nothing.
    assert abs(dm.winding_number(run, "theta") * period - 1) < 1e-8
    found = dm.poincare(pendulum, [0.0], [10.0], section=dm.Plane("theta", 1.0), duration=20.0)
    assert abs(dm.winding_number(found, "theta") - 1) < ON_MOTION
    assert np.max(np.abs(dm.return_times(found) - period)) < ON_MOTION


def _duffing(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return q - q**3 - 0.3 * qd + params["force"][1] * jnp.cos(params["omega"] * t)


DUFFING = dm.Explicit(
    _duffing, {"x": "m"}, {"force": [0.0, 0.2], "omega": 1.2}, name="driven two-well"
)
PERIOD = 2 * np.pi / 1.2


@pytest.fixture(scope="module")
def cascade() -> dm.Bifurcation:
    """One period, two, four, five, chaos."""
    return dm.bifurcation(
        DUFFING,
        "force[1]",
        [0.20, 0.28, 0.29, 0.37, 0.50],
        [1.0],
        section=dm.Strobe(PERIOD),
        transient=300 * PERIOD,
        keep=32,
    )


def test_periods_double_as_the_drive_grows(cascade: dm.Bifurcation) -> None:
    """The two-well Duffing oscillator with damping 0.3, driven at 1.2."""
    assert list(cascade.periods()) == [1, 2, 4, 5, 0]
    assert cascade.points.shape == (5, 32, 2)
    assert np.max(np.abs(cascade.times - PERIOD * (301 + np.arange(32)))) < 1e-9
    assert "1 of period 4" in str(cascade)


def test_points_are_those_of_scipy(cascade: dm.Bifurcation) -> None:
    for i in range(4):
        force = cascade.values[i]

        def rates(t: float, y: np.ndarray, force: float = force) -> list[float]:
            return [y[1], y[0] - y[0] ** 3 - 0.3 * y[1] + force * np.cos(1.2 * t)]

        # Two cycles of five periods after it has settled, from the record's own first point:
        # the way there is chaotic, and need not end in the same phase or well.
        times = cascade.times[i, :10]
        done = solve_ivp(
            rates,
            (times[0], times[-1]),
            cascade.points[i, 0],
            method="DOP853",
            t_eval=times,
            rtol=1e-12,
            atol=1e-12,
        )
        assert np.max(np.abs(done.y.T - cascade.points[i, :10])) < 1e-6
    # The first drive is too weak for chaos on the way: the whole run is SciPy's.
    whole = solve_ivp(
        lambda t, y: [y[1], y[0] - y[0] ** 3 - 0.3 * y[1] + 0.2 * np.cos(1.2 * t)],
        (0.0, cascade.times[0, 0]),
        [1.0, 0.0],
        method="DOP853",
        rtol=1e-11,
        atol=1e-11,
    )
    assert np.max(np.abs(whole.y[:, -1] - cascade.points[0, 0])) < 1e-6


def test_a_section_of_parameters_follows_a_drive_that_varies(tmp_path: Path) -> None:
    """The drive's own phase, for several frequencies; points are at its periods."""
    found = dm.bifurcation(
        DUFFING,
        "omega",
        [1.1, 1.2],
        [1.0],
        section=dm.Surface(lambda q, qd, t, p: jnp.sin(p["omega"] * t), every=0.5),
        transient=50.0,
        keep=4,
    )
    periods = 2 * np.pi / np.array([1.1, 1.2])
    assert np.allclose(np.diff(found.times, axis=1), periods[:, None])
    rows = found.to_csv(tmp_path / "points.csv").read_text().splitlines()
    assert rows[0] == "omega,t,x,x_dot"
    assert len(rows) == 1 + 8


def _call(**change: Any) -> Any:
    return dm.poincare(SPRINGS, **{"q0s": [1.0, 0.0], "section": "x", "duration": 1.0, **change})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"section": "xx"}, "Did you mean 'x'"),
        ({"section": dm.Plane("x_dt", 1.0)}, "Did you mean 'x_dot'"),
        ({"section": lambda q, qd, t, p: q}, "must return a scalar"),
        ({"section": lambda q, qd: q[0]}, "raised TypeError"),
        ({"section": lambda q, qd, t, p: p["v"]}, "declared `params`"),
        ({"duration": -1.0}, "`duration` must be greater than zero"),
        ({"transient": 1.0}, "`transient` must be at least 0 and less than"),
        ({"limit": 0}, "`limit` must be a whole number, at least 1"),
        ({"q0s": [1.0]}, r"must have shape \(lanes, 2\)"),
        ({"params": {"ww": 1.0}}, "Did you mean 'w'"),
        ({"rtol": -1.0}, "`rtol` must be greater than zero"),
    ],
)
def test_wrong_sections_are_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        _call(**change)


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        (lambda: dm.Plane("x", np.inf), "`level` must be finite"),
        (lambda: dm.Plane("x", direction=2), "`direction` must be 1, -1 or 0, but is 2"),
        (lambda: dm.Surface(lambda q, qd, t, p: t, direction=2), "`direction` must be 1, -1 or 0"),
        (lambda: dm.Surface(lambda q, qd, t, p: t, every=0.0), "`every` must be greater than zero"),
        (lambda: dm.Strobe(-1.0), "`period` must be greater than zero"),
        (lambda: dm.Strobe(1.0, np.nan), "`phase` must be finite"),
    ],
)
def test_sections_are_checked_where_they_are_made(section: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        section()


@pytest.mark.parametrize("given", [None, 0.1, {"x": 0.0}, dm.Strobe])
def test_what_is_no_section_is_told_what_one_is(given: Any) -> None:
    with pytest.raises(ValueError, match=r"must be a `Plane\(.*, a `Strobe\(.*, a `Surface\("):
        as_section(given)


def test_a_name_and_a_function_are_short_for_their_sections() -> None:
    short, whole = _call(duration=20.0), _call(section=dm.Plane("x", 0.0), duration=20.0)
    assert np.array_equal(short.times, whole.times)
    assert short.label == "x = 0, rising"

    def position(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return q[0]

    short, whole = _call(section=position), _call(section=dm.Surface(position, direction=1))
    assert np.array_equal(short.times, whole.times)
    assert whole.label == "position = 0, rising"
    assert _call(section=dm.Strobe(0.4, 0.1)).label == "every 0.4 s from 0.1 s"


def test_other_wrong_calls_are_refused(swings: dm.PoincareSection) -> None:
    with pytest.raises(ValueError, match="outside of `jit`"):
        jax.jit(lambda x: _call(q0s=x).times)(jnp.ones(2))
    with pytest.raises(ValueError, match="outside of `jit`"):
        jax.jit(lambda x: _call(section=dm.Plane("x", x)).times)(1.0)
    with pytest.raises(ValueError, match="from 0 to 2"):
        swings.lane(3)
    with pytest.raises(ValueError, match="Did you mean 'theta'"):
        dm.winding_number(swings, "thta")
    arguments: dict[str, Any] = {"section": dm.Strobe(PERIOD), "transient": 1.0}
    with pytest.raises(ValueError, match="Did you mean 'omega'"):
        dm.bifurcation(DUFFING, "omga", [1.0], [1.0], **arguments)
    with pytest.raises(ValueError, match="no parameter 'force"):
        dm.bifurcation(DUFFING, "force[2]", [1.0], [1.0], **arguments)
    with pytest.raises(ValueError, match=r"`values` must have shape \(k,\)"):
        dm.bifurcation(DUFFING, "omega", [], [1.0], **arguments)
    with pytest.raises(ValueError, match=r"`values\[1\]` must be finite"):
        dm.bifurcation(DUFFING, "omega", [1.0, np.inf], [1.0], **arguments)
