"""The forces that a measured motion asks for, and how well they are known."""

from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech.identification._derivatives import local_polynomials
from tests.conftest import machine

MASS, LENGTH, GRAVITY = 0.7, 0.4, 9.81
NOISE = np.deg2rad(0.5)


def swing(ts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An angle over time, and the torque that makes a pendulum move so."""
    q = 1.1 * np.sin(4.0 * ts) + 0.3 * np.cos(9.0 * ts)
    qdd = -16.0 * 1.1 * np.sin(4.0 * ts) - 81.0 * 0.3 * np.cos(9.0 * ts)
    return q, MASS * LENGTH**2 * qdd + MASS * GRAVITY * LENGTH * np.sin(q)


def pendulum() -> dm.System:
    return machine("pendulum").with_params(mass=MASS, length=LENGTH, gravity=GRAVITY)


def measured(seed: int, *, uneven: float = 0.0, **more: Any) -> tuple[dm.Record, np.ndarray]:
    rng = np.random.default_rng(seed)
    ts = np.arange(1500) / 100 + uneven * rng.uniform(0, 0.01, 1500)
    q, torque = swing(ts)
    noisy = q + rng.normal(scale=NOISE, size=len(ts))
    return dm.Record(ts, {"theta": noisy}, name="swing", **more), torque


@pytest.mark.parametrize(("seed", "more"), [(0, {}), (1, {"noise": NOISE}), (2, {"uneven": 0.5})])
def test_errors_cover_the_torque_that_drove_a_pendulum(seed: int, more: dict[str, Any]) -> None:
    record, torque = measured(seed, **more)
    found = dm.forces_along(pendulum(), record)
    known = np.isfinite(found.forces[:, 0])
    off = (found.forces[known, 0] - torque[known]) / found.errors[known, 0]
    assert np.mean(known) > 0.97
    assert 0.92 <= np.mean(np.abs(off) < 2) <= 0.98
    assert 0.85 <= np.std(off) <= 1.15
    assert np.median(found.errors[known]) < 0.1 * np.std(torque), "it tells something"
    assert found.noise[0] == pytest.approx(NOISE, rel=0.05)
    assert found.estimated == ("noise" not in more,)


def test_gaps_and_ends_are_unknown_and_short_ones_are_bridged() -> None:
    record, torque = measured(3)
    values = np.array(record.values)
    values[500:540] = np.nan
    values[800:808] = np.nan
    values[1000] = np.nan
    found = dm.forces_along(pendulum(), dm.Record(record.ts, values, ("theta",)), window=0.24)
    known = np.isfinite(found.forces[:, 0])
    assert not np.any(known[490:550])
    assert not known[804], "a hole with samples on both sides of it"
    assert not np.any(known[:10])
    assert not np.any(known[-10:])
    assert np.all(known[990:1010]), "one missing sample is bridged"
    assert np.all(np.isfinite(found.errors[:, 0]) == known)
    assert abs(found.forces[1000, 0] - torque[1000]) < 4 * found.errors[1000, 0]
    assert str(found).splitlines()[0] == (
        f"forces along record: 1500 samples, {np.sum(~known)} too near to ends and gaps"
    )
    assert "degree 4 over 0.24 s" in str(found)
    assert "N m; noise 0.00" in str(found)


def test_a_slow_sensor_beside_fast_times_still_tells_forces() -> None:
    record, torque = measured(7)
    values = np.full_like(record.values, np.nan)
    values[::3] = record.values[::3]
    found = dm.forces_along(pendulum(), dm.Record(record.ts, values, ("theta",)))
    known = np.isfinite(found.forces[:, 0])
    off = (found.forces[known, 0] - torque[known]) / found.errors[known, 0]
    assert np.mean(known) > 0.95
    assert 0.9 <= np.mean(np.abs(off) < 2) <= 0.99


def test_a_polynomial_of_the_degree_is_differentiated_exactly() -> None:
    rng = np.random.default_rng(4)
    ts = np.sort(rng.uniform(0, 2, 60))
    curve = np.polynomial.Polynomial([100.0, -2.0, 3.0, 0.5, -0.7])
    local = local_polynomials(ts, curve(ts), ts, 0.5, 4)
    known = np.isfinite(local.squares)
    assert np.sum(known) > 20
    for order in range(3):
        np.testing.assert_allclose(
            local.states[known, order], curve.deriv(order)(ts[known]), rtol=1e-9
        )


def test_covariances_are_those_of_the_weights_that_samples_have() -> None:
    ts = np.linspace(0, 1, 21) + 0.01 * np.sin(np.arange(21))
    at, half = ts[10:11], 0.5
    weights = [local_polynomials(ts, unit, at, half, 4).states[0] for unit in np.eye(21)]
    stated = local_polynomials(ts, ts, at, half, 4).covariances[0]
    np.testing.assert_allclose(np.transpose(weights) @ weights, stated, rtol=1e-8, atol=1e-8)


def test_errors_of_coupled_coordinates_cover_the_torques_of_a_double_pendulum() -> None:
    rng = np.random.default_rng(6)
    ts, noise = np.arange(1500) / 100, np.array([2e-3, 6e-3])
    one, two = 4.0 * ts, 6.0 * ts + 1.0
    q1, q2 = 1.2 * np.sin(one), 1.5 * np.sin(two)
    w1, w2 = 4.8 * np.cos(one), 9.0 * np.cos(two)
    a1, a2 = -19.2 * np.sin(one), -54.0 * np.sin(two)
    m1, m2, l1, l2 = 1.3, 0.6, 0.5, 0.3
    across, along = m2 * l1 * l2 * np.cos(q1 - q2), m2 * l1 * l2 * np.sin(q1 - q2)
    torques = np.transpose([
        (m1 + m2) * l1**2 * a1 + across * a2 + along * w2**2 + (m1 + m2) * 9.81 * l1 * np.sin(q1),
        m2 * l2**2 * a2 + across * a1 - along * w1**2 + m2 * 9.81 * l2 * np.sin(q2),
    ])  # fmt: skip
    values = np.transpose([q1, q2]) + noise * rng.normal(size=(len(ts), 2))
    pendulum = machine("double_pendulum").with_params(masses=[m1, m2], lengths=[l1, l2])
    record = dm.Record(ts, values, ("theta1", "theta2"), noise=noise)
    found = dm.forces_along(pendulum, record)
    off = (found.forces - torques) / found.errors
    off = off[np.isfinite(off[:, 0])]
    assert np.all(np.abs(np.mean(np.abs(off) < 2, axis=0) - 0.95) < 0.04)
    assert np.all(np.abs(np.std(off, axis=0) - 1) < 0.2)

    i, step = 700, 1e-5
    state = np.array([found.qs[i], found.qds[i], found.qdds[i]])

    def force(move: Any) -> np.ndarray:
        return np.asarray(dm.inverse_dynamics(pendulum, *(state + step * move)))

    variance = np.zeros(2)
    for j in range(2):
        moves = np.zeros((3, 3, 2))
        moves[[0, 1, 2], [0, 1, 2], j] = 1.0
        slopes = np.array([force(move) - force(-move) for move in moves]) / (2 * step)
        local = local_polynomials(ts, values[:, j], ts[i : i + 1], found.windows[j] / 2, 4)
        variance += np.diag(slopes.T @ (noise[j] ** 2 * local.covariances[0]) @ slopes)
    np.testing.assert_allclose(found.errors[i] ** 2, variance, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("pendulum", {"t": range(9), "thet": range(9)}, "has no 'theta'. Did you mean 'thet'?"),
        ("pendulum", {"t": range(5), "theta": range(5)}, "must have 6 samples of 'theta' in some"),
        ("pendulum", {"t": range(9), "theta": [1.0] + 8 * [np.nan]}, "must have 6 samples of"),
        ("pendulum", [{"t": range(9), "theta": range(9)}] * 2, "one motion, but there are 2"),
    ],
)
def test_records_that_tell_no_forces_are_refused(name: str, data: Any, sentence: str) -> None:
    columns = [
        {key: np.asarray(column, float) for key, column in each.items()}
        for each in (data if isinstance(data, list) else [data])
    ]
    with pytest.raises(ValueError, match=sentence):
        dm.forces_along(machine(name), columns)
