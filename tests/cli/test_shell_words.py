"""Sentences of the library in the command line's words: none of them keeps Python's spelling."""

import ast

import click
import pytest

from diffmech.cli import cli
from diffmech.cli._options import _TABLE
from diffmech.cli._shell_words import _OPTIONS, _SHELL, for_the_shell

from ..conftest import ROOT


def _texts(tree: ast.AST) -> list[str]:
    """Texts of a file that are no docstrings; what is filled into them stands as {}."""
    texts, skipped = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
            parts = (p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
            texts.append("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and node not in skipped:
            texts += [node.value] if isinstance(node.value, str) else []
    return texts


@pytest.fixture(scope="module")
def library() -> list[str]:
    """Every text in the code of the library, the command line left out."""
    files = [path for path in (ROOT / "diffmech").rglob("*.py") if "cli" not in path.parts]
    return [text for path in files for text in _texts(ast.parse(path.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("python", _SHELL)
def test_a_sentence_that_is_replaced_is_still_in_the_library(
    python: str, library: list[str]
) -> None:
    """If this fails, a message was reworded: reword its key in `_SHELL` with it."""
    assert any(python in text for text in library), f"no message says {python!r} any more"
    assert python not in for_the_shell(f"It is so: {python}.")


def test_an_argument_is_spelled_as_an_option_that_a_command_has() -> None:
    options = {
        word
        for command in cli.commands.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for word in parameter.opts
    }
    assert {*_OPTIONS.values()} <= options


def test_options_that_several_commands_have_are_declared_once() -> None:
    shared = {declared.words[0]: name for name, declared in _TABLE.items()}
    for path in sorted((ROOT / "diffmech" / "cli").glob("_[!o]*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "click.option":
                word = ast.unparse(node.args[0]).strip("\"'")
                assert word not in shared, f"{path.name}: @option({shared[word]!r}) has it"
