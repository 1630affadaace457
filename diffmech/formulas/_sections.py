"""A machine's equations of motion on a tape, term by term as one writes them on paper.

M q̈ + velocity terms + potential terms = forces + Jᵀ λ,   J q̈ + drift = 0
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jax
import numpy as np

from .._typing import Params
from ..model import AbstractSystem, ExplicitLaws, Laws, number_names
from ..motion import ScalarMotion, force_of, mass_and_bias_of, rate_residual_of, rows_of
from ..scalars import Registers, Tape, collected, constants, elementwise, unknowns, write


class Sections:
    """Registers of all that is printed of a machine.

    Attributes:
        numbers: inputs for all parameters, one after the other; `q`, `qd`, `t` beside them, and
            `qdd` and `lam` for accelerations and multipliers that are not solved for.
        params: the parameters' tree, with what stands for those that are left out or are the same
            as others.
        mass, velocity, potential, forces: M, shape (n, n), and the rest, shape (n,) each:
            `potential` is what is left at rest without forces; for an explicit machine `forces`
            is q̈ and the others are empty.
        bias: velocity + potential − forces, shape (n,).
        rates, rows, drift: of constraints: what vanishes of the rates, J and c, shapes (m,),
            (m, n), (m,).
    """

    def __init__(
        self, system: AbstractSystem, params: Params, zeros: set[str], same: Mapping[str, str]
    ):
        """Write them; of the numbers named in `zeros`, 0; for those in `same`, the other one."""
        self.system, self.tape = system, Tape()
        self.names = tuple(number_names(params))
        self.numbers = unknowns(self.tape, np.zeros(len(self.names)))
        n, tape = system.n, self.tape
        self.q, self.t = unknowns(tape, (np.zeros(n), np.zeros(())))
        self.qd, self.qdd = unknowns(tape, (np.zeros(n), np.zeros(n)))
        index = {name: i for i, name in enumerate(self.names)}
        flat = self.numbers.copy()
        for name, other in same.items():
            flat[index[name]] = flat[index[other]]
        for name in zeros:
            flat[index[name]] = tape.constant(0.0)
        self.left_out = tuple(name for name in self.names if name in zeros or name in same)
        leaves, structure = jax.tree.flatten(params)
        ends = np.cumsum([np.size(leaf) for leaf in leaves])
        self.params = jax.tree.unflatten(
            structure,
            [
                flat[end - np.size(leaf) : end].reshape(np.shape(leaf))
                for end, leaf in zip(ends, leaves, strict=True)
            ],
        )
        empty = np.zeros(0, dtype=np.int64)
        self.mass, self.rows = empty.reshape(0, 0), empty.reshape(0, n)
        self.velocity = self.potential = self.bias = self.rates = self.drift = empty
        if isinstance(system.laws, ExplicitLaws):
            self.forces = self._write(system.laws.acceleration)
        else:
            self._write_balance(system.laws)
        self.lam = unknowns(tape, np.zeros(len(self.rows)))

    @cached_property
    def motion(self) -> ScalarMotion:
        """Solved for the accelerations.

        Raises:
            NotScalar: the mass matrix is singular at every state.
        """
        return ScalarMotion(self.tape, self.system.laws, self.q, self.qd, self.t, self.params)

    def collected(self, registers: Registers) -> Registers:
        """The same in fewer operations."""
        state = [*self.q, *self.qd, self.t]
        return collected(self.tape, registers, state, far=[*self.q, self.t])

    @property
    def is_explicit(self) -> bool:
        """Whether there are accelerations alone, and no masses."""
        return isinstance(self.system.laws, ExplicitLaws)

    def _write(self, function: Any, qd: Registers | None = None) -> Any:
        qd = self.qd if qd is None else qd
        return write(self.tape, function, self.q, qd, self.t, self.params)

    def _write_balance(self, laws: Laws) -> None:
        ideal = laws._replace(forces=None, dissipation=None)
        balance = lambda *state: mass_and_bias_of(ideal, *state)  # noqa: E731
        still = constants(self.tape, np.zeros(len(self.q)))
        self.mass, ideal_bias = self._write(balance)
        self.potential = self._write(balance, still)[1]
        self.velocity = elementwise(self.tape, "sub", ideal_bias, self.potential)
        self.forces = self._write(lambda *state: force_of(laws, *state))
        self.bias = elementwise(self.tape, "sub", ideal_bias, self.forces)
        if laws.constraints:
            self.rates = self._write(lambda *state: rate_residual_of(laws, *state))
            rows = self._write(lambda *state: rows_of(laws, *state))
            self.rows, self.drift = rows.jacobian, rows.drift
