"""Steps that shrink slowly, bent by what the last ones have shown.

Gauss and Newton's steps leave out how residuals bend. Where a long chaotic motion comes near a
tangency that counts: each step is then a constant share of the one before. From points x and the
steps p at them the curvature along the way is known,

    s = x' − x,   y = H⁻¹(g' − g) = p − p',   ⟨a, b⟩ = what a moves · what b moves

with H of Gauss and Newton's problem, and p is bent as in the limited-memory method of Broyden,
Fletcher, Goldfarb and Shanno (J. Nocedal, Math. Comp. 35 (1980) 773-782), with H in place of a
unit matrix.
"""

from collections.abc import Callable

import numpy as np

_SLOW = 0.3  # times the step before: below this nothing is to be gained
_DEPTH = 6  # steps that are kept
_LEAST = 1e-2  # of H: curvature along a step that is trusted


class Steps:
    """The last points of one guess, each with the plain step from there."""

    def __init__(self) -> None:
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []

    def clear(self) -> None:
        """Forget all."""
        self._kept = []

    def bent(
        self, x: np.ndarray, step: np.ndarray, moves: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray | None:
        """The step to take from x, shape (k,), in place of the plain one; None for that one.

        Args:
            moves: what a step moves, in units of the noise, shape (j,).
        """
        self._kept = [*self._kept, (x.copy(), step.copy())][-_DEPTH:]
        of_step = moves(step)
        if len(self._kept) < 2:
            return None
        if np.linalg.norm(of_step) < _SLOW * np.linalg.norm(moves(self._kept[-2][1])):
            return None
        pairs = []
        for (point, old), (next_point, new) in zip(self._kept, self._kept[1:], strict=False):
            s, y = next_point - point, old - new
            of_s, of_y = moves(s), moves(y)
            if of_s @ of_y > _LEAST * (of_s @ of_s):
                pairs.append((s, y, of_s, of_y, of_s @ of_y))
        better, of_better, factors = step, of_step, []
        for _, y, of_s, of_y, size in reversed(pairs):
            factor = float(of_s @ of_better / size)
            better, of_better = better - factor * y, of_better - factor * of_y
            factors.append(factor)
        for (s, _, of_s, of_y, size), factor in zip(pairs, reversed(factors), strict=True):
            change = factor - float(of_y @ of_better / size)
            better, of_better = better + change * s, of_better + change * of_s
        return better if pairs else None
