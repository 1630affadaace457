"""One run: the host's loop around the compiled stretches, or one `diffeqsolve` under a trace."""

import operator
import time
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from .._batches import padded_times
from .._checks import is_traced
from .._one_way import forward_only, reverse_only
from .._progress import Progress
from .._results import RESULTS, Result, failure_of, same
from .._typing import AnyArray, Params, Scalar
from ..model import AbstractSystem
from ..motion import AbstractStabilisation, Field, Nullspace, unpack
from ._events import Event
from ._landing import LandOnSamples
from ._manifold import OnConstraints, on_constraints, stays_on_constraints
from ._march import STALL_STEPS, March, Problem, advance, begin, stalled
from ._methods import with_tolerances

DEFAULT_MAX_STEPS = 1_000_000
_FIRST_STEP = 1e-5  # of the duration
SMALLEST_STEP_IN_EPS = 4.0  # of the largest time
_FIRST_STRETCH = 1000  # steps
_STRETCH_SECONDS = 0.5  # wall clock between two looks at Ctrl-C and the progress bar
_EVENT_TOLERANCE = 1e-12  # of the root find under a trace [relative, and in s]


class Settings(eqx.Module):
    """How a run is made: everything besides the system, its parameters and its start."""

    solver: diffrax.AbstractSolver = eqx.field(static=True)
    method: str = eqx.field(static=True)  # the solver's name
    rtol: AnyArray
    atol: AnyArray
    dt: AnyArray | None  # None: adaptive
    longest: AnyArray  # bound on adaptive steps [s]; infinite unless a second run must be finer
    events: tuple[Event, ...]
    event_names: tuple[str, ...] = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    dense: bool = eqx.field(static=True)
    gradient: str = eqx.field(static=True)
    stabilise: AbstractStabilisation | None = None  # None: there are no constraints

    @property
    def fixed(self) -> bool:
        """Whether the step is constant."""
        return self.dt is not None


class End(NamedTuple):
    """Where a run ended: time [s], coordinates, rates and work [J] there."""

    t: AnyArray
    q: AnyArray
    qd: AnyArray
    work: AnyArray


class Run(NamedTuple):
    """What came out, before it is dressed as a `Trajectory`."""

    ts: AnyArray
    ys: AnyArray
    result: Result
    event: AnyArray  # index, −1 for none
    accepted: AnyArray
    rejected: AnyArray
    interpolation: diffrax.DenseInterpolation | None
    end: End


def _solver(settings: Settings, scan_kind: str) -> diffrax.AbstractSolver:
    """The solver as it runs: tolerances set, its loop over stages fit for what is asked of it.

    Left to itself Diffrax would always leave room for reverse mode in that loop.
    """
    solver = with_tolerances(settings.solver, settings.rtol, settings.atol, fixed=settings.fixed)
    if getattr(solver, "scan_kind", "none") is None:
        solver = eqx.tree_at(operator.attrgetter("scan_kind"), solver, scan_kind, is_leaf=_is_none)
    if stays_on_constraints(settings.stabilise):
        return OnConstraints(solver, isinstance(settings.stabilise, Nullspace))
    return solver


def _problem(system: AbstractSystem, params: Params, settings: Settings, ts: AnyArray) -> Problem:
    return Problem(
        term=diffrax.ODETerm(Field(system.laws, settings.stabilise)),
        solver=_solver(settings, "lax"),
        controller=_controller(settings, ts),
        params=params,
        events=settings.events,
        dense=settings.dense,
    )


def _as_any(value: Any) -> Any:
    """For a static checker: Diffrax's results are pytrees of unknown shape to it."""
    return value


def _is_none(leaf: Any) -> bool:
    return leaf is None


def _controller(settings: Settings, ts: AnyArray) -> diffrax.AbstractStepSizeController:
    if settings.fixed:
        return diffrax.ConstantStepSize()
    array = jnp if is_traced(ts) else np
    adaptive = diffrax.PIDController(
        rtol=settings.rtol,
        atol=settings.atol,
        dtmax=settings.longest,
        # Below this a step is lost in the rounding of time: NaN and blow-ups end there.
        dtmin=SMALLEST_STEP_IN_EPS
        * np.finfo(ts.dtype).eps
        * array.maximum(array.abs(ts[0]), array.abs(ts[-1])),
        force_dtmin=False,
    )
    return LandOnSamples.over(adaptive, ts if is_traced(ts) else padded_times(ts))


def first_step(settings: Settings, duration: Any) -> Any:
    """The first step [s]: the constant one, or a small one for the controller to grow.

    A constant step is the largest not above `dt` that divides the duration into equal steps.
    Steps grow up to tenfold each, so starting small costs a handful of them, and no evaluation of
    the equations that would have to be compiled a second time.
    """
    if settings.dt is None:
        return _FIRST_STEP * duration
    array = jnp if is_traced(settings.dt, duration) else np
    # The tolerance forgives round-off, so that 10 s / 0.1 s is 100 steps and not 101.
    count = array.ceil(duration / settings.dt * (1 - 8 * np.finfo(settings.dt.dtype).eps))
    return duration / array.maximum(count, 1.0)


def run_in_stretches(
    system: AbstractSystem,
    params: Params,
    y0: AnyArray,
    ts: AnyArray,
    t1: Scalar,
    settings: Settings,
    progress: bool | None,
    label: str,
) -> Run:
    """Integrate from `ts[0]` to `t1` and sample at those `ts` that lie before it.

    Ctrl-C ends the run with the status `interrupted` and keeps what was computed.
    """
    problem = _problem(system, params, settings, ts)
    t0 = ts[0]
    start, total = float(t0), float(t1) - float(t0)
    dt = np.asarray(first_step(settings, t1 - t0), ts.dtype)
    times = padded_times(ts)
    march = begin(problem, t0, t1, dt, y0, len(times))
    dense: list[tuple[np.ndarray, Any]] = []
    stretch, status = _FIRST_STRETCH, None
    mark = (0, start)  # steps and time when progress was last looked at
    try:
        with Progress(total, progress, label) as bar:
            while True:
                done = int(march.accepted) + int(march.rejected)
                left = settings.max_steps - done
                if not same(march.result, RESULTS.successful) or float(march.t) >= float(t1):
                    break
                if left <= 0:
                    status = RESULTS.max_steps_reached
                    break
                clock = time.perf_counter()
                march = jax.block_until_ready(
                    advance(problem, times, t1, march, np.asarray(min(stretch, left), np.int32))
                )
                if settings.dense:
                    dense.append(_fetch_dense(march))
                taken = int(march.accepted) + int(march.rejected) - done
                if done:  # the first stretch may have been compiled: its time says nothing
                    pace = taken / max(time.perf_counter() - clock, 1e-6)
                    stretch = int(np.clip(pace * _STRETCH_SECONDS, 20, 10**6))
                bar.update(float(march.t) - start)
                done += taken
                if done - mark[0] >= STALL_STEPS:
                    status = stalled(march, start, total, mark)
                    if status is not None:
                        break
                    mark = (done, float(march.t))
    except KeyboardInterrupt:
        if same(march.result, RESULTS.successful) and float(march.t) < float(t1):
            status = RESULTS.interrupted
    run = _finish(march, ts, status, dense, problem)
    return run._replace(
        ys=np.asarray(on_constraints(system.laws, settings.stabilise, run.ts, run.ys, params))
    )


def _fetch_dense(march: March) -> tuple[np.ndarray, Any]:
    count = int(march.dense_count)  # pyright: ignore[reportArgumentType]
    times = np.asarray(march.dense_ts)[: count + 1]
    return times, jax.tree.map(lambda x: np.asarray(x)[:count], march.dense_infos)


def _finish(
    march: March,
    ts: AnyArray,
    status: Result | None,
    dense: list[tuple[np.ndarray, Any]],
    problem: Problem,
) -> Run:
    result = march.result if status is None else status
    samples, times = np.asarray(march.samples), np.asarray(ts)
    filled = int(march.filled)
    t, y = np.asarray(march.t), np.asarray(march.y)
    if same(march.result, RESULTS.event_occurred):
        t, y = np.asarray(march.event_t), np.asarray(march.event_y)
        filled = min(filled, int(np.searchsorted(times, t, side="left")))
        times, samples = np.append(times[:filled], t), np.vstack([samples[:filled], y])
    else:
        times, samples = times[:filled], samples[:filled]
    interpolation = None
    if dense:
        interpolation = diffrax.DenseInterpolation(
            ts=jnp.asarray(np.concatenate([dense[0][0][:1], *(part[0][1:] for part in dense)])),
            ts_size=jnp.asarray(1 + sum(len(part[0]) - 1 for part in dense)),
            infos=jax.tree.map(lambda *parts: jnp.concatenate(parts), *(part[1] for part in dense)),
            interpolation_cls=problem.solver.interpolation_cls,
            direction=jnp.asarray(1),
            t0_if_trivial=ts[0],
            y0_if_trivial=jnp.asarray(march.samples[0]),
        )
    return Run(
        ts=times,
        ys=samples,
        result=result,
        event=march.event,
        accepted=march.accepted,
        rejected=march.rejected,
        interpolation=interpolation,
        end=End(t, *unpack(y)),
    )


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
    """The same run as one `diffeqsolve`, for `jit`, `grad` and `vmap`.

    Shapes cannot depend on values here: samples after an event or a failure are infinite.
    """
    event = _diffrax_event(system, settings.events, y0, params)
    forward = settings.gradient == "forward"
    solve = diffrax.diffeqsolve if forward else reverse_only(diffrax.diffeqsolve)
    solution = solve(
        diffrax.ODETerm(Field(system.laws, settings.stabilise)),
        _solver(settings, "lax" if forward else "checkpointed"),
        ts[0],
        ts[-1],
        first_step(settings, ts[-1] - ts[0]),
        y0,
        params,
        saveat=diffrax.SaveAt(
            subs=[diffrax.SubSaveAt(ts=ts), diffrax.SubSaveAt(t1=True)], dense=settings.dense
        ),
        stepsize_controller=_controller(settings, ts),
        adjoint=diffrax.ForwardMode() if forward else diffrax.RecursiveCheckpointAdjoint(),
        event=event,
        max_steps=settings.max_steps,
        throw=False,
    )
    (times, (end_t,)), (ys, (end_y,)) = _as_any(solution.ts), _as_any(solution.ys)
    if forward:
        times, end_t, ys, end_y = forward_only((times, end_t, ys, end_y))
    ys = on_constraints(system.laws, settings.stabilise, times, ys, params)
    which = jnp.asarray(-1, jnp.int32)
    if settings.events:
        which = jnp.where(_as_any(solution.event_mask), 0, -1).astype(jnp.int32)
    return Run(
        ts=times,
        ys=ys,
        result=failure_of(RESULTS.promote(solution.result)),
        event=which,
        accepted=jnp.asarray(solution.stats["num_accepted_steps"]),
        rejected=jnp.asarray(solution.stats["num_rejected_steps"]),
        interpolation=solution.interpolation,
        end=End(end_t, *unpack(end_y)),
    )
