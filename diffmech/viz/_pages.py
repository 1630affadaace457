"""Whole figures of one run, and pictures on disk."""

import math
from pathlib import Path
from typing import Any

from matplotlib import rc_context

from .._records import atomic_file, require_writable
from ..simulation import Trajectory
from ._energy import energy, imbalance
from ._machine import is_spatial
from ._places import paths
from ._series import chosen, coordinates, drawable, rates
from ._style import INK, add_axes, literal, new_figure

FORMATS = (".png", ".pdf", ".svg")


def overview(run: Trajectory, *, figure: Any = None) -> Any:
    """Coordinates and rates against time, one panel for each unit, beside the paths in space.

    Angles that turn over are shown wrapped as well. Returns the Figure: `figure`, or a new one.
    """
    run = drawable(run)
    units = run.system.coordinates
    groups = {unit: [n for n in units if units[n] == unit] for unit in units.values()}
    panels: list[tuple[Any, dict[str, Any]]] = []
    for unit, names in groups.items():
        panels.append((coordinates, {"names": names}))
        if unit == "rad" and _turns_over(run, names):
            panels.append((coordinates, {"names": names, "wrapped": True}))
        panels.append((rates, {"names": names}))
    drawn = run.system.landmarks is not None
    figure = _sheet(figure, (11.0 if drawn else 6.6, 2.3 * max(len(panels), 2)))
    grid = figure.add_gridspec(len(panels), 1 + drawn, width_ratios=[1.35, 1][: 1 + drawn])
    first = None
    for row, (draw, options) in enumerate(panels):
        ax = add_axes(figure, grid[row, 0], sharex=first)
        first = first or ax
        draw(run, **options, ax=ax)
        if row < len(panels) - 1:
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
    if drawn:
        paths(run, ax=add_axes(figure, grid[:, 1], space=is_spatial(run)))
    return _titled(figure, run)


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
    figure.suptitle(f"{literal(run.system.name)}, {settings.method}, {how}", fontsize=11, color=INK)
    return figure


def require_picture(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a file that a picture cannot be written to, before any work is done for it."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"`{path}` must end in .png, .pdf or .svg to hold a picture")
    require_writable(path, overwrite=overwrite)


def save_figure(figure: Any, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a Figure, or the one an Axes is on, as .png, .pdf or .svg, all of it or nothing."""
    path, figure = Path(path), figure.figure
    require_picture(path, overwrite=overwrite)
    kind = path.suffix.lower().removeprefix(".")
    undated = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[kind]
    unsalted: Any = {"svg.hashsalt": "diffmech"}  # else every SVG would name its parts anew
    with atomic_file(path, overwrite=overwrite) as temporary, rc_context(unsalted):
        figure.savefig(temporary, format=kind, dpi=150, metadata=undated)
    return path
