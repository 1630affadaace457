"""What the single bodies of a machine do: velocity, momentum, angular momentum, energy."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._batches import in_batches
from .._checks import require_kind
from .._fingerprint import version_of
from .._typing import AnyArray, Coordinates, Number, Numbers, Params, Scalar, Vector
from ..geometry import stacked, tensor_of, vee
from ..model import AbstractSystem, PlacedBody, PlacedParticle, part_names, placed
from ._arguments import prepare
from ._euler_lagrange import by_laws


class BodyState(eqx.Module):
    """One body or particle at an instant, or along a run with a leading time axis.

    Attributes:
        mass: [kg], shape (...).
        inertia: about the mass centre in body axes, shape (..., 3, 3) [kg m²].
        position: of the mass centre, shape (..., 3) [m].
        rotation: R from body to space components, shape (..., 3, 3).
        velocity: of the mass centre, shape (..., 3) [m/s].
        omega: angular velocity in space components, shape (..., 3) [rad/s].

    A particle has inertia and ω zero, R = 1.
    """

    mass: AnyArray
    inertia: AnyArray
    position: AnyArray
    rotation: AnyArray
    velocity: AnyArray
    omega: AnyArray

    @property
    def omega_body(self) -> AnyArray:
        """Rᵀ ω: the angular velocity in body components, shape (..., 3) [rad/s]."""
        return jnp.einsum("...ji,...j->...i", self.rotation, self.omega)

    @property
    def momentum(self) -> AnyArray:
        """m v, shape (..., 3) [kg m/s]."""
        return self.mass[..., None] * self.velocity

    @property
    def spin(self) -> AnyArray:
        """R I Rᵀ ω: the angular momentum about the mass centre, shape (..., 3) [kg m²/s]."""
        inside = jnp.einsum("...ij,...j->...i", self.inertia, self.omega_body)
        return jnp.einsum("...ij,...j->...i", self.rotation, inside)

    @property
    def kinetic(self) -> AnyArray:
        """T = 1/2 m |v|² + 1/2 ω·H, shape (...) [J]."""
        return 0.5 * jnp.sum(self.momentum * self.velocity + self.spin * self.omega, axis=-1)

    def angular_momentum(
        self, about: Numbers | None = None, moving_at: Numbers | None = None
    ) -> AnyArray:
        """H about a point C, shape (..., 3) [kg m²/s].

            H_C = spin + (r − c) × m (v − v_C)

        `about` is c, fixed or moving, shape (3,) or (..., 3) [m]; None is the mass centre. With
        absolute velocities (the default) v_C = 0 in the formula, however C moves; pass the
        point's velocity as `moving_at` for relative ones.
        """
        if about is None:
            return self.spin
        velocity = self.velocity if moving_at is None else self.velocity - jnp.asarray(moving_at)
        arm = self.position - jnp.asarray(about)
        return self.spin + jnp.cross(arm, self.mass[..., None] * velocity)


def _require_bodies(bodies: Any) -> None:
    wanted = "states of bodies by name, as `body_states` gives them"
    require_kind(bodies, Mapping, "bodies", wanted)
    if not bodies:
        raise ValueError(f"`bodies` must be {wanted}, but is empty")
    for name, state in bodies.items():
        require_kind(state, BodyState, f"bodies[{name!r}]", "the state of a body")


def mass_centre(bodies: Mapping[str, BodyState]) -> tuple[AnyArray, AnyArray]:
    """Position [m] and velocity [m/s] of the mass centre of several bodies, each shape (..., 3).

        r_G = Σ mᵢ rᵢ / Σ mᵢ,   v_G = Σ mᵢ vᵢ / Σ mᵢ

    `bodies` are states by name, as `body_states` gives them, or a part of them; NaN if all masses
    are zero. Raises ValueError for anything else, and for none at all.
    """
    _require_bodies(bodies)
    total = sum(body.mass for body in bodies.values())
    position = sum(body.mass[..., None] * body.position for body in bodies.values())
    velocity = sum(body.momentum for body in bodies.values())
    return position / total[..., None], velocity / total[..., None]  # pyright: ignore


def angular_momentum(
    bodies: Mapping[str, BodyState],
    about: Numbers | None = None,
    moving_at: Numbers | None = None,
) -> AnyArray:
    """H of several bodies about one point C, shape (..., 3) [kg m²/s]; None is their mass centre.

        H_C = Σ Rᵢ Iᵢ Rᵢᵀ ωᵢ + (rᵢ − c) × mᵢ (vᵢ − v_C)

    In space components. The arguments are those of `BodyState.angular_momentum`. dH_C/dt is the
    moment of the outer forces about C if C is fixed or the mass centre; for other moving points
    only if v_C × v_G = 0 (absolute velocities) or r_{G/C} × a_C = 0 (relative ones).
    """
    _require_bodies(bodies)
    centre = mass_centre(bodies)[0] if about is None else about
    parts = [body.angular_momentum(centre, moving_at) for body in bodies.values()]
    return sum(parts[1:], parts[0])


def require_parts(system: AbstractSystem, what: str) -> Any:
    """The function that places a machine's parts; a sentence if it has none."""
    parts = getattr(system, "parts", None)
    if parts is None:
        raise ValueError(
            f"{what} needs a machine described by its parts, but {system.name!r} is not: declare "
            "it with `machine(parts, ...)`"
        )
    version_of(parts)
    return parts


def body_states_of(
    parts: Callable[..., Any], q: Vector, qd: Vector, t: Scalar, params: Params
) -> dict[str, BodyState]:
    """Every body and particle among the parts."""
    placed_parts, rates = placed(parts, q, qd, t, params)
    states = {}
    for name, part in placed_parts.items():
        if isinstance(part, PlacedBody):
            rotation = part.pose.rotation
            states[name] = BodyState(
                mass=jnp.asarray(part.mass),
                inertia=jnp.asarray(tensor_of(part.inertia)),
                position=part.pose.position,
                rotation=rotation,
                velocity=rates[name].position,
                omega=vee(rates[name].rotation @ rotation.T),
            )
        elif isinstance(part, PlacedParticle):
            states[name] = BodyState(
                mass=jnp.asarray(part.mass),
                inertia=jnp.zeros((3, 3), q.dtype),
                position=stacked(part.centre),
                rotation=jnp.eye(3, dtype=q.dtype),
                velocity=stacked(rates[name]),
                omega=jnp.zeros(3, q.dtype),
            )
    return states


_body_states = by_laws(body_states_of)


@by_laws
def _along(
    parts: Callable[..., Any],
    qs: AnyArray,
    qds: AnyArray,
    ts: AnyArray,
    params: Params,
) -> dict[str, BodyState]:
    return jax.vmap(lambda q, qd, t: body_states_of(parts, q, qd, t, params))(qs, qds, ts)


def body_states_along(
    parts: Callable[..., Any],
    qs: AnyArray,
    qds: AnyArray,
    ts: AnyArray,
    params: Params,
) -> dict[str, BodyState]:
    """Every body along a run: arrays with a leading time axis."""
    states = in_batches(_along, parts, (qs, qds, ts), params)
    return {n: states[n] for n in part_names(parts, qs[0], ts[0], params) if n in states}


def body_states(
    system: AbstractSystem, q: Coordinates, qd: Coordinates, t: Number = 0.0, params: Params = None
) -> dict[str, BodyState]:
    """Mass, pose and velocities of every body and particle of a machine at one instant.

        v = ṙ,   ω = vee(Ṙ Rᵀ),   with r(q, t) and R(q, t) the pose that `parts` gives

    Args:
        q: coordinates, shape (n,), or a mapping by name.
        qd: their rates, shape (n,) [1/s].
        t: time [s].
        params: the system's own if None.

    Returns:
        `BodyState`s by name, in the order of their declaration: mass [kg], inertia [kg m²] in body
        axes, position [m], velocity [m/s] and ω [rad/s] in space components, shapes (), (3, 3) and
        (3,). Parts without mass are left out.

    Raises:
        ValueError: the machine was not declared by its parts, `machine(parts, ...)`.
    """
    parts = require_parts(system, "the state of single bodies")
    q_, qd_, t_, params_ = prepare(system, t, params, q=q, qd=qd)
    states = _body_states(parts, q_, qd_, t_, params_)
    return {n: states[n] for n in part_names(parts, q_, t_, params_) if n in states}
