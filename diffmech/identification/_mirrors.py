"""Other values of the numbers with the same motion: signs turned, two numbers exchanged."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ._balance import Balance, States

_SAME = 1e-9  # of the accelerations
_STATES = 6  # at which they are compared
_AT_ONCE = 200  # changes: every operation of the program holds an array of all of them


class Mirror(NamedTuple):
    """A change of numbers: exchanged by `order`, then multiplied by `signs`, shape (p,) both."""

    text: str
    order: np.ndarray
    signs: np.ndarray

    def image(self, numbers: np.ndarray) -> np.ndarray:
        """The other numbers."""
        return self.signs * numbers[self.order]


def mirrors_of(
    balance: Balance, states: States, numbers: np.ndarray, idle: np.ndarray
) -> list[Mirror]:
    """Signs of one or two numbers, and exchanges of two, that leave every acceleration as it is.

    Numbers that do nothing are left out, and pairs of signs of which each may be turned alone.
    """
    active = np.flatnonzero(~idle).tolist()
    alone = [_turned(balance, i) for i in active]
    alone = _same(balance, states, numbers, alone)
    known = {int(i) for mirror in alone for i in np.flatnonzero(mirror.signs < 0)}
    pairs = [
        mirror
        for i, j in combinations(active, 2)
        for mirror in (_turned(balance, i, j), _exchanged(balance, i, j))
        if np.all(mirror.signs > 0) or not {i, j} & known
    ]
    return alone + _same(balance, states, numbers, pairs)


def _turned(balance: Balance, *which: int) -> Mirror:
    names = balance.free.names
    signs = np.ones(len(names))
    signs[list(which)] = -1.0
    old, new = (", ".join(f"{sign}{names[i]}" for i in which) for sign in ("", "-"))
    if len(which) > 1:
        old, new = f"({old})", f"({new})"
    return Mirror(f"{old} and {new} give the same motion", np.arange(len(names)), signs)


def _exchanged(balance: Balance, i: int, j: int) -> Mirror:
    names = balance.free.names
    order = np.arange(len(names))
    order[[i, j]] = j, i
    text = f"{names[i]} and {names[j]} exchanged give the same motion"
    return Mirror(text, order, np.ones(len(names)))


def _same(
    balance: Balance, states: States, numbers: np.ndarray, mirrors: list[Mirror]
) -> list[Mirror]:
    """Those under which the machine moves as before, a few hundred at a time."""
    parts = [mirrors[i : i + _AT_ONCE] for i in range(0, len(mirrors), _AT_ONCE)]
    return [one for part in parts for one in _same_of(balance, states, numbers, part)]


def _same_of(
    balance: Balance, states: States, numbers: np.ndarray, mirrors: list[Mirror]
) -> list[Mirror]:
    """Those under which the machine moves as before, and keeps its constraints."""
    few = states.kept(np.arange(min(len(states.q), _STATES)))
    lanes = len(few.q)
    images = np.repeat([mirror.image(numbers) for mirror in mirrors], lanes, axis=0)
    many = few.kept(np.tile(np.arange(lanes), len(mirrors)))._replace(numbers=images)
    given, mirrored = balance.motions(few), balance.motions(many)
    gaps = np.abs(mirrored.qdd.reshape(len(mirrors), lanes, -1) - given.qdd) / given.size
    with np.errstate(invalid="ignore"):
        same = np.all(gaps < _SAME, axis=2).ravel() & mirrored.sound
    if balance.m:
        position, rate = balance.at(("position", "rate"), many)
        same &= np.all(np.abs(np.concatenate([position, rate], axis=1)) < _SAME, axis=1)
    good = np.all(same.reshape(-1, lanes), axis=1)
    return [mirror for mirror, is_good in zip(mirrors, good, strict=True) if is_good]
