"""The same run as one `diffeqsolve`, for `jit`, `grad` and `vmap`."""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp

from .._derivative_guards import forward_only, reverse_only
from .._results import RESULTS, Result, choose, failure_of
from .._typing import AnyArray, Params
from .._void import void, with_sound_gradient
from ..model import AbstractSystem
from ..motion import Field, unpack
from ._manifold import on_constraints
from ._run import Run, controller_of, first_step, solver_of
from ._run_data import End, Settings
from ._traced_event import diffrax_event, is_lost


def _as_any(value: Any) -> Any:
    """For a static checker: Diffrax's results are pytrees of unknown shape to it."""
    return value


def run_traced(
    system: AbstractSystem, params: Params, y0: AnyArray, ts: AnyArray, settings: Settings
) -> Run:
    """The run from `y0` with samples at `ts`.

    Shapes cannot depend on values here: samples after an event or a failure are NaN, and so is the
    end of a run that failed. So are their derivatives.
    """

    def solve() -> Run:
        run = _solved(system, params, y0, ts, settings)
        ahead = jnp.cumsum(~jnp.isfinite(run.ys).all(axis=1)) > 0  # constant steps run on as NaN
        missing = ~jnp.isfinite(run.ts) | ahead
        broken = jnp.any(ahead & jnp.isfinite(run.ts)) & ~_failed(run.result)
        result = choose(broken, RESULTS.non_finite_motion, run.result)
        failed = _failed(result)
        return run._replace(
            result=result,
            ts=void(run.ts, missing),
            ys=void(run.ys, missing),
            end=End(*(void(x, failed) for x in run.end)),
        )

    if settings.gradient == "reverse":
        return reverse_only(with_sound_gradient)(solve)
    run = solve()
    return run._replace(**forward_only({"ts": run.ts, "ys": run.ys, "end": run.end}))


def _failed(result: Result) -> AnyArray:
    return ~((result == RESULTS.successful) | (result == RESULTS.event_occurred))


def _solved(
    system: AbstractSystem, params: Params, y0: AnyArray, ts: AnyArray, settings: Settings
) -> Run:
    """As Diffrax gives it: times of samples that were not reached are infinite."""
    forward = settings.gradient == "forward"
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(Field(system.laws, settings.stabilise)),
        solver_of(settings, "lax" if forward else "checkpointed"),
        ts[0],
        ts[-1],
        first_step(settings, ts[-1] - ts[0]),
        y0,
        params,
        saveat=diffrax.SaveAt(
            subs=[diffrax.SubSaveAt(ts=ts), diffrax.SubSaveAt(t1=True)], dense=settings.dense
        ),
        stepsize_controller=controller_of(settings, ts),
        adjoint=diffrax.ForwardMode() if forward else diffrax.RecursiveCheckpointAdjoint(),
        event=diffrax_event(system, settings.events, y0, params),
        max_steps=settings.max_steps,
        throw=False,
    )
    (times, (end_t,)), (ys, (end_y,)) = _as_any(solution.ts), _as_any(solution.ys)
    result = failure_of(RESULTS.promote(solution.result))
    which = jnp.asarray(-1, jnp.int32)
    for event in settings.events:
        lost = is_lost(event, (ts[0], y0), (end_t, end_y), params)
        happened = _as_any(solution.event_mask) & ~lost
        which = jnp.where(happened, 0, -1).astype(jnp.int32)
        result = choose(lost & ~_failed(result), RESULTS.event_not_a_number, result)
    sound = _all_finite(params) & _all_finite(y0) & _all_finite(ts)
    return Run(
        ts=times,
        ys=on_constraints(system.laws, settings.stabilise, times, ys, params),
        result=choose(sound, result, RESULTS.not_finite_from_the_start),
        event=which,
        accepted=jnp.asarray(solution.stats["num_accepted_steps"]),
        rejected=jnp.asarray(solution.stats["num_rejected_steps"]),
        interpolation=solution.interpolation,
        end=End(end_t, *unpack(end_y)),
    )


def _all_finite(tree: Any) -> AnyArray:
    sound = jnp.asarray(True)
    for leaf in jax.tree.leaves(tree):
        sound = sound & jnp.all(jnp.isfinite(leaf))
    return sound
