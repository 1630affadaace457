"""What a reducer is: a summary of a motion, made while it runs."""

import inspect
from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx

from .._checks import briefly
from .._typing import AnyArray, Params
from ._instant import Instant

# What each method of the protocol is called with.
_ARGUMENTS = {
    "init": ("instant", "params"),
    "update": ("carry", "before", "after", "params"),
    "finish": ("carry",),
    "done": ("carry",),
    "sample": ("instant", "params"),
}


class AbstractReducer(eqx.Module):
    """A summary of a motion, made while it runs: `ensemble(..., reduce=...)` makes one a lane.

    A reducer is written for one motion, with ordinary arrays, and run for all lanes at once. A
    carry goes from accepted step to accepted step, and what `finish` makes of the last one is
    `Ensemble.values[name]`, with the lanes as leading axis:

        carry = init(instant, params)                      at the start
        carry = update(carry, before, after, params)       after every accepted step
        value = finish(carry)                              at the end

    The mean of θ² over time, by the trapezoidal rule:

        class MeanSquare(dm.reducers.AbstractReducer):
            def init(self, instant, params):
                zero = jnp.zeros_like(instant.t)
                return {"area": zero, "time": zero}

            def update(self, carry, before, after, params):
                h = after.t - before.t
                area = carry["area"] + 0.5 * h * (before.q[0] ** 2 + after.q[0] ** 2)
                return {"area": area, "time": carry["time"] + h}

            def finish(self, carry):
                return carry["area"] / carry["time"]

        means = dm.ensemble(system, q0s, duration=10.0, reduce=MeanSquare()).values["mean_square"]

    `instant`, `before` and `after` are `Instant`s: t [s], q, qd, qdd of shape (n,), and what is
    asked for by the attributes below. The carry is any pytree of arrays whose shapes and types
    stay. `finish` may return any pytree of arrays; integers of motions that failed become −1,
    floats NaN.

    Methods that may be overridden:

    - `done(carry)`: true ends the motion, with the status EVENT. By default none ends.

    Attributes that may be overridden, by fields or by class attributes (a field annotated without a
    value inherits the default; `eqx.field()` makes it required):

    - `tangents`, shape (k, 2n): neighbours (δq, δq̇) of the start, to be carried along by the
      motion's linear equations as `Instant.dq`, `Instant.dqd`, shape (k, n), and
      `Instant.doublings`, (k,). None by default: then these are ().
    - `needs_work`: whether `Instant.work` [J] is wanted; by default it is ().

    What is read off the motion at given times, or at its end, is an `AbstractSample`.

    Functions that a reducer holds are compiled in; a function that is itself an `eqx.Module`
    carries numbers that may change without compiling anew, as do arrays in the reducer's fields.
    """

    tangents: AnyArray | None = eqx.field(default=None, init=False)
    needs_work: ClassVar[bool] = False

    @abstractmethod
    def init(self, instant: Instant, params: Params) -> Any:
        """The carry at the start."""

    @abstractmethod
    def update(self, carry: Any, before: Instant, after: Instant, params: Params) -> Any:
        """The carry after an accepted step from `before` to `after`."""

    @abstractmethod
    def finish(self, carry: Any) -> Any:
        """What is kept, made of the last carry."""

    def done(self, carry: Any) -> Any:
        """Whether the motion may end, a truth value; never, by default."""
        del carry
        return False


class AbstractSample(AbstractReducer):
    """A reducer of a motion that keeps what it is at some times: nothing is carried.

        value = sample(instant, params)

    at each of `times` [s], shape (k,) for all lanes or (lanes, k) for each its own: steps end on
    them, and values have shape (lanes, k, ...). With `times=None`, which is the default, at the end
    of the motion alone: shape (lanes, ...).

        class Accelerations(dm.reducers.AbstractSample):
            times: Array

            def sample(self, instant, params):
                return instant.qdd
    """

    times: AnyArray | None = eqx.field(default=None, init=False)

    @abstractmethod
    def sample(self, instant: Instant, params: Params) -> Any:
        """What is kept of the motion at this instant."""

    def init(self, instant: Instant, params: Params) -> Any:
        """Nothing is carried."""
        del instant, params
        return ()

    def update(self, carry: Any, before: Instant, after: Instant, params: Params) -> Any:
        """Nothing is carried."""
        del before, after, params
        return carry

    def finish(self, carry: Any) -> Any:
        """Never asked for: samples take its place."""
        return carry


def require_reducer(given: Any, name: str) -> AbstractReducer:
    """A reducer as given under `name`, if it is one.

    Raises:
        ValueError: it is none, or a method of it cannot take what it will be called with.
    """
    if isinstance(given, type) and issubclass(given, AbstractReducer):
        raise ValueError(
            f"`reduce` must hold reducers, but {name!r} is the class {given.__name__}: call it"
        )
    if not isinstance(given, AbstractReducer):
        raise ValueError(
            f"`reduce` must hold objects of classes that inherit from `dm.reducers.AbstractReducer`"
            f" (methods init, update, finish) or `dm.reducers.AbstractSample` (sample), but "
            f"{name!r} is {briefly(given)}"
        )
    asked = _ARGUMENTS if isinstance(given, AbstractSample) else _ARGUMENTS.keys() - {"sample"}
    for method in asked:
        _require_arguments(getattr(given, method), name, method)
    return given


def _require_arguments(method: Any, name: str, called: str) -> None:
    wanted = _ARGUMENTS[called]
    signature = inspect.signature(method)
    try:
        signature.bind(*wanted)
    except TypeError:
        own = ", ".join(signature.parameters)
        hint = ": the start is `instant.t`, `instant.q`, `instant.qd`" if called == "init" else ""
        raise ValueError(
            f"`{called}` of the reducer {name!r} must take ({', '.join(wanted)}), but takes "
            f"({own}){hint}"
        ) from None


def ends_motions(reducer: AbstractReducer) -> bool:
    """Whether its class says when a motion may end."""
    return type(reducer).done is not AbstractReducer.done
