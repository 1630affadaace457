"""The numbers among the places of a machine's parts (poses, points) that move, and their rates."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from .._typing import Params, Scalar, Vector
from ..geometry import is_number
from ._parts import AbstractPart

Parts = Mapping[str, AbstractPart]


class MovingEntries:
    """The entries of all parts' places that move, as a function of q and t.

    Entries that are plain numbers are left out; `whole` puts plain zeros back as their rates, so
    that they take no part in what follows.
    """

    def __init__(self, parts: Callable[..., Parts], params: Params):
        self._parts, self._params = parts, params

    def __call__(self, q: Vector, t: Scalar) -> tuple[list[Any], Parts]:
        """The moving entries, and the parts themselves."""
        placed_parts = self._parts(q, t, self._params)
        leaves, self._structure = jax.tree.flatten(
            {name: part.place for name, part in placed_parts.items()}
        )
        self._leaves = [leaf if is_number(leaf) else np.zeros(leaf.shape) for leaf in leaves]
        self._moving = [is_traced(leaf) for leaf in leaves]
        return self.entries(leaves), placed_parts

    def entries(self, leaves: list[Any]) -> list[Any]:
        """Of all entries, those that move."""
        return [leaf for leaf, moves in zip(leaves, self._moving, strict=True) if moves]

    def whole(self, rates: list[Any]) -> dict[str, Any]:
        """Rates of the moving entries as rates of the places, by name."""
        flowing = iter(rates)
        full = [
            next(flowing) if moves else 0.0 if is_number(leaf) else jnp.zeros_like(leaf)
            for leaf, moves in zip(self._leaves, self._moving, strict=True)
        ]
        return jax.tree.unflatten(self._structure, full)


def placed(
    parts: Callable[..., Parts], q: Vector, qd: Vector, t: Scalar, params: Params
) -> tuple[Parts, dict[str, Any]]:
    """The parts at an instant, and the rates of their places: one forward derivative."""
    moving = MovingEntries(parts, params)
    _, rates, placed_parts = jax.jvp(moving, (q, t), (qd, jnp.ones_like(t)), has_aux=True)
    return placed_parts, moving.whole(rates)
