"""The trust report: it must know what it knows, and not claim more."""

import re
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import diffmech as dm
from diffmech.simulation._judgement import answer, judge, verdict

from ..conftest import machine

# Ten starts of the babyboot, regular and chaotic: (qA, qB) in degrees.
STARTS = [
    (20, 1),
    (45, 1),
    (60, 5),
    (85, 1),
    (90, 1),
    (90, 0.5),
    (100, 3),
    (120, 2),
    (140, 1),
    (170, 1),
]


@pytest.fixture(scope="module")
def boot() -> dm.System:
    return machine("babyboot")


@pytest.mark.parametrize("start", STARTS, ids=lambda s: f"{s[0]}-{s[1]}deg")
def test_the_estimated_error_is_the_real_one_within_a_factor_of_ten(
    boot: dm.System, start: tuple[float, float]
) -> None:
    q0 = np.deg2rad(start)
    loose = dm.simulate(boot, q0, duration=10.0, rtol=1e-6)
    exact = dm.simulate(boot, q0, duration=10.0, rtol=5e-14)
    real = float(np.max(np.abs(loose.end.q - exact.end.q)))
    claimed = loose.report().final_error
    assert claimed / 10 < real < claimed * 10


def test_a_loose_chaotic_run_is_not_called_believable(boot: dm.System) -> None:
    loose = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0, rtol=1e-5, method="Tsit5")
    report = loose.report()
    assert report.believable_until < 10
    assert report.verdict.startswith("Believable until t = ")
    exact = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0, rtol=1e-13)
    error = np.max(np.abs(loose.qs - exact.qs), axis=1)
    good = np.asarray(loose.ts) < report.believable_until
    # Until then two digits are right, within the factor that an estimate may be off.
    assert np.max(error[good]) < 0.02
    assert np.max(error) > 0.01


def test_the_published_run_says_how_many_digits_are_left(boot: dm.System) -> None:
    run = dm.simulate(boot, *boot.starts["chaotic"], duration=10.0, rtol=1e-9)
    report = run.report()
    assert report.believable_until == 10
    assert "digits" in report.verdict
    truth = np.deg2rad([-61.312983340691, -929.47789677244])
    real = np.max(np.abs(run.end.q - truth))
    assert report.final_error / 10 < real < report.final_error * 10


def test_fixed_steps_are_judged_by_half_the_step() -> None:
    system = machine("double_pendulum")
    run = dm.simulate(
        system, *system.starts["default"], duration=5.0, dt=0.02, method="GaussLegendre4"
    )
    exact = dm.simulate(system, *system.starts["default"], duration=5.0, rtol=1e-13)
    real = float(np.max(np.abs(run.end.q - exact.end.q)))
    assert run.report().final_error / 3 < real < 3 * run.report().final_error
    assert "half the step" in run.report().reference


def test_a_wrong_energy_balance_is_said_first() -> None:
    system = machine("pendulum")
    run = dm.simulate(system, [3.0], duration=20.0, dt=0.05, method="Heun")
    assert run.report().imbalance > 1e-3
    assert run.report().verdict.startswith("Not believable")


def test_energy_work_and_momentum_stand_in_the_print() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd @ qd - jnp.cos(q[0])

    def dissipation(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.1 * qd[0] ** 2

    system = dm.System(lagrangian, {"a": "rad", "b": "m"}, dissipation=dissipation)
    run = dm.simulate(system, [1.0, 0.0], [0.0, 2.0], duration=3.0)
    lines = str(run).splitlines()
    assert 6 <= len(lines) <= 8
    assert [line.split()[0] for line in lines] == [
        "run",
        "ended",
        "steps",
        "energy",
        "momentum",
        "answer",
        "verdict",
    ]
    assert run.report().momenta == {"b": 0.0}
    loss = -float(run.work[-1])
    np.testing.assert_allclose(loss, float(run.energies.total[0] - run.energies.total[-1]))
    assert f"work done {-loss:.3g} J" in str(run)


def test_near_singular_coordinates_are_mentioned() -> None:
    # Two coordinates that mean nearly the same: M is singular but for 1e-8.
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        together, apart = (qd[0] + qd[1]) ** 2, 1e-8 * qd[1] ** 2
        return 0.5 * (together + apart) - 0.5 * ((q[0] + q[1]) ** 2 + 1e-8 * q[1] ** 2)

    system = dm.System(lagrangian, ("a", "b"))
    run = dm.simulate(system, [1.0, 0.1], duration=1.0, rtol=1e-6)
    assert 1e7 < run.report().condition < 1e9
    assert "came close to singular" in str(run)


def test_two_samples_are_enough_to_be_disbelieved() -> None:
    run = dm.simulate(machine("double_pendulum"), [3.0, 3.0], ts=[0.0, 40.0], rtol=1e-6)
    assert run.report().believable_until == 0
    assert run.report().verdict.startswith("Believable until t = 0 s only")


def test_a_steady_coordinate_is_not_judged_by_its_rounding() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd[0] ** 2 + (q[0] * qd[1]) ** 2) + 1 / q[0]

    system = dm.System(lagrangian, {"r": "m", "phi": "rad"})
    run = dm.simulate(system, [1.3, 0.0], [0.0, 1.3**-1.5], duration=60.0)
    assert run.report().believable_until == 60
    resting = dm.simulate(machine("pendulum"), [1e-7], duration=2.0, rtol=1e-9, atol=1e-16)
    assert "Believable to the end" in resting.report().verdict


def free(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * params["m"] * qd @ qd


def pulse(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A push that is shorter than a step."""
    return jnp.where((t > 50.1) & (t < 50.15), 1.0, 0.0)[None]


def test_a_push_between_two_steps_is_not_believed_away() -> None:
    particle = dm.System(free, {"x": "m"}, {"m": 1.0}, forces=pulse)
    report = dm.simulate(particle, [0.0], duration=100.0).report()
    assert "x = 0 ± 2e+00 m (0 digits)" in str(report)
    assert report.verdict.startswith("Believable until t = 50.1 s only")


def test_at_rest_there_are_no_digits_to_count() -> None:
    particle = dm.System(free, {"x": "m"}, {"m": 1.0})
    report = dm.simulate(particle, [0.0], duration=1.0).report()
    assert "(zero, to the tolerance)" in str(report)
    assert report.verdict == "Believable to the end: nothing left zero by more than the tolerance."


def test_a_negative_mass_is_in_the_verdict() -> None:
    verdict = dm.simulate(dm.System(free, {"x": "m"}, {"m": -1.0}), [1.0], duration=1.0).report()
    assert "mass matrix is not positive definite" in verdict.verdict
    held = dm.System(free, {"x": "m", "y": "m"}, {"m": -1.0}, constraints=lambda q, t, p: q[0])
    run = dm.simulate(held, [0.0, 1.0], [0.0, 1.0], duration=1.0)
    assert "mass matrix is not positive definite" in run.report(second_run=False).verdict


def test_a_machine_without_freedom_is_at_rest_and_not_a_runaway() -> None:
    def held(q: Any, t: Any, params: Any) -> Any:
        return jnp.stack([q @ q - 1.0, q[0] - q[1]])

    def heavy(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return free(q, qd, t, params) - 9.81 * q[1]

    for lagrangian in (heavy, free):
        system = dm.System(lagrangian, {"x": "m", "y": "m"}, {"m": 1.0}, constraints=held)
        run = dm.simulate(system, [np.sqrt(0.5)] * 2, duration=10.0, samples=101)
        report = run.report(second_run=False)
        assert report.imbalance == 0
        assert dict(report.lines)["energy"].startswith("nothing moves, to rounding and tolerance;")
        assert report.verdict.startswith("Not compared with a second run")


def test_a_mass_that_is_missing_only_where_nothing_moves_is_none() -> None:
    def heavy_in_x(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd[0] ** 2

    held = dm.System(heavy_in_x, {"x": "m", "y": "m"}, constraints=lambda q, t, p: q[1])
    run = dm.simulate(held, [0.0, 0.0], [1.0, 0.0], duration=1.0)
    assert "positive definite" not in str(run.report(second_run=False))


@pytest.fixture(scope="module")
def three() -> dm.Trajectory:
    system = dm.System(free, {"x": "m", "a": "rad", "y": "m"}, {"m": 1.0})
    return dm.simulate(system, [1.0, 0.0, 0.0], [1.0, 0.5, 0.0], duration=1.0, samples=3)


SAME_UNIT = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]])  # x and y in m, a in rad
sizes = st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 3e4])
mistakes = st.sampled_from([0.0, 1e-300, 1e-13, 1e-8, 1e-3, 0.5, 1e3, np.inf])


@settings(derandomize=True, deadline=None, max_examples=500)
@given(st.lists(sizes, min_size=9, max_size=9), st.lists(mistakes, min_size=9, max_size=9))
def test_a_verdict_is_never_better_than_the_errors(
    three: dm.Trajectory, values: list[float], errors: list[float]
) -> None:
    qs, error = np.reshape(values, (3, 3)), np.reshape(errors, (3, 3))
    run = eqx.tree_at(lambda run: run.qs, three, qs)
    judgement = judge(run, error)
    sentence = verdict(run, run.energies, judgement, error, 0.0, definite=True)
    if "to the end" not in sentence:
        return
    size = np.max(np.abs(qs), axis=0)
    size = np.maximum(size, 1e-3 * np.max(size * SAME_UNIT, axis=1))
    assert np.all(error[-1] <= np.maximum(2e-2 * size, three.settings.atol)), "each range at most 2"
    shown = re.search(r"\((\d+) digits?\)", answer(run, error, judgement.digits))
    claimed = re.search(r"about (\d+) digit", sentence)
    assert (shown is None) == (claimed is None) == (not np.any(size))
    if shown and claimed:
        assert int(claimed[1]) == int(shown[1]), "the worst is the one that is shown"
        assert np.all(error[-1, size > 0] <= size[size > 0] * 10.0 ** -int(claimed[1]))


def test_only_momenta_that_nothing_pushes_are_called_kept() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd @ qd - 5e3 * jnp.maximum(jnp.abs(q[0]) - 10, 0) ** 2

    system = dm.System(lagrangian, {"x": "m", "y": "m"})
    report = dm.simulate(system, [0.0, 0.0], [3.0, 1.0], duration=9.0, rtol=1e-8).report()
    assert set(report.momenta) == {"y"}


def test_a_kinetic_term_left_out_is_mentioned() -> None:
    # A cart-pole without the pole's own kinetic energy.
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.6 * qd[0] ** 2 + 0.1 * qd[0] * qd[1] * jnp.cos(q[1]) + jnp.cos(q[1])

    system = dm.System(lagrangian, {"x": "m", "theta": "rad"})
    run = dm.simulate(system, [0.0, 0.5], duration=0.02)
    assert "not positive definite: a negative mass, or a kinetic term missing?" in str(run)


def test_a_momentum_of_zero_is_kept_to_rounding() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        pole = 0.05 * qd[1] ** 2 + 0.1 * qd[0] * qd[1] * jnp.cos(q[1])
        return 0.6 * qd[0] ** 2 + pole + jnp.cos(q[1])

    system = dm.System(lagrangian, {"x": "m", "theta": "rad"})
    run = dm.simulate(system, [0.0, 0.5], duration=5.0)
    assert run.report().momenta["x"] < 1e-9


def test_a_step_longer_than_the_run_is_judged_too() -> None:
    run = dm.simulate(machine("pendulum"), [2.0], duration=1.0, dt=2.0, method="GaussLegendre4")
    assert run.report().final_error > 0.01


def test_the_second_run_is_not_bound_by_the_first_ones_step_limit() -> None:
    run = dm.simulate(machine("pendulum"), [1.0], duration=10.0, max_steps=400)
    assert "Believable to the end" in run.report().verdict


def test_a_run_that_failed_at_once_claims_nothing() -> None:
    run = dm.simulate(dm.systems.pendulum(mass=0.0), [1.0], duration=1.0, throw=False)
    assert run.report().verdict == "Stopped at t = 0 s, before the first sample."


def test_printing_makes_the_second_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    system = machine("pendulum")
    run = dm.simulate(system, [1.0], duration=1.0)
    from diffmech.simulation import _second_run

    calls = []
    original = _second_run.run_in_stretches
    monkeypatch.setattr(
        _second_run, "run_in_stretches", lambda *a, **k: (calls.append(1), original(*a, **k))[1]
    )
    first, second = str(run), str(run)
    assert first == second
    assert len(calls) == 1
