"""The forces and moments that joints pass on, by virtual work.

A named joint is let slip: shifted by s and turned by φ in space, with everything beyond it. The
force and the moment that keep it from doing so, on the motion that happens, are the reaction:

    (F, M) = d/dt ∂L/∂(ṡ, φ̇) − ∂L/∂(s, φ) − Q − (∂ of the holds)ᵀλ   at s = φ = 0.

A hold has multipliers, and acts on its second body with λ·∂(rows)/∂(s, φ) of that body.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._batches import in_batches
from .._typing import AnyArray, Coordinates, Number, Params, Scalar, Vector
from ..model import (
    AbstractSystem,
    ForcesOfParts,
    HoldsOfParts,
    LagrangianOfParts,
    Laws,
    joint_names,
    joint_points,
    slipping,
)
from ._arguments import prepare
from ._body_states import require_parts
from ._carried import held_axes, pushed_axes
from ._constraint_rows import jacobian_of
from ._euler_lagrange import acceleration_of, by_laws, mass_and_bias_of, require_lagrangian
from ._multipliers import multipliers_of

_SLIPS = 6  # of a joint: three shifts and three turns


class Reaction(NamedTuple):
    """What a joint does to the parts beyond it, in space components.

    The parts before the joint feel the opposite.

    Attributes:
        force: F, shape (3,), or (k, 3) along a run [N].
        moment: M about `point`, the same shapes [N m].
        point: where the force acts, the origin of the joint's frame, the same shapes [m].
    """

    force: AnyArray
    moment: AnyArray
    point: AnyArray


@dataclass(frozen=True)
class _Slipping:
    """The parts of a machine whose coordinates are (q, slips of its joints)."""

    parts: Callable[..., Mapping[str, Any]]
    names: tuple[str, ...]

    def __call__(self, x: Vector, t: Scalar, params: Params) -> Mapping[str, Any]:
        n = x.shape[0] - _SLIPS * len(self.names)
        slips = x[n:].reshape(len(self.names), 2, 3)
        with slipping({name: (slips[i, 0], slips[i, 1]) for i, name in enumerate(self.names)}):
            return self.parts(x[:n], t, params)


def reactions_of(
    laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params
) -> dict[str, Reaction]:
    """The reaction of every named joint and of every hold."""
    return _of_holds(laws, q, qd, t, params) | _of_joints(laws, q, qd, t, params)


def _holds(laws: Laws) -> list[HoldsOfParts]:
    return [one for one in laws.constraints if isinstance(one, HoldsOfParts)]


def _of_holds(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> dict[str, Reaction]:
    """Force and moment of every hold on its second body.

    NaN where they are not unique, and where it is the coordinates that carry the body.
    """
    if not _holds(laws):
        return {}
    forces = multipliers_of(laws, q, qd, t, params)
    parts = laws.lagrangian.parts  # pyright: ignore[reportFunctionMemberAccess]
    loose = _Slipping(parts, joint_names(parts, q, t, params))
    slack = jnp.concatenate([q, jnp.zeros(_SLIPS * len(loose.names), q.dtype)])
    pushed = pushed_axes(parts, q, qd, acceleration_of(laws, q, qd, t, params), t, params)
    none, reactions_of_holds, start = jnp.zeros(3, q.dtype), {}, 0
    placed_parts = parts(q, t, params)
    for holds in _holds(laws):  # they come first among the constraints
        for name, count in holds.counts(q, t, params).items():
            hold, own = placed_parts[name], forces[start : start + count]
            _, pull = jax.vjp(hold.virtual, none, none)
            force, moment = pull(own)
            carried = pushed & held_axes(loose, name, slack, t, params)
            force = jnp.where(carried, jnp.nan, force)
            reactions_of_holds[name] = Reaction(force, moment, hold.point)
            start += count
    return reactions_of_holds


def _of_joints(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> dict[str, Reaction]:
    parts = laws.lagrangian.parts  # pyright: ignore[reportFunctionMemberAccess]
    names = joint_names(parts, q, t, params)
    if not names:
        return {}
    passed_on = joint_loads_of(parts, q, qd, acceleration_of(laws, q, qd, t, params), t, params)
    if _holds(laws):
        loose = _Slipping(parts, names)
        from_holds = _pull_of_holds(laws, loose, q, qd, t, params)
        passed_on = passed_on - from_holds.reshape(passed_on.shape)
    points = joint_points(parts, q, t, params)
    return {
        name: Reaction(passed_on[i, 0], passed_on[i, 1], points[name])
        for i, name in enumerate(names)
    }


def joint_loads_of(
    parts: Callable[..., Mapping[str, Any]],
    q: Vector,
    qd: Vector,
    qdd: Vector,
    t: Scalar,
    params: Params,
) -> AnyArray:
    """Force and moment of every named joint on a motion, by virtual work, shape (joints, 2, 3).

    What holds and other constraints do is left out.
    """
    loose = _Slipping(parts, joint_names(parts, q, t, params))
    opened = Laws(LagrangianOfParts(loose), ForcesOfParts(loose, None), None)
    still = jnp.zeros(_SLIPS * len(loose.names), q.dtype)
    mass, bias = mass_and_bias_of(
        opened, jnp.concatenate([q, still]), jnp.concatenate([qd, still]), t, params
    )
    n = q.size
    return (mass[n:, :n] @ qdd + bias[n:]).reshape(len(loose.names), 2, 3)


def _pull_of_holds(
    laws: Laws, loose: _Slipping, q: Vector, qd: Vector, t: Scalar, params: Params
) -> AnyArray:
    """Jᵀλ of the holds on the slips, shape (6 per joint,)."""
    holds = tuple(HoldsOfParts(loose, one.holonomic) for one in _holds(laws))
    opened = Laws(laws.lagrangian, None, None, holds)
    still = jnp.zeros(_SLIPS * len(loose.names), q.dtype)
    rows = jacobian_of(opened, jnp.concatenate([q, still]), t, params)
    return multipliers_of(laws, q, qd, t, params)[: rows.shape[0]] @ rows[:, q.size :]


_reactions = by_laws(reactions_of)


@by_laws
def _along(
    laws: Laws, qs: AnyArray, qds: AnyArray, ts: AnyArray, params: Params
) -> dict[str, Reaction]:
    return jax.vmap(lambda q, qd, t: reactions_of(laws, q, qd, t, params))(qs, qds, ts)


def reactions_along(
    system: AbstractSystem, qs: AnyArray, qds: AnyArray, ts: AnyArray, params: Params
) -> dict[str, Reaction]:
    """The same along a run: every array with a leading time axis."""
    names = require_joints(system)
    reactions_by_name = in_batches(_along, system.laws, (qs, qds, ts), params)
    return {name: reactions_by_name[name] for name in names}


def reactions(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> dict[str, Reaction]:
    """Force and moment of every joint of a machine of parts, on the motion from this state.

        (F, M) = d/dt ∂L/∂(ṡ, φ̇) − ∂L/∂(s, φ) − Q   at s = φ = 0,

    s and φ a shift and a turn in space of all that is beyond the joint; of a hold
    (F, M) = λ·∂(rows)/∂(s, φ).

    Joints are named where the machine is declared, `joint("elbow", pose)`; a `Hold` has the name of
    its part, and acts on the second of its bodies. Springs, dampers, forces and torques of the
    parts are accounted for; generalised `forces=` and constraints beside the holds are taken as
    acting within the joints, along their freedom. NaN where redundant holds leave a force open,
    and where no row of a hold carries a body but its coordinates do: a coin whose height follows
    from its lean rolls with `Hold.rolling`, which knows no weight. Name a joint where they carry
    it, `joint("ground", pose)`: its reaction is what is missing.

    Returns:
        By name, `Reaction(force, moment, point)`, each of shape (3,).

    Raises:
        ValueError: the machine was not declared by its parts, or has no joints and no holds.
    """
    names = require_joints(system)
    reactions_by_name = _reactions(system.laws, *prepare(system, t, params, q=q, qd=qd))
    return {name: reactions_by_name[name] for name in names}


def require_joints(system: AbstractSystem) -> tuple[str, ...]:
    """The names of a machine's joints; refuses a machine without."""
    require_lagrangian(system, "the reactions of joints")
    parts = require_parts(system, "the reactions of joints")
    q, t, params = prepare(system, 0.0, None, q=np.zeros(system.n))
    of_holds = [tuple(one.counts(q, t, params)) for one in _holds(system.laws)]  # pyright: ignore
    names = sum(of_holds, ()) + joint_names(parts, q, t, params)
    if not names:
        raise ValueError(
            f'{system.name!r} has no joints: name them in its parts with `joint("elbow", pose)`, '
            "or declare `Hold`s"
        )
    return names
