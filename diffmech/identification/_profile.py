"""Intervals by fitting again: how far a number can go while all others follow."""

from collections.abc import Callable

import numpy as np

from ._descent import Descent, descend
from ._intervals import allowed, interval
from ._residuals import Problem

_FAR = 1.959963984540054  # standard errors of a normal number that 95 % lie within
_PINNED = 1e-3  # standard errors by which a number that is held may give way
_CLOSE = 0.01  # of _FAR: how exactly an end is found
_TRIES = 8
_STEPS = 60


def profiled(
    problem: Problem,
    descent: Descent,
    rows: np.ndarray,
    i: int,
    look: Callable[[], None] = lambda: None,
) -> tuple[float, float]:
    """Values of zᵢ whose best fit has a χ² of at most 1.96² above the least: 95 %.

    Unlike `interval` without linearising: all other numbers and all starts are fitted again at each
    end. NaN where such a fit does not converge or is stopped; infinite where nothing bounds it.

    Args:
        rows: (R, e) at the fit found, of full rank, shape (p + 1, p + 1).
    """
    z = descent.z[0]
    ends = []
    for end, last in zip(
        interval(rows, problem.limits, z, np.eye(len(z))[i], _FAR),
        allowed(problem.limits, i),
        strict=True,
    ):
        reach = abs(end - z[i])
        on_limit = reach <= 1e-9 * max(abs(z[i]), 1.0)
        ends.append(float(end) if on_limit else _end(problem, descent, i, float(end), last, look))
    return ends[0], ends[1]


def _end(
    problem: Problem, descent: Descent, i: int, value: float, last: float, look: Callable[[], None]
) -> float:
    """Where χ² has risen by 1.96², searched from `value`, no further than `last`."""
    z, side = descent.z[0], np.sign(value - descent.z[0][i])
    for _ in range(_TRIES):
        width = _PINNED * abs(value - z[i]) / _FAR
        pin = np.zeros((1, problem.p + 1))
        pin[0, i], pin[0, -1] = 1 / width, -value / width
        pinned = problem._replace(priors=np.concatenate([problem.priors, pin]))
        ran = descend(
            pinned,
            descent.z.copy(),
            descent.states.copy(),
            problem.segments.longest,
            _STEPS,
            look=look,
        )
        if not ran.settled[0]:
            return np.nan
        there = float(ran.z[0, i])
        rise = ran.cost[0] - 0.5 * ((there - value) / width) ** 2 - descent.cost[0]
        far = np.sqrt(2 * max(float(rise), 1e-12))
        if abs(far / _FAR - 1) < _CLOSE:
            return there
        # χ² is nearly a parabola: its root is nearly linear in the value.
        value = z[i] + (there - z[i]) * float(np.clip(_FAR / far, 0.4, 2.5))
        if side * (value - last) >= 0:
            if far < _FAR and abs(there - last) <= 1e-6 * abs(last - z[i]):
                return float(last)
            value = float(last)
    return np.nan
