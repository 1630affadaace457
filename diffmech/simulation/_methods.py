"""Integration methods by name or as Diffrax solver objects."""

import functools
import inspect
from typing import Any

import diffrax
import equinox as eqx
import optimistix as optx

from .._checks import float_dtype
from .._suggest import quoted, suggestion
from .._typing import AnyArray
from ._gauss_legendre import GaussLegendre4, GaussLegendre6, ImplicitMidpoint
from ._symplectic import AbstractSymplectic
from ._variational import Variational

DEFAULT_METHOD = "Dopri8"

# Newton tolerance of Diffrax's implicit methods when the step is fixed and no other is given.
_FIXED_STEP_TOLERANCE = {"float64": 1e-10, "float32": 1e-5}

_OURS: dict[str, Any] = {
    "ImplicitMidpoint": ImplicitMidpoint,
    "GaussLegendre4": GaussLegendre4,
    "GaussLegendre6": GaussLegendre6,
    "Variational": Variational,
    "Variational4": functools.partial(Variational, order=4),
    "Variational6": functools.partial(Variational, order=6),
}


def _takes_one_ode(solver: diffrax.AbstractSolver) -> bool:
    structure = solver.term_structure
    return isinstance(structure, type) and issubclass(diffrax.ODETerm, structure)


@functools.cache
def _diffrax_solvers() -> dict[str, type[diffrax.AbstractSolver]]:
    """All of Diffrax's concrete solvers that can be made without arguments."""
    return {
        name: cls
        for name, cls in vars(diffrax).items()
        if inspect.isclass(cls)
        and issubclass(cls, diffrax.AbstractSolver)
        and not name.startswith("Abstract")
        and name != "HalfSolver"
    }


@functools.cache
def methods() -> tuple[str, ...]:
    """The names `simulate(method=...)` understands: diffmech's own, then Diffrax's."""
    theirs = [name for name, cls in _diffrax_solvers().items() if _takes_one_ode(cls())]
    return (*_OURS, *sorted(theirs))


def as_solver(method: str | diffrax.AbstractSolver) -> diffrax.AbstractSolver:
    """A solver that takes one ODE term, from its name or as it is."""
    if isinstance(method, diffrax.AbstractSolver):
        solver = method
    elif isinstance(method, str):
        known = {name.lower(): make for name, make in {**_diffrax_solvers(), **_OURS}.items()}
        if method.lower() not in known:
            raise ValueError(f"there is no method {quoted(method)}.{suggestion(method, methods())}")
        solver = known[method.lower()]()
    else:
        raise ValueError(
            "`method` must be a name or a Diffrax solver such as `diffrax.Tsit5()`, but is "
            f"{method!r}"
        )
    if not _takes_one_ode(solver):
        raise ValueError(
            f"the method {type(solver).__name__!r} splits the equations or adds noise, which a "
            "mechanical system does not offer; use one of " + ", ".join(methods())
        )
    return solver


def stiff_solver() -> diffrax.AbstractSolver:
    """Kvaerno5 with full Newton steps: on stiff penalties its chord iteration stalls."""
    return diffrax.Kvaerno5(root_finder=diffrax.with_stepsize_controller_tols(optx.Newton)())


def method_name(solver: diffrax.AbstractSolver) -> str:
    """What the method is called in print."""
    if isinstance(solver, Variational) and solver.accuracy > 2:
        return f"Variational{solver.accuracy}"
    return type(solver).__name__


def is_adaptive(solver: diffrax.AbstractSolver) -> bool:
    """Whether the method estimates its own error."""
    return isinstance(solver, diffrax.AbstractAdaptiveSolver)


def require_suitable(
    solver: diffrax.AbstractSolver, *, fixed: bool, lagrangian: bool, constrained: bool
) -> None:
    """Refuse what cannot run: a fixed-step method without step, a symplectic one without L."""
    if not fixed and not is_adaptive(solver):
        raise ValueError(
            f"`dt` must be given: the method {method_name(solver)!r} has a fixed step and no error "
            "estimate. A hundredth of the shortest period is a good first choice"
        )
    if isinstance(solver, AbstractSymplectic) and not lagrangian:
        raise ValueError(
            f"the method {method_name(solver)!r} needs a Lagrangian, and explicit equations have "
            "none; use an adaptive method such as 'Dopri8'"
        )
    if isinstance(solver, AbstractSymplectic) and constrained:
        raise ValueError(
            f"the method {method_name(solver)!r} does not know constraints; use 'Dopri8', or "
            "coordinates that need none"
        )


def with_tolerances(
    solver: diffrax.AbstractSolver, rtol: AnyArray, atol: AnyArray, *, fixed: bool
) -> diffrax.AbstractSolver:
    """Give an implicit method's root finder the tolerances of the step-size controller."""
    if not isinstance(solver, diffrax.AbstractImplicitSolver):
        return solver
    finder = solver.root_finder
    placeholder = diffrax.with_stepsize_controller_tols(optx.Newton)().rtol  # "not set yet"
    tolerances: dict[str, Any] = {"rtol": rtol, "atol": atol, "norm": optx.rms_norm}
    unset = [key for key in tolerances if getattr(finder, key, None) is placeholder]
    if not unset:
        return solver
    if fixed:
        # No controller can shorten a step whose chord iteration stalls; full Newton steps do not.
        tight = _FIXED_STEP_TOLERANCE[float_dtype().name]
        newton = optx.Newton(rtol=tight, atol=tight)
        return eqx.tree_at(lambda s: s.root_finder, solver, newton)
    return eqx.tree_at(
        lambda s: [getattr(s.root_finder, key) for key in unset],
        solver,
        [tolerances[key] for key in unset],
    )
