"""The single numbers that paths name: leaves of the parameters, entry by entry."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .._typing import Params
from ..model import entry_name, parameter_names, parameter_paths, parameter_place


class NamedNumbers(NamedTuple):
    """Numbers of a tree of parameters, each by its own path.

    Attributes:
        names: a path for each, such as `masses[1]`.
        where: for each, the leaf's position in the tree and the index of the entry in it.
    """

    names: tuple[str, ...]
    where: tuple[tuple[int, tuple[int, ...]], ...]

    def read(self, params: Any) -> np.ndarray:
        """The numbers' values in a tree of parameters, shape (numbers,), each in its own unit."""
        leaves = jax.tree.leaves(params)
        return np.array([float(np.asarray(leaves[leaf])[index]) for leaf, index in self.where])

    def put(self, params: Any, values: np.ndarray) -> Any:
        """A batch of parameters with these numbers, shape (lanes, numbers), written in."""
        leaves, structure = jax.tree.flatten(params)
        lanes = len(values)
        many = [np.array(np.broadcast_to(leaf, (lanes, *np.shape(leaf)))) for leaf in leaves]
        for column, (leaf, index) in zip(values.T, self.where, strict=True):
            many[leaf][(slice(None), *index)] = column
        return jax.tree.unflatten(structure, many)

    def merged(self, ours: Any, others: Any) -> Any:
        """A tree with these numbers of one, and all others of another."""
        leaves, structure = jax.tree.flatten(others)
        leaves = [np.array(leaf) for leaf in leaves]
        from_ours = jax.tree.leaves(ours)
        for leaf, index in self.where:
            leaves[leaf][index] = from_ours[leaf][index]
        return jax.tree.unflatten(structure, leaves)

    def unit_trees(self, params: Any) -> Any:
        """Trees like the parameters with a one at one number each, stacked in front."""
        zero = jax.tree.map(lambda leaf: np.zeros(np.shape(leaf)), params)
        return self.put(zero, np.eye(len(self.names)))


def _leaves_of(path: str, order: list[str]) -> list[str]:
    """The path itself, or all leaves of the branch that it names."""
    inner = [leaf for leaf in order if leaf.startswith((f"{path}.", f"{path}["))]
    return inner if path not in order and inner else [path]


def named_numbers(params: Params, paths: Sequence[str]) -> NamedNumbers:
    """The numbers that `paths` name; a leaf stands for all its entries, a branch for its leaves.

    Raises:
        ValueError: there is no such parameter, or a number is named twice.
    """
    if isinstance(paths, str):
        paths = (paths,)
    order = parameter_names(params)
    names: list[str] = []
    where: list[tuple[int, tuple[int, ...]]] = []
    for path in [leaf for given in paths for leaf in _leaves_of(given, order)]:
        leaf, index = parameter_place(params, path)
        shape = np.shape(parameter_paths(params)[leaf])
        for entry in [index] if index or not shape else np.ndindex(*shape):
            number = (order.index(leaf), tuple(int(i) for i in entry))
            if number in where:
                raise ValueError(
                    f"`free` must name every number once, but {path!r} names "
                    f"`{names[where.index(number)]}` again: leave one of them out"
                )
            where.append(number)
            names.append(entry_name(leaf, entry))
    if not names:
        raise ValueError(
            f"`free` must name parameters, but names none. Valid names: {', '.join(order)}."
        )
    return NamedNumbers(tuple(names), tuple(where))
