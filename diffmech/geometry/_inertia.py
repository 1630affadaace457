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
    """A point mass, about the origin, shape (3, 3) [kg m²].

        I = m (r² 1 − r rᵀ)

    Args:
        mass: m [kg].
        position: r from the origin, shape (3,) [m].

    Raises:
        ValueError: a negative mass, or a position that is not three finite numbers.
    """
    r = vector3(position, "position")
    return _size(mass, "mass") * ((r @ r) * jnp.eye(3, dtype=r.dtype) - jnp.outer(r, r))


def dumbbell(mass: Number, length: Number) -> Tensor:
    """Two points of m/2 each, at z = ±l/2, about their middle, shape (3, 3) [kg m²].

        I = diag(a, a, 0),   a = m l²/4

    Args:
        mass: of both together, m [kg].
        length: the distance between them, l [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    across = _size(mass, "mass") * _size(length, "length") ** 2 / 4
    return _diagonal(across, across, 0.0 * across)


def rod(mass: Number, length: Number) -> Tensor:
    """A thin uniform rod along z, about its middle, shape (3, 3) [kg m²].

        I = diag(a, a, 0),   a = m l²/12

    Args:
        mass: m [kg].
        length: l [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    across = _size(mass, "mass") * _size(length, "length") ** 2 / 12
    return _diagonal(across, across, 0.0 * across)


def hoop(mass: Number, radius: Number) -> Tensor:
    """A thin uniform ring, its axis z, about its centre, shape (3, 3) [kg m²].

        I = m r² diag(1/2, 1/2, 1)

    Args:
        mass: m [kg].
        radius: r [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    axial = _size(mass, "mass") * _size(radius, "radius") ** 2
    return _diagonal(axial / 2, axial / 2, axial)


def disc(mass: Number, radius: Number) -> Tensor:
    """A thin uniform disc, its axis z, about its centre, shape (3, 3) [kg m²].

        I = m r² diag(1/4, 1/4, 1/2)

    Args:
        mass: m [kg].
        radius: r [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    return hoop(mass, radius) / 2


def plate(mass: Number, x: Number, y: Number) -> Tensor:
    """A thin uniform rectangle, its normal z, about its centre, shape (3, 3) [kg m²].

        I = m/12 diag(y², x², x² + y²)

    Args:
        mass: m [kg].
        x, y: the sides along these axes [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    return box(mass, x, y, 0.0)


def lamina(xx: Number, yy: Number, xy: Number = 0.0) -> Tensor:
    """Any body in the plane z = 0, from two moments and a product, shape (3, 3) [kg m²].

        I₁₁ = ∫ y² dm,   I₂₂ = ∫ x² dm,   I₁₂ = I₂₁ = −∫ x y dm,   I₃₃ = I₁₁ + I₂₂

    About the origin of x and y, which need not be the mass centre.

    Args:
        xx, yy: I₁₁ and I₂₂ [kg m²].
        xy: I₁₂ with its sign [kg m²].

    Raises:
        ValueError: numbers that no body has: I₁₁ I₂₂ < I₁₂², or a negative moment.
    """
    a, b, c = (as_array(value) for value in (xx, yy, xy))
    zero = 0.0 * a
    tensor = jnp.array([[a, c, zero], [c, b, zero], [zero, zero, a + b]])
    return require_inertia(tensor)


def box(mass: Number, x: Number, y: Number, z: Number) -> Tensor:
    """A uniform box, its sides along the axes, about its centre, shape (3, 3) [kg m²].

        I = m/12 diag(y² + z², x² + z², x² + y²)

    Args:
        mass: m [kg].
        x, y, z: the sides along these axes, whole, not halved [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    m = _size(mass, "mass") / 12
    x2, y2, z2 = (_size(side, label) ** 2 for side, label in ((x, "x"), (y, "y"), (z, "z")))
    return _diagonal(m * (y2 + z2), m * (x2 + z2), m * (x2 + y2))


def ellipsoid(mass: Number, a: Number, b: Number, c: Number) -> Tensor:
    """A uniform ellipsoid, its axes those of the body, about its centre, shape (3, 3) [kg m²].

        I = m/5 diag(b² + c², a² + c², a² + b²)

    Args:
        mass: m [kg].
        a, b, c: half axes along x, y, z [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    m = _size(mass, "mass") / 5
    a2, b2, c2 = (_size(half, label) ** 2 for half, label in ((a, "a"), (b, "b"), (c, "c")))
    return _diagonal(m * (b2 + c2), m * (a2 + c2), m * (a2 + b2))


def ball(mass: Number, radius: Number) -> Tensor:
    """A uniform ball about its centre, shape (3, 3) [kg m²].

        I = 2/5 m r² 1

    Args:
        mass: m [kg].
        radius: r [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    return ellipsoid(mass, radius, radius, radius)


def cylinder(mass: Number, radius: Number, height: Number) -> Tensor:
    """A uniform cylinder, its axis z, about its centre, shape (3, 3) [kg m²].

        I = diag(a, a, m r²/2),   a = m (3 r² + h²)/12

    Args:
        mass: m [kg].
        radius: r [m].
        height: h, along z [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    m, r2, h2 = _size(mass, "mass"), _size(radius, "radius") ** 2, _size(height, "height") ** 2
    across = m * (3 * r2 + h2) / 12
    return _diagonal(across, across, m * r2 / 2)


def cone(mass: Number, radius: Number, height: Number) -> Tensor:
    """A uniform circular cone, its axis z, about its mass centre, shape (3, 3) [kg m²].

        I = diag(a, a, 3/10 m r²),   a = 3/80 m (4 r² + h²)

    The mass centre is on the axis, h/4 from the base; the tip may be up or down.

    Args:
        mass: m [kg].
        radius: of the base, r [m].
        height: h [m].

    Raises:
        ValueError: the mass or a length is negative or NaN.
    """
    m, r2, h2 = _size(mass, "mass"), _size(radius, "radius") ** 2, _size(height, "height") ** 2
    across = 3 / 80 * m * (4 * r2 + h2)
    return _diagonal(across, across, 3 / 10 * m * r2)


def jack(masses: Numbers, arm: Number) -> Tensor:
    """Six points, a pair on every axis at ±d, about their centre, shape (3, 3) [kg m²].

        I = 2 d² diag(m₂ + m₃, m₁ + m₃, m₁ + m₂)

    Args:
        masses: mᵢ of each of the two points on axis i, shape (3,) [kg]; together 2 (m₁ + m₂ + m₃).
        arm: d, from the centre to each point [m].

    Raises:
        ValueError: a negative mass or arm, or masses that are not three finite numbers.
    """
    m, d2 = vector3(masses, "masses"), _size(arm, "arm") ** 2
    if not is_traced(m) and np.any(np.asarray(m) < 0):
        raise ValueError(f"`masses` must not be negative, but are {np.asarray(m).tolist()}")
    return jnp.diag(2 * d2 * (jnp.sum(m) - m))


def jack_masses(moments: Numbers, arm: Number) -> Vector3:
    """The masses of the jack that has given principal moments, shape (3,) [kg].

        mᵢ = (I_j + I_k − I_i)/(4 d²),   each of a pair

    Every rigid body moves like such a jack, with mass added at its centre (or taken away) until the
    whole is right.

    Args:
        moments: I₁, I₂, I₃, shape (3,) [kg m²].
        arm: d, from the centre to each point [m].

    Raises:
        ValueError: moments that no body has, or an arm that is not greater than zero.
    """
    values = vector3(moments, "moments")
    require_inertia(jnp.diag(values))
    return (jnp.sum(values) - 2 * values) / (4 * as_scalar(arm, "arm", positive=True) ** 2)


def tensor_of(inertia: Numbers) -> Tensor:
    """The tensor, also where only its three principal moments are given, shape (3, 3) [kg m²].

        I = diag(I₁, I₂, I₃)

    Whether a body can have it is asked by `require_inertia`, not here.

    Args:
        inertia: the tensor, shape (3, 3), returned as it is, or the moments, shape (3,) [kg m²].

    Raises:
        ValueError: a number, or an array of two axes or more that is not (3, 3).
    """
    given = as_array(inertia)
    return jnp.diag(given) if given.ndim == 1 else matrix3(given, "inertia")


def parallel_axis(inertia: Numbers, mass: Number, offset: Numbers) -> Tensor:
    """The tensor about another point than the mass centre, shape (3, 3) [kg m²].

        I_P = I + m (d² 1 − d dᵀ)

    The axes keep their directions. From P to the mass centre the same term is taken away: that is
    `inertia − point(mass, offset)`.

    Args:
        inertia: I about the mass centre, shape (3, 3) [kg m²].
        mass: m [kg].
        offset: d, from the mass centre to P or back, in the axes of I, shape (3,) [m].

    Raises:
        ValueError: another shape, a number that is not finite, or a negative mass.
    """
    return matrix3(inertia, "inertia") + point(mass, offset)


def rotated(inertia: Numbers, rotation: Numbers) -> Tensor:
    """The tensor in the axes of space, shape (3, 3) [kg m²].

        I_space = R I Rᵀ

    Args:
        inertia: I in the body's axes, shape (3, 3) [kg m²].
        rotation: R, body to space, shape (3, 3).

    Raises:
        ValueError: another shape, or R is no rotation: R Rᵀ is not 1, or det R is not 1.
    """
    turn = rotation3(rotation, "rotation")
    return turn @ matrix3(inertia, "inertia") @ turn.T


def composed(
    parts: Sequence[tuple[Number, Numbers, Numbers]],
) -> tuple[jax.Array | np.ndarray, Vector3, Tensor]:
    """Mass, mass centre and inertia of several bodies that are rigidly joined.

        m = Σ mᵢ,   c = Σ mᵢ cᵢ / m,   I = Σ Iᵢ + mᵢ (dᵢ² 1 − dᵢ dᵢᵀ),   dᵢ = cᵢ − c

    All in the same axes: a part that is turned takes its tensor through `rotated` first.

    Args:
        parts: of each body (mᵢ [kg], its mass centre cᵢ of shape (3,) [m], its tensor about that
            of shape (3, 3) [kg m²]).

    Returns:
        m, shape () [kg]; c, shape (3,) [m]; I about c, shape (3, 3) [kg m²]. Without any mass, c
        and I are NaN.

    Raises:
        ValueError: no body, a negative mass, or another shape.
    """
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
    """Principal moments of a tensor, and the rotation to their axes.

        I = R diag(I₁, I₂, I₃) Rᵀ,   I₁ ≤ I₂ ≤ I₃,   det R = 1

    Args:
        inertia: I, shape (3, 3) [kg m²]; only its symmetric part counts.

    Returns:
        The moments, shape (3,) [kg m²], and R, shape (3, 3), whose columns are their axes. The sign
        of an axis is arbitrary; of equal moments the axes are too, and their derivative is NaN.

    Raises:
        ValueError: another shape, or a number that is not finite.
    """
    moments, axes = jnp.linalg.eigh(matrix3(inertia, "inertia"))
    flip = jnp.where(jnp.linalg.det(axes) < 0, -1.0, 1.0)
    return moments, axes * jnp.array([1.0, 1.0, 1.0]).at[2].set(flip)


def require_inertia(inertia: Numbers, label: str = "inertia") -> AnyArray:
    """A tensor, or three principal moments, if a body can have it; traced values are let through.

        I = Iᵀ,   I₁ ≥ 0,   I₁ + I₂ ≥ I₃   of the moments in rising order

    Args:
        inertia: shape (3, 3), or (3,) for principal moments [kg m²].
        label: what it is called in the message.

    Returns:
        The same numbers as an array, of the shape given.

    Raises:
        ValueError: another shape, not symmetric, a negative moment, or I₁ + I₂ < I₃ beyond
            round-off (equality belongs to flat bodies), that of the coarsest precision the numbers
            were kept in.
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
