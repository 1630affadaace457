"""A block of lanes from start to end, each with its own step size; what is kept is reduced."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._results import Status
from .._typing import AnyArray
from .._void import void
from ..motion import max_condition
from ._control import OK, Pace, Tolerances, accept_or_reject, error_size, first_step, next_step
from ._field import AbstractField, Lane, State
from ._instant import Instant
from ._lanewise import select_unshared
from ._reducer_protocol import Carry, Value
from ._reduction import Reduction
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
    kept: tuple[Carry, ...]  # of the reducers, as bundles

    @property
    def t(self) -> Lane:
        """How far each lane is [s]."""
        return self.pace.t

    @property
    def status(self) -> Lane:
        """Of each lane, as `Status`, in floats."""
        return self.pace.status

    @property
    def steps(self) -> Lane:
        """Of each lane, accepted or not."""
        return self.pace.accepted + self.pace.rejected


class Outcome(NamedTuple):
    """What is left of a block: arrays with the lanes' axis last."""

    values: tuple[Value, ...]  # of the reducers
    status: AnyArray
    accepted: AnyArray
    rejected: AnyArray
    end: AnyArray  # [s] when each motion ended


class Block(NamedTuple):
    """How to run a block."""

    field: AbstractField
    advance: Advance
    tableau: Tableau
    reduction: Reduction
    projecting: bool

    def run(self, y: State, sound: Lane, tolerances: Tolerances, stops: AnyArray | None) -> Outcome:
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
        kept = self.reduction.begin(self._seen(t, y, rate, ()))
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

    def _until(self, loop: Loop, stop: Lane, tolerances: Tolerances) -> Loop:
        def going(loop: Loop) -> Any:
            return jnp.any((loop.status == OK) & (loop.t < stop))

        return lax.while_loop(going, lambda loop: self.step(loop, stop, tolerances), loop)

    def step(self, loop: Loop, stop: Lane, tolerances: Tolerances) -> Loop:
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
        before = self._seen(loop.t, loop.y, loop.rate, loop.doublings)
        y, rate, doublings = self._rescaled(step.y, step.rate, loop.doublings)
        after = self._seen(t, y, rate, doublings)
        kept = self.reduction.update(loop.kept, before, after)
        y, rate, doublings, kept = select_unshared(
            accept, (y, rate, doublings, kept), (loop.y, loop.rate, loop.doublings, loop.kept)
        )
        pace = pace._replace(status=self._ended(pace.status, kept))
        return Loop(pace, y, rate, doublings, kept)

    def _ended(self, status: Lane, kept: tuple[Carry, ...]) -> Lane:
        """Lanes whose reducers are done leave."""
        for done in self.reduction.done(kept):
            status = jnp.where(done & (status == OK), 1.0 * Status.EVENT, status)
        return status

    def _rescaled(
        self, y: State, rate: State, doublings: tuple[Lane, ...]
    ) -> tuple[State, State, tuple[Lane, ...]]:
        """Tangents of moderate size: multiplied by powers of 2, which is exact."""
        layout, counts = self.field.layout, []
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
            counts.append(doublings[i] + change)
        return tuple(new_y), tuple(new_rate), tuple(counts)

    def _seen(
        self, t: Lane, y: State, rate: State, doublings: tuple[Lane, ...]
    ) -> tuple[Instant, ...]:
        return self.reduction.seen(self.field.layout, t, y, rate, doublings)

    def _samples(self, loop: Loop, at_stop: bool) -> tuple[Value, ...]:
        return self.reduction.samples(
            self._seen(loop.t, loop.y, loop.rate, loop.doublings), at_stop
        )

    def _outcome(self, loop: Loop, taken: tuple[Value, ...]) -> Outcome:
        values = self.reduction.values(loop.kept, taken, self._samples(loop, at_stop=False))
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


def _moved(loop: Loop, stop: Lane) -> Loop:
    """The same state at the same moment, which has the derivatives of a state at `stop`.

    A lane that has come to its stop by a step has them already; one that was there without a step,
    at its start or at a stop twice, has not.
    """
    late = jnp.where(loop.t == stop, stop - loop.t, 0.0)
    y = tuple(a + late * b for a, b in zip(loop.y, loop.rate, strict=True))
    return loop._replace(y=y, pace=loop.pace._replace(t=loop.t + late))


def _void_lanes(gone: Lane, values: AnyArray) -> AnyArray:
    """NaN for lanes that are gone; lanes are last."""
    if values.dtype.kind != "f":
        return values
    return jnp.moveaxis(void(jnp.moveaxis(values, -1, 0), gone), 0, -1)


def _all_finite(y: State) -> Lane:
    sound = jnp.isfinite(y[0])
    for a in y[1:]:
        sound = sound & jnp.isfinite(a)
    return sound
