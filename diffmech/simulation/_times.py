"""When a run is sampled, checked."""

from typing import Any

import numpy as np

from .._batches import padded_size
from .._checks import as_array, as_count, as_duration, is_traced, require_finite, smallest_spacing
from .._memory import require_memory
from .._typing import AnyArray
from ._sample_controller import MOST_PASSED

_SMALLEST_SPACING_IN_EPS = 64.0  # of the largest time; a few steps must fit between samples
_COPIES = 3  # of a sample, alive at once: before and after a stretch of steps, and on the host


def sample_times(
    duration: Any, ts: Any, t0: AnyArray, samples: int, n: int, steps: int | None
) -> AnyArray:
    """Strictly increasing sample times of n coordinates, shape (k,), k >= 2.

    `steps`: how many may be made, each of which passes a few samples at most; None: any number.
    """
    if (duration is None) == (ts is None):
        raise ValueError(
            "give either `duration` or `ts`" + (", not both" if ts is not None else "")
        )
    if ts is None:
        span = as_duration(duration)
        count = as_count(samples, "samples", 2)
        _require_room(count, n, steps)
        return t0 + span * np.linspace(0.0, 1.0, count)
    try:
        array = as_array(ts)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`ts` must be a list of times, but {error}") from error
    if array.ndim != 1 or array.shape[0] < 2:
        raise ValueError(
            f"`ts` must be at least two times in a row, shape (k,), but has shape {array.shape}"
        )
    _require_room(array.shape[0], n, steps)
    require_finite(array, "ts")
    if not is_traced(array):
        backward = np.flatnonzero(~(np.asarray(array)[1:] > np.asarray(array)[:-1]))
        if backward.size:
            i = int(backward[0])
            raise ValueError(
                f"`ts` must increase, but ts[{i + 1}] = {float(array[i + 1]):g} is not after "
                f"ts[{i}] = {float(array[i]):g}; sort it and drop repeated times"
            )
        if not is_traced(t0) and float(t0) != 0.0 and float(t0) != float(array[0]):
            raise ValueError("`t0` goes with `duration`; with `ts` the run starts at ts[0]")
    return array


def _require_room(count: int, n: int, steps: int | None) -> None:
    """Refuse more samples of (t, q, q̇, work) than memory holds, or than steps can ever pass."""
    each = (2 * n + 2) * np.dtype(np.float64).itemsize
    require_memory(
        _COPIES * each * padded_size(count),
        f"{count} samples of {n} coordinate{'s' if n > 1 else ''} and rates",
        "take fewer samples, or a shorter run",
    )
    if steps is not None and count - 1 > MOST_PASSED * steps:
        raise ValueError(
            f"{count} samples need {(count - 1) / MOST_PASSED:.3g} steps or more, {MOST_PASSED} of "
            f"them a step, but `max_steps` is {steps}: take at most {MOST_PASSED * steps + 1} "
            "samples, or raise `max_steps`"
        )


def require_resolved(times: AnyArray) -> None:
    """Refuse samples that lie so close that the arithmetic can hardly tell them apart."""
    if is_traced(times):
        return
    spacing = float(np.min(times[1:] - times[:-1]))
    largest = float(np.max(np.abs(times)))
    least = max(
        _SMALLEST_SPACING_IN_EPS * float(np.finfo(times.dtype).eps) * largest,
        smallest_spacing(times.dtype),
    )
    if not spacing > least:
        raise ValueError(
            f"the samples lie {spacing:.1e} s apart, too close for times of {largest:g} s in "
            f"{times.dtype}: use a longer duration, fewer samples, or count time from zero"
        )


def require_step(dt: AnyArray, times: AnyArray) -> None:
    """Refuse a constant step that is lost in the rounding of time."""
    if is_traced(dt, times):
        return
    least = _SMALLEST_SPACING_IN_EPS * float(np.finfo(times.dtype).eps) * float(np.max(abs(times)))
    if float(dt) < least:
        raise ValueError(
            f"`dt` must be at least {least:.0e} s for times up to {float(times[-1]):g} s, but is "
            f"{float(dt):g} s: below that a step is lost in rounding"
        )
