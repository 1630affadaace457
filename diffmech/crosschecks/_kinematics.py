"""Where all parts of a machine are, how they move, and what acts on them, at many states."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ..geometry import stacked, tensor_of
from ..model import (
    AbstractPart,
    ForcesOfParts,
    Parts,
    PlacedBody,
    PlacedParticle,
    placed,
    potential_of,
    weight_of,
)

PartsFunction = Callable[..., Parts]
_KNOWN_ENERGIES = (AbstractPart.kinetic, PlacedBody.kinetic, PlacedParticle.kinetic)


def bodies_of(parts: Parts) -> dict[str, Any]:
    """Bodies and particles among the parts, in alphabetical order.

    Parts that have been differentiated come in that order, others in that of their declaration.
    """
    kinds = PlacedBody | PlacedParticle
    return {name: parts[name] for name in sorted(parts) if isinstance(parts[name], kinds)}


def heavy_strangers(parts: Parts) -> list[str]:
    """Names of parts with a kinetic energy of their own making."""
    return [name for name, part in parts.items() if type(part).kinetic not in _KNOWN_ENERGIES]


def inertia_of(part: Any) -> Any:
    """About the mass centre in body axes, shape (3, 3) [kg m²]; zero for particles."""
    if isinstance(part, PlacedBody):
        return jnp.asarray(tensor_of(part.inertia))
    return jnp.zeros((3, 3))


def placing_of(part: Any) -> tuple[Any, Any]:
    """Mass centre and rotation of a body; particles do not turn."""
    if isinstance(part, PlacedBody):
        return part.pose.position, part.pose.rotation
    return stacked(part.centre), jnp.eye(3)


def acting(parts: Parts, rates: dict[str, Any]) -> dict[str, list[tuple[Any, Any]]]:
    """All forces at points, torques on frames and forces along lengths, but weight, in order."""
    acts: dict[str, list[tuple[Any, Any]]] = {"points": [], "frames": [], "lengths": []}
    for name in sorted(parts):
        actions = parts[name].actions(rates[name])
        if actions is not None:
            for kind, pairs in actions._asdict().items():
                acts[kind].extend(pairs)
    return acts


def own_forces(parts: PartsFunction, q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
    """Generalised forces of parts that do not say what they do to points, frames and lengths."""

    def silent(q: Vector, t: Scalar, params: Params) -> Parts:
        pieces = parts(q, t, params)
        _, rates = placed(parts, q, qd, t, params)
        return {name: part for name, part in pieces.items() if part.actions(rates[name]) is None}

    if not silent(q, t, params):
        return jnp.zeros_like(q)
    slope = jax.grad(lambda q: potential_of(silent(q, t, params)))(q)
    return ForcesOfParts(silent, None)(q, qd, t, params) - slope


def seen(parts: PartsFunction, q: Vector, qd: Vector, t: Scalar, params: Params) -> dict[str, Any]:
    """Everything that `Kinematics` keeps, at one state; what a machine has none of is left out."""
    pieces, rates = placed(parts, q, qd, t, params)

    def where(q: Vector, t: Scalar) -> dict[str, Any]:
        pieces = parts(q, t, params)
        placings = [placing_of(part) for part in bodies_of(pieces).values()]
        placed_things = {
            "r": [position for position, _ in placings],
            "R": [rotation for _, rotation in placings],
        }
        for kind, pairs in acting(pieces, rates).items():
            placed_things[kind] = [jnp.asarray(place) for place, _ in pairs]
        return {name: jnp.stack(entries) for name, entries in placed_things.items() if entries}

    def moving(q: Vector, t: Scalar) -> dict[str, Any]:
        return jax.jvp(where, (q, t), (qd, jnp.ones_like(t)))[1]

    def column(direction: Vector) -> dict[str, Any]:
        return jax.jvp(lambda q: where(q, t), (q,), (direction,))[1]

    velocities, drifts = jax.jvp(moving, (q, t), (qd, jnp.ones_like(t)))
    columns = jax.vmap(column)(jnp.eye(q.size, dtype=q.dtype))
    bodies = bodies_of(pieces).values()
    forces = {
        kind: [jnp.asarray(f) for _, f in pairs] for kind, pairs in acting(pieces, rates).items()
    }
    return {
        "places": where(q, t),
        "velocities": velocities,
        "drifts": drifts,
        "columns": columns,
        "forces": {kind: jnp.stack(entries) for kind, entries in forces.items() if entries},
        "mass": jnp.stack([jnp.asarray(part.mass) for part in bodies]),
        "inertia": jnp.stack([inertia_of(part) for part in bodies]),
        "gravity": jnp.stack([jnp.asarray(g) for g in weight_of(pieces)]),
        "own": own_forces(parts, q, qd, t, params),
    }


def transposed(matrix: np.ndarray) -> np.ndarray:
    """The last two axes exchanged."""
    return np.swapaxes(matrix, -1, -2)


def axial(matrix: np.ndarray) -> np.ndarray:
    """Σⱼₖ εᵢⱼₖ Kₖⱼ: twice the vector of the skew part, shape (..., 3)."""
    return np.stack(
        [
            matrix[..., 2, 1] - matrix[..., 1, 2],
            matrix[..., 0, 2] - matrix[..., 2, 0],
            matrix[..., 1, 0] - matrix[..., 0, 1],
        ],
        axis=-1,
    )


@dataclass(frozen=True)
class Kinematics:
    """Bodies b, forces and coordinates at states k, in space components unless said otherwise.

    Attributes:
        arrays: as `seen` gives it, with the states in front.
        extra: generalised forces declared beside those of the parts, shape (k, n).
    """

    arrays: dict[str, Any]
    extra: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        """m, shape (k, b) [kg]."""
        return self.arrays["mass"]

    @property
    def inertia(self) -> np.ndarray:
        """I about the mass centres in body axes, shape (k, b, 3, 3) [kg m²]."""
        return self.arrays["inertia"]

    @property
    def position(self) -> np.ndarray:
        """r, shape (k, b, 3) [m]."""
        return self.arrays["places"]["r"]

    @property
    def rotation(self) -> np.ndarray:
        """R, shape (k, b, 3, 3)."""
        return self.arrays["places"]["R"]

    @property
    def weight(self) -> np.ndarray:
        """m g, shape (k, b, 3) [N]."""
        return self.mass[..., None] * self.arrays["gravity"][:, None]

    @property
    def carried(self) -> np.ndarray:
        """∂v/∂q̇ of the mass centres, shape (k, n, b, 3)."""
        return self.arrays["columns"]["r"]

    @property
    def drift(self) -> np.ndarray:
        """a where q̈ = 0, shape (k, b, 3) [m/s²]."""
        return self.arrays["drifts"]["r"]

    @property
    def omega(self) -> np.ndarray:
        """ω, shape (k, b, 3) [rad/s]."""
        return 0.5 * axial(self.arrays["velocities"]["R"] @ transposed(self.rotation))

    @cached_property
    def turned(self) -> np.ndarray:
        """∂ω/∂q̇, shape (k, n, b, 3)."""
        return 0.5 * axial(self.arrays["columns"]["R"] @ transposed(self.rotation)[:, None])

    @property
    def turning_drift(self) -> np.ndarray:
        """ω̇ where q̈ = 0, the vector of d/dt (Ṙ Rᵀ), shape (k, b, 3) [rad/s²]."""
        return 0.5 * axial(self.arrays["drifts"]["R"] @ transposed(self.rotation))

    @cached_property
    def loads(self) -> np.ndarray:
        """Σ F·∂v/∂q̇ + τ·∂ω/∂q̇ + f ∂ẋ/∂q̇ of all that acts but weight, shape (k, n)."""
        return self.work(self.arrays["columns"], 1) + self.arrays["own"] + self.extra

    @property
    def turns(self) -> np.ndarray:
        """Which bodies have an inertia against turning, shape (b,); particles have none."""
        return np.any(self.inertia != 0, axis=(0, 2, 3))

    def balance(
        self, rate: np.ndarray, rotation: np.ndarray, about: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """d/dt of momentum, and of angular momentum about a point, of every body.

            ∫ a dm = m a,   ∫ (x − c) × a dm = (r − c) × m a + Σ εᵢⱼₖ Kₖⱼ,   K = R̈ S Rᵀ

        with S = ∫ x xᵀ dm = 1/2 tr(I) 1 − I. There is no ω in it.

        Args:
            rate: accelerations of the mass centres, shape (k, ..., b, 3).
            rotation: R̈, shape (k, ..., b, 3, 3).
            about: the point c, shape (k, ..., 1 or b, 3) [m].
        """
        axes = tuple(range(1, rate.ndim - 2))
        trace = np.einsum("kbii->kb", self.inertia)[..., None, None]
        second = 0.5 * trace * np.eye(3) - self.inertia
        spread = np.expand_dims(second @ transposed(self.rotation), axes)
        force = np.expand_dims(self.mass, axes)[..., None] * rate
        arm = np.expand_dims(self.position, axes) - about
        return force, np.cross(arm, force) + axial(rotation @ spread)

    def work(self, moved: dict[str, Any], extra_axes: int) -> np.ndarray:
        """What forces, torques and forces along lengths do on virtual motions of their places.

        `moved` are the motions of places like `arrays["places"]`, with axes after the states.
        """
        total = np.zeros(moved["r"].shape[: 1 + extra_axes])
        axes = tuple(range(1, 1 + extra_axes))
        for kind, force in self.arrays["forces"].items():
            motion = moved[kind]
            if kind == "frames":
                rotation = np.expand_dims(self.arrays["places"]["frames"], axes)
                motion = 0.5 * axial(motion @ transposed(rotation))
            product = motion * np.expand_dims(force, axes)
            total = total + product.reshape(*product.shape[: 1 + extra_axes], -1).sum(axis=-1)
        return total
