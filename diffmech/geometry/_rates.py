"""Angular velocity from any description of a rotation and its rates, and back.

A description is a function from numbers x to R(x). With Ṙ = (∂R/∂x) ẋ,

    ω̂_space = Ṙ Rᵀ,   ω̂_body = Rᵀ Ṙ,   ω_space = R ω_body  [rad/s].
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .._checks import as_array
from .._typing import AnyArray, Numbers
from ._rotations import cosc, hat, quaternion_product, sinc, vee
from ._typing import Quaternion, Rotation, Vector3, rotation3, shaped, vector3

_FRAMES = ("body", "space")


def _require_frame(frame: str) -> None:
    if frame not in _FRAMES:
        raise ValueError(f"`frame` must be 'body' or 'space', but is {frame!r}")


def angular_velocity(
    rotation: Callable[[Any], Rotation], x: Numbers, xd: Numbers, *, frame: str = "body"
) -> Vector3:
    """ω of the rotation R(x) when x changes at the rate ẋ, shape (3,) [rad/s].

        ω̂_body = Rᵀ Ṙ,   ω̂_space = Ṙ Rᵀ,   Ṙ = (∂R/∂x) ẋ

        angular_velocity(from_quaternion, q, qd)
        angular_velocity(lambda x: from_euler("ZXZ", x), angles, rates, frame="space")

    Args:
        rotation: the function x -> R, shape (3, 3), of JAX operations.
        x: what describes the rotation, shape (k,).
        xd: ẋ, shape (k,) [per second].
        frame: components along the axes of the "body" or of "space".

    Raises:
        ValueError: another `frame`.
    """
    _require_frame(frame)
    r, rd = jax.jvp(rotation, (as_array(x),), (as_array(xd),))
    return vee(r.T @ rd) if frame == "body" else vee(rd @ r.T)


def velocity_matrix(
    rotation: Callable[[Any], Rotation], x: Numbers, *, frame: str = "body"
) -> AnyArray:
    """The matrix W from the rates of a description to the angular velocity, shape (3, k).

        ω = W(x) ẋ

    Args:
        rotation, x, frame: as for `angular_velocity`, x of shape (k,).

    Raises:
        ValueError: another `frame`.
    """
    x = as_array(x)
    return jax.jacfwd(lambda xd: angular_velocity(rotation, x, xd, frame=frame))(jnp.zeros_like(x))


def rates_of(
    rotation: Callable[[Any], Rotation], x: Numbers, omega: Numbers, *, frame: str = "body"
) -> AnyArray:
    """The rates ẋ of three numbers that describe R, from ω, shape (3,) [per second].

        W(x) ẋ = ω

    At a pole of the description there are none: infinite or NaN, never silently wrong. Euler angles
    come near one where `pole_distance` is small.

    Args:
        rotation, x, frame: as for `angular_velocity`, x of shape (3,).
        omega: ω in components of `frame`, shape (3,) [rad/s].

    Raises:
        ValueError: x is not three numbers, ω not three finite ones, or another `frame`.
    """
    matrix = velocity_matrix(rotation, x, frame=frame)
    if matrix.shape != (3, 3):
        raise ValueError(
            f"`x` must be three numbers, but has shape {matrix.shape[1:]}; for quaternions use "
            "`quaternion_rates`"
        )
    return jnp.linalg.solve(matrix, vector3(omega, "omega"))


def quaternion_rates(q: Numbers, omega: Numbers, *, frame: str = "body") -> Quaternion:
    """The rates of a quaternion that turns with ω, shape (4,) [1/s]; no pole anywhere.

        q̇ = ½ q ⊗ ω_body = ½ ω_space ⊗ q,   ω as the quaternion (0, ω)

    Args:
        q: (w, x, y, z), shape (4,).
        omega: ω in components of `frame`, "body" or "space", shape (3,) [rad/s].

    Raises:
        ValueError: another shape, a number that is not finite, or another `frame`.
    """
    q, omega = shaped(q, (4,), "q"), vector3(omega, "omega")
    _require_frame(frame)
    pure = jnp.concatenate([jnp.zeros_like(omega[:1]), omega])
    product = quaternion_product(q, pure) if frame == "body" else quaternion_product(pure, q)
    return 0.5 * product


def rotation_rates(rotation: Numbers, omega: Numbers, *, frame: str = "body") -> Rotation:
    """The rate of a rotation matrix that turns with ω, shape (3, 3) [1/s].

        Ṙ = R ω̂_body = ω̂_space R

    Args:
        rotation: R, shape (3, 3).
        omega: ω in components of `frame`, "body" or "space", shape (3,) [rad/s].

    Raises:
        ValueError: R is no rotation, ω not three finite numbers, or another `frame`.
    """
    rotation, omega = rotation3(rotation, "rotation"), vector3(omega, "omega")
    _require_frame(frame)
    return rotation @ hat(omega) if frame == "body" else hat(omega) @ rotation


def rotation_vector_rates(v: Numbers, omega: Numbers, *, frame: str = "body") -> Vector3:
    """The rates of a rotation vector that turns with ω, shape (3,) [rad/s].

        v̇ = ω ± ½ v × ω + (1/φ² − (1 + cos φ)/(2 φ sin φ)) v × (v × ω),   φ = |v|

    with + for ω in the body and − in space. Smooth at 0; there is a pole where φ = 2π.

    Args:
        v: shape (3,) [rad].
        omega: ω in components of `frame`, "body" or "space", shape (3,) [rad/s].

    Raises:
        ValueError: another shape, a number that is not finite, or another `frame`.
    """
    v, omega = vector3(v, "v"), vector3(omega, "omega")
    _require_frame(frame)
    x2 = v @ v
    # (1 − φ/2 cot φ/2)/φ², whose value at 0 is 1/12, from functions smooth there.
    cubic = _sinc_slope(x2) / (2 * cosc(x2))
    sign = 0.5 if frame == "body" else -0.5
    return omega + sign * jnp.cross(v, omega) + cubic * jnp.cross(v, jnp.cross(v, omega))


def _sinc_slope(x2: Any) -> Any:
    """(2 (1 − cos φ)/φ² − sin φ/φ)/φ², smooth: the numerator of the cubic term above."""
    safe = jnp.where(x2 < 1e-2, 1.0, x2)
    series = 1 / 12 + x2 * (-1 / 180 + x2 * (1 / 6720 + x2 * (-1 / 453600 + x2 / 47900160)))
    return jnp.where(x2 < 1e-2, series, (2 * cosc(safe) - sinc(safe)) / safe)
