"""The record of Lyapunov exponents: error bars, dimension, pairs, and a verdict in words."""

import equinox as eqx
import numpy as np

from .._printing import aligned
from .._results import Status
from ..model import AbstractSystem

# Half swings that a motion must have made for its exponents to be the long run's. Growth that is
# told from zero shows after a few; none at all is told from slow chaos after many.
_SWINGS_OF_CHAOS, _SWINGS_OF_ORDER = 6, 40


class Lyapunov(eqx.Module):
    """Lyapunov exponents of one motion.

    Attributes:
        exponents: the largest first, shape (count,) [1/s].
        errors: how far each may be off, shape (count,) [1/s]. The standard error from the means
            of 8 batches of the second half, and what the second half says differently from the
            whole, added as squares: the first is chaos, the second convergence.
        times: when estimates were made, since the transient's end, shape (k,) [s].
        history: the running estimates then, shape (k, count) [1/s].
        transient: what was left out at the start [s].
        dimensions: of the space of neighbours: 2n, less where constraints hold.
        at_rest: whether the second half of the run stayed in one place.
        settling: whether it comes to rest: neighbours come together, and nothing drives it.
        swings: how often a rate passed its mean, for the coordinate that did so most; None if all
            rates stayed the same. Of a motion that made only a few, exponents say what its
            neighbours do here and now, not in the long run.
        steps: of the integration.
        rtol: its tolerance.
        status: how the run ended, as `Status`.
        system: the machine.
    """

    exponents: np.ndarray
    errors: np.ndarray
    times: np.ndarray
    history: np.ndarray
    transient: float = eqx.field(static=True)
    dimensions: int = eqx.field(static=True)
    at_rest: bool = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    rtol: float = eqx.field(static=True)
    status: Status = eqx.field(static=True)
    system: AbstractSystem
    settling: bool = eqx.field(static=True, default=False)
    swings: int | None = eqx.field(static=True, default=None)

    @property
    def duration(self) -> float:
        """The time over which exponents were taken, without the transient [s]."""
        return float(self.times[-1]) if len(self.times) else 0.0

    @property
    def sum(self) -> float:
        """Σ λᵢ [1/s]: the rate at which volumes of (q, q̇) grow, if all exponents are there.

        Minus the damping per unit of inertia, summed over the coordinates. Where the mass matrix
        varies, (ln det M(start) − ln det M(end)) / duration comes on top.
        """
        return float(np.sum(self.exponents))

    @property
    def signs(self) -> np.ndarray:
        """1, 0 or −1 for each exponent; 0 where it cannot be told from zero.

        That is within three errors, or within 2 / duration: growth by less than e².
        """
        distinct = np.abs(self.exponents) > np.maximum(
            3 * self.errors, 2 / max(self.duration, np.finfo(float).tiny)
        )
        return np.where(distinct, np.sign(self.exponents), 0.0)

    @property
    def dimension(self) -> float:
        """The Kaplan-Yorke dimension of the attractor, j + (λ₁ + … + λⱼ) / |λⱼ₊₁|.

        j is the largest number for which the sum is not negative; exponents that cannot be told
        from zero count as zero. In the space of (q, q̇): of a machine driven with a period, this
        is the dimension of the stroboscopic section. NaN if more exponents are needed.

        J. L. Kaplan and J. A. Yorke, "Chaotic behavior of multidimensional difference equations",
        in Functional Differential Equations and Approximation of Fixed Points, Lecture Notes in
        Mathematics 730, Springer (1979) 204-227.
        """
        used = np.where(self.signs == 0, 0.0, self.exponents)
        sums = np.cumsum(used)
        j = int(np.sum(sums >= 0))
        if j == len(used):
            return float(j) if j == self.dimensions else np.nan
        return j + float(sums[j - 1] if j else 0.0) / abs(float(used[j]))

    @property
    def pairing(self) -> float:
        """max |λᵢ + λ₂ₙ₊₁₋ᵢ| [1/s]: zero for a conservative machine; NaN if some are missing."""
        if len(self.exponents) != self.dimensions:
            return np.nan
        return float(np.max(np.abs(self.exponents + self.exponents[::-1])))

    @property
    def verdict(self) -> str:
        """Whether the motion is a fixed point, periodic, regular or chaotic, in words."""
        if not len(self.times):
            return "nothing can be said: the run did not get past its transient"
        first = self.signs[0]
        if self.at_rest:
            return "a fixed point, " + {1.0: "unstable", 0.0: "marginal", -1.0: "stable"}[first]
        enough = _SWINGS_OF_CHAOS if first > 0 else _SWINGS_OF_ORDER
        if first >= 0 and self.swings is not None and self.swings < enough:
            return (
                f"too short to tell regular from chaotic: {self.swings} half swings in "
                f"{self.duration:g} s, where {enough} are needed"
            )
        if first > 0:
            return "chaotic: neighbours part exponentially"
        if self.settling:  # no other undriven motion is without an exponent 0, along itself
            return "it comes to rest at a stable equilibrium: neighbours come together"
        if first < 0:
            return "periodic, in step with its drive: neighbours come together"
        return "regular: periodic or quasi-periodic"

    def __str__(self) -> str:
        shown = [f"{x:.6g} ± {e:.1g}" for x, e in zip(self.exponents, self.errors, strict=True)]
        text = ", ".join(shown[:6]) + (f", ... ({len(shown)})" if len(shown) > 6 else "")
        whole = len(self.exponents) == self.dimensions
        rows = [
            ("exponents", f"{text} 1/s"),
            ("sum", f"{self.sum:.6g} 1/s" + ("" if whole else " of those computed")),
        ]
        if whole:
            rows.append(("pairs", f"|λ + λ'| up to {self.pairing:.2g} 1/s (0 if nothing is lost)"))
        if np.isfinite(self.dimension):
            rows.append(("dimension", f"{self.dimension:.4g} (Kaplan-Yorke)"))
        rows.append(
            (
                "run",
                f"{self.duration:g} s after {self.transient:g} s, {self.steps} steps at "
                f"rtol = {self.rtol:g}",
            )
        )
        if self.status is not Status.OK:
            rows.append((self.status.name, self.status.sentence))
        return aligned(rows, f"{self.system.name}: {self.verdict}")
