"""How the edges of stability move with the design, drawn."""

from typing import Any

import numpy as np

from .._checks import require_kind
from ..orbits import BandEdges
from ._style import COLOURS, INK, literal, name_axes, new_axes

_MOST_BARS = 12  # parameters; of more, those that matter most


def edge_slopes(record: BandEdges, ax: Any = None) -> Any:
    """By how much each edge moves for one percent more of each parameter, as bars."""
    require_kind(record, BandEdges, "record", "what `band_edges` returns")
    ax = new_axes(ax, size=(6.4, 3.2))
    moved = record.per_percent()
    names = sorted(moved, key=lambda name: -float(np.nanmax(np.abs(moved[name]), initial=0.0)))
    names = sorted(names[:_MOST_BARS], key=list(moved).index)
    unit = "deg" if record.unit == "rad" else record.unit or "-"
    count = max(len(record.values), 1)
    width = 0.8 / count
    for i, value in enumerate(record.values):
        shown = float(np.rad2deg(value)) if record.unit == "rad" else float(value)
        places = np.arange(len(names)) + (i - 0.5 * (count - 1)) * width
        heights = [moved[name][i] for name in names]
        label = f"edge at {shown:.4g} {unit if unit != '-' else ''}".rstrip()
        ax.bar(places, heights, width, label=label, color=COLOURS[i % len(COLOURS)])
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set_xticks(np.arange(len(names)), [literal(name) for name in names])
    name_axes(ax, "one percent more of", f"edge moves by [{literal(unit)}]")
    if len(record.values):
        ax.legend(frameon=False, fontsize=9, labelcolor=INK)
    return ax
