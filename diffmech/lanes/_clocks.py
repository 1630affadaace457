"""Clocks of the lanes' own: when each motion starts, ends and is sampled.

Lanes share one clock where they can: one start, one end, one set of samples, all known before the
program runs. Where a start or a duration differs from lane to lane, or sample times do or are
traced, every lane has its own, and derivatives pass through all of them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_array, in_force, is_traced, require_finite
from .._typing import AnyArray
from ._reducer_protocol import AbstractReducer, AbstractSample


class Clocks(NamedTuple):
    """Times of every lane [s]."""

    start: AnyArray  # (lanes,)
    end: AnyArray  # (lanes,)
    stops: AnyArray | None  # (lanes, k), never decreasing along a row; NaN where nothing is wanted

    def arrays(self) -> list[AnyArray]:
        """Those that are there, each with the lanes in front."""
        return [self.start, self.end, *([] if self.stops is None else [self.stops])]

    def longest(self) -> float:
        """The longest duration [s]; 1 where it is not known yet."""
        if is_traced(self.start, self.end):
            return 1.0
        return float(np.max(np.asarray(self.end) - np.asarray(self.start), initial=0.0)) or 1.0


def times_of(used: Sequence[AbstractReducer]) -> list[Any]:
    """The sample times of each reducer [s], arrays or what becomes one; None of those without."""
    return [reducer.times if isinstance(reducer, AbstractSample) else None for reducer in used]


def lanes_of_clocks(t0: Any, duration: Any, used: Sequence[AbstractReducer]) -> int | None:
    """How many lanes the times given are for; 1 if for any number, None if one clock will do.

    Raises:
        ValueError: the times have a wrong shape, or are meant for different numbers of lanes.
    """
    given = {"t0": (t0, 0), "duration": (duration, 0)}
    asked = [times for times in times_of(used) if times is not None]
    given.update({f"times of reducer {i + 1}": (times, 1) for i, times in enumerate(asked)})
    counts: dict[str, int] = {}
    for label, (value, own) in given.items():
        shape = np.shape(value)
        if len(shape) > own + 1:
            lanes = "(lanes, k) or (k,)" if own else "(lanes,) or ()"
            raise ValueError(f"`{label}` must have shape {lanes}, but has shape {shape}")
        if len(shape) == own + 1:
            counts[label] = shape[0]
    if len(set(counts.values())) > 1:
        said = ", ".join(f"`{label}` {count}" for label, count in counts.items())
        raise ValueError(f"times of lanes must be for one number of lanes, but have {said}")
    if counts:
        return next(iter(counts.values()))
    return 1 if is_traced(asked) or (asked and is_traced(t0, duration)) else None


def clocks(t0: Any, duration: Any, used: Sequence[AbstractReducer], count: int) -> Clocks:
    """Every lane's own times, checked where they are known."""
    start = _spread(_finite(t0, "t0"), (count,))
    whole = _spread(_finite(duration, "duration"), (count,))
    if not is_traced(whole) and np.any(whole <= 0):
        lane = int(np.argmax(whole <= 0))
        raise ValueError(
            f"`duration` must be greater than zero, but is {whole[lane]:g} in lane {lane}"
        )
    end = start + whole
    asked = [times for times in times_of(used) if times is not None]
    if not asked:
        return Clocks(in_force(start), in_force(end), None)
    first = as_array(asked[0])
    for other in asked[1:]:
        known = not is_traced(first, other)
        same = np.array_equal(first, other, equal_nan=True) if known else other is asked[0]
        if not same:
            raise ValueError(
                "sample times that differ from lane to lane, or are traced, must be the same for "
                "all reducers"
            )
    stops = _spread(first, (count, first.shape[-1] if first.ndim else 1))
    if not is_traced(stops, start, end):
        _require_in_order(stops, np.asarray(start), np.asarray(end))
    return Clocks(in_force(start), in_force(end), in_force(stops))


def without_times(reducer: AbstractReducer) -> AbstractReducer:
    """A reducer whose sample times are told elsewhere: they are no part of its program."""
    if not isinstance(reducer, AbstractSample) or reducer.times is None:
        return reducer
    if all(leaf is not reducer.times for leaf in jax.tree.leaves(reducer)):
        return reducer  # times that its class says are in its program
    return eqx.tree_at(lambda own: own.times, reducer, None)


def _finite(value: Any, label: str) -> AnyArray:
    try:
        array = as_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{label}` must be numbers, but {error}") from error
    require_finite(array, label)
    return array


def _spread(array: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    return (jnp if is_traced(array) else np).broadcast_to(array, shape)


def _require_in_order(stops: AnyArray, start: np.ndarray, end: np.ndarray) -> None:
    """Refuse sample times outside a lane's motion, or that go back; NaN are not looked at."""
    wanted = np.asarray(stops)
    outside = (wanted < start[:, None]) | (wanted > end[:, None]) | np.isinf(wanted)
    if np.any(outside):
        lane, i = np.argwhere(outside)[0]
        raise ValueError(
            f"sample times must lie between {start[lane]:g} s and {end[lane]:g} s in lane {lane}, "
            f"but sample {i} is at {wanted[lane, i]:g} s"
        )
    latest = np.fmax.accumulate(wanted, axis=1)
    back = wanted[:, 1:] < latest[:, :-1]
    if np.any(back):
        lane, i = np.argwhere(back)[0]
        raise ValueError(
            f"sample times of a lane must not decrease, but in lane {lane} sample {i + 1} is at "
            f"{wanted[lane, i + 1]:g} s after one at {latest[lane, i]:g} s"
        )
