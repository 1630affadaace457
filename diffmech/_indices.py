"""Constant indices beyond the end of an array, which JAX accepts silently.

`q[5]` of a traced array of two entries is its last one, and `x.at[5].set(...)` changes nothing.
Both are seen in a function's jaxpr where the index is a constant; an index that is computed from
data may be meant to be clamped, and is left alone. So are lists of places of which some are written
to, others perhaps dropped on purpose, and what `vmap` has made of an index into its own axis.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode

_LARGEST = 4096  # entries of an array of indices that is followed


class Beyond(NamedTuple):
    """An entry as the user asked for it, and the size of the axis that does not have it."""

    entry: int
    size: int


def _selected(which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    return np.where(which, cases[1], cases[0]) if len(cases) == 2 else np.choose(which, cases)


def _broadcast(value: np.ndarray, shape: Any, broadcast_dimensions: Any, **_: Any) -> np.ndarray:
    inner = [1] * len(shape)
    for axis, size in zip(broadcast_dimensions, value.shape, strict=True):
        inner[axis] = size
    return np.broadcast_to(value.reshape(inner), shape)


# What lies between a constant index and its use: negative ones counted from the end, shapes.
_FOLDED: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "select_n": _selected,
    "convert_element_type": lambda x, new_dtype, **_: x.astype(new_dtype),
    "broadcast_in_dim": _broadcast,
    "squeeze": lambda x, dimensions, **_: np.squeeze(x, tuple(dimensions)),
    "reshape": lambda x, new_sizes, **_: x.reshape(new_sizes),
    "concatenate": lambda *xs, dimension, **_: np.concatenate(xs, dimension),
}
_NOT_ALWAYS_RUN = {"cond"}  # a branch that is never taken may hold anything
_LOOPS = {"scan", "while"}  # what goes in there changes from turn to turn


def index_beyond(closed: ClosedJaxpr) -> Beyond | None:
    """The first constant index of a traced function that its array does not have, if any."""
    return _followed(closed.jaxpr, closed.consts, [None] * len(closed.jaxpr.invars))[0]


def _followed(
    jaxpr: Jaxpr, consts: Sequence[Any], given: Sequence[Any]
) -> tuple[Beyond | None, list[Any]]:
    """An index beyond, and the results as far as they are constant; what is not known is None."""
    known: dict[Any, Any] = dict(zip(jaxpr.invars, given, strict=True))
    known |= dict(zip(jaxpr.constvars, map(_number, consts), strict=True))

    def value(atom: Any) -> Any:
        return _number(atom.val) if isinstance(atom, Literal) else known.get(atom)

    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in _FOLDED:
            values = [value(atom) for atom in equation.invars]
            small = math.prod(_shape(equation.outvars[0])) <= _LARGEST
            if small and all(each is not None for each in values):
                with np.errstate(all="ignore"):  # whole numbers may overflow, as they do in JAX
                    result = _FOLDED[name](*values, **equation.params)
                known[equation.outvars[0]] = np.asarray(result)
        elif name in ("dynamic_slice", "gather") or name.startswith("scatter"):
            wrong = _beyond(equation, [value(atom) for atom in equation.invars])
            if wrong is not None:
                return wrong, []
        elif name not in _NOT_ALWAYS_RUN:
            inner = _jaxprs(equation.params)
            for function, constants in inner:
                values = [value(atom) for atom in equation.invars]
                called = name not in _LOOPS and len(values) == len(function.invars)
                told = values if called else [None] * len(function.invars)
                wrong, results = _followed(function, constants, told)
                if wrong is not None:
                    return wrong, []
                if called and len(inner) == 1:
                    known.update(zip(equation.outvars, results, strict=False))
    return None, [value(atom) for atom in jaxpr.outvars]


def _number(const: Any) -> np.ndarray | None:
    """A constant that may be an index, or a truth about one."""
    if isinstance(const, Tracer) or np.size(const) > _LARGEST:
        return None
    kind = getattr(getattr(const, "dtype", None), "kind", type(const).__name__)
    return np.asarray(const) if kind in ("i", "u", "b", "int", "bool") else None


def _shape(atom: Any) -> tuple[int, ...]:
    return atom.aval.shape


def _jaxprs(parameters: dict[str, Any]) -> list[tuple[Jaxpr, Sequence[Any]]]:
    """The functions inside an operation, with their constants."""
    inner: list[tuple[Jaxpr, Sequence[Any]]] = []
    for parameter in parameters.values():
        for each in parameter if isinstance(parameter, tuple | list) else (parameter,):
            if isinstance(each, ClosedJaxpr):
                inner.append((each.jaxpr, each.consts))
            elif isinstance(each, Jaxpr):
                inner.append((each, [None] * len(each.constvars)))
    return inner


def _beyond(equation: JaxprEqn, values: list[Any]) -> Beyond | None:
    """The first constant index of one reading or writing that does not fit."""
    name, params = equation.primitive.name, equation.params
    shape = _shape(equation.invars[0])
    if name == "dynamic_slice":
        return _first(zip(values[1:], params["slice_sizes"], shape, strict=True))
    indices = values[1]
    if indices is None or not indices.size:
        return None
    if name == "gather" and params["mode"] == GatherScatterMode.PROMISE_IN_BOUNDS:
        axes = params["dimension_numbers"].start_index_map
        sizes = [params["slice_sizes"][axis] for axis in axes]
    elif name != "gather":
        numbers = params["dimension_numbers"]
        axes = numbers.scatter_dims_to_operand_dims
        sizes = [1] * len(axes)
        if any(axis not in numbers.inserted_window_dims for axis in axes):
            return None  # windows, whose sizes are those of the updates
    else:
        return None
    columns = np.moveaxis(np.atleast_1d(indices), -1, 0)
    bounds = [shape[axis] for axis in axes]
    if name != "gather":
        fits = [
            (column >= 0) & (column < size) for column, size in zip(columns, bounds, strict=True)
        ]
        if np.any(np.all(fits, axis=0)):
            return None
    return _first(zip(columns, sizes, bounds, strict=True))


def _first(places: Any) -> Beyond | None:
    """Of (starts, size of a slice, size of the axis) the first start that does not fit."""
    for starts, taken, size in places:
        if starts is None:
            continue
        for start in np.ravel(starts):
            if start < 0:  # counted from the end already
                return Beyond(int(start) - size, size)
            if start + taken > size:
                return Beyond(int(start), size)
    return None
