"""Functions of small arrays carried out by a tape, lane by lane."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

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
_LARGEST_SYSTEM = 20  # unknowns: arrays take longer lists than lanes


def _on_arrays(name: str) -> Callable[..., Any]:
    assert name in _ON_ARRAYS or name in _ALIKE, f"there is no `{name}` of arrays here yet"
    return _ON_ARRAYS.get(name) or ON_NUMBERS[name]


class Arrays(AbstractAlgebra):
    """NumPy's arithmetic of floats and truths: nothing is compiled."""

    def constant(self, value: float | int | bool) -> Any:
        return value

    def operate(self, name: str, *arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # as in lanes
            return _on_arrays(name)(*arguments)

    def sincos(self, x: Any) -> tuple[Any, Any]:
        return np.sin(x), np.cos(x)


def carried_out(function: Callable[..., Any], *example: Any) -> Callable[..., Any]:
    """A function of one state, as one of batches of them that `Arrays` carry out.

    It is traced and written down once, here, however often it is asked for.
    """
    tape = Tape()
    places = unknowns(tape, example)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_linear, "_LARGEST_SYSTEM", _LARGEST_SYSTEM)
        results = write(tape, function, *places)
    needed = tape.needed_for([p for array in jax.tree.leaves(results) for p in np.ravel(array)])
    known, program = {}, []
    for place in needed:
        name, arguments = tape.operations[place]
        if name == "constant":
            known[place] = arguments[0]
        elif name != "input":
            program.append((place, _on_arrays(name), arguments))

    def work_out(*batch: Any) -> Any:
        values = known | given(places, batch)
        with np.errstate(all="ignore"):  # as in lanes
            for place, operate, arguments in program:
                values[place] = operate(*[values[argument] for argument in arguments])
        lanes = len(jax.tree.leaves(batch)[0])

        def gather(array: Any) -> np.ndarray:
            numbers = np.empty(array.size, dtype=object)
            for i, place in enumerate(array.ravel().tolist()):
                numbers[i] = values[place]
            return gathered(numbers.reshape(array.shape), lanes)

        return jax.tree.map(gather, results)

    return work_out


def by_arrays(function: Callable[..., Any], *batch: Any) -> Any:
    """The same for one batch."""
    return carried_out(function, *jax.tree.map(lambda a: a[0], batch))(*batch)


def by_lanes(function: Callable[..., Any], *batch: Any) -> Any:
    """function over the lanes of a batch, each number an unknown of the tape."""
    tape = Tape()
    places = unknowns(tape, jax.tree.map(lambda a: a[0], batch))
    results = write(tape, function, *places)
    lanes = len(jax.tree.leaves(batch)[0])
    evaluation = Evaluation(tape, Lanes(), given(places, batch))
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
