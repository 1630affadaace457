"""The record of a periodic motion."""

import equinox as eqx
import numpy as np

from .._checks import in_force
from .._printing import aligned
from .._typing import AnyArray, Params
from ..model import AbstractSystem
from ._monodromy import monodromy_of


class PeriodicOrbit(eqx.Module):
    """A periodic motion.

    Attributes:
        q, qd: a state on it, shape (n,); at rest for a brake orbit.
        period: T [s].
        t0: when it is at (q, qd) [s]; matters if the machine is driven.
        kind: "brake" (from rest to rest and back), "free" or "forced".
        turns: by how many whole turns each angle has grown after a period, shape (n,).
        residual: largest entry of y(t0 + T) − y(t0); for a brake orbit of q̇ after half a period.
        family: the coordinate that the amplitude of a brake orbit is told by; "" for others.
        params, system, rtol: what was asked of.
    """

    q: AnyArray
    qd: AnyArray
    period: AnyArray
    t0: AnyArray
    kind: str = eqx.field(static=True)
    turns: AnyArray
    residual: AnyArray
    family: str = eqx.field(static=True)
    params: Params
    system: AbstractSystem
    rtol: AnyArray

    @property
    def multipliers(self) -> AnyArray:
        """Its Floquet multipliers, shape (2n,), complex: those that count first; see `floquet`."""
        around = monodromy_of(
            self.system,
            np.concatenate([self.q, self.qd]),
            in_force(self.period),
            self.t0,
            self.params,
            in_force(self.rtol),
            half=self.kind == "brake",
        )
        return around.multipliers

    def __str__(self) -> str:
        names = list(self.system.coordinates)
        q = ", ".join(f"{name} = {value:.9g}" for name, value in zip(names, self.q, strict=True))
        qd = ", ".join(
            f"{name}_dot = {value:.9g}" for name, value in zip(names, self.qd, strict=True)
        )
        rows = [
            ("period", f"{float(self.period):.12g} s"),
            ("from", q),
            ("", "at rest" if self.kind == "brake" else qd),
            ("closes to", f"{float(self.residual):.1e}"),
        ]
        return aligned(rows, f"{self.kind} periodic motion of {self.system.name}")
