"""Whether masses are those of real bodies: T > 0 for all rates that the constraints admit."""

import numpy as np

INDEFINITE = -1e-9  # smallest over largest eigenvalue that rounding does not explain


def is_definite(masses: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """At k states, from M, shape (k, n, n), and rows of constraints, (k, m, n); shape (k,).

    Matrices that are not finite are not definite.
    """
    definite = np.all(np.isfinite(masses), axis=(1, 2)) & np.all(np.isfinite(rows), axis=(1, 2))
    masses, rows = masses[definite], rows[definite]
    if not rows.shape[1]:
        definite[definite] = np.linalg.eigvalsh(masses)[:, 0] > 0
        return definite
    # What rows forbid is taken out: a basis of the rest, and zeros for what is missing to n.
    _, sizes, directions = np.linalg.svd(rows, full_matrices=True)
    eps = np.finfo(rows.dtype).eps * max(rows.shape[1:])
    free = np.ones(directions.shape[:2], bool)
    free[:, : sizes.shape[1]] = sizes <= eps * np.max(sizes, axis=1, keepdims=True)
    basis = directions * free[:, :, None]
    values = np.linalg.eigvalsh(basis @ masses @ basis.swapaxes(1, 2))
    # Where rows lose rank, rates come in that need no mass: zero is allowed, below it is not.
    definite[definite] = values[:, 0] >= INDEFINITE * np.max(np.abs(values), axis=1)
    return definite
