"""Rotations: matrices, quaternions, axis and angle, rotation vectors.

Conventions, for everything in this room. A rotation is a matrix R that takes components in the body
to components in space, v_space = R v_body; its columns are the body's axes seen from space. Angles
are right-handed [rad]. Quaternions are (w, x, y, z), the scalar first, of unit length; q and −q are
the same rotation. Composition is the matrix product: R₁ R₂ turns by R₂ first, then by R₁.
"""

import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from .._typing import Number, Numbers, Scalar
from ._typing import Quaternion, Rotation, Vector3, rotation3, shaped, vector3

_SMALL_ANGLE = 1e-2  # [rad] below, series: their first left-out term is under 1e-17 there


def hat(v: Vector3) -> Rotation:
    """The matrix of the cross product with v, shape (3, 3), in the unit of v.

        hat(v) w = v × w,   hat(v) = [[0, −v₃, v₂], [v₃, 0, −v₁], [−v₂, v₁, 0]]

    Args:
        v: three numbers.

    Raises:
        ValueError: there are not three.
    """
    x, y, z = v
    zero = jnp.zeros_like(x)
    return jnp.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def vee(matrix: Rotation) -> Vector3:
    """The vector of a skew matrix, shape (3,), the inverse of `hat`: vee(hat(v)) = v.

        vee(S) = ½ (S₃₂ − S₂₃, S₁₃ − S₃₁, S₂₁ − S₁₂)

    Args:
        matrix: S, an array of shape (3, 3); its symmetric part is ignored.
    """
    skew = 0.5 * (matrix - matrix.T)
    return jnp.array([skew[2, 1], skew[0, 2], skew[1, 0]])


def rotation_about(axis: int, angle: Number) -> Rotation:
    """R of a turn about a coordinate axis, shape (3, 3); right-handed.

    Args:
        axis: 0, 1 or 2 for x, y or z.
        angle: [rad], shape ().

    Raises:
        KeyError: another axis.
    """
    c, s = jnp.cos(angle), jnp.sin(angle)
    one, zero = jnp.ones_like(c), jnp.zeros_like(c)
    rows = {
        0: [[one, zero, zero], [zero, c, -s], [zero, s, c]],
        1: [[c, zero, s], [zero, one, zero], [-s, zero, c]],
        2: [[c, -s, zero], [s, c, zero], [zero, zero, one]],
    }
    return jnp.array(rows[axis])


def _series_or(x2: Scalar, series: tuple[float, ...], otherwise: Scalar) -> Scalar:
    """Σ series[i] x2ⁱ where x² is small, else the closed form (given for a safe argument)."""
    small = x2 < _SMALL_ANGLE**2
    value = jnp.zeros_like(x2)
    for coefficient in reversed(series):
        value = coefficient + x2 * value
    return jnp.where(small, value, otherwise)


def _safe_angle(x2: Scalar) -> Scalar:
    """√x², or 1 where it is small: its derivative at 0 would be infinite."""
    return jnp.sqrt(jnp.where(x2 < _SMALL_ANGLE**2, 1.0, x2))


def sinc(x2: Scalar) -> Scalar:
    """sin(x)/x as a smooth function of x²."""
    x = _safe_angle(x2)
    return _series_or(x2, (1.0, -1 / 6, 1 / 120, -1 / 5040), jnp.sin(x) / x)


def cosc(x2: Scalar) -> Scalar:
    """(1 − cos x)/x² as a smooth function of x²."""
    x = _safe_angle(x2)
    return _series_or(x2, (1 / 2, -1 / 24, 1 / 720, -1 / 40320), 2 * jnp.sin(x / 2) ** 2 / x**2)


def from_rotation_vector(v: Numbers) -> Rotation:
    """R of a turn by |v| about v, shape (3, 3); right-handed.

        R = 1 + sin φ/φ v̂ + (1 − cos φ)/φ² v̂²,   φ = |v|

    Smooth everywhere, at 0 as well.

    Args:
        v: shape (3,) [rad].

    Raises:
        ValueError: not three finite numbers.
    """
    v = vector3(v, "v")
    x2 = v @ v
    cross = hat(v)
    return jnp.eye(3, dtype=cross.dtype) + sinc(x2) * cross + cosc(x2) * (cross @ cross)


def from_axis_angle(axis: Numbers, angle: Number) -> Rotation:
    """R of a turn by an angle about an axis, shape (3, 3); right-handed.

        R = 1 + sin φ â + (1 − cos φ) â²,   a = axis/|axis|

    Args:
        axis: of any length but zero, shape (3,).
        angle: φ [rad].

    Raises:
        ValueError: an axis without length, or not three finite numbers; a traced one without
            length gives NaN.
    """
    axis = vector3(axis, "axis")
    if not is_traced(axis) and not np.any(np.asarray(axis)):
        raise ValueError("`axis` must have a length, but is zero")
    return from_rotation_vector(angle * axis / jnp.sqrt(axis @ axis))


def from_quaternion(q: Numbers) -> Rotation:
    """R of a quaternion (w, x, y, z), shape (3, 3); one that is not of unit length is normalised.

        R = 1 + 2 (w v̂ + v̂²)/|q|²,   v = (x, y, z)

    Args:
        q: shape (4,).

    Raises:
        ValueError: a quaternion that is zero, or not four finite numbers; a traced zero gives NaN.
    """
    q = shaped(q, (4,), "q")
    if not is_traced(q) and not np.any(np.asarray(q)):
        raise ValueError("`q` must have a length, but is zero")
    w, v = q[0], q[1:]
    square = q @ q
    twice = 2 / square
    eye = jnp.eye(3, dtype=q.dtype)
    return eye + twice * (w * hat(v) + hat(v) @ hat(v))


def to_quaternion(rotation: Numbers) -> Quaternion:
    """The quaternion (w, x, y, z) of R with w ≥ 0, of unit length, shape (4,).

    Where w = 0 (half turns) either sign is a right answer. Of four formulas the one with the
    largest divisor is taken, so that it is exact at 0 and at π, and its derivative is finite
    everywhere: S. W. Shepperd, "Quaternion from rotation matrix", Journal of Guidance and Control
    1(3) (1978) 223-224.

    Args:
        rotation: R, shape (3, 3).

    Raises:
        ValueError: not of shape (3, 3), or no rotation.
    """
    r = rotation3(rotation, "rotation")
    x, y, z = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    # Each row is 4 qᵢ q for one i; its own entry is 4 qᵢ².
    rows = jnp.array(
        [
            [1 + trace, x, y, z],
            [x, 1 + 2 * r[0, 0] - trace, xy, xz],
            [y, xy, 1 + 2 * r[1, 1] - trace, yz],
            [z, xz, yz, 1 + 2 * r[2, 2] - trace],
        ]
    )
    best = rows[jnp.argmax(jnp.diagonal(rows))]
    q = best / jnp.sqrt(best @ best)
    return jnp.where(q[0] < 0, -q, q)


def to_rotation_vector(rotation: Numbers) -> Vector3:
    """The vector v with |v| ≤ π of R, a turn by |v| about v, shape (3,) [rad].

    At half turns v and −v are both right; the derivative exists everywhere else, at 0 too.

    Args:
        rotation: R, shape (3, 3).

    Raises:
        ValueError: not of shape (3, 3), or no rotation.
    """
    q = to_quaternion(rotation)
    w, v = q[0], q[1:]
    s2 = v @ v
    s = jnp.sqrt(jnp.where(s2 < _SMALL_ANGLE**2, 1.0, s2))
    # 2 atan2(s, w)/s, with its series 2/w (1 − t²/3 + t⁴/5 − ...) in t = s/w where s is small.
    t2 = s2 / jnp.where(s2 < _SMALL_ANGLE**2, w, 1.0) ** 2
    series = (2 / jnp.where(s2 < _SMALL_ANGLE**2, w, 1.0)) * (
        1 - t2 / 3 + t2**2 / 5 - t2**3 / 7 + t2**4 / 9
    )
    return v * jnp.where(s2 < _SMALL_ANGLE**2, series, 2 * jnp.arctan2(s, w) / s)


def to_axis_angle(rotation: Numbers) -> tuple[Vector3, Scalar]:
    """Axis and angle of R; without rotation the axis is (1, 0, 0).

    Args:
        rotation: R, shape (3, 3).

    Returns:
        The axis, of unit length, shape (3,), and the angle in [0, π], shape () [rad].

    Raises:
        ValueError: not of shape (3, 3), or no rotation.
    """
    v = to_rotation_vector(rotation)
    square = v @ v
    none = square == 0
    angle = jnp.sqrt(jnp.where(none, 1.0, square))
    axis = jnp.where(none, jnp.array([1.0, 0.0, 0.0], v.dtype), v / angle)
    return axis, jnp.where(none, 0.0, jnp.minimum(angle, jnp.pi))


def quaternion_product(p: Numbers, q: Numbers) -> Quaternion:
    """p ⊗ q, shape (4,): the rotation q first, then p.

        p ⊗ q = (p₀ q₀ − p·q, p₀ q + q₀ p + p × q),   of scalar parts p₀, q₀ and vector parts p, q

    so that from_quaternion(p ⊗ q) = from_quaternion(p) from_quaternion(q). Nothing is normalised.

    Args:
        p, q: (w, x, y, z), shape (4,).

    Raises:
        ValueError: not four finite numbers.
    """
    p, q = shaped(p, (4,), "p"), shaped(q, (4,), "q")
    vector = p[0] * q[1:] + q[0] * p[1:] + jnp.cross(p[1:], q[1:])
    return jnp.concatenate([(p[0] * q[0] - p[1:] @ q[1:])[None], vector])


def quaternion_inverse(q: Numbers) -> Quaternion:
    """The opposite rotation, shape (4,).

        q⁻¹ = q*/|q|²,   q* = (w, −x, −y, −z),   q⁻¹ ⊗ q = (1, 0, 0, 0)

    Args:
        q: (w, x, y, z), shape (4,), of any length but zero, which gives NaN.

    Raises:
        ValueError: not four finite numbers.
    """
    q = shaped(q, (4,), "q")
    return jnp.concatenate([q[:1], -q[1:]]) / (q @ q)


def angle_between(first: Numbers, second: Numbers) -> Scalar:
    """The angle of the turn from one rotation to another, in [0, π], shape () [rad].

        φ = the angle of R₁ᵀ R₂

    Args:
        first, second: R₁ and R₂, shape (3, 3).

    Raises:
        ValueError: not of shape (3, 3), or no rotation.
    """
    return to_axis_angle(rotation3(first, "first").T @ rotation3(second, "second"))[1]
