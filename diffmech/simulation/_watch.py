"""Which event happened within a step, and when.

An event that goes over and comes back within one step shows at neither end of it. So each is also
looked at where its slopes at both ends say that it turns, and at the samples on the way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import AnyArray, Params, Scalar
from ._events import Event, locate

_BISECTIONS = 40  # of the step: the turn itself is flat, so its time need not be known to rounding


class Step(NamedTuple):
    """An accepted step as events see it: its ends, the motion between, the samples it passed.

    Attributes:
        path: (t) -> y, the solver's interpolation.
        t0, t1: its ends [s].
        y1: the state at its end.
        ts, samples: all sample times and states; those from `first` up to `last` lie in the step.
    """

    path: Callable[[Scalar], AnyArray]
    t0: Scalar
    t1: Scalar
    y1: AnyArray
    ts: AnyArray
    samples: AnyArray
    first: AnyArray
    last: AnyArray


class _Span(NamedTuple):
    """For each event, whether it happens and in which part of the step, shape (events,)."""

    happens: AnyArray
    low: AnyArray
    value: AnyArray  # of the event at `low`
    high: AnyArray


def event_values(events: tuple[Event, ...], t: Scalar, y: AnyArray, params: Params) -> AnyArray:
    """The numbers whose signs decide, shape (events,)."""
    values = [event.value(t, y, params) for event in events]
    return jnp.stack(values) if values else jnp.zeros(0, y.dtype)


def first_event(
    events: tuple[Event, ...], params: Params, step: Step, before: AnyArray
) -> tuple[AnyArray, AnyArray, Scalar]:
    """Event values at the end of the step, which event happened first in it (−1 for none), when."""
    after = event_values(events, step.t1, step.y1, params)
    span = _earlier(
        _among_samples(events, params, step, before, after),
        _by_turning(events, params, step, before, after),
    )
    which, when = lax.cond(
        jnp.any(span.happens),
        lambda: _located(events, params, step, span),
        lambda: (jnp.asarray(-1, jnp.int32), step.t1),
    )
    return after, which, when


def _crossed(events: tuple[Event, ...], before: AnyArray, after: AnyArray) -> AnyArray:
    pairs = zip(events, before, after, strict=True)
    return jnp.stack([event.crossed(old, new) for event, old, new in pairs])


def _among_samples(
    events: tuple[Event, ...], params: Params, step: Step, before: AnyArray, after: AnyArray
) -> _Span:
    """The first two neighbours of start, samples and end between which each event happens."""

    def look(t: Scalar, value: AnyArray, seen: tuple[Scalar, AnyArray, _Span]) -> Any:
        low, old, span = seen
        here = _Span(
            _crossed(events, old, value),
            jnp.full_like(value, low),
            old,
            jnp.full_like(value, t),
        )
        kept = jax.tree.map(lambda a, b: jnp.where(span.happens, a, b), span, here)
        return t, value, kept

    def look_at_sample(i: AnyArray, seen: Any) -> Any:
        t = step.ts[i]
        return look(t, event_values(events, t, step.samples[i], params), seen)

    start = jnp.full_like(before, step.t0)
    none = _Span(jnp.zeros(before.shape, bool), start, before, start)
    seen = lax.fori_loop(step.first, step.last, look_at_sample, (step.t0, before, none))
    return look(step.t1, after, seen)[2]


def _by_turning(
    events: tuple[Event, ...], params: Params, step: Step, before: AnyArray, after: AnyArray
) -> _Span:
    """Where an event comes near zero and turns back, whether it went beyond."""
    spans = [
        _turned(event, params, step, old, new)
        for event, old, new in zip(events, before, after, strict=True)
    ]
    return jax.tree.map(lambda *parts: jnp.stack(parts), *spans)


def _turned(event: Event, params: Params, step: Step, before: Scalar, after: Scalar) -> _Span:
    def along(t: Scalar) -> Scalar:
        return event.value(t, step.path(t), params)

    def slope(t: Scalar) -> Scalar:
        return jax.jvp(along, (t,), (jnp.ones_like(t),))[1]

    side = jnp.sign(before)
    turns = (side * after > 0) & (side * slope(step.t0) < 0) & (side * slope(step.t1) > 0)

    def halve(_: Any, bracket: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = bracket
        middle = 0.5 * (low + high)
        nearing = side * slope(middle) < 0
        return jnp.where(nearing, middle, low), jnp.where(nearing, high, middle)

    turn = lax.cond(
        turns,
        lambda: lax.fori_loop(0, _BISECTIONS, halve, (step.t0, step.t1))[1],
        lambda: step.t1,
    )
    value = along(turn)
    going, coming = event.crossed(before, value), event.crossed(value, after)
    return _Span(
        turns & (going | coming),
        jnp.where(going, step.t0, turn),
        jnp.where(going, before, value),
        jnp.where(going, turn, step.t1),
    )


def _earlier(one: _Span, other: _Span) -> _Span:
    """Of two spans of each event, the one that ends first."""
    first = one.happens & (~other.happens | (one.high <= other.high))
    return jax.tree.map(lambda a, b: jnp.where(first, a, b), one, other)


def _located(
    events: tuple[Event, ...], params: Params, step: Step, span: _Span
) -> tuple[AnyArray, Scalar]:
    """Which event of this step came first, and when."""
    times = jnp.stack(
        [
            locate(event, step.path, span.low[i], span.high[i], span.value[i], params)
            for i, event in enumerate(events)
        ]
    )
    times = jnp.where(span.happens, times, jnp.inf)
    return jnp.argmin(times).astype(jnp.int32), jnp.min(times)
