"""Axes of a map: any coordinate, rate or parameter, with its grid."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._checks import as_array, as_count, as_scalar, as_vector, is_traced, require_finite
from .._memory import require_memory
from .._suggest import quoted, suggestion
from .._typing import AnyArray
from .._units import rate_unit
from ..model import (
    AbstractSystem,
    parameter_paths,
    parameter_place,
    parameter_unit,
    replace_params,
    require_sound_params,
    rest_zero,
)

_MOST_AXES = 2


class Axis(NamedTuple):
    """One direction of a map.

    Attributes:
        name: of a coordinate (`qA`), a rate (`qA_dot`) or a parameter (`mB`, `masses[1]`).
        unit: "" where unknown.
        grid: its values, shape (k,), increasing or decreasing.
        kind: "coordinate", "rate" or "parameter".
    """

    name: str
    unit: str
    grid: np.ndarray
    kind: str


def as_axes(system: AbstractSystem, given: Any) -> tuple[Axis, ...]:
    """One or two axes from a mapping by name of their values, or of (from, to, count)."""
    if not isinstance(given, Mapping) or not 1 <= len(given) <= _MOST_AXES:
        raise ValueError(
            "`axes` must map one or two names to their values, such as {'qA': np.linspace(0, 1, "
            f"101)}}, but is {_briefly(given)}"
        )
    return tuple(_axis(system, str(name), values) for name, values in given.items())


def _briefly(given: Any) -> str:
    if isinstance(given, Mapping):
        return f"a mapping of {len(given)} names"
    return f"a {type(given).__name__}"


def _axis(system: AbstractSystem, name: str, values: Any) -> Axis:
    kind, unit = axis_kind(system, name)
    if isinstance(values, tuple) and len(values) == 3:
        low, high, count = values
        count = as_count(count, f"the number of values of {name}", 1)
        require_memory(8 * count, f"{count} values of axis `{name}`", "take fewer, or parts of it")
        values = np.linspace(
            float(as_scalar(low, f"{name} from")), float(as_scalar(high, f"{name} to")), count
        )
    try:
        grid = as_array(values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the values of axis `{name}` must be numbers, but {error}") from error
    if is_traced(grid):
        raise ValueError(f"the values of axis `{name}` must be plain numbers, not traced ones")
    grid = np.asarray(grid)
    if grid.ndim != 1 or not grid.size:
        raise ValueError(f"the values of axis `{name}` must have shape (k,), but {grid.shape}")
    require_finite(grid, name)
    if not (np.all(np.diff(grid) > 0) or np.all(np.diff(grid) < 0)):
        raise ValueError(f"the values of axis `{name}` must increase, or decrease, throughout")
    if kind == "parameter":
        for value in grid:
            require_sound_params(replace_params(system.params, {name: value}))
    return Axis(name, unit, grid, kind)


def axis_kind(system: AbstractSystem, name: str) -> tuple[str, str]:
    """What a name stands for, and its unit."""
    names = list(system.coordinates)
    rates = {f"{coordinate}_dot": coordinate for coordinate in names}
    paths = parameter_paths(system.params)
    kinds = [
        kind
        for kind, known in (("coordinate", names), ("rate", rates), ("parameter", paths))
        if name in known
    ]
    if len(kinds) > 1:
        raise ValueError(f"{name!r} is both a {kinds[0]} and a {kinds[1]} of {system.name!r}")
    if not kinds:
        if "[" not in name:
            raise ValueError(
                f"there is no coordinate, rate or parameter {quoted(name)}."
                + suggestion(name, [*names, *rates, *paths])
            )
        kinds = ["parameter"]
    if kinds[0] == "parameter":
        leaf, index = parameter_place(system.params, name)
        if not index and np.shape(paths[leaf]) != ():
            raise ValueError(
                f"`{name}` has shape {np.shape(paths[leaf])}, so an axis needs one of its entries, "
                f"such as `{name}[{','.join('0' * np.ndim(paths[leaf]))}]`"
            )
        return "parameter", parameter_unit(system, name)
    unit = system.coordinates[rates.get(name, name)]
    if kinds[0] == "rate":
        return "rate", rate_unit(unit)
    return "coordinate", unit


class Grid(NamedTuple):
    """All points of a map: the axes, and what is the same everywhere."""

    axes: tuple[Axis, ...]
    q0: np.ndarray  # (n,)
    qd0: np.ndarray  # (n,)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(axis.grid.size for axis in self.axes)

    def places(self, start: int, stop: int) -> list[np.ndarray]:
        """The values along each axis of points `start` to `stop`, the last axis fastest."""
        indices = np.unravel_index(np.arange(start, stop), self.shape)
        return [axis.grid[index] for axis, index in zip(self.axes, indices, strict=True)]

    def lanes(
        self, system: AbstractSystem, params: Any, places: list[np.ndarray]
    ) -> tuple[AnyArray, AnyArray, Any]:
        """q0s, qd0s and parameters, as `ensemble` takes them, for points anywhere."""
        count = places[0].size
        names = list(system.coordinates)
        q0s, qd0s = np.tile(self.q0, (count, 1)), np.tile(self.qd0, (count, 1))
        leaves = dict(parameter_paths(params))
        varied: dict[str, np.ndarray] = {}
        for axis, values in zip(self.axes, places, strict=True):
            if axis.kind == "coordinate":
                q0s[:, names.index(axis.name)] = values
            elif axis.kind == "rate":
                qd0s[:, names.index(axis.name.removesuffix("_dot"))] = values
            else:
                path, index = parameter_place(params, axis.name)
                if path not in varied:
                    leaf = np.asarray(leaves[path])
                    varied[path] = np.tile(leaf, (count, *(1,) * leaf.ndim))
                varied[path][(slice(None), *index)] = values
        return q0s, qd0s, {**leaves, **varied}


def as_grid(system: AbstractSystem, axes: Any, q0: Any, qd0: Any) -> Grid:
    """Axes and the rest of the start; coordinates on an axis need no other value."""
    checked = as_axes(system, axes)
    on_axes = {axis.name for axis in checked}
    return Grid(
        checked,
        _rest(system, q0, on_axes, "q0"),
        _rest(system, qd0, {name.removesuffix("_dot") for name in on_axes}, "qd0"),
    )


def _rest(system: AbstractSystem, given: Any, on_axes: set[str], label: str) -> np.ndarray:
    """Shape (n,): zeros, a vector, or a mapping by name in which what is left out is zero."""
    names = tuple(system.coordinates)
    if given is None:
        return np.zeros(len(names))
    if isinstance(given, Mapping):
        double = [name for name in given if name in on_axes and name in names]
        if double and label == "q0":
            raise ValueError(f"`q0` must leave {double[0]!r} to its axis")
    return np.asarray(as_vector(rest_zero(system, given), names, label))
