"""The same run as one `diffeqsolve`, for `jit`, `grad` and `vmap`."""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import optimistix as optx

from .._derivative_guards import forward_only, reverse_only
from .._results import RESULTS, Result, choose, failure_of
from .._typing import AnyArray, Params
from .._void import void, with_sound_gradient
from ..model import AbstractSystem
from ..motion import Field, unpack
from ._events import Event
from ._manifold import on_constraints
from ._run import Run, controller_of, first_step, solver_of
from ._run_data import End, Settings

_EVENT_TOLERANCE = 1e-12  # of the root find under a trace [relative, and in s]


def _as_any(value: Any) -> Any:
    """For a static checker: Diffrax's results are pytrees of unknown shape to it."""
    return value


def _diffrax_event(
    system: AbstractSystem, events: tuple[Event, ...], y0: AnyArray, params: Params
) -> diffrax.Event | None:
    """The same event for `diffeqsolve`; a boolean ends a run at the end of its step there."""
    if not events:
        return None
    if len(events) > 1:
        raise ValueError(
            "under `jit`, `grad` and `vmap` a run can watch one event only: combine them into one "
            "condition (`jnp.minimum`, a product), or run outside of the transformation"
        )
    event = next(iter(events))
    direction = {"rising": True, "falling": False}.get(event.direction or "")
    boolean = event.raw_value(jnp.zeros((), y0.dtype), y0, params).dtype == jnp.bool_
    if boolean:
        return diffrax.Event(lambda t, y, args, **_: event.raw_value(t, y, args))

    field = Field(system.laws)  # its direction decides, feedback does not

    def condition(t: Any, y: AnyArray, args: Params, *, t0: Any, **_: Any) -> AnyArray:
        """The event's value; where it starts at zero, with the sign it is about to take."""
        t = jnp.asarray(t, y.dtype)
        value, slope = jax.jvp(
            lambda t, y: event.value(t, y, args), (t, y), (jnp.ones_like(t), field(t, y, args))
        )
        soon = jnp.where(slope < 0, -1.0, 1.0) * jnp.finfo(y.dtype).tiny
        return jnp.where((t == t0) & (value == 0), soon, value)

    finder = optx.Newton(_EVENT_TOLERANCE, _EVENT_TOLERANCE)
    return diffrax.Event(condition, finder, direction=direction)


def run_traced(
    system: AbstractSystem, params: Params, y0: AnyArray, ts: AnyArray, settings: Settings
) -> Run:
    """The run from `y0` with samples at `ts`.

    Shapes cannot depend on values here: samples after an event or a failure are NaN, and so is the
    end of a run that failed. So are their derivatives.
    """

    def solve() -> Run:
        run = _solved(system, params, y0, ts, settings)
        missing, failed = ~jnp.isfinite(run.ts), _failed(run.result)
        return run._replace(
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
        event=_diffrax_event(system, settings.events, y0, params),
        max_steps=settings.max_steps,
        throw=False,
    )
    (times, (end_t,)), (ys, (end_y,)) = _as_any(solution.ts), _as_any(solution.ys)
    which = jnp.asarray(-1, jnp.int32)
    if settings.events:
        which = jnp.where(_as_any(solution.event_mask), 0, -1).astype(jnp.int32)
    sound = _all_finite(params) & _all_finite(y0) & _all_finite(ts)
    result = failure_of(RESULTS.promote(solution.result))
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
