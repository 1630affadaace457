"""Imports go down only, in the package and in its tests. `rooms.ROOMS` declares a new room."""

import ast
import sys
from pathlib import Path

import pytest

from .quick import folders_after, quick_tests
from .rooms import (
    EVERYWHERE,
    FAMILIES,
    GROUND,
    PACKAGE,
    ROOMS,
    ROOT,
    TESTS,
    cycles,
    file_graph,
    importers,
    imports_of,
    room_of,
    rooms_imported,
    sources,
    tree_of,
    with_drawing,
)
from .uses import ALSO_USED, WHOLE, imports_of_texts, may_use, rooms_with_tests, uses_in

SOURCES = sources()
TEST_FILES = sorted(path for path in TESTS.rglob("test_*.py") if path.parent.name != WHOLE)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_imports_go_down_only(path: Path) -> None:
    """Lazy ones and those for type checkers included."""
    room = room_of(path)
    assert room in ROOMS, f"declare the room {room!r} and its floor in `rooms.ROOMS` first"
    floor, outside = ROOMS[room]
    everywhere = EVERYWHERE if room != "cli" else set()  # it makes calls, not numbers
    for found in imports_of(path):
        below = found.room
        if not found.ours:
            allowed = below in sys.stdlib_module_names or below in everywhere | outside
            assert allowed, f"{path.name} imports {below}, which {room} may not"
        elif below in GROUND and floor == 0 and below != room:
            assert GROUND.index(below) < GROUND.index(room), f"{path.name} imports {below}"
        elif below != room:
            assert ROOMS[below].floor < floor, f"{path.name} on floor {floor} imports {below}"
            knows = 4 <= floor <= 7 and below == "systems"
            assert not knows, f"{path.name} knows machines"


@pytest.mark.parametrize("room", [*(room for room in ROOMS if room not in GROUND), "floor 0"])
def test_no_files_of_a_room_need_each_other(room: str) -> None:
    """Lazy imports and those for type checkers included; the files of floor 0 count as one room."""
    knots = [[name.rsplit(".")[-1] for name in knot] for knot in cycles(file_graph(room))]
    assert not knots, f"files of {room} import each other in a circle"


@pytest.mark.parametrize("room", ROOMS)
def test_no_permission_is_stale(room: str) -> None:
    used = {found.room for path in sources(room) for found in imports_of(path) if not found.ours}
    stale = ROOMS[room].outside - used
    assert not stale, f"{room} may import {', '.join(sorted(stale))}, and never does"
    assert sources(room), f"there is no room {room}"


def test_rooms_are_entered_by_their_door() -> None:
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.level >= 2 and node.module:
                parts = node.module.split(".")
                assert len(parts) == 1, f"{path.name} reaches into {node.module}"


def test_the_top_level_imports_nothing_heavy() -> None:
    names = {
        name
        for node in tree_of(PACKAGE / "__init__.py").body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }
    assert names == {"importlib", "os", "sys", "typing"}


def test_no_file_turns_annotations_into_strings() -> None:
    # It would silently turn eqx.AbstractVar into an ordinary field.
    for path in SOURCES:
        assert "from __future__ import annotations" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", TEST_FILES, ids=named)
def test_tests_use_their_room_and_those_below_it(path: Path) -> None:
    """Names of the package count (`dm.fit`), and what helpers use, and programs kept as text."""
    folder = path.relative_to(TESTS).parts[0]
    assert folder in ROOMS, f"{named(path)} stands in no room's folder"
    allowed = may_use(folder)
    above = sorted(
        f"{named(use.file)}:{use.line} uses {use.name} of {use.room}"
        for use in uses_in(path)
        if use.room in ROOMS and use.room not in allowed
    )
    assert not above, f"tests of {folder} stay below their room:\n" + "\n".join(above)


def test_every_room_has_tests_and_no_exception_is_stale() -> None:
    untested = {room for room in ROOMS if (PACKAGE / room).is_dir()} - rooms_with_tests()
    assert not untested
    for folder, rooms in ALSO_USED.items():
        files = [path for path in TEST_FILES if path.parent.name == folder]
        used = {use.room for path in files for use in uses_in(path)}
        assert rooms.keys() <= used, f"tests of {folder} never use {rooms.keys() - used}"


def test_programs_kept_as_text_import_what_is_there() -> None:
    """They run in processes of their own, so that no type checker sees them."""
    for path in [*TEST_FILES, *(TESTS / WHOLE).glob("test_*.py")]:
        for imports in imports_of_texts(path):
            for found in imports:
                if found.module.split(".")[0] in ("diffmech", "tests"):
                    place = ROOT.joinpath(*found.module.split("."))
                    assert place.is_dir() or place.with_suffix(".py").exists(), (
                        f"{named(path)} imports {found.module}"
                    )
                    inside = place / f"{found.name}.py"
                    private = found.name.startswith("_") and place.is_dir()
                    assert inside.exists() or not private, f"{named(path)} imports {inside}"


def test_what_is_read_is_what_python_does() -> None:
    """The reader of imports against a few that are known."""
    assert {"lanes", "model"} <= rooms_imported("maps")
    assert "maps" in importers("lanes")
    assert "scalars" not in rooms_imported("maps")
    knot = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": [], "e": ["e"]}
    assert cycles(knot) == [["a", "b", "c"], ["e"]]
    used = {(use.room, use.name) for use in uses_in(TESTS / "cli" / "test_float32.py")}
    assert {("orbits", "dm.band_edges"), ("maps", "dm.criteria.Spread")} <= used


def test_after_a_change_its_tests_and_those_of_its_importers_run() -> None:
    assert folders_after("maps") == [
        "maps",
        *sorted(importers("maps") - {*FAMILIES, "_load", "cli"}),
        "cli",
    ]
    assert folders_after("criteria") == ["maps"]
    assert {"simulation", "maps", "identification"} <= {*folders_after("_records")}
    layers = "tests/house/test_layers.py"
    assert quick_tests(["docs/runs.md", "examples/boot_tumble.py"]) == [layers]
    assert quick_tests(["tests/viz/test_viz.py"]) == [layers, "tests/viz"]
    assert "tests/identification/test_compare.py" in quick_tests(["tests/made_fits.py"])
    assert "tests/lanes" in quick_tests(["diffmech/lanes/_step.py"])


def test_the_drawing_of_the_rooms_is_the_one_of_the_sources() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert page == with_drawing(page), "run `make drawing`"
