"""Floquet multipliers: what becomes of the neighbours of a periodic motion, turn by turn."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar, in_force
from .._defaults import ORBIT_RTOL, as_rtol
from .._typing import AnyArray, Number, Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import SymmetryTrials, prepare, typical_rate
from ._edge_functions import is_reciprocal, multipliers_of
from ._flow import end_state_and_tangents, rate_of, require_unconstrained
from ._orbit import PeriodicOrbit
from ._return_maps import deflation, energy_slope, there_and_back

_INVARIANT = 1e-6  # of g: how well gᵀ M = gᵀ must hold for h to be an integral of the motion
_MARGINAL = 1e-6  # how near to the unit circle (or to ±1 on it) nothing is decided
_STILL = 1e-9  # of the rates: a state that hardly moves is an equilibrium
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
        left, found = list(self.nontrivial), []
        while self.reciprocal and len(left) > 1:
            one = left.pop(0)
            other = int(np.argmin([abs(one * mu - 1) for mu in left]))
            found.append((one, left.pop(other)))
        return np.asarray(found, complex).reshape(-1, 2)

    @property
    def verdict(self) -> str:
        """ "stable", "unstable" or "marginal", to the linear approximation, or "not periodic".

        Unstable: a multiplier outside of the unit circle. Stable: all inside, or for reciprocal
        ones, all on the circle, away from ±1. Marginal: anything in between. Trivial multipliers
        do not count: the neighbours of a pendulum's swing go ahead or fall behind, no more. Of a
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
        shown = ", ".join(_said(mu) for mu in self.nontrivial[:6]) or "none"
        more = f", and {len(self.nontrivial) - 6} more" if len(self.nontrivial) > 6 else ""
        largest = float(np.max(np.abs(self.nontrivial), initial=0.0))
        head = "periodic motion" if self.closed else "motion"
        return (
            f"{head} of {self.system.name}, period {float(self.period):.9g} s\n"
            f"  verdict      {self.verdict} (largest |μ| = {largest:.9g})\n"
            f"  multipliers  {shown}{more}; trivial: {self.trivial}\n"
            f"  determinant  {float(self.determinant):.12g}"
            f"{', pairs μ, 1/μ' if self.reciprocal else ''}\n"
            f"  closes to    {float(self.closing):.1e}"
            + ("" if self.closed else ": `periodic_orbit` finds the periodic motion nearby")
        )


def _said(mu: complex) -> str:
    return f"{mu.real:.6g}" if mu.imag == 0 else f"{mu.real:.6g}{mu.imag:+.6g}i"


@partial(jax.jit, static_argnums=(0, 1))
def _once_around(
    laws: Laws | ExplicitLaws, half: bool, y: Any, period: Any, t0: Any, params: Params, rtol: Any
) -> tuple[Any, ...]:
    """The end, M, f and g at the start; a brake orbit is followed for half its period only."""
    end, m = end_state_and_tangents(laws, y, period / 2 if half else period, t0, params, rtol)
    along = rate_of(laws)(t0, y, params)
    return end, there_and_back(m) if half else m, along, energy_slope(laws, y, t0, params)


def floquet(
    system: AbstractSystem,
    orbit: PeriodicOrbit | Sequence[Any],
    *,
    t0: Number = 0.0,
    params: Params = None,
    rtol: Number | None = None,
) -> Floquet:
    """The multipliers of a periodic motion: eigenvalues of M = ∂y(t0 + T)/∂y(t0).

    **Arguments:**

    - `orbit`: what `periodic_orbit` found, or (q0, qd0, period) of a motion that is periodic, an
      equilibrium in a periodic drive for instance. It is not corrected: `closing` says how well it
      closes, and the verdict is "not periodic" if it does not.
    - `t0` [s], `params`, `rtol`: of the tuple; an orbit brings its own.

    The tangents are integrated under the same tolerance as the motion. The trivial multipliers of
    an autonomous motion are taken out before the eigenvalues are computed: as a defective pair they
    would be known to half the digits only.

    **Raises:** `ValueError` for a wrong call, or if the motion cannot be followed for a period.
    """
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
    found = _once_around(system.laws, half, y, length, t_, params_, in_force(rtol))
    end, m, along, slope = (np.asarray(part) for part in found)
    if not np.all(np.isfinite(m)):
        raise ValueError(f"{system.name!r} could not be followed for the period of {period} s")
    n = system.n
    if half:
        gap = np.concatenate([np.zeros(n), end[n:]])
    else:
        if not isinstance(orbit, PeriodicOrbit):
            angles = np.array([unit == "rad" for unit in system.coordinates.values()])
            turns = np.where(angles, np.round((end[:n] - y[:n]) / (2 * np.pi)), 0.0)
        gap = end - y - 2 * np.pi * np.concatenate([turns, np.zeros(n)])
    project, trivial = _trivial(system, y, m, along, slope, params_)
    size = 2 * n - trivial
    deflated = np.asarray(project) @ m @ np.asarray(project)
    multipliers = multipliers_of(deflated, size)
    return Floquet(
        monodromy=m,
        multipliers=np.concatenate([multipliers, np.ones(trivial)]).astype(complex),
        trivial=trivial,
        determinant=np.linalg.det(m),
        reciprocal=size > 0 and is_reciprocal(deflated, size),
        closing=np.max(np.abs(gap)),
        closed=_closes(y, gap, float(length)),
        period=length,
        system=system,
        params=params_,
    )


def _closes(y: AnyArray, gap: AnyArray, period: float) -> bool:
    """Whether the gap is small beside the motion: its place, or how far its rates take it."""
    q, qd = np.split(np.abs(y), 2)
    pace = 2 * np.pi / period
    size = max(float(np.max(q)), float(np.max(qd)) / pace)
    size = size if size > _NOWHERE else 1.0
    of_q, of_qd = np.split(np.abs(gap), 2)
    return bool(np.max(of_q) <= _CLOSED * size and np.max(of_qd) <= _CLOSED * size * pace)


def _trivial(
    system: AbstractSystem, y: Any, m: Any, along: Any, slope: Any, params: Params
) -> tuple[AnyArray, int]:
    """What takes the trivial multipliers out of the map, and how many they are."""
    n = system.n
    size = float(np.max(np.abs(y[:n]))) or 1.0
    rate = typical_rate(system.laws, y[:n], size, params)
    moving = np.max(np.abs(along)) > _STILL * (rate + rate**2 / size)
    if not moving or not SymmetryTrials(system.laws, size, rate, params).autonomous(n):
        return jnp.eye(2 * n), 0
    kept = np.all(np.isfinite(slope)) and np.any(slope)
    kept = kept and np.max(np.abs(slope @ m - slope)) <= _INVARIANT * np.max(np.abs(slope))
    return deflation(along, slope if kept else None), 2 if kept else 1
