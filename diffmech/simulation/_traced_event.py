"""An event of a run that is one `diffeqsolve`: found where an eager run finds it."""

from collections.abc import Callable
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix as optx
from jax import lax

from .._typing import AnyArray, Params, Scalar, Truth
from ..model import AbstractSystem
from ..motion import Field
from ._events import BISECTIONS, Event

_DIRECTIONS = {"rising": True, "falling": False, None: None}


def diffrax_event(
    system: AbstractSystem, events: tuple[Event, ...], y0: AnyArray, params: Params
) -> diffrax.Event | None:
    """The same event for `diffeqsolve`, which can tell which of several was first by step only.

    A boolean is a number that jumps from −1 to 1, so it is found by halving, too. One that is not a
    number happens, and `is_lost` says so afterwards.
    """
    if not events:
        return None
    if len(events) > 1:
        raise ValueError(
            "under `jit`, `grad` and `vmap` a run can watch one event only: combine them into one "
            "condition (`jnp.minimum`, a product), or run outside of the transformation"
        )
    event = next(iter(events))
    boolean = event.raw_value(jnp.zeros((), y0.dtype), y0, params).dtype == jnp.bool_
    field = Field(system.laws)  # its direction decides, feedback does not
    tiny = jnp.finfo(y0.dtype).tiny
    beyond = {"rising": jnp.inf, "falling": -jnp.inf, None: jnp.nan}[event.direction]

    def condition(t: Any, y: AnyArray, args: Params, *, t0: Any, **_: Any) -> AnyArray:
        """The event's value; where it starts at zero, with the sign it is about to take."""
        t = jnp.asarray(t, y.dtype)
        if boolean:  # its time depends on nothing, so far as derivatives go
            return event.value(t, y, args) + (t - lax.stop_gradient(t))
        value, slope = jax.jvp(
            lambda t, y: event.value(t, y, args), (t, y), (jnp.ones_like(t), field(t, y, args))
        )
        soon = jnp.where(slope < 0, -tiny, tiny)
        # Diffrax has a number rise when it is above zero; ours has risen when it is there.
        there = jnp.where(value == 0, tiny if event.direction == "rising" else 0.0, 0.0)
        sound = jnp.where((t == t0) & (value == 0), soon, value + there)
        return jnp.where(jnp.isnan(value), beyond, sound)

    return diffrax.Event(condition, _Halving(), direction=_DIRECTIONS[event.direction])


def is_lost(
    event: Event, starts: tuple[Scalar, AnyArray], ends: tuple[Scalar, AnyArray], params: Params
) -> Truth:
    """Whether the event is not a number where the run starts, or where it ends."""
    values = [event.value(t, y, params) for t, y in (starts, ends)]
    return jnp.isnan(values[0]) | jnp.isnan(values[1])


class _Bracket(eqx.Module):
    """Between which times an event happens, its sign before, and how often this was halved."""

    lower: Scalar
    upper: Scalar
    sign: Scalar
    halvings: AnyArray


class _Halving(optx.AbstractRootFinder[Any, Any, Any, _Bracket]):
    """Where a function no longer has the sign it has at `lower`, halving as `locate` does."""

    rtol: float = 0.0
    atol: float = 0.0
    norm: ClassVar[Callable[[Any], Scalar]] = jnp.abs

    def init(
        self,
        fn: Any,
        y: Scalar,
        args: Any,
        options: dict[str, Any],
        f_struct: Any,
        aux_struct: Any,
        tags: frozenset[object],
    ) -> _Bracket:
        del f_struct, aux_struct, tags
        lower, upper = (jnp.asarray(options[key], y.dtype) for key in ("lower", "upper"))
        sign = jnp.sign(fn(lower, args)[0])
        return _Bracket(lower, upper, sign, jnp.zeros((), jnp.int32))

    def step(
        self,
        fn: Any,
        y: Scalar,
        args: Any,
        options: dict[str, Any],
        state: _Bracket,
        tags: frozenset[object],
    ) -> tuple[Scalar, _Bracket, Any]:
        del y, options, tags
        middle = 0.5 * (state.lower + state.upper)
        value, aux = fn(middle, args)
        before = jnp.sign(value) == state.sign
        lower = jnp.where(before, middle, state.lower)
        upper = jnp.where(before, state.upper, middle)
        return upper, _Bracket(lower, upper, state.sign, state.halvings + 1), aux

    def terminate(
        self,
        fn: Any,
        y: Scalar,
        args: Any,
        options: dict[str, Any],
        state: _Bracket,
        tags: frozenset[object],
    ) -> tuple[jax.Array, optx.RESULTS]:
        del fn, y, args, options, tags
        return state.halvings >= BISECTIONS, optx.RESULTS.successful

    def postprocess(
        self,
        fn: Any,
        y: Scalar,
        aux: Any,
        args: Any,
        options: dict[str, Any],
        state: _Bracket,
        tags: frozenset[object],
        result: optx.RESULTS,
    ) -> tuple[Scalar, Any, dict[str, Any]]:
        del fn, args, options, state, tags, result
        return y, aux, {}
