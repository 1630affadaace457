"""Motions with the period of a drive while a parameter changes: which there are, first guesses."""

from typing import Any

import numpy as np

from .._checks import as_scalar, in_force
from .._typing import Params
from ..model import AbstractSystem, Laws, replace_params
from ..motion import SymmetryTrials
from ._return_maps import Base, Family


def forced_family(
    system: AbstractSystem, family: str, grid: np.ndarray, base: Base, period: Any, params: Params
) -> tuple[Family, Base, np.ndarray]:
    """The motions with the period of the drive, what is kept fixed, and guesses of their states.

    The given state is taken as the motion itself (no unknowns) where it stays at rest under every
    value of the parameter and at all times that are tried.

    Raises:
        ValueError: no `period`, or a machine without a drive whose state is no equilibrium.
    """
    laws, n = system.laws, system.n
    if period is None:
        raise ValueError(
            f"`period` must be given for the parameter family {family!r}: that of the drive [s], a "
            "number or a function of the parameters"
        )
    if not callable(period):
        number = in_force(as_scalar(period, "period", positive=True))
        base, period = base._replace(period=number), None
    state = np.concatenate([base.q, base.qd])
    size = float(np.max(np.abs(state))) or 1.0
    trials = SymmetryTrials(laws, size, size, params)
    times = np.random.default_rng(3).uniform(0, 10, 4)
    still = bool(np.all(np.asarray(base.qd) == 0)) and all(
        np.max(np.abs(trials.accelerations(state[None], float(t), changed)))
        <= 1e-12 * np.max(np.abs(trials.accelerations(trials.states(n, 4), float(t), changed)))
        for value in (grid[0], grid[len(grid) // 2], grid[-1])
        for changed in [with_value(params, family, value)]
        for t in times
    )
    if not still and trials.autonomous(n):
        raise ValueError(
            f"{system.name!r} is not driven, and the given state is no equilibrium at all values "
            f"of {family!r}: give one, or let `family` be a coordinate"
        )
    forced = Family(
        laws,
        n,
        family,
        None,
        steady=still,
        reciprocal=isinstance(laws, Laws) and laws.forces is None and laws.dissipation is None,
        period=period,
    )
    guess = np.zeros((len(grid), 0)) if still else np.tile(state, (len(grid), 1))
    return forced, base, guess


def with_value(params: Params, path: str, value: float) -> Params:
    """The parameters with one of them changed."""
    return replace_params(params, {path: in_force(np.asarray(value))})
