"""Which motions start with a mass matrix that no real masses have, asked on the host."""

from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.errors import TracerArrayConversionError

from .._batches import in_batches
from .._typing import AnyArray
from ..model import Laws
from ..motion import INDEFINITE, is_definite, jacobian_of, mass_matrix_of
from ..scalars import ArrayProgram, NotScalar
from ._lane_equations import Equations
from ._program import Program
from ._tiles import Run, with_varying

_CHUNK = 4096  # lanes looked at together: what is worked out for them stays in the cache


def indefinite_starts(
    program: Program, run: Run, t: AnyArray, states: AnyArray, varying: list[AnyArray]
) -> np.ndarray | None:
    """For `states` of shape (lanes, 2n): where T < 0 for some admissible rates, shape (lanes,).

    None for equations without masses. The pivots of M are worked out in NumPy from the equations
    that lanes have on their tape; where one is negative, eigenvalues decide.
    """
    if not isinstance(program.laws, Laws):
        return None
    states, varying = np.asarray(states), [np.asarray(leaf) for leaf in varying]
    t = np.broadcast_to(t, len(states))
    try:
        equations = program.equations(run.params, run.stabilise)
        looks = [
            _look(equations, run, t[part], states[part], [leaf[part] for leaf in varying])
            for part in (slice(i, i + _CHUNK) for i in range(0, len(states), _CHUNK))
        ]
    except (NotScalar, TracerArrayConversionError):
        return ~_definite_by_program(program.laws, run, t, states, varying) & _finite(
            states, varying
        )
    return np.concatenate([np.zeros(0, bool), *looks])


def _finite(states: np.ndarray, varying: list[np.ndarray]) -> np.ndarray:
    """Which lanes have numbers at all; the others have a status that says so."""
    finite = [np.all(np.isfinite(x).reshape(len(x), -1), axis=1) for x in (states, *varying)]
    return np.all(finite, axis=0)


def _look(
    equations: Equations, run: Run, t: np.ndarray, states: np.ndarray, varying: list[np.ndarray]
) -> np.ndarray:
    given: dict[int, Any] = {int(equations.t): t}
    given |= dict(zip(map(int, (*equations.q, *equations.qd)), states.T, strict=True))
    common = jax.tree.map(lambda leaf: np.asarray(leaf)[None], run.params)
    leaves = jax.tree.leaves(with_varying(common, run.varies, varying))
    for registers, leaf in zip(jax.tree.leaves(equations.params), leaves, strict=True):
        columns = leaf.reshape(len(leaf), -1).T
        given |= dict(zip(map(int, np.ravel(registers)), columns, strict=True))
    sizes, pivots, matrices = _programs(equations)
    of_rows = sizes(given)
    roots = map(int, equations.roots)
    given |= dict(zip(roots, (of_rows[int(size)] for size in equations.sizes), strict=True))
    values = pivots(given)
    negative = np.zeros(len(states), bool)
    for pivot, entry in zip(equations.pivots, equations.diagonal, strict=True):
        negative |= values[pivot] < INDEFINITE * np.abs(values[int(entry)])
    suspects = np.flatnonzero(negative)
    if suspects.size:
        values = matrices(given)
        masses, rows = (
            _gathered(values, registers, len(states))[suspects]
            for registers in (equations.mass, equations.rows)
        )
        negative[suspects] = ~is_definite(masses, rows)
    return negative


@lru_cache(maxsize=128)  # as many as there are equations kept
def _programs(equations: Equations) -> tuple[ArrayProgram, ArrayProgram, ArrayProgram]:
    """The sizes of rows at the start; the pivots with the diagonal; M with the rows."""
    wanted = (
        equations.sizes,
        [*equations.pivots, *equations.diagonal],
        [*equations.mass.ravel(), *equations.rows.ravel()],
    )
    sizes, pivots, matrices = (ArrayProgram(equations.tape, registers) for registers in wanted)
    return sizes, pivots, matrices


def _gathered(values: dict[int, Any], registers: np.ndarray, lanes: int) -> np.ndarray:
    """The values of an array of registers, the lanes in front."""
    whole = np.empty((lanes, *registers.shape))
    for index, register in np.ndenumerate(registers):
        whole[(slice(None), *index)] = values[int(register)]
    return whole


@partial(jax.jit, static_argnums=0)
def _masses_and_rows(
    what: tuple[Laws, tuple[bool, ...]], states: Any, t: Any, *varying_and_params: Any
) -> tuple[Any, Any]:
    laws, marks = what
    *varying, params = varying_and_params
    common, structure = jax.tree.flatten(params)
    n = states.shape[1] // 2

    def at(state: Any, t: Any, own: list[Any]) -> tuple[Any, Any]:
        given = iter(own)
        leaves = [next(given) if mark else x for mark, x in zip(marks, common, strict=True)]
        numbers = jax.tree.unflatten(structure, leaves)
        mass = mass_matrix_of(laws, state[:n], state[n:], t, numbers)
        if not laws.constraints:
            return mass, jnp.zeros((0, n))
        return mass, jacobian_of(laws, state[:n], t, numbers)

    return jax.vmap(at)(states, t, varying)


def _definite_by_program(
    laws: Laws, run: Run, t: np.ndarray, states: np.ndarray, varying: list[np.ndarray]
) -> np.ndarray:
    """The same of equations that have no scalar form."""
    what = laws, tuple(bool(mark) for mark in jax.tree.leaves(run.varies))
    return is_definite(*in_batches(_masses_and_rows, what, (states, t, *varying), run.params))
