"""Four-bar linkage: three uniform links that close a chain between two pivots on the ground.

q = (theta1, theta2, theta3) [rad]: crank, coupler and rocker, each from +x, counter-clockwise, as
one goes from the crank's pivot at the origin to the other pivot at (ground, 0) [m]; y up, gravity
along −y. That the chain ends there is the constraint "closure"; its multipliers are the force of
that pivot on the rocker [N], in x and y.

Two links in line are a dead position, which the motion passes like any other. All links in line
are a change point: there the closure loses rank and two motions are possible, of which a simulation
takes the one that continues the velocity. A parallelogram and a kite have them.
"""

from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_array
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Number, Numbers, Scalar, Vector
from ..model import Holonomic, System, gravity_field, length_field, mass_field

KINDS: dict[str, tuple[tuple[float, ...], float]] = {  # lengths of the links, and ground [m]
    "crank_rocker": ((1.0, 3.0, 2.5), 3.0),
    "parallelogram": ((1.0, 2.0, 1.0), 2.0),
    "kite": ((1.0, 1.0, 2.0), 2.0),
}
_CRANK = np.deg2rad(60.0)  # where the starts have it
_SPIN = 8.0  # [rad/s] of the crank: enough to go round


class Params(eqx.Module):
    masses: Vector = mass_field()  # [kg]
    lengths: Vector = length_field()  # [m]
    ground: Scalar = length_field()  # between the pivots [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """The joints from pivot to pivot, shape (links + 1, 2) [m]."""
    del t
    rods = params.lengths[:, None] * jnp.stack([jnp.cos(q), jnp.sin(q)], axis=1)
    return jnp.concatenate([jnp.zeros((1, 2), q.dtype), jnp.cumsum(rods, axis=0)])


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = Σ 1/2 mᵢ |vᵢ|² + 1/2 Iᵢ θ̇ᵢ² − mᵢ g yᵢ, vᵢ of the middles and Iᵢ = mᵢ lᵢ²/12  [J]."""

    def middles(q: Vector) -> AnyArray:
        joints = landmarks(q, t, params)
        return 0.5 * (joints[:-1] + joints[1:])

    points, velocities = jax.jvp(middles, (q,), (qd,))
    kinetic = 0.5 * jnp.sum(params.masses[:, None] * velocities**2)
    kinetic += 0.5 * jnp.sum(params.masses * params.lengths**2 / 12 * qd**2)
    return kinetic - jnp.sum(params.masses * params.gravity * points[:, 1])


def closure(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """From the second pivot to the end of the last link, which must vanish, shape (2,) [m]."""
    end = landmarks(q, t, params)[-1]
    return jnp.stack([end[0] - params.ground, end[1]])


def two_links(gap: np.ndarray, first: float, second: float) -> tuple[float, float] | None:
    """Angles of two links in a row that span `gap` [m], elbow to its left; None if they cannot."""
    distance = float(np.hypot(*gap))
    cosine = (first**2 + distance**2 - second**2) / max(2 * first * distance, 1e-300)
    if not abs(cosine) < 1.0:
        return None
    angle = float(np.arctan2(gap[1], gap[0]) + np.arccos(cosine))
    rest = gap - first * np.array([np.cos(angle), np.sin(angle)])
    return angle, float(np.arctan2(rest[1], rest[0]))


def closing_rates(angles: np.ndarray, lengths: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Rates that keep the chain closed: those of links 2 and 3 solved for, the others given."""
    across = lengths * np.stack([-np.sin(angles), np.cos(angles)])
    given = np.where(np.isin(np.arange(len(rates)), [1, 2]), 0.0, rates)
    given[1:3] = np.linalg.solve(across[:, 1:3], -across @ given)
    return given


def _closed(lengths: np.ndarray, ground: float) -> np.ndarray:
    """Angles of a closed four-bar, the crank at 60° or as near as it can be, shape (3,)."""
    for step in range(181):
        for crank in (_CRANK + np.deg2rad(step), _CRANK - np.deg2rad(step)):
            tip = lengths[0] * np.array([np.cos(crank), np.sin(crank)])
            rest = two_links(np.array([ground, 0.0]) - tip, lengths[1], lengths[2])
            if rest is not None:
                return np.array([crank, *rest])
    raise ValueError(
        f"links of {', '.join(f'{x:g}' for x in lengths)} m cannot close between pivots "
        f"{ground:g} m apart: the longest of the four must be shorter than the others together"
    )


def four_bar(
    kind: str = "crank_rocker",
    *,
    lengths: Numbers | None = None,
    ground: Number | None = None,
    density: Annotated[Number, "kg/m"] = 1.0,
    gravity: Number = 9.81,
) -> System:
    """A four-bar of a `kind`: "crank_rocker", "parallelogram" or "kite", or with own `lengths`.

    Own `lengths` of crank, coupler and rocker [m] come with the `ground` between the pivots. Masses
    are `density` [kg/m] times length. Starts with the crank at 60°: "default" at rest, "spinning"
    with the crank turning at 8 rad/s.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no four-bar {quoted(kind)}.{suggestion(kind, KINDS)}")
    if (lengths is None) != (ground is None):
        raise ValueError("`lengths` and `ground` must be given together, but one is missing")
    rods, base = KINDS[kind] if lengths is None or ground is None else (lengths, ground)
    rods, base = np.asarray(as_array(rods)), float(base)
    if rods.shape != (3,):
        raise ValueError(f"`lengths` must be three numbers, but has shape {rods.shape}")
    angles = _closed(rods, base)
    name = "four_bar" if kind == "crank_rocker" else f"four_bar:kind={kind}"
    if lengths is not None:
        name = f"four_bar:lengths=[{','.join(f'{x:g}' for x in rods)}],ground={base:g}"
    return System(
        lagrangian,
        coordinates={f"theta{i}": "rad" for i in (1, 2, 3)},
        params=Params(density * rods, rods, base, gravity),
        constraints=Holonomic(closure, name="closure"),
        landmarks=landmarks,
        links=((0, 1), (1, 2), (2, 3)),
        starts={
            "default": (angles, np.zeros(3)),
            "spinning": (angles, closing_rates(angles, rods, np.array([_SPIN, 0.0, 0.0]))),
        },
        name=name,
    )
