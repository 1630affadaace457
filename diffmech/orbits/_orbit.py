"""Periodic motions: near a guess by shooting, or of an amplitude, from rest to rest."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import as_scalar, as_vector, in_force
from .._defaults import ORBIT_RTOL, as_rtol
from .._suggest import quoted, suggestion
from .._typing import Coordinates, Number, Params
from ..model import AbstractSystem, require_system, require_unconstrained, rest_zero
from ..motion import prepare
from ._brake_family import brake_family
from ._edge_scan import Scan
from ._orbit_record import PeriodicOrbit
from ._return_maps import Base
from ._shooting import shoot


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
    too. Corrections are steps of Levenberg and Marquardt's method whose damping goes to zero with
    what is missing: in the end those of least norm, so that the motion found lies near the guess.

    **Raises:** `ValueError` for a wrong call, or if no periodic motion is found, saying how much
    was missing at best.
    """
    require_system(system)
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
    brake, guess = brake_family(
        system, family, names.index(family), np.asarray([value]), base, period, None, params
    )
    orbits = Scan(brake, np.asarray([value]), guess, base, params).orbits
    if not np.isfinite(orbits.error[0]):
        raise ValueError(
            f"no motion of {system.name!r} from rest at {family} = {value:g} to rest was found "
            f"near {np.asarray(guess[0])} (the other coordinates and half the period): give a "
            "better `q0` or `period`"
        )
    n = system.n
    return PeriodicOrbit(
        q=orbits.start[0, :n],
        qd=np.zeros(n),
        period=2 * orbits.z[0, -1],
        t0=t,
        kind="brake",
        turns=np.zeros(n),
        residual=np.max(np.abs(orbits.end[0, n:])),
        family=family,
        params=params,
        system=system,
        rtol=base.rtol,
    )
