"""Bifurcation diagrams: the points a motion settles on, for many values of a parameter."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import as_array, as_count, as_scalar, as_vector, require_finite
from .._printing import aligned
from .._records import write_csv
from .._typing import Coordinates, Number, Params
from .._units import unit_after
from ..model import (
    AbstractSystem,
    match_params,
    parameter_paths,
    parameter_place,
    parameter_unit,
    replace_params,
    require_system,
    rest_zero,
)
from ._poincare import poincare
from ._section_record import PoincareSection
from ._sections import AbstractSection, Strobe, as_section

_LONGEST = 10.0  # of the transient, to wait for crossings of a section that is no strobe


class Bifurcation(eqx.Module):
    """The points on a section that motions settle on, for every value of a parameter.

    Attributes:
        parameter: its path.
        values: of the parameter, shape (values,) [its unit].
        points: states (q, q̇) on the section after the transient, in order of time, shape
            (values, keep, 2n) [unit of each, that per second]; NaN where a motion had fewer
            crossings.
        times: of these, shape (values, keep) [s]; NaN likewise.
        crossings: all of them, a `PoincareSection` with the status of every motion; lane i is that
            of `values[i]`.
    """

    parameter: str = eqx.field(static=True)
    values: np.ndarray
    points: np.ndarray
    times: np.ndarray
    crossings: PoincareSection

    def periods(self, tolerance: float = 1e-5) -> np.ndarray:
        """After how many crossings the points repeat, shape (values,); 0 where they do not.

            |x_{i+p} − x_i| < tolerance   for all i and every entry of x = (q, q̇), in its unit

        The smallest such p ≤ keep/2, angles modulo 2π. 0 is chaos, a period too long for `keep`, a
        transient too short, or a motion of fewer crossings than `keep`.
        """
        units = [*self.crossings.system.coordinates.values()]
        angles = np.array([unit == "rad" for unit in units] + [False] * len(units))
        result = np.zeros(len(self.values), int)
        for p in range(self.points.shape[1] // 2, 0, -1):
            change = self.points[:, p:] - self.points[:, :-p]
            change = np.where(angles, np.remainder(change + np.pi, 2 * np.pi) - np.pi, change)
            with np.errstate(invalid="ignore"):
                repeats = np.all(np.abs(change) < tolerance, axis=(1, 2))
            result[repeats] = p
        return result

    def __str__(self) -> str:
        crossings, keep = self.crossings, self.points.shape[1]
        periods = ", ".join(
            f"{count} of period {period}" if period else f"{count} that do not repeat"
            for period, count in zip(*np.unique(self.periods(), return_counts=True), strict=True)
        )
        low, high = self.values.min(), self.values.max()
        unit = unit_after(parameter_unit(crossings.system, self.parameter))
        points = int(np.sum(np.isfinite(self.times)))
        rows = [
            ("section", crossings.label),
            ("points", f"{points}, {keep} of each motion at most"),
            ("motions", periods),
        ]
        failed = int(np.sum(~crossings.ok))
        if failed:
            rows.append(("failed", f"{failed}: look at crossings.status"))
        title = (
            f"{crossings.system.name}: {len(self.values)} values of {self.parameter}, {low:.6g} to "
            f"{high:.6g}{unit}"
        )
        return aligned(rows, title)

    def to_csv(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the parameter, time, coordinates and rates of every point as columns."""
        names = list(self.crossings.system.coordinates)
        header = [self.parameter, "t", *names, *(f"{name}_dot" for name in names)]
        kept = np.isfinite(self.times)
        values = np.broadcast_to(self.values[:, None], self.times.shape)[kept]
        columns = [values, self.times[kept], *self.points[kept].T]
        return write_csv(path, header, columns, overwrite=overwrite)


def bifurcation(
    system: AbstractSystem,
    parameter: str,
    values: Any,
    q0: Coordinates,
    qd0: Coordinates | None = None,
    *,
    section: AbstractSection | str | Callable[..., Any],
    transient: Number,
    keep: int = 32,
    duration: Number | None = None,
    t0: Number = 0.0,
    params: Params = None,
    rtol: Number | None = None,
    progress: bool | None = None,
) -> Bifurcation:
    """Run a machine for many values of a parameter, and keep its last points on a section.

    All motions start from the same state and run side by side.

    **Main arguments:**

    - `parameter`: its path, as in "mB" or "masses[1]"; `values`: of it, shape (k,).
    - `q0`, `qd0`: the start, shape (n,) or mappings by name; rates that are left out
      are zero.
    - `section`: where to look, a `Plane`, a `Strobe` or a `Surface`, as for `poincare`. A drive
      whose period changes with the parameter is a surface in time, such as
      `Surface(lambda q, qd, t, p: jnp.sin(p.omega * t))`.
    - `transient` [s]: not looked at. `keep`: crossings kept after it.

    **Other arguments:**

    - `duration` [s]: the whole run at most. None means as long as `keep` periods of a strobe take;
      for other sections ten times the transient more, motions ending at their last point.
    - `params`, `t0`, `rtol`, `progress`: as for `poincare`.

    **Raises:** `ValueError` for a wrong call.
    """
    require_system(system)
    grid = _grid(values)
    keep = as_count(keep, "keep", 1)
    before = float(as_scalar(transient, "transient", positive=True))
    section = as_section(section)
    if duration is None:
        strobe = isinstance(section, Strobe)
        after = (keep + 1) * float(section.period) if strobe else _LONGEST * before
        duration = before + after
    names = tuple(system.coordinates)
    crossings = poincare(
        system,
        np.broadcast_to(as_vector(q0, names, "q0"), (len(grid), len(names))),
        None if qd0 is None else as_vector(rest_zero(system, qd0), names, "qd0"),
        section=section,
        duration=duration,
        transient=before,
        limit=keep,
        t0=t0,
        params=_varied(system, params, parameter, grid),
        rtol=rtol,
        progress=progress,
    )
    points = np.full((len(grid), keep, 2 * len(names)), np.nan)
    times = np.full((len(grid), keep), np.nan)
    counts, lanes = crossings.counts, crossings.lanes
    rank = np.arange(len(crossings)) - np.repeat(np.cumsum(counts) - counts, counts)
    points[lanes, rank] = np.concatenate([crossings.q, crossings.qd], axis=1)
    times[lanes, rank] = crossings.times
    return Bifurcation(parameter, grid, points, times, crossings)


def _grid(values: Any) -> np.ndarray:
    try:
        grid = np.asarray(as_array(values))
    except (TypeError, ValueError) as error:
        raise ValueError(f"`values` must be numbers, but {error}") from error
    if grid.ndim != 1 or not len(grid):
        raise ValueError(f"`values` must have shape (k,), k > 0, but has shape {grid.shape}")
    require_finite(grid, "values")
    return grid


def _varied(system: AbstractSystem, params: Params, path: str, grid: np.ndarray) -> dict[str, Any]:
    """Parameters by path, one of them with a value for every lane, each of them allowed."""
    base = match_params(params, system.params)
    leaf, _ = parameter_place(base, path)
    rows = [parameter_paths(replace_params(base, {path: value}))[leaf] for value in grid]
    return {**parameter_paths(base), leaf: np.stack([np.asarray(row) for row in rows])}
