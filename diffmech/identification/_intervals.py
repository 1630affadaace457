"""Intervals of what was found: near the values found, and inside their limits.

Near its least the cost is ½‖R d + e‖², d the change of z, with A (z + d) ≥ b. A value of c·z
belongs to the interval if some allowed d with that value costs at most q²/2 more than the least.
For the ends the cost is tilted,

    minimise  ½‖R d + e‖² − μ c·d   inside the limits,

whose solution is the cheapest d with its own c·d: the tilt μ at which it costs q²/2 more is the
end. Without limits this is the value ± q standard errors; on a limit it is one-sided.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from ._chains import triangle
from ._limited import active, limited

_STEEPEST = 2.0**30  # of the tilt without limits: from there on only a limit holds it
_HALVINGS = 50


def interval(
    rows: np.ndarray, limits: np.ndarray, z: np.ndarray, along: np.ndarray, far: float
) -> tuple[float, float]:
    """The values of c·z, c = `along` of shape (p,), that cost at most far²/2 more than the least.

    Args:
        rows: (R, e), shape (k, p + 1), k > p, of full rank p.
        limits: rows (a, b) of a·z ≥ b, which z keeps, shape (l, p + 1).
    """
    p = len(z)
    whole = triangle(rows)
    upper, rest = whole[:p, :p], whole[:p, p]
    pull = np.linalg.solve(upper.T, along)

    def tilted(tilt: float) -> tuple[float, float]:
        step = limited(np.c_[upper, rest - tilt * pull], limits, z)
        return float(along @ step), 0.5 * float(np.sum((upper @ step + rest) ** 2))

    least = tilted(0.0)[1]
    usual = far / float(np.linalg.norm(pull))
    ends = []
    for sign in (-1.0, 1.0):
        low, high = 0.0, usual
        while tilted(sign * high)[1] - least < 0.5 * far**2 and high < _STEEPEST * usual:
            low, high = high, 2 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            near = tilted(sign * middle)[1] - least < 0.5 * far**2
            low, high = (middle, high) if near else (low, middle)
        ends.append(float(along @ z) + tilted(sign * low)[0])
    return ends[0], ends[1]


class Edge(NamedTuple):
    """A limit of several numbers together on which a fit has ended.

    Attributes:
        text: what is zero there and may not be negative, such as `IBy + IBz - IBx`.
        most: the largest value of it that the data allow, one-sided; NaN where they do not tell.
    """

    text: str
    most: float


def edges_of(
    rows: np.ndarray,
    limits: np.ndarray,
    z: np.ndarray,
    scale: np.ndarray,
    names: tuple[str, ...],
    far: float,
) -> tuple[Edge, ...]:
    """The limits of several numbers that z touches."""
    edges = []
    for row in limits[active(limits, z)]:
        factors = row[:-1] / scale
        involved = np.flatnonzero(factors)
        if len(involved) < 2:
            continue
        size = np.max(np.abs(factors))
        order = sorted(involved, key=lambda i: factors[i] < 0)
        terms = [_term(factors[i] / size, names[i]) for i in order]
        constant = -row[-1] / size
        text = " ".join(terms).removeprefix("+ ") + (f" {constant:+.4g}" if constant else "")
        most = np.nan
        if np.linalg.matrix_rank(rows[:, :-1], 1e-11) == len(z):
            most = interval(rows, limits, z, row[:-1], far)[1] - row[-1]
        edges.append(Edge(text, float(most / size)))
    return tuple(edges)


def _term(factor: float, name: str) -> str:
    times = "" if np.isclose(abs(factor), 1.0) else f"{abs(factor):.4g} "
    return f"{'-' if factor < 0 else '+'} {times}{name}"


def allowed(limits: np.ndarray, i: int) -> tuple[float, float]:
    """The least and the largest zᵢ that keep the limits; infinite where nothing bounds it."""
    p = limits.shape[1] - 1
    ends = []
    for sign in (1.0, -1.0):
        optimum = linprog(sign * np.eye(p)[i], -limits[:, :-1], -limits[:, -1], bounds=(None, None))
        ends.append(sign * optimum.fun if optimum.status == 0 else -sign * np.inf)
    return ends[0], ends[1]
