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

    Attributes:
        place: on the axis, in its unit: half way between the last point with the one verdict and
            the first with the other.
        width: how far these two are apart, in the axis' unit; the motions' integration error, which
            moves both, comes on top.
        before, after: the verdicts on its two sides, with the axis' values increasing.
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
