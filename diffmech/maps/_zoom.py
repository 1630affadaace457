"""A closer look at a part of a map."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._checks import as_count, require_kind
from .._suggest import quoted, suggestion
from ..motion import as_stabilisation
from ._map_record import StabilityMap
from ._stability_map import OPTIONS, stability_map


def zoom(
    record: StabilityMap, windows: Mapping[str, Any], *, points: int | None = None, **more: Any
) -> StabilityMap:
    """The same map again, finer, in a window.

        closer = dm.zoom(chart, {"qA": (1.2, 1.3)}, points=2001)

    Criterion, duration, start, parameters, `trust` and what was handed on to `ensemble` are those
    of the map; `accuracy` is not.

    Args:
        record: what `stability_map` returned.
        windows: (low, high) by name of an axis [the axis' unit]; axes left out keep their whole
            span, and must increase.
        points: along each axis, evenly spaced, shape (points,) or (points, points) in all; None
            means as many as the map has.
        more: as for `stability_map`: `accuracy`, `path`, `progress`, ..., which replace the map's.

    Returns:
        A new `StabilityMap`; every point of it is computed anew.

    Raises:
        ValueError: what is no map, an unknown axis, an empty window, or a map that was loaded
            without its criterion (pass `criterion=`) or machine.
    """
    require_kind(record, StabilityMap, "record", "what `stability_map` returns")
    names = [axis.name for axis in record.axes]
    for name in windows:
        if name not in names:
            raise ValueError(f"the map has no axis {quoted(name)}.{suggestion(str(name), names)}")
    criterion = more.pop("criterion", record.criterion)
    if criterion is None:
        raise ValueError(
            "the map was loaded from a file, which does not hold its criterion: pass `criterion=`"
        )
    axes = {}
    for axis in record.axes:
        low, high = windows.get(axis.name, (axis.grid[0], axis.grid[-1]))
        if axis.name in windows and not float(low) < float(high):
            raise ValueError(f"the window of `{axis.name}` must be (low, high), but is {low, high}")
        count = axis.grid.size if points is None else as_count(points, "points", 2)
        axes[axis.name] = np.linspace(float(low), float(high), count)
    settings = record.settings
    kept = {name: settings[name] for name in OPTIONS if settings.get(name) is not None}
    if "stabilise" in kept:
        kept["stabilise"] = as_stabilisation(kept["stabilise"])
    if kept.get("dt") is not None:
        kept = {name: kept[name] for name in kept if name not in ("rtol", "atol")}
    return stability_map(
        record.system,
        axes,
        criterion,
        settings["duration"],
        q0=settings["q0"],
        qd0=settings["qd0"],
        **{"trust": settings["trust"], **kept, **more},
    )
