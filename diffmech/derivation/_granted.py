"""What a derivation takes for granted: features that are off, and the proportions of a machine."""

import re

import jax
import numpy as np

from ._hand_written import HandWritten
from ._states import VARIED, Entry, random_points
from ._symbols import parameter_entries
from ._truth import Motions, Points, Truth

_STATES = 12
_NOTHING = 1e-12  # of the largest value
_FELT = 1e-9  # of the largest acceleration
_CHANGE = 1.17  # times a number that is tried
_FEW = 6  # names in a sentence


def features_off(truth: Truth, written: HandWritten) -> tuple[frozenset[Entry], list[str]]:
    """The zeros of parameters none of which occur in the equations, and those that could be felt.

    `frictions` or `track` are such parameters, with all their entries and fields.
    """
    leaves = jax.tree.leaves(truth.system.params)
    zero: dict[str, list[tuple[str, int, tuple[int, ...]]]] = {}
    for path, leaf, index in parameter_entries(truth.system.params):
        if np.asarray(leaves[leaf])[index] == 0:
            zero.setdefault(re.split(r"[.\[]", path)[0], []).append((path, leaf, index))
    if not zero:
        return frozenset(), []
    points, motions = random_points(truth, _STATES, np.random.default_rng(0), VARIED)
    off = [
        entry
        for entries in zero.values()
        if not any(_occurs(written, points, leaf, index) for _, leaf, index in entries)
        for entry in entries
    ]
    felt = [path for path, leaf, index in off if _moves(truth, points, motions, leaf, index)]
    return frozenset((leaf, index) for _, leaf, index in off), felt


def hidden_numbers(truth: Truth, written: HandWritten, off: frozenset[Entry]) -> list[str]:
    """Numbers but zeros that the motion depends on and that do not occur in the equations."""
    leaves = jax.tree.leaves(truth.system.params)
    points, motions = random_points(truth, _STATES, np.random.default_rng(0), VARIED, off=off)
    return [
        path
        for path, leaf, index in parameter_entries(truth.system.params)
        if np.asarray(leaves[leaf])[index] != 0
        and not _occurs(written, points, leaf, index)
        and _moves(truth, points, motions, leaf, index)
    ]


def few(names: list[str]) -> str:
    """Names in a sentence; of many the first."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _occurs(written: HandWritten, points: Points, leaf: int, index: tuple[int, ...]) -> bool:
    with np.errstate(all="ignore"):
        value = written.evaluate(points)
        other = written.evaluate(points.with_number(leaf, index, _CHANGE))
        return bool(np.any(np.abs(other - value) > _NOTHING * np.abs(value)))


def _moves(
    truth: Truth, points: Points, motions: Motions, leaf: int, index: tuple[int, ...]
) -> bool:
    other = truth.motions(points.with_number(leaf, index, _CHANGE)).qdd
    return bool(np.any(np.abs(other - motions.qdd) > _FELT * np.max(np.abs(motions.qdd), axis=0)))
