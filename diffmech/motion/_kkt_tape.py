"""The KKT system on a tape, in scalar operations: M̃ x − Rᵀμ = load, R x = right.

The same solution as `solve_kkt`, for scalars: rows scaled to unit size, M̃ = M + RᵀR, the
complement lifted by a small number and refined.
"""

import numpy as np

from ..scalars import Factors, Register, Registers, Tape, constants, elementwise
from ._kkt import REFINEMENTS, REGULARISATION


class KktFactors:
    """The factorised KKT system [[M̃, −Rᵀ], [R, 0]] of one state, in registers.

    Args:
        factors: of M̃ = M + RᵀR, shape (n, n).
        rows: R, the constraint rows scaled to unit size, shape (m, n).
        roots: by which they were scaled, shape (m,).
    """

    def __init__(self, tape: Tape, factors: Factors, rows: Registers, roots: Registers):
        self._tape, self._factors, self._rows, self._roots = tape, factors, rows, roots
        self._carried = [factors.solve(row) for row in rows]
        m = len(rows)
        square = np.array(
            [[self._dot(rows[i], self._carried[j]) for j in range(m)] for i in range(m)],
            dtype=np.int64,
        ).reshape(m, m)
        self._square = square
        lifted = square.copy()
        small = tape.constant(REGULARISATION)
        for i in range(m):
            lifted[i, i] = tape.operate("add", int(square[i, i]), small)
        self._inner = Factors(tape, lifted)

    def _dot(self, x: Registers, y: Registers) -> Register:
        return self._tape.total(
            self._tape.operate("mul", int(a), int(b)) for a, b in zip(x, y, strict=True)
        )

    def _combine(self, start: Registers, forces: Registers, columns: list[Registers]) -> Registers:
        for force, column in zip(forces, columns, strict=True):
            start = elementwise(
                self._tape, "add", start, elementwise(self._tape, "mul", force, column)
            )
        return start

    def solve(self, load: Registers, right: Registers) -> tuple[Registers, Registers]:
        """q̈ and λ with M q̈ − Jᵀλ = load, J q̈ = right."""
        tape = self._tape
        right = elementwise(tape, "mul", self._roots, right)
        free = self._factors.solve(self._combine(load, right, list(self._rows)))
        onto = np.array([self._dot(row, free) for row in self._rows], dtype=np.int64)
        wanted = elementwise(tape, "sub", right, onto)
        forces = self._inner.solve(wanted)
        for _ in range(REFINEMENTS):
            response = np.array([self._dot(row, forces) for row in self._square], dtype=np.int64)
            remainder = elementwise(tape, "sub", wanted, response)
            forces = elementwise(tape, "add", forces, self._inner.solve(remainder))
        qdd = self._combine(free, forces, self._carried)
        return qdd, elementwise(tape, "mul", self._roots, forces)

    def smallest(self, residual: Registers) -> Registers:
        """The smallest change in the metric of M that changes the rows' functions by `residual`."""
        forces = self._inner.solve(elementwise(self._tape, "mul", self._roots, residual))
        zeros = constants(self._tape, np.zeros(self._rows.shape[1]))
        return self._combine(zeros, forces, self._carried)
