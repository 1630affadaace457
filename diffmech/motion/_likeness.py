"""Whether a machine is the one that a file was made with.

Functions are not written to files. What is written is how the machine accelerates, and what its
constraints leave, at a few states; another machine with the same names gives other numbers there.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .._checks import in_force
from .._typing import AnyArray, Params
from ..model import AbstractSystem, CoordinateUnits, parameter_names
from ._euler_lagrange import acceleration_of, by_laws
from ._multipliers import violations_of

_STATES = 3
_SPREAD = 0.1  # [rad, m, 1/s] so far from the states given, in every direction
_ALIKE = 1e-8  # of their size; and so many roundings, where numbers have fewer digits
_ALIKE_IN_EPS = 1e3
_SMALL = 1e-3  # of the largest: below it numbers are judged by that
_acceleration, _violations = by_laws(acceleration_of), by_laws(violations_of)


class Likeness(NamedTuple):
    """What a machine does at k states.

    Attributes:
        t, q, qd: the states, shapes (k,), (k, n), (k, n).
        acceleration: q̈ there, shape (k, n); NaN where it is not determined.
        place, rate: φ and φ̇ (or A q̇ + a) there, shape (k, m); m = 0 without constraints.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    acceleration: np.ndarray
    place: np.ndarray
    rate: np.ndarray


def likeness(system: AbstractSystem, params: Params, t: Any, q: Any, qd: Any) -> Likeness:
    """How a machine moves near given states, of shapes (), (n,) and (n,)."""
    rng = np.random.default_rng(0)
    away = _SPREAD * rng.normal(size=(2, _STATES, system.n))
    times = np.full(_STATES, float(t))
    return _at(system, params, times, np.asarray(q) + away[0], np.asarray(qd) + away[1])


def _at(system: AbstractSystem, params: Params, t: Any, q: Any, qd: Any) -> Likeness:
    laws, params = system.laws, jax.tree.map(in_force, params)
    states = [tuple(map(in_force, (q[i], qd[i], t[i]))) for i in range(len(t))]
    place = rate = np.zeros((len(t), 0))
    if getattr(system, "constraints", ()):
        violations = [_violations(laws, *state, params) for state in states]
        place, rate = (np.stack([np.asarray(each[i]) for each in violations]) for i in range(2))
    accelerations = np.stack([np.asarray(_acceleration(laws, *s, params)) for s in states])
    return Likeness(np.asarray(t), np.asarray(q), np.asarray(qd), accelerations, place, rate)


def params_like(system: AbstractSystem, params: Sequence[tuple[str, AnyArray]]) -> Params:
    """The parameters of a file, by path, in the machine's own structure.

    Raises:
        ValueError: the machine has others.
    """
    leaves, structure = jax.tree.flatten(system.params)
    ours = list(zip(parameter_names(system.params), map(np.shape, leaves), strict=True))
    # A file written from a result that was loaded without its machine has them by the alphabet.
    position = {path: i for i, (path, _) in enumerate(ours)}
    if len(position) == len(params):
        params = sorted(params, key=lambda each: position.get(each[0], -1))
    if ours != [(path, np.shape(value)) for path, value in params]:
        names = ", ".join(path for path, _ in params) or "none"
        raise ValueError(
            f"the file has the parameters {names}, which are not those of {system.name!r}: pass "
            "the machine it was made with"
        )
    return jax.tree.unflatten(structure, [value for _, value in params])


def require_same_coordinates(system: AbstractSystem, kept: CoordinateUnits) -> None:
    """Refuse a machine whose coordinates have other names or units than those of a file."""
    remedy = "pass the machine it was made with"
    if tuple(system.coordinates) != tuple(kept):
        raise ValueError(
            f"the file has the coordinates {', '.join(kept)}, but {system.name!r} has "
            f"{', '.join(system.coordinates)}: {remedy}"
        )
    for name, unit in kept.items():
        if system.coordinates[name] != unit:
            there, here = (each or "no unit" for each in (unit, system.coordinates[name]))
            raise ValueError(
                f"the file has the coordinate {name!r} in {there}, but {system.name!r} has it in "
                f"{here}: {remedy}"
            )


def require_alike(system: AbstractSystem, params: Params, kept: Likeness) -> None:
    """Refuse a machine that moves in another way than the one whose likeness was kept.

    Raises:
        ValueError: names what differs first, and by how much.
    """
    ours = _at(system, params, kept.t, kept.q, kept.qd)
    rows = getattr(system, "rows", ())
    for what, names, here, there in (
        ("acceleration", tuple(system.coordinates), ours.acceleration, kept.acceleration),
        ("residual", rows, ours.place, kept.place),
        ("rate of the residual", rows, ours.rate, kept.rate),
    ):
        if here.shape != there.shape:
            raise ValueError(
                f"{system.name!r} has {here.shape[1]} rows of constraints, and the machine of the "
                f"file {there.shape[1]}: pass the machine it was made with"
            )
        largest = max(_size(here), _size(there))
        for name, mine, theirs in zip(names, here.T, there.T, strict=True):
            _require_equal(system.name, f"{what} of {name!r}", mine, theirs, largest)


def _size(values: AnyArray) -> float:
    return float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def _require_equal(
    machine: str, what: str, here: AnyArray, there: AnyArray, largest: float
) -> None:
    """Refuse numbers, shape (k,), that are not equal but for rounding.

    One that is small beside the `largest` of its kind may be the rounding of that.
    """
    size = max(_size(here), _size(there), _SMALL * largest)
    allowed = max(_ALIKE, _ALIKE_IN_EPS * float(np.finfo(there.dtype).eps))
    near = np.isclose(here, there, rtol=0.0, atol=allowed * size, equal_nan=True)
    if not np.all(near):
        i = int(np.argmin(near))
        raise ValueError(
            f"{machine!r} is not the machine of the file: with the parameters stored there, the "
            f"{what} at a stored state is {here[i]:.9g} here and {there[i]:.9g} in the file. Pass "
            "the machine it was made with"
        )
