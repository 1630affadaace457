"""The equations of motion as a list of scalar operations, solved for the accelerations."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .._typing import Params
from ..model import ExplicitLaws, Laws
from ..scalars import Factors, Register, Registers, Tape, collected, elementwise, unknowns, write
from ._constrained import scaled_rows, wanted_of
from ._constraint_rows import rows_of
from ._euler_lagrange import mass_and_bias_of, mass_matrix_of
from ._kkt_tape import KktFactors
from ._stabilise import AbstractStabilisation


class ScalarMotion:
    """q̈ and λ on a tape, and how they are found.

    Attributes:
        qdd, multipliers: of shapes (n,) and (m,).
        condition: of the mass matrix.
        mass, bias: M, shape (n, n), of which the lower half counts, and b; empty for explicit
            equations.
        rows, wanted: rows of constraints, scaled, and J q̈ as they want it, (m, n) and (m,).
        pivots, diagonal: of M + RᵀR, which is definite if T > 0 for all admissible rates.
        sizes: by which rows are to be scaled, shape (m,); `roots` is by what they are.
    """

    def __init__(
        self,
        tape: Tape,
        laws: Laws | ExplicitLaws,
        q: Registers,
        qd: Registers,
        t: Registers,
        params: Params,
        gains: AbstractStabilisation | None = None,
        *,
        held: bool = False,
    ):
        """Write them for arguments in given registers.

        Args:
            gains: of a stabilisation by feedback, or None.
            held: whether rows are scaled by what they were at the start of a run, so that `roots`
                are inputs; else they are `sizes`.
        """
        self.tape, self.laws = tape, laws
        self._state = q, qd, t, params
        self._solve: Callable[[Registers, Registers], tuple[Registers, Registers]]
        self.sizes = self.roots = self.wanted = np.zeros(0, dtype=np.int64)
        self.mass = np.zeros((0, 0), dtype=np.int64)
        self.bias = np.zeros(0, dtype=np.int64)
        self.rows = np.zeros((0, len(q)), dtype=np.int64)
        self.pivots: list[Register] = []
        self.diagonal = np.zeros(0, dtype=np.int64)
        if isinstance(laws, ExplicitLaws):
            self.qdd = self.write(laws.acceleration)
            self.multipliers = np.zeros(0, dtype=np.int64)
            self.condition = tape.constant(1.0)
        elif laws.constraints:
            self._write_constrained(laws, gains, held)
        else:
            self._write_free(laws)

    def write(self, function: Callable[..., Any], *more: Any) -> Any:
        """A function of (q, q̇, t, params, ...)."""
        return write(self.tape, function, *self._state, *more)

    def collected(self, tree: Any, *more: Any) -> Any:
        """The same expressions in fewer operations; symmetric halves are written once."""
        q, qd, t, _ = self._state
        leaves, structure = jax.tree.flatten(tree)
        flat = collected(
            self.tape,
            np.concatenate([leaf.ravel() for leaf in leaves]),
            [*q, *qd, t, *more],
            far=[*q, t],
        )
        parts = np.split(flat, np.cumsum([leaf.size for leaf in leaves])[:-1])
        shaped = [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]
        return jax.tree.unflatten(structure, shaped)

    def kkt_factors(self, mass: Registers, rows: Registers) -> KktFactors:
        """The factorised KKT system of another state, from its M and its scaled rows."""
        return KktFactors(
            self.tape, Factors(self.tape, self._definite(mass, rows)), rows, self.roots
        )

    def solve(self, load: Registers, right: Registers) -> tuple[Registers, Registers]:
        """q̈ and λ with M q̈ − Jᵀλ = load, J q̈ = right."""
        return self._solve(load, right)

    def _definite(self, mass: Registers, rows: Registers) -> Registers:
        """M + RᵀR; the lower half."""
        result, n = mass.copy(), len(mass)
        for i in range(n):
            for j in range(i + 1):
                products = (self.tape.operate("mul", int(row[i]), int(row[j])) for row in rows)
                result[i, j] = self.tape.operate("add", int(mass[i, j]), self.tape.total(products))
        return result

    def _write_free(self, laws: Laws) -> None:
        """M q̈ = −b."""
        self.mass, self.bias = self.collected(
            self.write(lambda *state: mass_and_bias_of(laws, *state))
        )
        factors = Factors(self.tape, self.mass)
        nothing = np.zeros(0, dtype=np.int64)
        self._solve = lambda load, right: (factors.solve(load), nothing)
        self.qdd, self.multipliers = self._solve(self._minus(self.bias), nothing)
        self.condition = _condition(self.tape, self.mass, factors)
        self.pivots, self.diagonal = factors.pivots, np.diagonal(self.mass)

    def _write_constrained(
        self, laws: Laws, gains: AbstractStabilisation | None, held: bool
    ) -> None:
        """M q̈ − Jᵀλ = −b, J q̈ = −c."""

        def terms(q: Any, qd: Any, t: Any, params: Any, roots: Any, gains: Any) -> Any:
            mass, bias = mass_and_bias_of(laws, q, qd, t, params)
            rows = rows_of(laws, q, qd, t, params)
            wanted = wanted_of(laws, rows, q, t, params, gains)
            return mass, roots[:, None] * rows.jacobian, bias, wanted

        self.sizes = self.write(
            lambda q, qd, t, params: (
                scaled_rows(laws, mass_matrix_of(laws, q, qd, t, params), q, t, params).roots
            )
        )
        self.roots = unknowns(self.tape, np.zeros(self.sizes.shape)) if held else self.sizes
        self.mass, self.rows, self.bias, self.wanted = self.collected(
            self.write(terms, self.roots, gains)
        )
        mass = self._definite(self.mass, self.rows)
        factors = Factors(self.tape, mass)
        self.pivots, self.diagonal = factors.pivots, np.diagonal(mass)
        self._solve = KktFactors(self.tape, factors, self.rows, self.roots).solve
        self.qdd, self.multipliers = self._solve(self._minus(self.bias), self.wanted)
        self.condition = _condition(self.tape, mass, factors)

    def _minus(self, registers: Registers) -> Registers:
        return elementwise(self.tape, "neg", registers)


def _condition(tape: Tape, mass: Registers, factors: Factors) -> Register:
    """max |Mᵢᵢ / Dᵢ|: how much of a diagonal entry elimination has left."""
    worst = tape.constant(1.0)
    for i, pivot in enumerate(factors.pivots):
        share = tape.operate("abs", tape.operate("div", int(mass[i, i]), pivot))
        worst = tape.operate("max", worst, share)
    return worst
