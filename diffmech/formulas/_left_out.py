"""Parameters that equations are printed without: zero, or the same as another."""

from collections.abc import Iterable, Mapping

import jax
import numpy as np

from .._suggest import quoted, suggestion
from .._typing import Params


def zeros_of(zero: bool | Iterable[str], params: Params, names: list[str]) -> set[str]:
    """The names of numbers that are left out as zero."""
    if isinstance(zero, bool | np.bool_):
        leaves = [np.ravel(leaf) for leaf in jax.tree.leaves(params)]
        values = np.concatenate(leaves) if leaves else np.zeros(0)
        return {name for name, value in zip(names, values, strict=True) if zero and value == 0}
    given = [zero] if isinstance(zero, str) else list(zero)
    return {name for path in given for name in _numbers_of(path, names, "zero")}


def _numbers_of(path: str, names: list[str], argument: str) -> list[str]:
    """All numbers that a path names: one, those of an array, or those of a part."""
    numbers = [name for name in names if name == path or name.startswith((f"{path}[", f"{path}."))]
    if not numbers:
        arrays = [name.partition("[")[0] for name in names]
        raise ValueError(
            f"`{argument}` must name parameters, but there is no {quoted(path)}."
            f"{suggestion(str(path), list(dict.fromkeys(arrays)))}"
        )
    return numbers


def same_of(same: Mapping[str, str], names: list[str], zeros: set[str]) -> dict[str, str]:
    """Number by number; chains are followed to their end."""
    pairs: dict[str, str] = {}
    for path, other in same.items():
        ours, theirs = _numbers_of(path, names, "same"), _numbers_of(other, names, "same")
        if len(ours) != len(theirs):
            raise ValueError(
                f"`same` must pair parameters of one size, but {path!r} has {len(ours)} numbers "
                f"and {other!r} {len(theirs)}"
            )
        pairs.update(zip(ours, theirs, strict=True))
    ends: dict[str, str] = {}
    for name, other in pairs.items():
        seen = {name}
        while other in pairs:
            if other in seen:
                raise ValueError(
                    f"`same` must not go in a circle, but {name!r} comes back to itself"
                )
            seen.add(other)
            other = pairs[other]
        if name not in zeros:
            ends[name] = other
    return ends
