"""The N-link pendulum: angular momentum balance, exam problems, the report's own cases."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm

from ..by_tape import by_arrays
from ..conftest import jittered_params, machine, random_states
from ..tolerances import CHAIN_ROUND_OFF, ROUND_OFF


def accelerations(system: dm.System, q: Any, qd: Any, params: Any = None) -> np.ndarray:
    """q̈ at many states, shape (k, n), carried out by NumPy."""
    return by_arrays(lambda q, qd: dm.acceleration(system, q, qd, params=params), q, qd)


def by_angular_momentum_balance(q: np.ndarray, qd: np.ndarray, p: Any) -> np.ndarray:
    """Accelerations from the moment balance about every hinge, in plain NumPy.

    For hinge j, with x along gravity and the mass centres i = j..N hanging below it:

        T_j − k_j (θ_j − θ_{j−1}) − c_j (θ̇_j − θ̇_{j−1}) + Σ r_i × m_i g = Σ r_i × m_i a_i + I_i θ̈_i
    """
    n = len(q)
    along = np.stack([np.cos(q), np.sin(q)], axis=1)  # (down, right)
    across = np.stack([-np.sin(q), np.cos(q)], axis=1)
    lever = np.array([[p.lengths[k] if k < i else 0.0 for k in range(n)] for i in range(n)])
    lever += np.diag(p.centres)  # mass centre i = Σ_k lever[i, k] along[k]
    matrix, right = np.zeros((n, n)), np.zeros(n)

    def cross(a: np.ndarray, b: np.ndarray) -> float:
        return a[0] * b[1] - a[1] * b[0]

    for j in range(n):
        before = (q[j - 1], qd[j - 1]) if j else (0.0, 0.0)
        right[j] = p.torques[j]
        right[j] -= p.stiffnesses[j] * (q[j] - before[0]) + p.frictions[j] * (qd[j] - before[1])
        for i in range(j, n):
            arm = lever[i, j : i + 1] @ along[j : i + 1]
            right[j] += cross(arm, np.array([p.masses[i] * p.gravity, 0.0]))
            matrix[j, i] += p.inertias[i]
            for k in range(i + 1):
                matrix[j, k] += p.masses[i] * cross(arm, lever[i, k] * across[k])
                right[j] += p.masses[i] * cross(arm, lever[i, k] * along[k]) * qd[k] ** 2
    return np.linalg.solve(matrix, right)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_lagrange_equals_angular_momentum_balance(n: int) -> None:
    system = dm.systems.n_link(n=n)
    params = jittered_params(system, seed=20 + n)
    q, qd, _ = random_states(n, 20, seed=n)
    for place, rate, ours in zip(q, qd, accelerations(system, q, qd, params), strict=True):
        theirs = by_angular_momentum_balance(place, rate, params)
        scale = np.max(np.abs(theirs))
        np.testing.assert_allclose(ours, theirs, atol=CHAIN_ROUND_OFF * scale)


def test_two_links_with_point_masses_are_the_double_pendulum() -> None:
    masses, lengths = [1.3, 0.6], [0.8, 1.7]
    chain = dm.systems.n_link(n=2, masses=masses, lengths=lengths, centres=lengths, inertias=0.0)
    double = machine("double_pendulum").with_params(masses=masses, lengths=lengths)
    q, qd, _ = random_states(2, 20, seed=30)
    np.testing.assert_allclose(
        accelerations(chain, q, qd), accelerations(double, q, qd), rtol=CHAIN_ROUND_OFF
    )


@pytest.mark.parametrize(("mass", "inertia", "length"), [(1.0, 0.1, 1.0), (2.5, 0.7, 0.6)])
def test_exam_problem_all_links_accelerate_alike(
    mass: float, inertia: float, length: float
) -> None:
    # Three links, two of them massless, the mass at the far end of the last, horizontal.
    system = dm.systems.n_link(
        n=3, masses=[0, 0, mass], inertias=inertia, lengths=length, centres=length
    )
    ours = accelerations(system, np.full((1, 3), np.pi / 2), np.zeros((1, 3)))
    expected = mass * 9.81 * length / (inertia + 3 * mass * length**2)
    np.testing.assert_allclose(np.abs(ours), expected, rtol=ROUND_OFF)


def _in_line(n: int) -> tuple[dm.System, float]:
    """Links with equal I/l, all mass at the end of the last; and the length α + Σ l."""
    lengths = np.linspace(0.5, 1.5, n)
    ratio, mass = 0.3, 2.0
    system = dm.systems.n_link(
        n=n,
        masses=[0.0] * (n - 1) + [mass],
        lengths=lengths,
        centres=lengths,
        inertias=ratio * lengths,
    )
    return system, ratio / mass + float(np.sum(lengths))


@pytest.mark.parametrize("n", [2, 5])
def test_in_line_chain_accelerates_as_one_pendulum(n: int) -> None:
    system, effective = _in_line(n)
    angles, rates = (np.tile(x, (n, 1)).T for x in ([0.3, 1.2, 2.8], [0.0, -2.0, 3.0]))
    ours = accelerations(system, angles, rates)
    np.testing.assert_allclose(ours, -9.81 / effective * np.sin(angles), rtol=CHAIN_ROUND_OFF)


def test_in_line_chain_stays_in_line_from_forty_five_degrees() -> None:
    system, effective = _in_line(4)
    run = dm.simulate(system, np.full(4, np.pi / 4), duration=10.0, rtol=1e-12)
    single = solve_ivp(
        lambda t, y: [y[1], -9.81 / effective * np.sin(y[0])],
        (0.0, 10.0),
        [np.pi / 4, 0.0],
        method="DOP853",
        t_eval=run.ts,
        rtol=1e-12,
        atol=1e-12,
    ).y[0]
    np.testing.assert_allclose(run.qs, np.tile(single, (4, 1)).T, atol=1e-8)


@pytest.mark.parametrize("start", ["nice", "chaotic"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 15])
def test_energy_is_kept_for_twenty_seconds(n: int, start: str) -> None:
    system = dm.systems.n_link(n=n)
    run = dm.simulate(system, *system.starts[start], duration=20.0)
    energies = run.energies
    gap = np.max(np.abs(energies.total - energies.total[0])) / np.max(energies.kinetic)
    # 1e-9 is what mechanics users expect; the default tolerance keeps a margin of ten.
    assert gap < 1e-9


def test_fifteen_links_balance_energy_with_springs_friction_and_torques() -> None:
    system = dm.systems.n_link(n=15, stiffnesses=1.0, frictions=0.01, torques=1.0)
    run = dm.simulate(system, *system.starts["chaotic"], duration=20.0)
    energies, work = run.energies, np.asarray(run.work)
    gap = np.max(np.abs(energies.total - energies.total[0] - work))
    assert gap / max(np.max(energies.kinetic), np.max(np.abs(work))) < 1e-9
    # The work terms matter: without them the balance is off by half the energy.
    assert np.max(np.abs(energies.total - energies.total[0])) > 0.1 * np.max(energies.kinetic)


def test_a_heavy_last_link_makes_the_chain_nearly_one_pendulum() -> None:
    system = dm.systems.n_link(n=5, masses=[1, 1, 1, 1, 100])
    run = dm.simulate(system, *system.starts["nice"], duration=20.0)
    spread = np.max(np.ptp(np.asarray(run.qs), axis=1))
    light = dm.systems.n_link(n=5)
    free = dm.simulate(light, *light.starts["nice"], duration=20.0)
    assert spread < 0.35
    assert np.max(np.ptp(np.asarray(free.qs), axis=1)) > 0.7


def test_springs_and_friction_bring_three_links_to_rest() -> None:
    system = dm.systems.n_link(n=3, stiffnesses=1.0, frictions=1.0)
    run = dm.simulate(system, *system.starts["chaotic"], duration=40.0)
    energy = np.asarray(run.energies.total)
    # Friction only ever takes energy; 1e-9 of it forgives the interpolation of the samples.
    assert np.all(np.diff(energy) < 1e-9 * np.ptp(energy))
    assert float(run.energies.kinetic[-1]) < 0.05 * float(np.max(run.energies.kinetic))
    assert run.report(second_run=False).imbalance < 1e-9


def test_eight_links_with_everything_run_for_twenty_seconds() -> None:
    system = dm.systems.n_link(n=8, stiffnesses=1.0, frictions=1.0, torques=1.0)
    run = dm.simulate(system, *system.starts["chaotic"], duration=20.0)
    assert run.report(second_run=False).imbalance < 1e-9


def test_wrong_numbers_of_links_are_refused() -> None:
    with pytest.raises(ValueError, match="`n` must be a whole number, at least 1, but is 0"):
        dm.systems.n_link(n=0)
    with pytest.raises(ValueError, match=r"`masses` must be one number or 3, but has shape \(2,\)"):
        dm.systems.n_link(n=3, masses=[1.0, 2.0])
