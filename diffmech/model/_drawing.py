"""How a machine is drawn: points, rods, springs and dampers between them, plates they span."""

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .._checks import trial_trace
from .._typing import Params
from ._abstract_arguments import trial_arguments

Links = tuple[tuple[int, int], ...]
Faces = tuple[tuple[int, ...], ...]


class Lines(NamedTuple):
    """What joins landmarks, as every system keeps it."""

    links: Links
    springs: Links
    dampers: Links
    faces: Faces


def checked_drawing(
    landmarks: Callable[..., Any] | None,
    n: int,
    params: Params,
    *,
    links: Sequence[Sequence[int]],
    springs: Sequence[Sequence[int]],
    dampers: Sequence[Sequence[int]],
    faces: Sequence[Sequence[int]],
) -> Lines:
    """Links, springs, dampers and faces as every system keeps them.

    Landmarks are k points in the plane or in space; links, springs and dampers join two of them,
    faces span three or more.
    """
    given = {"links": links, "springs": springs, "dampers": dampers, "faces": faces}
    rings = {label: tuple(_indices(r, label) for r in some) for label, some in given.items()}
    if landmarks is None:
        for label, some in rings.items():
            if some:
                raise ValueError(f"`{label}` must join landmarks, but no `landmarks` are given")
        return Lines((), (), (), ())
    q, _, t, abstract = trial_arguments(n, params)
    shape = trial_trace(landmarks, "landmarks", None, q, t, abstract)
    if len(shape) != 2 or shape[0] < 1 or shape[1] not in (2, 3):
        raise ValueError(
            f"`landmarks` must return shape (k, 2) or (k, 3), k points, but returns shape {shape}"
        )
    for label, some in rings.items():
        for ring in some:
            if label == "faces" and len(ring) < 3:
                raise ValueError(f"`faces` must have three corners or more, but has {ring}")
            if label != "faces" and len(ring) != 2:
                raise ValueError(f"`{label}` must be pairs of indices, but has {ring}")
            if not all(0 <= corner < shape[0] for corner in ring):
                raise ValueError(f"`{label}` joins {ring}, but there are only {shape[0]} landmarks")
    pairs = {
        label: tuple((ring[0], ring[1]) for ring in some)
        for label, some in rings.items()
        if label != "faces"
    }
    return Lines(**pairs, faces=rings["faces"])


def _indices(ring: Any, label: str) -> tuple[int, ...]:
    try:
        return tuple(operator.index(corner) for corner in ring)
    except TypeError as error:
        raise ValueError(f"`{label}` must be tuples of indices, but has {ring!r}") from error
