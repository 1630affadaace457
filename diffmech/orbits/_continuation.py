"""Periodic motions followed while a parameter, their amplitude or their period changes."""

from typing import Any

import equinox as eqx
import numpy as np

from .._checks import as_array, in_force, require_finite, require_kind
from .._printing import aligned
from .._typing import AnyArray, Numbers
from .._units import unit_after
from ..model import parameter_paths, parameter_place, parameter_unit, replace_params
from ._orbit import periodic_orbit
from ._orbit_record import PeriodicOrbit
from ._shooting import shoot

_OWN = ("amplitude", "period")


class OrbitFamily(eqx.Module):
    """Periodic motions in a row.

        y(t0 + T) − y(t0) = 2π turns,   y = (q, q̇),   for each of `values`

    Attributes:
        along: what changes: a parameter's path, "amplitude" or "period".
        values: its values as far as motions were found, shape (k,): in the parameter's unit, that
            of the coordinate of the amplitude, or [s].
        orbits: a `PeriodicOrbit` for each.
        ended: at which value the row ended before the last one asked for, and why; "" if it did
            not.
    """

    along: str = eqx.field(static=True)
    values: AnyArray
    orbits: tuple[PeriodicOrbit, ...]
    ended: str = eqx.field(static=True)

    @property
    def qs(self) -> AnyArray:
        """A state on each, coordinates, shape (k, n) [unit of each]."""
        return np.asarray([orbit.q for orbit in self.orbits])

    @property
    def qds(self) -> AnyArray:
        """The same, rates, shape (k, n) [unit of each, per second]."""
        return np.asarray([orbit.qd for orbit in self.orbits])

    @property
    def periods(self) -> AnyArray:
        """Their periods T, shape (k,) [s]."""
        return np.asarray([float(orbit.period) for orbit in self.orbits])

    def __str__(self) -> str:
        if not self.orbits:
            return aligned([("ended", self.ended)], f"no periodic motions along {self.along}")
        first, last = self.orbits[0], self.orbits[-1]
        unit = unit_after(_unit(first, self.along))
        worst = max(float(orbit.residual) for orbit in self.orbits)
        rows = [
            ("along", f"{self.along} from {self.values[0]:.9g} to {self.values[-1]:.9g}{unit}"),
            ("periods", f"{float(first.period):.9g} s to {float(last.period):.9g} s"),
            ("close to", f"{worst:.1e}"),
            ("ended", self.ended or "at the last value asked for"),
        ]
        return aligned(
            rows, f"{len(self.orbits)} {first.kind} periodic motions of {first.system.name}"
        )


def continue_orbit(orbit: PeriodicOrbit, along: str, values: Numbers) -> OrbitFamily:
    """Follow a periodic motion through values of a parameter, of its amplitude or its period.

    **Arguments:**

    - `orbit`: where it begins; the first value should be near its own.
    - `along`: a parameter's path; "amplitude" of a brake orbit; or "period": for a free motion a
      member of the family with that period, for a forced one the drive must follow by itself.
    - `values`: in the order in which they are visited, shape (k,).

    Each motion starts from the one before it, and from the change between the two before it. A free
    motion of a conservative machine is one of a family at each value of a parameter: the nearest
    to the one before is taken.

    **Returns:** `OrbitFamily`; it ends early where no motion is found, and says why.

    **Raises:** `ValueError` for a wrong call.
    """
    require_kind(orbit, PeriodicOrbit, "orbit", "what `periodic_orbit` returns")
    _require_path(orbit, along)
    brake = orbit.kind == "brake"
    own = not _is_parameter(orbit, along)
    if own and along == "amplitude" and not brake:
        raise ValueError(
            "`along` must be a parameter or 'period' for this motion: only one that starts at rest "
            "(`periodic_orbit(system, family=..., amplitude=...)`) has an amplitude"
        )
    if own and along == "period" and brake:
        raise ValueError("`along` must be a parameter or 'amplitude' for a motion from rest")
    row = np.atleast_1d(np.asarray(as_array(values)))
    require_finite(row, "values")
    orbits: list[PeriodicOrbit] = []
    ended = ""
    for i, value in enumerate(row):
        guess = _extrapolated(orbit, orbits, row, i)
        try:
            orbits.append(_next(orbit, along, float(value), guess))
        except ValueError as error:
            ended = f"at {value:.9g}: {error}"
            break
    return OrbitFamily(along=along, values=row[: len(orbits)], orbits=tuple(orbits), ended=ended)


def _is_parameter(orbit: PeriodicOrbit, along: str) -> bool:
    """Whether `along` names a parameter, also where this is called "amplitude" or "period"."""
    return along not in _OWN or along in parameter_paths(orbit.params)


def _unit(orbit: PeriodicOrbit, along: str) -> str:
    """Of a parameter, of the period, or of the coordinate that the amplitude is told by."""
    if _is_parameter(orbit, along):
        return parameter_unit(orbit.system, along)
    return "s" if along == "period" else orbit.system.coordinates.get(orbit.family, "")


def _require_path(orbit: PeriodicOrbit, along: str) -> None:
    if not _is_parameter(orbit, along):
        return
    try:
        leaf, index = parameter_place(orbit.params, along)
    except ValueError as error:
        raise ValueError(
            f"`along` must be a parameter, 'amplitude' or 'period', but {error}"
        ) from error
    shape = np.shape(parameter_paths(orbit.params)[leaf])
    if len(index) != len(shape):
        raise ValueError(
            f"`along` must name a single number, but {along!r} has shape {shape}: name an entry, "
            f"as in '{along}[{','.join('0' for _ in shape)}]'"
        )


def _unknowns(orbit: PeriodicOrbit) -> np.ndarray:
    return np.concatenate([orbit.q, orbit.qd, [float(orbit.period)]])


def _extrapolated(
    orbit: PeriodicOrbit, earlier: list[PeriodicOrbit], row: np.ndarray, i: int
) -> np.ndarray:
    """(q, q̇, T) on the line through the last two motions."""
    if len(earlier) < 2 or row[i - 1] == row[i - 2]:
        return _unknowns(earlier[-1] if earlier else orbit)
    last, before = _unknowns(earlier[-1]), _unknowns(earlier[-2])
    return last + (last - before) * (row[i] - row[i - 1]) / (row[i - 1] - row[i - 2])


def _next(orbit: PeriodicOrbit, along: str, value: float, guess: np.ndarray) -> PeriodicOrbit:
    """The motion at one value; `ValueError` if there is none."""
    n, system = orbit.system.n, orbit.system
    params: Any = orbit.params
    own = not _is_parameter(orbit, along)
    if not own:
        params = replace_params(params, {along: in_force(np.asarray(value))})
    if orbit.kind == "brake":
        index = list(system.coordinates).index(orbit.family)
        return periodic_orbit(
            system,
            guess[:n],
            family=orbit.family,
            amplitude=value if own else orbit.q[index],
            period=guess[-1],
            params=params,
            rtol=orbit.rtol,
        )
    return shoot(
        system,
        guess[: 2 * n],
        value if own else float(guess[-1]),
        kind=orbit.kind,
        keep_period=own or orbit.kind == "forced",
        turns=np.asarray(orbit.turns),
        t0=orbit.t0,
        params=params,
        rtol=orbit.rtol,
    )
