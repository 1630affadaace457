"""What acts on bodies: gravity, springs, dampers and friction, forces and torques."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .._checks import as_scalar
from .._typing import AnyArray, Number, Numbers, Scalar
from ..geometry import Pose, dot, hat, is_number, stacked, times, to_rotation_vector, triple, vee
from ._parts import AbstractPart, Actions, point_of
from ._rules import measured
from ._solids import Shape


class Gravity(AbstractPart):
    """Uniform gravity on every body and particle of the machine.

        V = −Σ m g·r [J],   g = strength direction/|direction|

    Several add up. A negative strength points against `direction`.

    Args:
        strength: shape () [m/s²]; or g itself, the acceleration of free fall, shape (3,):
            `Gravity([0, -9.81, 0])`.
        direction: of any length but zero, shape (3,); downwards, (0, 0, −1), if None.

    **Raises:** `ValueError` if `direction` has no length, or is given beside a vector, and for what
    is neither one number nor three.
    """

    acceleration: tuple[Any, ...]  # three entries [m/s^2]

    def __init__(self, strength: Number | Numbers, direction: Numbers | None = None):
        if isinstance(strength, list | tuple) or jnp.ndim(strength) > 0:
            if direction is not None:
                raise ValueError(
                    "`direction` must be left out where `strength` is a vector: it has one"
                )
            self.acceleration = triple(strength, "strength")
            return
        down = triple((0.0, 0.0, -1.0) if direction is None else direction, "direction")
        as_scalar(strength, "strength")
        size = dot(down, down) ** 0.5
        if is_number(size) and size == 0:
            raise ValueError("`direction` must have a length, but is zero")
        self.acceleration = tuple(times(entry, strength / size) for entry in down)

    @property
    def place(self) -> tuple[()]:
        return ()


def _vector(value: Numbers, label: str) -> Any:
    """Three numbers, traced or not, as an array."""
    return stacked(triple(value, label))


def _point(value: Numbers | Pose, label: str) -> Any:
    """A point of space, or a pose's origin, as an array."""
    return stacked(point_of(value, label))


def _distance(a: Any, b: Any) -> Scalar:
    """|b − a| with derivative zero, not NaN, where both coincide."""
    square = jnp.sum((b - a) ** 2)
    apart = square > 0
    return jnp.where(apart, jnp.sqrt(jnp.where(apart, square, 1.0)), 0.0)


def _pull(ends: tuple[Any, ...], distance: Any, force: Any) -> Actions:
    """A force along the line between two points, which drives them apart if positive."""
    apart = distance > 0
    along = jnp.where(apart, 1.0 / jnp.where(apart, distance, 1.0), 0.0) * (ends[1] - ends[0])
    return Actions(points=((ends[0], -force * along), (ends[1], force * along)))


class _Stretch(AbstractPart):
    """A spring on a length or an angle x: V = 1/2 k (x − rest)²."""

    stiffness: Any
    rest: Any
    x: Any
    square: Any  # x², smooth where x is a distance that vanishes
    ends: tuple[Any, ...]

    @property
    def place(self) -> tuple[()]:
        return ()  # V is differentiated through `x` itself

    def potential(self) -> Scalar:
        stretched = (self.x - self.rest) ** 2
        return 0.5 * self.stiffness * jnp.where(self.rest == 0, self.square, stretched)

    def actions(self, rate: Any) -> Actions:
        """Hooke's law: −k (x − rest), between points along the line that joins them."""
        del rate
        force = -self.stiffness * (self.x - self.rest)
        return _pull(self.ends, self.x, force) if self.ends else Actions(lengths=((self.x, force),))

    def sketch(self) -> Shape | None:
        return Shape(jnp.stack(self.ends), springs=((0, 1),)) if self.ends else None


class Spring(eqx.Module):
    """A linear spring, on a length or an angle.

        V = 1/2 k (x − rest)²,   F = −k (x − rest),   positive where it drives x up

    `spring.between(a, b)` joins two points of space, x = |b − a|; `spring.across(x)` acts on any
    length or angle x(q, t); `spring.twisting(a, b)` joins two frames against every rotation
    between them.

    Attributes:
        stiffness: k, shape () [N/m, or N m/rad on an angle]; of either sign.
        rest: where it is free of force, shape () [m or rad]; 0 by default.

    **Raises:** `ValueError` for what is not a single finite number.
    """

    stiffness: Any = measured({"length": "N/m", "angle": "N m/rad"}, (0.0, 1e6))
    rest: Any = measured({"length": "m", "angle": "rad"})

    def __init__(self, stiffness: Number, rest: Number = 0.0):
        self.stiffness = as_scalar(stiffness, "stiffness")
        self.rest = as_scalar(rest, "rest")

    def between(self, a: Numbers | Pose, b: Numbers | Pose) -> AbstractPart:
        """Joins two points of space, shape (3,) [m], or poses at their origins.

            V = 1/2 k (|b − a| − rest)²,   F_b = −k (|b − a| − rest) (b − a)/|b − a| = −F_a

        Where the points coincide there is no direction: F = 0 there, whatever the rest length.

        Raises:
            ValueError: not three numbers.
        """
        ends = _point(a, "a"), _point(b, "b")
        square = jnp.sum((ends[1] - ends[0]) ** 2)
        return _Stretch(self.stiffness, self.rest, _distance(*ends), square, ends)

    def across(self, x: Number) -> AbstractPart:
        """Acts on a length [m] or an angle [rad] x(q, t), shape (): V = 1/2 k (x − rest)².

        An angle counts as given, full turns too.
        """
        return _Stretch(self.stiffness, self.rest, jnp.asarray(x), jnp.asarray(x) ** 2, ())

    def twisting(self, a: Pose, b: Pose) -> AbstractPart:
        """Joins two frames against every rotation between them.

            V = 1/2 k φ²,   φ the angle of R_aᵀ R_b, in [0, π]

        A rest angle makes no sense here and is ignored. At φ = π the torque jumps: V has a crease.

        Args:
            a, b: poses, of which the rotations count.
        """
        turn = to_rotation_vector(a.rotation.T @ b.rotation)
        length = _distance(jnp.zeros(3), turn)
        return _Stretch(self.stiffness, jnp.zeros(()), length, turn @ turn, ())


class _Rubbing(AbstractPart):
    """A damper on a length, an angle, or a point's way through space."""

    damper: "Damper"
    x: Any
    ends: tuple[Any, ...]

    @property
    def place(self) -> Any:
        return self.x

    def effort(self, rate: Any) -> Any:
        return self.damper.force(rate)

    def actions(self, rate: Any) -> Actions:
        force = self.damper.force(rate)
        if self.ends:
            return _pull(self.ends, self.x, force)
        if jnp.ndim(self.x) == 1:
            return Actions(points=((self.x, force),))
        return Actions(lengths=((self.x, force),))

    def sketch(self) -> Shape | None:
        return Shape(jnp.stack(self.ends), dampers=((0, 1),)) if self.ends else None


class _Turning(AbstractPart):
    """A torque between two frames, or on one: of a damper, or given."""

    damper: "Damper | None"
    torque: Any
    frames: tuple[Any, ...]  # one rotation or two: the second turns against the first

    @property
    def place(self) -> tuple[Any, ...]:
        return self.frames

    def _torque(self, rate: tuple[Any, ...]) -> Any:
        """On the last frame; the first of two feels the opposite."""
        if self.damper is None:
            return self.torque
        omegas = [
            vee(jnp.broadcast_to(dr, (3, 3)) @ r.T) for r, dr in zip(self.frames, rate, strict=True)
        ]
        return self.damper.force(omegas[-1] - (omegas[0] if len(omegas) == 2 else 0.0))

    def effort(self, rate: tuple[Any, ...]) -> tuple[Any, ...]:
        torque = self._torque(rate)
        # Power τ·ω = ½ tr(τ̂ᵀ Ṙ Rᵀ): the force on the nine entries of R is ½ τ̂ R.
        signs = (-0.5, 0.5)[-len(self.frames) :]
        return tuple(s * hat(torque) @ r for s, r in zip(signs, self.frames, strict=True))

    def actions(self, rate: tuple[Any, ...]) -> Actions:
        torque = self._torque(rate)
        signed = (-torque, torque)[-len(self.frames) :]
        return Actions(frames=tuple(zip(self.frames, signed, strict=True)))


class Damper(eqx.Module):
    """Friction against a velocity v of a length, an angle or a point.

        F = −(c + c₂ |v| + F_c/√(|v|² + v₀²)) v

    `damper.between(a, b)` acts along the line between two points; `damper.across(x)` on a length
    or an angle x(q, t); `damper.on(point)` on a point's way through space, such as drag;
    `damper.turning(a, b)` on the angular velocity between two frames, `turning(a)` in space.
    `damper.force(rate)` is the law itself, for `forces` of one's own:

        forces=lambda q, qd, t, params: jnp.array([params["hinge"].force(qd[0])])

    Attributes:
        viscous: c [N s/m, or N m s/rad on an angle]; 0 by default.
        quadratic: c₂ [N s²/m² or N m s²/rad²]; 0 by default.
        coulomb: F_c, the size of regularised dry friction [N or N m]; 0 by default.
        smoothing: v₀, the speed below which dry friction fades [m/s or rad/s]; 1e-3 by default.

    **Raises:** `ValueError` for what is not a single finite number, or a `smoothing` that is not
    greater than zero.
    """

    viscous: Any = measured({"length": "N s/m", "angle": "N m s/rad"}, (0.0, 1e3))
    quadratic: Any = measured({"length": "N s^2/m^2", "angle": "N m s^2/rad^2"}, (0.0, 1e3))
    coulomb: Any = measured({"length": "N", "angle": "N m"}, (0.0, 1e3))
    smoothing: Any = measured({"length": "m/s", "angle": "rad/s"}, (1e-6, 1.0))

    def __init__(
        self,
        viscous: Number = 0.0,
        quadratic: Number = 0.0,
        coulomb: Number = 0.0,
        smoothing: Number = 1e-3,
    ):
        self.viscous = as_scalar(viscous, "viscous")
        self.quadratic = as_scalar(quadratic, "quadratic")
        self.coulomb = as_scalar(coulomb, "coulomb")
        self.smoothing = as_scalar(smoothing, "smoothing", positive=True)

    def force(self, rate: Number | Numbers) -> AnyArray:
        """F = −(c + c₂ |v| + F_c/√(|v|² + v₀²)) v, against a rate v.

        Args:
            rate: of a length [m/s] or an angle [rad/s], shape (); or a velocity in space, shape
                (3,), the size of which counts. Several hinges take a call each.

        Returns:
            A force [N] or torque [N m] of the same shape. Value and derivatives, by the rate and by
            every coefficient, are finite at rest too.
        """
        rate = jnp.asarray(rate)
        square = jnp.sum(rate**2)
        moving = square > 0
        speed = jnp.where(moving, jnp.sqrt(jnp.where(moving, square, 1.0)), 0.0)
        dry = self.coulomb / jnp.sqrt(square + self.smoothing**2)
        return -(self.viscous + self.quadratic * speed + dry) * rate

    def between(self, a: Numbers | Pose, b: Numbers | Pose) -> AbstractPart:
        """Acts along the line between two points of space, shape (3,) [m], or the origins of poses.

            v = d|b − a|/dt,   F_b = F(v) (b − a)/|b − a| = −F_a

        Where the points coincide there is no direction, and no force.

        Raises:
            ValueError: not three numbers.
        """
        ends = _point(a, "a"), _point(b, "b")
        return _Rubbing(self, _distance(*ends), ends)

    def across(self, x: Number) -> AbstractPart:
        """Acts on the rate of a length [m] or an angle [rad] x(q, t), shape ().

        Q_i = F(ẋ) ∂x/∂q_i
        """
        return _Rubbing(self, jnp.asarray(x), ())

    def on(self, point: Numbers | Pose) -> AbstractPart:
        """Acts on a point's velocity through space: the force F(ṙ), shape (3,) [N], at the point r.

        Args:
            point: r, shape (3,) [m], or a pose, for its origin.

        Raises:
            ValueError: not three numbers.
        """
        return _Rubbing(self, _point(point, "point"), ())

    def turning(self, a: Pose, b: Pose | None = None) -> AbstractPart:
        """Acts on an angular velocity in space: the torque F(ω), shape (3,) [N m].

            ω = ω_a,   or ω_b − ω_a with the torque on b, and its opposite on a

        Args:
            a, b: poses, of which the rotations count.
        """
        frames = (a.rotation,) if b is None else (a.rotation, b.rotation)
        return _Turning(self, None, frames)


class _Push(AbstractPart):
    """A force at a point."""

    force: Any
    point: Any

    @property
    def place(self) -> Any:
        return self.point

    def effort(self, rate: Any) -> Any:
        del rate
        return self.force

    def actions(self, rate: Any) -> Actions:
        del rate
        return Actions(points=((self.point, self.force),))


def force(vector: Numbers, at: Numbers | Pose) -> AbstractPart:
    """A force in space components, applied at a point of space that a body carries.

        Q_i = F·∂r/∂q_i

    Args:
        vector: F, shape (3,) [N]. It may depend on q and t: `force(pose.direction([0, 0, f]),
            pose.point(tip))` pushes along a body axis.
        at: r, shape (3,) [m], or a pose, for its origin.

    Raises:
        ValueError: not three numbers.
    """
    return _Push(_vector(vector, "vector"), _point(at, "at"))


def torque(vector: Numbers, on: Pose, against: Pose | None = None) -> AbstractPart:
    """A torque in space components on a frame, and its opposite on another if given.

        Q_i = τ·∂ω/∂q̇_i,   ω of `on`, less that of `against`

    Args:
        vector: τ, shape (3,) [N m]; it may depend on q and t.
        on, against: poses that bodies carry, of which the rotations count.

    Raises:
        ValueError: `vector` is not three numbers.
    """
    frames = (on.rotation,) if against is None else (against.rotation, on.rotation)
    return _Turning(None, _vector(vector, "vector"), frames)
