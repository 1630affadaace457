"""A machine's drawing: rods, plates and hinges from its landmarks, links and faces."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from .._batches import in_batches
from ..model import AbstractSystem, DrawingOfParts
from ..simulation import Trajectory
from ._style import ACCENT, BACK, FRONT, INK, fade, name_axes

_AT_REST = 1e-9  # of the drawing's size: a point that moves less is fixed
_SAME_TIME = 1e-9  # of the duration
_MARGIN = 0.08  # of the drawing's size around it
_FLATTEST = 0.4  # least side of a box, of the longest one
_ELEVATION = 18.0  # [deg] of the eye above the horizon
_OBLIQUE = 30.0  # [deg] between the eye and the broadside of the motion


class Scene(NamedTuple):
    """What the drawing of one run must hold.

    `points` are the landmarks at the samples, shape (k, m, 2 or 3) [m]; `loose` marks the points
    that are no corners of plates, nor always where another point is, nor on a line that stands
    still; `fixed` those that never move, `ends` the loose, moving ones at which one rod ends;
    `low` and `high` bound it all; `labels` name the points.
    """

    points: np.ndarray
    links: tuple[tuple[int, int], ...]
    faces: tuple[tuple[int, ...], ...]
    loose: np.ndarray
    fixed: np.ndarray
    ends: np.ndarray
    low: np.ndarray
    high: np.ndarray
    labels: tuple[str, ...]

    @property
    def space(self) -> bool:
        """Whether it is three-dimensional."""
        return self.points.shape[2] == 3


def require_drawing(system: AbstractSystem) -> None:
    """Refuse a machine that does not say how it looks."""
    if system.landmarks is None:
        raise ValueError(
            f"{system.name!r} has no drawing: declare `landmarks=` (points to draw) and `links=` "
            "(rods between them); a run loaded from a file needs its machine, "
            "`diffmech.load(path, system)`"
        )


def is_spatial(run: Trajectory) -> bool:
    """Whether a machine is drawn in space; nothing is computed."""
    require_drawing(run.system)
    points = jax.eval_shape(run.system.landmarks, run.qs[0], run.ts[0], run.params)  # pyright: ignore
    return points.shape[1] == 3


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
    qs, _ = states_at(run, times)
    points = in_batches(_landmarks, run.system.landmarks, (times, qs), run.params)
    points = np.asarray(points, np.float64)
    if not np.all(np.isfinite(points)):
        raise ValueError(f"`landmarks` of {run.system.name!r} must be finite, but are not all so")
    return points


def scene_of(run: Trajectory, times: np.ndarray | None = None) -> Scene:
    """Look at a whole run, or at some times of it: what is fixed, what ends freely, how far it
    reaches."""
    points = points_at(run, np.asarray(run.ts) if times is None else times)
    low, high = np.min(points, axis=(0, 1)), np.max(points, axis=(0, 1))
    size = float(np.max(high - low))
    if size == 0:
        low, high, size = low - 0.5, high + 0.5, 1.0
    reach = np.max(np.ptp(points, axis=0), axis=1)
    fixed = reach <= _AT_REST * size
    count = points.shape[1]
    rods = np.bincount(np.array(run.system.links, int).reshape(-1), minlength=count)
    corners = {corner for face in run.system.faces for corner in face}
    loose = np.array([i not in corners for i in range(count)])
    loose &= ~_repeated(points, _AT_REST * size) & ~_standing(run.system.links, fixed)
    ends = ~fixed & loose & (rods <= 1)
    margin = np.full_like(low, _MARGIN * size)
    if points.shape[2] == 3:  # a flat motion gets a box with room for its numbers
        margin = np.maximum(margin, (_FLATTEST * size - (high - low)) / 2)
    return Scene(
        points,
        run.system.links,
        run.system.faces,
        loose,
        fixed,
        ends,
        low - margin,
        high + margin,
        _labels(run, count),
    )


def _repeated(points: np.ndarray, distance: float) -> np.ndarray:
    """Which points are at all times where an earlier one is, shape (m,)."""
    count = points.shape[1]
    again = np.zeros(count, bool)
    for i in range(count):
        gaps = np.max(np.abs(points[:, :i] - points[:, i : i + 1]), axis=(0, 2), initial=0.0)
        again[i] = bool(np.any(gaps <= distance)) if i else False
    return again


def _standing(links: tuple[tuple[int, int], ...], fixed: np.ndarray) -> np.ndarray:
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


def frame(ax: Any, scene: Scene) -> None:
    """Set limits with equal scales on all axes, name them, and choose where to look from."""
    ax.set_xlim(scene.low[0], scene.high[0])
    ax.set_ylim(scene.low[1], scene.high[1])
    name_axes(ax, "x [m]", "y [m]")
    if not scene.space:
        ax.set_aspect("equal", adjustable="box")
        return
    ax.set_zlim(scene.low[2], scene.high[2])
    ax.set_zlabel("z [m]", fontsize=10, color=INK)
    sides = scene.high - scene.low
    ax.set_box_aspect(sides, zoom=0.72)  # room for names and numbers on either side
    for axis, side in zip((ax.xaxis, ax.yaxis, ax.zaxis), sides, strict=True):
        axis.get_major_locator().set_params(nbins=max(1, int(4 * side / np.max(sides))))
    ax.view_init(elev=_ELEVATION, azim=_broadside(scene) + _OBLIQUE)
    ax.computed_zorder = False  # ours is by depth, rods and plates alike


def _broadside(scene: Scene) -> float:
    """The azimuth [deg] from which the motion is widest: across its main horizontal direction."""
    level = scene.points[:, :, :2].reshape(-1, 2)
    spread = (level - level.mean(axis=0)).T @ (level - level.mean(axis=0))
    main = np.linalg.eigh(spread)[1][:, 1]
    across = math.degrees(math.atan2(main[1], main[0])) - 90.0
    # Of the two sides, the one in (−135°, 45°]: rounding does not turn motions along an axis round.
    return -135.0 + (across + 135.0) % 180.0


class Drawing:
    """The artists of one configuration on one Axes; `place` moves them."""

    def __init__(
        self, ax: Any, scene: Scene, *, hinges: bool = True, strength: float = 1.0, layer: int = 3
    ):
        self._ax, self._scene, self._strength, self._layer = ax, scene, strength, layer
        blank = [[]] * scene.points.shape[2]
        ink = fade(INK, strength)
        self._rods = [
            ax.plot(*blank, color=ink, linewidth=3.0, solid_capstyle="round")[0]
            for _ in scene.links
        ]
        self._plates = [self._plate(len(face), ink) for face in scene.faces]
        self._marks = [
            (np.flatnonzero(chosen), ax.plot(*blank, linestyle="none", **style)[0])
            for chosen, style in self._mark_styles(hinges, ink)
            if np.any(chosen)
        ]

    def _mark_styles(self, hinges: bool, ink: Any) -> list[tuple[np.ndarray, dict[str, Any]]]:
        scene = self._scene
        joints = scene.loose & ~scene.fixed & ~scene.ends & hinges
        ring = {"marker": "o", "markersize": 6, "color": ink, "markerfacecolor": "white"}
        accent = fade(ACCENT, self._strength)
        return [
            (joints, ring),
            (scene.ends, {"marker": "o", "markersize": 7, "color": accent}),
            (scene.loose & scene.fixed, {"marker": "s", "markersize": 7, "color": ink}),
        ]

    def _plate(self, corners: int, ink: Any) -> Any:
        if self._scene.space:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            plate: Any = Poly3DCollection([np.zeros((corners, 3))], edgecolor=ink, linewidth=1.2)
            return self._ax.add_collection3d(plate)
        from matplotlib.patches import Polygon

        return self._ax.add_patch(Polygon(np.zeros((corners, 2)), edgecolor=ink, linewidth=1.2))

    @property
    def artists(self) -> list[Any]:
        """Everything drawn, from back to front."""
        marks = [artist for _, artist in self._marks]
        return sorted([*self._rods, *self._plates, *marks], key=lambda artist: artist.zorder)

    def place(self, points: np.ndarray) -> None:
        """Move everything to landmarks of shape (m, 2 or 3) [m]."""
        scene = self._scene
        flat, depth = self._seen(points)
        for rod, link in zip(self._rods, scene.links, strict=True):
            move(rod, points[list(link)])
            rod.set_zorder(self._layer + depth[list(link)].mean())
        for plate, face in zip(self._plates, scene.faces, strict=True):
            corners = points[list(face)]
            plate.set_verts([corners]) if scene.space else plate.set_xy(corners)
            seen = flat[list(face)]
            x, y = seen[:, 0], seen[:, 1]
            area = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
            plate.set_facecolor(fade(FRONT if area >= 0 else BACK, self._strength))
            plate.set_zorder(self._layer + depth[list(face)].mean())
        for chosen, marks in self._marks:
            move(marks, points[chosen])
            marks.set_zorder(self._layer + 1.5)

    def _seen(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the points are on the paper, and how near to the eye, from 0 to 1."""
        if not self._scene.space:
            return points, np.zeros(len(points))
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        x, y, away = proj_transform(points[:, 0], points[:, 1], points[:, 2], self._ax.get_proj())
        away = np.asarray(away)
        spread = np.ptp(away)
        nearness = (np.max(away) - away) / spread if spread > 0 else np.zeros(len(points))
        return np.stack([np.asarray(x), np.asarray(y)], axis=1), nearness


def move(artist: Any, points: np.ndarray) -> None:
    """Give a line other points, shape (k, 2 or 3) [m]."""
    if points.shape[1] == 3:
        artist.set_data_3d(*points.T)
    else:
        artist.set_data(*points.T)
