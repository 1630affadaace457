"""The public names: lazy, complete, documented."""

import ast
import inspect
import subprocess
import sys

import jaxtyping
import pytest

import diffmech as dm
from diffmech.systems import CATALOGUE

from ..conftest import ROOT


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_public_name_resolves_and_is_documented() -> None:
    for name in dm.__all__:
        value = getattr(dm, name)
        assert name == "__version__" or inspect.getdoc(value), f"{name} has no docstring"
    assert set(dir(dm)) == set(dm.__all__)


def test_the_names_for_type_checkers_are_the_lazy_ones() -> None:
    tree = ast.parse((ROOT / "diffmech" / "__init__.py").read_text(encoding="utf-8"))
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    static = {
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert static | {"__version__"} == set(dm.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(dm, "lagrangeify")
    assert not hasattr(dm.systems, "perpetuum_mobile")


def test_listing_machines_does_not_import_jax() -> None:
    code = (
        "import sys, diffmech; from diffmech.systems import CATALOGUE; "
        "assert 'jax' not in sys.modules and 'numpy' not in sys.modules; print(len(CATALOGUE))"
    )
    assert int(_run(code)) == len(CATALOGUE)


def test_importing_every_module_does_not_start_the_backend() -> None:
    code = """
import importlib, pathlib, diffmech
root = pathlib.Path(diffmech.__file__).parent
names = [".".join(("diffmech", *p.relative_to(root).with_suffix("").parts))
         for p in root.rglob("*.py") if p.name != "__init__.py"]
for name in names:
    importlib.import_module(name)
system = diffmech.systems.n_link(n=4)
import os, jax
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
print(len(names) > 20, len(jax.devices()))
"""
    assert _run(code) == "True 3"  # `test_tuning` tunes such a process


def test_a_machine_stays_a_function_when_its_module_is_imported() -> None:
    code = (
        "import diffmech.systems.babyboot, diffmech as dm; "
        "from diffmech.systems.babyboot import lagrangian; "
        "print(dm.systems.babyboot().name, lagrangian.__name__)"
    )
    assert _run(code) == "babyboot lagrangian"


def test_float64_is_on_and_can_be_declined() -> None:
    ask = "import jax, jax.numpy as jnp; print(jnp.zeros(()).dtype)"
    assert _run(f"import diffmech; {ask}") == "float64"
    assert _run(f"import jax, diffmech; {ask}") == "float64"
    assert _run(f"import os; os.environ['DIFFMECH_X64'] = '0'; import diffmech; {ask}") == "float32"
    assert _run(f"import os; os.environ['JAX_ENABLE_X64'] = '0'; import diffmech; {ask}") == (
        "float32"
    )


def test_every_machine_has_a_start_a_drawing_and_a_text() -> None:
    for name, (module, text) in CATALOGUE.items():
        system = getattr(dm.systems, name)()
        assert module
        assert text
        assert "default" in system.starts
        assert system.landmarks is not None
        assert system.links or system.springs or system.faces or name == "particle"
        assert system.name.split(":")[0] == name


def test_the_version_is_the_metadata_one() -> None:
    assert dm.__version__.count(".") == 2


def test_types_of_arguments_are_checked_while_testing() -> None:
    with pytest.raises(jaxtyping.TypeCheckError, match="typechecking parameter 'on'"):
        dm.cache("yes")  # pyright: ignore[reportArgumentType]
