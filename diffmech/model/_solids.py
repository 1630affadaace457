"""What parts look like: points, rods, springs and dampers between them, faces spanned by them.

Sizes may be parameters; faces are seen from outside counter-clockwise. A box and a disc show their
lower side (−z) in another colour, so that a flip is seen.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Number
from ..geometry import principal

_RIM = 24  # corners of a drawn circle
_CORNERS = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
_BOX_FACES = ((4, 5, 7, 6), (0, 1, 3, 2), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6))


class Shape(eqx.Module):
    """Points in body axes with links and faces between them.

    Attributes:
        points: shape (k, 3) [m].
        links: pairs of indices into the points, drawn as rods.
        faces: rings of indices, counter-clockwise seen from outside, drawn as plates.
        springs, dampers: pairs of indices, drawn as coils and dashpots.
    """

    points: AnyArray
    links: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    faces: tuple[tuple[int, ...], ...] = eqx.field(static=True, default=())
    springs: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    dampers: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())


def _scaled(corners: np.ndarray, *sizes: Number) -> AnyArray:
    return corners * jnp.stack([jnp.asarray(size, float) for size in sizes])


def box(x: Number, y: Number, z: Number) -> Shape:
    """A box with sides x, y, z [m] about the mass centre."""
    return Shape(_scaled(_CORNERS, x, y, z), faces=_BOX_FACES)


def plate(x: Number, y: Number) -> Shape:
    """A thin rectangle with sides x, y [m], its normal along z."""
    corners = np.array([[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]])
    return Shape(_scaled(corners, x, y, 1.0), faces=((0, 1, 2, 3),))


def rod(start: Sequence[Any] | AnyArray, end: Sequence[Any] | AnyArray) -> Shape:
    """A straight line between two points in body axes [m]."""
    ends = [jnp.stack([jnp.asarray(x, float) for x in end]) for end in (start, end)]
    return Shape(jnp.stack(ends), links=((0, 1),))


def disc(radius: Number) -> Shape:
    """A thin disc about z [m], with one spoke to see it turn."""
    angles = np.arange(_RIM) * (2 * np.pi / _RIM)
    rim = np.stack([np.cos(angles), np.sin(angles), np.zeros(_RIM)], axis=1)
    points = np.concatenate([rim, np.zeros((1, 3))])
    return Shape(
        _scaled(points, radius, radius, 1.0), links=((_RIM, 0),), faces=(tuple(range(_RIM)),)
    )


def together(*shapes: Shape) -> Shape:
    """Several shapes as one."""
    lines: dict[str, list[tuple[int, int]]] = {"links": [], "springs": [], "dampers": []}
    faces: list[tuple[int, ...]] = []
    count = 0
    for shape in shapes:
        for kind, pairs in lines.items():
            pairs += [(count + i, count + j) for i, j in getattr(shape, kind)]
        faces += [tuple(count + i for i in face) for face in shape.faces]
        count += shape.points.shape[0]
    points = jnp.concatenate([shape.points for shape in shapes])
    return Shape(points, faces=tuple(faces), **{kind: tuple(p) for kind, p in lines.items()})


def top(radius: Number, height: Number, tip: Number) -> Shape:
    """A disc of `radius` about z [m] on a stem through it from −tip to +height."""
    zero = jnp.zeros(())
    return together(disc(radius), rod([zero, zero, -tip], [zero, zero, height]))


def equal_box(mass: AnyArray, inertia: AnyArray) -> Shape:
    """The box with the same principal moments: sides² = 6 (I_j + I_k − I_i)/m."""
    moments, axes = principal(inertia)
    squares = 6 * (jnp.sum(moments) - 2 * moments) / jnp.where(mass > 0, mass, 1.0)
    sides = jnp.sqrt(jnp.maximum(squares, 0.0))
    return Shape((_CORNERS * sides) @ axes.T, faces=_BOX_FACES)
