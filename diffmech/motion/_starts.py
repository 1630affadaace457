"""Starts that keep their constraints."""

import numpy as np

from .._typing import AnyArray, Params
from ..model import AbstractSystem
from ._multipliers import violations

# Of the size of the coordinates or rates: starts are often printed with few digits.
START_VIOLATION = 1e-6


def require_consistent(
    system: AbstractSystem,
    q: AnyArray,
    qd: AnyArray,
    t: AnyArray,
    params: Params,
    way_out: str = "",
) -> None:
    """Refuse a start that breaks its constraints by more than printed digits do.

    `way_out` ends the sentence, after the advice to assemble.
    """
    rows = getattr(system, "rows", ())
    if not getattr(system, "constraints", ()):
        return
    found = violations(system, q, qd, t, params)
    for values, state, where in ((found.place, q, "place"), (found.rate, qd, "rates")):
        sizes = np.abs(np.asarray(values))
        worst = int(np.argmax(sizes))
        if not sizes[worst] <= START_VIOLATION * (1.0 + np.max(np.abs(state))):
            raise ValueError(
                f"the start of {system.name!r} breaks its constraints: {rows[worst]} by "
                f"{float(values[worst]):.3g} in {where}. `assemble(system, q0, qd0)` gives the "
                f"nearest state that keeps them{way_out}"
            )
