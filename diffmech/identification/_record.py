"""One measured motion."""

import dataclasses
from collections.abc import Mapping, Sequence

import equinox as eqx
import numpy as np

from .._printing import aligned
from .._suggest import quoted
from .._typing import AnyArray, Number, Numbers
from ._record_checks import (
    as_column,
    channel_index,
    checked_inputs,
    checked_names,
    checked_noise,
    checked_values,
    checked_weights,
    require_same_length,
    require_times,
)
from ._unwrap import unwrapped

_SHOWN = 6  # channels that are printed with their range


class Record(eqx.Module):
    """One measured motion: what sensors said at which times, and what was done to the machine.

        record = dm.Record(ts, {"theta": angles}, inputs={"torque": torques}, name="first swing")

    Attributes:
        ts: times, shape (k,) [s], strictly increasing.
        values: what was measured, shape (k, m) in SI units; NaN where a sample is missing.
        channels: names of the m columns.
        inputs: what was recorded of the world, such as a torque, by name, each of shape (k,).
        noise: standard deviation of each channel, shape (m,), NaN where it is not known; or None.
        weights: how much each value counts, shape (k, m); or None, which is 1 for all.
        name: what it is called in messages and tables.
        units: what channels were in before they were turned into SI units, by name, as far as that
            was said; `fit` holds it against the coordinates.
    """

    ts: AnyArray
    values: AnyArray
    inputs: dict[str, AnyArray]
    noise: AnyArray | None
    weights: AnyArray | None
    channels: tuple[str, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)
    units: tuple[tuple[str, str], ...] = eqx.field(static=True)

    def __init__(
        self,
        ts: Numbers,
        values: Numbers | Mapping[str, Numbers],
        channels: Sequence[str] | None = None,
        *,
        inputs: Mapping[str, Numbers] | None = None,
        noise: Number | Numbers | Mapping[str, Number] | None = None,
        weights: Numbers | None = None,
        name: str = "record",
        units: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    ):
        """See the attributes. `values` may be columns by name; then `channels` is not needed.

        `noise` is one number for all channels, one for each, or some by name.

        Raises:
            ValueError: what cannot be a motion; the record, row and column are named.
        """
        self.name = str(name)
        self.units = tuple(dict(units).items())
        who = f"record {quoted(self.name)}"
        if isinstance(values, Mapping):
            channels = tuple(values) if channels is None else channels
            columns = [as_column(values[key], f"{who}: {key!r}") for key in values]
            require_same_length(columns, list(values), who)
            order = [channel_index(channel, tuple(values), who) for channel in channels]
            values = np.stack([columns[i] for i in order], axis=1) if order else np.zeros((0, 0))
        self.ts = as_column(ts, f"{who}: `ts`")
        self.channels = checked_names(channels, who)
        self.values = checked_values(values, self.ts, self.channels, who)
        self.inputs = checked_inputs(inputs or {}, self.ts, self.channels, who)
        self.noise = checked_noise(noise, self.channels, who)
        self.weights = checked_weights(weights, self.values, who)
        require_times(self.ts, who)

    def __len__(self) -> int:
        return len(self.ts)

    @property
    def missing(self) -> AnyArray:
        """How many samples each channel lacks, shape (m,)."""
        return np.sum(np.isnan(self.values), axis=0)

    def channel(self, name: str) -> AnyArray:
        """What one channel measured, by name, shape (k,), in SI units; NaN where it is missing.

        Raises:
            ValueError: there is no such channel.
        """
        return self.values[:, channel_index(name, self.channels, f"record {quoted(self.name)}")]

    def between(self, t0: float, t1: float) -> "Record":
        """The part from t0 to t1 [s], both included; times stay as they are."""
        inside = (self.ts >= t0) & (self.ts <= t1)
        if np.sum(inside) < 2:
            raise ValueError(
                f"record {quoted(self.name)} must have at least 2 samples between {t0:g} and "
                f"{t1:g} s, but has {np.sum(inside)}: it goes from {self.ts[0]:g} to "
                f"{self.ts[-1]:g} s"
            )
        return dataclasses.replace(
            self,
            ts=self.ts[inside],
            values=self.values[inside],
            inputs={name: column[inside] for name, column in self.inputs.items()},
            weights=None if self.weights is None else self.weights[inside],
        )

    def without(self, *names: str) -> "Record":
        """The record without some channels."""
        left_out = {channel_index(n, self.channels, f"record {quoted(self.name)}") for n in names}
        kept = [i for i in range(len(self.channels)) if i not in left_out]
        return dataclasses.replace(
            self,
            channels=tuple(self.channels[i] for i in kept),
            values=self.values[:, kept],
            noise=None if self.noise is None else self.noise[kept],
            weights=None if self.weights is None else self.weights[:, kept],
        )

    def unwrapped(self, *names: str) -> "Record":
        """Whole turns added to the angles [rad] of some channels, all if none is named.

        A sensor that gives angles within one turn jumps by 2π; here they go on.

        Raises:
            ValueError: after a gap, or with slow samples, several numbers of turns are possible.
        """
        values = np.array(self.values)
        for name in names or self.channels:
            i = channel_index(name, self.channels, f"record {quoted(self.name)}")
            what = f"record {quoted(self.name)}: {name!r}"
            values[:, i] = unwrapped(self.ts, values[:, i], what)
        return dataclasses.replace(self, values=values)

    def __str__(self) -> str:
        steps = np.diff(self.ts)
        usual, even = np.median(steps), np.ptp(steps) <= 0.01 * np.median(steps)
        rate = (
            f"{1 / usual:.4g} Hz" if even else f"steps of {steps.min():.3g} to {steps.max():.3g} s"
        )
        rows = [("time", f"{self.ts[0]:g} to {self.ts[-1]:g} s, {rate}")]
        for i, name in enumerate(self.channels[:_SHOWN]):
            column, lacking = self.values[:, i], int(self.missing[i])
            shown = f"{np.nanmin(column):.4g} to {np.nanmax(column):.4g}"
            if self.noise is not None and not np.isnan(self.noise[i]):
                shown += f", noise {self.noise[i]:.3g}"
            if lacking:
                longest = _longest_gap(self.ts, column)
                shown += f", {lacking} missing, at most {longest:.3g} s at once"
            rows.append((name, shown))
        if len(self.channels) > _SHOWN:
            rows.append(("", f"and {len(self.channels) - _SHOWN} channels more"))
        if self.inputs:
            rows.append(("inputs", ", ".join(self.inputs)))
        return aligned(rows, f"{self.name}: {len(self)} samples of {', '.join(self.channels)}")


def _longest_gap(ts: np.ndarray, column: np.ndarray) -> float:
    """The longest time between two samples that are there, over missing ones [s]."""
    ends = ts[~np.isnan(column)]
    inner = np.max(np.diff(ends), initial=0.0)
    return float(max(inner, ends[0] - ts[0], ts[-1] - ends[-1]))
