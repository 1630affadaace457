"""One run: the host's loop around the compiled stretches."""

import operator
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._batches import padded_times
from .._checks import is_traced
from .._progress import Progress
from .._results import RESULTS, Result, same
from .._stretches import stretches
from .._typing import AnyArray, Params, Scalar
from ..model import AbstractSystem
from ..motion import Field, Nullspace, unpack
from ._manifold import OnConstraints, on_constraints, stays_on_constraints
from ._march import STALL_STEPS, March, Problem, advance, begin, stalled
from ._methods import with_tolerances
from ._run_data import End, Settings
from ._sample_controller import LandOnSamples

_FIRST_STEP = 1e-5  # of the duration
SMALLEST_STEP_IN_EPS = 4.0  # of the largest time


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


def solver_of(settings: Settings, scan_kind: str) -> diffrax.AbstractSolver:
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
        solver=solver_of(settings, "lax"),
        controller=controller_of(settings, ts),
        params=params,
        events=settings.events,
        dense=settings.dense,
    )


def _is_none(leaf: Any) -> bool:
    return leaf is None


def controller_of(settings: Settings, ts: AnyArray) -> diffrax.AbstractStepSizeController:
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
    status: Result | None = None
    mark = (0, start)  # steps and time when progress was last looked at

    def taken() -> int:
        return int(march.accepted) + int(march.rejected)

    def going() -> bool:
        return same(march.result, RESULTS.successful) and float(march.t) < float(t1)

    try:
        with Progress(total, progress, label) as bar:
            for stretch in stretches(taken, going):
                left = settings.max_steps - taken()
                if left <= 0:
                    status = RESULTS.max_steps_reached
                    break
                march = jax.block_until_ready(
                    advance(problem, times, t1, march, np.asarray(min(stretch, left), np.int32))
                )
                if settings.dense:
                    dense.append(_fetch_dense(march))
                bar.update(float(march.t) - start)
                if taken() - mark[0] >= STALL_STEPS:
                    status = stalled(march, start, total, mark)
                    if status is not None:
                        break
                    mark = (taken(), float(march.t))
    except KeyboardInterrupt:
        if going():
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
