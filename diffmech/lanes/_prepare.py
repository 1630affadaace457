"""What a user passes to an ensemble, turned into what lanes take."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import (
    MAX_STEPS_LIMIT,
    as_array,
    as_count,
    as_duration,
    as_scalar,
    float_dtype,
    in_force,
    in_order,
    is_traced,
    require_few_steps,
    require_one_pace,
    trial_condition,
)
from .._defaults import LANE_MAX_STEPS, LANES_RTOL, as_rtol
from .._memory import require_memory
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Params
from ..model import (
    AbstractSystem,
    match_params,
    parameter_paths,
    require_finite_params,
    require_sound_params,
    trial_arguments,
)
from ..motion import AbstractStabilisation, Baumgarte, Projection, Unstabilised, as_stabilisation
from ._block import Role
from ._clocks import times_of
from ._control import Tolerances
from ._reducer_protocol import AbstractReducer, AbstractSample, ends_motions, require_reducer
from ._reducers import Crossings, EnergyError, FirstTime, Largest, Last, Smallest


def checked_tolerances(
    t0: Any, duration: Any, rtol: Any, atol: Any, dt: Any, max_steps: Any
) -> Tolerances:
    """Numbers of a run, checked; strongly typed, so that new ones do not compile anew."""
    start = as_scalar(t0, "t0")
    whole = as_duration(duration)
    require_one_pace(dt, rtol, atol)
    rtol = as_rtol(rtol, LANES_RTOL, resolvable=dt is None)
    atol = rtol if atol is None else as_scalar(atol, "atol", positive=True)
    if dt is None:
        bound = LANE_MAX_STEPS
    else:
        dt = in_force(as_scalar(dt, "dt", positive=True))
        bound = MAX_STEPS_LIMIT
        require_few_steps(dt, whole, bound)
    if max_steps is not None:
        bound = as_count(max_steps, "max_steps", 1)
    return Tolerances(
        start=in_force(start),
        end=in_force(start + whole),
        rtol=in_force(rtol),
        atol=in_force(atol),
        dt=dt,
        max_steps=in_force(float(min(bound, MAX_STEPS_LIMIT))),
    )


def stabilisation(system: AbstractSystem, given: Any) -> AbstractStabilisation | None:
    """How lanes are kept on constraints: projection, unless said otherwise."""
    if not getattr(system, "constraints", ()):
        if given is not None:
            raise ValueError(
                f"`stabilise` must be left out: {system.name!r} has no constraints to keep"
            )
        return None
    how = as_stabilisation("projection" if given is None else given)
    if not isinstance(how, Projection | Baumgarte | Unstabilised):
        raise ValueError(
            f"`stabilise` must be 'projection', 'baumgarte' or 'none' in an ensemble, but is "
            f"{how.name!r}: `simulate` takes it"
        )
    return how


def require_room(system: AbstractSystem, *given: Any) -> None:
    """Refuse more motions than memory has room for, before their starts are copied."""
    shapes = [leaf.shape for leaf in jax.tree.leaves(given) if hasattr(leaf, "shape")]
    count = max((shape[0] for shape in shapes if shape), default=1)
    # Starts as given and joined, where they ended, and four numbers about each.
    each = float_dtype().itemsize * (6 * system.n + 4)
    require_memory(
        each * count, f"starts and ends of {count} motions", "take fewer, or run them in parts"
    )


def states(system: AbstractSystem, given: Any, label: str) -> AnyArray:
    """Shape (n,) for all lanes or (lanes, n)."""
    names = tuple(system.coordinates)
    n = len(names)
    if given is None:
        return np.zeros(n)
    if isinstance(given, Mapping):
        columns = [as_array(column) for column in in_order(given, names, label)]
        if any(column.ndim > 1 for column in columns):
            raise ValueError(f"`{label}` must map names to numbers or arrays of shape (lanes,)")
        kit = jnp if is_traced(columns) else np
        try:
            return kit.stack(kit.broadcast_arrays(*columns), axis=-1)
        except ValueError as error:
            shapes = ", ".join(f"{k} {c.shape}" for k, c in zip(names, columns, strict=True))
            raise ValueError(
                f"`{label}` must have arrays of one length, but has {shapes}"
            ) from error
    try:
        array = as_array(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{label}` must be numbers, but {error}") from error
    if array.ndim == 1 and n == 1 and array.shape != (1,):
        array = array[:, None]
    if array.shape[-1:] != (n,) or array.ndim > 2:
        raise ValueError(
            f"`{label}` must have shape (lanes, {n}) or ({n},) = ({', '.join(names)}), but has "
            f"shape {array.shape}"
        )
    return array


def parameters(system: AbstractSystem, given: Any) -> tuple[Params, Any, Params]:
    """Parameters, a tree that says which have a lane axis in front, and those common to all lanes.

    In the last, the system's own stand in for those that vary: programs take shapes from there.
    """
    if given is None:
        require_finite_params(system.params)
        return system.params, jax.tree.map(lambda _: False, system.params), system.params
    own = parameter_paths(system.params)
    structure = jax.tree.structure(system.params)
    if isinstance(given, Mapping):
        unknown = [path for path in given if path not in own]
        if unknown:
            raise ValueError(
                f"there is no parameter {quoted(unknown[0])}.{suggestion(unknown[0], own)}"
            )
        leaves = {**own, **given}
    elif jax.tree.structure(given) == structure:
        leaves = dict(zip(own, jax.tree.leaves(given), strict=True))
    else:
        raise ValueError(
            "`params` must have the structure of the system's, or map paths to values, such as "
            f"{{{next(iter(own), 'mass')!r}: ...}}"
        )
    varies = {}
    for path, leaf in leaves.items():
        try:
            leaves[path] = as_array(leaf)
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameter `{path}` must be numbers, but {error}") from error
        shape, usual = leaves[path].shape, np.shape(own[path])
        if shape != usual and shape[1:] != usual:
            raise ValueError(
                f"parameter `{path}` must have shape {usual}, or (lanes, ...) in front of it, but "
                f"has shape {shape}{_meshed(given, own)}"
            )
        varies[path] = shape != usual
    lanes = {leaves[path].shape[0] for path, mark in varies.items() if mark}
    if len(lanes) > 1 and _meshed(given, own):
        raise ValueError(
            "varying parameters must have one number of lanes, but have "
            f"{', '.join(map(str, sorted(lanes)))}{_meshed(given, own)}"
        )
    common = [own[path] if varies[path] else leaf for path, leaf in leaves.items()]
    common = match_params(jax.tree.unflatten(structure, common), system.params)
    require_finite_params(common)
    every = jax.tree.unflatten(structure, list(leaves.values()))
    require_sound_params(every, bodies=False)
    return (
        every,
        jax.tree.unflatten(structure, list(varies.values())),
        common,
    )


def _meshed(given: Any, own: dict[str, Any]) -> str:
    """How to have all combinations of the numbers given, if several are given as grids."""
    if not isinstance(given, Mapping):
        return ""
    grids = [path for path in given if np.shape(own[path]) == () and np.ndim(given[path]) > 0]
    if len(grids) < 2:
        return ""
    words = {path: re.sub(r"\W", "_", path) for path in grids}
    both = ", ".join(words.values())
    flat = ", ".join(f'"{path}": {word}.ravel()' for path, word in words.items())
    return (
        f". For all combinations of {both} as arrays of shape (k,):\n"
        f'    {both} = np.meshgrid({both}, indexing="ij")\n'
        f"    params = {{{flat}}}"
    )


def spread_out(
    q: AnyArray, qd: AnyArray, params: Params, varies: Any, clocks: int | None = None
) -> tuple[AnyArray, list[AnyArray]]:
    """States of shape (lanes, 2n), and the parameters that vary, all with the lanes in front.

    `clocks` is the number of lanes that times are for, if more than one.
    """
    marked = zip(jax.tree.leaves(params), jax.tree.leaves(varies), strict=True)
    varying = [in_force(leaf) for leaf, mark in marked if mark]
    counts = {x.shape[0] for x in (q, qd) if x.ndim == 2} | {x.shape[0] for x in varying}
    counts |= {clocks} if clocks not in (None, 1) else set()
    if len(counts) > 1:
        raise ValueError(
            "`q0s`, `qd0s`, times and varying parameters must have one number of lanes, but have "
            + ", ".join(map(str, sorted(counts)))
        )
    count = counts.pop() if counts else 1
    kit = jnp if is_traced(q, qd) else np
    pair = [kit.broadcast_to(in_force(x), (count, x.shape[-1])) for x in (q, qd)]
    return kit.concatenate(pair, axis=1), varying


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
