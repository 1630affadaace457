"""A machine's equations at many states at once, and how they change with its numbers.

    M q̈ + b = Jᵀλ,   J q̈ + c = 0,   φ = 0,   φ̇ = 0

as one scalar program that NumPy carries out: nothing is compiled. A function without a scalar form
is compiled instead.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params
from ..model import ExplicitLaws, Laws
from ..motion import equations_at, inverted, residual_of
from ..scalars import (
    Arrays,
    Evaluation,
    NotScalar,
    Tape,
    constants,
    gathered,
    given,
    unknowns,
    write,
)
from ._named import NamedNumbers

_LEAST = 1e-2  # of the largest acceleration, in units of √M: what another one is measured by


class States(NamedTuple):
    """Many states: q and q̇ of shape (states, n), times (states,), numbers (states, p)."""

    q: np.ndarray
    qd: np.ndarray
    t: np.ndarray
    numbers: np.ndarray

    def kept(self, which: np.ndarray) -> "States":
        """The states that `which` takes: flags of shape (states,), or indices."""
        return States(*(array[which] for array in self))


class Motions(NamedTuple):
    """How machines move at many states.

    Attributes:
        qdd: q̈, shape (states, n).
        multipliers: λ, shape (states, m).
        sound: where they are determined and finite, shape (states,).
        condition: of the equations with units scaled out, shape (states,).
        size: of q̈ before anything cancels, shape (states, n).
        inverse: of [[M, −Jᵀ], [J, 0]].
    """

    qdd: np.ndarray
    multipliers: np.ndarray
    sound: np.ndarray
    condition: np.ndarray
    size: np.ndarray
    inverse: np.ndarray


class Balance:
    """The equations of one machine with some of its numbers free.

    With `named=False` all others are numbers on the tape, which makes shorter expressions.

    Attributes:
        tape: the scalar program.
        written: whether the equations are on it.
        inputs: registers of q, q̇, q̈, λ, t and the parameters.
        registers: of everything, by name.
        m: number of constraint rows.
    """

    def __init__(
        self,
        laws: Laws | ExplicitLaws,
        n: int,
        params: Params,
        free: NamedNumbers,
        named: bool = True,
    ):
        self.n, self.free, self.params, self._laws = n, free, params, laws
        if named:
            leaves, structure = jax.tree.flatten(params)
            written = _with_unknowns(laws, n, free, structure, tuple(map(np.shape, leaves)))
        else:
            written = _written(laws, n, free, params, known=True)
        self.tape, self.inputs, self.registers, self.m, self._compiled = written
        self.written = self._compiled is None

    def with_numbers(self) -> "Balance":
        """The same with the numbers of all parameters that are not free."""
        return Balance(self._laws, self.n, self.params, self.free, named=False)

    def at(self, names: tuple[str, ...], states: States, *moving: np.ndarray) -> list[np.ndarray]:
        """Quantities at many states, the states in front; q̈ and λ are zero if not given."""
        lanes = len(states.q)
        qdd, lam = moving or (np.zeros((lanes, self.n)), np.zeros((lanes, self.m)))
        params = self.free.put(self.params, states.numbers)
        batch = (states.q, states.qd, qdd, lam, states.t, params)
        if self._compiled is not None:
            quantities = self._compiled(*batch)
            return [np.asarray(quantities[name]) for name in names]
        evaluation = Evaluation(self.tape, Arrays(), given(self.inputs, batch))
        return [gathered(evaluation.of(self.registers[name]), lanes) for name in names]

    def motions(self, states: States) -> Motions:
        """q̈ and λ; rows that say nothing new exert no force."""
        mass, bias, rows, drift = self.at(("mass", "bias", "jacobian", "drift"), states)
        solved = inverted(mass, rows)
        right = -np.concatenate([bias, drift], axis=1)
        solution = np.einsum("sij,sj->si", solved.inverse, right)
        large = np.einsum("sij,sj->si", np.abs(solved.inverse), np.abs(right))[:, : self.n]
        # In units of √M a coordinate that hardly moves is as exact as the others: it is not to be
        # judged by its own size.
        largest = np.max(large / solved.units, axis=1, keepdims=True)
        size = np.maximum(large, _LEAST * largest * solved.units)
        sound = solved.sound & np.all(np.isfinite(solution), axis=1)
        size = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        return Motions(
            solution[:, : self.n], solution[:, self.n :], sound,
            solved.condition, size, solved.inverse,
        )  # fmt: skip


def accelerations(balance: Balance, states: States) -> tuple[np.ndarray, np.ndarray]:
    """q̈, shape (states, n), and its derivatives by the numbers, (states, n, p).

    M ∂q̈ − Jᵀ∂λ = −∂(M q̈ + b − Jᵀλ) with q̈ and λ held, J ∂q̈ = −∂(J q̈ + c).
    """
    n = balance.n
    if balance.m:
        motions = balance.motions(states)
        qdd, lam, inverse = motions.qdd, motions.multipliers, motions.inverse
    else:
        mass, bias = balance.at(("mass", "bias"), states)
        inverse = _plain_inverse(mass)
        qdd, lam = -(inverse @ bias[..., None])[..., 0], np.zeros((len(states.q), 0))
    force, bend = balance.at(("force slope", "bend slope"), states, qdd, lam)
    return qdd, -(inverse @ np.concatenate([force, bend], axis=1))[:, :n]


def _plain_inverse(mass: np.ndarray) -> np.ndarray:
    """M⁻¹ at many states, NaN where it is not finite or singular."""
    units = 1 / np.sqrt(np.maximum(np.abs(np.einsum("sii->si", mass)), 1e-300))
    scale = units[:, :, None] * units[:, None, :]
    scaled = mass * scale
    sound = np.all(np.isfinite(scaled), axis=(1, 2))
    scaled[~sound] = np.eye(mass.shape[1])
    sound &= np.linalg.det(scaled) != 0
    scaled[~sound] = np.eye(mass.shape[1])
    inverse = np.linalg.inv(scaled) * scale
    inverse[~sound] = np.nan
    return inverse


class _Written(NamedTuple):
    """Equations on a tape: inputs, registers by name, number of constraint rows.

    A function without a scalar form has no registers; it is compiled.
    """

    tape: Tape
    inputs: Any
    registers: dict[str, Any]
    m: int
    compiled: Callable[..., Any] | None


@lru_cache(maxsize=16)
def _with_unknowns(
    laws: Laws | ExplicitLaws, n: int, free: NamedNumbers, structure: Any, shapes: Any
) -> _Written:
    """Equations that hold for any parameters of these shapes: written once for many fits."""
    params = jax.tree.unflatten(structure, [np.zeros(shape) for shape in shapes])
    return _written(laws, n, free, params, known=False)


def _written(
    laws: Laws | ExplicitLaws, n: int, free: NamedNumbers, params: Params, known: bool
) -> _Written:
    """Equations with unknown parameters, or with those that are not free as numbers."""
    function = _everything(laws, free.unit_trees(params))
    state = (np.zeros(n), np.zeros(n), np.zeros(n))
    m = 0
    if isinstance(laws, Laws) and laws.constraints:
        of_rows = jax.eval_shape(
            lambda q, params: residual_of(laws, q, jnp.asarray(0.0), params), state[0], params
        )
        m = of_rows.shape[0]
    tape = Tape()
    inputs: Any = unknowns(tape, (*state, np.zeros(m), np.zeros(()), params))
    if known:
        numbers = jax.tree.map(lambda leaf: constants(tape, leaf), params)
        inputs = (*inputs[:-1], free.merged(inputs[-1], numbers))
    try:
        return _Written(tape, inputs, write(tape, function, *inputs), m, None)
    except NotScalar:
        return _Written(tape, inputs, {}, m, jax.jit(jax.vmap(function)))


def _everything(laws: Laws | ExplicitLaws, directions: Any) -> Callable[..., dict[str, Any]]:
    """All that is asked of a machine at one state, and its slopes along changes of parameters."""

    def everything(q: Any, qd: Any, qdd: Any, lam: Any, t: Any, params: Any) -> dict[str, Any]:
        def balance(params: Any) -> dict[str, Any]:
            now = equations_at(laws, q, qd, t, params)
            return {
                "force": now.mass @ qdd + now.bias - lam @ now.jacobian,
                "bend": now.jacobian @ qdd + now.drift,
                "position": now.position,
                "rate": now.rate,
            }

        def slope(direction: Any) -> dict[str, Any]:
            return jax.jvp(balance, (params,), (direction,))[1]

        slopes = jax.vmap(slope, out_axes=-1)(directions)
        named = {f"{name} slope": array for name, array in slopes.items()}
        now = equations_at(laws, q, qd, t, params)
        return {**now._asdict(), **balance(params), **named}

    return everything
