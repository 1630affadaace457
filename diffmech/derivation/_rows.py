"""Hand-written residuals at many states: their values on the true motion, and their slopes."""

from typing import NamedTuple

import numpy as np

from ._hand_written import HandWritten
from ._truth import Motions, Points

_SAME = 1e-7  # of a slope, by which two differences of a linear function may differ
SAME = 1e-8  # of an equation's size: what rounding may leave at states that are well conditioned
# Next to a pole a right expression loses digits, cos² θ − 1 for one: at so many states, so much.
_LOSSY, _LOST = 0.05, 1e-5
_FLOOR = 1e-4  # of an equation's usual size: what is near zero by chance is not judged by itself


class Rows(NamedTuple):
    """m residuals at many states.

    Attributes:
        value: at the true q̈ and λ, shape (states, m).
        slope: by (q̈, λ), shape (states, m, n + k).
        size: of what is added up in each, shape (states, m).
        linear: whether each is linear in (q̈, λ).
        comparable: where all is finite, shape (states,).
    """

    value: np.ndarray
    slope: np.ndarray
    size: np.ndarray
    linear: np.ndarray
    comparable: np.ndarray

    def disagreement(self) -> np.ndarray:
        """|r| over its size, shape (states, m); NaN where there is nothing to compare."""
        with np.errstate(all="ignore"):
            share = np.abs(self.value) / self.size
        share = np.where(self.size > 0, share, 0.0)
        return np.where(self.comparable[:, None], share, np.nan)

    def holding(self) -> np.ndarray:
        """Which equations vanish up to rounding, shape (m,), where they are comparable."""
        if not np.any(self.comparable):
            return np.full(self.value.shape[1], False)
        away = self.disagreement()[self.comparable]
        usual = np.quantile(away, 1 - _LOSSY, axis=0, method="higher")
        return (usual <= SAME) & (np.max(away, axis=0) <= _LOST)


def rows_at(written: HandWritten, points: Points, motions: Motions) -> Rows:
    """Slopes by central differences, which are exact for what is linear."""
    states, n, k = len(points.q), points.q.shape[1], points.lam.shape[1]
    k = k if written.uses_multipliers else 0
    true = np.concatenate([motions.qdd, motions.lam[:, :k]], axis=1)
    steps = np.sqrt(np.mean(true**2, axis=0))
    steps = np.where(steps > 0, steps, np.max(steps, initial=0.0) or 1.0)
    moved = [true]
    for i in range(n + k):
        for sign in (1.0, -1.0):
            there = true.copy()
            there[:, i] += sign * steps[i]
            moved.append(there)
    many = points.repeated(len(moved))
    whole = np.concatenate(moved)
    lam = whole[:, n:] if k else many.lam
    values = written.evaluate(many._replace(qdd=whole[:, :n], lam=lam))
    values = values.reshape(len(moved), states, -1)
    value, ahead, behind = values[0], values[1::2], values[2::2]
    with np.errstate(all="ignore"):
        slope = (ahead - behind) / (2 * steps[:, None, None])
        bend = np.abs(ahead + behind - 2 * value)
        scale = np.abs(ahead) + np.abs(behind) + np.abs(value)
        slope = np.moveaxis(slope, 0, -1)
        still = value - np.einsum("smi,si->sm", slope, true)
        size = np.abs(still) + np.einsum("smi,si->sm", np.abs(slope), np.abs(true))
    comparable = np.all(np.isfinite(values), axis=(0, 2))
    if np.any(comparable):
        linear = np.all((bend <= _SAME * scale)[:, comparable], axis=(0, 1))
        size = np.maximum(size, _FLOOR * np.median(size[comparable], axis=0))
    else:
        linear = np.full(value.shape[1], False)
    return Rows(value, slope, size, linear, comparable)
