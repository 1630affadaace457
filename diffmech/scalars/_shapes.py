"""Primitives that move numbers about without computing: index shuffles on arrays of registers.

Each rule takes the tape, the primitive's parameters and the arguments, integer arrays of registers.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ._tape import Tape
from ._unknown import NotScalar

Registers = np.ndarray
Rule = Callable[..., Any]


def constants(tape: Tape, values: Any) -> Registers:
    """An array of numbers, written on the tape."""
    if isinstance(values, Tracer):
        raise NotScalar(
            "the function holds on to a number that is being traced: hand it in as an argument"
        )
    values = np.asarray(values)
    registers = [tape.constant(value) for value in values.ravel()]
    return np.array(registers, dtype=np.int64).reshape(values.shape)


def _reshape(tape: Tape, params: Any, x: Registers) -> Registers:
    if params.get("dimensions") is not None:
        x = x.transpose(params["dimensions"])
    return x.reshape(params["new_sizes"])


def _broadcast_in_dim(tape: Tape, params: Any, x: Registers) -> Registers:
    shape = np.ones(len(params["shape"]), dtype=int)
    shape[list(params["broadcast_dimensions"])] = x.shape
    return np.broadcast_to(x.reshape(shape), params["shape"])


def _slice(tape: Tape, params: Any, x: Registers) -> Registers:
    strides = params["strides"] or (1,) * x.ndim
    bounds = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return x[tuple(slice(*bound) for bound in bounds)]


def _split(tape: Tape, params: Any, x: Registers) -> list[Registers]:
    return np.split(x, np.cumsum(params["sizes"])[:-1], axis=params["axis"])


def _pad(tape: Tape, params: Any, x: Registers, filler: Registers) -> Registers:
    for axis, (low, high, interior) in enumerate(params["padding_config"]):
        size = x.shape[axis]
        spread_out = max(size + (size - 1) * interior, 0)
        shape = list(x.shape)
        shape[axis] = max(low, 0) + spread_out + max(high, 0)
        wide = np.full(shape, filler, dtype=np.int64)
        inside = [slice(None)] * x.ndim
        inside[axis] = slice(max(low, 0), max(low, 0) + spread_out, interior + 1)
        wide[tuple(inside)] = x
        keep = [slice(None)] * x.ndim
        keep[axis] = slice(max(-low, 0), shape[axis] - max(-high, 0))
        x = wide[tuple(keep)]
    return x


def _iota(tape: Tape, params: Any) -> Registers:
    shape, along = params["shape"], params["dimension"]
    counts = np.arange(shape[along]).astype(params["dtype"])
    sizes = [1] * len(shape)
    sizes[along] = -1
    return np.broadcast_to(constants(tape, counts).reshape(sizes), shape)


def _unstack(tape: Tape, params: Any, x: Registers) -> list[Registers]:
    return [np.asarray(row) for row in np.moveaxis(x, params["axis"], 0)]


def _tile(tape: Tape, params: Any, x: Registers) -> Registers:
    return np.tile(x, params["reps"])


def _reduce_precision(tape: Tape, params: Any, x: Registers) -> Registers:
    """Left as it is where nothing is rounded off."""
    kind = np.finfo(jnp.result_type(float))
    if params["exponent_bits"] < kind.nexp or params["mantissa_bits"] < kind.nmant:
        raise NotScalar("`reduce_precision` to fewer bits has no scalar form: use full precision")
    return x


def _empty(tape: Tape, params: Any) -> Registers:
    shape = params["shape"]
    return np.broadcast_to(constants(tape, np.zeros((), params["dtype"])), shape)


RULES: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "concatenate": lambda tape, params, *xs: np.concatenate(xs, axis=params["dimension"]),
    "copy": lambda tape, params, x: x,
    "device_put": lambda tape, params, *xs: list(xs),
    "iota": _iota,
    "name": lambda tape, params, x: x,
    "optimization_barrier": lambda tape, params, *xs: list(xs),
    "pad": _pad,
    "reduce_precision": _reduce_precision,
    "reshape": _reshape,
    "rev": lambda tape, params, x: np.flip(x, params["dimensions"]),
    "slice": _slice,
    "split": _split,
    "squeeze": lambda tape, params, x: np.squeeze(x, params["dimensions"]),
    "stack": lambda tape, params, *xs: np.stack(xs, axis=params["axis"]),
    "stop_gradient": lambda tape, params, x: x,
    "tile": _tile,
    "transpose": lambda tape, params, x: x.transpose(params["permutation"]),
    "unstack": _unstack,
}
