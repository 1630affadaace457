"""The verb: run a machine from an initial state."""

import warnings
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import (
    MAX_STEPS_LIMIT,
    as_count,
    as_scalar,
    in_force,
    is_traced,
    require_few_steps,
    require_one_pace,
    warn_if_single_precision,
)
from .._defaults import RUN_MAX_STEPS, RUN_RTOL, as_rtol
from .._results import RESULTS, same
from .._typing import AnyArray, Coordinates, Number, Params
from ..model import AbstractSystem, Laws
from ..motion import (
    AbstractStabilisation,
    Penalty,
    as_stabilisation,
    pack,
    prepare,
    require_consistent,
    unpack,
)
from ._events import Events, as_events
from ._failure import explain, reason
from ._methods import DEFAULT_METHOD, as_solver, method_name, require_suitable, stiff_solver
from ._run import Run, run_in_stretches
from ._run_data import Settings
from ._times import require_resolved, require_step, sample_times
from ._traced import run_traced
from ._trajectory import Trajectory

DEFAULT_SAMPLES = 1001
# Dense output under a trace must allocate every step it might take.
DENSE_TRACED_MAX_STEPS = 8192


class SimulationError(RuntimeError):
    """A run failed: `reason` says why; `trajectory` holds what was computed up to there."""

    __module__ = "diffmech"  # where users find it, and what a traceback says

    def __init__(self, reason: str, trajectory: Trajectory):
        super().__init__(
            f"{reason}. What was computed before is in `error.trajectory`; `throw=False` returns "
            "it without this error"
        )
        self.reason = reason
        self.trajectory = trajectory

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.trajectory)


def simulate(
    system: AbstractSystem,
    q0: Coordinates,
    qd0: Coordinates | None = None,
    *,
    duration: Number | None = None,
    ts: Any = None,
    t0: Number = 0.0,
    params: Params = None,
    method: str | diffrax.AbstractSolver | None = None,
    rtol: Number | None = None,
    atol: Number | None = None,
    dt: Number | None = None,
    stabilise: str | AbstractStabilisation | None = None,
    check_start: bool = True,
    samples: int = DEFAULT_SAMPLES,
    events: Events | None = None,
    dense: bool = False,
    gradient: str = "reverse",
    max_steps: int | None = None,
    throw: bool = True,
    progress: bool | None = None,
) -> Trajectory:
    """Run a machine from an initial state.

    Solves M q̈ + b = 0 together with dW/dt = power, so that the record can say whether the energy
    balances.

    **Main arguments:**

    - `system`: a `System` or an `Explicit`.
    - `q0`, `qd0`: initial coordinates and rates, shape (n,), or mappings by name; `qd0=None` starts
      at rest. SI units, radians.
    - `duration` [s], giving `samples` equally spaced samples from `t0` on; or `ts`, the increasing
      sample times themselves, the first of which is the start.
    - `params`: another set of parameters; the system's own if None.
    - `method`: a name from `diffmech.methods()` or any Diffrax solver taking one ODE term. "Dopri8"
      for accuracy; "Kvaerno5" where strong damping makes the equations stiff, not where stiff
      springs oscillate (on a beam of 40 links it takes 6 times as long as "Dopri8" and misses the
      rates by 9e-5); "GaussLegendre4" or "Variational" with `dt` for
      long runs that must not drift.
    - `rtol`, `atol`: tolerances per step of adaptive methods. `rtol=None` means 1e-11 (1e-5 in
      float32), which keeps the energy of a chaotic chain of 15 links to 1e-10 over 20 s;
      `atol=None` means equal to `rtol`.
    - `dt`: a constant step [s], adjusted to divide the duration; then no tolerance is used.
    - `stabilise`: how a constrained machine is kept on its constraints: "projection" (the default),
      "nullspace", "baumgarte", "penalty", "none", or `baumgarte(omega, zeta)`, `penalty(alpha,
      omega, zeta)`.

    **Other arguments:**

    - `events`: `{"name": condition}`, each a function `(q, qd, t, params) -> number or bool` or an
      `Event`; the first to change sign or become true ends the run.
    - `dense`: keep every step's interpolation for `trajectory(t)`; samples are more accurate, since
      steps end on them.
    - `check_start`: refuse a start that breaks the constraints; `assemble` mends one.
    - `gradient`: "reverse" (`jax.grad`, `jax.jacrev`) or "forward" (`jax.jvp`, `jax.jacfwd`).
    - `max_steps`: bound on attempted steps.
    - `throw`: raise `SimulationError` if the run fails; otherwise look at `trajectory.status`.
    - `progress`: show a bar; None means on a terminal, if the run is long. Ctrl-C ends a run and
      keeps what was computed.

    New parameters, states, tolerances, durations and numbers of samples (up to 1024, then up to the
    next power of two) do not recompile; another method or machine does. Under `jit`, `grad` or
    `vmap` the run is one `diffrax.diffeqsolve`, and failures show in `status` only.

    **Raises:** `ValueError` for a wrong call, `SimulationError` for a failed run.
    """
    warn_if_single_precision()
    q, qd, _, params = prepare(system, 0.0, params, q0=q0, qd0=qd0)
    max_steps = _bound(max_steps)
    # Adaptive steps pass few samples; a smaller bound is a wish for the beginning of a run.
    steps = None if dt is not None or events is not None else max(max_steps or 0, RUN_MAX_STEPS)
    times = in_force(sample_times(duration, ts, as_scalar(t0, "t0"), samples, system.n, steps))
    require_resolved(times)
    settings = _settings(
        system,
        params,
        times,
        method=method,
        rtol=rtol,
        atol=atol,
        dt=dt,
        stabilise=stabilise,
        events=events,
        dense=dense,
        gradient=gradient,
        max_steps=max_steps,
    )
    if is_traced(q, qd, times, params, settings):
        y0 = pack(q, qd, jnp.zeros((), q.dtype))
        run = run_traced(system, params, y0, times, settings)
        return _record(run, system, params, settings, times[-1])
    if check_start and settings.stabilise is not None:
        way_out = "; `check_start=False` runs from this one all the same"
        require_consistent(system, q, qd, times[0], params, way_out)
    y0 = np.concatenate([q, qd, np.zeros(1, q.dtype)])
    run = run_in_stretches(system, params, y0, times, times[-1], settings, progress, system.name)
    run = run._replace(result=explain(run, system, params, settings, times[-1]))
    return _finished(_record(run, system, params, settings, times[-1]), throw)


def _settings(
    system: AbstractSystem,
    params: Params,
    times: AnyArray,
    *,
    method: Any,
    rtol: Any,
    atol: Any,
    dt: Any,
    stabilise: Any,
    events: Events | None,
    dense: bool,
    gradient: str,
    max_steps: int | None,
) -> Settings:
    """How to run, checked."""
    if gradient not in ("reverse", "forward"):
        raise ValueError(f"`gradient` must be 'reverse' or 'forward', but is {gradient!r}")
    how = _stabilisation(system, stabilise)
    if method is None:
        stiff = isinstance(how, Penalty) and not how.inertial
        method = stiff_solver() if stiff else DEFAULT_METHOD
    solver = as_solver(method)
    require_suitable(
        solver,
        fixed=dt is not None,
        lagrangian=isinstance(system.laws, Laws),
        constrained=how is not None,
    )
    names, made = as_events(events, system, params)
    require_one_pace(dt, rtol, atol)
    rtol = as_rtol(rtol, RUN_RTOL, resolvable=dt is None)
    atol = rtol if atol is None else as_scalar(atol, "atol", positive=True)
    if dt is not None:
        dt = in_force(as_scalar(dt, "dt", positive=True))
        require_step(dt, times)
        if not made:  # an event may end the run before
            require_few_steps(dt, times[-1] - times[0], max_steps or RUN_MAX_STEPS)
    traced_dense = dense and is_traced(params, times)
    return Settings(
        solver=solver,
        method=method_name(solver),
        rtol=in_force(rtol),
        atol=in_force(atol),
        dt=dt,
        longest=in_force(np.asarray(np.inf)),
        events=made,
        event_names=names,
        max_steps=max_steps or (DENSE_TRACED_MAX_STEPS if traced_dense else RUN_MAX_STEPS),
        dense=bool(dense),
        gradient=gradient,
        stabilise=jax.tree.map(in_force, how),
    )


def _bound(max_steps: Any) -> int | None:
    """How many steps may be tried, checked; None: as many as usual."""
    if max_steps is None:
        return None
    steps = as_count(max_steps, "max_steps", 1)
    if steps > MAX_STEPS_LIMIT:
        raise ValueError(
            f"`max_steps` must be at most {MAX_STEPS_LIMIT}, but is {steps}: more are not "
            "counted. Shorten the run, or go on from its end in a second one"
        )
    return steps


def _stabilisation(system: AbstractSystem, given: Any) -> AbstractStabilisation | None:
    """How violations of constraints are treated: projection, unless said otherwise."""
    if getattr(system, "constraints", ()):
        return as_stabilisation("projection" if given is None else given)
    if given is not None:
        raise ValueError(
            f"`stabilise` must be left out: {system.name!r} has no constraints to keep"
        )
    return None


def _record(
    run: Run, system: AbstractSystem, params: Params, settings: Settings, goal: AnyArray
) -> Trajectory:
    qs, qds, work = unpack(run.ys)
    return Trajectory(
        ts=run.ts,
        qs=qs,
        qds=qds,
        work=work,
        status=run.result,
        stats={"accepted": run.accepted, "rejected": run.rejected},
        params=params,
        system=system,
        settings=settings,
        end=run.end,
        goal=goal,
        event_index=run.event,
        interpolation=run.interpolation,
        version=system.laws.version,
    )


def _finished(trajectory: Trajectory, throw: bool) -> Trajectory:
    """Warn about an interrupted run; raise for a failed one."""
    status = trajectory.status
    if same(status, RESULTS.successful, RESULTS.event_occurred):
        return trajectory
    end = trajectory.end
    where = f"at t = {float(end.t):.6g} s of {float(trajectory.goal):g} s"
    if same(status, RESULTS.interrupted):
        warnings.warn(
            f"{trajectory.system.name}: interrupted {where}; the samples up to there are kept",
            stacklevel=3,
        )
        return trajectory
    if not throw:
        return trajectory
    raise SimulationError(
        f"{trajectory.system.name} stopped {where}: {reason(trajectory)}. There q = {end.q}, "
        f"qd = {end.qd}",
        trajectory,
    )
