"""What a machine does: where it is stable, periodic, chaotic; and where exactly that changes."""

from ._axes import Axis as Axis, axis_kind as axis_kind
from ._band_edges import band_edges as band_edges
from ._bifurcation import Bifurcation as Bifurcation, bifurcation as bifurcation
from ._continuation import OrbitFamily as OrbitFamily, continue_orbit as continue_orbit
from ._criteria import (
    AbstractCriterion as AbstractCriterion,
    Leaves as Leaves,
    Spread as Spread,
    Tumble as Tumble,
)
from ._edge_record import BandEdges as BandEdges
from ._exponents import Lyapunov as Lyapunov
from ._floquet import Floquet as Floquet, floquet as floquet
from ._growth_criteria import (
    Alignment as Alignment,
    Ftle as Ftle,
    MeanGrowth as MeanGrowth,
    Multipliers as Multipliers,
)
from ._lyapunov import lyapunov as lyapunov
from ._map_files import load_map as load_map
from ._map_record import Edge as Edge, StabilityMap as StabilityMap
from ._orbit import PeriodicOrbit as PeriodicOrbit, periodic_orbit as periodic_orbit
from ._poincare import poincare as poincare
from ._section import Section as Section, return_times as return_times
from ._stability_map import stability_map as stability_map
from ._verdicts import Verdict as Verdict
from ._winding import winding_number as winding_number
from ._zoom import zoom as zoom
