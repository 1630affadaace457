"""Newton's and Euler's laws for every body, projected on the free directions."""

import numpy as np

from ._batched import moved
from ._kinematics import transposed
from ._problem import Accelerations, Problem


def by_newton_euler(problem: Problem) -> Accelerations:
    """Momentum balances of all bodies, in space components.

        Σ (F − m a)·∂v/∂q̇ + (M − dH/dt)·∂ω/∂q̇ + (Jᵀλ) = 0,   dH/dt = I_s ω̇ + ω × I_s ω

    with I_s = R I Rᵀ about the mass centre, a = (∂v/∂q̇) q̈ + a₀ and ω̇ likewise. Forces in the
    joints do no work on these directions; springs, dampers, forces and torques act at their
    points, on their frames and along their lengths.
    """
    seen = problem.kinematics
    inertia = seen.rotation @ seen.inertia @ transposed(seen.rotation)
    spin = np.einsum("kbij,kbj->kbi", inertia, seen.omega)
    momentum_rate = seen.mass[..., None] * seen.drift - seen.weight
    turning = np.einsum("kbij,kbj->kbi", inertia, seen.turning_drift)
    spin_rate = turning + np.cross(seen.omega, spin)
    bias = np.einsum("knbi,kbi->kn", seen.carried, momentum_rate)
    bias = bias + np.einsum("knbi,kbi->kn", seen.turned, spin_rate) - seen.loads
    mass = np.einsum("kb,knbi,kmbi->knm", seen.mass, seen.carried, seen.carried)
    mass = mass + np.einsum("knbi,kbij,kmbj->knm", seen.turned, inertia, seen.turned)
    return Accelerations(*moved(mass, bias, problem.rows))
