"""Guesses are weighted by what they miss, and moved without leaving what is possible."""

import importlib
from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech._progress import Progress
from diffmech.identification._condensed import at_start, condensed
from diffmech.identification._plain import Plain
from diffmech.identification._randomised import Guesses, improved
from diffmech.identification._sieve import Sieved, _weights, sieved_again

NOTHING = Plain(*(None,) * len(Plain._fields))  # pyright: ignore[reportArgumentType]
fitting = importlib.import_module("diffmech.identification._fit")


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e6])
def test_one_in_twenty_guesses_counts_at_least(spread: float) -> None:
    cost = spread * np.random.default_rng(0).exponential(size=1000)
    weights = _weights(cost)
    assert np.sum(weights) == pytest.approx(1.0)
    assert 1 / np.sum(weights**2) >= 0.0499 * len(cost), "so many count"
    assert np.argmax(weights) == np.argmin(cost)
    assert np.all(np.diff(weights[np.argsort(cost)]) <= 0), "the better, the more"


def test_motions_that_failed_have_no_weight() -> None:
    cost = np.full(1000, np.inf)
    assert not np.any(_weights(cost))
    cost[[3, 500]] = 1.0, 1e9
    weights = _weights(cost)
    assert np.flatnonzero(weights)[0] == 3
    assert np.all(np.isfinite(weights))
    assert np.sum(weights) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("costs", "times"),
    [
        ((5.0, 5.2, 1.0), 2),  # two have found the same
        ((5.0, 9.0, 5.1), 3),
        ((5.0, 1.0, 9.0), 3),
        ((9.0, 5.0, 9.1), 3),
    ],
)
def test_sieves_go_on_until_two_have_found_the_same_best(
    monkeypatch: pytest.MonkeyPatch, costs: tuple[float, ...], times: int
) -> None:
    seeds: list[Any] = []

    def sieve(plain: Any, kept: int, seed: Any, look: Any) -> Sieved:
        k = len(seeds)
        seeds.append(seed)
        look(1.0)
        return Sieved(np.full((2, 1), k), np.full((2, 1, 2), k), 3.0, False, False, costs[k])

    monkeypatch.setattr("diffmech.identification._sieve.sieved", sieve)
    seen: list[float] = []
    found = sieved_again(NOTHING, 2, 7, seen.append)
    assert seeds == [7, (7, 1), (7, 2)][:times], "each with draws of its own"
    np.testing.assert_array_equal(found.z[:, 0], np.repeat(np.arange(times), 2))
    np.testing.assert_array_equal(found.starts[:, 0, 0], found.z[:, 0])
    assert seen == sorted(seen)
    assert seen[-1] <= 1.0


def test_a_sieve_that_is_broken_off_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    stops = iter([False, True])

    def sieve(*given: Any) -> Sieved:
        return Sieved(np.ones((1, 1)), np.ones((1, 1, 2)), 3.0, False, next(stops), 1.0)

    monkeypatch.setattr("diffmech.identification._sieve.sieved", sieve)
    found = sieved_again(NOTHING, 2, 7)
    assert found.stopped
    assert len(found.z) == 1, "what was whole stays"


def swing(noise: float, gap: bool = False) -> tuple[dm.Record, np.ndarray]:
    """A motion of two frequencies, and what was measured of it 100 times a second."""
    ts = 3.0 + np.arange(400) / 100
    values = 1.3 * np.sin(7.0 * ts) + 0.4 * np.cos(11.0 * ts)
    measured = values + noise * np.random.default_rng(0).normal(size=len(ts))
    if gap:
        measured[120:200] = np.nan
    return dm.Record(ts, {"theta": measured}), values


@pytest.mark.parametrize("gap", [False, True])
def test_a_condensed_record_costs_motions_what_its_samples_do(gap: bool) -> None:
    noise = 0.01
    record, values = swing(noise, gap)
    part = condensed(record, np.array([noise]), np.array([0.15]), 128)
    assert part.whole
    assert len(part.ts) < 80, "a fifth of the samples"
    ts, measured = np.asarray(record.ts), np.asarray(record.values)[:, 0]

    def cost(bend: float, until: int) -> float:
        apart = values + bend * np.sin(5 * ts) - measured
        return float(np.nansum(apart[:until] ** 2)) / noise**2

    def condensed_cost(bend: float, count: int) -> float:
        at = 3.0 + part.ts
        shown = 1.3 * np.sin(7.0 * at) + 0.4 * np.cos(11.0 * at) + bend * np.sin(5 * at)
        return float(np.sum(part.missed(shown[:, None] - part.values)[:count] ** 2))

    # Differences count: what nothing of the kind fits is left out.
    whole = condensed_cost(0.02, len(part.ts)) - condensed_cost(0.0, len(part.ts))
    assert whole == pytest.approx(cost(0.02, 400) - cost(0.0, 400), rel=0.01)
    count = int(np.searchsorted(part.ts, 2.5))
    early = condensed_cost(0.02, count) - condensed_cost(0.0, count)
    assert early == pytest.approx(cost(0.02, 250) - cost(0.0, 250), rel=0.1), "a beginning"


def test_a_record_of_faster_motion_gets_denser_nodes() -> None:
    record, _ = swing(1e-6)
    part = condensed(record, np.array([1e-6]), np.array([0.3]), 128)
    assert part.ts[1] < 0.08, "nodes 0.15 s apart would not follow to a millionth"


def test_outliers_are_compared_as_they_are() -> None:
    record, _ = swing(0.01)
    part = condensed(record, np.array([0.01]), np.array([0.15]), 50, outliers=True)
    assert np.all(np.isin(part.values, record.values)), "samples themselves"


def test_a_start_is_read_within_its_errors() -> None:
    away = []
    for seed in range(20):
        ts = np.arange(400) / 100
        noisy = np.sin(7 * ts + 0.3) + 0.01 * np.random.default_rng(seed).normal(size=len(ts))
        value, error = at_start(dm.Record(ts, {"theta": noisy}), 0, 0.01, 0.15)
        away.append((value - [np.sin(0.3), 7 * np.cos(0.3)]) / error)
    assert np.all(np.std(away, axis=0) < 1.5), "the errors are those of the estimates"
    assert np.all(np.abs(np.mean(away, axis=0)) < 1.0), "and no bias is beyond them"


class Bowl(Plain):
    """Misses that are linear in x, in place of a machine's."""

    def missed(self, x: np.ndarray, until: float) -> np.ndarray:
        return x @ np.array([[100.0, 1.0], [100.0, -1.0], [0.0, 3.0]]).T - [0.0, 0.0, 3.0]

    def counted(self, until: float) -> np.ndarray:
        return np.ones(3, bool)


def bowl(limits: list[list[float]]) -> Bowl:
    no: Any = None
    return Bowl(no, no, no, no, np.zeros(2), np.full(2, 1e6), np.array(limits), (), 0)


def guesses_at(x: list[list[float]]) -> Guesses:
    count = len(x)
    zero = np.zeros((count, 3))
    return Guesses(np.array(x), np.tile(np.eye(2), (count, 1, 1)), zero, zero[:, :2], zero)


def test_guesses_come_down_and_know_how_surely() -> None:
    found = improved(bowl([[-1.0, 0.0, -1e3]]), guesses_at([[5.0, 5.0], [-3.0, 40.0]]), 1.0, 8)
    rows = np.array([[100.0, 1.0], [100.0, -1.0], [0.0, 3.0]])
    least = np.linalg.lstsq(rows, np.array([0.0, 0.0, 3.0]))[0]
    for x, root in zip(found.x, found.root, strict=True):
        u = np.linalg.solve(root, x - least)
        assert np.linalg.norm(u) < 1.0, "within an error of the least cost"
        assert root @ root.T == pytest.approx(np.linalg.inv(rows.T @ rows), rel=1e-3, abs=1e-9)


def test_a_guess_with_noise_of_its_own_comes_down_to_the_data_with_that_noise() -> None:
    """x minimises |A x − b − e|²: from where |A x − b|² is least, it must still move."""
    rows = np.array([[100.0, 1.0], [100.0, -1.0], [0.0, 3.0]])
    start, least = (np.linalg.lstsq(rows, np.array([0.0, 0.0, b]))[0] for b in (3.0, 9.0))
    guess = guesses_at([start.tolist()])._replace(noise=np.array([[0.0, 0.0, 6.0]]))
    found = improved(bowl([[-1.0, 0.0, -1e3]]), guess, 1.0, 8)
    assert found.x[0] == pytest.approx(least, abs=1e-2)  # a hundredth of the way


def test_lanes_that_are_broken_off_end_the_sieve(monkeypatch: pytest.MonkeyPatch) -> None:
    ts = np.arange(80) / 20
    record = dm.Record(ts, {"theta1": np.cos(2 * ts)}, noise=0.01)
    unseen = ("theta2", "theta1_dot", "theta2_dot")
    starts: dict[str, tuple[float, float]] = dict.fromkeys(unseen, (0.5, 0.1))
    updates = []

    def broken_off(self: Progress, done: float) -> None:
        del self
        updates.append(done)
        if len(updates) == 2:  # that of the first lanes, which keep what is done
            raise KeyboardInterrupt

    def carried_on(problem: Any, z: np.ndarray, starts: np.ndarray, look: Any = None) -> None:
        del problem, z, starts
        raise RuntimeError("stopped" if look is None else "went on")

    monkeypatch.setattr(Progress, "update", broken_off)
    monkeypatch.setattr(fitting, "carried_on", carried_on)
    with pytest.raises(RuntimeError, match="stopped"):
        dm.fit(dm.systems.double_pendulum(), record, ["lengths"], starts=starts)
    assert len(updates) < 5, "nothing went on"


def test_guesses_slide_along_a_limit() -> None:
    limits = [[-1.0, 0.0, -3.0], [1.0, 0.0, 0.5]]  # 0.5 ≤ x ≤ 3, where the least cost is at 0
    found = improved(bowl(limits), guesses_at([[2.0, 30.0]]), 1.0, 8)
    assert found.x[0, 0] >= 0.5, "the limit is kept"
    assert found.x[0, 0] == pytest.approx(0.5, abs=1e-2)
    assert found.x[0, 1] == pytest.approx(9 / 11, abs=0.3), "as near as it lets"
