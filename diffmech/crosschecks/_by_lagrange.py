"""Lagrange's equations by differentiating the Lagrangian; and what a simulation is made of."""

from typing import Any

from ..model import LagrangianOfParts
from ..motion import mass_and_bias_of
from ._batched import moved
from ._problem import Accelerations, InapplicableError, Problem


def by_lagrange(problem: Problem) -> Accelerations:
    """d/dt ∂L/∂q̇ − ∂L/∂q = Q − ∂D/∂q̇ + Jᵀλ, every derivative by automatic differentiation.

    Also of a machine of parts, whose motion is otherwise found by virtual power.
    """
    lagrangian = problem.system.lagrangian

    def plain(*state: Any) -> Any:
        return lagrangian(*state)

    laws = problem.laws._replace(lagrangian=plain)
    mass, bias = problem.at_states("Lagrange", lambda *state: mass_and_bias_of(laws, *state))
    return Accelerations(*moved(mass, bias, problem.rows))


def by_virtual_power(problem: Problem) -> Accelerations:
    """What `simulate` integrates for a machine of parts: (W ẍ)·∂x/∂q = Q − ∂V/∂q of all places."""
    if not isinstance(problem.system.lagrangian, LagrangianOfParts):
        raise InapplicableError("it is for machines of parts: others move by Lagrange's equations")
    laws = problem.laws
    mass, bias = problem.at_states("virtual power", lambda *state: mass_and_bias_of(laws, *state))
    return Accelerations(*moved(mass, bias, problem.rows))
