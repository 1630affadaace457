"""Functions of small arrays carried out by a tape, lane by lane."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

from diffmech.scalars import (
    AbstractAlgebra,
    Evaluation,
    Lanes,
    NotScalar,
    Tape,
    _interpret,
    _linear,
    constants,
    gathered,
    given,
    on_arrays,
    unknowns,
    write,
)

_LARGEST_SYSTEM = 20  # unknowns: arrays take longer lists than lanes


class _Detour(NamedTuple):
    """What is no list of operations, such as a loop: places that go in, places that come out."""

    taken: list[int]
    results: list[int]
    work_out: Callable[..., list[Any]]


class _TapeWithDetours(Tape):
    """A tape on which loops of unknown length may stand, for arrays to follow."""

    def __init__(self) -> None:
        super().__init__()
        self.detours: list[_Detour] = []

    def typed_inputs(self, like: Any) -> tuple[list[np.ndarray], list[int]]:
        """Registers of the shapes and kinds of some arrays, and their inputs, in order."""
        inputs: list[int] = []
        arrays = []
        for array in like:
            new = [self.input() for _ in range(array.size)]
            inputs += new
            convert = {"b": "to_bool", "i": "to_int"}.get(array.dtype.kind, "to_float")
            places = [self.operate(convert, place) for place in new]
            arrays.append(np.array(places, dtype=np.int64).reshape(array.shape))
        return arrays, inputs

    def detour(
        self, taken: list[np.ndarray], like: Any, work_out: Callable[..., Any]
    ) -> list[np.ndarray]:
        """The places of what a function of the taken places' values will give."""
        results, inputs = self.typed_inputs(like)
        self.detours.append(_Detour(_flat(taken), inputs, work_out))
        return results


def _flat(arrays: Any) -> list[int]:
    return [place for array in arrays for place in np.ravel(array).tolist()]


class _Program:
    """Registers of a tape worked out from its inputs, one by one, detours in their turn."""

    def __init__(self, tape: _TapeWithDetours, inputs: list[int], outputs: list[int]):
        self._inputs, self._outputs = inputs, outputs
        self._known: dict[int, Any] = {}
        self._steps: list[tuple[int, Callable[..., Any], Any]] = []
        needed, detours = set(tape.needed_for(outputs)), {}
        for number, detour in reversed(list(enumerate(tape.detours))):
            if not needed.isdisjoint(detour.results):
                needed.update(tape.needed_for(detour.taken))
                needed.update(detour.results)
                detours[detour.results[0]] = (-1 - number, detour)
        for place in sorted(needed):
            name, arguments = tape.operations[place]
            if name == "constant":
                self._known[place] = arguments[0]
            elif place in detours:
                label, detour = detours[place]
                self._steps.append((label, detour.work_out, detour.taken))
                for i, result in enumerate(detour.results):
                    self._steps.append((result, itemgetter(i), (label,)))
            elif name != "input":
                self._steps.append((place, on_arrays(name), arguments))

    def __call__(self, *given: Any) -> list[Any]:
        """The outputs' values: numbers, or arrays of all lanes."""
        values = self._known | dict(zip(self._inputs, given, strict=True))
        for place, operate, arguments in self._steps:
            values[place] = operate(*[values[argument] for argument in arguments])
        return [values[place] for place in self._outputs]


@contextmanager
def _for_arrays() -> Iterator[None]:
    """Meanwhile functions are written down as arrays take them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_linear, "_LARGEST_SYSTEM", _LARGEST_SYSTEM)
        patch.setitem(_interpret.CONTROL, "while", _while)
        patch.setitem(_interpret.CONTROL, "cond", _cond)
        yield


def _program_of(closed: Any) -> _Program:
    """A traced function, of flat arguments and results."""
    tape = _TapeWithDetours()
    places, inputs = tape.typed_inputs(closed.in_avals)
    with _for_arrays():
        results = _interpret._evaluate_closed(tape, closed, places)
    return _Program(tape, inputs, _flat(results))


def _while(tape: Tape, equation: Any, taken: list[Any]) -> list[Any]:
    """Each lane goes on as long as it has to, the others wait."""
    params = equation.params
    first, second = params["cond_nconsts"], params["body_nconsts"]
    sizes = np.cumsum([places.size for places in taken])
    ends = [int(sizes[k - 1]) if k else 0 for k in (first, first + second)]
    program_of = cache(_program_of)

    def work_out(*values: Any) -> list[Any]:
        of_condition, of_body = values[: ends[0]], values[ends[0] : ends[1]]
        carry = list(values[ends[1] :])
        condition, body = program_of(params["cond_jaxpr"]), program_of(params["body_jaxpr"])
        while np.any(goes_on := condition(*of_condition, *carry)[0]):
            after = body(*of_body, *carry)
            carry = [np.where(goes_on, new, old) for new, old in zip(after, carry, strict=True)]
        return carry

    try:
        return _KNOWN_WHILE(tape, equation, taken)
    except NotScalar:
        if not isinstance(tape, _TapeWithDetours):
            raise
    return tape.detour(taken, [variable.aval for variable in equation.outvars], work_out)


def _cond(tape: Tape, equation: Any, taken: list[Any]) -> list[Any]:
    """Branches with loops in them are followed only if some lane takes them."""
    branches = equation.params["branches"]
    loops = any("while" in _primitives_of(branch) for branch in branches)
    if not loops or tape.is_constant(int(taken[0])) or not isinstance(tape, _TapeWithDetours):
        return _KNOWN_COND(tape, equation, taken)
    program_of = cache(_program_of)

    def work_out(which: Any, *values: Any) -> list[Any]:
        which = np.clip(which, 0, len(branches) - 1)
        one, *others = np.unique(which)
        results = program_of(branches[one])(*values)
        for other in others:
            pairs = zip(program_of(branches[other])(*values), results, strict=True)
            results = [np.where(which == other, new, old) for new, old in pairs]
        return results

    return tape.detour(taken, [variable.aval for variable in equation.outvars], work_out)


_KNOWN_WHILE, _KNOWN_COND = (_interpret.CONTROL[name] for name in ("while", "cond"))


def carried_out(function: Callable[..., Any], *example: Any) -> Callable[..., Any]:
    """A function of one state, as one of batches of them that `Arrays` carry out.

    It is traced and written down once, here, however often it is asked for.
    """
    tape = _TapeWithDetours()
    places = unknowns(tape, example)
    with _for_arrays():
        results = write(tape, function, *places)
    program = _Program(tape, _flat(jax.tree.leaves(places)), _flat(jax.tree.leaves(results)))

    def work_out(*batch: Any) -> Any:
        lanes = len(jax.tree.leaves(batch)[0])
        with np.errstate(all="ignore"):  # as in lanes
            found = iter(program(*given(places, batch).values()))

        def gather(array: Any) -> np.ndarray:
            numbers = np.empty(array.size, dtype=object)
            for i in range(array.size):
                numbers[i] = next(found)
            return gathered(numbers.reshape(array.shape), lanes)

        return jax.tree.map(gather, results)

    return work_out


def by_arrays(function: Callable[..., Any], *batch: Any) -> Any:
    """The same for one batch."""
    return carried_out(function, *jax.tree.map(lambda a: a[0], batch))(*batch)


def by_lanes(
    function: Callable[..., Any], *batch: Any, algebra: AbstractAlgebra | None = None
) -> Any:
    """function over the lanes of a batch, each number an unknown of the tape."""
    tape = Tape()
    places = unknowns(tape, jax.tree.map(lambda a: a[0], batch))
    results = write(tape, function, *places)
    lanes = len(jax.tree.leaves(batch)[0])
    evaluation = Evaluation(tape, algebra or Lanes(), given(places, batch))
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
    return _primitives_of(jax.make_jaxpr(function)(*arguments))


def _primitives_of(traced: Any) -> set[str]:
    found: set[str] = set()

    def look(value: Any) -> None:
        if hasattr(value, "eqns"):
            for equation in value.eqns:
                found.add(equation.primitive.name)
                jax.tree.map(look, list(equation.params.values()), is_leaf=_is_program)
                for value in equation.params.values():
                    if hasattr(value, "expand"):
                        places = [variable.aval for variable in equation.invars]
                        given = jax.tree.unflatten(value.in_tree, places)
                        look(jax.make_jaxpr(value.expand)(*given))
        elif hasattr(value, "jaxpr"):
            look(value.jaxpr)

    look(traced)
    return found


def _is_program(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(value, "jaxpr")
