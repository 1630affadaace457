"""What a machine is made of, placed somewhere: bodies, springs, dampers, forces.

A part has a *place*, the arrays of it that depend on q and t (a pose, points, an angle), and says
what follows from the place and its rate:

    kinetic energy T(place, rate) [J], potential energy V(place) [J],
    effort: the forces on the place, dual to it, so that effort·rate is their power [W].

The generalised forces are then Q = (∂place/∂q)ᵀ effort, for every part alike.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from .._typing import AnyArray, Numbers, Scalar
from ..geometry import Pose, split, triple
from ._solids import Shape


def point_of(value: Numbers | Pose, label: str) -> tuple[Any, ...]:
    """Three entries of a point of space [m]; a pose stands for its origin."""
    if isinstance(value, Pose):
        return split(value.origin) if value.dense else value.origin
    return triple(value, label)


class Actions(NamedTuple):
    """What a part does to others, in the words of statics, in space components.

    Attributes:
        points: (point [m], force [N]) pairs, shape (3,) each.
        frames: (rotation, torque [N m]) pairs, shapes (3, 3) and (3,).
        lengths: (length or angle, force or torque along it) pairs, shape () each.
    """

    points: tuple[tuple[Any, Any], ...] = ()
    frames: tuple[tuple[Any, Any], ...] = ()
    lengths: tuple[tuple[Any, Any], ...] = ()


class AbstractPart(eqx.Module):
    """Anything that a machine is made of. A part of one's own derives from this.

        L = Σ kinetic − Σ potential,   Q = Σ (∂place/∂q)ᵀ effort

    A subclass says its `place` and as much of the rest as it has; what it leaves out is zero. Its
    `mass` and `inertia`, if it has such, may not depend on q and t. `Gravity` acts on bodies and
    particles alone: another part says its weight in `potential`.
    """

    @property
    @abstractmethod
    def place(self) -> Any:
        """What of the part depends on q and t: any pytree of numbers, such as points [m]; or ()."""

    def kinetic(self, rate: Any) -> Scalar:
        """T when the place changes at `rate`, shape () [J]: quadratic in it, whatever the place.

        Args:
            rate: d(place)/dt, of the place's own structure and shapes [per second].
        """
        del rate
        return 0.0

    def potential(self) -> Scalar:
        """V of the place, shape () [J]."""
        return 0.0

    def effort(self, rate: Any) -> Any:
        """The forces on the place, so that effort·rate is their power [W]; None if there are none.

        Args:
            rate: d(place)/dt, of the place's own structure and shapes [per second].

        Returns:
            As `rate`: [N] on points, positive where it pushes along the place.
        """
        del rate
        return None

    def actions(self, rate: Any) -> Actions | None:
        """Potential and effort as forces and torques; None for a part that says no more of them.

        Weight is left out: it acts on bodies.
        """
        del rate
        kind = type(self)
        idle = (kind.potential, kind.effort) == (AbstractPart.potential, AbstractPart.effort)
        return Actions() if idle else None

    def sketch(self) -> Shape | None:
        """What to draw, in space [m]; None for nothing."""
        return None


def line(*points: AnyArray) -> Shape:
    """A drawn line through points in space."""
    links = tuple((i, i + 1) for i in range(len(points) - 1))
    return Shape(jnp.stack(points), links=links)


class Scenery(AbstractPart):
    """Something that is only seen: a line through points of space, shape (k, 3) [m].

    With `filled` it is the polygon with these corners.
    """

    points: AnyArray
    filled: bool = eqx.field(static=True, default=False)

    @property
    def place(self) -> tuple[()]:
        return ()

    def sketch(self) -> Shape:
        if self.filled:
            return Shape(self.points, faces=(tuple(range(self.points.shape[0])),))
        return line(*self.points)
