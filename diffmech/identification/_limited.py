"""Least squares under linear limits."""

import numpy as np
from scipy.optimize import nnls

from ._chains import triangle

_TOUCHES = 1e-9  # a limit that is missed by less is an active one
_ROUNDING = 1e-12  # by which limits of several numbers may be left


def limited(rows: np.ndarray, limits: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The step x that minimises ‖R x + e‖² with A (z + x) ≥ b.

    `rows` is (R, e), shape (k, p + 1), of full rank p; `limits` is (A, b), and z keeps them. By way
    of the nearest point to the origin in a polyhedron (C. L. Lawson, R. J. Hanson, Solving Least
    Squares Problems, Prentice-Hall, 1974, chapter 23).
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
    return _kept_inside(step, limits, z)


def _kept_inside(step: np.ndarray, limits: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A step that rounding has taken over some limits by a little, back onto them.

    It is never shortened for that: from a limit, along it, it would not move at all.
    """
    rows, least = limits[:, :-1], limits[:, -1]
    over = rows @ (z + step) < least
    if not np.any(over):
        return step
    step = step + np.linalg.lstsq(rows[over], least[over] - rows[over] @ (z + step))[0]
    for row in limits[over & (np.count_nonzero(rows, axis=1) == 1)]:
        i = int(np.flatnonzero(row[:-1])[0])
        step[i] = row[-1] / row[i] - z[i]  # to the last bit: nothing below zero
    slack, after = rows @ z - least, rows @ (z + step) - least
    far = after < -_ROUNDING * (1 + np.abs(least))
    if np.any(far):  # not by rounding: as far as all allow
        step = step * np.min(np.maximum(slack, 0.0)[far] / (slack - after)[far])
    return step


def active(limits: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Which limits z touches, shape (k,)."""
    return limits[:, :-1] @ z - limits[:, -1] <= _TOUCHES
