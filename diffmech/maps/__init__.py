"""Grids of starts or designs: where a machine is stable by a criterion, and where that changes."""

from ._axes import Axis as Axis, axis_kind as axis_kind
from ._criteria import (
    AbstractCriterion as AbstractCriterion,
    Leaves as Leaves,
    Spread as Spread,
    Tumble as Tumble,
)
from ._growth_criteria import (
    FloquetStable as FloquetStable,
    Ftle as Ftle,
    MegnoBelow as MegnoBelow,
    SaliAbove as SaliAbove,
)
from ._map_files import load_map as load_map
from ._map_record import MapEdge as MapEdge, StabilityMap as StabilityMap
from ._stability_map import stability_map as stability_map
from ._verdicts import Verdict as Verdict
from ._zoom import zoom as zoom
