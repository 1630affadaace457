"""A machine's drawing: rods, springs, dampers, plates and hinges where its landmarks are."""

import itertools
import math
from typing import Any

import numpy as np

from ._scene import Scene
from ._style import ACCENT, BACK, FRONT, INK, fade, name_axes
from ._ties import RADIUS, abreast, coil, dashpot, turns_of

_ELEVATION = 18.0  # [deg] of the eye above the horizon
_FILLED = (0.80, 0.70)  # of the axes' width and height, by the box
_ABREAST = 1.3  # of a coil's radius: half of what a spring and a damper side by side are apart
_OBLIQUE = 30.0  # [deg] between the eye and the broadside of the motion


def frame(ax: Any, scene: Scene) -> None:
    """Set limits with equal scales on all axes, name them, and choose where to look from."""
    ax.set_xlim(scene.low[0], scene.high[0])
    ax.set_ylim(scene.low[1], scene.high[1])
    name_axes(ax, f"{scene.axes[0]} [m]", f"{scene.axes[1]} [m]")
    if not scene.space:
        ax.set_aspect("equal", adjustable="box")
        return
    ax.set_zlim(scene.low[2], scene.high[2])
    ax.set_zlabel("z [m]", fontsize=10, color=INK)
    sides = scene.high - scene.low
    spread = np.ptp(scene.points, axis=(0, 1))
    for axis, side, reach in zip((ax.xaxis, ax.yaxis, ax.zaxis), sides, spread, strict=True):
        count = max(1, int(4 * side / np.max(sides)))
        # Across a motion in a plane one number is enough.
        few = 2 if reach > 0.05 * scene.size else 1
        axis.get_major_locator().set_params(nbins=count, min_n_ticks=few)
        axis.labelpad = 9
    ax.view_init(elev=_ELEVATION, azim=_broadside(scene) + _OBLIQUE)
    _fill(ax, scene)
    ax.computed_zorder = False  # ours is by depth, rods and plates alike


def _fill(ax: Any, scene: Scene) -> None:
    """Make the box as large as leaves room for names and numbers on either side."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    sides = scene.high - scene.low
    ax.set_box_aspect(sides)
    bounds = zip(scene.low, scene.high, strict=True)
    corners = np.array(list(itertools.product(*bounds)))
    x, y, _ = proj_transform(corners[:, 0], corners[:, 1], corners[:, 2], ax.get_proj())
    reach = np.max(np.abs(x)) / ax.viewLim.x1, np.max(np.abs(y)) / ax.viewLim.y1
    ax.set_box_aspect(sides, zoom=min(_FILLED[0] / reach[0], _FILLED[1] / reach[1]))


def _broadside(scene: Scene) -> float:
    """The azimuth [deg] from which the motion is widest: across its main horizontal direction."""
    level = scene.points[:, :, :2].reshape(-1, 2)
    spread = (level - level.mean(axis=0)).T @ (level - level.mean(axis=0))
    main = np.linalg.eigh(spread)[1][:, 1]
    across = math.degrees(math.atan2(main[1], main[0])) - 90.0
    # Of the two sides, the one in (−135°, 45°]: rounding does not turn motions along an axis round.
    return -135.0 + (across + 135.0) % 180.0


def _largest_gap(ends: np.ndarray, others: np.ndarray) -> float:
    """How far two lines, given by their ends (k, 2, d), are ever apart; in either sense."""
    return min(float(np.max(np.abs(ends - each))) for each in (others, others[:, ::-1]))


# Ends, turns (none: a damper), how many radii beside the line between the ends, the wire.
_Tie = tuple[tuple[int, int], int, float, Any]


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
        self._radius = RADIUS * scene.size
        self._ties = [self._tie(pair, ink, spring=True) for pair in scene.springs]
        self._ties += [self._tie(pair, ink, spring=False) for pair in scene.dampers]
        self._plates = [self._plate(len(face), ink) for face in scene.faces]
        self._marks = [
            (np.flatnonzero(chosen), ax.plot(*blank, linestyle="none", **style)[0])
            for chosen, style in self._mark_styles(hinges, ink)
            if np.any(chosen)
        ]

    def _tie(self, pair: tuple[int, int], ink: Any, *, spring: bool) -> _Tie:
        scene = self._scene
        ends = scene.points[:, list(pair)]
        turns = turns_of(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), self._radius)
        others = scene.dampers if spring else scene.springs
        # A spring and a damper between the same points are drawn side by side.
        gaps = [_largest_gap(ends, scene.points[:, list(other)]) for other in others]
        shared = min(gaps, default=np.inf) < 1e-6 * scene.size
        shift = (_ABREAST if spring else -_ABREAST) if shared else 0.0
        blank = [[]] * scene.points.shape[2]
        wire = self._ax.plot(*blank, color=ink, linewidth=1.3, solid_joinstyle="round")[0]
        return pair, turns if spring else 0, shift, wire

    def _mark_styles(self, hinges: bool, ink: Any) -> list[tuple[np.ndarray, dict[str, Any]]]:
        kinds = self._scene.kinds
        joints = kinds.marked & ~kinds.fixed & ~kinds.ends & hinges
        ring = {"marker": "o", "markersize": 6, "color": ink, "markerfacecolor": "white"}
        accent = fade(ACCENT, self._strength)
        return [
            (joints, ring),
            (kinds.ends & kinds.marked, {"marker": "o", "markersize": 7, "color": accent}),
            (kinds.marked & kinds.fixed, {"marker": "s", "markersize": 7, "color": ink}),
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
        wires = [wire for *_, wire in self._ties]
        drawn = [*self._rods, *wires, *self._plates, *marks]
        return sorted(drawn, key=lambda artist: artist.zorder)

    def place(self, points: np.ndarray) -> None:
        """Move everything to landmarks of shape (m, 2 or 3) [m]."""
        scene = self._scene
        flat, depth = self._seen(points)
        for rod, link in zip(self._rods, scene.links, strict=True):
            move(rod, points[list(link)])
            rod.set_zorder(self._layer + depth[list(link)].mean())
        self._place_ties(points, depth)
        for plate, face in zip(self._plates, scene.faces, strict=True):
            corners = points[list(face)]
            plate.set_verts([corners]) if scene.space else plate.set_xy(corners)
            seen = flat[list(face)]
            x, y = seen[:, 0], seen[:, 1]
            area = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
            plate.set_facecolor(fade(FRONT if area >= 0 else BACK, self._strength))
            # In a plane all depths are the same; of a solid, what faces the eye is in front.
            nearer = 0.1 if area >= 0 and not scene.space else 0.0
            plate.set_zorder(self._layer + depth[list(face)].mean() + nearer)
        for chosen, marks in self._marks:
            move(marks, points[chosen])
            marks.set_zorder(self._layer + 1.5)

    def _place_ties(self, points: np.ndarray, depth: np.ndarray) -> None:
        """Stretch springs and dampers between their ends."""
        sight = self._sight() if self._scene.space else None
        for pair, turns, shift, wire in self._ties:
            a, b = points[pair[0]], points[pair[1]]
            start, end = abreast(a, b, shift * self._radius, sight) if shift else (a, b)
            if turns:
                line = coil(start, end, turns, self._radius, sight)
            else:
                line = dashpot(start, end, self._radius, sight)
            move(wire, np.vstack([a, line, b]))
            wire.set_zorder(self._layer + depth[list(pair)].mean())

    def _sight(self) -> np.ndarray:
        """Towards the eye, in space."""
        up, round_z = math.radians(self._ax.elev), math.radians(self._ax.azim)
        level = math.cos(up)
        return np.array([level * math.cos(round_z), level * math.sin(round_z), math.sin(up)])

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
