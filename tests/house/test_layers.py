"""Imports go down only. This file is where a new room is declared."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "diffmech"

# room -> (floor, outside packages beyond the ones allowed everywhere)
ROOMS: dict[str, tuple[int, set[str]]] = {
    "_suggest": (0, set()),
    "_indices": (0, set()),
    "_units": (0, set()),
    "_typing": (0, set()),
    "_checks": (0, set()),
    "_defaults": (0, set()),
    "_printing": (0, set()),
    "_batches": (0, set()),
    "_reads": (0, set()),
    "_fingerprint": (0, set()),
    "_derivative_guards": (0, set()),
    "_void": (0, set()),
    "_results": (0, {"diffrax"}),
    "_records": (0, set()),
    "_folders": (0, set()),
    "_memory": (0, set()),
    "_progress": (0, {"tqdm"}),
    "_stretches": (0, set()),
    "tuning": (0, set()),
    "geometry": (1, set()),
    "scalars": (1, {"sympy"}),
    "model": (2, set()),
    "systems": (3, set()),
    "motion": (3, {"lineax"}),
    "simulation": (4, {"diffrax", "optimistix", "lineax"}),
    "assembly": (4, {"optimistix"}),
    "lanes": (4, {"diffrax"}),
    "maps": (5, set()),
    "orbits": (5, {"diffrax", "optimistix"}),
    "sections": (5, set()),
    "chaos": (5, set()),
    "derivation": (5, {"sympy"}),
    "identification": (6, {"optimistix", "optax", "scipy"}),
    # Doors to families of one room each, and assertions for people's own tests.
    "joints": (6, set()),
    "parts": (6, set()),
    "solvers": (6, set()),
    "reducers": (6, set()),
    "criteria": (6, set()),
    "testing": (6, set()),
    # One verb for the files of several rooms.
    "_load": (7, set()),
    "viz": (7, {"matplotlib", "mpl_toolkits", "PIL"}),
    "cli": (8, {"click"}),
    "__main__": (9, set()),
}
EVERYWHERE = {"numpy", "jax", "equinox", "jaxtyping"}
# Floor 0 is one floor of small tools: they may use each other in this order.
FLOOR_ZERO_ORDER = [name for name, (floor, _) in ROOMS.items() if floor == 0]


def _room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _is_typing_block(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imports(path: Path) -> list[tuple[str, bool]]:
    """(room or outside package, whether it is ours) for every import that runs."""
    found = []
    package = path.relative_to(ROOT.parent).parts[:-1]
    skipped: set[ast.AST] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if _is_typing_block(node):
            skipped.update(ast.walk(node))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name.split(".")[0], False) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None
            found.append((node.module.split(".")[0], False))
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            base = [part for part in base if part]
            names = [base[1]] if len(base) > 1 else [alias.name for alias in node.names]
            found += [(name, True) for name in names]
    return found


SOURCES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    room = _room_of(path)
    assert room in ROOMS, f"declare the room {room!r} and its floor here first"
    floor, outside = ROOMS[room]
    stdlib = __import__("sys").stdlib_module_names
    for name, ours in _imports(path):
        if not ours:
            everywhere = EVERYWHERE if room != "cli" else set()  # it makes calls, not numbers
            allowed = name in stdlib or name in everywhere or name in outside
            assert allowed, f"{path.name} imports {name}, which {room} may not"
        elif name == room:
            continue
        elif floor == 0 and ROOMS[name][0] == 0:
            assert FLOOR_ZERO_ORDER.index(name) < FLOOR_ZERO_ORDER.index(room), f"{path}: {name}"
        else:
            assert ROOMS[name][0] < floor, f"{path.name} on floor {floor} imports {name}"
            assert not (4 <= floor <= 7 and name == "systems"), f"{path.name} knows machines"


def test_rooms_are_entered_by_their_door() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level >= 2 and node.module:
                parts = node.module.split(".")
                assert len(parts) == 1, f"{path.name} reaches into {node.module}"


def test_the_top_level_imports_nothing_heavy() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    names = {
        name
        for node in tree.body
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
