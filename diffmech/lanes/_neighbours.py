"""Indicators of chaos that need one or two neighbours of each motion."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._checks import ROUNDINGS, float_dtype, is_traced
from .._typing import AnyArray, Params
from ._instant import Instant
from ._reducer_protocol import AbstractReducer, Carry, Value
from ._reducers import as_rows


class Megno(AbstractReducer):
    """The mean exponential growth of nearby orbits: {"last": Y, "mean": ⟨Y⟩}, shapes (lanes,).

        Y(t) = 2/t ∫ s (δ̇·δ / δ²) ds,    ⟨Y⟩(t) = 1/t ∫ Y ds    from 0 to t

    for a neighbour δ = (δq, δq̇) of given first direction, δ² = Σ_i (δq_i² + δq̇_i²) of numbers in SI
    units; times count from the start, Y and ⟨Y⟩ are pure numbers. Where
    neighbours part as t, which is any regular motion whose periods depend on its amplitudes, both
    tend to 2; where their distance stays bounded (linear oscillators), Y does not grow and ⟨Y⟩
    tends to 0; in chaos Y → λ t and ⟨Y⟩ → λ t / 2 with the largest Lyapunov exponent λ; near an
    attractor both fall without bound.

    Integrals are taken by Simpson's rule over every step, by parts: with ℓ = ln δ/δ₀,
    t Y / 2 = t ℓ − ∫ ℓ ds.

    P. M. Cincotta and C. Simó, "Simple tools to study global dynamics in non-axisymmetric galactic
    potentials, I", Astronomy and Astrophysics Supplement Series 147 (2000) 205-228;
    P. M. Cincotta, C. M. Giordano and C. Simó, "Phase space structure of multi-dimensional systems
    by means of the mean exponential growth factor of nearby orbits", Physica D 182 (2003) 151-178.
    """

    tangents: AnyArray

    def __init__(self, direction: Any):
        """`direction` is (δq, δq̇), shape (2n,), not zero.

        `ensemble` raises `ValueError` where the shape is not that of its machine.
        """
        self.tangents = as_rows((direction,), lengths=True)

    def init(self, instant: Instant, params: Params) -> Carry:
        """The start's time, the time since, ∫ s dℓ, ∫ Y ds and ℓ, all zero."""
        zero = jnp.zeros_like(instant.t)
        return {"start": instant.t, "t": zero, "area": zero, "total": zero, "log": zero}

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The integrals over one step more."""
        s, h = carry["t"], after.t - before.t
        scale = jnp.exp(jnp.log(2.0) * (after.doublings[0] - before.doublings[0]))
        low = before.dq[0], before.dqd[0]
        high = scale * after.dq[0], scale * after.dqd[0]
        # In the middle, of the cubics through both ends.
        turn = h * (low[1] - high[1]) / 8
        shift = 0.5 * (low[0] + high[0]) + turn
        rate = 1.5 * (high[0] - low[0]) / jnp.where(h > 0, h, 1.0) - 0.25 * (low[1] + high[1])
        size = jnp.sum(low[0] ** 2) + jnp.sum(low[1] ** 2)
        first = carry["log"]
        middle = first + 0.5 * jnp.log((jnp.sum(shift**2) + jnp.sum(rate**2)) / size)
        last = first + 0.5 * jnp.log((jnp.sum(high[0] ** 2) + jnp.sum(high[1] ** 2)) / size)
        half = h * (5 * first + 8 * middle - last) / 24  # ∫ ℓ over the first half of the step
        whole = h * (first + 4 * middle + last) / 6
        at_middle = carry["area"] + (s + 0.5 * h) * middle - s * first - half
        at_end = carry["area"] + (s + h) * last - s * first - whole
        now = 2 * carry["area"] / jnp.where(s > 0, s, 1.0)
        then = 8 * at_middle / (s + 0.5 * h), 2 * at_end / (s + h)
        return {
            "start": carry["start"],
            "t": after.t - carry["start"],
            "area": at_end,
            "total": carry["total"] + h * (now + then[0] + then[1]) / 6,
            "log": last,
        }

    def finish(self, carry: Carry) -> Value:
        """Y and ⟨Y⟩."""
        t = jnp.where(carry["t"] > 0, carry["t"], 1.0)
        return {"last": 2 * carry["area"] / t, "mean": carry["total"] / t}


def _require_two_ways(rows: np.ndarray) -> None:
    """Refuse neighbours that are aligned before they move."""
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(sizes > 0, sizes, 1.0)
    nearest = min(np.linalg.norm(unit[0] + unit[1]), np.linalg.norm(unit[0] - unit[1]))
    if np.any(sizes == 0) or nearest <= ROUNDINGS * np.finfo(float_dtype()).eps:
        raise ValueError(
            "`first` and `second` must be directions that are not parallel, but are "
            f"{rows[0].tolist()} and {rows[1].tolist()}"
        )


class Sali(AbstractReducer):
    """The smaller alignment index of two neighbours, shape (lanes,), between 0 and √2:

        min(‖ŵ₁ + ŵ₂‖, ‖ŵ₁ − ŵ₂‖),    ŵ = δ/‖δ‖,  δ = (δq, δq̇) at the end, numbers in SI units   [-]

    In chaos both turn into the direction that grows fastest, and the index falls as
    exp(−(λ₁ − λ₂) t), λ₁ and λ₂ the largest Lyapunov exponents; in regular motion of two or more
    freedoms it stays away from 0, in that of one freedom it falls as 1/t². Below 1e-15 it is
    rounding.

    Ch. Skokos, "Alignment indices: a new, simple method for determining the ordered or chaotic
    nature of orbits", Journal of Physics A 34 (2001) 10029-10043; Ch. Skokos, Ch. Antonopoulos,
    T. C. Bountis and M. N. Vrahatis, "Detecting order and chaos in Hamiltonian systems by the SALI
    method", Journal of Physics A 37 (2004) 6269-6284.
    """

    tangents: AnyArray

    def __init__(self, first: Any, second: Any):
        """Two directions (δq, δq̇), shape (2n,) each.

        Raises:
            ValueError: one is zero, they are parallel, or they differ in shape.
        """
        self.tangents = as_rows((first, second))
        if self.tangents.shape[1] > 1 and not is_traced(self.tangents):
            _require_two_ways(np.asarray(self.tangents))

    def init(self, instant: Instant, params: Params) -> Carry:
        """The neighbours."""
        return instant.dq, instant.dqd

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The neighbours now; their lengths do not matter."""
        return after.dq, after.dqd

    def finish(self, carry: Carry) -> Value:
        """The index."""
        rows = jnp.concatenate(carry, axis=1)
        unit = rows / jnp.sqrt(jnp.sum(rows**2, axis=1))[:, None]
        total, difference = unit[0] + unit[1], unit[0] - unit[1]
        return jnp.sqrt(jnp.minimum(jnp.sum(total**2), jnp.sum(difference**2)))


class Neighbours(AbstractReducer):
    """Where neighbours of the motion end: δ = (δq, δq̇), shape (lanes, k, 2n).

        δ_j(end) = Φ δ_j(start),   Φ = ∂(q, q̇)(end)/∂(q, q̇)(start), shape (2n, 2n)

    in the units of q and q̇ if the directions are. Of the 2n unit vectors they are the columns of Φ,
    as rows. Infinite where they grow beyond the largest float; `Growth` does not.
    """

    tangents: AnyArray

    def __init__(self, *directions: Any):
        """Each direction is (δq, δq̇), shape (2n,); k of them.

        `ensemble` raises `ValueError` where the shape is not that of its machine.
        """
        self.tangents = as_rows(directions)

    def init(self, instant: Instant, params: Params) -> Carry:
        """The neighbours, and the doublings left out."""
        return instant.dq, instant.dqd, instant.doublings

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The neighbours now."""
        return after.dq, after.dqd, after.doublings

    def finish(self, carry: Carry) -> Value:
        """Their differences from the motion."""
        dq, dqd, doublings = carry
        return jnp.concatenate([dq, dqd], axis=1) * jnp.exp(jnp.log(2.0) * doublings)[:, None]
