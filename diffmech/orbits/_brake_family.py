"""Motions from rest to rest: which machines have them, what stays still, how long they take."""

from typing import Any

import numpy as np

from .._checks import as_scalar
from .._typing import Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import SymmetryTrials, typical_rate
from ._return_maps import Base, Family, first_returns


def _trials(system: AbstractSystem, qs: np.ndarray, params: Params) -> SymmetryTrials:
    size = float(np.max(np.abs(qs))) or 1.0
    return SymmetryTrials(system.laws, size, typical_rate(system.laws, qs, size, params), params)


def brake_family(
    system: AbstractSystem,
    family: str,
    index: int,
    grid: np.ndarray,
    base: Base,
    period: Any,
    half_turn: bool | None,
    params: Params,
) -> tuple[Family, np.ndarray]:
    """The family of motions from rest to rest, and guesses of its unknowns."""
    laws, n = system.laws, system.n
    qs = np.tile(np.asarray(base.q), (len(grid), 1))
    qs[:, index] = grid
    trials = _trials(system, qs, params)
    _require_brake(system, trials, family)
    made = Family(
        laws,
        n,
        family,
        index,
        held=trials.staying(np.asarray(base.q), (index,)),
        half_turn=half_turn is not False and trials.point_symmetric(n),
        reciprocal=isinstance(laws, Laws) and laws.forces is None and laws.dissipation is None,
    )
    if period is None:
        halves = np.asarray(first_returns(made, grid, base, params))
    else:
        halves = np.full(len(grid), float(as_scalar(period, "period", positive=True)) / 2)
    if not np.any(np.isfinite(halves)):
        raise ValueError(
            f"{system.name!r} started at rest with {family} in ({grid[0]:g}, {grid[-1]:g}) does "
            "not swing back: choose another `span`, or give a guess of the `period`"
        )
    others = qs[:, made.sought]
    return made, np.concatenate([others, halves[:, None]], axis=1)


def _require_brake(system: AbstractSystem, trials: SymmetryTrials, family: str) -> None:
    """Refuse machines whose motions do not go back the way they came."""
    n = system.n
    if not trials.autonomous(n):
        raise ValueError(
            f"{system.name!r} is driven: motions from rest along {family!r} do not go back the way "
            "they came. Let `family` be a parameter and give the `period` of the drive"
        )
    if not trials.reversible(n):
        raise ValueError(
            f"{system.name!r} has losses or gyroscopic terms: motions from rest along {family!r} "
            "do not go back the way they came, so there is no such family of periodic motions; "
            "switch them off, or let `family` be a parameter of a driven motion"
        )
    if isinstance(system.laws, ExplicitLaws) and system.laws.energy is None:
        raise ValueError(
            f"{system.name!r} must declare its `energy`: it tells which multipliers are trivial"
        )
