"""What counts as stable: `dm.stability_map(system, axes, dm.criteria.Tumble("qB"), duration)`.

The library's criteria, by the word that the command line takes. Names and texts are plain strings,
so that listing them loads nothing; a criterion of one's own needs no line here.
"""

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .maps._abstract_criterion import (
        AbstractCriterion as AbstractCriterion,
        by_limits as by_limits,
    )
    from .maps._criteria import Leaves as Leaves, Spread as Spread, Tumble as Tumble
    from .maps._growth_criteria import (
        FloquetStable as FloquetStable,
        Ftle as Ftle,
        MegnoBelow as MegnoBelow,
        SaliAbove as SaliAbove,
    )


class Listed(NamedTuple):
    """A criterion as the list has it.

    Attributes:
        name: of its class.
        file: of the room `maps`.
        usage: how it is written on the command line, with numbers that make sense.
        text: what is unstable by it, in one line.
    """

    name: str
    file: str
    usage: str
    text: str


CATALOGUE = {
    "tumble": Listed("Tumble", "_criteria", "tumble:qB=90deg", "a coordinate reaches a bound"),
    "spread": Listed(
        "Spread",
        "_criteria",
        "spread:qB=0.5deg,limit=1",
        "a second start this far off is further off in the end",
    ),
    "ftle": Listed(
        "Ftle", "_growth_criteria", "ftle:calm=100,wild=1e4", "growth of a small difference"
    ),
    "megno": Listed(
        "MegnoBelow",
        "_growth_criteria",
        "megno:regular=3,chaotic=5",
        "mean exponential growth of nearby orbits",
    ),
    "multipliers": Listed(
        "FloquetStable",
        "_growth_criteria",
        "multipliers",
        "Floquet's; --duration is the period of the drive",
    ),
    "sali": Listed(
        "SaliAbove",
        "_growth_criteria",
        "sali:apart=1e-4,aligned=1e-8",
        "alignment of two small differences",
    ),
}
_FILES = {
    "AbstractCriterion": "_abstract_criterion",
    "by_limits": "_abstract_criterion",
    "Leaves": "_criteria",  # what a function is made into; the command line takes no functions
    **{entry.name: entry.file for entry in CATALOGUE.values()},
}


def __getattr__(name: str) -> Any:
    if name in _FILES:
        value = getattr(importlib.import_module(f"{__package__}.maps.{_FILES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"there is no criterion {name!r}; there are {', '.join(_FILES)}")


def __dir__() -> list[str]:
    return ["CATALOGUE", *_FILES]


def named(word: str) -> "type[AbstractCriterion]":
    """The class of a criterion, by its word in `CATALOGUE`."""
    return __getattr__(CATALOGUE[word].name)
