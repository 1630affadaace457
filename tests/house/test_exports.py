"""The public names: lazy, complete, documented."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import jaxtyping
import pytest

import diffmech as dm
from diffmech.systems import CATALOGUE

from ..conftest import ROOT
from ..tuning.test_tuning import ALL, DEVICES, FUSION, WIDE, python
from .names import FAMILIES, PAGE, names_of, page
from .rooms import ROOMS, homes


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


def test_after_every_import_tuning_takes_effect_and_is_inherited(tmp_path: Path) -> None:
    # The true canary, and XLA's own account of the options it compiled with.
    code = """
import importlib, os, pathlib, subprocess, sys, diffmech as dm
root = pathlib.Path(dm.__file__).parent
names = [".".join(("diffmech", *p.relative_to(root).with_suffix("").parts))
         for p in root.rglob("*.py") if p.name != "__init__.py"]
for name in names:
    importlib.import_module(name)
dm.systems.n_link(n=4)
from diffmech.tuning._tune import is_tuned
assert not is_tuned()
found = dm.tune_cpu(devices=3)
assert is_tuned() and dm.tune_cpu() is found
os.environ["XLA_FLAGS"] += " --xla_dump_to=" + sys.argv[1]
import jax, jax.numpy as jnp
jnp.sin(1.0).block_until_ready()
assert jax.device_count() == 3 and is_tuned()
assert dm.tune_cpu() is found
print(found)
os.environ["XLA_FLAGS"] = found.flags
worker = '''
from diffmech.tuning._tune import current_tuning, is_tuned
import diffmech as dm, jax
assert jax.device_count() == 3 and is_tuned()
assert dm.tune_cpu() == current_tuning() and dm.tune_cpu().active
print(dm.tune_cpu().gain)
'''
subprocess.run([sys.executable, "-W", "error", "-c", worker], check=True)
"""
    dump = tmp_path / "dump"
    said = python(code, str(dump), XDG_CACHE_HOME=str(tmp_path), XLA_FLAGS="")
    lines = said.splitlines()
    assert lines[0] == "tuning   active", said
    assert "the same numbers" in lines[1]
    assert lines[3] == "devices  3"
    # Wide vectors are this processor's matter, and the trial's.
    assert lines[4] in {f"flags    {ALL}{wide} {DEVICES}3" for wide in ("", f" {WIDE}")}
    gain = re.fullmatch(r"gain     (\d+\.\d) times as fast as without", lines[2])
    assert gain, said
    assert f"{float(lines[5]):.1f}" == gain[1], "a worker knows the gain too"
    compiled_with = [path.read_text(encoding="utf-8") for path in dump.glob("*debug_options")]
    assert compiled_with
    for text in compiled_with:
        assert FUSION in text
        assert '"100000000"' in text
        assert ("xla_cpu_prefer_vector_width: 512" in text) == (WIDE in lines[4])


def test_no_room_has_the_name_of_a_verb_and_no_import_hides_one() -> None:
    assert not set(ROOMS) & set(homes())
    code = """
import importlib, inspect, pathlib, pydoc, types, diffmech as dm
from diffmech.systems import CATALOGUE
root = pathlib.Path(dm.__file__).parent
for path in root.rglob("*.py"):
    parts = path.relative_to(root.parent).with_suffix("").parts
    importlib.import_module(".".join(parts).removesuffix(".__init__"))
verbs = [name for name in dm._HOMES if name[0].islower()]
for name in verbs:
    verb = getattr(dm, name)
    assert inspect.isfunction(inspect.unwrap(verb)), f"dm.{name} is {verb}"
    assert verb.__name__ == name and verb.__doc__ and inspect.signature(verb) is not None
for name in dm._HOMES:
    assert not isinstance(getattr(dm, name), types.ModuleType), name
for name in CATALOGUE:
    assert inspect.isfunction(getattr(dm.systems, name)), name
print(pydoc.plain(pydoc.render_doc(dm.ensemble)).splitlines()[0], len(verbs) > 50)
print(*list(inspect.signature(dm.ensemble).parameters)[:3])
"""
    assert _run(code).splitlines() == [
        "Python Library Documentation: function ensemble in module diffmech.lanes._ensemble True",
        "system q0s qd0s",
    ]


def test_the_page_of_names_is_the_one_of_the_docstrings() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `make names`"
    for family in FAMILIES:
        assert names_of(family)
