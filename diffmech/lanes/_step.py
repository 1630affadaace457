"""One step of a block of lanes, each with a step size of its own."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ._field import AbstractField, Lane, State
from ._tableau import Tableau


class Step(NamedTuple):
    """A step that was tried: the state at its end, the derivative there, and the error made."""

    y: State
    rate: State
    error: State


def unrolled_step(
    field: AbstractField, tableau: Tableau, t: Lane, h: Lane, y: State, rate: State
) -> Step:
    """Every stage written out: one large loop body without arrays of stages."""
    rates = [rate]
    end = y
    for node, row in zip(tableau.nodes[1:], tableau.weights[1:], strict=True):
        end = tuple(a + h * total for a, total in zip(y, _weighted(row, rates), strict=True))
        rates.append(field.derivative(t + node * h, end))
    error = tuple(h * total for total in _weighted(tableau.error, rates))
    return Step(end, rates[-1], error)


def _weighted(weights: tuple[float, ...], rates: list[State]) -> list[Any]:
    """Σ wᵢ kᵢ, component by component; zeros are left out."""
    used = [(w, rate) for w, rate in zip(weights, rates, strict=False) if w != 0]
    return [sum(w * rate[i] for w, rate in used) for i in range(len(rates[0]))]


def rolled_step(
    field: AbstractField, tableau: Tableau, t: Lane, h: Lane, y: State, rate: State
) -> Step:
    """Stages in a loop: slower to run, but the equations are compiled once and not per stage."""
    stages, size = tableau.stages, len(y)
    table = np.zeros((stages, stages))
    for i, row in enumerate(tableau.weights):
        table[i, : len(row)] = row
    start = jnp.stack(y)
    weights, nodes = jnp.asarray(table, start.dtype), jnp.asarray(tableau.nodes, start.dtype)
    rates = jnp.zeros((stages, *start.shape), start.dtype).at[0].set(jnp.stack(rate))

    def stage(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        rates, _ = carry
        end = start + h * sum(weights[i, j] * rates[j] for j in range(stages - 1))
        new = field.derivative(t + nodes[i] * h, tuple(end[j] for j in range(size)))
        return lax.dynamic_update_index_in_dim(rates, jnp.stack(new), i, 0), end

    rates, end = lax.fori_loop(1, stages, stage, (rates, start))
    error = h * sum(w * rates[j] for j, w in enumerate(tableau.error) if w)
    return Step(tuple(end), tuple(rates[-1]), tuple(error))
