"""What a map holds: its axes, what was measured and judged on them, and its edges."""

from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from ..model import AbstractSystem
from ..motion import Likeness
from ._abstract_criterion import CriterionWords
from ._axes import Axis
from ._verdicts import Verdict


class MapEdge(NamedTuple):
    """Where the verdict changes along the axis of a map with one axis.

        place = (a + b)/2,   width = b − a,   a < b

    a is the last point looked at with the verdict `before`, b the first with another one.

    Attributes:
        place: on the axis [the axis' unit].
        width: at most the map's `accuracy`, or as narrow as numbers allow [the axis' unit]; the
            motions' integration error, which moves a and b, comes on top.
        before, after: the verdicts at a and b, with the axis' values increasing. `before` is STABLE
            or UNSTABLE; `after` is the other one, or UNDECIDED or FAILED where such a point turned
            up between them.
    """

    place: float
    width: float
    before: Verdict
    after: Verdict


class MapNumbers(eqx.Module):
    """All that a map holds; `StabilityMap` says what each is, and adds what it can do."""

    axes: tuple[Axis, ...]
    values: np.ndarray
    verdicts: np.ndarray
    energy_error: np.ndarray
    status: np.ndarray
    edges: tuple[MapEdge, ...] | None
    settings: dict[str, Any]
    system: AbstractSystem
    criterion: Any = None
    running: float = 0.0
    likeness: Likeness | None = None
    indefinite: int = 0
    words: CriterionWords = CriterionWords()

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many points have each verdict."""
        return {kind: int(np.sum(self.verdicts == kind)) for kind in Verdict}

    @property
    def complete(self) -> bool:
        """Whether every point was computed."""
        return not np.any(self.verdicts == Verdict.MISSING)

    @property
    def share_failed(self) -> float:
        """Which part of the points failed."""
        return self.counts[Verdict.FAILED] / max(self.verdicts.size, 1)
