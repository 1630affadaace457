"""What a drawing of one run must hold: points in time, what joins them, how far they reach."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from .._batches import in_batches
from .._fingerprint import version_of
from ..model import AbstractSystem, DrawingOfParts
from ..simulation import Trajectory

_AT_REST = 1e-9  # of the drawing's size: a point that moves less is fixed
_FLAT = 1e-7  # of the drawing's size: sides of thin bodies are roots of rounding errors
_SAME_TIME = 1e-9  # of the duration
_MARGIN = 0.08  # of the drawing's size around it
_FLATTEST = 0.4  # least side of a box, of the longest one
_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}

Pairs = tuple[tuple[int, int], ...]


class Kinds(NamedTuple):
    """Which points are what, each of shape (m,).

    `fixed` never move; at `ends`, which move, one line ends at most; `marked` get a dot, a ring or
    a square; `followed` leave paths, `trailed` trails in a film.
    """

    fixed: np.ndarray
    ends: np.ndarray
    marked: np.ndarray
    followed: np.ndarray
    trailed: np.ndarray


class Scene(NamedTuple):
    """What the drawing of one run must hold.

    `points` are the landmarks at the samples, shape (k, m, 2 or 3) [m], along the `axes` "xy",
    "xz", "yz" or "xyz"; `low` and `high` bound it all; `labels` name the points.
    """

    points: np.ndarray
    axes: str
    links: Pairs
    springs: Pairs
    dampers: Pairs
    faces: tuple[tuple[int, ...], ...]
    kinds: Kinds
    low: np.ndarray
    high: np.ndarray
    labels: tuple[str, ...]

    @property
    def space(self) -> bool:
        """Whether it is three-dimensional."""
        return self.points.shape[2] == 3

    @property
    def size(self) -> float:
        """The longest side [m]."""
        return float(np.max(self.high - self.low))

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Landmarks (..., m, 2 or 3) along the axes of this drawing."""
        flattened = not self.space and points.shape[-1] == 3
        return points[..., _PLANES[self.axes]] if flattened else points


def require_drawing(system: AbstractSystem) -> None:
    """Refuse a machine that does not say how it looks."""
    if system.landmarks is None:
        raise ValueError(
            f"{system.name!r} has no drawing: declare `landmarks=` (points to draw) and `links=` "
            "(rods between them); a run loaded from a file needs its machine, "
            "`diffmech.load(path, system)`"
        )


@eqx.filter_jit
def _landmarks(landmarks: Any, ts: Any, qs: Any, params: Any) -> Any:
    return jax.vmap(lambda q, t: landmarks(q, t, params))(qs, ts)


def states_at(run: Trajectory, times: np.ndarray) -> tuple[Any, Any]:
    """Coordinates and rates at given times within the run, each of shape (k, n)."""
    ts, span = np.asarray(run.ts), float(run.ts[-1] - run.ts[0])
    nearest = np.searchsorted(ts, times - 0.5 * _SAME_TIME * span).clip(0, len(ts) - 1)
    if np.allclose(ts[nearest], times, rtol=0, atol=_SAME_TIME * span):
        return run.qs[nearest], run.qds[nearest]  # they are samples: nothing to interpolate
    return run(times)


def points_at(run: Trajectory, times: np.ndarray) -> np.ndarray:
    """The landmarks at given times within the run, shape (k, m, 2 or 3) [m]."""
    require_drawing(run.system)
    version_of(run.system.landmarks)
    qs, _ = states_at(run, times)
    points = in_batches(_landmarks, run.system.landmarks, (times, qs), run.params)
    points = np.asarray(points, np.float64)
    if not np.all(np.isfinite(points)):
        raise ValueError(f"`landmarks` of {run.system.name!r} must be finite, but are not all so")
    return points


def scene_of(run: Trajectory, times: np.ndarray | None = None, *, space: bool = False) -> Scene:
    """Look at a whole run, or at some times of it: what is fixed, what ends freely, how far it
    reaches, and whether it stays in a plane; `space` asks for three dimensions even then."""
    points = points_at(run, np.asarray(run.ts) if times is None else times)
    axes = _axes(run.system, points)
    if points.shape[2] == 3 and len(axes) == 2:
        axes, points = ("xyz", points) if space else (axes, points[..., _PLANES[axes]])
    system = run.system
    low, high = np.min(points, axis=(0, 1)), np.max(points, axis=(0, 1))
    size = float(np.max(high - low))
    if size == 0:
        low, high, size = low - 0.5, high + 0.5, 1.0
    margin = np.full_like(low, _MARGIN * size)
    if len(axes) == 3:  # a flat motion gets a box with room for its numbers
        margin = np.maximum(margin, (_FLATTEST * size - (high - low)) / 2)
    labels = _labels(run, points.shape[1])
    return Scene(
        points,
        axes,
        system.links,
        system.springs,
        system.dampers,
        system.faces,
        _kinds(system, points, labels, _AT_REST * size),
        low - margin,
        high + margin,
        labels,
    )


def _kinds(
    system: AbstractSystem, points: np.ndarray, labels: tuple[str, ...], distance: float
) -> Kinds:
    """Sort the points; those that move less than `distance` [m] are fixed.

    Of interest are the loose ones: no corners of plates, nor always where another point is, nor on
    a line that stands still. Those that are just the middle of a body are followed, not marked.
    """
    count = points.shape[1]
    ties = system.springs + system.dampers
    lines = system.links + ties
    fixed = np.max(np.ptp(points, axis=0), axis=1) <= distance
    corners = _among([i for face in system.faces for i in face], count)
    loose = ~corners & ~_repeated(points, distance, _among(np.ravel(ties), count))
    loose &= ~_standing(lines, fixed)
    joined = np.bincount(np.array(lines, int).reshape(-1), minlength=count)
    ends = ~fixed & loose & (joined <= 1)
    of_bodies = {labels[i] for i in np.flatnonzero(corners)}
    marked = loose & (np.array([label not in of_bodies for label in labels]) | (joined > 0))
    followed, trailed = loose & ~fixed, ends
    if not np.any(followed):  # of bodies about fixed centres and of plates, one corner each
        firsts = {labels[face[0]]: face[0] for face in reversed(system.faces)}
        followed = trailed = ~fixed & _among(list(firsts.values()), count)
    return Kinds(fixed, ends, marked, followed, trailed)


def _among(indices: Any, count: int) -> np.ndarray:
    """Which of `count` points are among the indices, shape (count,)."""
    chosen = np.zeros(count, bool)
    chosen[np.asarray(indices, int)] = True
    return chosen


def _axes(system: AbstractSystem, points: np.ndarray) -> str:
    """Along which axes to draw: those of a plane that was given or that the motion stays in."""
    landmarks = system.landmarks
    if isinstance(landmarks, DrawingOfParts) and landmarks.plane is not None:
        return landmarks.plane
    if points.shape[2] == 2:
        return "xy"
    size = float(np.max(np.ptp(points, axis=(0, 1))))
    return next((plane for plane in _PLANES if _stays(points, plane, _FLAT * size)), "xyz")


def _stays(points: np.ndarray, plane: str, distance: float) -> bool:
    """Whether a motion in space is one in a plane.

    All points keep their distances from it; and either there is none, or something moves and the
    drawing is its own mirror image in the plane, as that of bodies with a thickness is.
    """
    (normal,) = {0, 1, 2} - set(_PLANES[plane])
    across = points[:, :, normal]
    if np.max(np.ptp(across, axis=0)) > distance:
        return False
    if np.ptp(across) <= distance:
        return True
    first = points[0]
    image = first.copy()
    image[:, normal] = np.min(first[:, normal]) + np.max(first[:, normal]) - first[:, normal]
    gaps = np.max(np.abs(first[:, None] - image[None]), axis=2)
    moves = np.max(np.ptp(points, axis=0)) > distance
    return bool(moves and np.all(np.min(gaps, axis=1) <= distance))


def _repeated(points: np.ndarray, distance: float, tied: np.ndarray) -> np.ndarray:
    """Which points are at all times where an earlier one is, shape (m,).

    Ends of springs and dampers come after all others: a bob is called by its own name.
    """
    order = np.argsort(tied, kind="stable")
    again = np.zeros(len(tied), bool)
    for i, point in enumerate(order):
        before = points[:, order[:i]]
        gaps = np.max(np.abs(before - points[:, point : point + 1]), axis=(0, 2), initial=0.0)
        again[point] = bool(np.any(gaps <= distance)) if i else False
    return again


def _standing(links: Pairs, fixed: np.ndarray) -> np.ndarray:
    """Which points lie on lines that stand still, such as a wire, shape (m,)."""
    moving_ends = {i for link in links if not all(fixed[list(link)]) for i in link}
    linked = {i for link in links for i in link}
    return np.array([i in linked and i not in moving_ends for i in range(len(fixed))]) & fixed


def _labels(run: Trajectory, count: int) -> tuple[str, ...]:
    """Names of the points: of the parts they belong to, or numbers."""
    landmarks = run.system.landmarks
    if isinstance(landmarks, DrawingOfParts):
        return landmarks.labels(run.qs[0], run.ts[0], run.params)
    return tuple(f"point {i}" for i in range(count))
