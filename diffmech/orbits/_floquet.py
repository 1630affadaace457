"""Floquet multipliers: by what the neighbours of a periodic motion are multiplied in a period."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import as_scalar, in_force
from .._defaults import ORBIT_RTOL, as_rtol
from .._printing import aligned
from .._typing import AnyArray, Number, Params
from ..model import AbstractSystem, require_system, require_unconstrained
from ..motion import prepare
from ._monodromy import monodromy_of
from ._orbit_record import PeriodicOrbit

_MARGINAL = 1e-6  # how near to the unit circle (or to ±1 on it) nothing is decided
_CLOSED = 1e-3  # of the motion's size: three digits of a period typed by hand still close
_NOWHERE = 1e-12  # a motion smaller than this has no size to compare with


class Floquet(eqx.Module):
    """The linear stability of a periodic motion.

    Attributes:
        monodromy: M = ∂y(t0 + T)/∂y(t0), y = (q, q̇), shape (2n, 2n).
        multipliers: eigenvalues of M, shape (2n,), complex: those that count, the largest first,
            then the trivial ones, which are 1 by nature and are given so.
        trivial: how many are trivial: one for the direction of an autonomous motion, one more if
            the energy is an integral.
        determinant: of M; 1 for a conservative machine, exp(−∫ damping dt) for a damped one.
        reciprocal: whether the multipliers come in pairs μ, 1/μ.
        closing: |y(t0 + T) − y(t0)|, largest entry, 2π per turn of an angle taken off.
        closed: whether that is at most a thousandth of the motion's size.
        period: T [s].
        system, params: what was asked of.
    """

    monodromy: AnyArray
    multipliers: AnyArray
    trivial: int = eqx.field(static=True)
    determinant: AnyArray
    reciprocal: bool = eqx.field(static=True)
    closing: AnyArray
    closed: bool = eqx.field(static=True)
    period: AnyArray
    system: AbstractSystem
    params: Params

    @property
    def nontrivial(self) -> AnyArray:
        """The multipliers that decide, largest first."""
        return self.multipliers[: len(self.multipliers) - self.trivial]

    @property
    def exponents(self) -> AnyArray:
        """log μ / T, principal values [1/s]."""
        return np.log(self.multipliers) / self.period

    @property
    def pairs(self) -> AnyArray:
        """The pairs (μ, 1/μ) that decide, shape (m, 2); empty if there are no such pairs."""
        remaining, pairs = list(self.nontrivial), []
        while self.reciprocal and len(remaining) > 1:
            one = remaining.pop(0)
            other = int(np.argmin([abs(one * mu - 1) for mu in remaining]))
            pairs.append((one, remaining.pop(other)))
        return np.asarray(pairs, complex).reshape(-1, 2)

    @property
    def verdict(self) -> str:
        """ "stable", "unstable" or "marginal", to the linear approximation, or "not periodic".

        Unstable: a multiplier outside of the unit circle. Stable: all inside, or for reciprocal
        ones, all on the circle, away from ±1. Marginal: anything in between. Trivial multipliers
        do not count: they shift the motion along itself, or to a neighbour in energy. Of a
        motion that does not close after its period nothing follows from the multipliers.
        """
        if not self.closed:
            return "not periodic"
        sizes = np.abs(self.nontrivial)
        if not sizes.size:
            return "stable"
        if self.reciprocal:
            a = self.nontrivial + 1 / self.nontrivial
            scale = np.maximum(1.0, np.abs(a))
            if np.any((np.abs(a.real) > 2 + _MARGINAL) | (np.abs(a.imag) > 1e-3 * scale)):
                return "unstable"
            return "stable" if np.all(np.abs(a.real) < 2 - _MARGINAL) else "marginal"
        if np.any(sizes > 1 + _MARGINAL):
            return "unstable"
        return "stable" if np.all(sizes < 1 - _MARGINAL) else "marginal"

    @property
    def stable(self) -> bool:
        """Whether the verdict is "stable"."""
        return self.verdict == "stable"

    def __str__(self) -> str:
        shown = ", ".join(_complex_text(mu) for mu in self.nontrivial[:6]) or "none"
        more = f", and {len(self.nontrivial) - 6} more" if len(self.nontrivial) > 6 else ""
        sizes = np.abs(self.nontrivial)
        largest = f" (largest |μ| = {np.max(sizes):.9g})" if sizes.size else ""
        head = "periodic motion" if self.closed else "motion"
        way_out = "" if self.closed else ": `periodic_orbit` finds the periodic motion nearby"
        pairs = ", pairs μ, 1/μ" if self.reciprocal else ""
        rows = [
            ("verdict", f"{self.verdict}{largest}"),
            ("multipliers", f"{shown}{more}; trivial: {self.trivial}"),
            ("determinant", f"{float(self.determinant):.12g}{pairs}"),
            ("closes to", f"{float(self.closing):.1e}{way_out}"),
        ]
        return aligned(rows, f"{head} of {self.system.name}, period {float(self.period):.9g} s")


def _complex_text(mu: complex) -> str:
    return f"{mu.real:.6g}" if mu.imag == 0 else f"{mu.real:.6g}{mu.imag:+.6g}i"


def floquet(
    system: AbstractSystem,
    orbit: PeriodicOrbit | Sequence[Any],
    *,
    t0: Number = 0.0,
    params: Params = None,
    rtol: Number | None = None,
) -> Floquet:
    """The multipliers of a periodic motion: eigenvalues of M = ∂y(t0 + T)/∂y(t0).

        M v = μ v,   y = (q, q̇), shape (2n,);   a neighbour's δy becomes M δy in a period

    **Arguments:**

    - `orbit`: what `periodic_orbit` found, or (q0, qd0, period) of a motion that is periodic, an
      equilibrium in a periodic drive for instance: shape (n,) each or mappings by name, and T [s].
      It is not corrected: `closing` says how well it closes, and the verdict is "not periodic" if
      it does not.
    - `t0`: of the tuple [s]; an orbit brings its own.
    - `params`, `rtol`: None means those of the orbit; for a tuple, the system's own and 1e-12 (1e-5
      in float32).

    The tangents are integrated under the same tolerance as the motion. The trivial multipliers of
    an autonomous motion are taken out before the eigenvalues are computed: as a defective pair they
    would be known to half the digits only.

    **Returns:** `Floquet`: the monodromy matrix, shape (2n, 2n), its multipliers, shape (2n,) [-],
    and the verdict.

    **Raises:** `ValueError` for a wrong call, a machine with constraints, or if the motion cannot
    be followed for a period.
    """
    require_system(system)
    require_unconstrained(system, "a Floquet multiplier")
    half, turns = False, np.zeros(system.n)
    if isinstance(orbit, PeriodicOrbit):
        q, qd, period, t0 = orbit.q, orbit.qd, orbit.period, orbit.t0
        params = orbit.params if params is None else params
        rtol = orbit.rtol if rtol is None else rtol
        half, turns = orbit.kind == "brake", np.asarray(orbit.turns)
    else:
        try:
            q, qd, period = orbit
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"`orbit` must be a `PeriodicOrbit` or (q0, qd0, period), but is {orbit!r}"
            ) from error
    q_, qd_, t_, params_ = prepare(system, t0, params, q0=q, qd0=qd)
    length = in_force(as_scalar(period, "period", positive=True))
    rtol = as_rtol(rtol, ORBIT_RTOL)
    y = np.concatenate([q_, qd_])
    around = monodromy_of(system, y, length, t_, params_, in_force(rtol), half=half)
    n, end = system.n, around.end
    if half:
        gap = np.concatenate([np.zeros(n), end[n:]])
    else:
        if not isinstance(orbit, PeriodicOrbit):
            angles = np.array([unit == "rad" for unit in system.coordinates.values()])
            turns = np.where(angles, np.round((end[:n] - y[:n]) / (2 * np.pi)), 0.0)
        gap = end - y - 2 * np.pi * np.concatenate([turns, np.zeros(n)])
    return Floquet(
        monodromy=around.matrix,
        multipliers=around.multipliers,
        trivial=around.trivial,
        determinant=np.linalg.det(around.matrix),
        reciprocal=around.reciprocal,
        closing=np.max(np.abs(gap)),
        closed=_closes(y, gap, float(length)),
        period=length,
        system=system,
        params=params_,
    )


def _closes(y: AnyArray, gap: AnyArray, period: float) -> bool:
    """Whether the gap is at most a thousandth of the motion's size.

    The size is the larger of |q| and |q̇| T / 2π, largest entries; rates are compared with
    size · 2π / T.
    """
    q, qd = np.split(np.abs(y), 2)
    frequency = 2 * np.pi / period
    size = max(float(np.max(q)), float(np.max(qd)) / frequency)
    size = size if size > _NOWHERE else 1.0
    of_q, of_qd = np.split(np.abs(gap), 2)
    return bool(np.max(of_q) <= _CLOSED * size and np.max(of_qd) <= _CLOSED * size * frequency)
