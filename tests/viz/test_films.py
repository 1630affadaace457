"""Films: they move, in time, and show what the physics says."""

import itertools
import math
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import diffmech as dm
from diffmech import viz
from diffmech.viz._style import ACCENT, BACK, FRONT

from ..conftest import machine


@pytest.fixture(scope="module")
def runs() -> dict[str, dm.Trajectory]:
    boot = machine("babyboot")
    return {
        start: dm.simulate(boot, *boot.starts[start], duration=6.0)
        for start in ("regular", "chaotic")
    }


@pytest.fixture(scope="module")
def swing() -> dm.Trajectory:
    return dm.simulate(machine("pendulum"), [1.0], duration=2.0)


def coloured(frame: np.ndarray, colour: str) -> np.ndarray:
    """Where a frame has a colour, shape (k, 2): rows and columns."""
    wanted = 255 * np.array(to_rgb(colour))
    return np.argwhere(np.all(np.abs(frame - wanted) < 4, axis=2))


def test_the_plate_turns_over_from_90_degrees_and_never_from_45(
    runs: dict[str, dm.Trajectory],
) -> None:
    back = {
        start: [len(coloured(frame, BACK)) for frame in viz.animate(run, fps=5).frames()]
        for start, run in runs.items()
    }
    front = [len(coloured(f, FRONT)) for f in viz.animate(runs["regular"], fps=5).frames()]
    assert min(front) > 300, "the front of the regular boot's plate is always seen"
    assert max(back["regular"]) < 20
    assert max(back["chaotic"]) > 300
    # It tumbles late: the first swings show no back.
    assert max(back["chaotic"][:5]) < 20


def test_frames_move_and_show_the_bob_where_it_is(swing: dm.Trajectory) -> None:
    film = viz.animate(swing, fps=10, trail=0.0)
    frames = list(film.frames())
    assert len(frames) == len(film) == 21
    for i, frame in enumerate(frames):
        angle = float(swing(film.times[i])[0][0])
        x, y = film.ax.transData.transform([math.sin(angle), -math.cos(angle)])
        row, column = coloured(frame, ACCENT).mean(axis=0)
        assert abs(column - x) < 1.5
        assert abs(frame.shape[0] - row - y) < 1.5
    moved = [np.any(a != b) for a, b in itertools.pairwise(frames)]
    assert all(moved)


def test_a_gif_plays_in_real_time_or_scaled(swing: dm.Trajectory, tmp_path: Path) -> None:
    for speed, fps in ((1.0, 30.0), (0.5, 25.0)):
        path = viz.animate(swing, speed=speed, fps=fps).save(tmp_path / f"{speed}.gif")
        with Image.open(path) as film:
            shown = []
            for i in range(film.n_frames):  # pyright: ignore[reportAttributeAccessIssue]
                film.seek(i)
                shown.append(film.info["duration"] / 1000)
            assert film.info["loop"] == 0
            assert film.convert("RGB").getpixel((1, 1)) == (255, 255, 255), "the paper is white"
        # The last frame is shown as long as the others.
        assert sum(shown) == pytest.approx(2.0 / speed, abs=2 / fps)


def test_trails_clock_and_hinges_can_be_had_or_not(swing: dm.Trajectory) -> None:
    def ink(**options: Any) -> int:
        (frame,) = viz.animate(swing, **options).frames([30])
        return int(np.sum(np.any(frame < 250, axis=2)))

    plain = ink(trail=0.0, clock=False)
    assert ink(trail=1.0, clock=False) > plain + 50
    assert ink(trail=math.inf, clock=False) >= ink(trail=1.0, clock=False)
    assert ink(trail=0.0, clock=True) > plain + 50
    chain = machine("n_link")
    run = dm.simulate(chain, *chain.starts["nice"], duration=1.0)
    with_, without = (
        next(viz.animate(run, hinges=h).frames([5])).astype(int) for h in (True, False)
    )
    assert np.sum(np.any(with_ != without, axis=2)) > 20


def test_a_film_can_be_drawn_on_axes_of_ones_own(swing: dm.Trajectory) -> None:
    figure = Figure(figsize=(3, 2))
    canvas = figure.canvas
    film = viz.animate(swing, fps=5, ax=figure.add_subplot())
    frames = list(film.frames())
    assert np.any(frames[0] != frames[3])
    assert figure.canvas is canvas, "the figure is given back as it was"
    assert "data:image/gif;base64," in film._repr_html_()


def _fake_ffmpeg(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "ffmpeg"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_an_mp4_goes_through_ffmpeg(
    swing: dm.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It keeps what it is fed: the last argument is the file to write.
    _fake_ffmpeg(tmp_path, 'for last; do :; done; cat > "$last"', monkeypatch)
    film = viz.animate(swing, fps=5)
    height, width, _ = next(film.frames([0])).shape
    path = film.save(tmp_path / "motion.mp4")
    assert path.stat().st_size == len(film) * height * width * 3


def test_ffmpegs_complaint_is_passed_on(
    swing: dm.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake_ffmpeg(tmp_path, "echo no such codec >&2; exit 3", monkeypatch)
    with pytest.raises(OSError, match="ffmpeg could not write the film: no such codec"):
        viz.animate(swing, fps=5).save(tmp_path / "motion.mp4")
    assert not (tmp_path / "motion.mp4").exists()


def test_wrong_films_get_a_sentence(
    swing: dm.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"needs the program ffmpeg, which is not installed"):
        viz.animate(swing, fps=5).save(tmp_path / "motion.mp4")
    with pytest.raises(ValueError, match=r"must end in .gif or .mp4"):
        viz.animate(swing, fps=5).save(tmp_path / "motion.avi")
    with pytest.raises(ValueError, match="has 1 frames, but a film needs 2 to 10000: try speed="):
        viz.animate(swing, speed=1000.0)
    with pytest.raises(ValueError, match="`fps` must lie between 1 and 50, but is 100"):
        viz.animate(swing, fps=100)
    with pytest.raises(ValueError, match="`trail` must not be negative"):
        viz.animate(swing, trail=-1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_holds_the_run_and_gives_it_back(swing: dm.Trajectory, tmp_path: Path) -> None:
    folder = viz.save_folder(swing, tmp_path / "run", film=True)
    assert sorted(p.name for p in folder.iterdir()) == [
        "energy.png", "motion.gif", "report.txt", "run.csv", "run.npz", "settings.json",
        "trajectory.png",
    ]  # fmt: skip
    again = dm.load(folder, swing.system)
    np.testing.assert_array_equal(again.qs, swing.qs)
    assert str(again) == (folder / "report.txt").read_text("utf-8").rstrip("\n") == str(swing)
    with pytest.raises(FileExistsError, match="holds results already"):
        viz.save_folder(swing, folder)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    viz.save_folder(swing, folder, pictures=False, overwrite=True)
    assert {p.name for p in folder.iterdir()} == {
        "notes.txt", "report.txt", "run.csv", "run.npz", "settings.json",
    }  # fmt: skip


def test_frames_show_each_bodys_axes_and_points_bear_the_parts_names() -> None:
    space = machine("double_pendulum_3d")
    run = dm.simulate(space, *space.starts["default"], duration=0.5, samples=11)
    film = viz.animate(run, fps=20, frames=True)
    lines = {line.get_label(): line for line in film.ax.lines}
    film.draw(3)
    bodies = run.bodies()
    assert list(bodies) == ["upper", "lower"], "in the order of their declaration"
    pose = jax.tree.map(lambda x: x[3], bodies["upper"])
    for i, name in enumerate("xyz"):
        drawn = np.array(lines[name].get_data_3d()).T
        along = (drawn[1] - drawn[0]) / np.linalg.norm(drawn[1] - drawn[0])
        np.testing.assert_allclose(along, np.asarray(pose.rotation)[:, i], atol=1e-9)
        np.testing.assert_allclose(drawn[0], pose.position, atol=1e-9)
    assert bodies["upper"].position.shape == (11, 3)
    legend = viz.paths(run).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["upper", "lower"]
    flat = machine("cart_pole")
    with pytest.raises(ValueError, match="drawn in a plane"):
        viz.paths(dm.simulate(flat, *flat.starts["default"], duration=0.2, samples=5), frames=True)
