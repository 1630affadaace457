"""What a fit may change: parameters by path, each with its limits, unit and what is known of it.

Inside a fit every free number is measured by its scale: z = value / scale. Limits are linear,
A z ≥ b: bounds, masses that are not negative, lengths above zero, and the moments of a body, none
larger than the sum of the other two. No step of a fit leaves them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._suggest import quoted, suggestion
from .._typing import Params
from ..model import (
    AbstractSystem,
    Damper,
    parameter_names,
    parameter_parts,
    parameter_paths,
    parameter_ranges,
    parameter_rules,
    parameter_units,
    principal_moments,
)
from ._named import named_numbers

_SMALLEST = 1e-9  # of its start: what is above zero stays above this
_MINUS = " - "  # in a bound of a difference
FRICTIONS = ("viscous", "quadratic", "coulomb")  # coefficients of a damper


class Free(NamedTuple):
    """The free numbers of a machine.

    Attributes:
        names: their paths, `length` or `masses[1]`.
        leaves: for each, the leaf's path and the index into it.
        start, scale: where a fit starts, and what it measures changes by; shape (p,).
        limits: rows (a, b) of a·z ≥ b, shape (k, p + 1).
        units: for each.
    """

    names: tuple[str, ...]
    leaves: tuple[tuple[str, tuple[int, ...]], ...]
    start: np.ndarray
    scale: np.ndarray
    limits: np.ndarray
    units: tuple[str, ...]

    def params(self, params: Params, values: np.ndarray) -> Params:
        """A machine's parameters with the free numbers replaced by `values`, shape (p,)."""
        leaves = {path: np.array(leaf) for path, leaf in parameter_paths(params).items()}
        for (leaf, index), value in zip(self.leaves, values, strict=True):
            leaves[leaf][index] = value
        return jax.tree.unflatten(jax.tree.structure(params), list(leaves.values()))

    def allowed(self, z: np.ndarray) -> bool:
        """Whether z, shape (p,), keeps all limits, up to rounding."""
        rows, least = self.limits[:, :-1], self.limits[:, -1]
        return bool(np.all(rows @ z >= least - 1e-12 * (1 + np.abs(least))))


def written_into(
    by_path: Mapping[str, Any], leaves: tuple[tuple[str, tuple[int, ...]], ...], values: Any
) -> dict[str, Any]:
    """The leaves that free numbers are in, by path, shape (lanes, ...), for values (lanes, p)."""
    changed: dict[str, Any] = {}
    for i, (leaf, index) in enumerate(leaves):
        if leaf not in changed:
            shape = np.shape(by_path[leaf])
            changed[leaf] = jnp.broadcast_to(jnp.asarray(by_path[leaf]), (values.shape[0], *shape))
        value = values[:, i]
        changed[leaf] = changed[leaf].at[(slice(None), *index)].set(value) if index else value
    return changed


class InPrograms(NamedTuple):
    """The numbers that programs are made for.

    They are in the tree's order, with all coefficients of a damper that has a free one: fits that
    free others of them, or in another order, share their programs.

    Attributes:
        leaves: for each, the leaf's path and the index into it.
        indices: where the free numbers are among them, shape (p,).
        start, scale: as of `Free`; those that are not free are measured by one.
    """

    leaves: tuple[tuple[str, tuple[int, ...]], ...]
    indices: np.ndarray
    start: np.ndarray
    scale: np.ndarray

    def filled(self, z: np.ndarray) -> np.ndarray:
        """z of all numbers, shape (lanes, k), for z of the free ones, (lanes, p)."""
        every = np.tile(self.start / self.scale, (len(z), 1))
        every[:, self.indices] = z
        return every


def in_programs(free: Free, params: Params) -> InPrograms:
    """The free numbers, and those that programs are made for along with them."""
    order, values = parameter_names(params), parameter_paths(params)
    wanted = set(free.leaves)
    for path in parameter_parts(params, Damper):
        friction = {(f"{path}.{name}", ()) for name in FRICTIONS}
        wanted |= friction if friction & wanted else set()
    leaves = sorted(wanted, key=lambda one: (order.index(one[0]), one[1]))
    indices = np.array([leaves.index(one) for one in free.leaves])
    start = np.array([float(np.asarray(values[leaf])[entry]) for leaf, entry in leaves])
    scale = np.ones(len(leaves))
    start[indices], scale[indices] = free.start, free.scale
    return InPrograms(tuple(leaves), indices, start, scale)


def free_numbers(
    system: AbstractSystem,
    free: str | Sequence[str],
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    guess: Mapping[str, float] | None = None,
) -> Free:
    """The free numbers that paths name; a leaf that is an array stands for all its entries.

    Raises:
        ValueError: no such parameter, one named twice, a bound or start that makes no sense.
    """
    named = named_numbers(system.params, [free] if isinstance(free, str) else list(free))
    order = parameter_names(system.params)
    names, values = named.names, named.read(system.params)
    leaves = [(order[leaf], index) for leaf, index in named.where]
    for path, value in _by_entry(system.params, guess or {}, names, "guess").items():
        values[names.index(path)] = value
    sizes = np.abs(values)
    # A number that starts at zero is measured by the others of its kind, or by one.
    kinds = [leaf for leaf, _ in leaves]
    largest: dict[str, float] = {}
    for kind, size in zip(kinds, sizes, strict=True):
        largest[kind] = max(largest.get(kind, 0.0), float(size))
    pairs = zip(sizes, kinds, strict=True)
    scale = np.array([float(size) or largest[kind] or 1.0 for size, kind in pairs])
    given = _by_entry(system.params, bounds or {}, names, "bounds")
    limits = _limits(system, leaves, names, values, scale, given)
    units = parameter_units(system)
    free_ = Free(names, tuple(leaves), values, scale, limits, tuple(units[k] for k in kinds))
    if not free_.allowed(values / scale):
        rows = limits[:, :-1] @ (values / scale) < limits[:, -1] - 1e-12
        worst = limits[np.argmax(rows), :-1]
        who = ", ".join(name for name, entry in zip(names, worst, strict=True) if entry)
        raise ValueError(
            f"the start of a fit must be possible and inside its bounds, but {who} is not: give "
            "`guess={...}` or other `bounds`"
        )
    return free_


def _by_entry(
    params: Params, given: Mapping[str, Any], names: tuple[str, ...], label: str
) -> dict[str, Any]:
    """What is given by path, for every free entry it is about."""
    by_entry = {}
    for path, value in given.items():
        parts = path.split(_MINUS) if label == "bounds" else [path]
        entries = [entry for part in parts for entry in named_numbers(params, [part]).names]
        unknown = [entry for entry in entries if entry not in names]
        if unknown:
            raise ValueError(
                f"`{label}` names {quoted(unknown[0])}, which is not free."
                + suggestion(unknown[0], names)
            )
        if len(parts) > 1 and len(entries) != 2:
            raise ValueError(
                f"`{label}` must name one number or the difference of two, but is {quoted(path)}"
            )
        by_entry.update({path: value} if len(parts) > 1 else dict.fromkeys(entries, value))
    return by_entry


def _limits(
    system: AbstractSystem,
    leaves: list[tuple[str, tuple[int, ...]]],
    names: tuple[str, ...],
    values: np.ndarray,
    scale: np.ndarray,
    bounds: Mapping[str, Any],
) -> np.ndarray:
    """Rows (a, b) of a·z ≥ b."""
    p = len(names)
    rows: list[np.ndarray] = []

    def row(entries: Mapping[int, float], least: float) -> None:
        a = np.zeros(p + 1)
        for i, factor in entries.items():
            a[i] = factor * scale[i]
        size = np.max(np.abs(a)) or 1.0
        a[-1] = least
        rows.append(a / size)

    rules, ranges = parameter_rules(system.params), parameter_ranges(system)
    for i, (leaf, _) in enumerate(leaves):
        low, _ = ranges[leaf] or (-np.inf, np.inf)
        if rules[leaf] == "not negative" or low == 0:  # frictions and stiffnesses, too
            row({i: 1.0}, 0.0)
        elif rules[leaf] == "positive":
            row({i: 1.0}, _SMALLEST * abs(values[i]))
    for path, limit in bounds.items():
        first, minus, second = path.partition(_MINUS)
        about = {names.index(first): 1.0} | ({names.index(second): -1.0} if minus else {})
        try:
            low, high = limit
        except TypeError:
            low = high = np.nan
        low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
        if not low < high:
            raise ValueError(
                f"`bounds[{path!r}]` must be (low, high) with low < high, None for no limit, but "
                f"is {quoted(limit)}"
            )
        if np.isfinite(low):
            row(about, low)
        if np.isfinite(high):
            row({i: -factor for i, factor in about.items()}, -high)
    parameters = parameter_paths(system.params)
    index = {one: i for i, one in enumerate(leaves)}
    for body in principal_moments(system.params):
        if not any(one in index for one in body):
            continue
        for k in range(3):  # the sum of the other two is not smaller
            signs = [-1.0 if j == k else 1.0 for j in range(3)]
            pairs = list(zip(signs, body, strict=True))
            fixed = [
                s * float(np.asarray(parameters[x[0]])[x[1]]) for s, x in pairs if x not in index
            ]
            row({index[x]: s for s, x in pairs if x in index}, -sum(fixed, start=0.0))
    return np.array(rows).reshape(-1, p + 1)
