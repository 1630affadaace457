"""A recorded signal as a function of time, for the parameters of a machine."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_array, as_count, is_traced
from .._typing import AnyArray, Number, Numbers, Scalar
from ._rules import measured

# Up to here every sample has its term, which lanes write out: 5 operations each, so that windows
# of some ten samples are best. Beyond, the interval is searched for, which lanes cannot.
_MOST_TERMS = 128


class Recorded(eqx.Module):
    """A signal known at some times, linear in between and constant before and after.

        u(t) = u₀ + Σᵢ (uᵢ₊₁ − uᵢ) clip((t − tᵢ) / (tᵢ₊₁ − tᵢ), 0, 1)

    Among a machine's parameters it is a recorded input that its functions may ask:

        params = {"k": 20.0, "torque": dm.Recorded(record.ts, record.inputs["torque"])}

        def forces(q, qd, t, params):
            return jnp.array([params["torque"](t)])

    Values and times are numbers like all parameters: motions can be differentiated by them. The
    slope jumps at the samples, so steps of high order are held up there.

    Attributes:
        ts: times, shape (k,) [s], strictly increasing.
        values: the signal at these times, shape (k,).
    """

    ts: AnyArray = measured("s")
    values: AnyArray = measured("")

    def __init__(self, ts: Numbers, values: Numbers):
        self.ts, self.values = as_array(ts), as_array(values)
        if self.ts.ndim != 1 or self.ts.shape != self.values.shape or len(self.ts) < 2:
            raise ValueError(
                "`Recorded(ts, values)` must be two columns of the same length, at least 2, but "
                f"they have shapes {self.ts.shape} and {self.values.shape}"
            )
        self.require("Recorded")

    def require(self, path: str) -> None:
        """Refuse times that do not increase; traced ones are let through."""
        if is_traced(self.ts):
            return
        ts = np.asarray(self.ts)
        wrong = np.argwhere(~(np.diff(ts, axis=-1) > 0))
        if len(wrong):
            *lane, i = (int(index) for index in wrong[0])
            times = ts[tuple(lane)]
            raise ValueError(
                f"`{path}.ts` must increase, but entry {i + 1}, {times[i + 1]:.9g} s, follows "
                f"{times[i]:.9g} s"
            )

    def __call__(self, t: Number) -> Scalar:
        """The signal at a time, shape ()."""
        ts, values = jnp.asarray(self.ts), jnp.asarray(self.values)
        if ts.shape[0] > _MOST_TERMS:
            return jnp.interp(t, ts, values)
        lengths = ts[1:] - ts[:-1]
        slopes = (values[1:] - values[:-1]) / lengths
        return values[0] + jnp.sum(slopes * jnp.clip(t - ts[:-1], 0.0, lengths))

    def window(self, t0: Number, t1: Number, size: int | None = None) -> "Recorded":
        """The part that is needed from t0 to t1 [s], with a fixed number of samples.

        Between t0 and t1 it is the same function; samples that are lacking are filled up behind.
        With arrays of shape (lanes,) for t0 and t1 there is a part for each, shape (lanes, size),
        as an ensemble takes parameters that vary.

        Args:
            size: number of samples; as many as are needed if None.

        Raises:
            ValueError: more samples than `size` are needed; how many is said.
        """
        if is_traced(self.ts, t0, t1):
            raise ValueError("`window` must be given numbers as times: use it outside of `jit`")
        ts, last_index = np.asarray(self.ts), len(self.ts) - 1
        first = np.clip(np.searchsorted(ts, t0, side="right") - 1, 0, last_index)
        last = np.clip(np.searchsorted(ts, t1, side="left"), first, last_index)
        need = max(2, int(np.max(last - first)) + 1)
        size = need if size is None else as_count(size, "size", 2)
        if need > size:
            raise ValueError(f"`size` must be at least {need} for this window, but is {size}")
        wanted = np.expand_dims(first, -1) + np.arange(size)
        beyond = wanted - np.expand_dims(last, -1)
        taken = np.minimum(wanted, np.expand_dims(last, -1))
        # Behind the window any times will do that increase.
        times = ts[taken] + np.maximum(beyond, 0) * (ts[-1] - ts[0])
        part = eqx.tree_at(lambda signal: signal.ts, self, times)
        return eqx.tree_at(lambda signal: signal.values, part, self.values[taken])
