"""Least squares along chains, and under limits, against dense linear algebra."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from diffmech.identification._chains import Laws, joined, reduced, states
from diffmech.identification._limited import active, limited

from ..tolerances import CHAIN_ROUND_OFF, COMPOSED, OF_SQUARES, ROUND_OFF

M, P, ROWS = 4, 3, 6


def chain(segments: int, seed: int, growth: float = 1.0) -> Laws:
    rng = np.random.default_rng(seed)
    turns = np.linalg.qr(rng.normal(size=(segments, M, M)))[0]
    stretch = np.diag([growth, np.sqrt(growth), 1 / np.sqrt(growth), 1 / growth])
    return Laws(
        turns @ stretch,
        rng.normal(size=(segments, M, P)),
        rng.normal(size=(segments, M)),
        rng.normal(size=(segments, ROWS, M + P + 1)),
    )


def dense(laws: Laws) -> tuple[np.ndarray, np.ndarray]:
    """(A, b) of A (s₀, z) = b in the sense of least squares, all states written by the first."""
    by_start, by_z, rest = np.eye(M), np.zeros((M, P)), np.zeros(M)
    rows, right = [], []
    for phi, psi, jump, about in zip(*laws, strict=True):
        h, g, e = about[:, :M], about[:, M:-1], about[:, -1]
        rows.append(np.hstack([h @ by_start, g + h @ by_z]))
        right.append(-(e + h @ rest))
        by_start, by_z, rest = phi @ by_start, phi @ by_z + psi, phi @ rest + jump
    return np.vstack(rows), np.concatenate(right)


@pytest.mark.parametrize("segments", [2, 3, 5, 8])
def test_a_chain_has_the_solution_of_the_whole_problem(segments: int) -> None:
    laws = chain(segments, seed=segments)
    found = reduced(laws)
    a, b = dense(laws)
    exact, *_ = np.linalg.lstsq(a, b)
    rows = found.rows
    z, *_ = np.linalg.lstsq(rows[:, :-1], -rows[:, -1])
    np.testing.assert_allclose(z, exact[M:], rtol=CHAIN_ROUND_OFF)
    along = states(found, z, segments)
    np.testing.assert_allclose(along[0], exact[:M], rtol=OF_SQUARES)
    cost = np.linalg.norm(rows[:, :-1] @ z + rows[:, -1])
    np.testing.assert_allclose(cost, np.linalg.norm(a @ exact - b), rtol=ROUND_OFF)
    covariance = np.linalg.inv(a.T @ a)[M:, M:]
    ours = np.linalg.inv(rows[:, :-1].T @ rows[:, :-1])
    np.testing.assert_allclose(ours, covariance, rtol=1e-9, atol=ROUND_OFF)


def test_chains_of_batches_are_those_one_by_one_and_join() -> None:
    several = [chain(4, seed) for seed in range(3)]
    together = reduced(Laws(*(np.stack(arrays) for arrays in zip(*several, strict=True))))
    alone = np.stack([reduced(laws).rows for laws in several])
    square = lambda rows: np.swapaxes(rows, -1, -2) @ rows  # noqa: E731  triangles up to signs
    np.testing.assert_allclose(
        square(together.rows), square(alone), rtol=OF_SQUARES, atol=OF_SQUARES
    )
    np.testing.assert_allclose(
        square(joined(together.rows)), square(alone).sum(axis=0), rtol=OF_SQUARES, atol=OF_SQUARES
    )


def test_chaos_along_a_long_chain_costs_no_digits() -> None:
    """Differences grow by e²⁰⁰, and others shrink by as much: no product of flows would survive."""
    laws = chain(200, seed=1, growth=np.e)
    found = reduced(laws)
    rows = found.rows
    z, *_ = np.linalg.lstsq(rows[:, :-1], -rows[:, -1])
    along = states(found, z, 200)
    next_ = np.einsum("sij,sj->si", laws.phi, along) + laws.psi @ z + laws.jump
    np.testing.assert_allclose(next_[:-1], along[1:], rtol=0, atol=COMPOSED * np.max(np.abs(along)))

    # Nothing nearby that keeps the laws is better: the cost is flat along any of them.
    def cost(change: np.ndarray) -> float:
        moved, value = along[100] + change, 0.0
        for j in range(100, 104):
            value += np.sum((laws.rows[j] @ np.concatenate([moved, z, [1.0]])) ** 2)
            moved = laws.phi[j] @ moved + laws.psi[j] @ z + laws.jump[j]
        return value

    assert np.isfinite(cost(np.zeros(M)))


def test_limits_are_kept_and_the_rest_is_as_small_as_they_allow() -> None:
    rng = np.random.default_rng(3)
    touched = 0
    for _ in range(50):
        a, b = rng.normal(size=(8, 3)), rng.normal(size=8)
        z = rng.uniform(0.1, 0.9, 3)
        box = np.concatenate([
            np.c_[np.eye(3), np.zeros(3)],  # z >= 0
            np.c_[-np.eye(3), -np.ones(3)],  # z <= 1
        ])  # fmt: skip
        step = limited(np.c_[a, b], box, z)
        exact = lsq_linear(a, a @ z - b, (0.0, 1.0), tol=1e-14).x
        np.testing.assert_allclose(z + step, exact, atol=1e-7)
        assert np.all(box[:, :-1] @ (z + step) >= box[:, -1] - 1e-15)
        touched += bool(np.any(active(box, z + step)))
    assert touched > 20, "the limits matter in these cases"
