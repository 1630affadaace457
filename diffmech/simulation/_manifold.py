"""Solvers that stay on the constraints.

Diffrax has no hook after a step, so a solver is wrapped: it steps, and then moves what came out to
the nearest state that obeys the constraints (`Projection`), or solves the dependent coordinates
from the independent ones, at every stage as well (`Nullspace`).

Near a change point the rows' lost combination exerts no force and moves nothing (see `motion`): the
velocity carries the machine across, on the branch that continues it.
"""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from .._batches import in_batches
from .._typing import AnyArray, Params, Scalar
from ..model import ExplicitLaws, Laws
from ..motion import (
    AbstractStabilisation,
    Field,
    Nullspace,
    Projection,
    independent_coordinates,
    mass_matrix_of,
    nearest,
    pack,
    rank_distance,
    unpack,
)
from ._path import field_of

_NO_GOOD_CHOICE = 3e-2  # σ below which no coordinates are good independent ones


def stays_on_constraints(stabilise: AbstractStabilisation | None) -> bool:
    """Whether steps and samples are moved onto the constraints."""
    return isinstance(stabilise, Projection | Nullspace)


def _dependent_solved(
    laws: Laws, t: Scalar, y: AnyArray, params: Params, free: AnyArray | None
) -> AnyArray:
    """y with its coordinates and rates on the constraints."""
    q, qd, work = unpack(y)
    mass = mass_matrix_of(laws, q, qd, t, params)
    return pack(*nearest(laws, mass, q, qd, t, params, free), work)


def on_constraints(
    laws: Laws | ExplicitLaws,
    stabilise: AbstractStabilisation | None,
    ts: Any,
    ys: Any,
    params: Any,
) -> Any:
    """Samples, shape (k, 2n + 1), moved onto the constraints if that is the way chosen.

    What lies between two steps is interpolated, which leaves the constraints.
    """
    if not stays_on_constraints(stabilise):
        return ys
    return in_batches(_projected, laws, (ts, ys), params)


@eqx.filter_jit
def _projected(laws: Any, ts: AnyArray, ys: AnyArray, params: Params) -> AnyArray:
    # Where a run has ended early, samples are infinite; they stay so.
    def move(t: Scalar, y: AnyArray) -> AnyArray:
        sound = jnp.all(jnp.isfinite(y)) & jnp.isfinite(t)
        moved = _dependent_solved(
            laws, jnp.where(sound, t, 0.0), jnp.where(sound, y, 0.0), params, None
        )
        return jnp.where(sound & jnp.all(jnp.isfinite(moved)), moved, y)

    return jax.vmap(move)(ts, ys)


class _OnManifold(eqx.Module):
    """The field, evaluated where the dependent coordinates obey the constraints."""

    field: Field
    free: AnyArray  # which coordinates are independent, (n,)
    apart: AnyArray  # whether it is far enough from a change point to tell

    def __call__(self, t: Any, y: AnyArray, params: Params) -> AnyArray:
        t = jnp.asarray(t, y.dtype)
        laws: Any = self.field.laws
        state = lax.cond(
            self.apart,
            lambda: _dependent_solved(laws, t, y, params, self.free),
            lambda: y,
        )
        return self.field.rates(t, *unpack(state)[:2], params)


class OnConstraints(diffrax.AbstractAdaptiveSolver):
    """A solver whose steps end on the constraints."""

    solver: diffrax.AbstractSolver
    partition: bool = eqx.field(static=True)

    @property
    def term_structure(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.solver.term_structure

    @property
    def interpolation_cls(self) -> Any:  # pyright: ignore
        return self.solver.interpolation_cls

    def order(self, terms: Any) -> int | None:
        return self.solver.order(terms)

    def error_order(self, terms: Any) -> Any:
        return self.solver.error_order(terms)

    def init(self, terms: Any, t0: Any, t1: Any, y0: AnyArray, args: Params) -> Any:
        return self.solver.init(terms, t0, t1, y0, args)

    def func(self, terms: Any, t0: Any, y0: AnyArray, args: Params) -> Any:
        return self.solver.func(terms, t0, y0, args)

    def step(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: AnyArray,
        args: Params,
        solver_state: Any,
        made_jump: Any,
    ) -> tuple[Any, Any, Any, Any, Any]:
        del made_jump
        field, _ = field_of(terms)
        laws: Any = field.laws
        begin, end = jnp.asarray(t0, y0.dtype), jnp.asarray(t1, y0.dtype)
        # The state was moved after the last step, so what the solver remembers of it is stale.
        if not self.partition:
            y1, error, info, state, result = self.solver.step(
                terms, t0, t1, y0, args, solver_state, True
            )
            return _dependent_solved(laws, end, y1, args, None), error, info, state, result
        q, qd, _ = unpack(y0)
        mass = mass_matrix_of(laws, q, qd, begin, args)
        free = independent_coordinates(laws, mass, q, begin, args)
        apart = rank_distance(laws, mass, q, begin, args) > _NO_GOOD_CHOICE
        inner = diffrax.ODETerm(_OnManifold(field, free, apart))
        y1, error, info, state, result = self.solver.step(
            inner, t0, t1, y0, args, solver_state, True
        )
        y1 = lax.cond(
            apart,
            lambda: _dependent_solved(laws, end, y1, args, free),
            lambda: _dependent_solved(laws, end, y1, args, None),
        )
        return y1, error, info, state, result
