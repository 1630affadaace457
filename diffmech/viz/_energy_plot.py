"""Where the energy goes: changes of its parts, the work done, and what is left unexplained."""

from typing import Any

import numpy as np

from ..simulation import Trajectory
from ._series import TIME, drawable
from ._style import INK, legend, line_styles, name_axes, new_axes


def _require_energy(run: Trajectory) -> None:
    if np.all(np.isnan(np.asarray(run.energies.total))):
        raise ValueError(
            f"the energy of {run.system.name!r} is not known: its equations came without an "
            "energy function, or it is not finite"
        )


def _has_parts(run: Trajectory) -> bool:
    """Whether kinetic energy, potential energy and work are known apart."""
    return bool(np.all(np.isfinite(np.asarray(run.energies.kinetic))))


def energy(run: Trajectory, *, ax: Any = None) -> Any:
    """Changes of the energy since the start [J]: ΔEₖ, ΔEₚ, their sum ΔE, and the work W.

    W is the work of forces, friction and moving parts; ΔE and W lie on each other when the energy
    balances. Explicit equations show ΔE alone.
    """
    run = drawable(run)
    _require_energy(run)
    ax = new_axes(ax)
    parts = {"ΔE": run.energies.total}
    if _has_parts(run):
        parts = {"ΔEₖ": run.energies.kinetic, "ΔEₚ": run.energies.potential, **parts}
    styles = line_styles(4)
    ts = np.asarray(run.ts)
    lines = []
    for values, style in zip(parts.values(), styles, strict=False):
        lines += ax.plot(ts, np.asarray(values) - float(values[0]), **style)
    labels = list(parts)
    if _has_parts(run):
        lines += ax.plot(ts, np.asarray(run.work), **{**styles[3], "linewidth": 2.4, "alpha": 0.7})
        labels.append("W")
    name_axes(ax, TIME, "change of energy [J]")
    legend(ax, labels, lines)
    return ax


def imbalance(run: Trajectory, *, ax: Any = None) -> Any:
    """The energy that is not accounted for, |E − E₀ − W| [J], on a logarithmic axis.

    The dotted line is the rounding of the energy itself; nothing below it means anything.
    """
    run = drawable(run)
    _require_energy(run)
    ax = new_axes(ax)
    total = np.asarray(run.energies.total)
    gap = np.abs(total - total[0] - np.asarray(run.work))
    parts = [total, run.energies.kinetic, run.energies.potential, run.work]
    scale = float(np.nanmax(np.abs([np.asarray(part) for part in parts])))
    rounding = float(np.finfo(total.dtype).eps) * scale
    (style,) = line_styles(1)
    # A logarithm has no place for an exact zero; half a rounding is as good.
    ax.plot(np.asarray(run.ts), np.maximum(gap, rounding / 2), **{**style, "linewidth": 1.0})
    if rounding > 0:
        ax.set_yscale("log")
        ax.axhline(rounding, color=INK, linestyle=":", linewidth=1.0)
        ax.annotate(
            "rounding",
            (1.0, rounding),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            fontsize=8,
            color=INK,
            va="center",
        )
        ax.set_ylim(rounding / 4, max(float(np.max(gap)), rounding) * 4)
    name_axes(ax, TIME, "|E − E₀ − W| [J]" if _has_parts(run) else "|E − E₀| [J]")
    return ax
