"""Poses: where a body is and how it is turned; joints give them; orthogonality is restored here."""

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._checks import as_scalar
from .._typing import Number, Numbers
from ._entries import Triple, dot, entries, is_number, minus, plus, stacked, times, triple
from ._euler import axes_of
from ._rotations import from_rotation_vector, hat, vee
from ._typing import Rotation, Vector3, matrix3, require_rotation, vector3

_NAMED = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Pose(eqx.Module):
    """A frame seen from another: where its origin is and how it is turned.

        x_outer = r + R x_inner,   (a @ b): r = r_a + R_a r_b,  R = R_a R_b

    `outer @ inner` composes them, `pose.point([x, y, z])` is where a point fixed in the frame is,
    `pose.direction([x, y, z])` how a direction fixed in it points, `pose.inverse` the way back.

    While some of its numbers are plain (the zeros and ones of a hinge along a coordinate axis), all
    are kept apart and the plain ones take no part in products: what is composed of a few hinges
    then costs little more than formulas found by hand. Otherwise they are arrays.

    Attributes:
        position: r, shape (3,) [m].
        rotation: R, shape (3, 3), whose columns are the frame's axes.

    **Raises:** `ValueError` for another shape. That R is a rotation is taken for granted; `fixed`
    looks.
    """

    origin: Any  # three entries or an array
    turn: Any  # three rows of three entries, or an array

    def __init__(self, position: Numbers, rotation: Numbers):
        rows = entries(rotation)
        if rows is None:
            self.turn = jnp.asarray(matrix3(rotation, "rotation"))
        elif any(is_number(entry) for row in rows for entry in row):
            self.turn = rows
        else:
            self.turn = jnp.stack([stacked(row) for row in rows])
        if isinstance(position, jax.Array) and self.dense:
            self.origin = vector3(position, "position")
        else:
            self.origin = triple(position, "position")
            if self.dense:
                self.origin = stacked(self.origin)

    @property
    def dense(self) -> bool:
        """Whether it is kept as arrays, no number apart."""
        return not isinstance(self.turn, tuple)

    @property
    def position(self) -> Vector3:
        """r, the frame's origin seen from outside, shape (3,) [m]."""
        return stacked(self.origin) if isinstance(self.origin, tuple) else self.origin

    @property
    def rotation(self) -> Rotation:
        """R, which takes components in the frame to components outside, shape (3, 3)."""
        return self.turn if self.dense else jnp.stack([stacked(row) for row in self.turn])

    def __matmul__(self, inner: "Pose") -> "Pose":
        """The frame `inner`, given in this one, seen from outside: r = r₁ + R₁ r₂, R = R₁ R₂."""
        if self.dense or inner.dense:
            return Pose(self.point(inner.position), self.rotation @ inner.rotation)
        columns = tuple(zip(*inner.turn, strict=True))
        return Pose(
            self._placed(inner.origin),
            tuple(tuple(dot(row, column) for column in columns) for row in self.turn),
        )

    def _placed(self, inside: Triple) -> Triple:
        return tuple(
            plus(r, dot(row, inside)) for r, row in zip(self.origin, self.turn, strict=True)
        )

    def point(self, inside: Numbers) -> Vector3:
        """A point fixed in the frame, seen from outside, shape (3,) [m].

            r + R x

        Args:
            inside: x, in the frame, shape (3,) [m].

        Raises:
            ValueError: not three numbers; a TypeError of JAX's for its own array, if it is `dense`.
        """
        if self.dense:
            return self.position + self.direction(inside)
        return stacked(self._placed(triple(inside, "inside")))

    def direction(self, inside: Numbers) -> Vector3:
        """A vector fixed in the frame, seen from outside, shape (3,), in its own unit.

            R x

        Args:
            inside: x, in components of the frame, shape (3,).

        Raises:
            ValueError: not three numbers; a TypeError of JAX's for its own array, if it is `dense`.
        """
        if self.dense:
            vector = inside if isinstance(inside, jax.Array) else stacked(triple(inside, "inside"))
            return self.turn @ vector
        vector = triple(inside, "inside")
        return stacked(tuple(dot(row, vector) for row in self.turn))

    @property
    def inverse(self) -> "Pose":
        """The outer frame seen from the inner one: −Rᵀ r and Rᵀ."""
        if self.dense:
            return Pose(-(self.turn.T @ self.origin), self.turn.T)
        rows = tuple(zip(*self.turn, strict=True))
        return Pose(tuple(times(-1.0, dot(row, self.origin)) for row in rows), rows)


def fixed(at: Numbers = _ORIGIN, rotation: Numbers = _IDENTITY) -> Pose:
    """A frame that does not move in the one before: shifted to `at` [m], turned by `rotation`.

    Raises:
        ValueError: numbers that are no rotation: R Rᵀ is not the identity, or det R is not 1.
    """
    require_rotation(rotation)
    return Pose(at, rotation)


def revolute(axis: str | Numbers, angle: Number, at: Numbers = _ORIGIN) -> Pose:
    """A hinge: the frame turned by `angle` [rad] about `axis` through the point `at` [m].

        R = cos φ 1 + (1 − cos φ) a aᵀ + sin φ â,   r = at

    Right-handed; a is the axis made a unit vector, â its cross product. `axis` is "x", "y" or "z",
    or any direction; axis and point are in the frame before. The new frame has its origin at `at`,
    on the hinge.

    Raises:
        ValueError: `axis` is another name, or has no length.
    """
    x, y, z = unit = _direction(axis)
    _require_angle(angle)
    c, s = jnp.cos(angle), jnp.sin(angle)
    # R = c 1 + (1 − c) a aᵀ + s â
    if not any(is_number(entry) for entry in unit):
        a = stacked(unit)
        return Pose(at, c * jnp.eye(3) + (1.0 - c) * jnp.outer(a, a) + s * hat(a))
    vx, vy, vz = (times(a, 1.0 - c) for a in unit)
    xy, xz, yz = times(vx, y), times(vx, z), times(vy, z)
    sx, sy, sz = times(x, s), times(y, s), times(z, s)
    turned = (
        (_on_axis(x, c, vx), minus(xy, sz), plus(xz, sy)),
        (plus(xy, sz), _on_axis(y, c, vy), minus(yz, sx)),
        (minus(xz, sy), plus(yz, sx), _on_axis(z, c, vz)),
    )
    return Pose(at, turned)


def _require_angle(angle: Any) -> None:
    if not isinstance(angle, jax.Array | float | int):
        as_scalar(angle, "angle")


def _on_axis(entry: Any, c: Any, v: Any) -> Any:
    """c + (1 − c) a², with v = (1 − c) a: exactly 1 on the axis itself."""
    return 1.0 if is_number(entry) and entry == 1.0 else plus(c, times(v, entry))


def _direction(axis: str | Numbers) -> Triple:
    """A unit vector by name or by components; plain zeros and ones stay plain."""
    if isinstance(axis, str):
        if axis not in _NAMED:
            raise ValueError(f"`axis` must be 'x', 'y', 'z' or three numbers, but is {axis!r}")
        return _NAMED[axis]
    given = triple(axis, "axis")
    square = dot(given, given)
    if is_number(square):
        if square == 0:
            raise ValueError("`axis` must have a length, but is zero")
        return tuple(entry / math.sqrt(square) for entry in given)
    return tuple(times(entry, 1.0 / jnp.sqrt(square)) for entry in given)


def prismatic(axis: str | Numbers, distance: Number, at: Numbers = _ORIGIN) -> Pose:
    """A slider: the frame shifted by `distance` [m] along `axis` from the point `at` [m].

        R = 1,   r = at + distance a

    a is "x", "y", "z" or any direction, made a unit vector; axis and point are in the frame before.

    Raises:
        ValueError: `axis` is another name, or has no length.
    """
    start = triple(at, "at")
    shift = tuple(times(entry, distance) for entry in _direction(axis))
    return Pose(tuple(plus(a, b) for a, b in zip(start, shift, strict=True)), _IDENTITY)


def universal(angles: Numbers, at: Numbers = _ORIGIN, axes: str = "xy") -> Pose:
    """A universal joint: turned about the first axis, then about the second as it stands.

        R = R_first(angles[0]) R_second(angles[1]),   r = at

    `angles` are two [rad], `at` is the point where the axes meet [m], `axes` are two of x, y, z.

    Raises:
        ValueError: `axes` are not two different ones.
    """
    if len(axes) != 2 or not set(axes) <= set("xyz") or axes[0] == axes[1]:
        raise ValueError(f"`axes` must be two of x, y, z, such as 'xy', but is {axes!r}")
    first, second = angles
    return revolute(axes[0], first, at) @ revolute(axes[1], second)


def spherical(angles: Numbers, at: Numbers = _ORIGIN, sequence: str = "ZXZ") -> Pose:
    """A ball joint by three Euler angles [rad] in one of the 24 `SEQUENCES`, each with its poles.

    R is that of `geometry.from_euler(sequence, angles)`, r = `at`, the centre of the ball [m].
    For a joint without poles near the identity pass `sequence="vector"`: the angles are then a
    rotation vector, whose pole is at a full turn.

    Raises:
        ValueError: there is no such sequence.
    """
    if sequence == "vector":
        return Pose(at, from_rotation_vector(angles))
    i, j, k, intrinsic = axes_of(sequence)
    a, b, c = triple(angles, "angles") if intrinsic else triple(angles, "angles")[::-1]
    outer, middle, inner = ("xyz"[axis] for axis in (i, j, k))
    return revolute(outer, a, at) @ revolute(middle, b) @ revolute(inner, c)


def planar(x: Number, y: Number, angle: Number) -> Pose:
    """Free in the plane z = 0: shifted to (x, y) [m], then turned by `angle` [rad] about z.

    R = R_z(angle),   r = (x, y, 0)
    """
    return revolute("z", angle, at=(x, y, 0.0))


def chained(poses: Sequence[Pose]) -> list[Pose]:
    """Frames that are each given in the one before, all seen from the outermost frame.

        chained([p₁, p₂, p₃]) = [p₁, p₁ p₂, p₁ p₂ p₃],   (a b): r = r_a + R_a r_b,  R = R_a R_b

    Args:
        poses: one `Pose` a joint, from the ground outwards: `chained([revolute("z", q[0]),
            revolute("z", q[1], at=[0, -1, 0])])`.

    Returns:
        As many `Pose`s, each from its frame to the outermost.

    Raises:
        ValueError: no pose is given.
    """
    if not poses:
        raise ValueError("`poses` must have at least one frame, but is empty")
    seen = [poses[0]]
    for pose in poses[1:]:
        seen.append(seen[-1] @ pose)
    return seen


def gram_schmidt(matrix: Numbers) -> Rotation:
    """The rotation next to a matrix that has drifted: its columns made orthonormal in turn.

        x = m₁/|m₁|,   y = (m₂ − (x·m₂) x)/|m₂ − (x·m₂) x|,   z = x × y

    Cheap; the first column keeps its direction, so the result depends on the columns' order. The
    third column is not read. NaN where the first two are parallel or one of them is zero.

    Args:
        matrix: columns m₁, m₂, m₃, shape (3, 3).

    Returns:
        R with columns x, y, z, shape (3, 3).

    Raises:
        ValueError: another shape, or a number that is not finite.
    """
    m = matrix3(matrix, "matrix")
    x = m[:, 0] / jnp.sqrt(m[:, 0] @ m[:, 0])
    y = m[:, 1] - (x @ m[:, 1]) * x
    y = y / jnp.sqrt(y @ y)
    return jnp.stack([x, y, jnp.cross(x, y)], axis=1)


def polar(matrix: Numbers) -> Rotation:
    """The rotation nearest to a matrix that has drifted (least squares), shape (3, 3).

        R = U diag(1, 1, ±1) Vᵀ of M = U Σ Vᵀ,   the sign that of det U Vᵀ

    Its derivative is that of the polar decomposition M = R P, which exists at equal singular
    values as well: Ṙ = R ω̂ with (tr P 1 − P) ω = vee(Rᵀ Ṁ − Ṁᵀ R). Only where the two smallest are
    both zero, or equal in a matrix that mirrors, is R not unique; there it has no derivative.

    Args:
        matrix: M, shape (3, 3).

    Raises:
        ValueError: another shape, or a number that is not finite.
    """
    return _polar(jnp.asarray(matrix3(matrix, "matrix")))


@jax.custom_jvp
def _polar(matrix: Rotation) -> Rotation:
    u, _, vt = jnp.linalg.svd(matrix)
    sign = jnp.linalg.det(u @ vt)  # a reflection is not a rotation
    return (u * jnp.array([1.0, 1.0, 1.0]).at[2].set(sign)) @ vt


@_polar.defjvp
def _polar_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    (matrix,), (rate,) = primals, tangents
    rotation = _polar(matrix)
    stretch = rotation.T @ matrix
    inside = rotation.T @ rate
    inertia = jnp.trace(stretch) * jnp.eye(3, dtype=matrix.dtype) - 0.5 * (stretch + stretch.T)
    omega = jnp.linalg.solve(inertia, vee(inside - inside.T))
    return rotation, rotation @ hat(omega)
