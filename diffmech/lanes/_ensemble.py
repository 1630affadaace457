"""Many motions of one machine at once."""

import os
import time
from typing import Any

import diffrax
import jax
import numpy as np

from .._checks import as_count, float_dtype, in_force, is_traced, warn_if_single_precision
from .._derivative_guards import forward_only
from .._fingerprint import version_of
from .._typing import AnyArray, Number, Params
from ..model import AbstractSystem, require_system
from ..motion import AbstractStabilisation, stabilisation_as_data
from ._block import Outcome
from ._clocks import clocks, lanes_of_clocks, times_of, without_times
from ._compiling import compiling_seconds
from ._control import Tolerances
from ._ensemble_record import Ensemble
from ._failed import without_failed
from ._host_loop import run_tiles
from ._indefinite import indefinite_starts
from ._lane_equations import Layout
from ._prepare import (
    checked_tolerances,
    parameters,
    reducers,
    require_room,
    spread_out,
    stabilisation,
    states,
    stops,
    tangents_and_roles,
)
from ._program_choice import choose_program, values_to_fix, worth_fixing
from ._tableau import as_tableau
from ._tiles import Plan, Run

_BLOCK = {"cpu": 64}  # lanes; measured best from 64 to 128
_BLOCK_ELSEWHERE = 8192
_TILE = 4096  # lanes on one device: about a tenth of a second for two coordinates
_NEEDS_SIMULATE = (
    "an ensemble gives forward-mode derivatives (`jax.jvp`, `jax.jacfwd`) of what is reduced; for "
    "`jax.grad`, `jax.vjp` and `jax.jacrev` run `simulate` under `jax.vmap`"
)


def ensemble(
    system: AbstractSystem,
    q0s: Any,
    qd0s: Any = None,
    *,
    duration: Number | AnyArray,
    reduce: Any = None,
    params: Params = None,
    t0: Number | AnyArray = 0.0,
    method: str | diffrax.AbstractSolver | None = None,
    rtol: Number | None = None,
    atol: Number | None = None,
    dt: Number | None = None,
    stabilise: str | AbstractStabilisation | None = None,
    fixed_params: bool = False,
    max_steps: int | None = None,
    block: int | None = None,
    devices: int | None = None,
    progress: bool | None = None,
) -> Ensemble:
    """Run a machine from many initial states, or with many sets of parameters, side by side.

    The equations come from the Lagrangian as in `simulate`, but are taken apart into scalar
    operations and integrated for blocks of lanes at once, each lane with its own step size. What
    is wanted of each motion is reduced on the way; trajectories are not stored.

    **Main arguments:**

    - `q0s`, `qd0s`: initial states, shape (lanes, n), or (n,) for all lanes; or mappings by name
      of numbers and arrays of shape (lanes,). `qd0s=None` starts at rest. SI units, radians.
    - `duration` [s], a number, or an array of shape (lanes,) where motions differ; `t0` likewise.
    - `reduce`: what to keep: a reducer (`Last`, `Largest`, `Smallest`, `FirstTime`, `Crossings`,
      `Samples`, `EnergyError`, `Growth`, `Neighbours`, `Megno`, `Sali`, or your own), its name
      ("last", "energy_error"), a list of them, or a mapping by name. None means `Last`:
      `values["last"]` is (q, q̇) at the end.
    - `params`: as the system's, where a leaf with one more leading axis varies from lane to lane;
      or a mapping by path of such values: `params={"mB": np.linspace(0.1, 0.2, 1000)}`.
    - `method`: "Dopri8", "Tsit5", "Dopri5", "Bosh3" or such a Diffrax solver, from which the
      coefficients are taken; None chooses by the size of the equations.
    - `rtol`, `atol`: tolerances per step; `rtol=None` means 1e-8 (1e-4 in float32), `atol=None`
      equal to it. `dt`: a constant step [s] instead, adjusted to divide the duration.
    - `stabilise`: of constrained machines: "projection" (the default), "baumgarte", "none".

    **Other arguments:**

    - `fixed_params`: write the parameters that all lanes share into the program as numbers. Zeros
      and ones then vanish from the equations, which makes machines of general parts several times
      faster; but other parameters compile anew. The printed result says where it may be worth it.
    - `max_steps`: of one lane, accepted or not.
    - `block`: lanes that share a loop; changes rounding. `devices`: how many to use, all if None.
    - `progress`: show a bar; None means on a terminal, if the run is long. Ctrl-C keeps what is
      done; the other lanes are INTERRUPTED.

    A lane that fails leaves at once with a status and does not disturb the others. What is kept of
    it is NaN (samples from the failure on), and −1 where a reducer counts in integers; status,
    steps and the time of its end are there. Derivatives of what is NaN are NaN. New numbers,
    tolerances, durations and numbers of lanes do not compile anew. The same call on the same
    machine and versions gives the same bytes. Differentiable in forward mode.

    **Raises:** `ValueError` for a wrong call.
    """
    warn_if_single_precision()
    require_system(system)
    clock, before = time.perf_counter(), compiling_seconds()
    named = reducers(reduce, system)
    used = list(named.values())
    version_of(*used)
    lanes_asked = lanes_of_clocks(t0, duration, used)
    how = stabilisation(system, stabilise)
    require_room(system, q0s, qd0s, params)
    values, varies, common = parameters(system, params)
    starts, varying = spread_out(
        states(system, q0s, "q0s"), states(system, qd0s, "qd0s"), values, varies, lanes_asked
    )
    directions, roles = tangents_and_roles(used, system.n)
    asked, own_params = times_of(used), varying
    if lanes_asked is None:
        own = None
        tolerances = checked_tolerances(t0, duration, rtol, atol, dt, max_steps)
        times, picks = stops(used, tolerances)
        first = tolerances.start
    else:
        own = clocks(t0, duration, used, starts.shape[0])
        tolerances = checked_tolerances(0.0, own.longest(), rtol, atol, dt, max_steps)
        # Each lane's end is sampled too, last, and left out again.
        times, picks = None, [None if own_times is None else _all_but_last for own_times in asked]
        asked = [None if own_times is None else own.stops for own_times in asked]
        varying, first = varying + own.arrays(), own.start
        used = [without_times(reducer) for reducer in used]
    work = any(reducer.needs_work for reducer in used)
    layout = Layout(system.n, len(directions), work)
    equations = (system.laws, layout, system.params, how)
    fixed = values_to_fix(common, varies) if fixed_params else ()
    if fixed and not worth_fixing(fixed, *equations):
        fixed = ()
    program, why = choose_program(None if method is None else as_tableau(method), *equations, fixed)
    lanes = _BLOCK.get(jax.default_backend(), _BLOCK_ELSEWHERE)
    lanes = lanes if block is None else as_count(block, "block", 1)
    available = jax.local_device_count()
    plan = Plan(
        program=program,
        roles=roles,
        lanes=lanes,
        blocks=max(_TILE // lanes, 1),
        devices=available if devices is None else min(as_count(devices, "devices", 1), available),
        clocks=0 if own is None else len(own.arrays()),
    )
    run = Run(
        params=jax.tree.map(in_force, common),
        varies=varies,
        stabilise=jax.tree.map(in_force, how),
        reducers=tuple(jax.tree.map(_in_force_if_array, reducer) for reducer in used),
        tangents=directions,
        tolerances=tolerances,
        stops=times,
    )
    indefinite = (
        None
        if is_traced(run, starts, varying)
        else indefinite_starts(program, run, first, starts, own_params)
    )
    whole = run_tiles(plan, run, starts, varying, system.name, progress)
    whole = _picked(whole, asked, picks)
    if is_traced(whole):
        whole = jax.tree.map(_forward_only, whole)
    compiling = compiling_seconds() - before
    return Ensemble(
        values=dict(zip(named, whole.values, strict=True)),
        status=whole.status,
        steps=whole.accepted,
        rejected=whole.rejected,
        ends=whole.end,
        settings={
            "duration": _plain(duration),
            "t0": _plain(t0),
            "dt": _plain(dt),
            "stabilise": stabilisation_as_data(how),
            "why": why,
            **_recorded(plan, tolerances),
        },
        system=system,
        compiling=compiling,
        running=time.perf_counter() - clock - compiling,
        indefinite=indefinite,
    )


_all_but_last = slice(None, -1)


def _picked(whole: Outcome, times: list[Any], picks: list[Any]) -> Outcome:
    """Each reducer's own samples of all that were taken, and nothing of motions that failed."""
    values = tuple(
        value if pick is None else jax.tree.map(lambda x, i=pick: x[:, i], value)
        for value, pick in zip(whole.values, picks, strict=True)
    )
    return whole._replace(values=without_failed(whole._replace(values=values), times))


def _recorded(plan: Plan, tolerances: Tolerances) -> dict[str, Any]:
    """What else influences the bytes."""
    return {
        "method": plan.program.tableau.name,
        "rtol": _plain(tolerances.rtol),
        "atol": _plain(tolerances.atol),
        "max_steps": int(tolerances.max_steps),
        "form": plan.program.form.value,
        "block": plan.lanes,
        "blocks": plan.blocks,
        "devices": plan.devices,
        "fixed_params": bool(plan.program.fixed),
        "precision": float_dtype().name,
        "platform": jax.default_backend(),
        "jax": jax.__version__,
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
    }


def _plain(number: Any) -> float | list[float] | None:
    """A number for the record, or each lane's own; None where it is being traced, or not given."""
    return None if number is None or is_traced(number) else np.asarray(number, float).tolist()


def _in_force_if_array(leaf: Any) -> Any:
    return in_force(leaf) if isinstance(leaf, jax.Array | np.ndarray) else leaf


def _forward_only(leaf: Any) -> Any:
    """A result through which no reverse-mode derivative passes; counts have none anyway."""
    return forward_only(leaf, _NEEDS_SIMULATE) if leaf.dtype.kind == "f" else leaf
