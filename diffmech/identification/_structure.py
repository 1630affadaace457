"""Which combinations of a machine's numbers its equations of motion determine at all."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np

from .._printing import aligned
from .._typing import AnyArray, Params
from ..model import AbstractSystem, match_params, replace_params, require_finite_params
from ._balance import Balance
from ._mirrors import Mirror, mirrors_of
from ._named import named_numbers
from ._samples import random_states
from ._sensitivity import Sensitivity, sensitivity, without_zeros
from ._sentences import scalings_of, sentence
from ._words import Words, words_of

_POINTS = 3  # values of the numbers, besides the given ones, at which a statement must hold
_JITTER = 0.25  # of log p


class Structure(eqx.Module):
    """What the equations of motion say about some of a machine's numbers.

    Attributes:
        names: of the free numbers, by path, such as `masses[1]`.
        singular_values: of ∂q̈/∂ log p over random states, columns scaled to length one, largest
            first, shape (p,).
        rank: how many combinations of the numbers are determined.
        scale: |p|, or what a number that is zero was tried with, shape (p,).
        null_space: relative changes δp/scale that change no motion, orthonormal columns of shape
            (p, p − rank).
        determined: combinations that say all that can be known, as text; as many as `rank`, or
            fewer where there are no short words for them.
        values: theirs, for the parameters that were given, shape (len(determined),).
        mirrors: other values with the same motion, as text.
        words: all of this in one sentence.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    singular_values: AnyArray
    rank: int = eqx.field(static=True)
    scale: AnyArray
    null_space: AnyArray
    determined: tuple[str, ...] = eqx.field(static=True)
    values: AnyArray
    mirrors: tuple[str, ...] = eqx.field(static=True)
    words: str = eqx.field(static=True)

    @property
    def all_determined(self) -> bool:
        """Whether every number by itself is known."""
        return self.rank == len(self.names)

    def __str__(self) -> str:
        return aligned([
            ("free", ", ".join(self.names)),
            ("rank", f"{self.rank} of {len(self.names)}"),
            ("determined", self.words),
            *[("mirror", text) for text in self.mirrors],
        ])  # fmt: skip


def identifiable(
    system: AbstractSystem, free: Sequence[str], params: Params = None, seed: int = 0
) -> Structure:
    """Which combinations of the free numbers every conceivable motion would tell apart.

        S = ∂q̈/∂ log p,   shape (states n, p)

    Decided by the rank of S over random admissible states (with the constraints' own dependence on
    p beside it), near the given parameters; numbers that are zero are taken as large enough to be
    felt. Words come from the equations, opened as Σ c_k(p) f_k(q, q̇, q̈): a combination is named
    if its gradient lies in the row space of S at several values of p.

    Args:
        free: paths of parameters, `lengths` or `masses[1]`; a leaf stands for all its entries.
        params: the system's own if None.
        seed: of the random states.

    Returns:
        A `Structure`: the rank, what is determined and what is not, in numbers and in words.

    Raises:
        ValueError: a path that does not exist or is named twice; hardly any state with finite
            accelerations.
    """
    params = match_params(params, system.params)
    require_finite_params(params)
    numbers = named_numbers(params, free)
    balance = Balance(system.laws, system.n, params, numbers)
    given = numbers.read(params)
    nonzero = without_zeros(system, balance, given, seed)
    points = [sensitivity(system, balance, given, np.abs(nonzero), seed)]
    rng = np.random.default_rng(seed)
    for i in range(_POINTS):
        near = nonzero * np.exp(_JITTER * rng.uniform(-1, 1, len(given)))
        points.append(sensitivity(system, balance, near, np.abs(near), seed + 1 + i))
    rank = max(point.rank for point in points[1:])
    # At special values fewer may be seen: there the sensitivity says less than is known nearby.
    shown = points[0] if points[0].rank == rank else points[1]
    null_space = shown.null_space(rank)
    words = words_of(balance, rank, points)
    mirrors = _mirrors(system, balance, rank, points, words)
    return Structure(
        numbers.names,
        shown.singular_values,
        rank,
        np.abs(nonzero if shown is points[0] else shown.numbers),
        null_space,
        tuple(one.text for one in words.combinations),
        words.values(given),
        tuple(mirror.text for mirror in mirrors),
        sentence(
            numbers.names,
            rank,
            [(one.text, one.single) for one in words.combinations],
            points[1].idle,
            null_space,
            scalings_of(system, numbers.names, points[1:]),
        ),
    )


def _mirrors(
    system: AbstractSystem,
    balance: Balance,
    rank: int,
    points: list[Sensitivity],
    words: Words,
) -> list[Mirror]:
    """Mirror solutions that the machine's own rules allow, and that the words do not imply."""
    numbers = points[1].numbers
    states = random_states(system, balance, numbers, 24, seed=0)
    mirrors = mirrors_of(balance, states, numbers, points[1].idle)
    before = words.values(numbers)

    def is_news(mirror: Mirror) -> bool:
        after = words.values(mirror.image(numbers))
        return len(before) < rank or not np.allclose(after, before, rtol=1e-9, atol=0.0)

    def is_sound(values: np.ndarray) -> bool:
        try:
            replace_params(balance.params, dict(zip(balance.free.names, values, strict=True)))
        except ValueError:
            return False
        return True

    # A zero has no sign that a rule could forbid: numbers that are felt are asked, if they may.
    felt = np.where(points[0].idle, points[0].numbers, numbers)
    base = felt if is_sound(felt) else points[0].numbers
    return [mirror for mirror in mirrors if is_news(mirror) and is_sound(mirror.image(base))]
