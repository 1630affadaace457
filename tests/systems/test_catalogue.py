"""The catalogue: a machine has one line for those who read and one for type checkers."""

import ast

from diffmech.systems import CATALOGUE

from ..conftest import ROOT


def test_type_checkers_know_the_machines_of_the_catalogue() -> None:
    source = (ROOT / "diffmech" / "systems" / "__init__.py").read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    typed = {node.module: [alias.name for alias in node.names] for node in imports if node.module}
    typed.pop("types")
    typed.pop("typing")
    assert typed == {module: [name] for name, (module, _) in CATALOGUE.items()}
