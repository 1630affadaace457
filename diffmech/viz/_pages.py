"""Whole figures of one run, and pictures on disk."""

import math
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from .._checks import require_kind
from .._records import atomic_file, require_writable
from ..simulation import Trajectory
from ._energy_plot import energy, imbalance
from ._paths import chosen_points, draw_paths, drawn_height
from ._scene import Scene, scene_of
from ._series import chosen, coordinates, drawable, rates
from ._style import INK, add_axes, new_figure, titled

FORMATS = (".png", ".pdf", ".svg")
_COLUMN, _ROW, _LOWEST_ROW = 5.4, 2.2, 1.7  # [inch]
_MOST_IN_ONE_COLUMN = 3  # panels, where nothing else is drawn

_Panel = tuple[Any, dict[str, Any]]  # what draws it, and its options


def overview(run: Trajectory, *, figure: Any = None) -> Any:
    """Coordinates and rates against time, one panel for each unit, beside the paths in space.

    Angles that turn over are shown wrapped as well. Returns the Figure: `figure`, or a new one.
    """
    run = drawable(run)
    scene = None if run.system.landmarks is None else scene_of(run)
    left, right, size = _arranged(_panels(run), scene)
    figure = _sheet(figure, size)
    columns = figure.add_gridspec(1, 2 if right or scene else 1)
    first = _stacked(run, figure, left, columns[0].subgridspec(len(left), 1))
    if scene is not None:
        high = drawn_height(scene, _COLUMN)
        each = (size[1] - high) / max(len(right), 1)
        ratios = [high, *[each] * len(right)]
        grid = columns[1].subgridspec(len(ratios), 1, height_ratios=ratios)
        ax = add_axes(figure, grid[0], space=scene.space)
        draw_paths(scene, chosen_points(scene, None, scene.kinds.followed), None, ax)
        _stacked(run, figure, right, grid, first)
    elif right:
        _stacked(run, figure, right, columns[1].subgridspec(len(right), 1), first)
    return _titled(figure, run)


def _panels(run: Trajectory) -> list[_Panel]:
    """Coordinates of one unit each, then their rates."""
    units = run.system.coordinates
    groups = {unit: [n for n in units if units[n] == unit] for unit in units.values()}
    panels: list[_Panel] = []
    for unit, names in groups.items():
        panels.append((coordinates, {"names": names}))
        if unit == "rad" and _turns_over(run, names):
            panels.append((coordinates, {"names": names, "wrapped": True}))
    return panels + [(rates, {"names": names}) for names in groups.values()]


def _arranged(
    panels: list[_Panel], scene: Scene | None
) -> tuple[list[_Panel], list[_Panel], tuple[float, float]]:
    """Panels on the left, those on the right (below the drawing), and the size of the sheet [inch].

    As many go to the right as make both columns about equally high.
    """
    count = len(panels)
    if scene is None:
        if count <= _MOST_IN_ONE_COLUMN:
            return panels, [], (6.6, _ROW * max(count, 2))
        left = [panel for panel in panels if panel[0] is coordinates]
        right = panels[len(left) :]
        return left, right, (2 * _COLUMN, _ROW * max(len(left), 2))
    high = drawn_height(scene, _COLUMN)
    heights = [(_ROW * (count - k), high + _ROW * k) for k in range(count)]
    k = min(range(count), key=lambda k: abs(heights[k][0] - heights[k][1]))
    height = max(heights[k]) if k else max(high, _LOWEST_ROW * count)
    return panels[: count - k], panels[count - k :], (2 * _COLUMN, height)


def _stacked(
    run: Trajectory, figure: Any, panels: list[_Panel], column: Any, first: Any = None
) -> Any:
    """Draw panels in the last rows of a column over one axis of time, which is returned."""
    above = column.nrows - len(panels)
    for row, (draw, options) in enumerate(panels):
        ax = add_axes(figure, column[above + row], sharex=first)
        first = first or ax
        draw(run, **options, ax=ax)
        if row < len(panels) - 1:
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
    return first


def balance(run: Trajectory, *, figure: Any = None) -> Any:
    """Changes of energy and work above, what they leave unexplained below; returns the Figure."""
    figure = _sheet(figure, (7.2, 5.6))
    grid = figure.add_gridspec(2, 1, height_ratios=[1.6, 1])
    above = energy(run, ax=add_axes(figure, grid[0]))
    imbalance(run, ax=add_axes(figure, grid[1], sharex=above))
    above.set_xlabel("")
    above.tick_params(labelbottom=False)
    return _titled(figure, run)


def _sheet(figure: Any, size: tuple[float, float]) -> Any:
    if figure is None:
        return new_figure(size)
    require_kind(figure, Figure, "figure", "a Figure of matplotlib")
    figure.set_size_inches(*size)
    figure.set_layout_engine("constrained")
    return figure


def _turns_over(run: Trajectory, names: list[str]) -> bool:
    indices, _ = chosen(run, names)
    return bool((abs(run.qs[:, indices]) > math.pi).any())


def _titled(figure: Any, run: Trajectory) -> Any:
    settings = run.settings
    how = f"rtol {float(settings.rtol):.0e}"
    if settings.dt is not None:
        how = f"dt {float(settings.dt):.3g} s"
    figure.suptitle(f"{titled(run.system.name)}, {settings.method}, {how}", fontsize=11, color=INK)
    return figure


def require_picture(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a file that a picture cannot be written to, before any work is done for it."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"`{path}` must end in .png, .pdf or .svg to hold a picture")
    require_writable(path, overwrite=overwrite)


def save_figure(figure: Any, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a Figure, or the one an Axes is on, as .png, .pdf or .svg, all of it or nothing."""
    require_kind(figure, Artist, "figure", "a Figure or Axes of matplotlib")
    path, figure = Path(path), figure.figure  # pyright: ignore[reportAttributeAccessIssue]
    require_picture(path, overwrite=overwrite)
    kind = path.suffix.lower().removeprefix(".")
    undated = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[kind]
    unsalted: Any = {"svg.hashsalt": "diffmech"}  # else every SVG would name its parts anew
    with atomic_file(path, overwrite=overwrite) as temporary, rc_context(unsalted):
        figure.savefig(temporary, format=kind, dpi=150, metadata=undated)
    return path
