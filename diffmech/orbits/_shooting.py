"""Periodic motions by shooting: follow a start for a period, and correct what is missing.

The corrections are Levenberg and Marquardt's (K. Levenberg, Quart. Appl. Math. 2 (1944) 164–168;
D. W. Marquardt, J. SIAM 11 (1963) 431–441), made in NumPy around one compiled program for the end,
its derivative and its rates. Optimistix's `LevenbergMarquardt` compiles the whole search anew: it
took 1.7 to 5.5 s of CPU to the first answer where this takes 0.4 to 2.3 s (a pendulum, van der
Pol's, a driven oscillator, a double pendulum), and of free motions, which come in families or with
any phase, it ended on others, up to 0.3 rad from these (of the driven one on the same to 1e-13).
"""

from functools import partial
from typing import Any

import jax
import numpy as np

from .._checks import in_force
from .._typing import AnyArray, Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ._flow import end_state_and_tangents, rate_of
from ._orbit_record import PeriodicOrbit

_MAX_STEPS = 60
_LONGEST_STEP = 0.25  # of the period, in one correction
_STILL = 1e-6  # of the rates it started with: less is an equilibrium, not an orbit


@partial(jax.jit, static_argnums=0)
def _shot(
    laws: Laws | ExplicitLaws, y: Any, period: Any, t0: Any, params: Params, rtol: Any
) -> tuple[Any, Any, Any]:
    """The state after a period, its derivative with respect to the start, and the rates there."""
    end, phi = end_state_and_tangents(laws, y, period, t0, params, rtol)
    return end, phi, rate_of(laws)(t0, end, params)


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
    size = float(np.max(np.abs(missing)))
    initial_speed = float(np.max(np.abs(after)))
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
    if not keep_period and np.max(np.abs(after)) <= _STILL * initial_speed:
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
