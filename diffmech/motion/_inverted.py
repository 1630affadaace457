"""Equations of motion and of constraints at many states, inverted together in NumPy."""

from typing import NamedTuple

import numpy as np

_LOST = 1e-9  # of the largest singular value: below it a row or a direction of motion is lost


class Inverted(NamedTuple):
    """[[M, −Jᵀ], [J, 0]]⁻¹ at many states.

    Attributes:
        inverse: takes (−b, −c) to (q̈, λ), shape (states, n + m, n + m); what redundant rows leave
            open is the smallest.
        sound: where it is lost to redundant rows only, shape (states,).
        unique: where no row is redundant, so that the multipliers are determined, too.
        condition: of the matrix with units scaled out.
        units: of the coordinates, 1/√Mᵢᵢ, shape (states, n).
    """

    inverse: np.ndarray
    sound: np.ndarray
    unique: np.ndarray
    condition: np.ndarray
    units: np.ndarray


def inverted(mass: np.ndarray, rows: np.ndarray) -> Inverted:
    """The inverse, of M, shape (states, n, n), and J, (states, m, n).

    Units are scaled out first: the diagonal of M and the rows have size one.
    """
    states, n, m = len(mass), mass.shape[1], rows.shape[1]
    finite = np.all(np.isfinite(mass), axis=(1, 2)) & np.all(np.isfinite(rows), axis=(1, 2))
    mass = np.where(finite[:, None, None], mass, np.eye(n))
    rows = np.where(finite[:, None, None], rows, 0.0)
    diagonal = np.abs(np.einsum("sii->si", mass))
    units = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    lengths = np.linalg.norm(rows * units[:, None, :], axis=2)
    of_rows = 1 / np.where(lengths > 0, lengths, 1.0)
    scale = np.concatenate([units, of_rows], axis=1)
    whole = np.zeros((states, n + m, n + m))
    whole[:, :n, :n] = mass
    whole[:, :n, n:] = -rows.swapaxes(1, 2)
    whole[:, n:, :n] = rows
    whole *= scale[:, :, None] * scale[:, None, :]
    values = np.linalg.svd(whole, compute_uv=False)
    inverse = np.linalg.pinv(whole, rcond=_LOST) * scale[:, :, None] * scale[:, None, :]
    kept = values > _LOST * values[:, :1]
    condition = values[:, 0] / np.min(np.where(kept, values, np.inf), axis=1)
    redundant = np.zeros(states, dtype=int)
    if m:
        unit_rows = rows * units[:, None, :] * of_rows[:, :, None]
        redundant = m - np.linalg.matrix_rank(unit_rows, tol=_LOST)
    sound = finite & (np.sum(~kept, axis=1) <= redundant)
    return Inverted(inverse, sound, redundant == 0, condition, units)
