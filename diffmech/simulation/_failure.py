"""Why a run failed: the reason behind a step that could not be made."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import in_force
from .._results import RESULTS, Result, message, same
from .._typing import AnyArray, Params
from ..model import AbstractSystem, Laws
from ..motion import (
    acceleration_of,
    mass_condition_of,
    mass_matrix_of,
    max_condition,
    power_of,
    unpack,
)
from ._run import SMALLEST_STEP_IN_EPS, Run
from ._run_data import End, RunData, Settings

_FAILED_STEP = 1e-6  # of the duration: how far to look ahead of a failed adaptive step
_RUNAWAY = 1e6  # times its initial size: a motion that far out has blown up, and may overflow
_PROBES = 33  # states looked at ahead of a failed step
_NEVER_LONG = 1e3  # times the shortest step: a run that never had longer ones is too long for them
_COARSE_TIME = 1e-6  # [s]: where time is rounded to more, a short step may be the duration's fault
_SMALL_INERTIA = 1e-8  # part of its initial value at which a diagonal of M counts as vanished
_UNEXPLAINED = (
    RESULTS.step_too_small,
    RESULTS.non_finite_motion,
    RESULTS.nonlinear_divergence,
    RESULTS.nonlinear_max_steps_reached,
    RESULTS.dt_min_reached,
    RESULTS.max_steps_reached,  # steps become short near a pole, too
)


@eqx.filter_jit
def _ahead(
    laws: Any, q: AnyArray, qd: AnyArray, t: AnyArray, h: AnyArray, params: Params
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Condition and diagonal of M, and whether q̈ is finite, along a straight path of length h."""

    def look(s: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        place, time = q + s * h * qd, t + s * h
        finite = jnp.all(jnp.isfinite(acceleration_of(laws, place, qd, time, params)))
        finite &= jnp.isfinite(power_of(laws, place, qd, time, params))  # the work goes with it
        if not isinstance(laws, Laws):
            return jnp.ones(()), jnp.ones_like(q), finite
        mass = mass_matrix_of(laws, place, qd, time, params)
        return mass_condition_of(laws, place, qd, time, params), jnp.diagonal(mass), finite

    return jax.vmap(look)(jnp.linspace(0.0, 1.0, _PROBES, dtype=q.dtype))


@eqx.filter_jit
def _finiteness(
    function: Any, q: AnyArray, qd: AnyArray, t: AnyArray, h: AnyArray, params: Params
) -> AnyArray:
    """Whether a function and its slopes stay finite along a straight path of length h."""

    def look(s: AnyArray) -> AnyArray:
        def at(q: AnyArray, qd: AnyArray) -> AnyArray:
            return function(q, qd, t + s * h, params)

        place = q + s * h * qd
        seen = (at(place, qd), jax.jacfwd(at, argnums=(0, 1))(place, qd))
        return jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(seen)]))

    return jnp.all(jax.vmap(look)(jnp.linspace(0.0, 1.0, _PROBES, dtype=q.dtype)))


def culprit(system: AbstractSystem, end: End, params: Params, settings: Settings) -> str | None:
    """The system's function that is not finite, in value or slope, just ahead of a state."""
    h = in_force(_FAILED_STEP if settings.dt is None else float(settings.dt))
    functions = [(k, f) for k, f in system.laws._asdict().items() if callable(f)]
    for one in getattr(system.laws, "constraints", ()):
        functions += [("constraints", _of_place(function)) for function in one.functions]
    for label, function in functions:
        if not _finiteness(function, end.q, end.qd, end.t, h, params):
            return f"`{label}` ({getattr(function, '__qualname__', type(function).__name__)})"
    return None


def _of_place(function: Any) -> Any:
    """A constraint's function (q, t, params) as one of (q, qd, t, params)."""

    def called(q: AnyArray, qd: AnyArray, t: AnyArray, params: Params) -> AnyArray:
        del qd
        return function(q, t, params)

    called.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return called


def explain(
    run: Run, system: AbstractSystem, params: Params, settings: Settings, goal: AnyArray
) -> Result:
    """The reason behind a failed step, from the state where it failed and a look ahead."""
    if same(run.result, RESULTS.successful) or not same(run.result, *_UNEXPLAINED):
        return run.result
    end, start = run.end, unpack(run.ys[0])
    span = float(goal) - float(run.ts[0])
    # A look further ahead than a step would find poles that the motion never comes near.
    mean = (float(end.t) - float(run.ts[0])) / max(int(run.accepted), 1)
    h = min(_FAILED_STEP * span, mean or math.inf) if settings.dt is None else float(settings.dt)
    conditions, inertias, finite = _ahead(system.laws, end.q, end.qd, end.t, in_force(h), params)
    _, first, _ = _ahead(system.laws, start[0], start[1], run.ts[0], in_force(0.0), params)
    vanished = np.min(np.abs(inertias)) < _SMALL_INERTIA * np.min(np.abs(first))
    # Steps shrink to nothing well before the matrix is singular to round-off.
    limit = math.sqrt(max_condition(end.q.dtype))
    if not float(np.max(conditions)) < limit or (vanished and isinstance(system.laws, Laws)):
        return RESULTS.singular_mass_matrix
    if float(np.max(np.abs(end.q))) > _RUNAWAY * (1 + float(np.max(np.abs(start[0])))):
        return RESULTS.step_too_small
    if not np.all(finite):
        return RESULTS.non_finite_motion
    short = same(run.result, RESULTS.step_too_small, RESULTS.dt_min_reached)
    if short and 0 < mean < _NEVER_LONG * _shortest_step(goal):
        return RESULTS.max_steps_reached
    return run.result


def _shortest_step(goal: AnyArray) -> float:
    """Below it a step is lost in the rounding of time [s]."""
    return SMALLEST_STEP_IN_EPS * float(np.finfo(goal.dtype).eps) * abs(float(goal))


def reason(run: RunData) -> str:
    """The sentence behind a failed run, with its own numbers."""
    status, end, settings = run.status, run.end, run.settings
    said = message(status)
    if settings.fixed and same(status, RESULTS.max_steps_reached):
        said = f"{said.partition(':')[0]}: raise `max_steps`, shorten the run, or lengthen `dt`"
    if same(status, RESULTS.non_finite_motion):
        who = culprit(run.system, end, run.params, settings)
        return f"{said}; it is {who}" if who else said
    least = _shortest_step(run.goal)
    if same(status, RESULTS.step_too_small) and least > _COARSE_TIME:
        return (
            f"{said}. Or the run is too long: in times of {float(run.goal):g} s steps below"
            f" {least:.0e} s are lost in rounding"
        )
    start = float(run.ts[0])
    done = int(run.stats["accepted"]) + int(run.stats["rejected"])
    part = (float(end.t) - start) / (float(run.goal) - start)
    if not same(status, RESULTS.max_steps_reached) or part <= 0:
        return said
    return (
        f"{said}. {done} steps made {part:.2g} of this run, so all of it takes about "
        f"{done / part:.1e}; `max_steps` is {settings.max_steps}"
    )
