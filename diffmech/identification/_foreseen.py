"""How far a single run can follow a fitted motion.

Segments are tied end to end, so that a fit follows a chaotic motion for as long as it was measured.
A run from the fitted start cannot: rounding grows. With Φ the flow of a segment and ε the rounding
of its state, errors have the covariance

    C ← Φ C Φᵀ + ε²

and what is measured is off by more than the noise where a row h of sensitivities, in units of the
noise, has h C hᵀ > 1.
"""

import numpy as np

from ._residuals import Linear
from ._segments import Segments


def foreseen(segments: Segments, here: Linear, states: np.ndarray) -> float:
    """For how long a run from the fitted start shows what the fit shows, of all records [s].

    Infinite if to their ends. `states` are those at which segments start, shape (L, m).
    """
    m, least = states.shape[-1], np.inf
    for r in np.unique(segments.record):
        mine = np.flatnonzero(segments.record == r)
        size = np.sqrt(np.mean(states[mine] ** 2, axis=0))
        rounding = np.diag(np.finfo(float).eps * np.where(size > 0, size, 1.0)) ** 2
        spread = rounding
        for k in mine:
            rows = here.rows[0, k, :, :m]
            off = np.sum((rows @ spread) * rows, axis=1)
            if not np.max(off, initial=0.0) <= 1.0:
                least = min(least, float(segments.start[k] - segments.start[mine[0]]))
                break
            flow = here.flow[0, k]
            spread = flow @ spread @ flow.T + rounding
    return least
