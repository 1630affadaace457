"""Bodies: numbers that say what moves, and the parts they become where a pose puts them."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .._checks import as_scalar, is_traced
from .._typing import Number, Numbers, Scalar
from ..geometry import (
    Pose,
    ball as ball_inertia,
    box as box_inertia,
    cylinder as cylinder_inertia,
    disc as disc_inertia,
    dot,
    minus,
    plus,
    require_inertia,
    rod as rod_inertia,
    split,
    stacked,
    tensor_of,
    times,
)
from ._parts import AbstractPart, point_of
from ._rules import MASSES, measured
from ._solids import Shape, equal_box


def as_mass(value: Any, label: str = "mass") -> Any:
    """A mass: one number that is not negative."""
    mass = as_scalar(value, label)
    if not is_traced(mass) and float(mass) < 0:
        raise ValueError(f"`{label}` must not be negative, but is {float(mass):g} kg")
    return mass


class PlacedBody(AbstractPart):
    """A rigid body where a pose puts it: the pose of its mass centre and body axes."""

    mass: Any
    inertia: Any
    pose: Pose
    shape: Shape | None

    @property
    def place(self) -> Pose:
        return self.pose

    @property
    def centre(self) -> tuple[Any, ...]:
        """The mass centre's three entries [m]."""
        return point_of(self.pose, "pose")

    def kinetic(self, rate: Pose) -> Scalar:
        """The kinetic energy, shape () [J].

            T = 1/2 m |ṙ|² + 1/2 tr(Ṙ J Ṙᵀ),   J = 1/2 tr(I) 1 − I = ∫ x xᵀ dm

        The second term is 1/2 ω·I ω, written without ω.
        """
        principal = self.inertia.ndim == 1
        if rate.dense:
            inertia = self.inertia
            if principal:
                turning = jnp.sum((0.5 * jnp.sum(inertia) - inertia) * rate.turn**2)
            else:
                second = 0.5 * jnp.trace(inertia) * jnp.eye(3) - inertia
                turning = jnp.sum((rate.turn @ second) * rate.turn)
            return 0.5 * (self.mass * jnp.sum(rate.origin**2) + turning)
        columns = tuple(zip(*rate.turn, strict=True))
        entries = split(self.inertia.reshape(-1))
        moments = entries if principal else entries[::4]
        half = 0.5 * sum(moments)
        total = times(self.mass, dot(rate.origin, rate.origin))
        for i in range(3):
            total = plus(total, times(half - moments[i], dot(columns[i], columns[i])))
            for j in range(0 if principal else i):
                both = entries[3 * i + j] + entries[3 * j + i]
                total = minus(total, times(both, dot(columns[i], columns[j])))
        return 0.5 * total

    def sketch(self) -> Shape:
        """Its shape; with the mass centre last where all other points are corners of faces."""
        shape = equal_box(self.mass, tensor_of(self.inertia)) if self.shape is None else self.shape
        points = self.pose.position + shape.points @ self.pose.rotation.T
        if {i for face in shape.faces for i in face} >= set(range(points.shape[0])):
            points = jnp.concatenate([points, self.pose.position[None]])
        return eqx.tree_at(lambda drawn: drawn.points, shape, points)


class PlacedParticle(AbstractPart):
    """A point mass at a point of space."""

    mass: Any
    centre: tuple[Any, ...]  # three entries [m]

    @property
    def place(self) -> tuple[Any, ...]:
        return self.centre

    def kinetic(self, rate: tuple[Any, ...]) -> Scalar:
        """T = 1/2 m |ṙ|²."""
        return 0.5 * times(self.mass, dot(rate, rate))

    def sketch(self) -> Shape:
        return Shape(stacked(self.centre)[None])


class RigidBody(eqx.Module):
    """A rigid body: mass [kg] and inertia tensor about its mass centre in body axes [kg m²].

        T = 1/2 m |ṙ|² + 1/2 ω·I ω,   ω in the body

    `body.at(pose)` puts the body somewhere. As a parameter its numbers have the paths `plate.mass`
    and `plate.inertia[2,2]` or `plate.inertia[2]`. `RigidBody.box` and its like have principal
    axes, and the mass centre at the origin.

    Attributes:
        mass: m, shape () [kg].
        inertia: I, a symmetric tensor of shape (3, 3), or three principal moments of shape (3,) if
            the body axes are principal [kg m²]; kept as given.

    **Raises:** `ValueError` for a negative mass, a tensor that is not symmetric, and moments that
    no body has (I₁ + I₂ < I₃ beyond round-off; equality belongs to flat bodies).
    """

    mass: Any = measured("kg", MASSES)
    inertia: Any = measured("kg m^2")

    def __init__(self, mass: Number, inertia: Numbers):
        self.mass = as_mass(mass)
        self.inertia = require_inertia(inertia)

    def require(self, path: str) -> None:
        """Refuse numbers that no body has, named by the path to this body.

        Raises:
            ValueError: a negative mass, or an inertia that no body has.
        """
        as_mass(self.mass, f"{path}.mass")
        require_inertia(self.inertia, f"{path}.inertia")

    def at(self, pose: Pose, shape: Shape | None = None) -> PlacedBody:
        """The body with its mass centre and axes in `pose`.

        Args:
            pose: of the body in space: r its mass centre [m], R body to space.
            shape: what to draw, in body axes [m]; without it, the box that has the same moments.

        Raises:
            ValueError: `pose` is not a `Pose`.
        """
        if not isinstance(pose, Pose):
            raise ValueError(
                f"`pose` must be a `Pose`, but is a {type(pose).__name__}: `fixed([x, y, z])` is "
                "the one at a point"
            )
        return PlacedBody(self.mass, self.inertia, pose, shape)

    @classmethod
    def box(cls, mass: Number, x: Number, y: Number, z: Number) -> "RigidBody":
        """A uniform box: I = m/12 diag(y² + z², x² + z², x² + y²) [kg m²].

        Args:
            mass: m [kg].
            x, y, z: the sides along the body axes [m].

        Raises:
            ValueError: a negative mass or side.
        """
        return cls(mass, box_inertia(mass, x, y, z))

    @classmethod
    def rod(cls, mass: Number, length: Number) -> "RigidBody":
        """A thin uniform rod along z: I = m l²/12 diag(1, 1, 0) [kg m²].

        Args:
            mass: m [kg].
            length: l [m].

        Raises:
            ValueError: a negative mass or length.
        """
        return cls(mass, rod_inertia(mass, length))

    @classmethod
    def disc(cls, mass: Number, radius: Number) -> "RigidBody":
        """A thin uniform disc, its axis z: I = m r² diag(1/4, 1/4, 1/2) [kg m²].

        Args:
            mass: m [kg].
            radius: r [m].

        Raises:
            ValueError: a negative mass or radius.
        """
        return cls(mass, disc_inertia(mass, radius))

    @classmethod
    def cylinder(cls, mass: Number, radius: Number, height: Number) -> "RigidBody":
        """A uniform cylinder, its axis z: I = m diag(a, a, r²/2), a = (3 r² + h²)/12 [kg m²].

        Args:
            mass: m [kg].
            radius: r [m].
            height: h, along z [m].

        Raises:
            ValueError: a negative mass, radius or height.
        """
        return cls(mass, cylinder_inertia(mass, radius, height))

    @classmethod
    def ball(cls, mass: Number, radius: Number) -> "RigidBody":
        """A uniform ball: I = 2/5 m r² 1 [kg m²].

        Args:
            mass: m [kg].
            radius: r [m].

        Raises:
            ValueError: a negative mass or radius.
        """
        return cls(mass, ball_inertia(mass, radius))


class Particle(eqx.Module):
    """A point mass; `particle.at(point)` puts it somewhere.

        T = 1/2 m |ṙ|²

    Attributes:
        mass: m, shape () [kg].

    **Raises:** `ValueError` for a negative mass.
    """

    mass: Any = measured("kg", MASSES)

    def __init__(self, mass: Number):
        self.mass = as_mass(mass)

    def require(self, path: str) -> None:
        """Refuse a negative mass, named by the path to this particle.

        Raises:
            ValueError: the mass is negative.
        """
        as_mass(self.mass, f"{path}.mass")

    def at(self, point: Numbers | Pose) -> PlacedParticle:
        """The particle at a point of space, shape (3,) [m], or at a pose's origin.

        Raises:
            ValueError: not three numbers.
        """
        return PlacedParticle(self.mass, point_of(point, "point"))
