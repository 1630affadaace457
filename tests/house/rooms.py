"""The rooms: their floors, what they import, which tests are theirs. Read from the sources.

    python -m tests.house.rooms quick lanes    test folders to run after a change in a room
    python -m tests.house.rooms quick          the same for what has changed since the last commit
    python -m tests.house.rooms drawing        write the drawing in CONTRIBUTING.md anew

A new room is declared here, in `ROOMS`. Nothing here imports the package: this takes a second.
"""

import ast
import contextlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "diffmech"
TESTS = ROOT / "tests"


class Room(NamedTuple):
    """Its floor, and the outside packages it needs beyond those allowed everywhere."""

    floor: int
    outside: frozenset[str] = frozenset()


def _room(floor: int, *outside: str) -> Room:
    return Room(floor, frozenset(outside))


ROOMS: dict[str, Room] = {
    # Floor 0 is one floor of small tools: they may use each other in this order.
    "_suggest": _room(0),
    "_indices": _room(0),
    "_units": _room(0),
    "_typing": _room(0),
    "_checks": _room(0),
    "_defaults": _room(0),
    "_printing": _room(0),
    "_batches": _room(0),
    "_reads": _room(0),
    "_fingerprint": _room(0),
    "_derivative_guards": _room(0),
    "_void": _room(0),
    "_results": _room(0, "diffrax"),
    "_records": _room(0),
    "_folders": _room(0),
    "_memory": _room(0),
    "_progress": _room(0, "tqdm"),
    "tuning": _room(0),
    "geometry": _room(1),
    "scalars": _room(1, "sympy"),
    "model": _room(2),
    "systems": _room(3),
    "motion": _room(3, "lineax"),
    "simulation": _room(4, "diffrax", "optimistix", "lineax"),
    "assembly": _room(4, "optimistix"),
    "lanes": _room(4, "diffrax"),
    "maps": _room(5),
    "orbits": _room(5, "diffrax", "optimistix"),
    "sections": _room(5),
    "chaos": _room(5),
    "derivation": _room(5, "sympy"),
    "identification": _room(6, "optimistix", "optax", "scipy"),
    # Doors to families of one room each, and assertions for people's own tests.
    "joints": _room(6),
    "parts": _room(6),
    "solvers": _room(6),
    "reducers": _room(6),
    "criteria": _room(6),
    "testing": _room(6),
    "viz": _room(7, "matplotlib", "mpl_toolkits", "PIL"),
    "cli": _room(8, "click"),
    "__main__": _room(9),
}
FAMILIES = ("joints", "parts", "solvers", "reducers", "criteria")
GROUND = [name for name, room in ROOMS.items() if room.floor == 0]
EVERYWHERE = {"numpy", "jax", "equinox", "jaxtyping"}  # but in `cli`: it makes calls, not numbers


class Import(NamedTuple):
    """One name of one import: `name` of the module `module`, both as in the source tree."""

    line: int
    module: str  # "diffmech.lanes._block", or an outside package: "jax"
    name: str  # "" for `import module`
    alias: str | None  # `as` what
    typing: bool  # under TYPE_CHECKING: it never runs

    @property
    def ours(self) -> bool:
        return self.module.split(".")[0] == "diffmech"

    @property
    def room(self) -> str:
        """The room it comes from; for an outside package, that package."""
        parts = self.module.split(".")
        if not self.ours:
            return parts[0]
        return parts[1] if len(parts) > 1 else self.name


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def sources(room: str | None = None) -> list[Path]:
    """The files of a room, or of all rooms."""
    files = (path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
    return sorted(path for path in files if room in (None, room_of(path)))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@cache
def imports_of(path: Path) -> list[Import]:
    """Every import of a file, lazy ones and those for type checkers included."""
    return list(_imports(tree_of(path), path.relative_to(ROOT).parts[:-1]))


def _imports(tree: ast.Module, package: tuple[str, ...] = ()) -> Iterator[Import]:
    for_types = {inner for node in ast.walk(tree) if _for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        typing = node in for_types
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, "", alias.asname, typing)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(node.lineno, module, alias.name, alias.asname, typing)


def rooms_imported(room: str) -> set[str]:
    """The rooms that a room imports when it runs, the ground floor's files among them."""
    imports = (found for path in sources(room) for found in imports_of(path))
    return {found.room for found in imports if found.ours and not found.typing} - {room}


def importers(room: str) -> set[str]:
    """The rooms that import a room."""
    return {other for other in ROOMS if room in rooms_imported(other)}


def file_graph(room: str) -> dict[str, set[str]]:
    """File -> files of the same room that it imports in any way; of floor 0, if that is the room.

    The door `__init__.py` is no file of its own here: a file that imports from its room's door
    imports the file that the name comes from.
    """
    files = sources(room) if room != "floor 0" else [
        path for path in sources() if room_of(path) in GROUND
    ]  # fmt: skip
    names = {_module(path): path for path in files}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for found in imports_of(path):
            module = found.module
            if f"{module}.{found.name}" in names:
                module = f"{module}.{found.name}"
            if module in names and module != name:
                graph[name].add(module)
    return graph


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Sets of nodes that all reach each other (the strongly connected components above one)."""
    reached = {node: _reached(graph, node) for node in graph}
    knots = {
        frozenset(other for other in reached[node] if node in reached[other])
        for node in graph
        if node in reached[node]
    }
    return sorted(sorted(knot) for knot in knots)


def _reached(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for node in graph[waiting.pop()]:
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


# Tests --------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """A name of the package that a test uses: where, from which room, and as it is written."""

    file: Path
    line: int
    room: str
    name: str


@cache
def homes() -> dict[str, str]:
    """Public name -> its room, as the package's lazy table has it."""
    for node in tree_of(PACKAGE / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            return ast.literal_eval(node.value)
    raise AssertionError("`diffmech/__init__.py` has no table `_HOMES`")


def home_of(name: str, *, within: str = "") -> str:
    """The room of `dm.name`, or of `dm.within.name`, which a family has from a room below it."""
    if within:
        door = PACKAGE / f"{within}.py"
        if door.exists():
            for found in imports_of(door):
                if found.name == name:
                    return found.room
        return within
    return homes().get(name, name)


def uses_in(path: Path) -> Iterator[Use]:
    """What a test file uses of the package, by itself and through the helpers that it imports.

    Programs that it holds as text, for processes of their own, are read too.
    """
    tree = tree_of(path)
    for found in imports_of(path):
        helper = ROOT.joinpath(*found.module.split(".")).with_suffix(".py")
        if found.module.startswith("tests.") and helper.name not in _SHARED and helper.exists():
            yield from uses_in(helper)
    for line, room, name in _uses(tree):
        yield Use(path, line, room, name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for _, room, name in _uses_in_text(node.value):
                yield Use(path, node.lineno, room, name)


_SHARED = ("conftest.py", "tolerances.py")  # what all tests have, whatever room they are of


def _uses(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, room and name of everything that is of the package."""
    modules: dict[str, list[str]] = {}  # {"dm": [], "geo": ["geometry"]}
    for found in _imports(tree):
        if not found.ours:
            continue
        within = found.module.split(".")[1:2]
        if not found.name:
            modules[found.alias or "diffmech"] = within if found.alias else []
        elif not within and found.name in ROOMS:
            modules[found.alias or found.name] = [found.name]
        elif within:
            yield found.line, home_of(found.name, within=within[0]), found.name
        else:
            yield found.line, home_of(found.name), found.name
        if within and not found.name:
            yield found.line, within[0], found.module
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            words = _dotted(node)
            if len(words) > 1 and words[0] in modules:
                room = _room_of_words([*modules[words[0]], *words[1:]])
                if room in ROOMS and not (ROOMS[room].floor == 6 and room in FAMILIES):
                    yield node.lineno, room, ".".join(words)


def _uses_in_text(text: str) -> Iterator[tuple[int, str, str]]:
    path = re.fullmatch(r"diffmech\.(\w+)(?:\.\w+)*", text)  # for `monkeypatch.setattr`
    if path and path[1] in ROOMS:
        yield 0, path[1], text
    if re.search(r"^\s*(import .*|from )diffmech\b", text, re.MULTILINE):
        with contextlib.suppress(SyntaxError):  # words about it, or a part of a program
            yield from _uses(ast.parse(textwrap.dedent(text)))


def _room_of_words(words: list[str]) -> str:
    """The room of simulate, reducers.Last or lanes."""
    if len(words) > 1 and words[0] in ROOMS:
        return home_of(words[1], within=words[0])
    return home_of(words[0])


def _dotted(node: ast.expr) -> list[str]:
    """["dm", "systems", "pendulum"] of that expression; nothing if it is more than names."""
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [node.id, *reversed(words)] if isinstance(node, ast.Name) else []
