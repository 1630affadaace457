"""Inertia tensors [kg m²]: about the mass centre, in body axes, unless said otherwise.

The products of inertia carry their sign: I₁₂ = −∫ x y dm, so that H = I ω. A rod lies along z, a
hoop, disc, cylinder and cone have z as their axis, a plate has z as its normal.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import ROUNDINGS, as_array, as_scalar, float_dtype, is_traced
from .._typing import AnyArray, Number, Numbers
from ._typing import Rotation, Tensor, Vector3, matrix3, rotation3, shaped, vector3

_ROUND_OFF = 1e-9  # of the largest moment: forgives printed digits, not a wrong shape


def _size(value: Number, label: str) -> jax.Array | np.ndarray:
    """A mass or length that is not negative."""
    number = as_array(value)
    if not is_traced(number) and not np.all(np.asarray(number) >= 0):
        raise ValueError(f"`{label}` must not be negative, but is {float(number):g}")
    return number


def _diagonal(x: Number, y: Number, z: Number) -> Tensor:
    return jnp.diag(jnp.stack([jnp.asarray(m) for m in (x, y, z)]))


def point(mass: Number, position: Numbers) -> Tensor:
    """A point mass, about the origin: m (r² 1 − r rᵀ)."""
    r = vector3(position, "position")
    return _size(mass, "mass") * ((r @ r) * jnp.eye(3, dtype=r.dtype) - jnp.outer(r, r))


def dumbbell(mass: Number, length: Number) -> Tensor:
    """Two points of m/2 each, `length` apart along z: m l²/4 across it, none along it."""
    across = _size(mass, "mass") * _size(length, "length") ** 2 / 4
    return _diagonal(across, across, 0.0 * across)


def rod(mass: Number, length: Number) -> Tensor:
    """A thin uniform rod along z: m l²/12 across it."""
    across = _size(mass, "mass") * _size(length, "length") ** 2 / 12
    return _diagonal(across, across, 0.0 * across)


def hoop(mass: Number, radius: Number) -> Tensor:
    """A thin ring about z: m r² about its axis, half of it across."""
    axial = _size(mass, "mass") * _size(radius, "radius") ** 2
    return _diagonal(axial / 2, axial / 2, axial)


def disc(mass: Number, radius: Number) -> Tensor:
    """A thin uniform disc about z: m r²/2 about its axis, m r²/4 across."""
    return hoop(mass, radius) / 2


def plate(mass: Number, x: Number, y: Number) -> Tensor:
    """A thin uniform rectangle with sides x and y, its normal along z."""
    return box(mass, x, y, 0.0)


def lamina(xx: Number, yy: Number, xy: Number = 0.0) -> Tensor:
    """Any body in the plane z = 0 from its moments I₁₁, I₂₂ and product I₁₂ = −∫ x y dm.

    The perpendicular axis: I₃₃ = I₁₁ + I₂₂.
    """
    a, b, c = (as_array(value) for value in (xx, yy, xy))
    zero = 0.0 * a
    tensor = jnp.array([[a, c, zero], [c, b, zero], [zero, zero, a + b]])
    return require_inertia(tensor)


def box(mass: Number, x: Number, y: Number, z: Number) -> Tensor:
    """A uniform box with sides x, y, z: I₁₁ = m (y² + z²)/12 and so on."""
    m = _size(mass, "mass") / 12
    x2, y2, z2 = (_size(side, label) ** 2 for side, label in ((x, "x"), (y, "y"), (z, "z")))
    return _diagonal(m * (y2 + z2), m * (x2 + z2), m * (x2 + y2))


def ellipsoid(mass: Number, a: Number, b: Number, c: Number) -> Tensor:
    """A uniform ellipsoid with half axes a, b, c: I₁₁ = m (b² + c²)/5 and so on."""
    m = _size(mass, "mass") / 5
    a2, b2, c2 = (_size(half, label) ** 2 for half, label in ((a, "a"), (b, "b"), (c, "c")))
    return _diagonal(m * (b2 + c2), m * (a2 + c2), m * (a2 + b2))


def ball(mass: Number, radius: Number) -> Tensor:
    """A uniform ball: 2/5 m r²."""
    return ellipsoid(mass, radius, radius, radius)


def cylinder(mass: Number, radius: Number, height: Number) -> Tensor:
    """A uniform cylinder about z: m r²/2 about its axis, m (3 r² + h²)/12 across."""
    m, r2, h2 = _size(mass, "mass"), _size(radius, "radius") ** 2, _size(height, "height") ** 2
    across = m * (3 * r2 + h2) / 12
    return _diagonal(across, across, m * r2 / 2)


def cone(mass: Number, radius: Number, height: Number) -> Tensor:
    """A uniform cone about z, about its mass centre (a quarter of the height above the base).

    3/10 m r² about its axis, 3/80 m (4 r² + h²) across.
    """
    m, r2, h2 = _size(mass, "mass"), _size(radius, "radius") ** 2, _size(height, "height") ** 2
    across = 3 / 80 * m * (4 * r2 + h2)
    return _diagonal(across, across, 3 / 10 * m * r2)


def jack(masses: Numbers, arm: Number) -> Tensor:
    """Six points: a pair of masses mᵢ each at ±arm on axis i; I₁₁ = 2 d² (m₂ + m₃) and so on."""
    m, d2 = vector3(masses, "masses"), _size(arm, "arm") ** 2
    if not is_traced(m) and np.any(np.asarray(m) < 0):
        raise ValueError(f"`masses` must not be negative, but are {np.asarray(m).tolist()}")
    return jnp.diag(2 * d2 * (jnp.sum(m) - m))


def jack_masses(moments: Numbers, arm: Number) -> Vector3:
    """The jack that has given principal moments: mᵢ = (I_j + I_k − I_i)/(4 d²), each of a pair.

    Every rigid body moves like such a jack (with mass added at its centre).

    Raises:
        ValueError: moments that no body has.
    """
    values = vector3(moments, "moments")
    require_inertia(jnp.diag(values))
    return (jnp.sum(values) - 2 * values) / (4 * as_scalar(arm, "arm", positive=True) ** 2)


def tensor_of(inertia: Numbers) -> Tensor:
    """The tensor, also where only its three principal moments are given."""
    given = as_array(inertia)
    return jnp.diag(given) if given.ndim == 1 else matrix3(given, "inertia")


def parallel_axis(inertia: Numbers, mass: Number, offset: Numbers) -> Tensor:
    """From the mass centre to a point, `offset` being the vector between them either way."""
    return matrix3(inertia, "inertia") + point(mass, offset)


def rotated(inertia: Numbers, rotation: Numbers) -> Tensor:
    """R I Rᵀ: the tensor in space when `inertia` is in the body's axes."""
    turn = rotation3(rotation, "rotation")
    return turn @ matrix3(inertia, "inertia") @ turn.T


def composed(
    parts: Sequence[tuple[Number, Numbers, Numbers]],
) -> tuple[jax.Array | np.ndarray, Vector3, Tensor]:
    """Mass, mass centre and tensor about it of bodies given as (mass, mass centre, tensor)."""
    if not parts:
        raise ValueError("`parts` must have at least one body, but is empty")
    masses = jnp.stack([jnp.asarray(_size(mass, "mass")) for mass, _, _ in parts])
    centres = jnp.stack([jnp.asarray(as_array(centre)) for _, centre, _ in parts])
    total = jnp.sum(masses)
    centre = masses @ centres / total
    tensor = sum(
        parallel_axis(inertia, masses[i], centres[i] - centre)
        for i, (_, _, inertia) in enumerate(parts)
    )
    return total, centre, tensor  # pyright: ignore[reportReturnType]


def principal(inertia: Numbers) -> tuple[Vector3, Rotation]:
    """Principal moments in rising order, and R whose columns are their axes (right-handed)."""
    moments, axes = jnp.linalg.eigh(matrix3(inertia, "inertia"))
    flip = jnp.where(jnp.linalg.det(axes) < 0, -1.0, 1.0)
    return moments, axes * jnp.array([1.0, 1.0, 1.0]).at[2].set(flip)


def require_inertia(inertia: Numbers, label: str = "inertia") -> AnyArray:
    """A tensor, or three principal moments, if a body can have it; traced values are let through.

    Raises:
        ValueError: not symmetric, a negative moment, or I₁ + I₂ < I₃ beyond round-off (equality
            belongs to flat bodies), that of the coarsest precision the numbers were kept in.
    """
    moments = len(jax.tree.leaves(inertia)) == 3 or getattr(inertia, "shape", None) == (3,)
    given = shaped(inertia, (3,) if moments else (3, 3), label)
    if is_traced(given):
        return given
    tensor = np.diag(given) if given.shape == (3,) else np.asarray(given)
    scale = _round_off(inertia) * np.max(np.abs(tensor))
    if np.max(np.abs(tensor - tensor.T)) > scale:
        raise ValueError(f"`{label}` must be symmetric, but is {tensor.tolist()}")
    low, middle, high = np.linalg.eigvalsh(tensor)
    if low < -scale:
        raise ValueError(f"`{label}` must have no negative moment, but has {low:g} kg m²")
    if low + middle < high - scale:
        raise ValueError(
            f"`{label}` must have I1 + I2 >= I3, as every body has, but its principal moments are "
            f"{low:g}, {middle:g} and {high:g} kg m²"
        )
    return given


def _round_off(inertia: Numbers) -> float:
    """Of the largest moment: what the precision in force, or of the numbers, leaves open."""
    kept = [leaf.dtype for leaf in jax.tree.leaves(inertia) if hasattr(leaf, "dtype")]
    coarse = max(float(np.finfo(kind).eps) for kind in (*kept, float_dtype()) if kind.kind == "f")
    return max(_ROUND_OFF, ROUNDINGS * coarse)
