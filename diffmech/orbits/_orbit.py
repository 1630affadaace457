"""Periodic motions, found by shooting: start, follow for a period, and mend what is missing."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._checks import as_scalar, as_vector, in_force
from .._defaults import ORBIT_RTOL, as_rtol
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Coordinates, Number, Params
from ..model import AbstractSystem, ExplicitLaws, Laws, rest_zero
from ..motion import prepare
from ._brake_family import brake_family
from ._edge_scan import Scan
from ._flow import end_state_and_tangents, rate_of, require_unconstrained
from ._return_maps import Base

_MAX_STEPS = 60
_LONGEST_STEP = 0.25  # of the period, in one correction
_STILL = 1e-6  # of the rates it started with: less is an equilibrium, not an orbit


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
        """Its Floquet multipliers, shape (2n,)."""
        from ._floquet import floquet  # which asks for orbits

        return floquet(self.system, self).multipliers

    def __str__(self) -> str:
        names = list(self.system.coordinates)
        q = ", ".join(f"{name} = {value:.9g}" for name, value in zip(names, self.q, strict=True))
        qd = ", ".join(
            f"{name}_dot = {value:.9g}" for name, value in zip(names, self.qd, strict=True)
        )
        return (
            f"{self.kind} periodic motion of {self.system.name}\n"
            f"  period     {float(self.period):.12g} s\n"
            f"  from       {q}\n"
            f"             {'at rest' if self.kind == 'brake' else qd}\n"
            f"  closes to  {float(self.residual):.1e}"
        )


@partial(jax.jit, static_argnums=0)
def _shot(
    laws: Laws | ExplicitLaws, y: Any, period: Any, t0: Any, params: Params, rtol: Any
) -> tuple[Any, Any, Any]:
    """The state after a period, its derivative with respect to the start, and the rates there."""
    end, phi = end_state_and_tangents(laws, y, period, t0, params, rtol)
    return end, phi, rate_of(laws)(t0, end, params)


def periodic_orbit(
    system: AbstractSystem,
    q0: Coordinates | None = None,
    qd0: Coordinates | None = None,
    *,
    period: Number | None = None,
    forced: bool = False,
    family: str | None = None,
    amplitude: Number | None = None,
    turns: Sequence[Number] | None = None,
    t0: Number = 0.0,
    params: Params = None,
    rtol: Number | None = None,
) -> PeriodicOrbit:
    """The periodic motion nearest to a guess.

        y(t0 + T) − y(t0) = 2π turns,   y = (q, q̇)

    **Main arguments:**

    - `q0`, `qd0`: a guess of a state on it; rates that are left out are zero.
    - `period`: a guess of T [s]; with `forced=True` the period of the drive, which is kept.
    - `family`, `amplitude`: instead, the motion that starts at rest with the coordinate `family` at
      `amplitude` and comes back to rest (a brake orbit). The other coordinates stay at their values
      in `q0` (zero if None) if nothing moves them, else these are a guess; `period` may be left
      out.

    **Other arguments:**

    - `turns`: whole turns that each angle gains in a period, shape (n,); zero if None.
    - `t0`: time of the state [s]; `params`: another set of parameters; `rtol`: tolerance per step.

    A free motion is not alone: other states on it, and where energy is kept a whole family, close
    too. Corrections are the smallest that serve (Levenberg and Marquardt's steps, damped by what is
    missing), so the motion found lies near the guess.

    **Raises:** `ValueError` for a wrong call, or if no periodic motion is found, saying how much
    was missing at best.
    """
    require_unconstrained(system, "a periodic orbit")
    if family is not None or amplitude is not None:
        return _from_rest(system, q0, family, amplitude, period, t0, params, rtol)
    if q0 is None:
        raise ValueError(
            "`q0` must be given as a first guess, or `family` and `amplitude` for a motion that "
            "starts at rest"
        )
    if period is None:
        raise ValueError("`period` must be given [s]: that of the drive, or a first guess")
    q, qd, t, params = prepare(system, t0, params, q0=q0, qd0=rest_zero(system, qd0))
    whole = np.zeros(system.n)
    if turns is not None:
        whole = np.asarray(as_vector(turns, tuple(system.coordinates), "turns"))
    return shoot(
        system,
        np.concatenate([q, qd]),
        float(as_scalar(period, "period", positive=True)),
        kind="forced" if forced else "free",
        keep_period=forced,
        turns=whole,
        t0=t,
        params=params,
        rtol=in_force(as_rtol(rtol, ORBIT_RTOL)),
    )


def shoot(
    system: AbstractSystem,
    y: np.ndarray,
    period: float,
    *,
    kind: str,
    keep_period: bool,
    turns: np.ndarray,
    t0: AnyArray,
    params: Params,
    rtol: AnyArray,
) -> PeriodicOrbit:
    """The orbit near (y, period); the period is kept, or sought as well."""
    n = system.n
    gained = 2 * np.pi * np.concatenate([turns, np.zeros(n)])
    # Rates count by what they do in a radian of the period: units are scaled out.
    scale = np.repeat([1.0, 2 * np.pi / period], n)
    best = np.asarray(y, float), float(period)

    def follow(y: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        end, phi, after = (
            np.asarray(part)
            for part in _shot(system.laws, y, in_force(np.asarray(period)), t0, params, rtol)
        )
        slope = (phi - np.eye(2 * n)) * scale / scale[:, None]
        if not keep_period:
            slope = np.concatenate([slope, (after / scale * best[1])[:, None]], axis=1)
        return (end - y - gained) / scale, slope, after / scale

    missing, slope, after = follow(*best)
    size, lively = float(np.max(np.abs(missing))), float(np.max(np.abs(after)))
    goal = 10 * float(rtol) * (1 + float(np.max(np.abs(y / scale))))
    damping, stalled = 1.0, 0
    for _ in range(_MAX_STEPS):
        if not np.all(np.isfinite(slope)) or size <= goal or stalled > 4:
            break
        step = _damped(slope, missing, damping * size)
        if not keep_period:
            step = step * min(1.0, _LONGEST_STEP / max(abs(step[-1]), 1e-300))
        trial = best[0] + scale * step[: 2 * n], best[1] * (1 + (0.0 if keep_period else step[-1]))
        lacks, slopes, rates = follow(*trial)
        now = float(np.max(np.abs(lacks)))
        if now < size:
            stalled = stalled + 1 if now > 0.5 * size and size < 1e-9 else 0
            best, missing, slope, after, size = trial, lacks, slopes, rates, now
            damping = max(damping / 10, 1e-12)
        else:
            stalled = stalled + 1 if size < 1e-9 else 0
            damping = min(damping * 10, 1e12)
    if not size <= 1e3 * goal:
        raise ValueError(
            f"no periodic motion of {system.name!r} was found near this guess: y(T) − y(0) is "
            f"still {size:.1e} at T = {best[1]:.6g} s; give a better `q0`, `qd0` or `period`"
        )
    if not keep_period and np.max(np.abs(after)) <= _STILL * lively:
        raise ValueError(
            f"the corrections ended in an equilibrium of {system.name!r}, which has every period: "
            "give a guess with more motion in it"
        )
    return PeriodicOrbit(
        q=best[0][:n],
        qd=best[0][n:],
        period=np.asarray(best[1]),
        t0=t0,
        kind=kind,
        turns=turns,
        residual=np.max(np.abs(missing * scale)),
        family="",
        params=params,
        system=system,
        rtol=rtol,
    )


def _damped(slope: np.ndarray, missing: np.ndarray, damping: float) -> np.ndarray:
    """The step −V s/(s² + d²) Uᵀ missing, minimum norm as d goes to zero with what is missing."""
    u, s, vt = np.linalg.svd(slope, full_matrices=False)
    small = s <= 1e-11 * s[0]
    factors = np.where(small, 0.0, s / np.where(small, 1.0, s**2 + damping**2))
    return -(vt.T * factors) @ (u.T @ missing)


def _from_rest(
    system: AbstractSystem,
    q0: Any,
    family: Any,
    amplitude: Any,
    period: Any,
    t0: Any,
    params: Params,
    rtol: Any,
) -> PeriodicOrbit:
    """The brake orbit of an amplitude."""
    names = list(system.coordinates)
    if family is None or amplitude is None:
        raise ValueError("`family` and `amplitude` must be given together")
    if family not in names:
        raise ValueError(
            f"`family` must name a coordinate, but is {quoted(family)}."
            + suggestion(str(family), names)
        )
    value = float(as_scalar(amplitude, "amplitude"))
    q0 = rest_zero(system, {} if q0 is None else q0)
    q, qd, t, params = prepare(system, t0, params, q0=q0, qd0=None)
    base = Base(q, qd, t, in_force(np.asarray(1.0)), in_force(as_rtol(rtol, ORBIT_RTOL)))
    made, guess = brake_family(
        system, family, names.index(family), np.asarray([value]), base, period, None, params
    )
    found = Scan(made, np.asarray([value]), guess, base, params).found
    if not np.isfinite(found.error[0]):
        raise ValueError(
            f"no motion of {system.name!r} from rest at {family} = {value:g} to rest was found "
            f"near {np.asarray(guess[0])} (the other coordinates and half the period): give a "
            "better `q0` or `period`"
        )
    n = system.n
    return PeriodicOrbit(
        q=found.start[0, :n],
        qd=np.zeros(n),
        period=2 * found.z[0, -1],
        t0=t,
        kind="brake",
        turns=np.zeros(n),
        residual=np.max(np.abs(found.end[0, n:])),
        family=family,
        params=params,
        system=system,
        rtol=base.rtol,
    )
