"""Grids of starts or designs: where a machine is stable by a criterion, and where that changes.

Criteria have a door of their own, `diffmech.criteria`.
"""

from ._abstract_criterion import CriterionWords as CriterionWords
from ._axes import Axis as Axis, axis_kind as axis_kind
from ._map_numbers import MapEdge as MapEdge
from ._map_record import StabilityMap as StabilityMap, load_map as load_map
from ._stability_map import stability_map as stability_map
from ._verdicts import Verdict as Verdict
from ._zoom import zoom as zoom
