"""A block of lanes from start to end, each with its own step size; what is kept is reduced."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from .._results import Status
from .._typing import Params
from .._void import void
from ..motion import max_condition
from ._control import OK, Pace, Tolerances, accept_or_reject, error_size, first_step, next_step
from ._field import AbstractField, Lane, State
from ._instant import Instant
from ._lanewise import Bundle, is_bundle, lanewise, select_unshared, stacked
from ._reducer_protocol import AbstractReducer, AbstractSample
from ._step import Step
from ._tableau import Tableau

# Tangents beyond these sizes are divided or multiplied by 2**32, which loses no digit.
_LARGE, _SMALL, _DOUBLINGS = 2.0**32, 2.0**-32, 32.0


Advance = Callable[..., Step]


class Loop(NamedTuple):
    """What a block carries from step to step."""

    pace: Pace
    y: State
    rate: State
    doublings: tuple[Lane, ...]  # of each tangent
    kept: tuple[Any, ...]  # the reducers' carries

    @property
    def t(self) -> Lane:
        """How far each lane is [s]."""
        return self.pace.t

    @property
    def status(self) -> Lane:
        """Of each lane."""
        return self.pace.status

    @property
    def steps(self) -> Lane:
        """Of each lane, accepted or not."""
        return self.pace.accepted + self.pace.rejected


class Role(NamedTuple):
    """What a reducer does in a block, besides what its arrays hold; hashable.

    Attributes:
        first, end: which of the block's tangents are its own.
        at_stops: whether it samples at the stops, not at the end.
        ends: whether it may end motions.
    """

    first: int = 0
    end: int = 0
    at_stops: bool = False
    ends: bool = False


class Outcome(NamedTuple):
    """What is left of a block: arrays with the lanes' axis last."""

    values: tuple[Any, ...]
    status: Any
    accepted: Any
    rejected: Any
    end: Any  # [s] when each motion ended


class Block(NamedTuple):
    """How to run a block."""

    field: AbstractField
    advance: Advance
    tableau: Tableau
    reducers: tuple[tuple[Any, Any], ...]  # each as bundles, and what is not an array
    roles: tuple[Role, ...]  # of the reducers
    params: Any  # as pytrees of bundles
    projecting: bool
    lanes: int

    def run(self, y: State, sound: Lane, tolerances: Tolerances, stops: Any) -> Outcome:
        """From the start to the end, with samples at `stops` if not None.

        Stops have shape (k,), or (k, lanes) where lanes have their own; `tolerances` may then have
        start and end of shape (lanes,).
        """
        loop = self.begin(y, sound, tolerances)
        if stops is None:
            loop = self._until(loop, tolerances.end, tolerances)
            taken = ()
        else:

            def reach(loop: Loop, stop: Any) -> tuple[Loop, Any]:
                loop = self._until(loop, stop, tolerances)
                if stop.ndim == 0:
                    return loop, self._samples(loop, at_stop=True)
                taken = self._samples(_moved(loop, stop), at_stop=True)
                return loop, jax.tree.map(partial(_void_lanes, loop.t != stop), taken)

            # The end is one more stop, so that the loop is compiled once; its sample is left out.
            end = jnp.broadcast_to(tolerances.end, stops.shape[1:])
            loop, taken = lax.scan(reach, loop, jnp.concatenate([stops, end[None]]))
            loop = loop if end.ndim == 0 else _moved(loop, end)
        return self._outcome(loop, taken)

    def begin(self, y: State, sound: Lane, tolerances: Tolerances) -> Loop:
        """Before the first step; lanes that are not `sound` stay out."""
        t = jnp.broadcast_to(tolerances.start, y[0].shape)
        if self.projecting:
            y = self.field.projected(t, y)
        rate = self.field.derivative(t, y)
        finite = _all_finite(rate)
        status = jnp.where(
            sound, jnp.where(finite, OK, 1.0 * Status.NON_FINITE), 1.0 * Status.BAD_INPUT
        )
        starts = self._instant(t, y, rate, ())
        kept = tuple(self._ask(_init, i, at, self.params) for i, at in enumerate(starts))
        zero = jnp.zeros_like(t)
        return Loop(
            pace=Pace(
                t=t,
                h=first_step(self.field.layout, y, rate, tolerances),
                error=zero,
                status=self._ended(status, kept),
                accepted=zero,
                rejected=zero,
            ),
            y=y,
            rate=rate,
            doublings=(zero,) * self.field.layout.tangents,
            kept=kept,
        )

    def _until(self, loop: Loop, stop: Any, tolerances: Tolerances) -> Loop:
        def going(loop: Loop) -> Any:
            return jnp.any((loop.status == OK) & (loop.t < stop))

        return lax.while_loop(going, lambda loop: self.step(loop, stop, tolerances), loop)

    def step(self, loop: Loop, stop: Any, tolerances: Tolerances) -> Loop:
        """After one step of every lane that has not reached `stop` [s]."""
        h, t = next_step(loop.pace, stop)
        step = self.advance(self.field, self.tableau, loop.t, h, loop.y, loop.rate)
        if self.projecting:
            y = self.field.projected(t, step.y)
            step = Step(y, self.field.derivative(t, y), step.error)
        if tolerances.dt is None:
            size = error_size(self.field.layout, loop.y, step, tolerances)
        else:
            size = jnp.where(_all_finite(step.y), 0.0, jnp.inf)
        pace, accept = accept_or_reject(loop.pace, size, stop, self.tableau.order, tolerances)
        before = self._instant(loop.t, loop.y, loop.rate, loop.doublings)
        y, rate, doublings = self._rescaled(step.y, step.rate, loop.doublings)
        after = self._instant(t, y, rate, doublings)
        kept = tuple(
            self._ask(_update, i, carry, old, new, self.params)
            for i, (carry, old, new) in enumerate(zip(loop.kept, before, after, strict=True))
        )
        y, rate, doublings, kept = select_unshared(
            accept, (y, rate, doublings, kept), (loop.y, loop.rate, loop.doublings, loop.kept)
        )
        pace = pace._replace(status=self._ended(pace.status, kept))
        return Loop(pace, y, rate, doublings, kept)

    def _ask(
        self, question: Callable[..., Any], i: int, *told: Any, by_scalars: bool = True
    ) -> Any:
        """Put a question to the i-th reducer, for every lane."""
        arrays, rest = self.reducers[i]

        def asked(arrays: Any, *told: Any) -> Any:
            return question(eqx.combine(arrays, rest), *told)

        return lanewise(asked, self.lanes, arrays, *told, by_scalars=by_scalars)

    def _samples_at(self, i: int) -> bool | None:
        """Whether the i-th reducer samples at stops; or, if False, at the end; None if neither."""
        return self.roles[i].at_stops if isinstance(self.reducers[i][1], AbstractSample) else None

    def _ended(self, status: Lane, kept: tuple[Any, ...]) -> Lane:
        """Lanes whose reducers are done leave."""
        for i, carry in enumerate(kept):
            if self.roles[i].ends:
                done = self._ask(_done, i, carry).entries[0]
                status = jnp.where(done & (status == OK), 1.0 * Status.EVENT, status)
        return status

    def _rescaled(
        self, y: State, rate: State, doublings: tuple[Lane, ...]
    ) -> tuple[State, State, tuple[Lane, ...]]:
        """Tangents of moderate size: multiplied by powers of 2, which is exact."""
        layout, made = self.field.layout, []
        new_y, new_rate = list(y), list(rate)
        for i in range(layout.tangents):
            start = 2 * layout.n * (1 + i)
            own = range(start, start + 2 * layout.n)
            size = sum(y[j] ** 2 for j in own)
            much, little = size > _LARGE**2, (size < _SMALL**2) & (size > 0)
            scale = jnp.where(much, 1.0 / _LARGE, jnp.where(little, 1.0 / _SMALL, 1.0))
            change = jnp.where(much, _DOUBLINGS, jnp.where(little, -_DOUBLINGS, 0.0))
            for j in own:
                new_y[j], new_rate[j] = y[j] * scale, rate[j] * scale
            made.append(doublings[i] + change)
        return tuple(new_y), tuple(new_rate), tuple(made)

    def _instant(
        self, t: Lane, y: State, rate: State, doublings: tuple[Lane, ...]
    ) -> tuple[Instant, ...]:
        """The moment as each reducer sees it."""
        layout = self.field.layout
        n = layout.n
        q, qd = layout.pair(y, 0)
        whole = Instant(
            t=Bundle((t,), ()),
            q=Bundle(q, (n,)),
            qd=Bundle(qd, (n,)),
            qdd=Bundle(rate[n : 2 * n], (n,)),
            work=Bundle((y[-1],), ()) if layout.work else (),
        )
        seen = []
        for first, end, *_ in self.roles:
            if first == end:
                seen.append(whole)
                continue
            pairs = layout.pairs(y)[1 + first : 1 + end]
            count = doublings[first:end] or (jnp.zeros_like(t),) * (end - first)
            seen.append(
                whole._replace(
                    dq=Bundle(tuple(x for dq, _ in pairs for x in dq), (end - first, n)),
                    dqd=Bundle(tuple(x for _, dqd in pairs for x in dqd), (end - first, n)),
                    doublings=Bundle(count, (end - first,)),
                )
            )
        return tuple(seen)

    def _samples(self, loop: Loop, at_stop: bool) -> tuple[Any, ...]:
        """What reducers keep at a stop, if they have times, or at the end; lanes last."""
        instants = self._instant(loop.t, loop.y, loop.rate, loop.doublings)
        return tuple(
            _stacked(self._ask(_sample, i, at, self.params), self.lanes)
            if self._samples_at(i) is at_stop
            else ()
            for i, at in enumerate(instants)
        )

    def _outcome(self, loop: Loop, taken: Any) -> Outcome:
        last = self._samples(loop, at_stop=False)
        values = tuple(
            _stacked(self._ask(_finish, i, carry, by_scalars=False), self.lanes)
            if self._samples_at(i) is None
            else (taken if self._samples_at(i) else last)[i]
            for i, carry in enumerate(loop.kept)
        )
        return Outcome(
            values=values,
            status=self._explained(loop).astype(jnp.int32),
            accepted=loop.pace.accepted.astype(jnp.int32),
            rejected=loop.pace.rejected.astype(jnp.int32),
            end=loop.t,
        )

    def _explained(self, loop: Loop) -> Lane:
        """A motion that could not go on where its mass matrix is singular failed for that."""
        failed = (loop.status == Status.NON_FINITE) | (loop.status == Status.STEP_TOO_SMALL)
        condition = self.field.condition(loop.t, loop.y)
        singular = failed & ~(condition < max_condition(loop.t.dtype))
        return jnp.where(singular, 1.0 * Status.SINGULAR, loop.status)


def _init(reducer: AbstractReducer, at: Instant, params: Params) -> Any:
    return reducer.init(at, params)


def _update(
    reducer: AbstractReducer, carry: Any, before: Instant, after: Instant, params: Params
) -> Any:
    return reducer.update(carry, before, after, params)


def _finish(reducer: AbstractReducer, carry: Any) -> Any:
    return reducer.finish(carry)


def _done(reducer: AbstractReducer, carry: Any) -> Any:
    return jnp.asarray(reducer.done(carry), bool)


def _sample(reducer: AbstractSample, at: Instant, params: Params) -> Any:
    return reducer.sample(at, params)


def _moved(loop: Loop, stop: Lane) -> Loop:
    """The same state at the same moment, which has the derivatives of a state at `stop`.

    A lane that has come to its stop by a step has them already; one that was there without a step,
    at its start or at a stop twice, has not.
    """
    late = jnp.where(loop.t == stop, stop - loop.t, 0.0)
    y = tuple(a + late * b for a, b in zip(loop.y, loop.rate, strict=True))
    return loop._replace(y=y, pace=loop.pace._replace(t=loop.t + late))


def _void_lanes(gone: Lane, values: Any) -> Any:
    """NaN for lanes that are gone; lanes are last."""
    if values.dtype.kind != "f":
        return values
    return jnp.moveaxis(void(jnp.moveaxis(values, -1, 0), gone), 0, -1)


def _all_finite(y: State) -> Lane:
    sound = jnp.isfinite(y[0])
    for a in y[1:]:
        sound = sound & jnp.isfinite(a)
    return sound


def _stacked(tree: Any, lanes: int) -> Any:
    return jax.tree.map(lambda bundle: stacked(bundle, lanes), tree, is_leaf=is_bundle)
