"""The record of where a family of periodic motions changes its stability."""

from typing import Any

import equinox as eqx
import numpy as np

from .._printing import aligned
from .._typing import AnyArray, Params
from .._units import unit_after
from ..model import AbstractSystem, parameter_paths

_SHOWN = 6  # bands that are printed


class BandEdges(eqx.Module):
    """Where the periodic motions of a family become unstable, and stable again.

    Attributes:
        values: the edges on the family's axis, increasing, shape (k,) [`unit`].
        opens: whether the motion becomes unstable there as the value grows, shape (k,).
        kinds: how multipliers leave the unit circle at each edge, k of them: "+1" (f₊ = 0), "-1"
            (f₋ = 0), "collision" (of two pairs on the circle, f_D = 0), "complex pair"
            (Neimark-Sacker, f_NS = 0), of the map named by `map`, f as in `band_edges`; or "fold",
            where the motion meets another one and both cease to exist.
        touches: values where the function of an edge touches zero without crossing, or crosses it
            without consequence: not edges; shape (touches,) [`unit`].
        inner: values inside of unstable bands where the number of unstable multipliers changes,
            shape (inner,) [`unit`].
        bands: (low, high, stable?) from the first orbit to the last [`unit`]; a gap where there was
            none.
        derivatives: d(edge)/d(parameter) by path, each of shape (k, *shape of the parameter)
            [`unit` per unit of the parameter]; NaN at a degenerate edge, which has none.
        family: the coordinate (at rest at the edge's value) or the parameter.
        unit: of the values, SI, as in "rad"; "" if unknown.
        map: "half turn" (M = H²; each multiplier of M is the square of one that decides), "whole
            turn" or "period".
        grid: values of the scan, shape (points,) [`unit`].
        edge_functions: f₊, f₋ and, with enough multipliers, f_D or f_NS at each [-], shape
            (points, 2 or 3); NaN where no orbit was found.
        periods: of the orbits at the edges, shape (k,) [s].
        params, system, rtol: what was asked of.
    """

    values: AnyArray
    opens: AnyArray
    kinds: tuple[str, ...] = eqx.field(static=True)
    touches: AnyArray
    inner: AnyArray
    bands: tuple[tuple[float, float, bool], ...] = eqx.field(static=True)
    derivatives: dict[str, AnyArray]
    family: str = eqx.field(static=True)
    unit: str = eqx.field(static=True)
    map: str = eqx.field(static=True)
    grid: AnyArray
    edge_functions: AnyArray
    periods: AnyArray
    params: Params
    system: AbstractSystem
    rtol: AnyArray

    def _with_unit(self, value: float) -> str:
        if self.unit == "rad":
            return f"{np.rad2deg(value):.6f}°"
        return f"{value:.9g}{unit_after(self.unit)}"

    def summary(self) -> dict[str, Any]:
        """The edges in short, of numbers and words only; angles in degrees."""
        scale = float(np.rad2deg(1.0)) if self.unit == "rad" else 1.0
        return {
            "system": self.system.name,
            "family": self.family,
            "unit": "deg" if self.unit == "rad" else self.unit,
            "edges": [
                {
                    "value": scale * float(value),
                    "opens": bool(opens),
                    "kind": kind,
                    "period": float(period),
                    "derivatives": {
                        path: _plain(scale * np.asarray(slope)[i])
                        for path, slope in self.derivatives.items()
                    },
                }
                for i, (value, opens, kind, period) in enumerate(
                    zip(self.values, self.opens, self.kinds, self.periods, strict=True)
                )
            ],
            "bands": [
                {"from": scale * low, "to": scale * high, "stable": stable}
                for low, high, stable in self.bands
            ],
            "touches": [scale * float(value) for value in self.touches],
            "map": self.map,
            "rtol": float(self.rtol),
        }

    def slope_lines(self) -> list[str]:
        """How far each edge moves for one percent more of each parameter, as text."""
        if not len(self.values):
            return []
        rows = [
            f"  {name:<12}" + "".join(f"{value:>14.6f}" for value in values)
            for name, values in self.per_percent().items()
        ]
        unit = "deg" if self.unit == "rad" else self.unit or "-"
        return [f"edges move, for one percent more of a parameter, by [{unit}]", *rows]

    def per_percent(self) -> dict[str, np.ndarray]:
        """0.01 p d(edge)/dp of every parameter that is not zero, by path, shape (k,).

        Angles in degrees. Entries of arrays count one by one, as `masses[1]`.
        """
        scale = float(np.rad2deg(1.0)) if self.unit == "rad" else 1.0
        shifts = {}
        for path, leaf in parameter_paths(self.params).items():
            numbers = np.asarray(leaf)
            for index in np.ndindex(numbers.shape):
                if numbers[index]:
                    entry = f"{path}[{','.join(map(str, index))}]" if index else path
                    slope = np.asarray(self.derivatives[path])[(slice(None), *index)]
                    shifts[entry] = 0.01 * scale * numbers[index] * slope
        return shifts

    def __str__(self) -> str:
        edges = [
            f"{self._with_unit(value)} {'opens' if opens else 'closes'} ({kind})"
            for value, opens, kind in zip(self.values, self.opens, self.kinds, strict=True)
        ]
        bands = [
            f"{'stable' if stable else 'unstable'} "
            f"{self._with_unit(low)} to {self._with_unit(high)}"
            for low, high, stable in self.bands
        ]
        lost = int(np.sum(~np.isfinite(np.asarray(self.edge_functions)[:, 0])))
        gaps = f", no orbit at {lost}" if lost else ""
        none = "none found where there was an orbit; nothing is known elsewhere"
        touches = ", ".join(self._with_unit(float(value)) for value in self.touches)
        scan = (
            f"{len(self.grid)} values from {self._with_unit(float(self.grid[0]))} to "
            f"{self._with_unit(float(self.grid[-1]))}{gaps}; map of a {self.map}; "
            f"rtol {float(self.rtol):g}"
        )
        rows = [
            ("edges", _listed(edges) or (none if lost else "none found")),
            ("bands", _listed(bands) or "no periodic motion found"),
            ("touches", touches or "none"),
            ("scan", scan),
        ]
        return aligned(rows, f"band edges of {self.system.name} along {self.family}")


def _plain(array: Any) -> Any:
    """Nested lists of numbers; None for what is not finite."""
    if array.ndim:
        return [_plain(entry) for entry in array]
    return float(array) if np.isfinite(array) else None


def _listed(items: list[str]) -> str:
    more = f", and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more
