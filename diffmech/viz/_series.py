"""Coordinates and rates against time, and against each other."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import require_kind
from .._suggest import quoted, suggestion
from .._units import rate_unit
from ..simulation import Trajectory
from ._style import legend, line_styles, name_axes, new_axes, tick_in_pi, with_unit

TIME = "time [s]"


def drawable(run: Trajectory) -> Trajectory:
    """One run, without the padding of transformations, with two samples or more."""
    require_kind(run, Trajectory, "run", "what `simulate` returns")
    run = run.single_run()
    if len(run.ts) < 2:
        raise ValueError(f"the run of {run.system.name!r} has a single sample: nothing to draw")
    return run


def chosen(run: Trajectory, names: str | Sequence[str] | None) -> tuple[list[int], str]:
    """Indices of the named coordinates (all if None) and their common unit."""
    units = run.system.coordinates
    if isinstance(names, str):
        names = (names,)
    if names is not None and not isinstance(names, Sequence):
        raise ValueError(f"`names` must be names of coordinates, but is {names!r}")
    wanted = list(units) if names is None else list(names)
    for name in wanted:
        if name not in units:
            raise ValueError(
                f"there is no coordinate {quoted(name)}.{suggestion(str(name), units)}"
            )
    if not wanted:
        raise ValueError("`names` must have at least one coordinate, but is empty")
    shown_units = {units[name] for name in wanted}
    if len(shown_units) > 1:
        groups = "; ".join(
            f"{', '.join(n for n in wanted if units[n] == unit)} in {unit or 'an unknown unit'}"
            for unit in dict.fromkeys(units[name] for name in wanted)
        )
        raise ValueError(
            f"one axis has one unit, but there are {groups}: draw them one unit at a time with "
            f"`names={[n for n in wanted if units[n] == units[wanted[0]]]}`"
        )
    return [list(units).index(name) for name in wanted], shown_units.pop()


def wrap(angles: np.ndarray) -> np.ndarray:
    """Angles in (−π, π] [rad]."""
    return math.pi - np.mod(math.pi - angles, 2 * math.pi)


def broken_at_jumps(ts: np.ndarray, wrapped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and angles with a gap wherever the angle jumps from one end to the other."""
    jumps = np.flatnonzero(np.abs(np.diff(wrapped)) > math.pi) + 1
    return np.insert(ts, jumps, ts[jumps]), np.insert(wrapped, jumps, np.nan)


def coordinates(
    run: Trajectory,
    names: str | Sequence[str] | None = None,
    *,
    wrapped: bool = False,
    ax: Any = None,
) -> Any:
    """Coordinates against time; `wrapped=True` keeps angles in (−π, π].

    Args:
        names: which coordinates, all of one unit; None means all.

    Raises:
        ValueError: an unknown name, several units, or something to wrap that is not an angle.
    """
    run = drawable(run)
    indices, unit = chosen(run, names)
    if wrapped and unit != "rad":
        raise ValueError(f"only angles can be wrapped, but the unit here is {unit or 'unknown'}")
    ax = new_axes(ax)
    ts, qs = np.asarray(run.ts), np.asarray(run.qs)[:, indices]
    lines = []
    for values, style in zip(qs.T, line_styles(len(indices)), strict=True):
        x, y = broken_at_jumps(ts, wrap(values)) if wrapped else (ts, values)
        lines += ax.plot(x, y, **style)
    labels = [list(run.system.coordinates)[i] for i in indices]
    what = labels[0] if len(labels) == 1 else ("angles" if unit == "rad" else "coordinates")
    name_axes(ax, TIME, with_unit(what + (", wrapped" if wrapped else ""), unit))
    if wrapped:
        ax.set_ylim(-math.pi * 1.04, math.pi * 1.04)
        tick_in_pi(ax.yaxis, -math.pi, math.pi)
    elif unit == "rad":
        tick_in_pi(ax.yaxis, float(np.min(qs)), float(np.max(qs)))
    if len(labels) > 1:
        legend(ax, labels, lines)
    return ax


def rates(run: Trajectory, names: str | Sequence[str] | None = None, *, ax: Any = None) -> Any:
    """Rates of the coordinates against time; `names` as for `coordinates`."""
    run = drawable(run)
    indices, unit = chosen(run, names)
    ax = new_axes(ax)
    lines = []
    values = np.asarray(run.qds)[:, indices]
    for column, style in zip(values.T, line_styles(len(indices)), strict=True):
        lines += ax.plot(np.asarray(run.ts), column, **style)
    labels = [f"{list(run.system.coordinates)[i]}_dot" for i in indices]
    name_axes(ax, TIME, with_unit(labels[0] if len(labels) == 1 else "rates", rate_unit(unit)))
    if len(labels) > 1:
        legend(ax, labels, lines)
    return ax


def phase(
    run: Trajectory, name: str | None = None, *, wrapped: bool = False, ax: Any = None
) -> Any:
    """Phase portrait: the rate of one coordinate (the first if None) against itself.

    A dot marks the start, a square the end.
    """
    run = drawable(run)
    name = name if name is not None else next(iter(run.system.coordinates))
    (index,), unit = chosen(run, (name,))
    if wrapped and unit != "rad":
        raise ValueError(f"only angles can be wrapped, but the unit here is {unit or 'unknown'}")
    ax = new_axes(ax, size=(5.0, 4.2))
    label = list(run.system.coordinates)[index]
    q, qd = np.asarray(run.qs)[:, index], np.asarray(run.qds)[:, index]
    x, y = q, qd
    if wrapped:
        y, x = broken_at_jumps(qd, wrap(q))
        q = wrap(q)
    (style,) = line_styles(1)
    ax.plot(x, y, **{**style, "linewidth": 0.9})
    ax.plot(q[:1], qd[:1], "o", color=style["color"], markersize=6, label="start")
    ax.plot(q[-1:], qd[-1:], "s", color=style["color"], markersize=5, fillstyle="none", label="end")
    name_axes(ax, with_unit(label, unit), with_unit(f"{label}_dot", rate_unit(unit)))
    if unit == "rad":
        tick_in_pi(ax.xaxis, float(np.min(q)), float(np.max(q)))
    ax.legend(frameon=False, fontsize=9, loc="upper right")
    return ax
