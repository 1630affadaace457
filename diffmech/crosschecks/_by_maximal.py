"""Maximal coordinates: every body for itself, held by a wrench that does no work."""

from itertools import pairwise

import numpy as np

from ._batched import multipliers, solved
from ._kinematics import transposed
from ._problem import Accelerations, Problem


def by_maximal(problem: Problem) -> Accelerations:
    """One linear system for the accelerations and wrenches of all bodies, q̈ and μ.

        a − (∂v/∂q̇) q̈ = a₀                      ω̇ − (∂ω/∂q̇) q̈ = ω̇₀
        m a − F = m g                            I ω̇ − M = −ω × I ω
        (∂v/∂q̇)ᵀ F + (∂ω/∂q̇)ᵀ M − Rᵀμ = Q       R q̈ = r

    Rotations in body components. The wrench (F, M) on each body is all but its weight; on the free
    directions it does what springs, dampers and other loads do, Q, and what the constraints do. No
    list of joints is needed. R q̈ = r are the declared constraints, independent ones.
    """
    seen, rows = problem.kinematics, problem.rows
    states, n, bodies = seen.carried.shape[:3]
    back = transposed(seen.rotation)
    turned = np.einsum("kbij,knbj->knbi", back, seen.turned)
    omega = np.einsum("kbij,kbj->kbi", back, seen.omega)
    turning = np.einsum("kbij,kbj->kbi", back, seen.turning_drift)
    gyration = np.cross(omega, np.einsum("kbij,kbj->kbi", seen.inertia, omega))

    size = 3 * bodies
    held = 0 if rows is None else rows.right.shape[1]
    ends = np.cumsum([0, size, size, n, size, size, held])
    linear, angular, free, force, moment, held_by = (slice(a, b) for a, b in pairwise(ends))
    matrix, right = np.zeros((states, ends[-1], ends[-1])), np.zeros((states, ends[-1]))
    eye = np.eye(size)
    motion = transposed(seen.carried.reshape(states, n, size))
    rotation = transposed(turned.reshape(states, n, size))

    matrix[:, linear, linear], matrix[:, linear, free] = eye, -motion
    right[:, linear] = seen.drift.reshape(states, size)
    matrix[:, angular, angular], matrix[:, angular, free] = eye, -rotation
    right[:, angular] = turning.reshape(states, size)
    matrix[:, force, linear] = eye * np.repeat(seen.mass, 3, axis=1)[:, None, :]
    matrix[:, force, force] = -eye
    right[:, force] = seen.weight.reshape(states, size)
    for b in range(bodies):
        rows_of_body = slice(moment.start + 3 * b, moment.start + 3 * b + 3)
        columns = slice(angular.start + 3 * b, angular.start + 3 * b + 3)
        matrix[:, rows_of_body, columns] = seen.inertia[:, b]
    matrix[:, moment, moment] = -eye
    right[:, moment] = -gyration.reshape(states, size)
    matrix[:, free, force], matrix[:, free, moment] = transposed(motion), transposed(rotation)
    right[:, free] = seen.loads
    if rows is not None:
        matrix[:, free, held_by] = -transposed(rows.rows)
        matrix[:, held_by, free] = rows.rows
        matrix[:, held_by, held_by] = rows.lost[..., None] * np.eye(held)
        right[:, held_by] = rows.right
    solution = solved(matrix, right[..., None])[..., 0]
    turned_back = np.zeros((states, 0)) if rows is None else multipliers(rows, solution[:, held_by])
    return Accelerations(solution[:, free], turned_back)
