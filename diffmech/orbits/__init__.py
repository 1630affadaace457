"""Periodic motions: found, followed as families, their stability and the edges of its bands."""

from ._band_edges import band_edges as band_edges
from ._band_edges_record import BandEdges as BandEdges
from ._continuation import OrbitFamily as OrbitFamily, continue_orbit as continue_orbit
from ._floquet import Floquet as Floquet, floquet as floquet
from ._orbit import periodic_orbit as periodic_orbit
from ._orbit_record import PeriodicOrbit as PeriodicOrbit
