"""Two runs of one machine, laid over each other, and how far they are apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import require_kind
from ..simulation import Trajectory
from ._series import TIME, chosen, drawable
from ._style import INK, legend, line_styles, name_axes, new_axes, tick_in_pi, with_unit


def _together(first: Trajectory, second: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The times of the first run that lie in both, and both runs' coordinates there."""
    if list(first.system.coordinates) != list(second.system.coordinates):
        raise ValueError(
            "two runs can be compared when their coordinates have the same names, but these have "
            f"{', '.join(first.system.coordinates)} and {', '.join(second.system.coordinates)}"
        )
    ts = np.asarray(first.ts)
    low, high = float(second.ts[0]), float(second.ts[-1])
    inside = (ts >= low) & (ts <= high)
    ts = ts[inside]
    if not len(ts):
        raise ValueError("the two runs have no time in common")
    if np.array_equal(ts, np.asarray(second.ts)):
        other = np.asarray(second.qs)
    else:
        other = np.asarray(second(ts)[0])
    return ts, np.asarray(first.qs)[inside], other


def overlay(
    first: Trajectory,
    second: Trajectory,
    names: str | Sequence[str] | None = None,
    *,
    labels: tuple[str, str] = ("first", "second"),
    ax: Any = None,
) -> Any:
    """Coordinates of two runs against time: the first solid, the second dashed.

    Args:
        names: which coordinates, all of one unit; None means all.
        labels: what the two runs are called.
    """
    first, second = drawable(first), drawable(second)
    require_kind(labels, (tuple, list), "labels", "two texts")
    if len(labels) != 2:
        raise ValueError(f"`labels` must be two texts, one for each run, but are {len(labels)}")
    indices, unit = chosen(first, names)
    ts, ours, theirs = _together(first, second)
    ax = new_axes(ax)
    lines, texts = [], []
    for i, style in zip(indices, line_styles(len(indices)), strict=True):
        lines += ax.plot(ts, ours[:, i], color=style["color"], linewidth=1.2)
        ax.plot(ts, theirs[:, i], color=style["color"], linewidth=2.0, alpha=0.75, dashes=(2, 2))
        texts.append(list(first.system.coordinates)[i])
    name_axes(ax, TIME, with_unit("angles" if unit == "rad" else "coordinates", unit))
    if unit == "rad":
        both = np.concatenate([ours, theirs])[:, indices]
        tick_in_pi(ax.yaxis, float(np.min(both)), float(np.max(both)))
    keys = [
        (labels[0], ax.plot([], [], color=INK, linewidth=1.2)[0]),
        (labels[1], ax.plot([], [], color=INK, linewidth=2.0, dashes=(2, 2))[0]),
    ]
    legend(ax, texts, lines, keys)
    return ax


def distance(
    first: Trajectory,
    second: Trajectory,
    names: str | Sequence[str] | None = None,
    *,
    ax: Any = None,
) -> Any:
    """The distance of two runs, √Σ(q₁ − q₂)², against time on a logarithmic axis.

    A straight rise is exponential divergence: chaos, at a rate that is the line's slope.
    """
    first, second = drawable(first), drawable(second)
    indices, unit = chosen(first, names)
    ts, ours, theirs = _together(first, second)
    gap = np.linalg.norm((ours - theirs)[:, indices], axis=1)
    ax = new_axes(ax)
    (style,) = line_styles(1)
    apart = gap > 0
    ax.plot(ts[apart], gap[apart], **style)
    if np.any(apart):
        ax.set_yscale("log")
    else:
        ax.text(0.5, 0.5, "no difference at all", transform=ax.transAxes, ha="center", color=INK)
    ax.set_xlim(float(ts[0]), float(ts[-1]))
    name_axes(ax, TIME, with_unit("distance", unit))
    return ax
