"""Least squares under linear limits."""

import numpy as np
from scipy.optimize import nnls

from ._chains import triangle

_TOUCHES = 1e-9  # a limit that is missed by less is an active one


def limited(rows: np.ndarray, limits: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The step x that minimises ‖R x + e‖² with A (z + x) ≥ b.

    `rows` is (R, e), shape (k, p + 1), of full rank p; `limits` is (A, b), and z keeps them. By way
    of the nearest point to the origin in a polyhedron (Lawson and Hanson 1974, chapter 23).
    """
    p = rows.shape[1] - 1
    whole = triangle(rows)
    upper, rest = whole[:p, :p], whole[:p, p]
    step = -np.linalg.solve(upper, rest)
    above = limits[:, :-1] @ (z + step) - limits[:, -1]
    if np.all(above >= 0):
        return step
    inverse = np.linalg.inv(upper)
    across = limits[:, :-1] @ inverse
    least = limits[:, -1] - limits[:, :-1] @ z + across @ rest
    # Scaling y = R x + e changes nothing but the size of the numbers.
    size = np.max(np.abs(least)) or 1.0
    dual = np.vstack([across.T, least / size])
    target = np.zeros(p + 1)
    target[-1] = 1.0
    weights, _ = nnls(dual, target, maxiter=50 * len(limits) + 100)
    left = dual @ weights - target
    if abs(left[-1]) < 1e-14:
        return np.zeros(p)  # rounding: stay, which is allowed
    y = -size * left[:-1] / left[-1]
    step = inverse @ (y - rest)
    # Rounding may leave a limit by a little: go as far as all allow.
    slack = limits[:, :-1] @ z - limits[:, -1]
    change = limits[:, :-1] @ step
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(change < 0, np.maximum(slack, 0.0) / -change, np.inf)
    return step * min(1.0, float(np.min(reach, initial=np.inf)))


def active(limits: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Which limits z touches, shape (k,)."""
    return limits[:, :-1] @ z - limits[:, -1] <= _TOUCHES
