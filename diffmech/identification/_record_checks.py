"""What a record of a motion must be: one sentence for everything that it cannot be."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._checks import as_array, is_traced
from .._suggest import quoted, suggestion
from .._typing import AnyArray


def channel_index(name: str, names: Sequence[str], who: str) -> int:
    if name not in names:
        raise ValueError(f"{who} has no channel {quoted(name)}.{suggestion(str(name), names)}")
    return list(names).index(name)


def as_column(given: Any, what: str) -> np.ndarray:
    """Numbers, shape (k,)."""
    array = _numbers(given, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one column, shape (k,), but has shape {array.shape}")
    return array


def _numbers(given: Any, what: str) -> np.ndarray:
    if is_traced(given):
        raise ValueError(
            f"{what} must be numbers, but is traced: make records outside of `jit` and `grad`"
        )
    try:
        return np.asarray(as_array(given), np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers, but {str(error).splitlines()[0]}") from error


def require_same_length(columns: Sequence[np.ndarray], names: Sequence[str], who: str) -> None:
    for column, name in zip(columns, names, strict=True):
        if len(column) != len(columns[0]):
            raise ValueError(
                f"{who}: columns must be equally long, but {names[0]!r} has {len(columns[0])} "
                f"values and {name!r} has {len(column)}"
            )


def checked_names(channels: Sequence[str] | None, who: str) -> tuple[str, ...]:
    if channels is None or isinstance(channels, str):
        raise ValueError(
            f"{who}: `channels` must name the columns of `values`, such as ('theta1', 'theta2'), "
            f"but is {channels!r}"
        )
    names = tuple(channels)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"{who}: names of channels must be words, but one is {name!r}")
        if names.count(name) > 1:
            raise ValueError(f"{who}: channels must have distinct names, but two are {name!r}")
    if not names:
        raise ValueError(f"{who} must have at least one channel, but has none")
    return names


def checked_values(given: Any, ts: np.ndarray, channels: tuple[str, ...], who: str) -> np.ndarray:
    values = _numbers(given, f"{who}: `values`")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[0] != len(ts):
        raise ValueError(
            f"{who}: `values` must have a row for each of the {len(ts)} times, but has shape "
            f"{values.shape}"
        )
    if values.shape[1] != len(channels):
        raise ValueError(
            f"{who}: `values` must have a column for each of {', '.join(channels)}, but has "
            f"{values.shape[1]} columns"
        )
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0]
        raise ValueError(
            f"{who}: `values[{row}, {column}]` ({channels[column]}) must be finite, or NaN for a "
            f"missing sample, but is {values[row, column]}"
        )
    for column, name in enumerate(channels):
        if len(ts) and np.all(np.isnan(values[:, column])):
            raise ValueError(
                f"{who}: channel {name!r} must have at least one value, but all {len(ts)} are "
                f"missing: leave it out, `record.without({name!r})` or another choice of columns"
            )
    return values


def checked_inputs(
    given: Mapping[str, Any], ts: np.ndarray, channels: tuple[str, ...], who: str
) -> dict[str, AnyArray]:
    inputs: dict[str, AnyArray] = {}
    for name, values in given.items():
        if name in channels:
            raise ValueError(f"{who}: {name!r} must be a channel or an input, but is both")
        column = as_column(values, f"{who}: input {name!r}")
        if len(column) != len(ts):
            raise ValueError(
                f"{who}: input {name!r} must have a value for each of the {len(ts)} times, but "
                f"has {len(column)}"
            )
        wrong = np.flatnonzero(~np.isfinite(column))
        if len(wrong):
            raise ValueError(
                f"{who}: input {name!r} must be finite at every time, but is {column[wrong[0]]} "
                f"in row {wrong[0]} (t = {ts[wrong[0]]:g} s): fill it in or cut the record there"
            )
        inputs[str(name)] = column
    return inputs


def checked_noise(given: Any, channels: tuple[str, ...], who: str) -> AnyArray | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        levels = np.full(len(channels), np.nan)
        for name, level in given.items():
            levels[channel_index(name, channels, who)] = _numbers(
                level, f"{who}: noise of {name!r}"
            )
    else:
        levels = _numbers(given, f"{who}: `noise`")
        levels = np.full(len(channels), levels) if levels.ndim == 0 else levels
    if levels.shape != (len(channels),):
        raise ValueError(
            f"{who}: `noise` must be one standard deviation for each of {', '.join(channels)}, "
            f"but has shape {levels.shape}"
        )
    wrong = np.flatnonzero((levels <= 0) | np.isinf(levels))
    if len(wrong):
        raise ValueError(
            f"{who}: the noise of {channels[wrong[0]]!r} must be a standard deviation above zero, "
            f"but is {levels[wrong[0]]:g}"
        )
    return levels


def checked_weights(given: Any, values: np.ndarray, who: str) -> AnyArray | None:
    if given is None:
        return None
    weights = _numbers(given, f"{who}: `weights`")
    if weights.shape not in (values.shape, values.shape[:1]):
        raise ValueError(
            f"{who}: `weights` must have shape {values.shape} or {values.shape[:1]}, but has "
            f"shape {weights.shape}"
        )
    weights = np.broadcast_to(weights.reshape(len(values), -1), values.shape)
    wrong = np.argwhere(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"{who}: `weights[{row}, {column}]` must be finite and not negative, but is "
            f"{weights[row, column]}"
        )
    return weights


def require_times(ts: np.ndarray, who: str) -> None:
    if len(ts) < 2:
        raise ValueError(f"{who} must have at least 2 samples, but has {len(ts)}")
    wrong = np.flatnonzero(~np.isfinite(ts))
    if len(wrong):
        raise ValueError(f"{who}: times must be finite, but `ts[{wrong[0]}]` is {ts[wrong[0]]}")
    wrong = np.flatnonzero(np.diff(ts) <= 0)
    if len(wrong):
        row = int(wrong[0]) + 1
        raise ValueError(
            f"{who}: times must increase from row to row, but `ts[{row}]` = {ts[row]:.9g} s "
            f"follows {ts[row - 1]:.9g} s"
        )
