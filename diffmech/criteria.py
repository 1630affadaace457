"""What counts as stable: `dm.stability_map(system, axes, dm.criteria.Tumble("qB"), duration)`."""

from .maps import (
    AbstractCriterion as AbstractCriterion,
    FloquetStable as FloquetStable,
    Ftle as Ftle,
    Leaves as Leaves,
    MegnoBelow as MegnoBelow,
    SaliAbove as SaliAbove,
    Spread as Spread,
    Tumble as Tumble,
)
