"""Parameters: any pytree of numbers, each with a path that is its spelling.

`mB`, `masses[1]`, `plate.inertia[2,2]`: attribute and key names joined by dots, positions in
lists, tuples and arrays in brackets.
"""

import re
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_array, is_traced, require_finite
from .._suggest import quoted, suggestion
from .._typing import Params
from ._rules import require_sound_params

_INDEX = re.compile(r"^(?P<leaf>.+?)\[(?P<index>\s*\d+(?:\s*,\s*\d+)*\s*)\]$")


def parameter_paths(params: Params) -> dict[str, Any]:
    """Every leaf of `params` under its path, in the tree's order."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    return {spelt(path): leaf for path, leaf in leaves}


def parameter_names(params: Params) -> list[str]:
    """The path of every leaf, in the tree's order; odd keys may spell the same path twice."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    return [spelt(path) for path, _ in leaves]


def parameter_parts(params: Params, kind: type) -> dict[str, Any]:
    """Every part of a kind, such as `Damper`, under its path."""
    nodes, _ = jax.tree_util.tree_flatten_with_path(
        params, is_leaf=lambda node: isinstance(node, kind)
    )
    return {spelt(path): node for path, node in nodes if isinstance(node, kind)}


def spelt(path: tuple[Any, ...]) -> str:
    """The keys of a tree on the way to a leaf as one word: `plate.inertia`, `masses[1]`."""
    text = ""
    for key in path:
        if isinstance(key, jax.tree_util.SequenceKey):
            text += f"[{key.idx}]"
        else:
            name = getattr(key, "name", getattr(key, "key", None))
            text += f".{name}" if text else f"{name}"
    return text or "params"


def entry_name(leaf: str, index: tuple[int, ...]) -> str:
    """The path of one entry of a leaf, or of the leaf itself if it is one number."""
    return leaf + (f"[{','.join(map(str, index))}]" if index else "")


def number_names(params: Params) -> list[str]:
    """The path of every number, in the tree's order: `g`, `masses[0]`, `masses[1]`.

    Where odd keys spell the same path twice, the second is `masses[0] (2)`.
    """
    leaves = zip(parameter_names(params), jax.tree.leaves(params), strict=True)
    names: list[str] = []
    for path, leaf in leaves:
        for index in np.ndindex(np.shape(leaf)):
            name = entry_name(path, index)
            times = sum(other == name or other.startswith(f"{name} (") for other in names)
            names.append(f"{name} ({times + 1})" if times else name)
    return names


def cast_params(params: Params) -> Params:
    """Every leaf as a float array; refuses leaves that are not numbers, by name."""

    def cast(path: tuple[Any, ...], leaf: Any) -> Any:
        try:
            return as_array(leaf)
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameter `{spelt(path)}` must be numbers, but {error}") from error

    return jax.tree_util.tree_map_with_path(cast, params)


def require_finite_params(params: Params) -> None:
    """Refuse NaN and infinity in any leaf, by path and index."""
    for path, leaf in parameter_paths(params).items():
        require_finite(leaf, path)


def match_params(params: Params, default: Params) -> Params:
    """`params`, or the system's own if None; the same tree with the same shapes, as floats."""
    if params is None:
        return default
    params = cast_params(params)
    ours, theirs = parameter_paths(default), parameter_paths(params)
    if jax.tree.structure(params) != jax.tree.structure(default):
        extra = [path for path in theirs if path not in ours]
        missing = [path for path in ours if path not in theirs]
        if extra:
            difference = f"has {quoted(extra[0])}, which it does not.{suggestion(extra[0], ours)}"
        elif missing:
            difference = f"lacks {', '.join(missing)}"
        else:
            difference = f"is {type(params).__name__} instead of {type(default).__name__}"
        raise ValueError(f"`params` must have the structure of the system's, but {difference}")
    for path, leaf in theirs.items():
        if jnp.shape(leaf) != jnp.shape(ours[path]):
            raise ValueError(
                f"parameter `{path}` must have shape {jnp.shape(ours[path])}, but has shape "
                f"{jnp.shape(leaf)}"
            )
    require_sound_params(params)
    return params


def replace_params(params: Params, changes: Mapping[str, Any]) -> Params:
    """A copy of `params` with the leaves, or entries of leaves, named by `changes` replaced."""
    for path, value in changes.items():
        params = _replace_one(params, path, value)
    require_sound_params(params)
    return params


def parameter_place(params: Params, path: str) -> tuple[str, tuple[int, ...]]:
    """The leaf a path names and, for an entry such as `masses[1]`, the index into it."""
    paths = parameter_paths(params)
    if path in paths:
        return path, ()
    entry = _INDEX.match(path)
    if not entry or entry["leaf"] not in paths:
        raise ValueError(f"there is no parameter {quoted(path)}.{suggestion(path, paths)}")
    leaf_path, shape = entry["leaf"], np.shape(paths[entry["leaf"]])
    index = tuple(int(i) for i in entry["index"].split(","))
    if len(index) != len(shape) or any(i >= n for i, n in zip(index, shape, strict=True)):
        raise ValueError(f"parameter `{leaf_path}` has shape {shape}, so there is no {path!r}")
    return leaf_path, index


def _replace_one(params: Params, path: str, value: Any) -> Params:
    paths = parameter_paths(params)
    leaf_path, index = parameter_place(params, path)
    old = paths[leaf_path]
    try:
        new = as_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"parameter `{path}` must be numbers, but {error}") from error
    if index:
        if new.shape != ():
            raise ValueError(f"`{path}` must be a single number, but has shape {new.shape}")
        if is_traced(new, old):
            new = jnp.asarray(old).at[index].set(new)
        else:
            entry, new = new, np.array(old)
            new[index] = entry
    elif new.shape == () and np.shape(old) != ():
        new = new * np.ones(np.shape(old))  # one number for all entries
    elif new.shape != np.shape(old):
        raise ValueError(
            f"parameter `{path}` must have shape {np.shape(old)}, but has shape {new.shape}"
        )
    position = list(paths).index(leaf_path)
    return eqx.tree_at(lambda tree: jax.tree.leaves(tree)[position], params, new)
