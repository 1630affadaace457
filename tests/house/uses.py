"""What tests use of the package, and what they may: their own room and those below it."""

import ast
import contextlib
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .rooms import (
    FAMILIES,
    PACKAGE,
    ROOMS,
    ROOT,
    TESTS,
    Import,
    homes,
    imports_in,
    imports_of,
    tree_of,
)


class Use(NamedTuple):
    """A name of the package that a test uses: where, from which room, and as it is written."""

    file: Path
    line: int
    room: str
    name: str


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
    for found in imports_in(tree):
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
    if tree := _program(text):
        yield from _uses(tree)


def _program(text: str) -> ast.Module | None:
    """A text that is a program and imports the package."""
    if re.search(r"^\s*(import .*|from )diffmech\b", text, re.MULTILINE):
        with contextlib.suppress(SyntaxError):  # words about it, or a part of a program
            return ast.parse(textwrap.dedent(text))
    return None


def imports_of_texts(path: Path) -> Iterator[list[Import]]:
    """What the programs import that a test file holds as text."""
    for node in ast.walk(tree_of(path)):
        text = node.value if isinstance(node, ast.Constant) else None
        program = _program(text) if isinstance(text, str) else None
        if program:
            yield list(imports_in(program))


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


# What the tests of a room use beyond it and the rooms below it, with the reason.
ALSO_USED: dict[str, dict[str, str]] = {
    "geometry": {"scalars": "rotations are evaluated by every algebra, and must be the same"},
    "motion": {"systems": "the laws hold for every machine of the catalogue"},
    "systems": {
        "motion": "a machine's truth is in its equations: accelerations, reactions, momenta",
        "simulation": "and in its motions: published digits, closed forms along time",
    },
    "derivation": {"formulas": "what is printed of a machine is right when it is read back"},
    "assembly": {"simulation": "the oracle: a state that obeys the constraints can be run"},
    "lanes": {"simulation": "the oracle: a lane is the single run of its start"},
}
# `dm.load` reads a file by the loader of the record's own room, and enters no other.
_OF_ALL = {"_load"}
WHOLE = "house"  # the folder of tests about the whole package


def may_use(folder: str) -> set[str]:
    """The rooms that the tests in a folder may use."""
    if folder == WHOLE:
        return set(ROOMS)
    below = {room for room in ROOMS if ROOMS[room].floor < max(ROOMS[folder].floor, 1)}
    if "maps" in below | {folder}:
        below |= {"criteria"}
    return {folder, *below, *_OF_ALL, *ALSO_USED.get(folder, {})}


def rooms_with_tests() -> set[str]:
    """The folders of tests that are named like rooms."""
    return {path.name for path in TESTS.iterdir() if path.name in ROOMS}
