"""The machine in motion, as GIF or MP4."""

import base64
import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import as_scalar
from .._progress import Progress
from .._records import atomic_file, require_writable
from .._typing import Number
from ..model import AbstractSystem
from ..simulation import Trajectory
from ._drawing import Drawing, frame, move
from ._paths import chosen_points, wants_space
from ._scene import Scene, points_at, require_drawing, scene_of
from ._series import drawable
from ._style import INK, add_axes, fade, new_axes
from ._triads import Triads

_TICK = 0.01  # [s] GIF counts time in hundredths
_TRAIL_PIECES = 8
_TRAIL_COLOUR = "#0072B2"
_MOST_FRAMES = 10_000
_MOST_FPS = 50  # programs that show GIFs slow faster ones down
_NEARLY_WHITE = 244  # of 255
_PALETTE_FRAMES = 6  # looked at for a GIF's 256 colours
FORMATS = (".gif", ".mp4")


def require_film(
    path: str | Path,
    system: AbstractSystem | None = None,
    *,
    speed: Number = 1.0,
    fps: Number = 25.0,
    trail: Number = 1.0,
    overwrite: bool = False,
) -> None:
    """Refuse a film that cannot be made, before any work is done for it."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"`{path}` must end in .gif or .mp4 to hold an animation")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ValueError(
            f"`{path}` needs the program ffmpeg, which is not installed (on Debian and Ubuntu: "
            "`apt install ffmpeg`, on macOS: `brew install ffmpeg`); a .gif needs nothing"
        )
    require_writable(path, overwrite=overwrite)
    _require_settings(speed, fps, trail)
    if system is not None:
        require_drawing(system)


def _require_settings(speed: Number, fps: Number, trail: Number) -> None:
    as_scalar(speed, "speed", positive=True)
    frames = float(as_scalar(fps, "fps"))
    if not 1 <= frames <= _MOST_FPS:
        raise ValueError(f"`fps` must lie between 1 and {_MOST_FPS}, but is {frames:g}")
    if trail != math.inf and float(as_scalar(trail, "trail")) < 0:
        raise ValueError(f"`trail` must not be negative, but is {float(trail):g}")


class Animation:
    """A run as a film. `save` writes it; a notebook shows it by itself.

    Attributes:
        times: the run's time at each frame, shape (frames,) [s].
        interval: time from one frame to the next when shown [s].
        ax: the Axes drawn on.
    """

    def __init__(
        self,
        run: Trajectory,
        scene: Scene,
        ax: Any,
        times: np.ndarray,
        interval: float,
        *,
        speed: float,
        trail: float,
        points: Sequence[int] | None,
        clock: bool,
        hinges: bool,
        triads: Triads | None,
    ):
        self.times, self.interval, self.ax = times, interval, ax
        self._points = scene.seen(points_at(run, times))
        frame(ax, scene)
        self._drawing = Drawing(ax, scene, hinges=hinges)
        self._triads = triads
        if triads is not None:
            triads.add_to(ax)
        self._followed = chosen_points(scene, points, scene.kinds.trailed)
        self._sampled = np.asarray(run.ts), scene.points
        self._trail = trail
        blank = [[]] * scene.points.shape[2]
        self._trails = [
            [ax.plot(*blank, linewidth=1.4, solid_capstyle="butt")[0] for _ in range(_TRAIL_PIECES)]
            for _ in self._followed
        ]
        text = ax.text2D if scene.space else ax.text
        self._clock = text(
            0.02, 0.98, "", transform=ax.transAxes, va="top", color=INK, family="monospace"
        )
        self._clock.set_visible(clock)
        self._speed = speed

    def __len__(self) -> int:
        return len(self.times)

    def draw(self, index: int) -> list[Any]:
        """Move everything to one frame; the artists from back to front."""
        self._drawing.place(self._points[index])
        ts, samples = self._sampled
        now = self.times[index]
        first, last = np.searchsorted(ts, [now - self._trail, now])
        for point, pieces in zip(self._followed, self._trails, strict=True):
            past = np.vstack([samples[first:last, point], self._points[index, point]])
            cuts = np.linspace(0, len(past) - 1, _TRAIL_PIECES + 1).round().astype(int)
            for i, piece in enumerate(pieces):
                part = past[cuts[i] : cuts[i + 1] + 1]
                move(piece, part)
                piece.set_color(fade(_TRAIL_COLOUR, (i + 1) / _TRAIL_PIECES))
        pace = "" if self._speed == 1 else f"  ({self._speed:g} x real time)"
        self._clock.set_text(f"t = {self.times[index]:.2f} s{pace}")
        trails = [piece for pieces in self._trails for piece in pieces]
        if self._triads is None:
            return [*trails, *self._drawing.artists, self._clock]
        self._triads.place(index)
        return [*trails, *self._drawing.artists, *self._triads.artists, self._clock]

    def frames(self, indices: Sequence[int] | None = None) -> Iterator[np.ndarray]:
        """Frames (all if None) as pixels, uint8 of shape (height, width, 3)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = self.ax.get_figure(root=True)
        shown_on = figure.canvas
        canvas = FigureCanvasAgg(figure)
        moving = self.draw(0)
        try:
            # What stands still is drawn once; only what moves is drawn for each frame.
            for artist in moving:
                artist.set_animated(True)
            canvas.draw()
            background = canvas.copy_from_bbox(figure.bbox)
            for index in range(len(self)) if indices is None else indices:
                canvas.restore_region(background)
                for artist in self.draw(index):
                    if hasattr(artist, "do_3d_projection"):
                        artist.do_3d_projection()
                    self.ax.draw_artist(artist)
                yield np.array(canvas.buffer_rgba())[:, :, :3]
        finally:
            for artist in moving:
                artist.set_animated(False)
            figure.set_canvas(shown_on)

    def save(
        self, path: str | Path, *, overwrite: bool = False, progress: bool | None = None
    ) -> Path:
        """Write a .gif, or an .mp4 where ffmpeg is installed; all of it or nothing."""
        path = Path(path)
        require_film(path, overwrite=overwrite)
        write = _write_gif if path.suffix.lower() == ".gif" else _write_mp4
        span = float(self.times[-1] - self.times[0])
        with (
            atomic_file(path, overwrite=overwrite) as temporary,
            Progress(span, progress, f"drawing {path.name}", "s drawn") as bar,
        ):
            write(temporary, self, bar)
        return path

    def _watched(self, bar: Progress) -> Iterator[np.ndarray]:
        """All frames, telling a progress bar."""
        for time, pixels in zip(self.times, self.frames(), strict=True):
            yield pixels
            bar.update(float(time - self.times[0]))

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            data = self.save(Path(folder) / "motion.gif", progress=False).read_bytes()
        return f'<img src="data:image/gif;base64,{base64.b64encode(data).decode()}">'


def _write_gif(path: Path, film: Animation, bar: Progress) -> None:
    from PIL import Image

    few = np.linspace(0, len(film) - 1, _PALETTE_FRAMES).round().astype(int).tolist()
    colours = Image.fromarray(np.concatenate(list(film.frames(few)))).quantize(256)
    common = np.array(colours.getpalette()).reshape(-1, 3)
    # Averaged colours would tint the paper: what is nearly white is white.
    common[np.min(common, axis=1) >= _NEARLY_WHITE] = 255
    colours.putpalette(common.ravel().tolist())
    colours.load()
    images = (
        Image.fromarray(pixels).quantize(palette=colours, dither=Image.Dither.NONE)
        for pixels in film._watched(bar)
    )
    next(images).save(
        path,
        format="GIF",
        save_all=True,
        append_images=images,
        duration=round(1000 * film.interval),
        loop=0,
    )


def _write_mp4(path: Path, film: Animation, bar: Progress) -> None:
    height, width, _ = next(film.frames([0])).shape
    command = [
        "ffmpeg", "-y", "-loglevel", "error",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", f"{1 / film.interval:g}", "-i", "-",
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p",
        "-f", "mp4", str(path),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as complaints:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=complaints) as encoder:
            assert encoder.stdin is not None
            try:
                for pixels in film._watched(bar):
                    encoder.stdin.write(pixels.tobytes())
            except BrokenPipeError:
                bar.update(0.0)  # it gave up; its own words are read below
        complaints.seek(0)
        words = complaints.read().decode(errors="replace").strip()
    if encoder.returncode != 0:
        raise OSError(f"ffmpeg could not write the film: {words or encoder.returncode}")


def animate(
    run: Trajectory,
    *,
    speed: Number = 1.0,
    fps: Number = 25.0,
    trail: Number = 1.0,
    points: Sequence[int] | None = None,
    clock: bool = True,
    hinges: bool = True,
    frames: bool = False,
    ax: Any = None,
) -> Animation:
    """The machine in motion, drawn from its landmarks and what joins them.

    A motion that stays in a coordinate plane is drawn in that plane.

    Args:
        speed: 1 is real time, 0.5 half as fast.
        fps: frames per second; the time between frames is rounded to GIF's hundredths.
        trail: how long a path the followed points leave behind [s of the run]; `math.inf` keeps
            all of it, 0 none.
        points: indices of the landmarks that leave trails; None means the free ends of rods and
            springs, and the mass centres of bodies.
        clock: show the run's time.
        hinges: mark the joints.
        frames: draw the axes of every body, for machines of parts in space: x, y and z as full,
            dashed and dotted lines.
        ax: three-dimensional axes draw a motion in a plane in space, too.

    Returns:
        An `Animation`: `.save("motion.gif")`; a notebook shows it.

    Raises:
        ValueError: a machine without landmarks, or a film of less than two or too many frames.
    """
    _require_settings(speed, fps, trail)
    run = drawable(run)
    speed, fps = float(speed), float(fps)
    interval = _TICK * round(1 / fps / _TICK)
    span = float(run.ts[-1]) - float(run.ts[0])
    count = math.floor(span / (interval * speed) * (1 + 1e-12)) + 1
    if not 2 <= count <= _MOST_FRAMES:
        raise ValueError(
            f"at {speed:g} x real time this run of {span:g} s has {count} frames, but a film needs "
            f"2 to {_MOST_FRAMES}" + (f": try speed={span / 10:.1g}" if span > 0 else "")
        )
    times = float(run.ts[0]) + interval * speed * np.arange(count)
    times = np.minimum(times, float(run.ts[-1]))
    scene = scene_of(run, space=wants_space(ax, frames))
    triads = Triads(run, scene, times) if frames else None
    ax = _own_axes(scene) if ax is None else new_axes(ax, space=scene.space)
    return Animation(
        run,
        scene,
        ax,
        times,
        interval,
        speed=speed,
        trail=min(float(trail), span),
        points=points,
        clock=clock,
        hinges=hinges,
        triads=triads,
    )


def _own_axes(scene: Scene) -> Any:
    """Axes in a figure that belongs to no window: a film is shown by saving it."""
    from matplotlib.figure import Figure

    width, height = 4.8, 4.0
    if not scene.space:
        sides = scene.high - scene.low
        height = float(np.clip(width * sides[1] / sides[0], 3.0, 7.0))
    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    return add_axes(figure, 111, space=scene.space)
