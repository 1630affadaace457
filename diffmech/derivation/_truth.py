"""A machine's own equations as a scalar program, and how it moves at many states.

    M q̈ + b − Jᵀλ = 0,   J q̈ + c = 0

in which every state has parameters of its own. Nothing is compiled, unless a function of the
machine has no scalar form.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import equations_at, inverted, residual_of
from ..scalars import ArrayProgram, NotScalar, Register, Tape, given, unknowns, write
from ._symbols import Inputs


class Points(NamedTuple):
    """Many states: q, q̇, q̈ of shape (states, n), λ (states, m), t (states,), parameters with the
    states in front."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    lam: np.ndarray
    t: np.ndarray
    params: Any

    def kept(self, which: np.ndarray) -> "Points":
        """The states that `which` takes: flags of shape (states,), or indices."""
        params = jax.tree.map(lambda leaf: leaf[which], self.params)
        q, qd, qdd, lam, t = (array[which] for array in self[:-1])
        return Points(q, qd, qdd, lam, t, params)

    def with_number(self, leaf: int, index: tuple[int, ...], factor: float) -> "Points":
        """With one number of the parameters multiplied by a factor at all states."""
        leaves, structure = jax.tree.flatten(self.params)
        leaves = [np.array(one) for one in leaves]
        leaves[leaf][(slice(None), *index)] *= factor
        return self._replace(params=jax.tree.unflatten(structure, leaves))

    def repeated(self, times: int) -> "Points":
        """All of them several times, one after the other."""

        def again(leaf: np.ndarray) -> np.ndarray:
            return np.concatenate([leaf] * times)

        q, qd, qdd, lam, t = (again(array) for array in self[:-1])
        return Points(q, qd, qdd, lam, t, jax.tree.map(again, self.params))


class Motions(NamedTuple):
    """How a machine moves at many states.

    Attributes:
        qdd, lam: q̈, shape (states, n), and λ, (states, m).
        inverse: of [[M, −Jᵀ], [J, 0]], which takes (−b, −c) to (q̈, λ).
        sound: where all is determined and finite.
        unique: where the multipliers are, too.
        condition: of the matrix with units scaled out.
        units: of the coordinates, 1/√Mᵢᵢ, shape (states, n).
    """

    qdd: np.ndarray
    lam: np.ndarray
    inverse: np.ndarray
    sound: np.ndarray
    unique: np.ndarray
    condition: np.ndarray
    units: np.ndarray


class Truth:
    """The equations of one machine, or those of other laws for its coordinates and parameters.

    Attributes:
        tape: the scalar program, on which others may write, too.
        inputs: registers of q, q̇, q̈, λ, t and the parameters.
        registers: of "mass", "bias", "jacobian", "drift", of φ ("position") and φ̇ ("rate"), and of
            "rows": the left sides of the n + m equations; None if they have no scalar form.
    """

    def __init__(self, system: AbstractSystem, laws: Laws | ExplicitLaws | None = None):
        laws, n = system.laws if laws is None else laws, system.n
        params = jax.tree.map(lambda leaf: np.zeros(np.shape(leaf)), system.params)
        self.system, self.n, self.m = system, n, 0
        if isinstance(laws, Laws) and laws.constraints:
            shape = jax.eval_shape(
                lambda q, p: residual_of(laws, q, jnp.asarray(0.0), p), np.zeros(n), params
            )
            self.m = shape.shape[0]
        self.tape = Tape()
        vector = np.zeros(n)
        example = (vector, vector, vector, np.zeros(self.m), np.zeros(()), params)
        self.inputs = Inputs(*unknowns(self.tape, example))
        self._programs: dict[tuple[str, ...], ArrayProgram] = {}
        self._compiled: Callable[..., Any] | None = None
        self.registers: dict[str, Any] | None = None
        function = _everything(laws)
        try:
            self.registers = write(self.tape, function, *self.inputs)
        except NotScalar:
            self._compiled = jax.jit(jax.vmap(function))

    def given(self, points: Points) -> dict[int, Any]:
        """What the inputs stand for."""
        return given(tuple(self.inputs), tuple(points))

    def at(self, points: Points, *names: str) -> list[np.ndarray]:
        """Quantities at many states, the states in front."""
        if self._compiled is not None:
            quantities = self._compiled(*points)
            return [np.asarray(quantities[name]) for name in names]
        assert self.registers is not None
        program = self._programs.get(names)
        if program is None:
            asked = np.concatenate([np.ravel(self.registers[name]) for name in names])
            program = self._programs[names] = ArrayProgram(self.tape, asked)
        values = program(self.given(points))
        return [_at(values, self.registers[name], len(points.q)) for name in names]

    def of(self, points: Points, registers: Any) -> np.ndarray:
        """The values of registers of the tape, the states in front."""
        values = ArrayProgram(self.tape, registers)(self.given(points))
        return _at(values, registers, len(points.q))

    def motions(self, points: Points) -> Motions:
        """q̈ and λ; rows that say nothing new exert no force."""
        mass, bias, rows, drift = self.at(points, "mass", "bias", "jacobian", "drift")
        solved, n = inverted(mass, rows), self.n
        right = -np.concatenate([bias, drift], axis=1)
        with np.errstate(all="ignore"):
            solution = np.einsum("sij,sj->si", solved.inverse, right)
        sound = solved.sound & np.all(np.isfinite(solution), axis=1)
        return Motions(
            solution[:, :n], solution[:, n:],
            solved.inverse, sound, solved.unique, solved.condition,
            solved.units,
        )  # fmt: skip


def _at(values: dict[Register, Any], registers: Any, states: int) -> np.ndarray:
    """Values of an array of registers, the states in front."""
    registers = np.asarray(registers)
    whole = np.empty((states, registers.size))
    for k, register in enumerate(registers.ravel().tolist()):
        whole[:, k] = values[register]
    return whole.reshape(states, *registers.shape)


def _everything(laws: Laws | ExplicitLaws) -> Callable[..., dict[str, Any]]:
    """All that is asked of a machine at one state."""

    def everything(q: Any, qd: Any, qdd: Any, lam: Any, t: Any, params: Params) -> dict[str, Any]:
        now = equations_at(laws, q, qd, t, params)
        balance = now.mass @ qdd + now.bias - lam @ now.jacobian
        rows = jnp.concatenate([balance, now.jacobian @ qdd + now.drift])
        return {**now._asdict(), "rows": rows}

    return everything
