"""Named joints at many states: where they are, what lies beyond, and what they pass on."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ..model import AbstractHold, joint_names, joint_poses, placed, slipping
from ._kinematics import acting, axial, bodies_of, placing_of, transposed
from ._problem import InapplicableError, Problem

_RIGID = 1e-9  # of a unit slip: what lies beyond a joint moves with it, and nothing else does


class Slips(NamedTuple):
    """A joint let slip, at states k.

    Attributes:
        point: its origin, shape (k, 3) [m]; rotation: of its frame, shape (k, 3, 3).
        beyond: which bodies go with it, shape (b,).
        loads: what loads do on its three shifts and three turns, shape (k, 6).
    """

    point: np.ndarray
    rotation: np.ndarray
    beyond: np.ndarray
    loads: np.ndarray


def joint_names_of(problem: Problem) -> tuple[str, ...]:
    """The names of the machine's joints."""
    return joint_names(problem.parts, problem.q[0], problem.t[0], problem.params)


def slips_of(problem: Problem) -> dict[str, Slips]:
    """What every named joint carries."""
    parts, names, seen = problem.parts, joint_names_of(problem), problem.kinematics

    def look(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
        _, rates = placed(parts, q, qd, t, params)

        def where(slips: Any) -> dict[str, Any]:
            with slipping({name: (slips[i, 0], slips[i, 1]) for i, name in enumerate(names)}):
                pieces = parts(q, t, params)
            placings = [placing_of(part) for part in bodies_of(pieces).values()]
            by_joint = {"r": [r for r, _ in placings], "R": [turn for _, turn in placings]}
            for kind, pairs in acting(pieces, rates).items():
                by_joint[kind] = [jnp.asarray(place) for place, _ in pairs]
            return {name: jnp.stack(entries) for name, entries in by_joint.items() if entries}

        none = jnp.zeros((len(names), 2, 3))
        units = jnp.eye(none.size).reshape(-1, *none.shape)
        columns = jax.vmap(lambda unit: jax.jvp(where, (none,), (unit,))[1])(units)
        poses = joint_poses(parts, q, t, params).values()
        points = jnp.stack([pose.position for pose in poses])
        return columns, points, jnp.stack([pose.rotation for pose in poses])

    columns, points, rotations = problem.at_states("joints", look)
    loads = seen.work(columns, 1)
    turned = 0.5 * axial(columns["R"] @ transposed(seen.rotation)[:, None])
    by_joint = {}
    for j, name in enumerate(names):
        shift = columns["r"][:, 6 * j : 6 * j + 3]
        turn = turned[:, 6 * j + 3 : 6 * j + 6]
        unit = np.eye(3)[:, None]  # (direction, 1, component)
        beyond = np.max(np.abs(shift), axis=(0, 1, 3)) > 0.5
        rigid = unit * beyond[:, None]
        gap = np.max(np.abs(shift - rigid))
        gap = max(gap, np.max(np.abs((turn - rigid)[:, :, seen.turns]), initial=0.0))
        if gap > _RIGID:
            raise InapplicableError(f"not everything beyond the joint {name!r} moves with it")
        by_joint[name] = Slips(points[:, j], rotations[:, j], beyond, loads[:, 6 * j : 6 * j + 6])
    return by_joint


def passed_on(problem: Problem, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """Force and moment of every joint by momentum balances of the bodies beyond, (k, 6).

        F = Σ m (a − g) − loads,   M = Σ (r − c) × m (a − g) + dH/dt − their moments

    about the joint's origin c, on the motion with the accelerations q̈.
    """
    parts = problem.parts
    rigid: list[str] = []

    def look(q: Any, t: Any, params: Any) -> Any:
        pieces = parts(q, t, params)
        _, rates = placed(parts, q, 0.0 * q, t, params)
        rigid.extend(name for name, part in pieces.items() if part.actions(rates[name]) is None)
        rigid.extend(name for name, part in pieces.items() if isinstance(part, AbstractHold))
        return q

    jax.eval_shape(look, problem.q[0], problem.t[0], problem.params)
    if rigid:
        raise InapplicableError(f"what {rigid[0]!r} does to single bodies is not known beforehand")
    seen = problem.kinematics
    rate = np.einsum("knbi,kn->kbi", seen.carried, qdd) + seen.drift
    turning = np.einsum("knbij,kn->kbij", seen.arrays["columns"]["R"], qdd)
    turning = turning + seen.arrays["drifts"]["R"]
    by_joint = {}
    for name, slips in slips_of(problem).items():
        lighter = rate - seen.arrays["gravity"][:, None]
        force, moment = seen.balance(lighter, turning, slips.point[:, None])
        both = np.concatenate([force, moment], axis=-1)[:, slips.beyond].sum(axis=1)
        by_joint[name] = both - slips.loads
    return by_joint
