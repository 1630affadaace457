"""How far constraints are from losing rank.

Where rows become dependent (all links of a parallelogram in line: a change point) the equations no
longer determine the accelerations, though the motion goes on smoothly: the velocity picks the
branch. The distance is measured by the smallest pivot of S, the scaled rows' own mass matrix.
"""

from typing import Any

import jax.numpy as jnp
from jax import lax

from .._typing import Matrix, Params, RowSquare, RowVector, Scalar, Vector
from ..model import Laws
from ._constrained import scaled_rows
from ._kkt import inverse_of_rows

# Pivots of S below this are rows that say nothing anywhere: redundant ones.
REDUNDANT = 1e-13


def pivots_of(square: RowSquare) -> RowVector:
    """The pivots of a semi-definite matrix, largest first, by elimination along the diagonal.

    Made of arithmetic alone, so that a batch does not call LAPACK.
    """
    m = square.shape[0]
    index = jnp.arange(m)

    def clear(k: Any, carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        table, left, pivots = carry
        diagonal = jnp.where(left, jnp.diagonal(table), -1.0)
        largest = jnp.argmax(diagonal)
        pivot = diagonal[largest]
        column = table[:, largest]
        sound = pivot > REDUNDANT
        table = table - jnp.where(
            sound, jnp.outer(column, column) / jnp.where(sound, pivot, 1.0), 0.0
        )
        return table, left & (index != largest), pivots.at[k].set(pivot)

    start = (square, jnp.ones(m, bool), jnp.zeros(m, square.dtype))
    return lax.fori_loop(0, m, clear, start)[2]


def rank_distance(laws: Laws, mass: Matrix, q: Vector, t: Scalar, params: Params) -> Scalar:
    """σ: about 1 where rows are independent, 0 where some that were so become dependent."""
    system = scaled_rows(laws, mass, q, t, params)
    pushed, _ = inverse_of_rows(system)
    pivots = pivots_of(system.rows @ pushed)
    return jnp.sqrt(jnp.min(jnp.where(pivots > REDUNDANT, pivots, 1.0)))
