"""Primitives that compute: element by element, sums, and products of matrices, unrolled."""

import itertools
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ._shapes import Registers, Rule, constants
from ._tape import Register, Tape
from ._unknown import NotScalar

_LARGEST_POWER = 8  # constant exponents up to here are multiplied out
_LONGEST_SORT = 16  # a network of n (n − 1)/2 exchanges


def elementwise(tape: Tape, name: str, *arrays: Any) -> Registers:
    """One operation for each element of arrays of registers, which broadcast."""
    together = np.broadcast_arrays(*arrays)
    shape = together[0].shape
    columns = zip(*(array.ravel().tolist() for array in together), strict=True)
    results = [tape.operate(name, *registers) for registers in columns]
    return np.array(results, dtype=np.int64).reshape(shape)


def _plain(name: str) -> Rule:
    return lambda tape, params, *arrays: elementwise(tape, name, *arrays)


def _integer_pow(tape: Tape, params: Any, x: Registers) -> Registers:
    powers = [tape.power(register, params["y"]) for register in x.ravel().tolist()]
    return np.array(powers, dtype=np.int64).reshape(x.shape)


def _pow(tape: Tape, params: Any, x: Registers, exponent: Registers) -> Registers:
    """Constant whole and half exponents are multiplied out."""
    together = np.broadcast_arrays(x, exponent)
    pairs = zip(*(array.ravel().tolist() for array in together), strict=True)
    powers = [_power(tape, base, register) for base, register in pairs]
    return np.array(powers, dtype=np.int64).reshape(together[0].shape)


def _power(tape: Tape, base: Register, exponent: Register) -> Register:
    if tape.is_constant(exponent) and not tape.is_constant(base):
        value = tape.value(exponent)
        if abs(value) <= _LARGEST_POWER and value == int(value):
            return tape.power(base, int(value))
        if abs(value) == 0.5:
            return tape.operate("sqrt" if value > 0 else "rsqrt", base)
    return tape.operate("pow", base, tape.operate("to_float", exponent))


def _round(tape: Tape, params: Any, x: Registers) -> Registers:
    even = params["rounding_method"] == lax.RoundingMethod.TO_NEAREST_EVEN
    return elementwise(tape, "round_even" if even else "round_away", x)


def _convert(tape: Tape, params: Any, x: Registers) -> Registers:
    """Floats are of one type, and so are whole numbers: only the kind changes."""
    for kind, name in _CONVERSIONS.items():
        if jnp.issubdtype(params["new_dtype"], kind):
            return elementwise(tape, name, x)
    raise NotScalar(f"numbers of type {params['new_dtype']} have no scalar form: use real ones")


_CONVERSIONS = {jnp.floating: "to_float", jnp.integer: "to_int", jnp.bool_: "to_bool"}


def _select_n(tape: Tape, params: Any, which: Registers, *cases: Registers) -> Registers:
    which = np.broadcast_to(which, cases[0].shape)
    result = cases[0]
    for i, case in enumerate(cases[1:], start=1):
        condition = which
        if which.size and tape.kind(int(which.flat[0])) is int:
            condition = elementwise(tape, "ge", which, constants(tape, np.int64(i)))
        result = elementwise(tape, "select", condition, result, case)
    return result


def _clamp(tape: Tape, params: Any, low: Registers, x: Registers, high: Registers) -> Registers:
    return elementwise(tape, "min", elementwise(tape, "max", x, low), high)


def _reduce(name: str, tape: Tape, params: Any, x: Registers, *, result: Any) -> Registers:
    axes = tuple(params["axes"])
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.transpose([*axes, *kept]).reshape([-1, *result.shape] if result.size else x.shape)
    if x.size == 0:
        return np.broadcast_to(constants(tape, _NOTHING[name](result.dtype)), result.shape)
    return np.asarray(reduce(partial(elementwise, tape, name), rows))


def _bound(dtype: Any, largest: bool) -> Any:
    """The largest or smallest number of a type."""
    if jnp.issubdtype(dtype, jnp.floating):
        return np.inf if largest else -np.inf
    if jnp.issubdtype(dtype, jnp.bool_):
        return largest
    return jnp.iinfo(dtype).max if largest else jnp.iinfo(dtype).min


# What a reduction gives of no numbers.
_NOTHING: dict[str, Callable[[Any], Any]] = {
    "add": lambda dtype: np.zeros((), dtype),
    "and": lambda dtype: np.asarray(-1).astype(dtype),
    "max": lambda dtype: _bound(dtype, largest=False),
    "min": lambda dtype: _bound(dtype, largest=True),
    "mul": lambda dtype: np.ones((), dtype),
    "or": lambda dtype: np.zeros((), dtype),
    "xor": lambda dtype: np.zeros((), dtype),
}


def _arg_extreme(better: str, tape: Tape, params: Any, x: Registers) -> Registers:
    """The first of the largest or smallest along one axis."""
    (axis,) = params["axes"]
    rows = np.moveaxis(x, axis, -1)
    best, index = rows[..., 0], np.broadcast_to(constants(tape, np.int64(0)), rows.shape[:-1])
    for i in range(1, rows.shape[-1]):
        wins = elementwise(tape, better, rows[..., i], best)
        best = elementwise(tape, "select", wins, best, rows[..., i])
        here = np.broadcast_to(constants(tape, np.int64(i)), index.shape)
        index = elementwise(tape, "select", wins, index, here)
    return np.asarray(index)


def _cumulate(name: str, tape: Tape, params: Any, x: Registers) -> Registers:
    rows = np.moveaxis(x, params["axis"], 0)
    rows = rows[::-1] if params["reverse"] else rows
    running = list(itertools.accumulate(rows, partial(elementwise, tape, name)))
    result = np.stack(running) if running else rows
    return np.moveaxis(result[::-1] if params["reverse"] else result, 0, params["axis"])


def _dot_general(tape: Tape, params: Any, x: Registers, y: Registers, *, result: Any) -> Registers:
    (of_x, of_y), (batch_x, batch_y) = params["dimension_numbers"]
    free_x = [axis for axis in range(x.ndim) if axis not in (*of_x, *batch_x)]
    free_y = [axis for axis in range(y.ndim) if axis not in (*of_y, *batch_y)]
    if 0 in (*x.shape, *y.shape):
        return np.broadcast_to(constants(tape, np.zeros((), result.dtype)), result.shape)
    many = int(np.prod([x.shape[axis] for axis in batch_x]))
    length = int(np.prod([x.shape[axis] for axis in of_x]))
    x = x.transpose([*of_x, *batch_x, *free_x]).reshape(length, many, -1, 1)
    y = y.transpose([*of_y, *batch_y, *free_y]).reshape(length, many, 1, -1)
    products = elementwise(tape, "mul", x, y)
    return reduce(partial(elementwise, tape, "add"), products).reshape(result.shape)


def _sort(tape: Tape, params: Any, *arrays: Registers) -> list[Registers]:
    """Neighbours are exchanged until all stand in order; equal ones stay as they are."""
    axis, keys = params["dimension"], params["num_keys"]
    rows = [list(np.moveaxis(array, axis, 0)) for array in arrays]
    if len(rows[0]) > _LONGEST_SORT:
        raise NotScalar(
            f"a sort of {len(rows[0])} numbers is not written out, only of up to {_LONGEST_SORT}"
        )
    for last in range(len(rows[0]) - 1, 0, -1):
        for i in range(last):
            _exchange(tape, rows, i, keys)
    if not rows[0]:
        return list(arrays)
    return [np.moveaxis(np.stack(row), 0, axis) for row in rows]


def _exchange(tape: Tape, rows: list[list[Any]], i: int, keys: int) -> None:
    """Bring entries i and i + 1 into order, by the first key in which they differ."""
    if len(rows) == 1:
        low, high = rows[0][i : i + 2]
        rows[0][i : i + 2] = (elementwise(tape, name, low, high) for name in ("min", "max"))
        return
    wrong = None
    for row in reversed(rows[:keys]):
        larger = elementwise(tape, "gt", row[i], row[i + 1])
        if wrong is not None:
            equal = elementwise(tape, "eq", row[i], row[i + 1])
            wrong = elementwise(tape, "or", larger, elementwise(tape, "and", equal, wrong))
        else:
            wrong = larger
    for row in rows:
        first, second = row[i : i + 2]
        row[i] = elementwise(tape, "select", wrong, first, second)
        row[i + 1] = elementwise(tape, "select", wrong, second, first)


def _square(tape: Tape, params: Any, x: Registers) -> Registers:
    return elementwise(tape, "mul", x, x)


def _one_minus_square(tape: Tape, params: Any, x: Registers) -> Registers:
    """(1 + x)(1 − x), as JAX has it (from 0.12 on), which is exact near ±1."""
    ones = _integer_pow(tape, {"y": 0}, x)
    factors = (elementwise(tape, name, ones, x) for name in ("add", "sub"))
    return elementwise(tape, "mul", *factors)


def _polynomial(tape: Tape, params: Any, x: Registers, *coefficients: Registers) -> Registers:
    """Horner's scheme, lowest coefficient first (from JAX 0.12 on)."""
    *lower, result = coefficients
    for coefficient in reversed(lower):
        product = elementwise(tape, "mul", result, x)
        result = elementwise(tape, "add", product, coefficient)
    return result


_SAME_NAME = (
    *("abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt"),
    *("ceil", "cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2"),
    *("expm1", "floor", "ge", "gt", "is_finite", "le", "lgamma", "log", "log1p", "logistic"),
    *("lt", "max", "min", "mul", "ne", "neg", "not", "or", "rem", "rsqrt", "sign", "sin", "sinh"),
    *("sqrt", "sub", "tan", "tanh", "xor"),
)

RULES: dict[str, Rule] = {
    **{name: _plain(name) for name in _SAME_NAME},
    "add_any": _plain("add"),
    "argmax": partial(_arg_extreme, "gt"),
    "argmin": partial(_arg_extreme, "lt"),
    "clamp": _clamp,
    "convert_element_type": _convert,
    "cummax": partial(_cumulate, "max"),
    "cummin": partial(_cumulate, "min"),
    "cumprod": partial(_cumulate, "mul"),
    "cumsum": partial(_cumulate, "add"),
    "integer_pow": _integer_pow,
    "le_to": _plain("le"),
    "lt_to": _plain("lt"),
    "one_minus_square": _one_minus_square,
    "polynomial": _polynomial,
    "pow": _pow,
    "round": _round,
    "select_n": _select_n,
    "sort": _sort,
    "square": _square,
}
# These want to know the shape and type of what comes out.
TYPED: dict[str, Rule] = {
    "dot_general": _dot_general,
    "reduce_and": partial(_reduce, "and"),
    "reduce_max": partial(_reduce, "max"),
    "reduce_min": partial(_reduce, "min"),
    "reduce_or": partial(_reduce, "or"),
    "reduce_prod": partial(_reduce, "mul"),
    "reduce_sum": partial(_reduce, "add"),
    "reduce_xor": partial(_reduce, "xor"),
}
