"""Criteria by tangents: how fast neighbours part."""

from typing import Any

import equinox as eqx
import numpy as np

from .._checks import as_scalar
from ..ensemble import AbstractReducer, Growth, Megno, Sali
from ..model import AbstractSystem
from ._criteria import AbstractCriterion, alone, judged

_SEED = 1  # of the directions in which neighbours start, where none is given


def _directions(given: Any, count: int, n: int) -> np.ndarray:
    """`count` directions (δq, δq̇), shape (count, 2n): given, or of fixed chance."""
    if given is None:
        rows = np.random.default_rng(_SEED).normal(size=(count, 2 * n))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.asarray(given, float).reshape(-1, 2 * n)
    if rows.shape[0] != count:
        raise ValueError(f"`direction` must have shape ({2 * n},), but has {np.shape(given)}")
    return rows


class Ftle(AbstractCriterion):
    """Finite-time Lyapunov exponent, ln(‖δ‖/‖δ₀‖) / time [1/s], by a tangent.

    Stable where the neighbour's distance has grown by less than `calm` in the time, unstable where
    by more than `wild`; regular motions let it grow in proportion to time, chaotic ones
    exponentially. `direction` (δq, δq̇), shape (2n,), or None for one of fixed chance.
    """

    calm: float = eqx.field(static=True)
    wild: float = eqx.field(static=True)
    direction: tuple[float, ...] | None = eqx.field(static=True)
    name = "ftle"
    unit = "1/s"

    def __init__(self, calm: Any = 1e2, wild: Any = 1e4, direction: Any = None):
        self.calm = float(as_scalar(calm, "calm", positive=True))
        self.wild = float(as_scalar(wild, "wild", positive=True))
        if self.calm > self.wild:
            raise ValueError(f"`calm` must be at most `wild`, but {self.calm:g} > {self.wild:g}")
        self.direction = None if direction is None else tuple(float(x) for x in direction)

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point alone; its neighbour is a tangent."""
        return alone(system)

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """How the tangent grew."""
        return {"growth": Growth(*_directions(self.direction, 1, system.n))}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The exponent [1/s]."""
        return values["growth"][:, 0, 0] / duration

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """By the factor of growth."""
        return judged(measured * duration, np.log(self.calm), np.log(self.wild))

    def describe(self) -> dict[str, Any]:
        """The two factors, and the direction if one was given."""
        about = {"criterion": self.name, "calm": self.calm, "wild": self.wild}
        if self.direction is not None:
            about["direction"] = list(self.direction)
        return about


class MeanGrowth(AbstractCriterion):
    """Mean exponential growth of nearby orbits, ⟨Y⟩: 2 for regular motions, growing for chaos.

    Stable up to `regular`, unstable from `chaotic` on.
    """

    regular: float = eqx.field(static=True, default=3.0)
    chaotic: float = eqx.field(static=True, default=5.0)
    name = "megno"
    unit = "-"

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point alone."""
        return alone(system)

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """⟨Y⟩ of one tangent."""
        return {"megno": Megno(*_directions(None, 1, system.n))}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """⟨Y⟩."""
        return values["megno"]["mean"][:, 0]

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """By the two limits."""
        return judged(measured, self.regular, self.chaotic)

    def describe(self) -> dict[str, Any]:
        """The two limits."""
        return {"criterion": self.name, "regular": self.regular, "chaotic": self.chaotic}


class Alignment(AbstractCriterion):
    """Smaller alignment index of two tangents: chaos turns them into one direction exponentially.

    Unstable up to `aligned`, stable from `apart` on; measures −log₁₀ of the index.
    """

    apart: float = eqx.field(static=True, default=1e-4)
    aligned: float = eqx.field(static=True, default=1e-8)
    name = "sali"
    unit = "-"

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point alone."""
        return alone(system)

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The index of two tangents."""
        return {"sali": Sali(*_directions(None, 2, system.n))}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """−log₁₀ of the index, at most 16."""
        return -np.log10(np.maximum(values["sali"][:, 0], 1e-16))

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """By the two limits."""
        return judged(measured, -np.log10(self.apart), -np.log10(self.aligned))

    def describe(self) -> dict[str, Any]:
        """The two limits."""
        return {"criterion": self.name, "apart": self.apart, "aligned": self.aligned}
