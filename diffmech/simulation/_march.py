"""The compiled part of a run: a stretch of steps that can be continued bit for bit.

XLA does not hear Ctrl-C, so a long run is cut into stretches by the host. Everything the next step
depends on (solver, controller, proposed step) is carried over, so the cuts leave no trace: a run
interrupted after any stretch is the prefix of the whole one.
"""

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from .._results import RESULTS, Result, choose, failure_of
from .._typing import AnyArray, Params, Scalar
from ._events import Event
from ._watch import Step, event_values, first_event

DENSE_STEPS = 512  # steps whose interpolation is kept before the host must fetch them
# So little of the duration in so many steps is no progress: the whole would take 5e10 of them.
STALL_STEPS, _STALL_PROGRESS = 20_000, 4e-7
_SHRUNK = 0.01  # of the steps before: the steps became short, the run is not merely long


class Problem(eqx.Module):
    """What is integrated, and how; arrays in it may change without recompiling."""

    term: diffrax.ODETerm
    solver: diffrax.AbstractSolver
    controller: diffrax.AbstractStepSizeController
    params: Params
    events: tuple[Event, ...]
    dense: bool = eqx.field(static=True)


class March(eqx.Module):
    """Where a run stands: all that the next step depends on, and what was recorded."""

    t: Scalar
    next_t: Scalar
    y: AnyArray
    solver_state: Any
    controller_state: Any
    samples: AnyArray  # (k, d)
    filled: AnyArray  # how many samples are
    accepted: AnyArray
    rejected: AnyArray
    result: Result
    event_values: AnyArray  # (number of events,)
    event: AnyArray  # which one happened, −1 for none
    event_t: Scalar
    event_y: AnyArray
    dense_ts: AnyArray | None  # (DENSE_STEPS + 1,)
    dense_infos: Any
    dense_count: AnyArray | None


@eqx.filter_jit
def begin(problem: Problem, t0: Scalar, t1: Scalar, dt: Any, y0: AnyArray, samples: int) -> March:
    """Stand at the start: first step size chosen, first sample taken."""
    solver, term, params = problem.solver, problem.term, problem.params
    next_t, controller_state = problem.controller.init(
        term, t0, t1, y0, dt, params, solver.func, solver.error_order(term)
    )
    next_t = jnp.minimum(next_t, t1)
    solver_state = solver.init(term, t0, next_t, y0, params)
    zero = jnp.zeros((), jnp.int32)
    dense_ts = dense_infos = dense_count = None
    if problem.dense:
        _, _, info, _, _ = eqx.filter_eval_shape(
            solver.step, term, t0, next_t, y0, params, solver_state, False
        )
        dense_ts = jnp.full(DENSE_STEPS + 1, jnp.nan, t0.dtype).at[0].set(t0)
        dense_infos = jax.tree.map(lambda x: jnp.zeros((DENSE_STEPS, *x.shape), x.dtype), info)
        dense_count = zero
    return March(
        t=t0,
        next_t=next_t,
        y=y0,
        solver_state=jax.tree.map(jnp.asarray, solver_state),
        controller_state=jax.tree.map(jnp.asarray, controller_state),
        samples=jnp.full((samples, y0.size), jnp.nan, y0.dtype).at[0].set(y0),
        filled=zero + 1,
        accepted=zero,
        rejected=zero,
        result=RESULTS.successful,
        event_values=event_values(problem.events, t0, y0, problem.params),
        event=zero - 1,
        event_t=t0,
        event_y=y0,
        dense_ts=dense_ts,
        dense_infos=dense_infos,
        dense_count=dense_count,
    )


@eqx.filter_jit
def advance(problem: Problem, ts: AnyArray, t1: Scalar, march: March, steps: AnyArray) -> March:
    """Take up to `steps` steps towards `t1`, filling the samples at `ts` on the way."""
    if problem.dense:
        first = march.dense_ts.at[0].set(march.t)  # pyright: ignore[reportOptionalMemberAccess]
        march = eqx.tree_at(
            lambda m: (m.dense_ts, m.dense_count), march, (first, jnp.zeros((), jnp.int32))
        )
    goal = march.accepted + march.rejected + steps

    def keep_going(march: March) -> AnyArray:
        unfinished = (march.t < t1) & (march.accepted + march.rejected < goal)
        if problem.dense:
            unfinished &= march.dense_count < DENSE_STEPS  # pyright: ignore[reportOptionalOperand]
        return unfinished & (march.result == RESULTS.successful)

    return lax.while_loop(keep_going, lambda march: _step(problem, ts, t1, march), march)


def stalled(march: March, start: float, total: float, mark: tuple[int, float]) -> Result | None:
    """Why a run comes to no end: its steps became short, or so many are needed. None: it will.

    `mark`: steps and time when progress was last looked at, `STALL_STEPS` ago or more.
    """
    t, done = float(march.t), int(march.accepted) + int(march.rejected)
    lately = t - mark[1]
    if not lately < _STALL_PROGRESS * total:
        return None
    mean = (t - start) / done
    shrunk = min(float(march.next_t) - t, lately / (done - mark[0])) < _SHRUNK * mean
    return RESULTS.step_too_small if shrunk else RESULTS.max_steps_reached


def _step(problem: Problem, ts: AnyArray, t1: Scalar, march: March) -> March:
    solver, term, params = problem.solver, problem.term, problem.params
    y, error, info, solver_state, solver_result = solver.step(
        term, march.t, march.next_t, march.y, params, march.solver_state, False
    )
    # A step that left the domain of the equations is rejected like one with a large error.
    error = jax.tree.map(lambda e: jnp.where(jnp.isnan(e), jnp.inf, e), error)
    keep, t, next_t, _, controller_state, controller_result = problem.controller.adapt_step_size(
        march.t,
        march.next_t,
        march.y,
        y,
        params,
        error,
        solver.error_order(term) or 1,  # fixed steps do not use it
        march.controller_state,
    )
    finite = jnp.all(jnp.isfinite(y))
    accept = keep & finite
    t = jnp.where(accept, jnp.minimum(t, t1), march.t)
    next_t = _clip_to_end(t, next_t, t1, accept)

    solver_result = diffrax.RESULTS.where(keep, solver_result, diffrax.RESULTS.successful)
    stuck = (t < t1) & ~(next_t > t)  # so written, NaN is stuck as well
    result = _first_failure(
        RESULTS.promote(solver_result),
        failure_of(RESULTS.promote(controller_result)),
        choose(keep & ~finite, RESULTS.non_finite_motion, RESULTS.successful),
        choose(stuck, RESULTS.step_too_small, RESULTS.successful),
    )

    def chosen(new: Any, old: Any) -> Any:
        return jax.tree.map(lambda a, b: jnp.where(accept, a, b), new, old)

    y = chosen(y, march.y)
    path = solver.interpolation_cls(t0=march.t, t1=march.next_t, **info)
    samples, filled = _fill(ts, march.next_t, accept, path, march.samples, march.filled)
    step = Step(path.evaluate, march.t, march.next_t, y, ts, samples, march.filled, filled)
    event_values, event, event_t, event_y = _watch(problem, step, march, accept)
    if problem.events:
        lost = jnp.any(jnp.isnan(march.event_values) | (accept & jnp.isnan(event_values)))
        result = choose(event >= 0, RESULTS.event_occurred, result)
        result = choose(lost, RESULTS.event_not_a_number, result)

    dense_ts, dense_infos, dense_count = march.dense_ts, march.dense_infos, march.dense_count
    if problem.dense:
        # A rejected step is written too, and overwritten by the next one.
        dense_infos = jax.tree.map(lambda b, x: b.at[dense_count].set(x), dense_infos, info)
        dense_count = dense_count + accept.astype(jnp.int32)  # pyright: ignore[reportOptionalOperand]
        dense_ts = dense_ts.at[dense_count].set(t)  # pyright: ignore[reportOptionalMemberAccess]

    return March(
        t=t,
        next_t=next_t,
        y=y,
        solver_state=chosen(solver_state, march.solver_state),
        controller_state=jax.tree.map(jnp.asarray, controller_state),
        samples=samples,
        filled=filled,
        accepted=march.accepted + accept,
        rejected=march.rejected + ~accept,
        result=result,
        event_values=event_values,
        event=event,
        event_t=event_t,
        event_y=event_y,
        dense_ts=dense_ts,
        dense_infos=dense_infos,
        dense_count=dense_count,
    )


def _first_failure(*results: Result) -> Result:
    """The first result that is not success."""
    first = results[0]
    for result in results[1:]:
        first = choose(first == RESULTS.successful, result, first)
    return first


def _clip_to_end(t: Scalar, next_t: Scalar, t1: Scalar, accept: AnyArray) -> Scalar:
    """Land on `t1` exactly; a retry near the end takes half of what is left (as Diffrax does)."""
    floor = t1 - 100 * jnp.finfo(t1.dtype).eps * jnp.abs(t1)
    last = jnp.where(accept, t1, t + 0.5 * (t1 - t))
    return jnp.where(next_t > floor, last, next_t)


def _fill(
    ts: AnyArray, reached: Scalar, accept: AnyArray, path: Any, samples: AnyArray, filled: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Write the samples that lie within the accepted step."""
    last = ts.shape[0] - 1

    def inside(state: tuple[AnyArray, AnyArray]) -> AnyArray:
        return accept & (state[1] <= last) & (ts[jnp.minimum(state[1], last)] <= reached)

    def write(state: tuple[AnyArray, AnyArray]) -> tuple[AnyArray, AnyArray]:
        samples, filled = state
        return samples.at[filled].set(path.evaluate(ts[filled])), filled + 1

    return lax.while_loop(inside, write, (samples, filled))


def _watch(
    problem: Problem, step: Step, march: March, accept: AnyArray
) -> tuple[AnyArray, AnyArray, Scalar, AnyArray]:
    """Event values at the end of the step; which event happened within it, when and where."""
    if not problem.events:
        return march.event_values, march.event, march.event_t, march.event_y
    values, which, when = first_event(problem.events, problem.params, step, march.event_values)
    happened = accept & (which >= 0)
    return (
        jnp.where(accept, values, march.event_values),
        jnp.where(happened, which, march.event),
        jnp.where(happened, when, march.event_t),
        jnp.where(happened, step.path(when), march.event_y),
    )
