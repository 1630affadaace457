"""How accelerations change with the free numbers, and along which changes they do not.

    S = ∂(q̈, φ, φ̇)/∂ log p  over many states

A change of numbers along which S vanishes cannot be seen in any motion. For machines with
constraints φ and φ̇ count, too: what a measured motion obeys is known from it.
"""

from typing import NamedTuple

import numpy as np

from ..model import AbstractSystem
from ._balance import Balance, States
from ._samples import random_states

# Derivatives are exact but for rounding: 1e-16 times the condition of the equations, which leaves
# 1e-12 of the accelerations at worst. A number that changes them by less than _IDLE (for a change
# of 100 %) does nothing. Columns are scaled to length one, but no more than rounding allows:
# 1e-12/_FAINT = 1e-8 is well below RANK.
RANK = 1e-6
_IDLE = 1e-10
_FAINT = 1e-4
_SHARE = 0.3  # of the accelerations: what a number that was zero is given


class Sensitivity(NamedTuple):
    """S at one set of numbers.

    Attributes:
        numbers: the free numbers, shape (p,).
        matrix: S, rows scaled by the size of what they are the change of, shape (rows, p).
        singular_values: of S with columns of about length one, largest first, shape (p,).
        directions: right singular vectors as relative changes of the numbers, rows of (p, p).
        idle: which numbers do nothing, shape (p,).
    """

    numbers: np.ndarray
    matrix: np.ndarray
    singular_values: np.ndarray
    directions: np.ndarray
    idle: np.ndarray

    @property
    def rank(self) -> int:
        """How many combinations of the numbers are determined."""
        values = self.singular_values
        return int(np.sum(values > RANK * max(values[0], 1e-300)))

    def null_space(self, rank: int) -> np.ndarray:
        """Relative changes that nothing sees, orthonormal columns of shape (p, p − rank)."""
        return np.linalg.qr(self.directions[rank:].T)[0]


def sensitivity(
    system: AbstractSystem, balance: Balance, numbers: np.ndarray, scale: np.ndarray, seed: int
) -> Sensitivity:
    """S of a machine with these numbers, by changes in units of `scale`, shape (p,)."""
    count = 48 + 2 * len(numbers)  # rows enough for every column, several times
    states = random_states(system, balance, numbers, count, seed)
    matrix = _slopes(balance, states) * scale
    matrix, norms, idle = _normalised(matrix)
    few = len(matrix) < len(numbers)  # then the rows alone do not span all directions
    _, values, right = np.linalg.svd(matrix / norms, full_matrices=few)
    full = np.zeros(len(numbers))
    full[: len(values)] = values
    return Sensitivity(numbers, matrix, full, right / norms, idle)


def _normalised(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(S with idle columns zero, what its columns are divided by, which are idle)."""
    norms = np.sqrt(np.mean(matrix**2, axis=0))
    idle = norms < _IDLE
    scale = np.maximum(norms, _FAINT) * np.sqrt(len(matrix))
    return np.where(idle, 0.0, matrix), scale, idle


def _slopes(balance: Balance, states: States) -> np.ndarray:
    """Every row of ∂(q̈, φ, φ̇)/∂p over its own size, shape (rows, p)."""
    motions = balance.motions(states)
    force, bend, position, rate = balance.at(
        ("force slope", "bend slope", "position slope", "rate slope"),
        states,
        motions.qdd,
        motions.multipliers,
    )
    moved = -motions.inverse @ np.concatenate([force, bend], axis=1)
    rows = [moved[:, : balance.n] / motions.size[:, :, None]]
    if balance.m:
        (jacobian,) = balance.at(("jacobian",), states)
        for slope, along in ((position, states.q), (rate, states.qd)):
            size = np.einsum("smn,sn->sm", np.abs(jacobian), np.abs(along))
            rows.append(slope / np.where(size > 0, size, 1.0)[:, :, None])
    return np.concatenate([row.reshape(-1, row.shape[-1]) for row in rows])


def without_zeros(
    system: AbstractSystem, balance: Balance, numbers: np.ndarray, seed: int
) -> np.ndarray:
    """The numbers, with those that are zero made large enough to be felt.

    A friction of zero says nothing of its smoothing width; what the equations determine is asked
    for machines that have all of their parts.
    """
    zero = numbers == 0
    if not np.any(zero):
        return numbers
    states = random_states(system, balance, numbers, 24, seed)
    felt = np.sqrt(np.mean(_slopes(balance, states) ** 2, axis=0))
    return np.where(zero, _SHARE / np.where(felt > _IDLE, felt, _SHARE), numbers)
