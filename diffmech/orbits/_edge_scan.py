"""Orbits along a family, wherever along it they are asked for."""

from typing import Any

import jax
import numpy as np

from .._typing import Params
from ._return_maps import Base, Family, FamilyOrbit, close_orbits

_ACCEPTED = 1e-7  # of the unknowns: a Newton step that is still larger has not closed the orbit
_SEQUENTIAL = 7  # values looked at in one bracket where orbits are found one after the other


class Scan:
    """Orbits of a family on a grid of values, and guesses from them for values in between.

    Where nothing but the period is sought, orbits do not need each other and are found side by
    side, as many at a time as the grid has points; else each starts from its neighbours.
    """

    def __init__(
        self, family: Family, grid: np.ndarray, guess: np.ndarray, base: Base, params: Params
    ):
        self.family, self.base, self.params = family, base, params
        self.grid = grid
        self.side_by_side = family.steady or (family.index is not None and not family.sought.size)
        self.lanes = len(grid) if self.side_by_side else 1
        self.known: tuple[np.ndarray, np.ndarray] = (grid[:0], guess[:0])
        if self.side_by_side:
            self.orbits = self._lanes(grid, guess)
        else:
            self.orbits = self._march(grid, guess[0])
        closed = np.isfinite(self.orbits.error)
        self.known = (grid[closed], self.orbits.z[closed])

    def per_bracket(self, brackets: int) -> int:
        """How many values to look at in each of so many brackets."""
        return max(4, self.lanes // max(brackets, 1)) if self.side_by_side else _SEQUENTIAL

    def guess(self, values: np.ndarray) -> np.ndarray:
        """Unknowns near those of the orbits, interpolated; shape (k, unknowns)."""
        at, zs = self.known
        columns = [np.interp(values, at, column) for column in zs.T]
        return np.stack(columns, axis=-1) if columns else np.zeros((len(values), 0))

    def at(self, values: np.ndarray) -> FamilyOrbit:
        """The orbits at any values inside of the grid."""
        guess = self.guess(values)
        if self.side_by_side:
            return self._lanes(values, guess)
        rows = [self._lanes(values[i : i + 1], guess[i : i + 1]) for i in range(len(values))]
        return _joined(rows)

    def _lanes(self, values: np.ndarray, guess: np.ndarray) -> FamilyOrbit:
        """Orbits from guesses, in tiles of one size, so that one program serves all."""
        tiles = []
        for first in range(0, len(values), self.lanes):
            part, zs = values[first : first + self.lanes], guess[first : first + self.lanes]
            lack = self.lanes - len(part)
            padded = np.concatenate([part, np.repeat(part[-1:], lack)])
            zs = np.concatenate([zs, np.repeat(zs[-1:], lack, axis=0)])
            tile = close_orbits(self.family, padded, zs, self.base, self.params)
            tiles.append(jax.tree.map(np.asarray, tile))
        whole = jax.tree.map(lambda leaf: leaf[: len(values)], _joined(tiles))
        return _blanked(whole, self.family.index is not None)

    def _march(self, values: np.ndarray, z: np.ndarray) -> FamilyOrbit:
        """One orbit after the other, each from its two predecessors."""
        rows: list[FamilyOrbit] = []
        before: tuple[float, np.ndarray] | None = None
        last: tuple[float, np.ndarray] | None = None
        for value in values:
            guess = z if last is None else last[1]
            if last is not None and before is not None:
                slope = (last[1] - before[1]) / (last[0] - before[0])
                guess = last[1] + slope * (value - last[0])
            row = self._lanes(np.asarray([value]), guess[None])
            rows.append(row)
            if np.isfinite(row.error[0]):
                before, last = last, (float(value), row.z[0])
            elif last is not None:
                break  # past a fold the family turns back: nothing follows
        lost = len(values) - len(rows)
        blank = jax.tree.map(lambda leaf: np.full((lost, *leaf.shape[1:]), np.nan), rows[0])
        return _joined([*rows, blank]) if lost else _joined(rows)


def _joined(tiles: list[FamilyOrbit]) -> FamilyOrbit:
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *tiles)


def _blanked(orbits: FamilyOrbit, brake: bool) -> FamilyOrbit:
    """The same with NaN where no orbit was closed, or one that stands still or runs backwards."""
    closed = (orbits.error <= _ACCEPTED) & np.all(np.isfinite(orbits.map), axis=(1, 2))
    if brake:  # the last unknown is half the period
        closed = closed & (orbits.z[:, -1] > 0)

    def keep(leaf: Any) -> Any:
        shape = (len(closed), *(1,) * (leaf.ndim - 1))
        return np.where(closed.reshape(shape), leaf, np.nan)

    return FamilyOrbit(*(keep(leaf) for leaf in orbits))
