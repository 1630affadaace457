"""Small linear systems, one for each of many states, and what their unknowns are worth."""

from typing import NamedTuple

import numpy as np

_SWEEPS = 3  # of scaling: more change nothing
_LOST = 1e-9  # of the largest singular value of rows of unit size: below it they say nothing new
_NOT_UNIQUE = 1e-6  # part of a row that lies in lost combinations


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """x with A x = b, shapes (k, n, n) and (k, n, c); NaN where A is singular.

    Rows and columns are scaled to one, so that grams beside tonnes cost no digits, and the result
    is refined once.
    """
    rows = np.ones((*matrix.shape[:-1], 1))
    columns = np.ones((len(matrix), 1, matrix.shape[-1]))
    for _ in range(_SWEEPS):
        rows = rows / _root(np.max(np.abs(rows * matrix * columns), axis=-1, keepdims=True))
        columns = columns / _root(np.max(np.abs(rows * matrix * columns), axis=-2, keepdims=True))
    scaled, wanted = rows * matrix * columns, rows * right
    solution = _each_solved(scaled, wanted)
    solution = solution + _each_solved(scaled, wanted - scaled @ solution)
    return np.swapaxes(columns, 1, 2) * solution


def _root(sizes: np.ndarray) -> np.ndarray:
    return np.sqrt(np.where(sizes > 0, sizes, 1.0))


def _each_solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    sound = np.all(np.isfinite(matrix), axis=(1, 2))
    safe = np.where(sound[:, None, None], matrix, np.eye(matrix.shape[-1]))
    try:
        solutions = np.linalg.solve(safe, right)
    except np.linalg.LinAlgError:  # one of them is singular: all others keep their solutions
        solutions = np.full(right.shape, np.nan)
        for i, (one, b) in enumerate(zip(safe, right, strict=True)):
            if np.linalg.matrix_rank(one) == len(one):
                solutions[i] = np.linalg.solve(one, b)
    return np.where(sound[:, None, None], solutions, np.nan)


class IndependentRows(NamedTuple):
    """Rows J q̈ + c = 0 turned into combinations that are independent, R q̈ = r.

    Attributes:
        rows: R, orthonormal; zero for combinations that say nothing new, shape (k, m, n).
        right: r, shape (k, m).
        lost: which say nothing new, shape (k, m).
        back: λ = back @ μ for the multipliers μ of R, shape (k, m, m).
        unique: which multipliers λ are determined, shape (k, m).
        free: a basis of the rates that the rows leave free, shape (k, n, n − rank).
        narrow: the smallest singular value that is not lost, of rows of unit size, shape (k,).
    """

    rows: np.ndarray
    right: np.ndarray
    lost: np.ndarray
    back: np.ndarray
    unique: np.ndarray
    free: np.ndarray
    narrow: np.ndarray

    @property
    def rank(self) -> int:
        """The number of independent rows, the same at all states."""
        return int(np.max(np.sum(~self.lost, axis=1)))


def independent(jacobian: np.ndarray, drift: np.ndarray) -> IndependentRows:
    """Independent combinations of rows J, shape (k, m, n), and c, shape (k, m)."""
    k, m, n = jacobian.shape
    sizes = np.linalg.norm(jacobian, axis=2, keepdims=True)
    sizes = np.where(sizes > 0, sizes, 1.0)
    left, values, across = np.linalg.svd(jacobian / sizes, full_matrices=True)
    full = np.zeros((k, m))
    full[:, : values.shape[1]] = values
    lost = full <= _LOST * np.maximum(full[:, :1], 1e-300)
    across_rows = np.zeros((k, m, n))
    across_rows[:, : min(m, n)] = across[:, : min(m, n)]
    # J = N U S Vᵀ: the rows Vᵀ q̈ = −S⁻¹ Uᵀ N⁻¹ c, and Jᵀλ = V μ with λ = N⁻¹ U S⁻¹ μ.
    inverse = np.where(lost, 0.0, 1.0 / np.where(lost, 1.0, full))
    turned = np.swapaxes(left, 1, 2) @ (drift[..., None] / sizes)
    kept = left**2 @ (~lost).astype(float)[..., None]
    rank = int(np.max(np.sum(~lost, axis=1)))
    return IndependentRows(
        rows=np.where(lost[..., None], 0.0, across_rows),
        right=-inverse * turned[..., 0],
        lost=lost,
        back=left / sizes * inverse[:, None, :],
        unique=1.0 - kept[..., 0] < _NOT_UNIQUE,
        free=np.swapaxes(across, 1, 2)[:, :, rank:],
        narrow=np.min(np.where(lost, np.inf, full), axis=1),
    )


def moved(
    mass: np.ndarray,
    bias: np.ndarray,
    rows: IndependentRows | None,
    along: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ with M q̈ + b = D Jᵀλ, J q̈ + c = 0; shapes (k, n) and (k, m).

    D, shape (k, n, n), are the virtual motions that the equations are balances along: those of the
    single coordinates if None. Multipliers that are not unique are NaN.
    """
    if rows is None:
        return solved(mass, -bias[..., None])[..., 0], np.zeros((len(mass), 0))
    n = mass.shape[1]
    turned = np.swapaxes(rows.rows, 1, 2)
    idle = rows.lost[..., None] * np.eye(rows.lost.shape[1])
    pull = turned if along is None else along @ turned
    matrix = np.block([[mass, -pull], [rows.rows, idle]])
    right = np.concatenate([-bias, rows.right], axis=1)
    solution = solved(matrix, right[..., None])[..., 0]
    return solution[:, :n], multipliers(rows, solution[:, n:])


def multipliers(rows: IndependentRows, turned: np.ndarray) -> np.ndarray:
    """λ from those of the independent combinations; NaN where not unique."""
    return np.where(rows.unique, (rows.back @ turned[..., None])[..., 0], np.nan)
