"""In which part of an equation a disagreement lies, where no single term explains it.

Rates, gravity and accelerations are switched off: what is still wrong at rest is a force; what
comes with one acceleration is an entry of the mass matrix; what comes with a product of two rates
shows in differences along them.
"""

import numpy as np

from ._hand_written import HandWritten
from ._rows import Rows
from ._truth import Motions, Points, Truth

_FELT = 1e-7  # of an equation's size


def parts_wrong(
    truth: Truth, written: HandWritten, rows: Rows, j: int, points: Points, motions: Motions
) -> list[str]:
    """What is wrong in equation j, in words; it is compared with the nearest of the machine's."""
    n, names = truth.n, list(truth.system.coordinates)
    if not rows.linear[j]:
        return ["the accelerations, in which it should be linear"]
    good = rows.comparable
    slope = rows.slope[good, j, :n]
    here = points.kept(good)
    mass, bias, jacobian = truth.at(here, "mass", "bias", "jacobian")
    if truth.m:
        return _of_constrained(truth, slope, jacobian)
    i, scale = _nearest(slope, mass)
    if scale is None:
        return [f"the accelerations: {_listed(names, slope)} in no proportion of the machine's"]
    wrong = []
    pulled = np.abs(scale[:, None] * mass[:, i])
    difference = slope - scale[:, None] * mass[:, i]
    size = np.max(pulled * np.abs(motions.qdd[good]), axis=1) + np.abs(scale * bias[:, i]) + 1e-300
    for k, name in enumerate(names):
        if np.max(np.abs(difference[:, k] * motions.qdd[good][:, k]) / size) > _FELT:
            wrong.append(f"the coefficient of {name}''")
    wrong += _of_bias(truth, written, j, here, i, scale, size)
    return [f"{each} (compared with the machine's equation of {names[i]})" for each in wrong]


def _nearest(slope: np.ndarray, mass: np.ndarray) -> tuple[int, np.ndarray | None]:
    """(row, factor at every state) of the mass matrix that a slope is most like."""
    best, score, scale = 0, 0.0, None
    for i in range(mass.shape[1]):
        column = mass[:, i]
        ratios = slope[:, i] / column[:, i]
        agree = np.mean(np.abs(slope - ratios[:, None] * column) <= _FELT * np.abs(slope), axis=0)
        lengths = np.linalg.norm(slope, axis=1) * np.linalg.norm(column, axis=1)
        along = np.abs(np.einsum("sk,sk->s", slope, column))
        alike = np.mean(along / np.where(lengths, lengths, 1))
        if np.sum(agree) + alike > score:
            best, score, scale = i, float(np.sum(agree) + alike), ratios
    return best, scale if scale is not None and np.all(np.isfinite(scale)) else None


def _of_bias(
    truth: Truth,
    written: HandWritten,
    j: int,
    here: Points,
    i: int,
    scale: np.ndarray,
    size: np.ndarray,
) -> list[str]:
    """What is wrong without accelerations: at rest, with one rate, with two."""
    n, names = truth.n, list(truth.system.coordinates)
    still = here._replace(qdd=np.zeros_like(here.qdd))

    def gap(rates: np.ndarray) -> np.ndarray:
        there = still._replace(qd=rates)
        return written.evaluate(there)[:, j] - scale * truth.at(there, "bias")[0][:, i]

    none = np.zeros_like(here.qd)
    at_rest = gap(none)
    wrong = ["what acts at rest (gravity, springs, forces)"] if _any(at_rest, size) else []
    alone: list[tuple[np.ndarray, np.ndarray]] = []
    for k, name in enumerate(names):
        one = none.copy()
        one[:, k] = here.qd[:, k]
        ahead, behind = gap(one) - at_rest, gap(-one) - at_rest
        alone.append((ahead, one))
        if _any(ahead + behind, size):
            wrong.append(f"the terms with {name}'^2")
        if _any(ahead - behind, size):
            wrong.append(f"the terms with {name}' to an odd power (friction, gyroscopic)")
    for k in range(n):
        for m in range(k + 1, n):
            both = gap(alone[k][1] + alone[m][1]) - at_rest
            if _any(both - alone[k][0] - alone[m][0], size):
                wrong.append(f"the terms with {names[k]}' {names[m]}'")
    return wrong


def _any(gap: np.ndarray, size: np.ndarray) -> bool:
    return bool(np.max(np.abs(gap) / size, initial=0.0) > _FELT)


def _listed(names: list[str], slope: np.ndarray) -> str:
    present = [f"{name}''" for k, name in enumerate(names) if np.any(slope[:, k] != 0)]
    return ", ".join(present) or "none"


def _of_constrained(truth: Truth, slope: np.ndarray, jacobian: np.ndarray) -> list[str]:
    """Where accelerations are bound to each other only those that occur can be told."""
    del jacobian
    return [
        f"an equation of {_listed(list(truth.system.coordinates), slope)}; what is wrong in it "
        "is no single term of the machine's equations"
    ]
