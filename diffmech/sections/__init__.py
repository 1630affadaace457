"""Motions seen where they cross a section: Poincaré maps, return times, bifurcations, winding."""

from ._bifurcation import Bifurcation as Bifurcation, bifurcation as bifurcation
from ._poincare import poincare as poincare
from ._section_record import PoincareSection as PoincareSection, return_times as return_times
from ._sections import (
    AbstractSection as AbstractSection,
    Plane as Plane,
    Strobe as Strobe,
    Surface as Surface,
)
from ._winding import winding_number as winding_number
