"""Edges of a one-dimensional map, by cutting the gaps between points ever finer."""

from collections.abc import Callable

import numpy as np

from ._map_numbers import MapEdge
from ._verdicts import Verdict

_CUTS = 15  # points inside each gap in one pass: four halvings


def refined_edges(
    grid: np.ndarray,
    verdicts: np.ndarray,
    accuracy: float,
    judge: Callable[[np.ndarray], np.ndarray],
) -> tuple[MapEdge, ...]:
    """Every place where the verdict changes between stable and unstable, to `accuracy`.

    Where a gap turns out to hold several changes, the first is followed. `judge` gives the verdicts
    of points anywhere on the axis.
    """
    if grid.size > 1 and grid[0] > grid[-1]:
        grid, verdicts = grid[::-1], verdicts[::-1]
    sides = np.stack([verdicts[:-1], verdicts[1:]], axis=1)
    plain = np.all((sides == Verdict.STABLE) | (sides == Verdict.UNSTABLE), axis=1)
    at = np.flatnonzero(plain & (sides[:, 0] != sides[:, 1]))
    low, high, first, last = grid[at], grid[at + 1], sides[at, 0], sides[at, 1]
    while at.size and np.max(high - low) > accuracy:
        parts = np.linspace(0, 1, _CUTS + 2)
        points = low[:, None] + (high - low)[:, None] * parts
        if np.any(points[:, 1] <= points[:, 0]):
            break  # as close as numbers get
        along = np.concatenate(
            [
                first[:, None],
                judge(points[:, 1:-1].ravel()).reshape(-1, _CUTS),
                last[:, None],
            ],
            axis=1,
        )
        change = np.argmax(along != first[:, None], axis=1)
        rows = np.arange(at.size)
        low, high = points[rows, change - 1], points[rows, change]
        last = along[rows, change]
    return tuple(
        MapEdge(float(0.5 * (a + b)), float(b - a), Verdict(int(s)), Verdict(int(e)))
        for a, b, s, e in zip(low, high, first, last, strict=True)
    )
