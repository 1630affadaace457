"""Do independent derivations of one machine agree?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._checks import as_count, as_scalar, require_kind
from .._typing import Params
from ..model import AbstractSystem, Explicit, FixedMapping, System, require_system
from ..motion import acceleration_of, held_of, mass_and_bias_of, prepare
from ._batched import moved
from ._by_action import by_action
from ._by_angular_momentum import by_angular_momentum
from ._by_hamilton import by_hamilton
from ._by_kane import by_kane
from ._by_lagrange import by_lagrange, by_virtual_power
from ._by_maximal import by_maximal
from ._by_newton_euler import by_newton_euler
from ._by_unit_accelerations import by_unit_accelerations
from ._crosscheck_record import Crosscheck
from ._joints_of_parts import joint_names_of, passed_on
from ._over_states import OverStates
from ._problem import Found, InapplicableError, Problem
from ._regimes import States, random_states

_SLOW = 1e-5  # [1/s] of rates and momenta: what changes them less is not judged by its own size

FORMULATIONS: dict[str, Callable[[Problem], Found]] = {
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
    - `seed`: of these states. `params`: the machine's own if None.
    - `rtol`: up to which differences count as agreement, relative to the largest acceleration at
      the same state.

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
    require_system(system)
    count, draw = as_count(states, "states", 1), as_count(seed, "seed", 0)
    tolerance = float(as_scalar(rtol, "rtol", positive=True))
    params = prepare(system, 0.0, params, q=np.zeros(system.n))[2]
    if against is not None:
        _require_same(system, against)
    machines = [(system, params)]
    if against is not None:
        machines.append((against, prepare(against, 0.0, None, q=np.zeros(against.n))[2]))
    based, numbers = next((pair for pair in machines if isinstance(pair[0], System)), machines[0])
    at = random_states(based, numbers, count, draw)
    if not isinstance(based, System):
        return _of_equations_only(machines, at, tolerance)
    problem = Problem(based, numbers, at.q, at.qd, at.t, draw, speeds, about)
    found, skipped = _by_all(problem)
    for other, its in machines:
        if other is not based:
            label = f"against {other.name}" if other is against else other.name
            found[label] = _by_itself(problem, other, its, label)
    if isinstance(system, Explicit):  # what simulate integrates comes first
        found = {system.name: found.pop(system.name), **found}
    reactions, floors = _reactions(problem, next(iter(found.values())).qdd, skipped)
    rows = problem.rows
    if rows is not None:
        held = rows.back @ (rows.rows @ at.momenta[..., None])
        floors["multiplier"] = _floor(held[..., 0], at.qd)
    return Crosscheck(
        name=system.name,
        coordinates=tuple(system.coordinates),
        rows=based.rows,
        q=at.q,
        qd=at.qd,
        t=at.t,
        regimes=at.regimes,
        accelerations={name: one.qdd for name, one in found.items()},
        multipliers={
            name: one.multipliers
            for name, one in found.items()
            if one.multipliers is not None and rows is not None
        },
        unique=np.zeros((count, 0), bool) if rows is None else rows.unique,
        reactions=reactions,
        joints=joint_names_of(problem) if reactions else (),
        floors={"acceleration": _floor(at.qd, at.qd), **floors},
        skipped=FixedMapping(skipped),
        compiled=tuple(problem.compiled),
        refused=at.refused,
        rtol=tolerance,
    )


def _require_same(system: AbstractSystem, against: AbstractSystem) -> None:
    require_kind(against, AbstractSystem, "against", "a `System` or an `Explicit`")
    if tuple(against.coordinates) != tuple(system.coordinates):
        raise ValueError(
            f"`against` must have the coordinates of {system.name!r}, "
            f"{', '.join(system.coordinates)}, but {against.name!r} has "
            f"{', '.join(against.coordinates)}"
        )


def _by_all(problem: Problem) -> tuple[dict[str, Found], dict[str, str]]:
    """What all formulations find, and why the others do not apply."""
    found, skipped = {}, {}
    # What the user has a say in comes first, so that mistakes are told at once.
    asked = {"Kane": problem.speeds, "angular momentum": problem.about}
    for name in sorted(FORMULATIONS, key=lambda name: asked.get(name) is None):
        try:
            found[name] = FORMULATIONS[name](problem)
        except InapplicableError as reason:
            skipped[name] = str(reason)
    found = {name: found[name] for name in FORMULATIONS if name in found}
    return found, skipped


def _by_itself(problem: Problem, other: AbstractSystem, params: Params, label: str) -> Found:
    """The accelerations of another description, from its own equations."""
    if isinstance(other, System):
        apart = replace(problem, system=other, params=params)
        mass, bias = apart.at_states(label, lambda *state: mass_and_bias_of(apart.laws, *state))
        return Found(moved(mass, bias, apart.rows)[0])
    return Found(_equations(other, params, problem.q, problem.qd, problem.t, problem.compiled))


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
    found = {}
    for i, (system, params) in enumerate(machines):
        label = f"against {system.name}" if i else system.name
        found[label] = _equations(system, params, at.q, at.qd, at.t, compiled)
    why = "the equations come without a Lagrangian: give another description with `against`"
    return Crosscheck(
        name=machines[0][0].name,
        coordinates=tuple(machines[0][0].coordinates),
        rows=(),
        q=at.q,
        qd=at.qd,
        t=at.t,
        regimes=at.regimes,
        accelerations=found,
        multipliers={},
        unique=np.zeros((len(at.t), 0), bool),
        reactions={},
        joints=(),
        floors={"acceleration": _floor(at.qd, at.qd)},
        skipped=FixedMapping({"others": why}),
        compiled=tuple(compiled),
        refused=0,
        rtol=rtol,
    )


def _floor(values: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """What would change some values by a small part of them, shape (k,) from (k, c).

    In a second, those of a typical state; in the time that the rates take for one unit, each.
    """
    sizes = np.max(np.abs(values), axis=1)
    return _SLOW * np.maximum(np.median(sizes), sizes * np.max(np.abs(rates), axis=1))


def _reactions(
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
        lambda q, qd, t, qdd, params: held_of(parts, q, qd, qdd, t, params),
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
    moments = extent * forces + _floor(spin.reshape(omega.shape), omega)
    reactions = {"virtual work": worked, "momentum balance": balanced}
    return reactions, {"force": least, "moment": moments}
