"""Descents with horizons that grow.

At first only short stretches of segments are tied, so that a wrong parameter spoils the motion only
so far; then four times as many, until every record is one motion.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ._descent import ALL_STEPS, FIRST_DAMPING, SETTLED, Descent, descend
from ._residuals import Problem

_ROUGHLY, _ROUGH_STEPS = 0.1, 12  # standard errors, and steps, before all is tied
_LATER_DAMPING = 1e-6  # where that has settled
_MANY, _FEW_STEPS = 8, 3  # guesses, of which most are dropped after so many steps


def grown(
    problem: Problem,
    z: np.ndarray,
    states: np.ndarray,
    first: int,
    look: Callable[[int], None] = lambda _: None,
) -> Descent:
    """Descend with horizons that grow from `first` segments to whole records; one guess is left.

    Before all is tied they settle roughly. Of several guesses the worse three quarters are dropped
    at each horizon, and of many, before, after a few steps. `look` gets the number of segments that
    are tied.
    """
    whole = problem.segments.longest
    horizon, damping = min(first, whole), FIRST_DAMPING
    if len(z) > _MANY:
        tried = descend(problem, z, states, horizon, _FEW_STEPS, look=partial(look, horizon))
        if not tried.stopped:
            tried = tried.best(-(-len(z) // 4))
            z, states = tried.z, tried.states
    descent = None
    while True:
        # The last stretch may be twice as long: differences grow no more than along two others.
        last = 2 * horizon >= whole
        horizon = whole if last else horizon
        try:
            descent = descend(
                problem, z, states, horizon, ALL_STEPS if last else _ROUGH_STEPS, False,
                partial(look, horizon), SETTLED if last else _ROUGHLY, damping,
            )  # fmt: skip
        except KeyboardInterrupt:  # before its first step
            if descent is None:
                raise
            return descent.best(1)._replace(stopped=True)
        if last or descent.stopped:
            return descent.best(1)
        descent = descent.best(max(-(-len(z) // 4), 1))
        z, states = descent.z, descent.states
        damping = _LATER_DAMPING if np.all(descent.settled) else FIRST_DAMPING
        horizon = min(4 * horizon, whole)
