"""The rooms: their floors, what they import, which tests are theirs. Read from the sources.

    python -m tests.house.rooms quick lanes    test folders to run after a change in a room
    python -m tests.house.rooms quick          the same for what has changed since the last commit
    python -m tests.house.rooms drawing        write the drawing in CONTRIBUTING.md anew

A new room is declared here, in `ROOMS`. Nothing here imports the package: this takes a second.
"""

import ast
import sys
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
    "_stretches": _room(0),
    "tuning": _room(0),
    "geometry": _room(1),
    "scalars": _room(1, "sympy"),
    "model": _room(2),
    "systems": _room(3),
    "motion": _room(3),
    "simulation": _room(4, "diffrax", "optimistix"),
    "assembly": _room(4, "optimistix"),
    "lanes": _room(4, "diffrax"),
    "maps": _room(5),
    "orbits": _room(5),
    "sections": _room(5),
    "chaos": _room(5),
    "formulas": _room(5),
    "crosschecks": _room(5),
    "derivation": _room(5),
    "identification": _room(6, "scipy"),
    # Doors to families of one room each, and assertions for people's own tests.
    "joints": _room(6),
    "parts": _room(6),
    "solvers": _room(6),
    "reducers": _room(6),
    "criteria": _room(6),
    "testing": _room(6),
    # One verb for the files of several rooms.
    "_load": _room(7, "diffrax"),
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
    return list(imports_in(tree_of(path), path.relative_to(ROOT).parts[:-1]))


def imports_in(tree: ast.Module, package: tuple[str, ...] = ()) -> Iterator[Import]:
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
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
            for name in node.args:
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield Import(node.lineno, name.value, "", None, typing)


@cache
def homes() -> dict[str, str]:
    """Public name -> its room, as the package's lazy table has it."""
    for node in tree_of(PACKAGE / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            return ast.literal_eval(node.value)
    raise AssertionError("`diffmech/__init__.py` has no table `_HOMES`")


def rooms_imported(room: str) -> set[str]:
    """The rooms that a room imports when it runs, the ground floor's files among them."""
    imports = (found for path in sources(room) for found in imports_of(path))
    return {found.room for found in imports if found.ours and not found.typing} - {room}


def importers(room: str) -> set[str]:
    """The rooms that import a room."""
    return {other for other in ROOMS if room in rooms_imported(other)}


def file_graph(room: str) -> dict[str, set[str]]:
    """File -> files of the same room that it imports in any way; of floor 0, if that is the room.

    The door is one of them: a file that imports from the door of its own room closes a circle.
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


# The drawing: floors from top to bottom, arrows from a room to what it imports.

BEGIN, END = "<!-- rooms: written by `make drawing` -->", "<!-- end of rooms -->"


def drawing() -> str:
    """The rooms as a Mermaid diagram and as a table.

    An arrow goes from a room to one that it imports; those that follow from others are left out.
    """
    shown = [room for room in ROOMS if (PACKAGE / room).is_dir()]
    imports = {room: rooms_imported(room) & set(shown) for room in shown}
    lines = ["```mermaid", "flowchart TD"]
    floors = sorted({ROOMS[room].floor for room in shown}, reverse=True)
    for floor in floors:
        rooms = [room for room in shown if ROOMS[room].floor == floor]
        lines.append(f'  subgraph f{floor}["floor {floor}"]')
        lines += [f"    {room}" for room in rooms] + ["  end"]
    for room in reversed(shown):
        for below in sorted(imports[room], key=shown.index, reverse=True):
            others = imports[room] - {below}
            if not any(below in _reached(imports, other) for other in others):
                lines.append(f"  {room} --> {below}")
    lines += ["```", "", "| floor | room | holds | imports | outside packages |"]
    lines.append("|---|---|---|---|---|")
    for room in reversed(shown):
        below = ", ".join(f"`{name}`" for name in sorted(imports[room], key=shown.index)) or "–"
        outside = ", ".join(sorted(ROOMS[room].outside)) or "–"
        holds = summary(PACKAGE / room / "__init__.py")
        lines.append(f"| {ROOMS[room].floor} | `{room}` | {holds} | {below} | {outside} |")
    lines += [
        "",
        "Beside `tuning`, the ground floor has files, each of which may use those above it:",
    ]
    lines += ["", "| file | holds |", "|---|---|"]
    lines += [
        f"| `{room}` | {summary(PACKAGE / f'{room}.py')} |" for room in GROUND if room not in shown
    ]
    return "\n".join(lines)


def summary(path: Path) -> str:
    """What a file says of itself in one line."""
    return summary_of(ast.get_docstring(tree_of(path)) or "")


def summary_of(text: str) -> str:
    """The first line of a docstring, fit for a table of Markdown."""
    return text.split("\n")[0].replace("|", "\\|")


def with_drawing(page: str) -> str:
    """A page whose drawing is that of the sources."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{drawing()}\n\n{END}{after}"


def main(words: list[str]) -> None:
    match words:
        case ["quick", *rooms]:
            from .quick import changed_files, quick_tests

            files = [f"diffmech/{room}/" for room in rooms] or changed_files()
            unknown = [room for room in rooms if room not in ROOMS]
            if unknown:
                sys.exit(f"there is no room {', '.join(unknown)}; there are {', '.join(ROOMS)}")
            print(" ".join(quick_tests(files)))
        case ["drawing"]:
            page = ROOT / "CONTRIBUTING.md"
            page.write_text(with_drawing(page.read_text("utf-8")), encoding="utf-8")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
