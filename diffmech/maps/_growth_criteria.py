"""Criteria by tangents: how fast neighbours part."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar
from .._typing import Params
from ..lanes import AbstractReducer, Growth, Instant, Megno, Neighbours, Sali
from ..model import AbstractSystem
from ._abstract_criterion import AbstractCriterion, by_limits

_SEED = 1  # of the directions in which neighbours start, where none is given


def _directions(given: Any, count: int, n: int) -> np.ndarray:
    """`count` directions (δq, δq̇), shape (count, 2n): given, or random with a fixed seed."""
    if given is None:
        rows = np.random.default_rng(_SEED).normal(size=(count, 2 * n))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.asarray(given, float).reshape(-1, 2 * n)
    if rows.shape[0] != count:
        raise ValueError(f"`direction` must have shape ({2 * n},), but has {np.shape(given)}")
    return rows


class Ftle(AbstractCriterion):
    """Finite-time Lyapunov exponent, ln(‖δ‖/‖δ₀‖) / time [1/s], by a tangent.

        stable: ‖δ‖/‖δ₀‖ ≤ calm,   unstable: ‖δ‖/‖δ₀‖ ≥ wild,   undecided between

    at the end of the motion, ‖δ‖ as in `reducers.Growth`. Regular motions let it grow in proportion
    to time, chaotic ones exponentially. Measures the exponent, shape (points,).

    Attributes:
        calm, wild: factors of growth [-], greater than zero.
        direction: δ₀ = (δq, δq̇), shape (2n,), or None for a random one with a fixed seed.

    **Raises:** `ValueError` for `calm` above `wild`, or one that is no such number; and by
    `stability_map`, for a direction of another shape.
    """

    word: ClassVar[str] = "ftle"
    measures: ClassVar[str] = "exponent [1/s]"

    calm: float = eqx.field(static=True)
    wild: float = eqx.field(static=True)
    direction: tuple[float, ...] | None = eqx.field(static=True)

    def __init__(self, calm: Any = 1e2, wild: Any = 1e4, direction: Any = None):
        self.calm = float(as_scalar(calm, "calm", positive=True))
        self.wild = float(as_scalar(wild, "wild", positive=True))
        if self.calm > self.wild:
            raise ValueError(f"`calm` must be at most `wild`, but {self.calm:g} > {self.wild:g}")
        self.direction = None if direction is None else tuple(float(x) for x in direction)

    @property
    def sentence(self) -> str:
        """How little a small difference grows."""
        return f"a small difference grows by less than a factor of {self.calm:g}"

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """ln(‖δ‖/‖δ₀‖) of one tangent, shape (1,)."""
        return {"growth": Growth(*_directions(self.direction, 1, system.n))}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """ln(‖δ‖/‖δ₀‖) / duration [1/s], shape (points,)."""
        return values["growth"][:, 0, 0] / duration

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Compares the factor of growth with `calm` and `wild`, shape (points,)."""
        return by_limits(measured * duration, np.log(self.calm), np.log(self.wild))


class MegnoBelow(AbstractCriterion):
    """Mean exponential growth of nearby orbits, ⟨Y⟩: 2 for regular motions, growing for chaos.

        stable: ⟨Y⟩ ≤ regular,   unstable: ⟨Y⟩ ≥ chaotic,   undecided between   [-]

    Measures ⟨Y⟩ of `reducers.Megno` at the end of the motion, shape (points,), of a neighbour in a
    random direction with a fixed seed.

    **Raises:** `ValueError` for `regular` above `chaotic`, or one that is no finite number.
    """

    word: ClassVar[str] = "megno"
    measures: ClassVar[str] = "MEGNO [-]"

    regular: float = eqx.field(static=True)
    chaotic: float = eqx.field(static=True)

    def __init__(self, regular: Any = 3.0, chaotic: Any = 5.0):
        self.regular = float(as_scalar(regular, "regular"))
        self.chaotic = float(as_scalar(chaotic, "chaotic"))
        if self.regular > self.chaotic:
            raise ValueError(
                f"`regular` must be at most `chaotic`, but {self.regular:g} > {self.chaotic:g}"
            )

    @property
    def sentence(self) -> str:
        """The limit of regular motions."""
        return f"MEGNO is {self.regular:g} or less in the end"

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """⟨Y⟩ of one tangent [-]."""
        return {"megno": Megno(*_directions(None, 1, system.n))}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """⟨Y⟩ over the whole motion [-], shape (points,)."""
        return values["megno"]["mean"][:, 0]

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Compares ⟨Y⟩ with `regular` and `chaotic`, shape (points,)."""
        return by_limits(measured, self.regular, self.chaotic)


class SaliAbove(AbstractCriterion):
    """Smaller alignment index of two tangents: chaos turns them into one direction exponentially.

        stable: SALI ≥ apart,   unstable: SALI ≤ aligned,   undecided between   [-]

    Measures −log₁₀ of the index of `reducers.Sali` at the end of the motion, at most 16, shape
    (points,), of two random directions with a fixed seed. With one freedom the index falls as 1/t²
    in regular motion, too.

    **Raises:** `ValueError` for `aligned` above `apart`, or one that is not greater than zero.
    """

    word: ClassVar[str] = "sali"
    measures: ClassVar[str] = "−log₁₀ SALI [-]"

    apart: float = eqx.field(static=True)
    aligned: float = eqx.field(static=True)

    def __init__(self, apart: Any = 1e-4, aligned: Any = 1e-8):
        self.apart = float(as_scalar(apart, "apart", positive=True))
        self.aligned = float(as_scalar(aligned, "aligned", positive=True))
        if self.aligned > self.apart:
            raise ValueError(
                f"`aligned` must be at most `apart`, but {self.aligned:g} > {self.apart:g}"
            )

    @property
    def sentence(self) -> str:
        """The limit of tangents that do not align."""
        return f"SALI is {self.apart:g} or more in the end: two tangents do not align"

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The alignment index of two tangents [-], 0 where they are parallel."""
        return {"sali": Sali(*_directions(None, 2, system.n))}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """−log₁₀ of the index in the end [-], at most 16, shape (points,)."""
        return -np.log10(np.maximum(values["sali"][:, 0], 1e-16))

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Compares the index with `apart` and `aligned`, shape (points,)."""
        return by_limits(measured, -np.log10(self.apart), -np.log10(self.aligned))


class FloquetStable(AbstractCriterion):
    """Floquet multipliers of the periodic motion through each start; the duration is its period.

        M v = μ v,   M = ∂(q, q̇)(end)/∂(q, q̇)(start), shape (2n, 2n)
        stable: max |μ| ≤ 1 + margin,   unstable: max |μ| > 1 + margin   [-]

    For machines driven with that period: an equilibrium or a forced response through the start
    whose linear stability is asked for. Measures max |μ|, shape (points,). Where the motion does
    not come back to its start, to `closing` in every coordinate and rate [their units; angles are
    not taken modulo 2π], there is no multiplier: undecided. (Orbits whose period depends on the
    start are the matter of `band_edges`.)

    **Raises:** `ValueError` for a negative `margin`, or a `closing` that is not greater than zero.
    """

    word: ClassVar[str] = "multipliers"
    measures: ClassVar[str] = "largest multiplier [-]"

    margin: float = eqx.field(static=True)
    closing: float = eqx.field(static=True)

    def __init__(self, margin: Any = 1e-5, closing: Any = 1e-5):
        self.margin = float(as_scalar(margin, "margin"))
        self.closing = float(as_scalar(closing, "closing", positive=True))
        if self.margin < 0:
            raise ValueError(f"`margin` must not be negative, but is {self.margin:g}")

    @property
    def sentence(self) -> str:
        """The limit of the largest multiplier."""
        return f"no multiplier is larger than {1 + self.margin:.9g}, and the motion closes"

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The monodromy matrix, shape (2n, 2n), and how far from its start the motion ends."""
        return {"matrix": Neighbours(*np.eye(2 * system.n)), "away": _Away()}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The largest |μ| [-], shape (points,); NaN where the motion does not close."""
        matrix = values["matrix"][:, 0]
        sound = np.all(np.isfinite(matrix), axis=(1, 2)) & (values["away"][:, 0] <= self.closing)
        largest = np.full(matrix.shape[0], np.nan)
        if np.any(sound):
            largest[sound] = np.max(np.abs(np.linalg.eigvals(matrix[sound])), axis=-1)
        return largest

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable up to 1 + `margin`, unstable above, shape (points,)."""
        return by_limits(measured, 1 + self.margin, np.nextafter(1 + self.margin, 2))


class _Away(AbstractReducer):
    """The largest difference of a coordinate or rate from the start's, in the end."""

    def init(self, instant: Instant, params: Params) -> Any:
        """The start, twice."""
        return (instant.q, instant.qd), (instant.q, instant.qd)

    def update(self, carry: Any, before: Instant, after: Instant, params: Params) -> Any:
        """The newest state beside the first."""
        return carry[0], (after.q, after.qd)

    def finish(self, carry: Any) -> Any:
        """The largest difference."""
        (q0, qd0), (q, qd) = carry
        return jnp.maximum(jnp.max(jnp.abs(q - q0)), jnp.max(jnp.abs(qd - qd0)))
