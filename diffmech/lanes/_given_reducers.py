"""What a user passes as `reduce`, turned into reducers by name, tangents and stops."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from .._checks import float_dtype, in_force, is_traced, trial_condition
from .._suggest import quoted, suggestion
from .._typing import AnyArray
from ..model import AbstractSystem, trial_arguments
from ._clocks import times_of
from ._control import Tolerances
from ._reducer_protocol import AbstractReducer, AbstractSample, ends_motions, require_reducer
from ._reducers import Crossings, EnergyError, FirstTime, Largest, Last, Smallest
from ._reduction import Role


def reducers(given: Any, system: AbstractSystem) -> dict[str, AbstractReducer]:
    """Reducers by name, as given to `reduce`.

    Raises:
        ValueError: there is no such reducer, two of one name, or what is given is none.
    """
    if given is None:
        given = "last"
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        listed = list(given) if isinstance(given, list | tuple) else [given]
        named = {}
        for one in listed:
            kind = one if isinstance(one, type) else type(one)
            name = one if isinstance(one, str) else _snake(kind.__name__)
            if name in named:
                raise ValueError(
                    f"`reduce` has two reducers called {name!r}: name them, as in "
                    f"`reduce={{'first': ..., 'second': ...}}`"
                )
            named[name] = one
    by_word = {"last": _last, "energy_error": lambda: EnergyError(system)}
    for name, one in named.items():
        if isinstance(one, str):
            if one not in by_word:
                raise ValueError(f"there is no reducer {quoted(one)}.{suggestion(one, by_word)}")
            named[name] = by_word[one]()
            continue
        reducer = require_reducer(one, name)
        if isinstance(reducer, FirstTime | Largest | Smallest | Crossings):
            asked = reducer.condition if isinstance(reducer, FirstTime) else reducer.function
            trial_condition(asked, f"reduce[{name!r}]", *trial_arguments(system.n, system.params))
    return named


@cache
def _last() -> Last:
    return Last()


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def tangents_and_roles(
    used: Sequence[AbstractReducer], n: int
) -> tuple[AnyArray, tuple[Role, ...]]:
    """All tangents, shape (k, 2n), and the role of each reducer, which says what is its own."""
    rows, roles, first = [], [], 0
    for reducer in used:
        own, end = reducer.tangents, first
        if own is not None:
            if np.shape(own)[1:] != (2 * n,):
                raise ValueError(
                    f"tangents of {type(reducer).__name__} must have shape (k, {2 * n}) = (δq, "
                    f"δq̇), but have shape {np.shape(own)}"
                )
            rows.append(own)
            end = first + np.shape(own)[0]
        at_stops = isinstance(reducer, AbstractSample) and reducer.times is not None
        roles.append(Role(first, end, at_stops, ends_motions(reducer)))
        first = end
    if not rows:
        return np.zeros((0, 2 * n), float_dtype()), tuple(roles)
    kit = jnp if is_traced(rows) else np
    return in_force(kit.concatenate(rows)), tuple(roles)


def stops(
    used: Sequence[AbstractReducer], tolerances: Tolerances
) -> tuple[AnyArray | None, list[np.ndarray | None]]:
    """Times at which any reducer samples, increasing, and the indices of each one's own."""
    asked = times_of(used)
    wanted = [np.ravel(times) for times in asked if times is not None]
    if not wanted:
        return None, [None] * len(used)
    every = np.unique(np.concatenate(wanted))
    if not is_traced(tolerances):
        start, end = float(tolerances.start), float(tolerances.end)
        if not (np.all(np.isfinite(every)) and every[0] >= start and every[-1] <= end):
            raise ValueError(
                f"sample times must lie between {start:g} s and {end:g} s, but reach from "
                f"{every[0]:g} s to {every[-1]:g} s"
            )
    picks = [None if times is None else np.searchsorted(every, times) for times in asked]
    return in_force(every), picks
