"""The motion between the samples of a run."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._batches import in_batches
from .._checks import is_traced
from .._typing import AnyArray, Params, Samples, Times
from ._manifold import on_constraints
from ._path import MotionPath, place_knot
from ._run_data import RunData


def knots_along(run: RunData) -> AnyArray:
    """q and three time derivatives at the samples, shape (k, 4, n)."""
    return in_batches(_knots, run.laws, (run.ts, run.qs, run.qds), run.params)


@eqx.filter_jit
def _knots(laws: Any, ts: Times, qs: Samples, qds: Samples, params: Params) -> AnyArray:
    return jax.vmap(lambda t, q, qd: place_knot(laws, t, q, qd, params))(ts, qs, qds)


def states_between(run: RunData, t: AnyArray, knots: AnyArray | None) -> AnyArray:
    """y = (q, q̇, W) at times within the run, shape (k, 2n + 1), on the constraints.

    By the solver's own interpolation where there is one; else by the polynomials through `knots`,
    which know no work.
    """
    if run.interpolation is not None:
        ys = jax.vmap(run.interpolation.evaluate)(t)
    else:
        ys = _between_knots(run.ts, knots, t)
    return on_constraints(run.laws, run.settings.stabilise, t, ys, run.params)


def _between_knots(ts: AnyArray, knots: Any, t: AnyArray) -> AnyArray:
    array = jnp if is_traced(ts, knots, t) else np
    ts, knots = array.asarray(ts), array.asarray(knots)
    left = array.clip(array.searchsorted(ts, t, side="right") - 1, 0, len(ts) - 2)
    ends = (ts[left], ts[left + 1], knots[left], knots[left + 1])
    return in_batches(_on_paths, None, (t, *ends))


@eqx.filter_jit
def _on_paths(
    what: None, t: AnyArray, t0: AnyArray, t1: AnyArray, start: AnyArray, end: AnyArray, _: None
) -> AnyArray:
    """y at times t between knots, shape (k, 2n + 1); no work. The same for every machine."""

    def at(t: AnyArray, t0: AnyArray, t1: AnyArray, start: AnyArray, end: AnyArray) -> AnyArray:
        first, last = (jnp.pad(knot, ((0, 0), (0, 1))) for knot in (start, end))
        return MotionPath(t0=t0, t1=t1, start=first, end=last).evaluate(t)

    return jax.vmap(at)(t, t0, t1, start, end)
