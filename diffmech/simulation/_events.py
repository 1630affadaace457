"""Events: conditions on the motion that end a run."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from .._checks import briefly, trial_condition
from .._fingerprint import version_of
from .._typing import AnyArray, Params, Scalar
from ..model import AbstractSystem
from ..motion import unpack

BISECTIONS = 60  # a step halved 60 times is below the spacing of floats


class Event(eqx.Module):
    """Stop when a function of the state crosses zero, or when a condition becomes true.

        rising:   g < 0 before and g ≥ 0 after
        falling:  g > 0 before and g ≤ 0 after,   g = condition(q, q̇, t, params)

    **Arguments:**

    - `condition`: `(q, qd, t, params) -> scalar`, of q, qd of shape (n,) and t [s], in any unit. A
      real number stops the run where it changes sign; a boolean where it becomes true. The time is
      found on the solver's own interpolation, to round-off.
    - `direction`: "rising" or "falling" to stop only when the number crosses zero that way; None
      for both.

    A condition that is NaN ends the run as failed. One that is zero or true at the start does not
    stop the run there. One that goes beyond zero and comes back within a single step is found if it
    nears zero at the step's start and leaves it at its end, or if a sample lies beyond. One that
    does so more often within a step, or a boolean that is true for less than that, may be missed or
    found late: ask for more samples (steps end on them), or give a smaller `dt`.

    Under `jit`, `grad` and `vmap` a run watches one event, and judges it at the ends of steps only.
    The time of a boolean has the derivative zero there; that of a number is differentiated through.

    **Raises:** `ValueError` for a condition that is no function, or another direction; and by
    `simulate`, for a condition that does not return one number or one truth value.
    """

    condition: Callable[..., Any] = eqx.field(static=True)
    direction: Literal["rising", "falling"] | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        if not callable(self.condition):
            raise ValueError(
                "`condition` must be a function of (q, qd, t, params), but is "
                f"{briefly(self.condition)}"
            )
        if self.direction not in (None, "rising", "falling"):
            raise ValueError(
                f"`direction` must be 'rising', 'falling' or None, but is {self.direction!r}"
            )

    def is_boolean(self, vector: Any, time: Any, params: Params) -> bool:
        """Whether the condition returns a boolean, by a trial on abstract arguments."""

        def as_given(q: Any, qd: Any, t: Any, p: Any) -> Any:
            return jnp.asarray(self.condition(q, qd, t, p))

        return jax.eval_shape(as_given, vector, vector, time, params).dtype == jnp.bool_

    def raw_value(self, t: Scalar, y: AnyArray, params: Params) -> AnyArray:
        """What the condition returns: a real number, or a boolean."""
        q, qd, _ = unpack(y)
        value = jnp.asarray(self.condition(q, qd, t, params))
        return value if value.dtype == jnp.bool_ else value.astype(y.dtype)

    def value(self, t: Scalar, y: AnyArray, params: Params) -> Scalar:
        """The number whose sign decides; −1 and 1 for false and true."""
        value = self.raw_value(t, y, params)
        if value.dtype == jnp.bool_:
            return jnp.where(value, 1.0, -1.0).astype(y.dtype)
        return value

    def crossed(self, before: Scalar, after: Scalar) -> AnyArray:
        """Whether zero was crossed, the right way, between two values."""
        rising = (before < 0) & (after >= 0)
        falling = (before > 0) & (after <= 0)
        if self.direction == "rising":
            return rising
        if self.direction == "falling":
            return falling
        return rising | falling


Events = Mapping[str, Event | Callable[..., Any]]


def as_events(
    events: Events | None, system: AbstractSystem, params: Params
) -> tuple[tuple[str, ...], tuple[Event, ...]]:
    """Names and events, each tried once on abstract arguments."""
    if events is None:
        return (), ()
    if not isinstance(events, Mapping):
        raise ValueError(
            "`events` must map names to conditions, such as "
            "{'upright': lambda q, qd, t, params: q[0] - jnp.pi}, but is a "
            f"{type(events).__name__}"
        )
    watched = tuple(e if isinstance(e, Event) else Event(e) for e in events.values())
    version_of(*(event.condition for event in watched))
    vector = jax.ShapeDtypeStruct((system.n,), float)
    time = jax.ShapeDtypeStruct((), float)
    for name, event in zip(events, watched, strict=True):
        trial_condition(event.condition, f"events[{name!r}]", vector, vector, time, params)
    return tuple(events), tuple(_becoming_true(e, vector, time, params) for e in watched)


def _becoming_true(event: Event, vector: Any, time: Any, params: Params) -> Event:
    """A boolean event happens when its condition becomes true, not when it ceases to be."""
    if event.is_boolean(vector, time, params) and event.direction is None:
        return Event(event.condition, "rising")
    return event


def locate(
    event: Event,
    path: Callable[[Scalar], AnyArray],
    t0: Scalar,
    t1: Scalar,
    before: Scalar,
    params: Params,
) -> Scalar:
    """The first time in (t0, t1] from which the event has happened, by bisection."""

    def halve(_: Any, bracket: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = bracket
        middle = 0.5 * (low + high)
        happened = event.crossed(before, event.value(middle, path(middle), params))
        return jnp.where(happened, low, middle), jnp.where(happened, middle, high)

    return lax.fori_loop(0, BISECTIONS, halve, (t0, t1))[1]
