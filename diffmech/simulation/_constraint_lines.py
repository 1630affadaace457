"""What the report says of constraints."""

import numpy as np

from .._typing import AnyArray
from ._constraint_record import ConstraintRecord
from ._run_data import RunData

_SHOWN = 4  # rows, and approaches, that a line names


def constraint_lines(
    run: RunData, constraints: ConstraintRecord, approaches: list[tuple[float, float]]
) -> list[tuple[str, str]]:
    """Residuals, rank and multipliers in words, as lines of (label, text); none without rows.

    `approaches` are those to rank loss, (t, σ).
    """
    if not constraints.residual.shape[1]:
        return []
    sizes = (constraints.residual, constraints.rate_residual)
    place, rate = (float(np.max(np.abs(x))) for x in sizes)
    how = str(run.settings.stabilise)
    lines = [("constraints", f"kept to {place:.0e} in place, {rate:.0e} in rates, by {how}")]
    unknown = np.isnan(np.asarray(constraints.multipliers))
    redundant, lost = _named(run, np.all(unknown, axis=0)), _named(run, np.any(unknown, axis=0))
    lines.append(("rank", _rank(float(np.min(constraints.distance)), approaches, redundant)))
    if lost:
        when = "redundant rows" if redundant else "near rank loss"
        lines.append(("multipliers", f"not unique ({when}), given as NaN: {lost}"))
    return lines


def _named(run: RunData, selected: AnyArray) -> str:
    """The names of some rows; none are an empty text."""
    rows = [name for name, own in zip(run.system.rows, selected, strict=True) if own]  # pyright: ignore
    return ", ".join(rows[:_SHOWN]) + (", ..." if len(rows) > _SHOWN else "")


def _rank(least: float, approaches: list[tuple[float, float]], redundant: str) -> str:
    """Whether rows became dependent on the way, besides those that are so all along.

    `least`: σ at the samples.
    """
    before = f"redundant among {redundant} all along; otherwise " if redundant else ""
    if not approaches:
        said = "nothing became singular" if redundant else "nothing was singular: rows independent"
        return f"{before}{said}, σ at least {least:.2g}"
    count = len(approaches)
    shown = ", ".join(f"{t:.6g}" for t, _ in approaches[:_SHOWN])
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    times = f"{count} times" if count > 1 else "once"
    return (
        f"{before}passed within {max(s for _, s in approaches):.0e} of rank loss {times}, at t = "
        f"{shown}{more} s (change points), straight on as the velocity says"
    )
