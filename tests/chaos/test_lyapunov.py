"""Lyapunov exponents against published numbers, closed forms and the laws they obey."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import _stretches
from diffmech._progress import forget_stop, request_stop
from diffmech.lanes._compiling import compiling_seconds

from ..conftest import machine

PUBLISHED = 0.03  # chance alone scatters runs of 1.5e5 s by 0.8 %
SUM = 1e-8  # [1/s] the divergence of the flow is constant: only the integration's error is left


def _pendulum(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del params
    return -jnp.sin(q) - 0.05 * qd + 0.6 * jnp.sin(0.7 * t)


def _two_wells(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del params
    return q - q**3 - 0.25 * qd + 0.4 * jnp.sin(t)


def _spring_lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Ueda's oscillator: V = x⁴/4 − 7.5 x sin t."""
    return 0.5 * qd @ qd - 0.25 * q[0] ** 4 + params["force"] * q[0] * jnp.sin(t)


def _drag(q: Any, qd: Any, t: Any, params: Any) -> Any:
    del q, t
    return 0.5 * params["damping"] * qd @ qd


UEDA = dm.System(
    _spring_lagrangian, {"x": "m"}, {"force": 7.5, "damping": 0.05}, dissipation=_drag, name="ueda"
)
SPROTT = [
    (dm.Explicit(_pendulum, {"x": "rad"}), 0.0, 0.1414, 0.05),
    (dm.Explicit(_two_wells, {"x": "m"}), 0.2, 0.1572, 0.25),
    (UEDA, 2.5, 0.1034, 0.05),
]


@pytest.mark.long_runs
@pytest.mark.parametrize(
    ("system", "start", "published", "damping"), SPROTT, ids=["pendulum", "two wells", "ueda"]
)
def test_published_exponents_come_out(
    system: dm.AbstractSystem, start: float, published: float, damping: float
) -> None:
    """Sprott, Chaos and Time-Series Analysis (2003), appendix A."""
    found = dm.lyapunov(system, [start], duration=1.5e5, transient=100.0, rtol=1e-9)
    assert abs(found.exponents[0] - published) < PUBLISHED * published
    assert abs(found.exponents[1] - (-damping - published)) < PUBLISHED * published
    assert abs(found.sum + damping) < SUM
    assert found.verdict.startswith("chaotic")
    # The error bar is of the size that the published number asks for.
    assert abs(found.exponents[0] - published) < 4 * found.errors[0]
    assert found.errors[0] < PUBLISHED * published
    whole = 1 + published / (published + damping)
    assert abs(found.dimension - whole) < 0.01
    assert "Kaplan-Yorke" in str(found)


def _motion(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A pendulum; with a spring, a cube, a drive and an excitation that are there to be set.

    Excited by m and held by a spring of 1, r = q² + q̇² obeys ṙ = 2 m (1 − r) q̇²: the circle r = 1,
    run in 2π, is the limit cycle.
    """
    pendulum = -params["stiffness"] * jnp.sin(q) - params["damping"] * qd
    driven = params["drive"] * jnp.cos(t) - params["spring"] * q + params["cube"] * q**3
    return pendulum + driven + params["excitation"] * (1 - q**2 - qd**2) * qd


# One machine for most tests: its numbers do not compile anew.
_NONE = dict.fromkeys(("stiffness", "damping", "drive", "spring", "cube", "excitation"), 0.0)


def _numbers(**terms: float) -> dict[str, float]:
    """The machine with these terms alone."""
    return _NONE | terms


SWING = dm.Explicit(_motion, {"theta": "rad"}, _numbers(stiffness=9.81, damping=0.4), name="swing")


@pytest.mark.parametrize("damping", [0.0, 0.4, 8.0])
@pytest.mark.parametrize("place", [0.0, np.pi])
def test_at_a_fixed_point_exponents_are_real_parts_of_eigenvalues(
    place: float, damping: float
) -> None:
    """λ² + c λ ± k = 0: hanging oscillating and creeping, and upside down."""
    stiffness = 9.81 * np.cos(place)
    exact = np.sort(np.roots([1.0, damping, stiffness]).real)[::-1]
    params = _numbers(stiffness=9.81, damping=damping)
    # π in floating point is 1e-16 off, which grows by exp(3.1 t).
    duration, transient = (6.0, 2.0) if place else (400.0, 20.0)
    found = dm.lyapunov(SWING, [place], duration=duration, transient=transient, params=params)
    # What oscillates or has not yet turned is bounded, and goes as 1/T.
    assert np.max(np.abs(found.exponents - exact)) < 2 / duration
    if abs(exact[0] - exact[1]) > 1:  # directions are real and settled in the transient
        assert np.max(np.abs(found.exponents - exact)) < 1e-5
    assert abs(found.sum + damping) < SUM
    assert found.at_rest
    wanted = "unstable" if place else ("stable" if damping else "marginal")
    assert found.verdict == f"a fixed point, {wanted}"


def test_a_swing_that_dies_out_ends_as_a_fixed_point() -> None:
    found = dm.lyapunov(SWING, [2.0], duration=300.0, transient=100.0)
    assert found.verdict == "a fixed point, stable"
    assert np.max(np.abs(found.exponents + 0.2)) < 0.01
    assert found.dimension == 0


def test_a_limit_cycle_has_a_zero_and_its_contraction() -> None:
    """On the circle the divergence of the flow is −2 m q̇², on average −m."""
    m = 0.5
    cycle = _numbers(spring=1.0, excitation=m)
    found = dm.lyapunov(SWING, [1.0], duration=200 * np.pi, params=cycle)
    assert np.max(np.abs(found.exponents - [0.0, -m])) < 2e-3
    assert abs(found.sum + m) < 1e-8  # a whole number of turns
    assert found.verdict.startswith("regular")
    assert abs(found.dimension - 1) < 0.01
    approach = dm.lyapunov(SWING, [0.1], duration=500.0, transient=50.0, params=cycle)
    assert np.max(np.abs(approach.exponents - [0.0, -m])) < 2e-3


def test_a_driven_oscillator_follows_its_drive() -> None:
    """ẍ = −4 x − 0.5 ẋ + cos t: neighbours do not know of the drive, and fall as exp(−t/4)."""
    driven = _numbers(spring=4.0, damping=0.5, drive=1.0)
    found = dm.lyapunov(SWING, [0.1], duration=500.0, transient=100.0, params=driven)
    assert found.verdict.startswith("periodic, in step with its drive")
    assert abs(found.sum + 0.5) < SUM
    assert np.max(np.abs(found.exponents + 0.25)) < 1 / found.duration
    assert found.dimension == 0


@pytest.fixture(scope="module")
def double() -> dm.Lyapunov:
    system = machine("double_pendulum")
    return dm.lyapunov(system, *system.starts["chaotic"], duration=400.0, transient=20.0)


def test_conservative_chaos_has_pairs_and_two_zeros(double: dm.Lyapunov) -> None:
    largest = double.exponents[0]
    assert largest > 1.0
    assert double.verdict.startswith("chaotic")
    # In pairs up to what the mass matrix and the frame's turning leave, bounded over T.
    assert double.pairing < 10 / double.duration
    assert np.all(np.abs(double.exponents[1:3]) < 10 / double.duration)
    assert np.array_equal(double.signs, [1, 0, 0, -1])
    assert abs(double.dimension - 4) < 0.01


def test_volumes_change_by_the_mass_matrix_alone(double: dm.Lyapunov) -> None:
    """Liouville in (q, q̇): ln of the volume's growth is ln det M(start) − ln det M(end)."""
    system = machine("double_pendulum")
    short = dm.lyapunov(system, [1.0, 2.0], duration=3.0)
    run = dm.simulate(system, [1.0, 2.0], duration=3.0, samples=2)
    ends = [np.linalg.slogdet(dm.mass_matrix(system, q))[1] for q in run.qs]
    assert abs(short.sum * 3.0 - (ends[0] - ends[1])) < 1e-7
    assert double.system.name == system.name


def test_exponents_of_an_integrable_motion_go_to_zero_as_ln_t_over_t() -> None:
    found = [
        dm.lyapunov(SWING, [2.0], duration=T, params=_numbers(stiffness=9.81))
        for T in (200.0, 3200.0)
    ]
    for one in found:
        assert np.all(np.abs(one.exponents) < 3 * np.log(one.duration) / one.duration)
        assert np.array_equal(one.signs, [0, 0])
        assert one.verdict.startswith("regular")
    assert found[1].exponents[0] < 0.15 * found[0].exponents[0]


def test_the_largest_alone_is_the_first_of_all() -> None:
    system = machine("double_pendulum")
    start = system.starts["chaotic"]
    one, all_four = (
        dm.lyapunov(system, *start, duration=20.0, count=count, rtol=1e-9) for count in (1, None)
    )
    assert one.exponents.shape == (1,)
    assert all_four.exponents.shape == (4,)
    # The first neighbour is the same; chaos lets the two runs differ by then.
    assert abs(one.history[100, 0] - all_four.history[100, 0]) < 1e-3
    assert np.isnan(one.dimension)
    assert np.isnan(one.pairing)
    assert "of those computed" in str(one)


def test_constraints_take_dimensions_away() -> None:
    """A bob on a circle, in x and y, has the two exponents of one angle: ±√(g/l) on top."""
    bob = machine("pendulum_dae")
    found = dm.lyapunov(bob, [0.0, 1.0], duration=4.0, transient=4.0)
    assert found.dimensions == 2
    assert np.max(np.abs(found.exponents - np.sqrt(9.81) * np.array([1, -1]))) < 1e-7
    assert found.verdict == "a fixed point, unstable"
    q0, qd0 = bob.starts["default"]
    swing = dm.lyapunov(bob, q0, qd0, duration=30.0)
    assert swing.verdict.startswith("regular")
    with pytest.raises(ValueError, match="breaks its constraints"):
        dm.lyapunov(bob, np.asarray(q0) + 0.1, qd0, duration=1.0)


def test_new_numbers_do_not_compile_anew() -> None:
    compiling_seconds()  # from here on they are counted
    numbers = _numbers(stiffness=9.81, damping=0.1)
    dm.lyapunov(SWING, [0.3], duration=20.0, params=numbers)
    before = compiling_seconds()
    dm.lyapunov(
        SWING,
        [0.4],
        [1],
        duration=31,
        transient=2.0,
        interval=0.5,
        t0=1,
        rtol=1e-9,
        seed=3,
        params=_numbers(stiffness=4, damping=0.2),
    )
    assert compiling_seconds() == before


def test_the_history_ends_at_the_exponents() -> None:
    found = dm.lyapunov(SWING, [0.3], duration=10.0, transient=1.0, interval=0.25)
    assert np.allclose(found.times, 0.25 * np.arange(1, 41))
    assert np.array_equal(found.history[-1], found.exponents)


def test_cutting_a_run_into_stretches_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dm.lyapunov(SWING, [0.3], duration=10.0)
    monkeypatch.setattr(_stretches, "_FIRST", 7)
    monkeypatch.setattr(_stretches, "_SECONDS", 0.0)  # the shortest stretches there are
    pieces = dm.lyapunov(SWING, [0.3], duration=10.0)
    np.testing.assert_array_equal(pieces.history, whole.history)
    assert pieces.steps == whole.steps > 20 + 7


def test_an_interrupted_run_keeps_its_estimates() -> None:
    request_stop()
    try:
        with pytest.warns(UserWarning, match="interrupted"):
            found = dm.lyapunov(SWING, [0.3], duration=1e7)
    finally:
        forget_stop()
    assert found.status == dm.Status.INTERRUPTED
    assert 0 < found.duration < 1e7


def test_a_run_that_blows_up_says_so() -> None:
    steep = SWING.with_params(_numbers(cube=1.0))
    with pytest.raises(RuntimeError, match="stopped at t ="):
        dm.lyapunov(steep, [1.0], [1.0], duration=100.0)
    found = dm.lyapunov(steep, [1.0], [1.0], duration=100.0, throw=False)
    assert found.status is not dm.Status.OK
    assert found.status.sentence in str(found)
    early = dm.lyapunov(steep, [1.0], [1.0], duration=100.0, transient=50.0, throw=False)
    assert np.all(np.isnan(early.exponents))
    assert "nothing can be said" in str(early)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"duration": -1.0}, "`duration` must be greater than zero"),
        ({"transient": -1.0}, "`transient` must not be negative"),
        ({"interval": 0.0}, "`interval` must be greater than zero"),
        ({"interval": 0.2}, "`interval` must be at most a 16th of the duration, 0.0625 s"),
        ({"count": 3}, "`count` must be at most 2"),
        ({"count": 0}, "`count` must be a whole number, at least 1"),
        ({"rtol": 1e-20}, "`rtol` must be at least"),
        ({"params": {name.replace("ff", "f"): 1.0 for name in _NONE}}, "Did you mean 'stiffness'"),
        ({"q0": {"thta": 1.0}}, "Did you mean 'theta'"),
        ({"q0": [np.nan]}, "must be finite"),
    ],
)
def test_wrong_calls_are_refused(change: dict[str, Any], sentence: str) -> None:
    arguments = {"q0": [0.1], "duration": 1.0, **change}
    with pytest.raises(ValueError, match=sentence):
        dm.lyapunov(SWING, **arguments)


def test_a_trace_is_refused() -> None:
    run: Callable[..., Any] = jax.jit(lambda x: dm.lyapunov(SWING, x, duration=1.0).exponents)
    with pytest.raises(ValueError, match="outside of `jit`"):
        run(jnp.ones(1))


@pytest.mark.parametrize("duration", [0.1, 1.0, 5.0])
def test_a_run_of_a_few_swings_is_not_called_regular(duration: float) -> None:
    """This motion is chaotic (1.2 per second over 50 s and more)."""
    found = dm.lyapunov(machine("double_pendulum"), [2.0, 2.0], duration=duration)
    assert found.verdict.startswith("too short to tell regular from chaotic: ")


def test_a_motion_at_constant_rates_has_no_swings_to_wait_for() -> None:
    found = dm.lyapunov(SWING, [0.0], [1.0], duration=1.0, params=_NONE)
    assert found.swings is None
    assert found.verdict.startswith("regular")
