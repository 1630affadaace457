"""Starts and rates of which only some coordinates are given, by name."""

from collections.abc import Mapping
from typing import Any

from ._abstract_system import AbstractSystem


def rest_zero(system: AbstractSystem, given: Any) -> Any:
    """A mapping by name with zeros for the coordinates that it leaves out; all else as it is.

    For starts, guesses and rates that are zero where none are given at all.
    """
    if not isinstance(given, Mapping) or not isinstance(system, AbstractSystem):
        return given
    return {**dict.fromkeys(system.coordinates, 0.0), **given}
