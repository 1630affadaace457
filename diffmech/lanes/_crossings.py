"""Where motions cross a section: noticed step by step, then found to rounding.

A step whose ends lie on two sides of the section, or whose slopes say that it went over and came
back, is put aside. Later the crossing is solved for the part of that step at which it lies, every
trial being a Runge-Kutta step of its own from the step's start: crossings are as accurate as the
motion, and no interpolation comes in.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._results import Status
from .._typing import AnyArray, Params
from ..motion import AbstractStabilisation
from ._block import Block, Loop
from ._control import Tolerances
from ._crossed import AbstractCrossed, all_count
from ._field import Lane, LaneParameters, State, Varies
from ._instant import Instant, between, peak
from ._lanewise import Bundle, bundled, lanewise, shared
from ._program import Program

SOLVED = 64  # crossings at a time
_ROOM = 4096  # for crossings of all lanes of a block, between two looks of the host
_TRIALS = 60  # halving alone needs 53


class CrossingPlan(NamedTuple):
    """Everything the programs are compiled for; hashable."""

    program: Program
    direction: int
    lanes: int

    @property
    def room(self) -> int:
        """For crossings of one lane."""
        return _ROOM // self.lanes


class CrossingRun(NamedTuple):
    """The numbers of a run.

    Attributes:
        section: its function, with how often to look at it, and which of its zeros count.
        params: with the lanes' axis last, where they vary.
        varies: the same tree of truth values.
        since: crossings before are not kept [s].
        limit: crossings after which a lane ends.
    """

    section: AbstractCrossed
    params: Params
    varies: Varies
    stabilise: AbstractStabilisation | None
    tolerances: Tolerances
    since: AnyArray
    limit: AnyArray


class Catch(NamedTuple):
    """Where a block of lanes is, and the steps put aside since the host last looked.

    Attributes:
        count: of the steps put aside, shape (lanes,); total: of all so far.
        steps: (t, h, first part, last part, sign, q, q̇), shape (room, 5 + 2n, lanes).
    """

    loop: Loop
    count: AnyArray
    total: AnyArray
    steps: AnyArray


class Met(NamedTuple):
    """Crossings: shapes (k,), (k, n), (k, n), (k,); the last is the section's value there."""

    t: AnyArray
    q: AnyArray
    qd: AnyArray
    value: AnyArray


def _block(plan: CrossingPlan, run: CrossingRun, start: State, t: Lane) -> Block:
    parameters = LaneParameters(run.params, run.varies, run.stabilise)
    return plan.program.block(parameters, t, start)


def _ask(plan: CrossingPlan, run: CrossingRun, question: Callable[..., Any], *told: Any) -> Any:
    """A question about the section, put for every lane."""
    arrays, rest = eqx.partition(run.section, eqx.is_array)
    params = jax.tree.map(
        lambda leaf, own: bundled(leaf) if own else shared(leaf), run.params, run.varies
    )

    def asked(arrays: Any, params: Params, *told: Any) -> Any:
        return question(eqx.combine(arrays, rest), params, *told)

    return lanewise(asked, plan.lanes, jax.tree.map(shared, arrays), params, *told)


def _instant(n: int, t: Lane, y: State, rate: State) -> Instant:
    """Of every lane, as bundles."""
    return Instant(
        t=Bundle((t,), ()),
        q=Bundle(y[:n], (n,)),
        qd=Bundle(y[n : 2 * n], (n,)),
        qdd=Bundle(rate[n : 2 * n], (n,)),
    )


def _crossed(section: AbstractCrossed, params: Params, before: Instant, after: Instant) -> Any:
    """For rising and for falling: whether the step crosses, and the part in which it does."""
    low = section(before.q, before.qd, before.t, params)
    high = section(after.q, after.qd, after.t, params)
    side = jnp.where(low < 0, 1.0, -1.0)  # 1 if it comes from below
    s, top = peak(lambda *state: side * section(*state), before, after, params)
    once = (side * low < 0) & (side * high >= 0)
    twice = (side * low < 0) & (side * high < 0) & (top >= 0)
    if not all_count(section):
        state = between(before, after, jnp.where(twice, s, 1.0))
        counts = section.counts(*state, params)
        once, twice = once & counts, twice & counts
    going = once | twice, jnp.zeros_like(s), jnp.where(twice, s, 1.0)
    coming = twice, s, jnp.ones_like(s)
    up = side > 0
    rising = tuple(jnp.where(up, a, b) for a, b in zip(going, coming, strict=True))
    falling = tuple(jnp.where(up, b, a) for a, b in zip(going, coming, strict=True))
    return rising, falling


def _pace(section: AbstractCrossed, params: Params, at: Instant) -> Any:
    return section.pace(at.q, at.qd, at.t, params)


@eqx.filter_jit
def begin_crossing(plan: CrossingPlan, run: CrossingRun, starts: AnyArray) -> Catch:
    """Lanes about to start from `starts`, shape (2n, lanes); those that are NaN stay out."""
    y = tuple(starts)
    t = run.tolerances.start
    sound = plan.program.sound_starts(starts, t, run.params, run.varies)
    loop = _block(plan, run, y, t).begin(y, sound, run.tolerances)
    none = jnp.zeros(plan.lanes, jnp.int32)
    steps = jnp.zeros((plan.room, 5 + 2 * plan.program.layout.n, plan.lanes), starts.dtype)
    return Catch(loop, none, none, steps)


@eqx.filter_jit
def carry_on(
    plan: CrossingPlan, run: CrossingRun, starts: AnyArray, catch: Catch, most: AnyArray
) -> Catch:
    """At most `most` steps more, or until a lane has no room left; what was put aside is new."""
    n = plan.program.layout.n
    block = _block(plan, run, tuple(starts), run.tolerances.start)
    wanted = {1: (True, False), -1: (False, True), 0: (True, True)}[plan.direction]

    def going(carry: tuple[Catch, Any]) -> Any:
        catch, left = carry
        live = (catch.loop.status == Status.OK) & (catch.loop.t < run.tolerances.end)
        return jnp.any(live) & jnp.all(catch.count <= plan.room - 2) & (left > 0)

    def step(carry: tuple[Catch, Any]) -> tuple[Catch, Any]:
        catch, left = carry
        old, stop = catch.loop, run.tolerances.end
        before = _instant(n, old.t, old.y, old.rate)
        pace = _ask(plan, run, _pace, before).entries[0]
        stop = jnp.minimum(stop, old.t + 1.0 / jnp.maximum(pace, jnp.finfo(pace.dtype).tiny))
        # Steps end where crossings begin to be kept, so that each lies on one side of it.
        stop = jnp.where(old.t < run.since, jnp.minimum(stop, run.since), stop)
        new = block.step(old, stop, run.tolerances)
        # The step of a lane that did not move is of no length, and crosses nothing.
        taken = new.pace.accepted > old.pace.accepted
        after = _instant(n, new.t, new.y, new.rate)
        crossed = _ask(plan, run, _crossed, before, after)
        for sign, own, (crosses, first, last) in zip((1.0, -1.0), wanted, crossed, strict=True):
            if own:
                part = (crosses.entries[0], first.entries[0], last.entries[0])
                catch = _put_aside(run, catch, sign, taken, part, new.t - old.t)
        full = (catch.total >= run.limit) & (new.status == Status.OK)
        ended = jnp.where(full, 1.0 * Status.EVENT, new.status)
        new = new._replace(pace=new.pace._replace(status=ended))
        return catch._replace(loop=new), left - 1

    fresh = catch._replace(count=jnp.zeros_like(catch.count))
    return lax.while_loop(going, step, (fresh, most))[0]


def _put_aside(run: CrossingRun, catch: Catch, sign: float, taken: Any, part: Any, h: Any) -> Catch:
    """The step that starts where the catch is, for the lanes that cross in it."""
    crosses, first, last = part
    t, y = catch.loop.t, catch.loop.y
    keep = taken & crosses & (t >= run.since) & (catch.total < run.limit)
    rows = jnp.stack([t, h, first, last, jnp.full_like(t, sign), *y])
    lanes = jnp.arange(t.shape[0])
    where = jnp.where(keep, catch.count, len(catch.steps))  # out of range: not written
    more = keep.astype(catch.count.dtype)
    return catch._replace(
        count=catch.count + more,
        total=catch.total + more,
        steps=catch.steps.at[where, :, lanes].set(rows.T, mode="drop"),
    )


@eqx.filter_jit
def solve_crossings(plan: CrossingPlan, run: CrossingRun, steps: AnyArray) -> Met:
    """The crossings in steps put aside, shape (5 + 2n, lanes); parameters belong to these lanes."""
    n = plan.program.layout.n
    t, h, low, high, sign = steps[:5]
    y = tuple(steps[5:])
    block = _block(plan, run, y, t)
    rate = block.field.derivative(t, y)

    def at(s: Any) -> tuple[Any, tuple[Any, ...], Any, Any]:
        end = t + s * h
        trial = block.advance(block.field, block.tableau, t, s * h, y, rate)
        moved, change = trial.y, trial.rate
        if block.projecting:
            moved = block.field.projected(end, moved)
            change = block.field.derivative(end, moved)
        value, slope = _ask(plan, run, _along, _instant(n, end, moved, change))
        return end, moved, sign * value.entries[0], sign * h * slope.entries[0]

    def closer(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        s, low, high, _, trials = carry
        _, _, value, slope = at(s)
        low, high = jnp.where(value < 0, s, low), jnp.where(value < 0, high, s)
        newton = s - value / jnp.where(slope == 0, 1.0, slope)
        inside = (newton > low) & (newton < high) & (slope != 0)
        new = jnp.where(inside, newton, 0.5 * (low + high))
        small = 2 * jnp.finfo(s.dtype).eps
        done = (value == 0) | (jnp.abs(new - s) <= small) | (high - low <= small)
        return jnp.where(value == 0, s, new), low, high, done, trials + 1

    def unsettled(carry: tuple[Any, ...]) -> Any:
        return ~jnp.all(carry[3]) & (carry[4] < _TRIALS)

    first = 0.5 * (low + high)
    start = (first, low, high, jnp.zeros(plan.lanes, bool), jnp.zeros((), jnp.int32))
    s = lax.while_loop(unsettled, closer, start)[0]
    end, moved, value, _ = at(s)
    columns = jnp.stack(moved, axis=1)
    return Met(end, columns[:, :n], columns[:, n : 2 * n], sign * value)


def _along(section: AbstractCrossed, params: Params, at: Instant) -> tuple[Any, Any]:
    """The section's value, and its rate of change along the motion."""

    def moving(q: Any, qd: Any, t: Any) -> Any:
        return jnp.asarray(section(q, qd, t, params), at.q.dtype)

    return jax.jvp(moving, (at.q, at.qd, at.t), (at.qd, at.qdd, jnp.ones_like(at.t)))


def lanes_for(count: int) -> int:
    """How many lanes to run side by side for so many motions: a few sizes, so that few compile."""
    return next((size for size in (1, 8, 64) if count <= size), 64)


def drained(catch: Catch) -> tuple[np.ndarray, np.ndarray]:
    """What was put aside: lanes (k,) and steps (k, 5 + 2n), each lane's in order."""
    count, steps = np.asarray(catch.count), np.asarray(catch.steps)
    taken = np.arange(len(steps))[:, None] < count
    order, lanes = np.nonzero(taken)
    by_lane = np.lexsort((order, lanes))
    return lanes[by_lane], steps[order[by_lane], :, lanes[by_lane]]
