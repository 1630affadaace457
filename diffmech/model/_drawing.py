"""How a machine is drawn: points, rods between them, plates spanned by them."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from .._checks import trial_trace
from .._typing import Params
from ._trial import trial_arguments

Links = tuple[tuple[int, int], ...]
Faces = tuple[tuple[int, ...], ...]


def checked_drawing(
    landmarks: Callable[..., Any] | None,
    links: Sequence[Sequence[int]],
    faces: Sequence[Sequence[int]],
    n: int,
    params: Params,
) -> tuple[Links, Faces]:
    """Links and faces as every system keeps them.

    Landmarks are k points in the plane or in space; links join two of them, faces span three or
    more.
    """
    rods = tuple(_indices(link, "links") for link in links)
    plates = tuple(_indices(face, "faces") for face in faces)
    if landmarks is None:
        if rods or plates:
            label = "links" if rods else "faces"
            raise ValueError(f"`{label}` must join landmarks, but no `landmarks` are given")
        return (), ()
    q, _, t, abstract = trial_arguments(n, params)
    shape = trial_trace(landmarks, "landmarks", None, q, t, abstract)
    if len(shape) != 2 or shape[0] < 1 or shape[1] not in (2, 3):
        raise ValueError(
            f"`landmarks` must return shape (k, 2) or (k, 3), k points, but returns shape {shape}"
        )
    pairs = []
    for rod in rods:
        if len(rod) != 2:
            raise ValueError(f"`links` must be pairs of indices, but has {rod}")
        pairs.append((rod[0], rod[1]))
    for plate in plates:
        if len(plate) < 3:
            raise ValueError(f"`faces` must have three corners or more, but has {plate}")
    for label, rings in (("links", rods), ("faces", plates)):
        for ring in rings:
            if not all(0 <= corner < shape[0] for corner in ring):
                raise ValueError(f"`{label}` joins {ring}, but there are only {shape[0]} landmarks")
    return tuple(pairs), plates


def _indices(ring: Any, label: str) -> tuple[int, ...]:
    try:
        return tuple(operator.index(corner) for corner in ring)
    except TypeError as error:
        raise ValueError(f"`{label}` must be tuples of indices, but has {ring!r}") from error
