"""A rigid body turning freely about its mass centre, by four routes to the same motion.

- "lagrange": yaw, pitch, roll (Euler angles ZYX) from the Lagrangian;
- "momentum": the same angles Φ by angular momentum, Φ̈ = A⁻¹(α − Ȧ Φ̇), with ω = A Φ̇ and
  α = −I⁻¹(ω × I ω) in body components;
- "quaternion": q̈ = 1/2 (q̇ ⊗ ω + q ⊗ α);
- "euler": Euler's equations with R itself, R̈ = R (ω̂ ω̂ + α̂).

The first two have a pole where the pitch is ±90°, the last two have none. Inertia in body axes.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_array
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Numbers, Scalar, Vector
from ..geometry import (
    Pose,
    angular_velocity,
    from_euler,
    from_quaternion,
    hat,
    quaternion_product,
    spherical,
    tensor_of,
    velocity_matrix,
)
from ..model import AbstractPart, AbstractSystem, Explicit, RigidBody, machine

_ZYX = partial(from_euler, "ZYX")


class Params(eqx.Module):
    body: RigidBody


def _angular_acceleration(omega: Vector, params: Params) -> Vector:
    """α = −I⁻¹(ω × I ω): Euler's equations without a torque, in body components."""
    inertia = tensor_of(params.body.inertia)
    return -jnp.linalg.solve(inertia, jnp.cross(omega, inertia @ omega))


def _by_momentum(q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    del t
    matrix, matrix_rate = jax.jvp(lambda q: velocity_matrix(_ZYX, q), (q,), (qd,))
    alpha = _angular_acceleration(matrix @ qd, params)
    return jnp.linalg.solve(matrix, alpha - matrix_rate @ qd)


def _by_quaternion(q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    del t
    omega = angular_velocity(from_quaternion, q, qd)
    alpha = _angular_acceleration(omega, params)
    pure = [jnp.concatenate([jnp.zeros(1, q.dtype), v]) for v in (omega, alpha)]
    return 0.5 * (quaternion_product(qd, pure[0]) + quaternion_product(q, pure[1]))


def _by_euler(q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    del t
    omega = angular_velocity(_entries, q, qd)
    alpha = _angular_acceleration(omega, params)
    rotation = _entries(q)
    return (rotation @ (hat(omega) @ hat(omega) + hat(alpha))).reshape(9)


def _entries(q: Vector) -> AnyArray:
    return q.reshape(3, 3)


class _Route(NamedTuple):
    rotation: Callable[[Any], AnyArray]
    coordinates: dict[str, str]
    equations: Callable[..., AnyArray] | None
    start: Callable[[Any], tuple[Any, Any]]  # of the body's ω, at R = 1


_ANGLES = {"yaw": "rad", "pitch": "rad", "roll": "rad"}
_ROUTES = {
    "lagrange": _Route(_ZYX, _ANGLES, None, lambda w: (np.zeros(3), w[::-1])),
    "momentum": _Route(_ZYX, _ANGLES, _by_momentum, lambda w: (np.zeros(3), w[::-1])),
    "quaternion": _Route(
        from_quaternion,
        dict.fromkeys(("q_w", "q_x", "q_y", "q_z"), ""),
        _by_quaternion,
        lambda w: (np.array([1.0, 0, 0, 0]), np.array([0.0, *(0.5 * w)])),
    ),
    "euler": _Route(
        _entries,
        {f"R{i}{j}": "" for i in (1, 2, 3) for j in (1, 2, 3)},
        _by_euler,
        lambda w: (
            np.eye(3).reshape(9),
            np.array([0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0]),
        ),
    ),
}


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The body, turned by yaw, pitch and roll."""
    del t
    return {"body": params.body.at(spherical(q, sequence="ZYX"))}


def _seen(route: str) -> Callable[..., dict[str, AbstractPart]]:
    """The body where another route's coordinates put it, to be drawn."""

    def placed(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
        del t
        rotation = _ROUTES[route].rotation(q)
        return {"body": params.body.at(Pose((0.0, 0.0, 0.0), rotation))}

    return placed


_SEEN = {route: _seen(route) for route in _ROUTES}


def rotation_of(route: str, q: Any) -> AnyArray:
    """R of one route's coordinates, shape (3, 3)."""
    return _ROUTES[route].rotation(q)


def _energy(q: Vector, qd: Vector, t: Scalar, params: Params, *, route: str) -> Scalar:
    """T = 1/2 ω·I ω [J]."""
    del t
    omega = angular_velocity(_ROUTES[route].rotation, q, qd)
    return 0.5 * omega @ tensor_of(params.body.inertia) @ omega


_ENERGIES = {route: partial(_energy, route=route) for route in _ROUTES}


def free_body(
    route: str = "lagrange",
    moments: Annotated[Numbers, "kg m^2"] = (1.0, 2.0, 3.0),
    omega: Annotated[Numbers, "rad/s"] = (0.3, 0.2, 2.0),
) -> AbstractSystem:
    """A body with principal `moments` [kg m²] (or a tensor), by one of four routes.

    Starts with the body's axes along those of space and the angular velocity `omega` [rad/s]
    (default), or 1 rad/s about one axis and 0.001 about the others ("about_x", "about_y",
    "about_z").
    """
    if route not in _ROUTES:
        raise ValueError(f"there is no route {quoted(route)}.{suggestion(str(route), _ROUTES)}")
    chosen = _ROUTES[route]
    spins = {"default": as_array(omega)}
    for i, axis in enumerate("xyz"):
        spins[f"about_{axis}"] = np.where(np.arange(3) == i, 1.0, 1e-3)
    params = Params(RigidBody(1.0, moments))
    starts = {label: chosen.start(w) for label, w in spins.items()}
    drawn = machine(_SEEN[route], chosen.coordinates, params)
    if chosen.equations is None:
        return machine(parts, chosen.coordinates, params, starts=starts, name="free_body")
    return Explicit(
        chosen.equations,
        chosen.coordinates,
        params,
        energy=_ENERGIES[route],
        landmarks=drawn.landmarks,
        links=drawn.links,
        faces=drawn.faces,
        starts=starts,
        name=f"free_body:route={route}",
        parts=drawn.parts,
    )
