"""Reactions of joints by virtual work and by momentum balances, and what counts as small."""

import numpy as np

from ..motion import joint_loads_of
from ._joints_of_parts import joint_names_of, passed_on
from ._problem import InapplicableError, Problem

_SLOW = 1e-5  # [1/s] of rates and momenta: what changes them less is not judged by its own size


def floor(values: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """What would change some values by a small part of them, shape (k,) from (k, c).

    In a second, those of a typical state; in the time that the rates take for one unit, each.
    """
    sizes = np.max(np.abs(values), axis=1)
    return _SLOW * np.maximum(np.median(sizes), sizes * np.max(np.abs(rates), axis=1))


def compared_reactions(
    problem: Problem, qdd: np.ndarray, skipped: dict[str, str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Reactions of named joints by virtual work and by momentum balances; sizes of small ones."""
    if problem.system.parts is None or not joint_names_of(problem):
        return {}, {}
    try:
        balanced = np.stack(list(passed_on(problem, qdd).values()), axis=1)
    except InapplicableError as reason:
        skipped["reactions"] = str(reason)
        return {}, {}
    parts = problem.parts
    program = problem.program(
        "reactions",
        lambda q, qd, t, qdd, params: joint_loads_of(parts, q, qd, qdd, t, params),
        qdd[0],
    )
    worked = program(problem.q, problem.qd, problem.t, qdd).reshape(balanced.shape)
    seen = problem.kinematics
    mass = np.sum(seen.mass, axis=1)
    still = 1.0 + np.max(np.linalg.norm(seen.drift, axis=2), axis=1)  # [m/s^2]
    least = _SLOW * mass * still
    forces = np.nan_to_num(np.maximum(np.max(np.abs(balanced[:, :, :3]), axis=(1, 2)), least))
    extent = np.max(np.linalg.norm(seen.position, axis=2), axis=1)
    omega = np.abs(seen.omega).reshape(len(mass), -1)
    spin = np.einsum("kbij,kbj->kbi", np.abs(seen.inertia), np.abs(seen.omega))
    moments = extent * forces + floor(spin.reshape(omega.shape), omega)
    reactions = {"virtual work": worked, "momentum balance": balanced}
    return reactions, {"force": least, "moment": moments}
