"""Small symmetric systems, written out: M = L D Lᵀ on a tape."""

from typing import Any

import numpy as np

from ._shapes import Registers
from ._tape import Register, Tape
from ._unknown import NotScalar


class Factors:
    """L D Lᵀ of a symmetric matrix of registers, shape (n, n), of which the lower half is read.

    Without exchange of rows: right for definite matrices and wherever no leading minor vanishes.
    """

    def __init__(self, tape: Tape, matrix: Registers):
        n = len(matrix)
        self._tape = tape
        self._lower: list[list[Register]] = [[0] * n for _ in range(n)]
        self.pivots: list[Register] = []
        self._inverse: list[Register] = []
        one = tape.constant(1.0)
        for j in range(n):
            # Lᵢₖ Dₖ is needed twice: once for the pivot, once for the rows below.
            scaled = [tape.operate("mul", self._lower[j][k], self.pivots[k]) for k in range(j)]
            pivot = self._less(int(matrix[j, j]), self._lower[j][:j], scaled)
            if tape.is_constant(pivot) and tape.value(pivot) == 0:
                raise NotScalar(
                    "the mass matrix has a zero pivot for every state, so it is not factorised "
                    "in scalar form"
                )
            self.pivots.append(pivot)
            self._inverse.append(tape.operate("div", one, pivot))
            for i in range(j + 1, n):
                rest = self._less(int(matrix[i, j]), self._lower[i][:j], scaled)
                self._lower[i][j] = tape.operate("mul", rest, self._inverse[j])

    def _less(self, start: Register, xs: list[Register], ys: list[Register]) -> Register:
        for x, y in zip(xs, ys, strict=True):
            start = self._tape.operate("sub", start, self._tape.operate("mul", x, y))
        return start

    def solve(self, right: Any) -> Registers:
        """x with M x = b, both of shape (n,)."""
        n = len(self.pivots)
        y: list[Register] = []
        for i in range(n):
            y.append(self._less(int(right[i]), self._lower[i][:i], y))
        x: list[Register] = [0] * n
        for i in reversed(range(n)):
            start = self._tape.operate("mul", y[i], self._inverse[i])
            x[i] = self._less(start, [self._lower[k][i] for k in range(i + 1, n)], x[i + 1 :])
        return np.array(x, dtype=np.int64)
