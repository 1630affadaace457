"""The house style: applied to the axes we make, never to Matplotlib's settings."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import FuncFormatter, MultipleLocator

from .._checks import require_kind

INK = "#222222"
# Okabe and Ito's colours, in an order in which neighbours also differ in lightness.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#CC79A7", "#009E73", "#D55E00", "#56B4E9")
DASHES = (
    "-",
    (0, (6, 2)),
    (0, (1.5, 1.5)),
    (0, (6, 2, 1.5, 2)),
    (0, (12, 3)),
    (0, (3, 3)),
    (0, (8, 2, 1.5, 2, 1.5, 2)),
)
FRONT, BACK = "#0072B2", "#F0C05A"  # the two sides of a plate: dark and light in grey, too
ACCENT = "#D55E00"
_GRID = "#D9D9D9"
_MOST_NAMED = len(COLOURS)  # lines with a colour each; more of them follow a colour map
_NAMED_OF_MANY = 5


def literal(text: str) -> str:
    """A user's text as Matplotlib shows it unchanged: `$` does not start mathematics."""
    return text.replace("$", r"\$")


def titled(machine: str) -> str:
    """A machine's name as a title: those of the catalogue are words of the command line."""
    return literal(re.sub(r":(?=\w+=)", ", ", machine).replace("_", " "))


def with_unit(name: str, unit: str) -> str:
    """An axis label: `theta [rad]`; `[-]` where no unit is known."""
    return f"{literal(name)} [{literal(unit) or '-'}]"


def new_axes(ax: Any, *, space: bool = False, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """`ax`, or new axes in the house style in a figure of their own."""
    if ax is not None:
        require_kind(ax, Axes, "ax", "axes of matplotlib")
        if space != (getattr(ax, "name", "") == "3d"):
            wanted = "three-dimensional" if space else "plane"
            raise ValueError(
                f"`ax` must be {wanted} axes for this picture"
                + ("; make them with `figure.add_subplot(projection='3d')`" if space else "")
            )
        return ax
    return add_axes(new_figure(size), 111, space=space)


def new_figure(size: tuple[float, float]) -> Any:
    """A figure that `matplotlib.pyplot` knows, so that the user's `plt.show()` shows it."""
    from matplotlib import pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def add_axes(figure: Any, where: Any, *, space: bool = False, sharex: Any = None) -> Any:
    """New axes in the house style at a place in a figure."""
    if space:
        ax = figure.add_subplot(where, projection="3d")
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.pane.set_facecolor("white")
            axis.pane.set_edgecolor(_GRID)
    else:
        ax = figure.add_subplot(where, sharex=sharex)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
    ax.grid(True, color=_GRID, linewidth=0.6)
    ax.tick_params(labelsize=9, color=INK, labelcolor=INK)
    return ax


def line_styles(count: int) -> list[dict[str, Any]]:
    """Colour and dash of each of `count` lines; distinct in grey as well."""
    if count <= _MOST_NAMED:
        return [
            {"color": COLOURS[i], "linestyle": DASHES[i], "linewidth": 1.4} for i in range(count)
        ]
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.0, 0.9, count))  # light ones vanish on white
    return [{"color": shade, "linestyle": "-", "linewidth": 1.0} for shade in shades]


def legend(ax: Any, labels: list[str], lines: list[Any], keys: Sequence[Any] = ()) -> None:
    """Name the lines beside the plot's right edge, where they hide nothing.

    Of many lines, whose colours follow a map, some in equal steps are named. `keys` are further
    pairs of a name and a line, which come first.
    """
    if len(labels) > _MOST_NAMED:
        some = np.linspace(0, len(labels) - 1, _NAMED_OF_MANY).round().astype(int)
        labels, lines = [labels[i] for i in some], [lines[i] for i in some]
    labels = [*(name for name, _ in keys), *labels]
    lines = [*(line for _, line in keys), *lines]
    # Matplotlib leaves out names that start with an underscore; a leading space keeps them.
    shown = [f" {literal(label)}" if label.startswith("_") else literal(label) for label in labels]
    space = getattr(ax, "name", "") == "3d"
    ax.legend(
        list(lines),
        shown,
        loc="upper right" if space else "upper left",
        bbox_to_anchor=(1.0, 1.0) if space else (1.01, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handlelength=2.6,
    )


def name_axes(ax: Any, x: str, y: str) -> None:
    """Label both axes; the texts are ready to show."""
    ax.set_xlabel(x, fontsize=10, color=INK)
    ax.set_ylabel(y, fontsize=10, color=INK)


def tick_in_pi(axis: Any, low: float, high: float) -> None:
    """Ticks at multiples of π/2, π, 2π, ... where an angle covers more than half a turn."""
    spread = high - low
    if not math.isfinite(spread) or spread < 0.75 * math.pi:
        return
    step = math.pi / 2
    while spread / step > 9:
        step *= 2
    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(FuncFormatter(_in_pi))


def tick_in_degrees(axis: Any, low: float, high: float) -> None:
    """Ticks at 15°, 30°, 45°, 90°, ... where angles in degrees cover more than a right angle."""
    spread = abs(high - low)
    if not 75 < spread < 1e5:
        return
    step = 15.0
    for wider in (30, 45, 90, 180, 360, 720):
        if spread / step <= 9:
            break
        step = wider
    axis.set_major_locator(MultipleLocator(step))


def _in_pi(value: float, position: Any = None) -> str:
    del position
    halves = round(2 * value / math.pi)
    if halves == 0:
        return "0"
    sign = "−" if halves < 0 else ""
    size = abs(halves)
    if size % 2:
        return f"{sign}{'' if size == 1 else size}π/2"
    return f"{sign}{'' if size == 2 else size // 2}π"


def fade(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white: 1 leaves it, 0 gives white."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue
