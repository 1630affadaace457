"""The 24 Euler conventions, named as SciPy names them.

Upper case turns about the body's axes as they stand (intrinsic): "ZXZ" is R = R_z(a) R_x(b) R_z(c).
Lower case turns about the axes of space (extrinsic): "zxz" is R = R_z(c) R_x(b) R_z(a). The twelve
with three different axes have poles at b = ±π/2, the twelve with equal outer axes at b = 0 and π:
there the first and the third angle turn about the same axis.
"""

import itertools

import jax.numpy as jnp

from .._suggest import quoted, suggestion
from .._typing import Numbers, Scalar
from ._rotations import rotation_about
from ._typing import Rotation, Vector3, rotation3, vector3

SEQUENCES: tuple[str, ...] = tuple(
    "".join(letters)
    for axes in ("XYZ", "xyz")
    for letters in itertools.product(axes, repeat=3)
    if letters[0] != letters[1] != letters[2]
)


def axes_of(sequence: str) -> tuple[int, int, int, bool]:
    """The three axes in intrinsic order, and whether that is the order given."""
    if sequence not in SEQUENCES:
        raise ValueError(
            f"there is no Euler sequence {quoted(sequence)}.{suggestion(str(sequence), SEQUENCES)}"
        )
    i, j, k = ("xyz".index(letter) for letter in sequence.lower())
    return (i, j, k, True) if sequence.isupper() else (k, j, i, False)


def from_euler(sequence: str, angles: Numbers) -> Rotation:
    """R of three angles in one of the 24 `SEQUENCES`, shape (3, 3); smooth everywhere.

        "XYZ": R = R_x(a) R_y(b) R_z(c),   "xyz": R = R_z(c) R_y(b) R_x(a)

    Args:
        sequence: three letters, upper case about the body's axes, lower case about those of space.
        angles: a, b, c in the order of the letters, shape (3,) [rad].

    Raises:
        ValueError: there is no such sequence, or not three finite numbers.
    """
    angles = vector3(angles, "angles")
    i, j, k, intrinsic = axes_of(sequence)
    a, b, c = angles if intrinsic else angles[::-1]
    return rotation_about(i, a) @ rotation_about(j, b) @ rotation_about(k, c)


def _parity(i: int, j: int, k: int) -> int:
    """+1 for an even permutation of the axes, −1 for an odd one."""
    return 1 if (j - i) % 3 == 1 and (k - j) % 3 == 1 else -1


def _angle_of(sine: Scalar, cosine: Scalar) -> Scalar:
    """atan2; zero, with zero derivative, where both are mere rounding: at a pole any angle does."""
    rounding = 4 * jnp.finfo(sine.dtype).eps
    undetermined = (jnp.abs(sine) < rounding) & (jnp.abs(cosine) < rounding)
    return jnp.where(undetermined, 0.0, jnp.arctan2(sine, jnp.where(undetermined, 1.0, cosine)))


def to_euler(sequence: str, rotation: Numbers) -> Vector3:
    """Three angles [rad] of R: the outer two in (−π, π], the middle one in [−π/2, π/2] if all axes
    differ, else in [0, π].

    The first angle comes from entries that vanish at a pole; the third then from what the first has
    left, which never vanishes. So the angles always give back R to round-off, at the poles too,
    where the first angle is arbitrary and its derivative does not exist.
    """
    r = rotation3(rotation, "rotation")
    i, j, k, intrinsic = axes_of(sequence)
    if i == k:
        last = 3 - i - j
        sign = _parity(i, j, last)
        a = _angle_of(r[j, i], -sign * r[last, i])
        rest = rotation_about(i, a).T @ r
        b = jnp.arctan2(-sign * rest[last, i], rest[i, i])
        b = jnp.where(b < 0, -b, b)  # only rounding at a pole is below zero
        c = jnp.arctan2(-sign * rest[j, last], rest[j, j])
    else:
        sign = _parity(i, j, k)
        a = _angle_of(-sign * r[j, k], r[k, k])
        rest = rotation_about(i, a).T @ r
        b = jnp.arctan2(sign * rest[i, k], rest[k, k])
        c = jnp.arctan2(sign * rest[j, i], rest[j, j])
    angles = jnp.array([a, b, c])
    return angles if intrinsic else angles[::-1]


def pole_distance(sequence: str, angles: Numbers) -> Scalar:
    """How far from a pole three angles are, from 0 (at it) to 1, shape ().

        |cos b| where all three axes differ, |sin b| where the outer two are equal

    It is also |det| of the matrix from the angles' rates to the angular velocity.

    Args:
        sequence: one of the `SEQUENCES`.
        angles: a, b, c, shape (3,) [rad].

    Raises:
        ValueError: there is no such sequence, or not three finite numbers.
    """
    angles = vector3(angles, "angles")
    i, _, k, _ = axes_of(sequence)
    return jnp.abs(jnp.sin(angles[1]) if i == k else jnp.cos(angles[1]))
