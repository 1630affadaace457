"""Balances of momentum and angular momentum: about hinges, along sliders, where the user says."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from .._suggest import quoted, suggestion
from .._typing import Params, Scalar, Vector
from ._batched import moved
from ._joints_of_parts import joint_names_of, slips_of
from ._problem import Accelerations, InapplicableError, Problem

_SAME = 1e-9  # relative: what two motions may differ by and be one
_INDEPENDENT = 1e-9  # smallest singular value of the balances' motions, over the largest
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class Balances(NamedTuple):
    """Balances j of several bodies at states k.

    Attributes:
        bodies: 1 for those that take part, shape (j, b).
        point: c, shape (k, j, 3) [m]; axis: e, shape (k, j, 3), zero for balances of momentum.
        along: the direction of balances of momentum, else zero, shape (k, j, 3).
        motion: δq, the virtual motion of the coordinates that each is, shape (k, j, n).
    """

    bodies: np.ndarray
    point: np.ndarray
    axis: np.ndarray
    along: np.ndarray
    motion: np.ndarray


def by_angular_momentum(problem: Problem) -> Accelerations:
    """e·d/dt H_c = e·Σ (r − c) × m g + moments of all other loads, for n balances.

        H_c = Σ ∫ (x − c) × v dm

    over the bodies beyond a hinge, about its axis, where its unknown forces have no moment; or of
    momentum along a slider. The defaults: the bodies that one coordinate moves, about the axis that
    it turns them about, or along the way it shifts them.
    """
    seen = problem.kinematics
    balances = _by_coordinate(problem) if problem.about is None else _as_asked(problem)

    def moments(rate: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """The rates of change that the balances are about, shape (k, j), from (k, b, ...)."""
        force, moment = seen.balance(rate[:, None], rotation[:, None], balances.point[:, :, None])
        force = np.broadcast_to(force, moment.shape)
        total = np.einsum("kji,jb,kjbi->kj", balances.along, balances.bodies, force)
        return total + np.einsum("kji,jb,kjbi->kj", balances.axis, balances.bodies, moment)

    columns = seen.arrays["columns"]
    mass = np.stack(
        [moments(columns["r"][:, i], columns["R"][:, i]) for i in range(problem.system.n)], axis=-1
    )
    still = moments(seen.drift - seen.arrays["gravity"][:, None], seen.arrays["drifts"]["R"])
    bias = still - np.einsum("kjn,kn->kj", balances.motion, seen.loads)
    return Accelerations(*moved(mass, bias, problem.rows, balances.motion))


def _by_coordinate(problem: Problem) -> Balances:
    """The bodies that each coordinate moves, about its axis or along its way."""
    seen, n = problem.kinematics, problem.system.n
    turns, states = seen.turns, len(problem.q)
    balances = []
    for i, name in enumerate(problem.system.coordinates):
        shift, turn = seen.carried[:, i], seen.turned[:, i]
        size = np.max(np.abs(shift), axis=(0, 2)) + np.max(np.abs(turn), axis=(0, 2))
        if not np.max(size) > 0:
            raise InapplicableError(f"{name!r} moves no body")
        moves = size > _SAME * np.max(size)
        turning = np.flatnonzero(moves & turns)
        axis = turn[:, turning[0]] if len(turning) else np.zeros((states, 3))
        square = np.sum(axis**2, axis=-1, keepdims=True)
        hinged = bool(np.all(square > _SAME))
        first = int(turning[0] if hinged else np.flatnonzero(moves)[0])
        away = np.cross(axis, shift[:, first]) / np.where(square > 0, square, 1.0)
        point = seen.position[:, first] + away
        along = np.zeros((states, 3)) if hinged else shift[:, first]
        rigid = along[:, None] + np.cross(axis[:, None], seen.position - point[:, None])
        missed = np.max(np.abs((shift - rigid)[:, moves]), initial=0.0)
        twisted = np.max(np.abs((turn - axis[:, None])[:, turning]), initial=0.0)
        if missed > _SAME * np.max(np.abs(shift[:, moves]), initial=0.0) or twisted > _SAME:
            raise InapplicableError(
                f"{name!r} neither turns the bodies that it moves about an axis nor shifts them: "
                "say with `about` which bodies to balance, about which points and axes"
            )
        balances.append((moves.astype(float), point, axis if hinged else 0 * axis, along))
    bodies, points, axes, alongs = zip(*balances, strict=True)
    motion = np.broadcast_to(np.eye(n), (states, n, n))
    return Balances(
        np.stack(bodies), np.stack(points, 1), np.stack(axes, 1), np.stack(alongs, 1), motion
    )


def _as_asked(problem: Problem) -> Balances:
    """The user's: (joint, axis in its frame), or (bodies, point, axis) in space."""
    seen, n, asked = problem.kinematics, problem.system.n, list(problem.about or ())
    if len(asked) != n:
        raise ValueError(
            f"`about` must have as many balances as {problem.system.name!r} has coordinates, {n}, "
            f"but has {len(asked)}"
        )
    balances = [_one(problem, item, f"about[{i}]") for i, item in enumerate(asked)]
    flags, at, lines = zip(*balances, strict=True)
    bodies, points, axes = np.stack(flags), np.stack(at, axis=1), np.stack(lines, axis=1)
    # The virtual motion is one that the joints admit: else their forces would enter.
    shift = bodies[None, :, :, None] * np.cross(
        axes[:, :, None], seen.position[:, None] - points[:, :, None]
    )
    turn = bodies[None, :, :, None] * axes[:, :, None] * seen.turns[:, None]
    wanted = np.concatenate([shift, turn], axis=-1).reshape(len(problem.q), n, -1)
    free = np.concatenate([seen.carried, seen.turned * seen.turns[:, None]], axis=-1)
    free = free.reshape(len(problem.q), n, -1)
    motion = wanted @ np.linalg.pinv(free)
    missed = np.max(np.abs(motion @ free - wanted), axis=(0, 2))
    wrong = np.flatnonzero(missed > 1e3 * _SAME * np.max(np.abs(wanted), axis=(0, 2)))
    if len(wrong):
        raise ValueError(
            f"`about[{wrong[0]}]` must be a balance that unknown forces of joints do not enter, "
            "but the bodies cannot turn about its axis while all others stay: take everything "
            "beyond a joint, about a line through it that it is free to turn about"
        )
    values = np.linalg.svd(motion, compute_uv=False)
    if not np.all(values[:, -1] > _INDEPENDENT * values[:, 0]):
        raise ValueError("`about` must have balances that are independent, but two say the same")
    return Balances(bodies, points, axes, np.zeros_like(axes), motion)


def _one(problem: Problem, item: Any, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flags of bodies, shape (b,), point and axis in space, shape (k, 3)."""
    if not isinstance(item, tuple | list) or len(item) not in (2, 3):
        raise ValueError(
            f"`{label}` must be (joint, axis), such as ('hinge', 'x'), or (bodies, point, axis), "
            f"but is {item!r}"
        )
    bodies = problem.bodies
    if len(item) == 2:
        joint, axis = item
        _require_name(joint, joint_names_of(problem), f"{label}[0]", "a joint")
        slips = slips_of(problem)[joint]
        inside = np.asarray(_AXES.get(axis, ()) if isinstance(axis, str) else axis, float)
        if inside.shape != (3,):
            raise ValueError(
                f"`{label}[1]` must be 'x', 'y', 'z' or three numbers, but is {axis!r}"
            )
        return slips.beyond.astype(float), slips.point, slips.rotation @ inside
    chosen, point, axis = item
    for name in [chosen] if isinstance(chosen, str) else chosen:
        _require_name(name, bodies, f"{label}[0]", "a body")
    flags = np.array([float(name in chosen) for name in bodies])
    return flags, _vectors(problem, point, f"{label}[1]"), _vectors(problem, axis, f"{label}[2]")


def _require_name(name: Any, known: Any, label: str, what: str) -> None:
    if name not in known:
        raise ValueError(
            f"`{label}` must name {what}, but there is no {quoted(name)}."
            + suggestion(str(name), known)
        )


def _vectors(problem: Problem, value: Any, label: str) -> np.ndarray:
    """A vector of space at all states, shape (k, 3): a name, numbers or a function of place."""
    if isinstance(value, str):
        value = _AXES.get(value, value)
    if callable(value):

        def look(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
            del qd
            return jnp.asarray(value(q, t, params))

        vectors = problem.at_states("about", look)
    else:
        try:
            vectors = np.broadcast_to(np.asarray(value, float), (len(problem.q), *np.shape(value)))
        except (TypeError, ValueError):
            vectors = np.zeros(0)
    if vectors.shape[1:] != (3,):
        raise ValueError(
            f"`{label}` must be three numbers, or a function (q, t, params) of three, but is "
            f"{value!r}"
        )
    return vectors
