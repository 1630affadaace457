"""The host's loop around crossings: blocks of lanes, progress, interruption."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from .._checks import MAX_STEPS_LIMIT, in_force
from .._fingerprint import version_of
from .._progress import Progress
from .._results import Status
from .._stretches import stretches
from .._typing import Params
from ..model import AbstractSystem
from ._crossed import AbstractCrossed
from ._crossings import (
    SOLVED,
    Catch,
    CrossingPlan,
    CrossingRun,
    Met,
    begin_crossing,
    carry_on,
    drained,
    lanes_for,
    solve_crossings,
)
from ._lane_equations import Layout
from ._prepare import checked_tolerances, parameters, spread_out, stabilisation, states
from ._program_choice import choose_program


class Crossed(NamedTuple):
    """All crossings, lane by lane.

    Attributes:
        lanes: whose each is, shape (k,); met: where it is.
        status, ends: of every lane, shape (lanes,).
        params: as they were used; leaves that vary have the lanes in front.
    """

    lanes: np.ndarray
    met: Met
    status: np.ndarray
    ends: np.ndarray
    params: Params
    interrupted: bool


def crossings(
    system: AbstractSystem,
    q0s: Any,
    qd0s: Any,
    section: AbstractCrossed,
    *,
    direction: int,
    duration: Any,
    since: Any,
    limit: int | None,
    params: Params,
    t0: Any,
    rtol: Any,
    progress: bool | None,
) -> Crossed:
    """Every crossing of `section` by motions from many states, for sound arguments."""
    tolerances = checked_tolerances(t0, duration, rtol, None, None, MAX_STEPS_LIMIT)
    version_of(section)
    how = stabilisation(system, None)
    values, varies, common = parameters(system, params)
    starts, varying = spread_out(
        states(system, q0s, "q0s"), states(system, qd0s, "qd0s"), values, varies
    )
    layout = Layout(system.n, 0, work=False)
    program, _ = choose_program(None, system.laws, layout, system.params, how)
    count = len(starts)
    lanes = lanes_for(count)
    plan = CrossingPlan(program, direction, lanes)
    run = CrossingRun(
        section=section,
        params=jax.tree.map(in_force, common),
        varies=varies,
        stabilise=jax.tree.map(in_force, how),
        tolerances=tolerances,
        since=in_force(since),
        limit=np.asarray(MAX_STEPS_LIMIT if limit is None else limit, np.int32),
    )
    status, ends = np.full(count, int(Status.INTERRUPTED)), np.full(count, float(tolerances.start))
    whose = [np.zeros(0, int)]
    put_aside = [np.zeros((0, 5 + 2 * system.n))]
    length = float(tolerances.end - tolerances.start)
    interrupted = False
    try:
        with Progress(count * length, progress, system.name) as bar:
            for first in range(0, count, lanes):
                own = np.arange(first, min(first + lanes, count))

                def keep(catch: Catch, first: int = first, own: np.ndarray = own) -> None:
                    mine, steps = drained(catch)
                    whose.append(mine + first)
                    put_aside.append(steps)
                    state = np.asarray(catch.loop.status)[: len(own)].astype(int)
                    end = np.asarray(catch.loop.t)[: len(own)]
                    done = (state != Status.OK) | (end >= float(tolerances.end))
                    status[own] = np.where(done, state, int(Status.INTERRUPTED))
                    ends[own] = end
                    share = np.where(done, length, end - float(tolerances.start))
                    bar.update(first * length + float(np.sum(share)))

                local = _for_lanes(run, varying, own, lanes)
                _run_block(plan, local, _padded(starts[own], lanes, np.nan).T, keep)
    except KeyboardInterrupt:
        interrupted = True
    order = np.argsort(np.concatenate(whose), kind="stable")
    mine, steps = np.concatenate(whose)[order], np.concatenate(put_aside)[order]
    return Crossed(
        lanes=mine,
        met=_solved(plan, run, varying, mine, steps),
        status=status,
        ends=ends,
        params=values,
        interrupted=interrupted,
    )


def _run_block(
    plan: CrossingPlan, run: CrossingRun, starts: np.ndarray, keep: Callable[[Catch], None]
) -> None:
    """One block to its end, a part of a second at a time."""
    catch = begin_crossing(plan, run, starts)

    def taken() -> int:
        return int(np.max(catch.loop.steps))

    def going() -> bool:
        status, t = np.asarray(catch.loop.status), np.asarray(catch.loop.t)
        return bool(np.any((status == Status.OK) & (t < float(run.tolerances.end))))

    if not going():  # no lane starts: their statuses are all there is
        keep(catch)
    for stretch in stretches(taken, going):
        catch = carry_on(plan, run, starts, catch, np.asarray(stretch, np.int32))
        keep(catch)


def _solved(
    plan: CrossingPlan,
    run: CrossingRun,
    varying: list[Any],
    whose: np.ndarray,
    steps: np.ndarray,
) -> Met:
    n, size = plan.program.layout.n, SOLVED
    plan = plan._replace(lanes=size)
    parts = [Met(np.zeros(0), np.zeros((0, n)), np.zeros((0, n)), np.zeros(0))]
    for first in range(0, len(steps), size):
        chosen = slice(first, first + size)
        own = whose[chosen]
        local = _for_lanes(run, varying, own, size)
        part = solve_crossings(plan, local, _padded(steps[chosen], size, None).T)
        parts.append(jax.tree.map(lambda leaf, who=own: np.asarray(leaf)[: len(who)], part))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


def _for_lanes(run: CrossingRun, varying: list[Any], own: np.ndarray, lanes: int) -> CrossingRun:
    """The run with the parameters of some lanes, lanes last where they vary."""
    leaves, structure = jax.tree.flatten(run.params)
    given = iter(varying)
    chosen = [
        np.moveaxis(_padded(np.asarray(next(given))[own], lanes, None), 0, -1) if mark else leaf
        for leaf, mark in zip(leaves, jax.tree.leaves(run.varies), strict=True)
    ]
    return run._replace(params=jax.tree.unflatten(structure, chosen))


def _padded(array: np.ndarray, lanes: int, filler: float | None) -> np.ndarray:
    """Rows up to the number of lanes: of a number, or the last one again."""
    missing = lanes - len(array)
    if not missing:
        return array
    rows = np.repeat(array[-1:], missing, axis=0)
    return np.concatenate([array, rows if filler is None else np.full_like(rows, filler)])
