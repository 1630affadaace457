"""Settings of a run as a file keeps them: all of them, or a reason why not."""

from typing import Any

import diffrax
import equinox as eqx
import jax
import numpy as np

from .._checks import in_force
from ..motion import as_stabilisation, stabilisation_as_data
from ._methods import as_solver, method_name, methods, stiff_solver
from ._run_data import Settings

_STIFF = "stiff"  # the solver that `simulate` takes for stiff penalties


def settings_as_data(settings: Settings) -> dict[str, Any]:
    """Everything but functions, as JSON can hold it.

    `solver` is the name that gives the solver again, or None for an object with options of its own.
    """
    return {
        "method": settings.method,
        "solver": _solver_name(settings.solver),
        "rtol": float(settings.rtol),
        "atol": float(settings.atol),
        "dt": None if settings.dt is None else float(settings.dt),
        "events": list(settings.event_names),
        "max_steps": settings.max_steps,
        "gradient": settings.gradient,
        "stabilise": stabilisation_as_data(settings.stabilise),
        "precision": np.asarray(settings.rtol).dtype.name,
    }


def settings_from_data(
    data: dict[str, Any], method: str | diffrax.AbstractSolver | None
) -> Settings:
    """The settings again; `method` stands in for a solver that no name stands for.

    Raises:
        ValueError: `method` is another one, or missing where there is no name.
    """
    how, number = data["stabilise"], np.dtype(str(data["precision"])).type
    made = None if how is None else as_stabilisation(how)
    return Settings(
        solver=_solver(str(data["method"]), data["solver"], method),
        method=str(data["method"]),
        rtol=np.asarray(number(data["rtol"])),
        atol=np.asarray(number(data["atol"])),
        dt=None if data["dt"] is None else np.asarray(number(data["dt"])),
        longest=np.asarray(number(np.inf)),
        events=(),
        event_names=tuple(str(name) for name in data["events"]),
        max_steps=int(data["max_steps"]),
        dense=False,
        gradient=str(data["gradient"]),
        stabilise=jax.tree.map(in_force, made),
    )


def _solver_name(solver: diffrax.AbstractSolver) -> str | None:
    """A name from which `_solver` makes the same solver, if there is one."""
    name = method_name(solver)
    if name in methods() and eqx.tree_equal(as_solver(name), solver) is True:
        return name
    return _STIFF if eqx.tree_equal(stiff_solver(), solver) is True else None


def _solver(
    method: str, name: str | None, given: str | diffrax.AbstractSolver | None
) -> diffrax.AbstractSolver:
    """The solver that the file names, or the one given for it; never another one."""
    offered = None if given is None else as_solver(given)
    if name is not None:
        known = stiff_solver() if name == _STIFF else as_solver(str(name))
        if offered is not None and eqx.tree_equal(known, offered) is not True:
            told = method_name(offered)
            own = " with options of its own" if told == method else ""
            raise ValueError(
                f"`method` must be left out, or be the {method!r} that made the run, but is "
                f"{told!r}{own}: `simulate` makes a run by another method"
            )
        return known
    if offered is None or method_name(offered) != method:
        raise ValueError(
            f"the run was made by a solver object {method!r} that no name stands for: pass "
            f"`method=`, the same {method}, to load it"
        )
    return offered
