"""A thin disc rolling without slip on level ground, by two routes to the same motion.

q = (x, y [m], phi, theta, psi [rad]): the point of contact; the heading φ from x towards y; the
lean θ from the vertical, to the left of the heading; the roll ψ, forward. Three directions go with
the disc: h = (cos φ, sin φ, 0) ahead, u from the contact to the centre, and the axle e = u × h to
the left. With z = cos θ u − sin θ e,

    ω = −θ̇ h + φ̇ z + ψ̇ e,   axial part s = ψ̇ − φ̇ sin θ,   rolling: ẋ = r ψ̇ cos φ, ẏ = r ψ̇ sin φ

Five coordinates and two rows on their rates: three velocity freedoms in five dimensions of place.

- "multipliers": Lagrange's equations of a disc that touches the ground, with the rows of rolling,
  whose multipliers are the friction of the ground on the disc along x and y [N];
- "momentum": moments about the contact, r u × m (a − g) + Ḣ = 0, with v = ω × r u.

With I_n = m r²/2 about the axle and I_t = m r²/4 across it both come to

    φ̈ = 2 θ̇ ψ̇/cos θ
    θ̈ = 4 g/(5 r) sin θ + φ̇² sin θ cos θ − 6/5 φ̇ ψ̇ cos θ
    ψ̈ = θ̇ (5/3 φ̇ cos θ + 2 ψ̇ tan θ)

which is singular where the disc lies flat. Steady circles and the critical speed are below.
"""

import math
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Number, Scalar, Vector
from ..geometry import Pose, fixed, revolute
from ..model import (
    AbstractPart,
    AbstractSystem,
    Explicit,
    Gravity,
    Hold,
    RigidBody,
    disc as disc_shape,
    gravity_field,
    kinetic_of,
    length_field,
    machine,
    placed,
    potential_of,
)

COORDINATES = {"x": "m", "y": "m", "phi": "rad", "theta": "rad", "psi": "rad"}
_AXLE = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))  # the disc's own z to the left
_ROUTES = ("multipliers", "momentum")


class Params(eqx.Module):
    disc: RigidBody  # about its centre, symmetric about its own z
    radius: Scalar = length_field()  # [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def pose_of(q: Vector, params: Params) -> Pose:
    """The disc's centre and axes, its own z along the axle."""
    contact = revolute("z", q[2], at=(q[0], q[1], 0.0))
    leaning = contact @ revolute("x", -q[3])
    return leaning @ fixed([0.0, 0.0, params.radius], _AXLE) @ revolute("z", q[4])


def touching(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The disc and its weight; what touches the ground may slide."""
    del t
    return {
        "disc": params.disc.at(pose_of(q, params), disc_shape(params.radius)),
        "gravity": Gravity(params.gravity),
    }


def parts(q: Vector, t: Scalar, params: Params) -> dict[str, AbstractPart]:
    """The same, rolling."""
    sliding = touching(q, t, params)
    return {**sliding, "rolling": Hold.rolling(pose_of(q, params), at=[q[0], q[1], 0.0])}


def moments_of(params: Params) -> tuple[Any, Any]:
    """I_n about the axle and I_t across it [kg m²]."""
    inertia = params.disc.inertia
    return (inertia[2], inertia[0]) if inertia.ndim == 1 else (inertia[2, 2], inertia[0, 0])


def balance(angles: Vector, rates: Vector, accelerations: Vector, params: Params) -> Vector:
    """The moment about the contact that a motion lacks, r u × m (a − g) + Ḣ, in space [N m].

    Of φ, θ, ψ, their rates and accelerations, shape (3,) each; zero on a free motion.
    """
    p, (axial, across) = params, moments_of(params)
    z = jnp.array([0.0, 0.0, 1.0])

    def directions(angles: Vector) -> tuple[AnyArray, AnyArray, AnyArray]:
        """h, e and u."""
        cp, sp, ct, st = *_turn(angles[0]), *_turn(angles[1])
        left = jnp.stack([-sp, cp, 0.0 * cp])
        return jnp.stack([cp, sp, 0.0 * cp]), ct * left - st * z, st * left + ct * z

    def momenta(angles: Vector, rates: Vector) -> tuple[AnyArray, AnyArray]:
        """Velocity of the centre, and angular momentum about it."""
        h, e, u = directions(angles)
        omega = rates[0] * z - rates[1] * h + rates[2] * e
        return p.radius * jnp.cross(omega, u), across * omega + (axial - across) * (omega @ e) * e

    _, (acceleration, rate) = jax.jvp(momenta, (angles, rates), (rates, accelerations))
    arm = p.radius * directions(angles)[2]
    return jnp.cross(arm, p.disc.mass * (acceleration + p.gravity * z)) + rate


def _turn(angle: Scalar) -> tuple[Scalar, Scalar]:
    return jnp.cos(angle), jnp.sin(angle)


def _by_momentum(q: Vector, qd: Vector, t: Scalar, params: Params) -> Vector:
    """q̈: the balance is linear in the accelerations; its columns come from unit ones."""
    del t
    angles, rates, still = q[2:], qd[2:], jnp.zeros(3, q.dtype)
    lacking = balance(angles, rates, still, params)
    columns = jax.vmap(lambda unit: balance(angles, rates, unit, params) - lacking)(jnp.eye(3))
    turning = jnp.linalg.solve(columns.T, -lacking)
    # ẋ + iẏ = r ψ̇ exp(iφ), differentiated.
    cos, sin = _turn(q[2])
    ahead, left = params.radius * turning[2], params.radius * qd[4] * qd[2]
    contact = jnp.stack([ahead * cos - left * sin, ahead * sin + left * cos])
    return jnp.concatenate([contact, turning])


def _energy(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """T + V [J]."""
    placed_parts, rates = placed(touching, q, qd, t, params)
    return kinetic_of(placed_parts, rates) + potential_of(placed_parts)


def rolling_rates(params: Params, phi: Number, rates: Any) -> np.ndarray:
    """q̇, shape (5,), of a disc that heads towards φ, from (φ̇, θ̇, ψ̇) [rad/s]."""
    ahead = float(params.radius) * float(rates[2])
    return np.array([ahead * math.cos(phi), ahead * math.sin(phi), *rates], dtype=float)


def _numbers(params: Params) -> tuple[float, float, float, float]:
    """I_n, I_t, m r² and m g r."""
    axial, across = (float(moment) for moment in moments_of(params))
    mr = float(params.disc.mass) * float(params.radius)
    return axial, across, mr * float(params.radius), mr * float(params.gravity)


def steady_roll(params: Params, lean: Number, turning: Number, *, rolling: bool = True) -> float:
    """The rate ψ̇ [rad/s] at which a disc with a constant lean θ and turning φ̇ goes in a circle.

        m g r sin θ = φ̇ cos θ (I_t φ̇ sin θ + (I_n + m r²) s),   s = ψ̇ − φ̇ sin θ

    The contact then draws a circle of radius r ψ̇/φ̇. Without friction (`rolling=False`) m r² is
    left out and the centre stays where it is, or moves on evenly.

    Raises:
        ValueError: `turning` is zero, or the disc lies flat.
    """
    axial, across, mr2, mgr = _numbers(params)
    lean, turning = float(as_scalar(lean, "lean")), float(as_scalar(turning, "turning"))
    if turning == 0 or abs(math.cos(lean)) < 1e-9:
        raise ValueError(
            "`turning` must not be zero, nor `lean` a right angle, for a steady circle, but they "
            f"are {turning:g} rad/s and {lean:g} rad"
        )
    moment = axial + mr2 if rolling else axial
    spin = (mgr * math.tan(lean) / turning - across * turning * math.sin(lean)) / moment
    return spin + turning * math.sin(lean)


def critical_speed(params: Params) -> float:
    """The speed [m/s] above which the disc rolls upright and straight without falling.

    v² = m g r³ I_t/(I_n (I_n + m r²)),   g r/3 for a uniform disc
    """
    axial, across, mr2, mgr = _numbers(params)
    return float(params.radius) * math.sqrt(mgr * across / (axial * (axial + mr2)))


def uniform(mass: Number, radius: Number, gravity: Number) -> Params:
    """The numbers of a uniform disc."""
    across = mass * radius**2 / 4
    return Params(RigidBody(mass, [across, across, 2 * across]), radius, gravity)


def rolling_disc(
    route: str = "multipliers",
    mass: Annotated[Number, "kg"] = 1.0,
    radius: Number = 0.3,
    gravity: Number = 9.81,
) -> AbstractSystem:
    """A uniform disc, by the route "multipliers" or "momentum".

    Starts: "default" leans and rolls on a wavy way, "circle" goes in a stable steady circle,
    "upright" straight ahead at twice the critical speed. All roll; so must other starts.
    """
    if route not in _ROUTES:
        raise ValueError(f"there is no route {quoted(route)}.{suggestion(str(route), _ROUTES)}")
    params = uniform(mass, radius, gravity)
    pace = math.sqrt(abs(float(params.gravity)) / float(params.radius)) or 1.0  # [rad/s]
    fast, lean, turning = 2 / math.sqrt(3) * pace, 0.3, 0.35 * pace
    roll = steady_roll(params, lean, turning)
    starts = {
        "default": ([0, 0, 0, 0.25, 0], rolling_rates(params, 0.0, (0.0, 0.0, fast))),
        "circle": ([0, 0, 0, lean, 0], rolling_rates(params, 0.0, (turning, 0.0, roll))),
        "upright": ([0, 0, 0, 0, 0], rolling_rates(params, 0.0, (0.0, 0.0, fast))),
    }
    if route == "multipliers":
        return machine(parts, COORDINATES, params, starts=starts, name="rolling_disc")
    drawn = machine(touching, COORDINATES, params)
    return Explicit(
        _by_momentum,
        COORDINATES,
        params,
        energy=_energy,
        landmarks=drawn.landmarks,
        links=drawn.links,
        faces=drawn.faces,
        starts=starts,
        name="rolling_disc:route=momentum",
        parts=drawn.parts,
    )
