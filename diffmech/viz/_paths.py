"""Where the machine went: paths of its points, and its configurations on one sheet."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import as_count
from .._typing import Number
from ..simulation import Trajectory
from ._drawing import Drawing, frame
from ._scene import Scene, scene_of
from ._series import drawable
from ._style import legend, line_styles, new_axes
from ._triads import Triads


def chosen_points(scene: Scene, points: Sequence[int] | None, default: np.ndarray) -> list[int]:
    """Indices of landmarks, checked; those marked in `default` if None."""
    count = scene.points.shape[1]
    if points is None:
        return [int(i) for i in np.flatnonzero(default)]
    for index in points:
        if not isinstance(index, int | np.integer) or not 0 <= index < count:
            raise ValueError(f"`points` has {index}, but the landmarks are 0 to {count - 1}")
    return list(points)


def paths(
    run: Trajectory,
    points: Sequence[int] | None = None,
    *,
    frames: bool = False,
    ax: Any = None,
) -> Any:
    """The paths of landmarks: in a plane or in space, with equal scales [m].

    A motion that stays in a coordinate plane is drawn in that plane.

    Args:
        points: indices of landmarks; None means all that move, without the corners of plates, and
            the mass centres of bodies of which no other point is followed.
        frames: draw each body's axes at the end, for machines of parts in space.
        ax: three-dimensional axes draw a motion in a plane in space, too.
    """
    run = drawable(run)
    scene = scene_of(run, space=wants_space(ax, frames))
    triads = Triads(run, scene, run.ts[-1:]) if frames else None
    return draw_paths(scene, chosen_points(scene, points, scene.kinds.followed), triads, ax)


def wants_space(ax: Any, frames: bool = False) -> bool:
    """Whether three dimensions are asked for, even of a motion in a plane."""
    return frames or getattr(ax, "name", "") == "3d"


def draw_paths(scene: Scene, indices: list[int], triads: Triads | None, ax: Any) -> Any:
    """Paths of the points with these indices, and the machine in the end."""
    ax = new_axes(ax, space=scene.space, size=_paper(scene))
    lines = []
    for index, style in zip(indices, line_styles(len(indices)), strict=True):
        style = {**style, "linewidth": 0.9, "linestyle": "-"}
        lines += ax.plot(*scene.points[:, index].T, **style)
    drawing = Drawing(ax, scene, layer=4)
    frame(ax, scene)
    drawing.place(scene.points[-1])
    if triads is not None:
        triads.add_to(ax)
        triads.place(0)
    if len(indices) > 1:
        legend(ax, _names(scene, indices), lines)
    return ax


def _paper(scene: Scene) -> tuple[float, float]:
    """Width and height [inch] of a figure that the drawing fills."""
    return 5.6, drawn_height(scene, 4.8) if not scene.space else 4.6


def drawn_height(scene: Scene, width: float) -> float:
    """How high a drawing of this width is, with its numbers, within reason [inch]."""
    if scene.space:
        return 0.85 * width
    sides = scene.high - scene.low
    return float(np.clip(width * sides[1] / sides[0] + 0.7, 0.4 * width, 1.2 * width))


def _names(scene: Scene, indices: list[int]) -> list[str]:
    """What to call points; by number as well where several have the same name."""
    names = [scene.labels[index] for index in indices]
    return [
        name if names.count(name) == 1 else f"{name}, point {index}"
        for name, index in zip(names, indices, strict=True)
    ]


def stroboscope(
    run: Trajectory,
    count: int = 9,
    *,
    start: Number | None = None,
    stop: Number | None = None,
    ax: Any = None,
) -> Any:
    """The machine at `count` equally spaced times on one sheet, from pale to dark.

    A motion that stays in a coordinate plane is drawn in that plane.

    Args:
        start, stop: the first and the last time [s]; the whole run if None.
        ax: three-dimensional axes draw a motion in a plane in space, too.
    """
    run, count = drawable(run), as_count(count, "count", 2)
    low = float(run.ts[0]) if start is None else float(start)
    high = float(run.ts[-1]) if stop is None else float(stop)
    if not low < high:
        raise ValueError(f"`start` must lie before `stop`, but they are {low:g} s and {high:g} s")
    scene = scene_of(run, np.linspace(low, high, count), space=wants_space(ax))
    ax = new_axes(ax, space=scene.space, size=_paper(scene))
    frame(ax, scene)
    for i, points in enumerate(scene.points):
        strength = 0.15 + 0.85 * ((i + 1) / count) ** 1.5
        Drawing(ax, scene, hinges=i == count - 1, strength=strength, layer=3 + 3 * i).place(points)
    ax.set_title(
        f"t = {low:g} to {high:g} s, every {(high - low) / (count - 1):.3g} s", fontsize=10
    )
    return ax
