"""A machine's equations on a tape: accelerations, tangents, the way back to the constraints."""

from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np

from .._typing import Params
from ..model import ExplicitLaws, Laws
from ..motion import (
    CORRECTIONS,
    AbstractStabilisation,
    Projection,
    ScalarMotion,
    jacobian_of,
    mass_and_bias_of,
    mass_matrix_of,
    power_with,
    rate_residual_of,
    residual_of,
    rows_of,
    wanted_of,
)
from ..scalars import (
    Register,
    Registers,
    Tape,
    constants,
    elementwise,
    unknowns,
    varying_registers,
    write,
)

# The values of parameters that are written into the equations, leaf by leaf; None stays free.
Fixed = tuple[tuple[float, ...] | None, ...]


class Layout(NamedTuple):
    """What stands where in a state: (q, q̇), (δq, δq̇) of every tangent, the work."""

    n: int
    tangents: int
    work: bool

    def pair(self, y: Any, i: int) -> tuple[Any, Any]:
        """(q, q̇) for i = 0, (δq, δq̇) of the i-th tangent from 1 on."""
        start = 2 * self.n * i
        return y[start : start + self.n], y[start + self.n : start + 2 * self.n]

    def pairs(self, y: Any) -> list[tuple[Any, Any]]:
        """(q, q̇), and every (δq, δq̇)."""
        return [self.pair(y, i) for i in range(1 + self.tangents)]


class Equations:
    """Registers of everything that lanes evaluate; `fixed` parameters are numbers on the tape.

    Attributes:
        inputs: of q, q̇, every δq and δq̇; `t`, `params` and `gains` beside them.
        rates: dy/dt for a state y as laid out.
        target: the nearest state on the constraints, without the work; empty if not wanted.
        condition: of the mass matrix.
        mass, rows: M, shape (n, n), and the scaled rows of constraints, (m, n); both empty for
            explicit equations. `pivots` and `diagonal`: of M + RᵀR, which is definite if T > 0 for
            all admissible rates.
        sizes: what `roots` must be given at the start of a lane, shape (m,).
    """

    def __init__(
        self,
        laws: Laws | ExplicitLaws,
        layout: Layout,
        params: Params,
        stabilise: AbstractStabilisation | None,
        fixed: Fixed = (),
    ):
        n = layout.n
        self.tape = Tape()
        self.laws = laws
        # The gains of a stabilisation are numbers beside the parameters: they do not recompile.
        self.q, self.qd, self.t, self.params, self.gains = unknowns(
            self.tape, (np.zeros(n), np.zeros(n), np.zeros(()), params, stabilise)
        )
        if fixed:
            leaves, structure = jax.tree.flatten(self.params)
            kept = [
                places if values is None else constants(self.tape, np.reshape(values, places.shape))
                for places, values in zip(leaves, fixed, strict=True)
            ]
            self.params = jax.tree.unflatten(structure, kept)
        # Rows of constraints are scaled by their sizes at the start of each lane, once and for all.
        motion = ScalarMotion(
            self.tape, laws, self.q, self.qd, self.t, self.params, self.gains, held=True
        )
        self._motion, self._write, self._collected = motion, motion.write, motion.collected
        self.qdd, self.multipliers, self.condition = (
            motion.qdd,
            motion.multipliers,
            motion.condition,
        )
        self.mass, self.rows, self.sizes, self.roots = (
            motion.mass,
            motion.rows,
            motion.sizes,
            motion.roots,
        )
        self.pivots, self.diagonal = motion.pivots, motion.diagonal
        pairs = [unknowns(self.tape, (np.zeros(n), np.zeros(n))) for _ in range(layout.tangents)]
        self.inputs: list[Any] = [*self.q, *self.qd]
        self.rates: list[Any] = [*self.qd, *self.qdd]
        for dq, dqd in pairs:
            self.inputs += [*dq, *dqd]
            self.rates += [*dqd, *self._tangent(dq, dqd)]
        if layout.work:
            self.rates.append(self._power())
        self.target: list[Any] = []
        if isinstance(stabilise, Projection):
            q, qd, turned = self._projected(pairs)
            self.target = [*q, *qd, *(p for pair in turned for part in pair for p in part)]

    @cached_property
    def operations(self) -> int:
        """Scalar operations of one evaluation of the rates, without those done once a run."""
        return self._varying(self.rates)

    @cached_property
    def operations_of_target(self) -> int:
        """The same of the way back to the constraints."""
        return self._varying(self.target)

    def _varying(self, places: list[Any]) -> int:
        inputs = [int(place) for place in (*self.inputs, self.t)]
        return len(varying_registers(self.tape, places, inputs).difference(inputs))

    def _power(self) -> Register:
        """dh/dt [W]."""
        power = self._write(
            lambda q, qd, t, params, forces: power_with(self.laws, forces, q, qd, t, params),
            self.multipliers,
        )
        return int(power)

    def _tangent(self, dq: Registers, dqd: Registers) -> Registers:
        """δq̈ of a neighbour at (δq, δq̇), by differentiating M q̈ + b = Jᵀλ, J q̈ + c = 0.

        M δq̈ − Jᵀδλ = −δ(M q̈ + b − Jᵀλ),   J δq̈ = −δ(J q̈ + c), with q̈ and λ held on the right.
        """
        laws = self.laws
        if isinstance(laws, ExplicitLaws):

            def pushed(q: Any, qd: Any, t: Any, params: Any, dq: Any, dqd: Any) -> Any:
                function = lambda q, qd: laws.acceleration(q, qd, t, params)  # noqa: E731
                return jax.jvp(function, (q, qd), (dq, dqd))[1]

            return self._write(pushed, dq, dqd)

        def imbalance(
            q: Any, qd: Any, t: Any, params: Any, dq: Any, dqd: Any, qdd: Any, lam: Any, gains: Any
        ) -> Any:
            def balance(q: Any, qd: Any) -> tuple[Any, Any]:
                mass, bias = mass_and_bias_of(laws, q, qd, t, params)
                if not laws.constraints:
                    return mass @ qdd + bias, lam
                rows = rows_of(laws, q, qd, t, params)
                wanted = wanted_of(laws, rows, q, t, params, gains)
                return mass @ qdd + bias - lam @ rows.jacobian, rows.jacobian @ qdd - wanted

            _, (force, bend) = jax.jvp(balance, (q, qd), (dq, dqd))
            return -force, (-bend if laws.constraints else bend)

        load, right = self._write(imbalance, dq, dqd, self.qdd, self.multipliers, self.gains)
        load, right = self._collected((load, right), *dq, *dqd, *self.qdd, *self.multipliers)
        return self._motion.solve(load, right)[0]

    def _projected(self, tangents: list[tuple[Registers, Registers]]) -> tuple[Any, ...]:
        """The nearest (q, q̇) with φ = 0, φ̇ = 0, and the tangents turned into its neighbourhood."""
        laws, tape = self.laws, self.tape
        assert isinstance(laws, Laws)

        def metric(q: Any, qd: Any, t: Any, params: Any, roots: Any) -> Any:
            rows = roots[:, None] * jacobian_of(laws, q, t, params)
            return mass_matrix_of(laws, q, qd, t, params), rows

        mass, rows = self._collected(self._write(metric, self.roots))
        factors = self._motion.kkt_factors(mass, rows)

        def corrected(state: Registers, residual: Registers) -> Registers:
            return elementwise(tape, "sub", state, factors.smallest(residual))

        q, qd = self.q, self.qd
        for _ in range(CORRECTIONS):
            residual = write(tape, lambda *place: residual_of(laws, *place), q, self.t, self.params)
            q = corrected(q, residual)
        for _ in range(CORRECTIONS):
            rate = write(
                tape, lambda *state: rate_residual_of(laws, *state), q, qd, self.t, self.params
            )
            qd = corrected(qd, rate)

        def slope_of_place(q: Any, t: Any, params: Any, dq: Any) -> Any:
            return jax.jvp(lambda q: residual_of(laws, q, t, params), (q,), (dq,))[1]

        def slope_of_rate(q: Any, qd: Any, t: Any, params: Any, dq: Any, dqd: Any) -> Any:
            rate = lambda q, qd: rate_residual_of(laws, q, qd, t, params)  # noqa: E731
            return jax.jvp(rate, (q, qd), (dq, dqd))[1]

        turned = []
        for dq, dqd in tangents:
            dq = corrected(dq, write(tape, slope_of_place, q, self.t, self.params, dq))
            bend = write(tape, slope_of_rate, q, qd, self.t, self.params, dq, dqd)
            turned.append((dq, corrected(dqd, bend)))
        return q, qd, turned
