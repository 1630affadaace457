"""Functions of small arrays carried out by a tape, lane by lane."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from diffmech.scalars import (
    AbstractAlgebra,
    Evaluation,
    Lanes,
    Tape,
    _linear,
    constants,
    unknowns,
    write,
)
from diffmech.scalars._numbers import ON_NUMBERS


def gathered(values: Any, lanes: int) -> np.ndarray:
    """An object array of lanes as one array, the lanes in front."""
    rows = [np.broadcast_to(np.asarray(value), (lanes,)) for value in values.ravel()]
    if not rows:
        return np.zeros((lanes, *values.shape))
    return np.stack(rows, axis=-1).reshape(lanes, *values.shape)


def given(places: Any, batch: Any) -> dict[int, Any]:
    """What each place stands for: the batch's arrays have the lanes in front."""
    return {
        place: column
        for array, values in zip(jax.tree.leaves(places), jax.tree.leaves(batch), strict=True)
        for place, column in zip(
            np.ravel(array).tolist(), np.reshape(values, (len(values), -1)).T, strict=True
        )
    }


_ON_ARRAYS: dict[str, Callable[..., Any]] = {
    "div": np.divide,
    "not": np.logical_not,
    "select": lambda condition, if_false, if_true: np.where(condition, if_true, if_false),
    "sign": np.sign,
    "to_float": lambda x: np.asarray(x, float),
}
# These are the same for arrays as for numbers.
_ALIKE = {
    *("abs", "acos", "add", "and", "asin", "atan", "atan2", "cos", "cosh", "eq", "exp", "ge"),
    *("gt", "is_finite", "le", "log", "lt", "max", "min", "mul", "ne", "neg", "or", "pow"),
    *("rsqrt", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "xor"),
}


class Arrays(AbstractAlgebra):
    """NumPy's arithmetic of floats and truths: nothing is compiled."""

    def constant(self, value: float | int | bool) -> Any:
        return value

    def operate(self, name: str, *arguments: Any) -> Any:
        function = _ON_ARRAYS.get(name) or (ON_NUMBERS[name] if name in _ALIKE else None)
        assert function is not None, f"there is no `{name}` of arrays here yet"
        with np.errstate(all="ignore"):  # as in lanes
            return function(*arguments)

    def sincos(self, x: Any) -> tuple[Any, Any]:
        return np.sin(x), np.cos(x)


def by_arrays(function: Callable[..., Any], *batch: Any) -> Any:
    """function over a batch without compiling it: traced once, then carried out by NumPy."""
    limit, _linear._LARGEST_SYSTEM = _linear._LARGEST_SYSTEM, 20  # arrays take longer lists
    try:
        return _by_tape(function, Arrays(), batch)
    finally:
        _linear._LARGEST_SYSTEM = limit


def by_lanes(function: Callable[..., Any], *batch: Any) -> Any:
    """function over the lanes of a batch, each number an unknown of the tape."""
    return _by_tape(function, Lanes(), batch)


def _by_tape(function: Callable[..., Any], algebra: AbstractAlgebra, batch: Any) -> Any:
    tape = Tape()
    places = unknowns(tape, jax.tree.map(lambda a: a[0], batch))
    results = write(tape, function, *places)
    lanes = len(jax.tree.leaves(batch)[0])
    evaluation = Evaluation(tape, algebra, given(places, batch))
    return jax.tree.map(lambda array: gathered(evaluation.of(array), lanes), results)


def by_folding(function: Callable[..., Any], *batch: Any) -> Any:
    """The same with every number known while the function is written."""
    tape = Tape()
    places = jax.tree.map(lambda array: constants(tape, array), batch)
    results = write(tape, jax.vmap(function), *places)
    needed = [tape.operations[p].name for r in jax.tree.leaves(results) for p in r.ravel()]
    assert set(needed) <= {"constant"}, f"not worked out: {set(needed)}"
    return jax.tree.map(
        lambda array: np.array([tape.value(p) for p in array.ravel().tolist()]).reshape(
            array.shape
        ),
        results,
    )


def primitives(function: Callable[..., Any], *arguments: Any) -> set[str]:
    """The names of all primitives in a function, however deep."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if hasattr(value, "eqns"):
            for equation in value.eqns:
                found.add(equation.primitive.name)
                jax.tree.map(look, list(equation.params.values()), is_leaf=_is_program)
                for value in equation.params.values():
                    if hasattr(value, "expand"):
                        places = [variable.aval for variable in equation.invars]
                        look(jax.make_jaxpr(value.expand)(*places))
        elif hasattr(value, "jaxpr"):
            look(value.jaxpr)

    look(jax.make_jaxpr(function)(*arguments))
    return found


def _is_program(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(value, "jaxpr")
