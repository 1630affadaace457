"""Fits, drawn: measured against model, what is left, and what goes together."""

from typing import Any

import numpy as np

from .._checks import require_kind
from ..identification import Fit, Record
from ._series import TIME
from ._style import (
    ACCENT,
    COLOURS,
    INK,
    add_axes,
    literal,
    name_axes,
    new_axes,
    new_figure,
    tick_in_pi,
    titled,
    with_unit,
)

_MADE_BY = "what `fit` returns"
_MOST_RECORDS = 4  # side by side; of more the first are drawn, with a note
_MOST_WRITTEN = 12  # numbers each way that are written into a matrix
_MOST_LAGS = 25  # of an autocorrelation
_GAP = 2.5  # usual steps between two samples
_CERTAIN = 1.96  # standard deviations around 95 % of normal noise
_DOTS: dict[str, Any] = {"linestyle": "", "marker": "o", "markeredgewidth": 0}


def fit(record: Fit, ax: Any = None, *, channel: str | None = None) -> Any:
    """What was measured, as dots, and the model, as a line: one row a channel, one column a record.

    Records that were held back come last and in another colour. Of more than four records the
    first are drawn, and the sheet says so.

    Args:
        ax: draw the first record into these Axes only.
        channel: which one; all if None, with `ax` the first.

    Returns:
        `ax`, or the first Axes of the sheet; `.figure.axes` has all, row by row.
    """
    channels = _chosen(record, channel)
    if ax is not None:
        _motion(record, 0, channels[0], new_axes(ax))
        return ax
    shown = _columns(record)
    figure = new_figure((2.2 + 3.2 * len(shown), 1.0 + 2.1 * len(channels)))
    axes = _grid(figure, len(channels), len(shown))
    for row, c in enumerate(channels):
        for column, place in enumerate(shown):
            here = axes[row, column]
            _motion(record, place, c, here)
            if row == 0:
                here.set_title(_name(record, place), fontsize=10, color=INK)
            if row < len(channels) - 1:
                here.set_xlabel("")
            if column:
                here.set_ylabel("")
    handles = axes[0, 0].get_lines()[:2]
    axes[0, -1].legend(
        handles, ("measured", "model"), loc="upper left", bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0, frameon=False, fontsize=9, labelcolor=INK, markerscale=2.0,
    )  # fmt: skip
    total = len(record.records) + len(record.held)
    some = f", {len(shown)} of {total} records" if len(shown) < total else ""
    figure.suptitle(f"{titled(record.system.name)}{some}", fontsize=11, color=INK)
    return axes[0, 0]


def fit_residuals(record: Fit, ax: Any = None, *, channel: str | None = None) -> Any:
    """What the model leaves, in units of the noise, over time; and how neighbours correlate.

    Noise lies within ±1.96 nineteen times of twenty, and its autocorrelation within the band. One
    row a channel: records one after another on the left, their autocorrelation on the right.

    Args:
        ax: draw the residuals of one channel into these Axes only.
        channel: which one; all if None, with `ax` the first.

    Returns:
        `ax`, or the first Axes of the sheet; `.figure.axes` has all, row by row.
    """
    channels = _chosen(record, channel)
    if ax is not None:
        _residuals(record, channels[0], new_axes(ax))
        return ax
    figure = new_figure((9.6, 1.0 + 2.1 * len(channels)))
    axes = _grid(figure, len(channels), 2, width_ratios=[2.4, 1])
    for row, c in enumerate(channels):
        _residuals(record, c, axes[row, 0])
        _autocorrelation(record, c, axes[row, 1])
        if row < len(channels) - 1:
            axes[row, 0].set_xlabel("")
            axes[row, 1].set_xlabel("")
    figure.suptitle(titled(record.system.name), fontsize=11, color=INK)
    return axes[0, 0]


def correlations(record: Fit, ax: Any = None) -> Any:
    """How errors of the free numbers go together, from −1 to 1: a matrix with its numbers.

    Near ±1 only a combination of two numbers is known well.
    """
    require_kind(record, Fit, "record", _MADE_BY)
    count = len(record.names)
    side = max(3.6, min(0.62 * count + 1.6, 12.0))
    words = 0.07 * max(map(len, record.names))  # [inch] that the longest label takes
    alone = ax is None
    ax = new_axes(ax, size=(side + 1.0 + words, side + 0.7 * words))
    values = np.array(record.correlation)
    known = np.isfinite(record.errors) & (np.diag(record.covariance) > 0)
    values[~known], values[:, ~known] = np.nan, np.nan  # nothing is known of what these go with
    image = ax.imshow(np.where(np.eye(count) > 0, np.nan, values), cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set_facecolor("#EEEEEE")  # of the diagonal, which says nothing
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    labels = [literal(name) for name in record.names]
    ax.set_xticks(range(count), labels, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(count), labels)
    if count <= _MOST_WRITTEN:
        for i in range(count):
            for j in range(count):
                said = f"{values[i, j]:z.2f}" if np.isfinite(values[i, j]) else "–"
                dark = i != j and abs(values[i, j]) > 0.6
                ax.text(
                    j, i, said.replace("-", "−"), ha="center", va="center", fontsize=8,
                    color="white" if dark else INK,
                )  # fmt: skip
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, label="correlation of errors")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=9, color=INK, labelcolor=INK)
    if alone:  # a square leaves room beside it, which the labels are to have
        ax.figure.set_layout_engine("compressed")
    return ax


def _chosen(record: Fit, channel: str | None) -> list[int]:
    require_kind(record, Fit, "record", _MADE_BY)
    if channel is None:
        return list(range(len(record.channels)))
    if channel not in record.channels:
        raise ValueError(
            f"`channel` must be one of {', '.join(record.channels)}, but is {channel!r}"
        )
    return [record.channels.index(channel)]


def _columns(record: Fit) -> list[int]:
    """Which records are drawn: as many as fit, one that was held back among them."""
    fitted, held = len(record.records), len(record.held)
    if fitted + held <= _MOST_RECORDS:
        return list(range(fitted + held))
    kept = min(held, max(1, _MOST_RECORDS - fitted)) if held else 0
    return [*range(_MOST_RECORDS - kept), *range(fitted, fitted + kept)]


def _grid(figure: Any, rows: int, columns: int, **ratios: Any) -> np.ndarray:
    """Axes in the house style; those of one column share their times."""
    grid = figure.add_gridspec(rows, columns, **ratios)
    axes = np.empty((rows, columns), object)
    for row in range(rows):
        for column in range(columns):
            above = axes[0, column] if row else None
            axes[row, column] = add_axes(figure, grid[row, column], sharex=above)
    return axes


def _place(record: Fit, place: int) -> tuple[Record, np.ndarray, bool]:
    """A record, what the model shows, and whether it was held back."""
    fitted = len(record.records)
    if place < fitted:
        return record.records[place], np.asarray(record.computed[place]), False
    return record.held[place - fitted], np.asarray(record.predicted[place - fitted]), True


def _name(record: Fit, place: int) -> str:
    measured, _, held = _place(record, place)
    return literal(measured.name) + (", held back" if held else "")


def _motion(record: Fit, place: int, c: int, ax: Any) -> None:
    measured, model, held = _place(record, place)
    ts, values = np.asarray(measured.ts), np.asarray(measured.values)[:, c]
    size = float(np.clip(600 / len(ts), 2.2, 4.0))
    ax.plot(ts, values, **_DOTS, color=ACCENT if held else COLOURS[0], markersize=size, alpha=0.6)
    ax.plot(*_broken_at_gaps(ts, model[:, c]), color=INK, linewidth=0.7)
    unit = record.channel_units[c]
    name_axes(ax, TIME, with_unit(record.channels[c], unit))
    if unit == "rad" and np.nanmax(values) - np.nanmin(values) > 2 * np.pi:  # else one tick or two
        tick_in_pi(ax.yaxis, float(np.nanmin(values)), float(np.nanmax(values)))


def _broken_at_gaps(ts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples that are there, with a break in every gap: a straight line is not the model."""
    there = np.isfinite(values)
    ts, values = ts[there], values[there]
    steps = np.diff(ts)
    gaps = np.flatnonzero(steps > _GAP * np.median(steps)) + 1 if len(steps) else []
    return np.insert(ts, gaps, np.nan), np.insert(values, gaps, np.nan)


def _in_noise(record: Fit, c: int) -> list[np.ndarray]:
    """Measured − model of every record fitted, in standard deviations."""
    return [
        (np.asarray(r.values)[:, c] - np.asarray(shown)[:, c]) / float(record.noise[c])
        for r, shown in zip(record.records, record.computed, strict=True)
    ]


def _residuals(record: Fit, c: int, ax: Any) -> None:
    """Records one after another, told apart by colour."""
    left, widest = 0.0, 3.0
    for i, (measured, misses) in enumerate(zip(record.records, _in_noise(record, c), strict=True)):
        ts = np.asarray(measured.ts)
        size = float(np.clip(1500 / sum(map(len, record.records)), 1.0, 3.0))
        ax.plot(left + ts - ts[0], misses, **_DOTS, color=COLOURS[i % 2], markersize=size)
        left += float(ts[-1] - ts[0])
        widest = max(widest, float(np.nanmax(np.abs(misses))))
    ax.axhspan(-_CERTAIN, _CERTAIN, color="#EEEEEE", zorder=0)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set_xlim(0.0, left)
    ax.set_ylim(-1.08 * widest, 1.08 * widest)
    several = len(record.records) > 1
    label = "time, record after record [s]" if several else TIME
    name_axes(ax, label, f"residual of {literal(record.channels[c])}\n[noise]")


def _autocorrelation(record: Fit, c: int, ax: Any) -> None:
    """Σ rᵢ rᵢ₊ₖ / Σ rᵢ² over pairs within one record."""
    misses = _in_noise(record, c)
    power = np.nanmean(np.concatenate(misses) ** 2) or 1.0
    lags = np.arange(1, min(_MOST_LAGS, max(map(len, misses)) // 3) + 1)
    products = [
        np.nanmean(np.concatenate([miss[k:] * miss[:-k] for miss in misses if len(miss) > k]))
        for k in lags
    ]
    pairs = sum(int(np.sum(np.isfinite(miss))) for miss in misses)
    ax.axhspan(-_CERTAIN / np.sqrt(pairs), _CERTAIN / np.sqrt(pairs), color="#EEEEEE", zorder=0)
    ax.vlines(lags, 0.0, np.array(products) / power, color=COLOURS[0], linewidth=1.6)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    low = min(-0.25, 1.1 * float(np.min(products)) / float(power))
    ax.set_ylim(low, 1.0)
    name_axes(ax, "samples apart", "autocorrelation")
