"""Pictures: the right numbers, units, nothing clipped, nothing global touched."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import cbook, pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import diffmech as dm
from diffmech import viz

from ..conftest import machine
from ..tolerances import ROUND_OFF


@pytest.fixture(autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def boot() -> dm.Trajectory:
    system = machine("babyboot")
    return dm.simulate(system, *system.starts["chaotic"], duration=6.0)


@pytest.fixture(scope="module")
def damped() -> dm.Trajectory:
    system = dm.systems.n_link(n=3, frictions=0.3, torques=0.1)
    return dm.simulate(system, *system.starts["chaotic"], duration=4.0)


@pytest.fixture(scope="module")
def spring() -> dm.Trajectory:
    def lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return (
            0.5 * (qd[0] ** 2 + (q[0] * qd[1]) ** 2)
            + 9.81 * q[0] * jnp.cos(q[1])
            - 20 * (q[0] - 1) ** 2
        )

    system = dm.System(lagrangian, {"r": "m", "theta": "rad"}, name="a $b$ 100% </script>")
    return dm.simulate(system, [1.2, 0.8], duration=2.0)


def pixels(figure: Figure) -> np.ndarray:
    """The drawn figure, shape (height, width, 3)."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[:, :, :3]


def texts(figure: Figure) -> list[Text]:
    """Every text that shows, once the figure has been drawn."""
    found: list[Text] = list(figure.texts)
    axes: list[Any] = figure.axes
    for ax in axes:
        found += [*ax.texts, ax.title]
        if ax.get_legend() is not None:
            found += ax.get_legend().get_texts()
        for axis in ax._axis_map.values():
            found += [axis.label, axis.offsetText]
            if ax.name != "3d":  # there labels are placed while drawing; the edges are looked at
                # Not the spare ticks, nor those beyond the limits: they are kept but not drawn.
                found += [label for t in axis._update_ticks() for label in (t.label1, t.label2)]
    return [t for t in found if t.get_visible() and t.get_text().strip()]


def require_readable(figure: Figure) -> None:
    """No text is clipped by the paper's edge, none lies on another, and there is something."""
    image = pixels(figure)
    ink = np.mean(np.any(image < 200, axis=2))
    assert 0.005 < ink < 0.5, f"{ink:.1%} of the paper is inked"
    edge = np.concatenate([image[[0, -1]].reshape(-1, 3), image[:, [0, -1]].reshape(-1, 3)])
    assert np.all(edge > 250), "something runs off the paper"
    height, width = image.shape[:2]
    boxes = {t: t.get_window_extent() for t in texts(figure)}
    for text, box in boxes.items():
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert inside, f"{text.get_text()!r} is clipped"
    assert len(boxes) >= 4
    names = list(boxes)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            a, b = boxes[one].padded(-1.5), boxes[other].padded(-1.5)
            assert not a.overlaps(b), f"{one.get_text()!r} lies on {other.get_text()!r}"


# In the plane and in space, of rods, plates, boxes and wires, with one coordinate and with many.
@pytest.mark.parametrize(
    "name",
    ["pendulum", "babyboot", "n_link", "heavy_top", "free_body", "cart_pole", "bead_on_wire"],
)
def test_machines_have_readable_sheets(name: str) -> None:
    any_machine = machine(name)
    run = dm.simulate(any_machine, *any_machine.starts["default"], duration=3.0)
    require_readable(viz.overview(run))
    require_readable(viz.balance(run))


def test_fifteen_links_have_readable_sheets() -> None:
    system = dm.systems.n_link(n=15)
    run = dm.simulate(system, *system.starts["chaotic"], duration=2.0, samples=201)
    require_readable(viz.overview(run))


def test_single_pictures_are_readable_and_carry_units(boot: dm.Trajectory) -> None:
    near = dm.simulate(boot.system, boot.qs[0] + 1e-6, duration=6.0)
    axes = {
        "coordinates": viz.coordinates(boot),
        "wrapped": viz.coordinates(boot, "qB", wrapped=True),
        "rates": viz.rates(boot),
        "phase": viz.phase(boot, "qA"),
        "wrapped phase": viz.phase(boot, "qB", wrapped=True),
        "energy": viz.energy(boot),
        "imbalance": viz.imbalance(boot),
        "paths": viz.paths(boot, [2, 3]),
        "stroboscope": viz.stroboscope(boot, stop=0.6),
        "overlay": viz.overlay(boot, near),
        "distance": viz.distance(boot, near),
    }
    for name, ax in axes.items():
        assert ax.get_xlabel().endswith("]"), name
        assert ax.get_ylabel().endswith("]"), name
        require_readable(ax.figure)


def test_lines_are_the_records_numbers(boot: dm.Trajectory) -> None:
    for ax, values in ((viz.coordinates(boot), boot.qs), (viz.rates(boot), boot.qds)):
        for line, column in zip(ax.lines, np.asarray(values).T, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), boot.ts)
            np.testing.assert_array_equal(line.get_ydata(), column)
    phase = viz.phase(boot, "qA").lines[0]
    np.testing.assert_array_equal(phase.get_xydata(), np.stack([boot.qs[:, 0], boot.qds[:, 0]], 1))


def test_wrapped_angles_stay_within_half_a_turn_and_break_at_jumps(boot: dm.Trajectory) -> None:
    (line,) = viz.coordinates(boot, "qB", wrapped=True).lines
    y = np.asarray(line.get_ydata())
    assert np.nanmax(np.abs(y)) <= np.pi
    gaps = int(np.isnan(y).sum())
    assert gaps >= 2, "the plate turns over more than once in 6 s"
    kept = y[~np.isnan(y)]
    np.testing.assert_allclose(np.exp(1j * kept), np.exp(1j * np.asarray(boot.qs[:, 1])), atol=1e-9)
    steps = np.abs(np.diff(y))
    assert np.nanmax(steps) < np.pi, "no line crosses the picture"


def test_energy_picture_balances_with_the_work(damped: dm.Trajectory) -> None:
    ax = viz.energy(damped)
    kinetic, potential, total, work = (np.asarray(line.get_ydata()) for line in ax.lines)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["ΔEₖ", "ΔEₚ", "ΔE", "W"]
    scale = float(np.max(np.abs(kinetic)))
    np.testing.assert_allclose(kinetic + potential, total, atol=ROUND_OFF * scale)
    np.testing.assert_allclose(total, work, atol=1e-9 * scale)  # the run's tolerance
    assert np.max(np.abs(work)) > 0.1 * scale, "friction and torques do work here"
    ax = viz.imbalance(damped)
    assert ax.get_yscale() == "log"
    gap = np.abs(total - work)
    shown = np.asarray(ax.lines[0].get_ydata())
    np.testing.assert_allclose(shown[gap > 1e-14 * scale], gap[gap > 1e-14 * scale], rtol=0.1)


def test_geometry_has_equal_scales(boot: dm.Trajectory, damped: dm.Trajectory) -> None:
    assert viz.paths(damped).get_aspect() == 1.0
    assert viz.stroboscope(damped).get_aspect() == 1.0
    ax = viz.paths(boot)
    limits = np.array([ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d()])
    sides = np.diff(limits, axis=1)[:, 0]
    box = np.asarray(ax._box_aspect)
    np.testing.assert_allclose(box / box[0], sides / sides[0], rtol=1e-9)


def test_distance_of_two_runs_is_their_norm_and_grows_exponentially(boot: dm.Trajectory) -> None:
    near = dm.simulate(boot.system, boot.qs[0] + np.array([0, 1e-8]), duration=6.0, samples=501)
    (line,) = viz.distance(boot, near).lines
    times, gap = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    exact = np.linalg.norm(np.asarray(boot(times)[0]) - np.asarray(near(times)[0]), axis=1)
    np.testing.assert_allclose(gap, exact, rtol=1e-6, atol=1e-15)
    assert gap[-50:].max() > 1e3 * gap[:50].max()


def test_angles_tick_in_multiples_of_pi(boot: dm.Trajectory) -> None:
    ax = viz.coordinates(boot, "qB", wrapped=True)
    pixels(ax.figure)
    shown = {text.get_text() for text in texts(ax.figure)}
    assert {"−π", "−π/2", "0", "π/2", "π"} <= shown
    assert "−3π/2" not in shown


def test_mixed_units_are_drawn_one_at_a_time(spring: dm.Trajectory) -> None:
    with pytest.raises(ValueError, match=r"one axis has one unit, but there are r in m; theta in"):
        viz.coordinates(spring)
    assert viz.coordinates(spring, "r").get_ylabel() == "r [m]"
    assert viz.rates(spring, ["r"]).get_ylabel() == "r_dot [m/s]"
    with pytest.raises(ValueError, match="only angles can be wrapped, but the unit here is m"):
        viz.coordinates(spring, "r", wrapped=True)
    with pytest.raises(ValueError, match=r"there is no coordinate 'tehta'\. Did you mean 'theta'"):
        viz.rates(spring, "tehta")
    sheet = viz.overview(spring)  # two units: two panels each, no drawing
    assert len(sheet.axes) == 4


def test_odd_texts_are_shown_literally(spring: dm.Trajectory) -> None:
    sheet = viz.overview(spring)
    (title,) = [t for t in texts(sheet) if "script" in t.get_text()]
    assert not cbook.is_math_text(title.get_text())
    require_readable(sheet)
    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd, {"_x": "$m$", "y": "$m$"})
    run = dm.simulate(system, [0, 0], [1, 2], duration=1.0, samples=11)
    ax = viz.coordinates(run)
    shown = [t.get_text().strip() for t in ax.get_legend().get_texts()]
    assert shown == ["_x", "y"]
    assert not cbook.is_math_text(ax.get_ylabel())
    require_readable(ax.figure)


def test_lines_differ_in_grey() -> None:
    system = dm.System(lambda q, qd, t, p: 0.5 * qd @ qd, tuple("abcdefg"))
    run = dm.simulate(system, np.arange(7.0), duration=1.0, samples=3)
    lines = viz.coordinates(run).lines
    for i, one in enumerate(lines):
        for other in lines[i + 1 :]:
            grey = [float(np.dot(to_rgb(x.get_color()), [0.3, 0.59, 0.11])) for x in (one, other)]
            dashes = [x._unscaled_dash_pattern for x in (one, other)]  # pyright: ignore
            assert dashes[0] != dashes[1] or abs(grey[0] - grey[1]) > 0.1


def test_nothing_global_is_touched_and_nothing_is_shown(
    boot: dm.Trajectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a picture was shown")

    monkeypatch.setattr(plt, "show", refuse)
    before = dict(mpl.rcParams)
    for draw in (viz.coordinates, viz.paths, viz.overview, viz.stroboscope):
        draw(boot)
    viz.save_figure(viz.balance(boot), tmp_path / "balance.png")
    viz.animate(boot, fps=2).save(tmp_path / "film.gif")
    assert dict(mpl.rcParams) == before
    mine = plt.figure().add_subplot()
    assert viz.energy(boot, ax=mine) is mine


def test_wrong_calls_get_a_sentence(boot: dm.Trajectory, spring: dm.Trajectory) -> None:
    flat = plt.figure().add_subplot()
    with pytest.raises(ValueError, match="`ax` must be three-dimensional axes for this picture"):
        viz.paths(boot, ax=flat)
    with pytest.raises(ValueError, match="has no drawing: declare `landmarks=`"):
        viz.paths(spring)
    with pytest.raises(ValueError, match="`points` has 9, but the landmarks are 0 to 5"):
        viz.paths(boot, [9])
    with pytest.raises(ValueError, match="`start` must lie before `stop`"):
        viz.stroboscope(boot, start=3.0, stop=2.0)
    with pytest.raises(ValueError, match="coordinates have the same names, but these have qA, qB"):
        viz.distance(boot, spring)
    silent = dm.Explicit(lambda q, qd, t, p: -q, ("x",))
    run = dm.simulate(silent, [1.0], duration=1.0, samples=11)
    with pytest.raises(ValueError, match="its equations came without an energy function"):
        viz.energy(run)


def test_pictures_are_written_whole_in_three_formats(boot: dm.Trajectory, tmp_path: Path) -> None:
    sheet = viz.balance(boot)
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        path = viz.save_figure(sheet, tmp_path / f"sheet{suffix}")
        assert path.read_bytes().startswith(magic)
    with pytest.raises(ValueError, match=r"must end in .png, .pdf or .svg to hold a"):
        viz.save_figure(sheet, tmp_path / "sheet.bmp")
    with pytest.raises(FileExistsError, match="exists already"):
        viz.save_figure(sheet, tmp_path / "sheet.png")
    assert len(list(tmp_path.iterdir())) == 3


def test_the_door_has_the_same_names_for_type_checkers_and_loads_none_of_them() -> None:
    source = Path(viz.__file__).read_text(encoding="utf-8")
    block = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    static = {
        alias.name: imported.module
        for imported in block.body
        if isinstance(imported, ast.ImportFrom)
        for alias in imported.names
    }
    assert static == {name: file for file, names in viz._FILES.items() for name in names}
    assert set(dir(viz)) == {"KINDS", "draw", *static}
    assert all(callable(getattr(viz, name)) for name in static)
    code = (
        "import sys; from diffmech.viz import KINDS; "
        "assert not {'jax', 'numpy', 'matplotlib'} & set(sys.modules); print(*KINDS)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(viz.KINDS)


@pytest.mark.parametrize("kind", viz.KINDS)
def test_every_kind_of_picture_is_drawn_by_its_name(kind: str, boot: dm.Trajectory) -> None:
    entry = viz.KINDS[kind]
    assert entry.text
    named = {"names": ["qB"]} if entry.coordinates != "none" else {}
    for options in ({}, named):
        drawn = viz.draw(kind, *[boot] * entry.runs, **options)
        assert isinstance(drawn.figure, Figure)
