"""The seam to Diffrax: y = (q, q̇, W) in one vector, and its rate of change."""

import equinox as eqx
import jax.numpy as jnp

from .._typing import AnyArray, Params, Scalar, Vector
from ..model import ExplicitLaws, Laws
from ._energy import power_with
from ._euler_lagrange import motion_of
from ._stabilise import AbstractStabilisation


def pack(q: Vector, qd: Vector, work: Scalar) -> AnyArray:
    """One vector of shape (2n + 1,): one leaf keeps a Runge-Kutta step to few operations."""
    return jnp.concatenate([q, qd, work[None]])


def unpack(y: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """q, q̇ and the work W, from y of shape (..., 2n + 1)."""
    n = (y.shape[-1] - 1) // 2
    return y[..., :n], y[..., n : 2 * n], y[..., 2 * n]


class Field(eqx.Module):
    """dy/dt as Diffrax wants it: `field(t, y, params)`.

    The last entry integrates the power of the forces, so that the work W is as accurate as the
    motion and the energy balance h − h₀ = W can be judged. `stabilise` says how violations of
    constraints are fed back, if at all.
    """

    laws: Laws | ExplicitLaws = eqx.field(static=True)
    stabilise: AbstractStabilisation | None = None

    def __call__(self, t: Scalar, y: AnyArray, params: Params) -> AnyArray:
        q, qd, _ = unpack(y)
        t = jnp.asarray(t, y.dtype)
        return self.rates(t, q, qd, params)

    def rates(self, t: Scalar, q: Vector, qd: Vector, params: Params) -> AnyArray:
        """(q̇, q̈, power) in one vector."""
        qdd, multipliers = motion_of(self.laws, q, qd, t, params, self.stabilise)
        return pack(qd, qdd, power_with(self.laws, multipliers, q, qd, t, params))
