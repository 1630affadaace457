"""Maps of stability, drawn: bands in black and green along one axis, areas over two."""

from typing import Any

import numpy as np

from .._checks import require_kind
from ..maps import Axis, StabilityMap, Verdict
from ._style import (
    INK,
    add_axes,
    literal,
    name_axes,
    new_axes,
    new_figure,
    tick_in_degrees,
    with_unit,
)

# Black and green as the babyboot's source has them; for the rest colours that neither is taken for,
# in grey print too.
VERDICT_COLOURS = {
    Verdict.STABLE: "#111111",
    Verdict.UNSTABLE: "#2E9E4F",
    Verdict.UNDECIDED: "#BFBFBF",
    Verdict.FAILED: "#CC79A7",
    Verdict.MISSING: "#FFFFFF",
}
_MADE_BY = "what `stability_map` returns"
_SHADES = "summer"  # of what is unstable, by what the criterion measured
_MOST_PIXELS = 4000  # of a strip: more points than that share one
_MOST_SHARP = 500  # of a strip: more of them than a screen has there
_MOST_PIXELS_EACH_WAY = 1000  # of an area whose points are not equally far apart


def stability(record: StabilityMap, ax: Any = None) -> Any:
    """Draw a map: along one axis as `bands`, over two as `areas`."""
    require_kind(record, StabilityMap, "record", _MADE_BY)
    return bands(record, ax) if len(record.axes) == 1 else areas(record, ax)


def in_degrees(axis: Axis) -> tuple[np.ndarray, str]:
    """An axis' values and unit as shown: angles in degrees."""
    if axis.unit == "rad":
        return np.degrees(axis.grid), "deg"
    if axis.unit == "rad/s" and axis.kind == "rate":  # the frequency of a drive stays as it is
        return np.degrees(axis.grid), "deg/s"
    return axis.grid, axis.unit


def bands(record: StabilityMap, ax: Any = None, *, curve: bool = True) -> Any:
    """Stable stretches in black, unstable ones in green, with the curve behind them above.

    The strip takes the lower part of the axes; the curve is what the criterion measured. Motions
    that failed, and points without a verdict, have colours of their own.
    """
    require_kind(record, StabilityMap, "record", _MADE_BY)
    if len(record.axes) != 1:
        raise ValueError("`bands` draws maps with one axis; `areas` draws those with two")
    ax = new_axes(ax, size=(7.0, 2.6 if curve else 1.2))
    x, unit = in_degrees(record.axes[0])
    low, high = _value_range(record) if curve else (0.0, 1.0)
    height = 0.22 * (high - low) if curve else 1.0
    bottom = low - 1.4 * height if curve else 0.0
    pixels = _colours(record.verdicts[_shown(x, _MOST_PIXELS)])
    ax.imshow(
        pixels[None, :, :],
        extent=(*_ends(x), bottom, bottom + height),
        aspect="auto",
        # The narrowest bands must not fall between the pixels of the screen.
        interpolation="antialiased" if len(pixels) > _MOST_SHARP else "nearest",
        zorder=1,
    )
    ax.set_xlim(*sorted(_ends(x)))
    ax.set_ylim(bottom, high + 0.05 * (high - low) if curve else 1.0)
    if curve:
        shown = np.where(np.isfinite(record.values), record.values, np.nan)
        style = "-" if x.size < 200 else ","
        ax.plot(x, shown, style, color=INK, linewidth=0.8, zorder=2)
        if x.size >= 200:
            ax.plot(x, shown, ".", color=INK, markersize=1.0, zorder=2)
        name_axes(ax, with_unit(record.axes[0].name, unit), _measured(record))
        ticks = [tick for tick in ax.get_yticks() if low <= tick <= high + 1e-12]
        ax.set_yticks(ticks)
    else:
        name_axes(ax, with_unit(record.axes[0].name, unit), "")
        ax.set_yticks([])
    if unit == "deg":
        tick_in_degrees(ax.xaxis, *_ends(x))
    _key(ax, record)
    return ax


def areas(record: StabilityMap, ax: Any = None) -> Any:
    """What the criterion measured over two axes, stable areas in black, with their outline."""
    require_kind(record, StabilityMap, "record", _MADE_BY)
    if len(record.axes) != 2:
        raise ValueError("`areas` draws maps with two axes; `bands` draws those with one")
    figure = None
    if ax is None:
        figure = new_figure((6.4, 4.6))
        ax = add_axes(figure, 111)
    ax.grid(False)
    (x, x_unit), (y, y_unit) = (in_degrees(axis) for axis in record.axes)
    pixels = np.ix_(*(_shown(each, _MOST_PIXELS_EACH_WAY) for each in (x, y)))
    verdicts, values = record.verdicts[pixels], record.values[pixels]
    shown = np.where((verdicts == Verdict.UNSTABLE) & np.isfinite(values), values, np.nan).T
    extent = (*_ends(x), *_ends(y))
    how = {"extent": extent, "aspect": "auto", "origin": "lower", "interpolation": "nearest"}
    ax.imshow(np.swapaxes(_colours(verdicts), 0, 1), zorder=1, **how)
    if np.any(np.isfinite(shown)):
        image = ax.imshow(shown, cmap=_SHADES, zorder=2, **how)
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
        bar.set_label(_measured(record), fontsize=10, color=INK)
        bar.ax.tick_params(labelsize=9, color=INK, labelcolor=INK)
    stable = (record.verdicts == Verdict.STABLE).T.astype(float)
    if min(stable.shape) > 1 and 0 < stable.mean() < 1:
        ax.contour(x, y, stable, levels=[0.5], colors="white", linewidths=0.4, zorder=3)
    name_axes(ax, with_unit(record.axes[0].name, x_unit), with_unit(record.axes[1].name, y_unit))
    ax.set_xlim(*sorted(_ends(x)))
    ax.set_ylim(*sorted(_ends(y)))
    for each, values, unit in ((ax.xaxis, x, x_unit), (ax.yaxis, y, y_unit)):
        if unit == "deg":
            tick_in_degrees(each, *_ends(values))
    _key(ax, record, shades=_SHADES if np.any(np.isfinite(shown)) else None)
    return ax


def _ends(x: np.ndarray) -> tuple[float, float]:
    """Outer edges of the first and last pixel."""
    if x.size == 1:
        return float(x[0]) - 0.5, float(x[0]) + 0.5
    return float(x[0] - 0.5 * (x[1] - x[0])), float(x[-1] + 0.5 * (x[-1] - x[-2]))


def _shown(x: np.ndarray, most: int) -> np.ndarray:
    """Which point each of equally wide pixels shows: every one once, or else the nearest."""
    if np.allclose(np.diff(x), x[-1:] - x[-2:-1], rtol=1e-6, atol=0.0):
        return np.arange(x.size)
    low, high = _ends(x)
    places = low + (high - low) * (np.arange(most) + 0.5) / most
    sign = np.sign(high - low)
    return np.searchsorted(sign * 0.5 * (x[1:] + x[:-1]), sign * places)


def _colours(verdicts: np.ndarray) -> np.ndarray:
    """One colour a point, shape (..., 3); of very many points along one axis, some."""
    from matplotlib.colors import to_rgb

    table = np.array([to_rgb(VERDICT_COLOURS[kind]) for kind in Verdict])
    if verdicts.ndim == 1 and verdicts.size > _MOST_PIXELS:
        # The mean colour of the points that share a pixel: fine bands show as shades.
        firsts = np.arange(_MOST_PIXELS) * verdicts.size // _MOST_PIXELS
        counts = np.diff(firsts, append=verdicts.size)
        return np.add.reduceat(table[verdicts], firsts, axis=0) / counts[:, None]
    return table[verdicts]


def _value_range(record: StabilityMap) -> tuple[float, float]:
    if record.words.range is not None:
        return record.words.range
    finite = record.values[np.isfinite(record.values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _measured(record: StabilityMap) -> str:
    return literal(record.words.measures or record.settings["criterion"]["criterion"])


def _key(ax: Any, record: StabilityMap, shades: str | None = None) -> None:
    """What the colours mean, above the axes: stable, unstable, and all else that occurs.

    `shades` is the colour map of what is unstable, where it has more than one colour.
    """
    from matplotlib import colormaps
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.patches import Patch

    counts = record.counts
    total = max(record.verdicts.size, 1)
    always = (Verdict.STABLE, Verdict.UNSTABLE)
    kinds = [kind for kind in Verdict if counts[kind] or kind in always]
    patches: list[Any] = [
        Patch(facecolor=VERDICT_COLOURS[kind], edgecolor=INK, linewidth=0.5) for kind in kinds
    ]
    if shades is not None:
        some = colormaps[shades](np.linspace(0.0, 1.0, 5))
        patches[kinds.index(Verdict.UNSTABLE)] = tuple(Patch(facecolor=shade) for shade in some)
    labels = [f"{kind.name.lower()} {100 * counts[kind] / total:.3g} %" for kind in kinds]
    ax.legend(
        patches,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(kinds),
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.0)},
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handlelength=1.2,
        borderaxespad=0.2,
    )
