"""Do independent derivations of one machine agree?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from .._checks import (
    as_count,
    as_scalar,
    require_concrete,
    require_kind,
    trial_trace,
    warn_if_single_precision,
)
from .._memory import require_memory
from .._typing import Params
from ..model import AbstractSystem, Explicit, FixedMapping, System, require_system, trial_arguments
from ..motion import acceleration_of, mass_and_bias_of, prepare
from ._batched import moved
from ._by_action import by_action
from ._by_angular_momentum import by_angular_momentum
from ._by_hamilton import by_hamilton
from ._by_kane import by_kane
from ._by_lagrange import by_lagrange, by_virtual_power
from ._by_maximal import by_maximal
from ._by_newton_euler import by_newton_euler
from ._by_unit_accelerations import by_unit_accelerations
from ._compared_reactions import compared_reactions, floor
from ._crosscheck_record import Crosscheck
from ._joints_of_parts import joint_names_of
from ._over_states import OverStates
from ._problem import Accelerations, InapplicableError, Problem
from ._regimes import States, random_states

_BYTES = 5000  # of a state, for each pair of coordinates: differences, wrenches, pools to draw from

FORMULATIONS: dict[str, Callable[[Problem], Accelerations]] = {
    "virtual power": by_virtual_power,
    "Lagrange": by_lagrange,
    "Hamilton": by_hamilton,
    "discrete action": by_action,
    "Newton-Euler": by_newton_euler,
    "angular momentum": by_angular_momentum,
    "Kane": by_kane,
    "maximal coordinates": by_maximal,
    "unit accelerations": by_unit_accelerations,
}


def crosscheck(
    system: AbstractSystem,
    *,
    states: int = 50,
    seed: int = 0,
    params: Params = None,
    speeds: Callable[..., Any] | None = None,
    about: Sequence[Any] | None = None,
    against: AbstractSystem | None = None,
    rtol: float = 1e-9,
) -> Crosscheck:
    """Derive a machine's motion by every formulation that applies, and compare.

        print(dm.crosscheck(dm.systems.rolling_disc()))

    Of any Lagrangian: Lagrange's equations, Hamilton's, and difference quotients of the discrete
    action. Of a machine made of bodies also virtual power, the momentum balances of Newton and
    Euler, angular momentum about hinges, Kane's equations, maximal coordinates, and the mass matrix
    in numbers only. They have nothing in common but where the parts are and what loads are
    declared. Forces, friction, constraints and drives are in all of them.

    **Main arguments:**

    - `system`: the machine; an `Explicit` needs `against` to be checked.
    - `states`: how many random states, of all regimes in turn: small, at rest, moderate, large,
      fast, near a pole. Those of a machine with constraints are assembled on them.
    - `seed`: of these states. `params`: the machine's own if None; also those of `against` if it
      has the same.
    - `rtol`: up to which differences count as agreement: |a − b| ≤ rtol · max|q̈| at the same state
      for accelerations, and likewise for multipliers, forces and moments, each among its kind.

    **Other arguments:**

    - `speeds`: generalised speeds for Kane's equations, `(q, qd, t, params) -> u`, linear in the
      rates; as many as there are coordinates or freedoms.
    - `about`: one balance of angular momentum for each coordinate: `("hinge", "x")` of everything
      beyond a named joint about an axis of its frame, or `(["A", "B"], point, axis)` of bodies
      about a point and an axis in space, numbers or functions `(q, t, params)`.
    - `against`: another description of the same machine in the same coordinates.

    **Returns:** a `Crosscheck`, which prints as a table and says `.passed` and `.worst`.

    **Raises:** `ValueError` for balances that unknown forces enter, speeds that do not determine
    the rates, and machines without equations at most states.
    """
    require_concrete("crosscheck", "it looks at numbers", params)
    require_system(system)
    warn_if_single_precision()
    count, draw = as_count(states, "states", 1), as_count(seed, "seed", 0)
    tolerance = float(as_scalar(rtol, "rtol", positive=True))
    require_memory(
        count * _BYTES * (1 + system.n) ** 2, f"{count} states", "take fewer `states`, such as 50"
    )
    given = params is not None
    params = prepare(system, 0.0, params, q=np.zeros(system.n))[2]
    machines = [(system, params)]
    if against is not None:
        _require_same(system, against)
        theirs = params if given and _alike(params, against.params) else None
        machines.append((against, prepare(against, 0.0, theirs, q=np.zeros(against.n))[2]))
    _require_choices(system, params, speeds, about)
    based, numbers = next((pair for pair in machines if isinstance(pair[0], System)), machines[0])
    at = random_states(based, numbers, count, draw)
    if not isinstance(based, System):
        return _of_equations_only(machines, at, tolerance)
    problem = Problem(based, numbers, at.q, at.qd, at.t, draw, speeds, about)
    results, skipped = _by_all(problem)
    for other, its in machines:
        if other is not based:
            label = f"against {other.name}" if other is against else _own_name(system)
            results[label] = _by_itself(problem, other, its, label)
    if isinstance(system, Explicit):  # what simulate integrates comes first
        results = {_own_name(system): results.pop(_own_name(system)), **results}
    reactions, floors = compared_reactions(problem, next(iter(results.values())).qdd, skipped)
    rows = problem.rows
    if rows is not None:
        carried = rows.back @ (rows.rows @ at.momenta[..., None])
        floors["multiplier"] = floor(carried[..., 0], at.qd)
    return Crosscheck(
        name=system.name,
        coordinates=tuple(system.coordinates),
        rows=based.rows,
        q=at.q,
        qd=at.qd,
        t=at.t,
        regimes=at.regimes,
        accelerations={name: one.qdd for name, one in results.items()},
        multipliers={
            name: one.multipliers
            for name, one in results.items()
            if one.multipliers is not None and rows is not None
        },
        unique=np.zeros((count, 0), bool) if rows is None else rows.unique,
        reactions=reactions,
        joints=joint_names_of(problem) if reactions else (),
        floors={"acceleration": floor(at.qd, at.qd), **floors},
        skipped=FixedMapping(skipped),
        compiled=tuple(problem.compiled),
        refused=at.refused,
        rtol=tolerance,
    )


def _require_same(system: AbstractSystem, against: AbstractSystem) -> None:
    require_system(against, "against")
    if tuple(against.coordinates) != tuple(system.coordinates):
        raise ValueError(
            f"`against` must have the coordinates of {system.name!r}, "
            f"{', '.join(system.coordinates)}, but {against.name!r} has "
            f"{', '.join(against.coordinates)}"
        )


def _alike(params: Params, others: Params) -> bool:
    """Whether parameters have one structure and the same shapes."""
    if jax.tree.structure(params) != jax.tree.structure(others):
        return False
    pairs = zip(jax.tree.leaves(params), jax.tree.leaves(others), strict=True)
    return all(np.shape(one) == np.shape(other) for one, other in pairs)


def _own_name(system: AbstractSystem) -> str:
    """What equations that come without a Lagrangian are called among the formulations."""
    return "as given" if system.name in FORMULATIONS else system.name


def _require_choices(
    system: AbstractSystem,
    params: Params,
    speeds: Callable[..., Any] | None,
    about: Sequence[Any] | None,
) -> None:
    if speeds is not None:
        arguments = trial_arguments(system.n, params)
        shape = trial_trace(speeds, "speeds", None, *arguments)
        if len(shape) != 1:
            raise ValueError(
                f"`speeds` must return the generalised speeds in one row, shape (p,), but returns "
                f"shape {shape}"
            )
    if about is not None:
        require_kind(about, (list, tuple), "about", "a list of balances, [('hinge', 'x'), ...]")


def _by_all(problem: Problem) -> tuple[dict[str, Accelerations], dict[str, str]]:
    """What all formulations find, and why the others do not apply."""
    results, skipped = {}, {}
    # What the user has a say in comes first, so that mistakes are told at once.
    asked = {"Kane": problem.speeds, "angular momentum": problem.about}
    for name in sorted(FORMULATIONS, key=lambda name: asked.get(name) is None):
        try:
            results[name] = FORMULATIONS[name](problem)
        except InapplicableError as reason:
            skipped[name] = str(reason)
    results = {name: results[name] for name in FORMULATIONS if name in results}
    return results, skipped


def _by_itself(
    problem: Problem, other: AbstractSystem, params: Params, label: str
) -> Accelerations:
    """The accelerations of another description, from its own equations."""
    if isinstance(other, System):
        apart = replace(problem, system=other, params=params)
        mass, bias = apart.at_states(label, lambda *state: mass_and_bias_of(apart.laws, *state))
        return Accelerations(moved(mass, bias, apart.rows)[0])
    at = problem.q, problem.qd, problem.t
    return Accelerations(_equations(other, params, *at, problem.compiled))


def _equations(
    system: AbstractSystem,
    params: Params,
    q: np.ndarray,
    qd: np.ndarray,
    t: np.ndarray,
    compiled: list[str],
) -> np.ndarray:
    """The accelerations of an `Explicit`."""
    laws = system.laws
    program = OverStates(lambda *state: acceleration_of(laws, *state), params, q[0], qd[0], t[0])
    if program.compiled:
        compiled.append(system.name)
    return program(q, qd, t)


def _of_equations_only(
    machines: list[tuple[AbstractSystem, Params]], at: States, rtol: float
) -> Crosscheck:
    """Machines that come without a Lagrangian, against each other if there are two."""
    compiled: list[str] = []
    results = {}
    for i, (system, params) in enumerate(machines):
        label = f"against {system.name}" if i else system.name
        results[label] = _equations(system, params, at.q, at.qd, at.t, compiled)
    why = "the equations come without a Lagrangian: give another description with `against`"
    return Crosscheck(
        name=machines[0][0].name,
        coordinates=tuple(machines[0][0].coordinates),
        rows=(),
        q=at.q,
        qd=at.qd,
        t=at.t,
        regimes=at.regimes,
        accelerations=results,
        multipliers={},
        unique=np.zeros((len(at.t), 0), bool),
        reactions={},
        joints=(),
        floors={"acceleration": floor(at.qd, at.qd)},
        skipped=FixedMapping({"others": why}),
        compiled=tuple(compiled),
        refused=0,
        rtol=rtol,
    )
