"""A tournament of ways to keep constraints, drawn."""

from typing import Any

import numpy as np

from .._checks import require_kind
from ..simulation import Tournament
from ._series import TIME
from ._style import add_axes, legend, line_styles, name_axes, new_figure

_FLOOR = 1e-17  # what a logarithmic axis shows of an exact zero


def tournament(record: Tournament) -> Any:
    """Drift in place, drift in rates and energy error of every way against time; a Figure."""
    require_kind(record, Tournament, "record", "what `tournament` returns")
    figure = new_figure((8.5, 7.5))
    first = add_axes(figure, 311)
    axes = [first, *(add_axes(figure, place, sharex=first) for place in (312, 313))]
    styles = line_styles(len(record.entries))
    lines: list[Any] = []
    for entry, style in zip(record.entries, styles, strict=True):
        run = entry.run
        total = np.asarray(run.energies.total)
        gap = np.abs(total - total[0] - np.asarray(run.work))
        curves = (run.constraints.residual, run.constraints.rate_residual, gap[:, None])
        for ax, values in zip(axes, curves, strict=True):
            size = np.maximum(np.max(np.abs(np.asarray(values)), axis=1), _FLOOR)
            drawn = ax.plot(run.ts, size, **style)
        lines += drawn  # pyright: ignore[reportPossiblyUnboundVariable]
    for ax, label in zip(axes, ("largest |φ|", "largest |φ̇|", "energy off [J]"), strict=True):
        ax.set_yscale("log")
        name_axes(ax, TIME if ax is axes[-1] else "", label)
    legend(axes[0], [entry.name for entry in record.entries], lines)
    return figure
