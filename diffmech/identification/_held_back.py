"""Records that were held back: what a fit predicts of them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._beginning import first_states
from ._descent import Descent, descend
from ._forward import followed
from ._guess import half_windows
from ._measure import Measure
from ._preparation import start_rows
from ._record import Record
from ._residuals import Problem
from ._segments import cut

_TIED = 8  # segments, at first


def predicted_by(
    problem: Problem,
    held: tuple[Record, ...],
    seen: Measure,
    begin: np.ndarray,
    starts: Mapping[str, Any],
    descent: Descent,
    slack: float,
    look: Callable[[], None],
) -> tuple[Problem, Descent] | None:
    """The records as the fitted parameters predict them, and their descent.

    Nothing but their starts is fitted, to these records. None if it was stopped.
    """
    length = float(np.median(problem.segments.end - problem.segments.start))
    other = problem._replace(
        records=held, start_priors=start_rows(problem.machine.system, len(held), starts)
    ).cut_into(cut(held, length, slack, slack))
    z = descent.z.copy()
    try:
        states = first_states(other, seen, half_windows(held, problem.noise), 1)
        if seen.complete:
            for horizon in (_TIED, other.segments.longest):
                ran = descend(other, z, states, horizon, 60, frozen=True, look=look)
                if ran.stopped:
                    break
                states = ran.states
        else:
            ran = followed(other, z, states, begin, slack, lambda _: look(), frozen=True)
    except KeyboardInterrupt:
        return None
    return None if ran.stopped else (other, ran)
