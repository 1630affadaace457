"""Holds: parts that join bodies whose poses are free, by constraints.

    "elbow": Hold.pin(upper @ fixed([0.5, 0, 0]), lower @ fixed([-0.5, 0, 0]))

Each takes the frames of a joint on its two bodies and says what must vanish between them; the
multipliers are then forces and moments on the second body, in newtons and newton metres. Rows that
vanish by themselves are left out: in a plane a pin has two rows, in space five.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .._checks import as_scalar
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Number, Numbers
from ..geometry import Pose, dot, from_rotation_vector, hat, is_number, minus, plus, stacked, times
from ._parts import AbstractPart, point_of

_AXES = {"x": (0, 1, 2), "y": (1, 2, 0), "z": (2, 0, 1)}


def _entries_of(pose: Pose) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
    """Origin and axes of a frame, three entries each."""
    if pose.dense:
        origin = tuple(pose.origin[i] for i in range(3))
        return origin, tuple(tuple(pose.turn[i, j] for i in range(3)) for j in range(3))
    return pose.origin, tuple(zip(*pose.turn, strict=True))


def _gap(first: Pose, second: Pose) -> tuple[Any, ...]:
    a, b = _entries_of(first)[0], _entries_of(second)[0]
    return tuple(minus(y, x) for x, y in zip(a, b, strict=True))


def _axis(axis: str) -> tuple[int, int, int]:
    if axis not in _AXES:
        raise ValueError(
            f"`axis` must be 'x', 'y' or 'z', but is {quoted(axis)}.{suggestion(str(axis), _AXES)}"
        )
    return _AXES[axis]


def _ball(first: Pose, second: Pose, axis: str) -> tuple[Any, ...]:
    del axis
    return _gap(first, second)


def _aligned(first: Pose, second: Pose) -> tuple[Any, ...]:
    (ax, ay, az), (bx, by, bz) = _entries_of(first)[1], _entries_of(second)[1]
    return dot(az, by), dot(ax, bz), dot(ay, bx)


def _pin(first: Pose, second: Pose, axis: str) -> tuple[Any, ...]:
    i, j, k = _axis(axis)
    a, b = _entries_of(first)[1], _entries_of(second)[1]
    return *_gap(first, second), dot(a[i], b[j]), dot(a[i], b[k])


def _weld(first: Pose, second: Pose, axis: str) -> tuple[Any, ...]:
    del axis
    return *_gap(first, second), *_aligned(first, second)


def _slider(first: Pose, second: Pose, axis: str) -> tuple[Any, ...]:
    _, j, k = _axis(axis)
    gap, axes = _gap(first, second), _entries_of(first)[1]
    return dot(axes[j], gap), dot(axes[k], gap), *_aligned(first, second)


_KINDS: dict[str, Callable[[Pose, Pose, str], tuple[Any, ...]]] = {
    "ball": _ball,
    "pin": _pin,
    "weld": _weld,
    "slider": _slider,
}


class AbstractHold(AbstractPart):
    """A part that restricts the machine. `frames` are those of its two bodies, in space."""

    frames: eqx.AbstractVar[tuple[Pose, Pose]]

    @property
    def holonomic(self) -> bool:
        """Whether it restricts poses, not only rates."""
        return True

    @property
    def place(self) -> tuple[()]:
        return ()

    def residual(self) -> tuple[Any, ...]:
        """What must vanish between the frames, [m] and [1]; plain numbers are left out."""
        return ()

    def slip(self, rates: tuple[Pose, Pose]) -> tuple[Any, ...]:
        """What must vanish of the rates of both frames; plain numbers are left out."""
        del rates
        return ()

    @property
    def point(self) -> AnyArray:
        """Where its force acts, shape (3,) [m]."""
        return self.frames[1].position

    def virtual(self, shift: AnyArray, turn: AnyArray) -> AnyArray:
        """How its rows change when the second body is shifted [m] and turned [rad], both small.

        In space, turned about `point`; shape (number of rows,).
        """
        first, second = self.frames
        arm = second.position - self.point
        if self.holonomic:
            spin = from_rotation_vector(turn)
            there = Pose(self.point + shift + spin @ arm, spin @ second.rotation)
            moved = eqx.tree_at(lambda hold: hold.frames, self, (first, there))
            return jnp.stack(self._varying(moved.residual()))
        still = Pose(jnp.zeros(3), jnp.zeros((3, 3)))
        rate = Pose(shift + jnp.cross(turn, arm), hat(turn) @ second.rotation)
        return jnp.stack(self._varying(self.slip((still, rate))))

    def _varying(self, entries: tuple[Any, ...]) -> list[Any]:
        """Of the rows of a moved frame, those that the machine itself has."""
        own = self.residual() if self.holonomic else self.slip(self.frames)
        pairs = zip(entries, own, strict=True)
        return [jnp.asarray(entry) for entry, one in pairs if not is_number(one)]


class _Joint(AbstractHold):
    frames: tuple[Pose, Pose]
    kind: str = eqx.field(static=True)
    axis: str = eqx.field(static=True)

    def residual(self) -> tuple[Any, ...]:
        return _KINDS[self.kind](*self.frames, self.axis)


class _Distance(AbstractHold):
    frames: tuple[Pose, Pose]
    length: Any

    def residual(self) -> tuple[Any, ...]:
        gap = stacked(_gap(*self.frames))
        return (jnp.sqrt(gap @ gap) - self.length,)


class _OnCurve(AbstractHold):
    frames: tuple[Pose, Pose]  # of the curve, and of the point
    curve: Callable[[Any], Any] = eqx.field(static=True)

    def residual(self) -> tuple[Any, ...]:
        first, second = self.frames
        inside = first.inverse.point(second.position)
        return tuple(jnp.reshape(self.curve(inside), (-1,)))


class _Rolling(AbstractHold):
    """The points of both bodies that touch move alike, in some directions of space."""

    frames: tuple[Pose, Pose]
    at: Any  # where they touch, three entries [m]
    along: tuple[Any, ...]  # directions, three entries each

    @property
    def holonomic(self) -> bool:
        return False

    @property
    def point(self) -> AnyArray:
        return stacked(self.at)

    def slip(self, rates: tuple[Pose, Pose]) -> tuple[Any, ...]:
        velocities = [_velocity(f, r, self.at) for f, r in zip(self.frames, rates, strict=True)]
        between = tuple(minus(b, a) for a, b in zip(*velocities, strict=True))
        return tuple(dot(direction, between) for direction in self.along)


def _velocity(frame: Pose, rate: Pose, at: tuple[Any, ...]) -> tuple[Any, ...]:
    """v + ω × (at − r) = v + Ṙ Rᵀ (at − r) of the body's point that is `at` a point of space."""
    (origin, axes), (velocity, axis_rates) = _entries_of(frame), _entries_of(rate)
    arm = tuple(minus(x, r) for x, r in zip(at, origin, strict=True))
    inside = [dot(axis, arm) for axis in axes]
    total = velocity
    for part, axis_rate in zip(inside, axis_rates, strict=True):
        total = tuple(plus(v, times(part, r)) for v, r in zip(total, axis_rate, strict=True))
    return total


_GROUND = Pose((0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


class Hold:
    """Joints between bodies whose poses are free, each a set of rows φ that must vanish.

        φ(q, t) = 0   or, of `rolling` and `skate`, rows of the rates;   M q̈ + b = Jᵀλ

    Frames are `Pose`s that bodies carry: r₁, R₁ the first, r₂, R₂ the second, both in space; aᵢ, bᵢ
    are their axes, the columns of R₁ and R₂. The ground is any pose that does not move:
    `fixed([x, y, z])`. λ acts on the second body, its opposite on the first: [N] for rows in metres
    or metres per second, [N m] for rows that are pure numbers.

    Rows that are plain zeros are left out, as in a plane. A row that is another plain number never
    closes: `machine` raises a ValueError, as it does for what is wrong with an argument here.
    """

    @staticmethod
    def pin(first: Pose, second: Pose, axis: str = "z") -> AbstractPart:
        """A hinge: origins together, and the frames' `axis` in line.

            r₂ − r₁ = 0 [m],   aᵢ·bⱼ = aᵢ·b_k = 0 [1],   i the axis, j and k the others

        Five rows in space, two in a plane across the axis. They vanish for opposite axes as well.

        Args:
            first, second: the frames of the hinge on both bodies.
            axis: "x", "y" or "z", of both frames.
        """
        return _Joint((first, second), "pin", axis)

    @staticmethod
    def weld(first: Pose, second: Pose) -> AbstractPart:
        """Frames together, as one.

            r₂ − r₁ = 0 [m],   a_z·b_y = a_x·b_z = a_y·b_x = 0 [1]

        Six rows in space, three in the plane. They vanish at half turns about an axis as well.

        Args:
            first, second: the frames on both bodies.
        """
        return _Joint((first, second), "weld", "z")

    @staticmethod
    def slider(first: Pose, second: Pose, axis: str = "x") -> AbstractPart:
        """The second frame slides along the first one's `axis` and does not turn in it.

            aⱼ·(r₂ − r₁) = a_k·(r₂ − r₁) = 0 [m],   a_z·b_y = a_x·b_z = a_y·b_x = 0 [1]

        i being the axis, j and k the others. Five rows in space; two in the plane, if the axis lies
        in it. They vanish at half turns about an axis as well.

        Args:
            first, second: the frames of the guide and of what slides in it.
            axis: "x", "y" or "z", of the first frame.
        """
        return _Joint((first, second), "slider", axis)

    @staticmethod
    def ball(first: Pose, second: Pose) -> AbstractPart:
        """Origins together: a ball in its socket.

            r₂ − r₁ = 0 [m]

        Three rows in space, two in the plane; λ is the force on the second body in space components
        [N].

        Args:
            first, second: frames whose origins are the centre of the ball on both bodies.
        """
        return _Joint((first, second), "ball", "z")

    @staticmethod
    def distance(first: Pose, second: Pose, length: Number) -> AbstractPart:
        """A light rigid rod between the origins; its multiplier is its thrust.

            |r₂ − r₁| − length = 0 [m]

        One row; λ [N] is positive where the rod drives the origins apart. Where they coincide the
        row has no gradient: NaN.

        Args:
            first, second: frames whose origins are the rod's ends.
            length: [m].

        Raises:
            ValueError: a length that is not greater than zero.
        """
        return _Distance((first, second), as_scalar(length, "length", positive=True))

    @staticmethod
    def on_curve(curve: Callable[[Any], Any], second: Pose, first: Pose = _GROUND) -> AbstractPart:
        """The second frame's origin stays where a function of the first frame's space vanishes.

            curve(R₁ᵀ (r₂ − r₁)) = 0

        λ ∇curve is the force on the second body [N], in components of the first frame.

        Args:
            curve: takes a point in the first frame, shape (3,) [m], and returns one number (a
                surface, or a curve of the plane) or two (a curve in space), of JAX operations.
            second: the frame whose origin stays on it.
            first: the frame that carries the curve; the ground if not given.
        """
        return _OnCurve((first, second), curve)

    @staticmethod
    def rolling(
        second: Pose, at: Numbers | Pose, first: Pose = _GROUND, along: str = "xy"
    ) -> AbstractPart:
        """Rolling without slip: at the point `at` of space both bodies move alike.

            d·(v₂ − v₁) = 0 [m/s],   v = ṙ + ω × (at − r),   d the directions `along`

        λ is the force on the second body along d [N]. That the bodies touch at all is said by the
        coordinates, or by `on_curve`. In the first case the force between them is NaN across these
        directions, in `reactions`: there the coordinates carry the body, not this hold. A `joint`
        at the contact has what is missing.

        Args:
            second: the frame of what rolls.
            at: the point where they touch, shape (3,) [m], or a pose, for its origin.
            first: the frame it rolls on; the ground if not given.
            along: the directions of space in which both move alike: "xy" on level ground.

        Raises:
            ValueError: `along` names no axes of space, or `at` is not three numbers.
        """
        return _Rolling((first, second), point_of(at, "at"), _directions(along))

    @staticmethod
    def skate(second: Pose, axis: str = "y", first: Pose = _GROUND) -> AbstractPart:
        """A knife edge: the second frame's origin does not move along its own `axis`.

            b·(v₂ − v₁) = 0 [m/s],   v = ṙ + ω × (r₂ − r),   b that axis of the second frame

        One row; λ is the force on the second body along b [N].

        Args:
            second: the frame of the skate.
            axis: "x", "y" or "z", across the edge.
            first: the frame it glides on; the ground if not given.

        Raises:
            ValueError: there is no such axis.
        """
        origin, axes = _entries_of(second)
        return _Rolling((first, second), origin, (axes["xyz".index(axis)],))


def _directions(names: str) -> tuple[tuple[float, float, float], ...]:
    if not names or not set(names) <= set("xyz"):
        raise ValueError(f"`along` must name axes of space, such as 'xy', but is {names!r}")
    return tuple(tuple(float(name == other) for other in "xyz") for name in names)  # pyright: ignore
