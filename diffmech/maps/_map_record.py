"""A map: how it prints itself, and goes to a file and back."""

from pathlib import Path
from typing import Any

import numpy as np

from .._printing import aligned
from .._records import write_csv
from .._units import unit_after
from ..lanes import indefinite_rows
from ..model import AbstractSystem
from ._axes import Axis
from ._map_files import fields_on_file, write_map
from ._map_numbers import MapEdge, MapNumbers


class StabilityMap(MapNumbers):
    """Where a machine is stable by a criterion, and where it is not.

    Attributes:
        axes: one or two `Axis`: name, unit, grid.
        values: what the criterion measures, shape of the grid; NaN where there is nothing.
        verdicts: as `Verdict`, shape of the grid.
        energy_error: max |h − h₀ − W| / max(T, |W|) of each motion, shape of the grid.
        status: how each motion ended, as `Status`, shape of the grid.
        indefinite: at how many points a motion starts with a mass matrix that is not positive
            definite: not motions of real masses.
        edges: where verdicts change, refined (one axis only); None if that was not asked for.
        settings: everything that influences the numbers, the criterion included.
        system: the machine, with the parameters of the map.
        criterion: the criterion itself; None in a map that was loaded.
        words: what the map says of its criterion, in a map that was loaded, too.
        running: wall-clock time [s]; never saved.
        likeness: how the machine moves at a few states, by which a file knows it again; None if
            the map was not written yet.
    """

    def summary(self) -> dict[str, Any]:
        """The map in short, of numbers and words only."""
        return {
            "system": self.system.name,
            "axes": {
                axis.name: {
                    "unit": axis.unit,
                    "from": float(axis.grid[0]),
                    "to": float(axis.grid[-1]),
                    "count": int(axis.grid.size),
                }
                for axis in self.axes
            },
            "verdicts": {kind.name.lower(): count for kind, count in self.counts.items()},
            "indefinite": self.indefinite,
            "edges": None
            if self.edges is None
            else [
                {
                    "place": edge.place,
                    "width": edge.width,
                    "before": edge.before.name.lower(),
                    "after": edge.after.name.lower(),
                }
                for edge in self.edges
            ],
            "criterion": {"measures": self.words.measures, "stable": self.words.stable},
            "settings": self.settings,
        }

    def __str__(self) -> str:
        total = max(self.verdicts.size, 1)
        shares = ", ".join(
            f"{100 * count / total:.3g} % {kind.name.lower()}"
            for kind, count in self.counts.items()
            if count
        )
        known = self.energy_error[np.isfinite(self.energy_error)]
        rows = [("axis", span(axis)) for axis in self.axes]
        rows.append(("criterion", _in_brief(self.settings["criterion"])))
        if self.words.stable:
            rows.append(("stable", self.words.stable))
        rows.append(("verdicts", shares))
        if known.size:
            half, most = float(np.median(known)), float(np.max(known))
            rows.append(
                ("energy", f"balances to {half:.1e} (half of the points), {most:.1e} (all)")
            )
        rows += indefinite_rows(self.indefinite)
        if self.edges is not None:
            rows += _edge_rows(self.edges, self.axes[0], self.settings)
        if self.running:
            each = 1e6 * self.running / total
            rows.append(("time", f"{self.running:.3g} s in all, {each:.3g} us a motion"))
        shape = " x ".join(map(str, self.verdicts.shape))
        title = f"{self.system.name}: {shape} motions of {self.settings['duration']:g} s"
        return aligned(rows, title)

    def to_csv(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """One row a point: places on the axes, value, verdict (as number), energy error, status."""
        grids = np.meshgrid(*(axis.grid for axis in self.axes), indexing="ij")
        columns = [*grids, self.values, self.verdicts, self.energy_error, self.status]
        header = [*(axis.name for axis in self.axes), "value", "verdict", "energy_error", "status"]
        return write_csv(path, header, [column.ravel() for column in columns], overwrite=overwrite)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the map to a checksummed `.npz`, all of it or nothing."""
        return write_map(self, path, overwrite=overwrite)


def read_map(path: str | Path, system: AbstractSystem | None = None) -> tuple[StabilityMap, int]:
    """A map written by `write_map`, and how many of its points are computed."""
    fields, done = fields_on_file(path, system)
    return StabilityMap(**fields), done


def load_map(path: str | Path, system: AbstractSystem | None = None) -> StabilityMap:
    """Read a map written by `StabilityMap.save`.

    Checksums are verified and nothing in the file is executed. Without its machine the map can be
    drawn and read, but not zoomed into.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, or another machine; the reason is said.
    """
    return read_map(path, system)[0]


def shown(value: float, unit: str) -> str:
    """A number with its unit; angles in degrees."""
    if unit == "rad":
        return f"{np.degrees(value):.8g} deg"
    return f"{value:.8g}{unit_after(unit)}"


def span(axis: Axis) -> str:
    """An axis in words: from where to where, and how many values."""
    low, high = (shown(float(axis.grid[i]), axis.unit) for i in (0, -1))
    return f"{axis.name} from {low} to {high}, {axis.grid.size} values"


def _in_brief(about: dict[str, Any]) -> str:
    rest = ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in about.items()
        if key != "criterion"
    )
    return f"{about['criterion']} ({rest})" if rest else str(about["criterion"])


_MOST_LISTED = 8  # edges


def _edge_rows(
    edges: tuple[MapEdge, ...], axis: Axis, settings: dict[str, Any]
) -> list[tuple[str, str]]:
    """How many edges there are and how well they are known, and each of them if they are few."""
    if not edges:
        return [("edges", "none")]
    widest = max(edge.width for edge in edges)
    step = settings.get("dt")
    pace = f"rtol {settings['rtol']:g}" if step is None else f"dt {step:g} s"
    summary = (
        f"{len(edges)}, bisected to {shown(widest, axis.unit)}; the integration's error at {pace} "
        "comes on top"
    )
    listed = [
        f"{shown(edge.place, axis.unit)}: {edge.before.name.lower()} below, "
        f"{edge.after.name.lower()} above"
        for edge in (edges if len(edges) <= _MOST_LISTED else ())
    ]
    return [("edges", summary), *(("", text) for text in listed)]
