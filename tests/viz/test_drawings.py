"""Drawings of machines: in their plane, springs as springs, a path for every body."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import diffmech as dm
from diffmech import viz
from diffmech.model import Scenery
from diffmech.simulation._tournament import Entry, Tournament

from ..conftest import machine
from .test_viz import pixels, require_readable

COORDINATES = {"x": "m", "y": "m", "angle": "rad"}


def hanging_sled(q: Any, t: Any, params: Any) -> dict[str, Any]:
    """A box on a spring and a damper, free along x and y, turning about y."""
    del t, params
    pose = (
        dm.joints.prismatic("x", q[0])
        @ dm.joints.prismatic("y", q[1])
        @ dm.joints.revolute("y", q[2])
    )
    return {
        "spring": dm.parts.Spring(20.0, 1.0).between([0.0, 0.0, 1.0], pose.position),
        "damper": dm.parts.Damper(0.1).between([-1.0, 0.0, 0.0], pose.position),
        "box": dm.parts.RigidBody.box(1.0, 0.5, 0.3, 0.2).at(pose),
    }


def box_on_rail(q: Any, t: Any, params: Any) -> dict[str, Any]:
    """Nothing but the box, and a long rail."""
    rail = jnp.array([[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    return {"box": hanging_sled(q, t, params)["box"], "rail": Scenery(rail)}


@pytest.fixture(autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sled() -> dm.System:
    return dm.machine(hanging_sled, COORDINATES)


@pytest.fixture(scope="module")
def flat(sled: dm.System) -> dm.Trajectory:
    """It never leaves y = 0."""
    return dm.simulate(sled, [0.5, 0.0, 0.3], [0.0, 0.0, 2.0], duration=1.0, samples=41)


@pytest.fixture(scope="module")
def spatial(sled: dm.System) -> dm.Trajectory:
    return dm.simulate(sled, [0.5, 0.3, 0.3], [0.0, 1.0, 2.0], duration=1.0, samples=41)


def seen_as(run: dm.Trajectory, system: dm.System) -> dm.Trajectory:
    """The same numbers as the run of another machine; of the first coordinates, if it has fewer."""
    n = system.n
    return eqx.tree_at(
        lambda run: (run.system, run.qs, run.qds), run, (system, run.qs[:, :n], run.qds[:, :n])
    )


def in_plane(run: dm.Trajectory, plane: str) -> dm.Trajectory:
    """The same run of the machine drawn in a given plane."""
    return seen_as(run, dm.machine(hanging_sled, COORDINATES, plane=plane))


def free(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """The Lagrangian of a machine of which only the drawing matters."""
    del q, t, params
    return 0.5 * qd @ qd


def places(line: Any) -> np.ndarray:
    """Where a drawn line goes, shape (k, 2 or 3)."""
    three = hasattr(line, "get_data_3d")
    return np.array(line.get_data_3d() if three else line.get_data(), float).T


def lines_between(ax: Any, a: Any, b: Any) -> list[np.ndarray]:
    """The drawn lines that start at a and end at b."""
    ends = np.array([a, b], float)
    found = [places(line) for line in ax.lines]
    found = [x for x in found if len(x) > 1 and x.shape[1] == ends.shape[1]]
    return [x for x in found if np.allclose(x[[0, -1]], ends, atol=1e-9)]


def largest_blank(figure: Figure, cells: int = 40) -> float:
    """The largest rectangle of white paper, as a part of the sheet."""
    image = np.any(pixels(figure) < 250, axis=2)
    height, width = (side // cells * cells for side in image.shape)
    blocks = image[:height, :width].reshape(cells, height // cells, cells, width // cells)
    blank = ~np.any(blocks, axis=(1, 3))
    largest, depth = 0, np.zeros(cells, int)
    for row in blank:
        depth = np.where(row, depth + 1, 0)
        for i in range(cells):
            for j in range(i, cells):
                largest = max(largest, int(depth[i : j + 1].min()) * (j - i + 1))
    return largest / cells**2


def test_axes_are_named_after_the_plane(flat: dm.Trajectory, spatial: dm.Trajectory) -> None:
    for run in (flat, in_plane(spatial, "xz")):
        drawn = [viz.paths(run), viz.stroboscope(run), viz.animate(run).ax]
        drawn += [ax for ax in viz.overview(run).axes if "time" not in ax.get_xlabel()][-1:]
        for ax in drawn:
            assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "z [m]")
    ax = viz.paths(in_plane(spatial, "yz"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y [m]", "z [m]")
    bodies = np.asarray(spatial.bodies()["box"].position)
    assert any(np.allclose(places(line), bodies[:, 1:]) for line in ax.lines if len(places(line)))


def test_what_stays_in_a_plane_is_drawn_in_it_and_nothing_else_is(
    flat: dm.Trajectory, spatial: dm.Trajectory
) -> None:
    assert [viz.paths(run).name for run in (flat, spatial)] == ["rectilinear", "3d"]
    given = Figure().add_subplot(projection="3d")
    assert viz.paths(flat, ax=given).get_zlabel() == "z [m]", "in space if asked for"
    assert viz.paths(flat, frames=True).name == "3d"

    def cone(q: Any, t: Any, params: Any) -> Any:
        """A rod on a cone: its ends keep their heights, but it lies in no plane."""
        del t, params
        return jnp.stack([jnp.zeros(3), jnp.stack([jnp.cos(q[0]), jnp.sin(q[0]), jnp.ones(())])])

    round_a_cone = dm.System(free, COORDINATES, landmarks=cone, links=[(0, 1)])
    assert viz.paths(seen_as(flat, round_a_cone)).name == "3d"


def test_springs_are_coils_and_dampers_dashpots_between_their_ends(
    flat: dm.Trajectory, spatial: dm.Trajectory
) -> None:
    for run, keep in ((flat, [0, 2]), (spatial, [0, 1, 2])):
        film = viz.animate(run, fps=20)  # every other sample
        centres = np.asarray(run.bodies()["box"].position)[:, keep]
        spring, damper = np.array([0.0, 0.0, 1.0])[keep], np.array([-1.0, 0.0, 0.0])[keep]
        for i in (0, 30):
            film.draw(i // 2)
            (coil,) = lines_between(film.ax, spring, centres[i])
            along = (centres[i] - spring) / np.linalg.norm(centres[i] - spring)
            away = (coil - spring) - ((coil - spring) @ along)[:, None] * along
            radius = np.linalg.norm(away, axis=1)
            assert np.sum(radius > 0.9 * radius.max()) >= 10, "it winds"
            assert 0.01 < radius.max() < 0.15, "and is slender [m]"
            (dashpot,) = lines_between(film.ax, damper, centres[i])
            assert np.sum(np.isnan(dashpot[:, 0])) == 3, "wire, cup, piston, wire"
        for ax in (viz.paths(run), viz.overview(run).axes[-1], viz.stroboscope(run, 3)):
            axes = ax.figure.axes
            found = [lines_between(each, spring, centres[-1]) for each in axes]
            assert [len(x[0]) > 10 for x in found if x] == [True]


def test_a_machine_without_parts_may_say_where_its_springs_are(flat: dm.Trajectory) -> None:
    def points(q: Any, t: Any, params: Any) -> Any:
        del t, params
        return jnp.stack([jnp.zeros(2), q[:2] + 1.0])

    def sprung(springs: Any) -> dm.System:
        return dm.System(free, COORDINATES, landmarks=points, springs=springs)

    ax = viz.paths(seen_as(flat, sprung([(0, 1)])))
    (coil,) = lines_between(ax, [0, 0], flat.qs[-1, :2] + 1.0)
    assert len(coil) > 10
    with pytest.raises(ValueError, match=r"`springs` joins \(0, 7\), but there are only 2 landma"):
        sprung([(0, 7)])
    with pytest.raises(ValueError, match="`dampers` must join landmarks, but no `landmarks` are"):
        dm.System(free, COORDINATES, dampers=[(0, 1)])


def test_every_body_leaves_the_path_of_its_mass_centre(
    flat: dm.Trajectory, spatial: dm.Trajectory
) -> None:
    for run, keep in ((flat, [0, 2]), (spatial, [0, 1, 2])):
        centre = np.asarray(run.bodies()["box"].position)[:, keep]
        run = seen_as(run, dm.machine(box_on_rail, COORDINATES))
        paths = [places(line) for line in viz.paths(run).lines]
        assert sum(len(x) == 41 and np.allclose(x, centre) for x in paths) == 1
        film = viz.animate(run, fps=20, trail=2.0)
        film.draw(20)
        trail = [x for x in map(places, film.ax.lines) if len(x) and np.allclose(x[-1], centre[-1])]
        assert any(len(x) < 10 and np.allclose(x, centre[-len(x) :]) for x in trail)
    tumbling = machine("free_body")  # about a fixed centre: one corner leaves a path
    run = dm.simulate(tumbling, *tumbling.starts["default"], duration=1.0, samples=21)
    assert sum(len(places(line)) == 21 for line in viz.paths(run).lines) == 1


def test_titles_name_the_machine(flat: dm.Trajectory) -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd @ qd

    assert viz.overview(flat).get_suptitle().startswith("hanging sled, Dopri8, rtol")
    assert viz.balance(flat).get_suptitle().startswith("hanging sled, Dopri8, rtol")
    assert dm.System(lagrangian, ("x",)).name == "test_titles_name_the_machine"
    assert dm.System(lambda q, qd, t, p: qd @ qd, ("x",), name="mine").name == "mine"
    lagrangian.__qualname__ = "lagrangian"
    assert dm.System(lagrangian, ("x",)).name == "test_drawings", "its file"
    assert dm.machine(hanging_sled, COORDINATES).name == "hanging_sled"
    chain = eqx.tree_at(
        lambda run: run.system, flat, dm.machine(hanging_sled, COORDINATES, name="n_sled:n=3")
    )
    assert viz.overview(chain).get_suptitle().startswith("n sled, n=3, Dopri8")


@pytest.mark.parametrize("coordinates", [("a",), ("a", "b"), {"a": "m", "b": "rad", "c": "s"}])
def test_sheets_without_drawing_are_full(coordinates: Any, spatial: dm.Trajectory) -> None:
    sheet = viz.overview(seen_as(spatial, dm.System(free, coordinates)))
    require_readable(sheet)
    assert largest_blank(sheet) < 0.1


def test_sheets_with_drawing_are_full(flat: dm.Trajectory, spatial: dm.Trajectory) -> None:
    wide = seen_as(flat, dm.machine(box_on_rail, COORDINATES))
    for run in (flat, spatial, wide):
        sheet = viz.overview(run)
        require_readable(sheet)
        assert largest_blank(sheet) < 0.13


def test_a_tournament_is_drawn_way_by_way_with_drifts_and_energy() -> None:
    system = machine("pendulum_dae")
    run = dm.simulate(system, *system.starts["default"], duration=0.5, samples=11)
    ways = [
        Entry(name, "Dopri8", run, 0.0, 0.0, 0.0, 0.0, 10, 0.1, "") for name in ("one", "other")
    ]
    figure = dm.viz.tournament(Tournament(tuple(ways), "a fine run"))
    assert len(figure.axes) == 3
    assert all(ax.get_ylabel() and len(ax.lines) == 2 for ax in figure.axes)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["one", "other"]
    plt.close(figure)
