"""README, guide, examples and benchmarks run as they stand."""

import re
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import print_figure
from matplotlib import pyplot as plt
from PIL import Image

import diffmech as dm
from diffmech import cli

from ..conftest import ROOT
from ..made_fits import made_fit
from .names import FAMILIES

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONG_RUNS = {
    *("babyboot_bands.py", "chain_cases.py", "flip_times.py", "gallery.py", "keep_orthogonal.py"),
    *("mathieu_tongues.py", "tame_the_boot.py", "what_is_it_made_of.py"),
}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BENCHMARKS = {
    "cold_start.py": ["--repeats", "1", "--machines", "pendulum"],
    "first_trajectory.py": ["--links", "2", "--repeats", "1", "--limit", "100"],
    "parts_cost.py": ["--repeats", "1", "--only", "babyboot"],
    "constraint_cost.py": ["--repeats", "1", "--only", "double_pendulum_natural"],
    "stability.py": ["--quick"],
    "equations.py": ["--links", "1", "--only", "spherical_pendulum"],
    "long_energy.py": ["--periods", "5", "--methods", "GaussLegendre4,Dopri5"],
}


@pytest.fixture
def script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """Run a program in an empty folder, in this process (what is compiled stays): its output."""

    def call(path: Path, *arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(path.parent))
        monkeypatch.setattr(sys, "argv", [str(path), *arguments])
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out

    yield call
    plt.close("all")


def program_of(page: Path) -> str:
    """All Python of a page: its blocks are one program."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    return "\n".join(blocks)


# What every page's program leaves behind, and how a line of what it prints begins.
PAGES = {
    "README": (["spring.png"], "run      spring pendulum, 10 s by Dopri8"),
    "derivations": ([], "Unchecked: there is nothing to compare"),
    "ensembles": ([], "babyboot: 500 motions of 10 s"),
    "fits": (["swing.png", "rod.npz"], "l  "),
    "models": ([], "freedom   3 − 2 (rank) = 1"),
    "pictures": (["boot.gif", "results/motion.gif"], None),
    "runs": (["run.npz", "run.csv"], "half turn "),
    "stability": (["bands.png"], "babyboot: chaotic"),
}


@pytest.mark.parametrize("name", PAGES)
def test_programs_of_the_readme_and_the_guide_run(
    name: str, script: Callable[..., str], tmp_path: Path
) -> None:
    written, begins = PAGES[name]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = tmp_path / "program.py"
    program.write_text(program_of(page_called(name)), encoding="utf-8")
    lines = script(program).splitlines()
    assert begins is None or any(line.startswith(begins) for line in lines)
    for file in written:
        assert (tmp_path / file).exists()
    if name == "README":
        assert "Believable to the end" in lines[5]
    if name == "fits":
        found = next(line for line in lines if line.startswith("l  "))
        assert float(found.split()[1]) == pytest.approx(0.1532, abs=1e-4), "the reduced length"


def page_called(name: str) -> Path:
    return ROOT / "README.md" if name == "README" else ROOT / "docs" / f"{name}.md"


def test_every_page_is_linked_and_every_program_is_run() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.encode()) <= 8192, "the README is for five minutes: the guide has the rest"
    for page in sorted((ROOT / "docs").glob("*.md")):
        assert f"(docs/{page.name})" in readme
        assert bool(program_of(page)) == (page.stem in PAGES)
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_pages_speak_of_names_that_are_there() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for first, second in re.findall(r"\bdm\.(\w+)(?:\.(\w+))?", page.read_text("utf-8")):
            assert hasattr(dm, first), f"{page.name} speaks of dm.{first}"
            family = first in FAMILIES and second
            assert not family or hasattr(getattr(dm, first), second), (
                f"{page.name} speaks of dm.{first}.{second}"
            )


def test_pictures_of_the_pages_are_there_and_small() -> None:
    pages = {"README.md": 7, "docs/pictures.md": 2}
    for page, count in pages.items():
        pictures = re.findall(r'<img src="([^"]+)"', (ROOT / page).read_text("utf-8"))
        assert len(pictures) == count
        for name in pictures:
            path = (ROOT / page).parent / name
            with Image.open(path) as picture:
                assert np.ptp(np.asarray(picture.convert("L"))) > 100, f"{name} is blank"
            assert path.stat().st_size < 300_000


def test_the_guides_commands_are_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = (ROOT / "docs" / "commands.md").read_text("utf-8").split("```")[1]
    commands = re.findall(r"^diffmech ([^#\n]*)", block, re.MULTILINE)
    assert len(commands) == 13
    (tmp_path / "derivation.txt").write_text(
        "qA''*(IA + mA*LA^2 + mB*LB^2 + IBx*cos(qB)^2 + IBy*sin(qB)^2)"
        " = 2*(IBx - IBy)*sin(qB)*cos(qB)*qA'*qB' - (mA*LA + mB*LB)*g*sin(qA)\n"
        "qB'' = -sin(qB)*cos(qB)*qA'^2*(IBx - IBy)/IBz\n"
    )
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for words in commands:
        assert cli.run(words.split()) == 0, f"{words}: {capsys.readouterr().err}"
    assert (tmp_path / "run5" / "motion.gif").exists()


def test_the_guides_fit_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "fits.md").read_text("utf-8")
    (words,) = re.findall(r"^diffmech (fit .*)", page, re.MULTILINE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    # The program above it fits the same swings; here a fit made before stands for the result.
    monkeypatch.setattr("diffmech.identification.fit", lambda *args, **named: made_fit())
    assert cli.run(words.split()) == 0, capsys.readouterr().err
    assert (tmp_path / "rod" / "report.md").exists()


def test_the_readme_names_the_two_commands_of_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 25
    assert {path.name for path in EXAMPLES} >= LONG_RUNS
    assert len(NOTEBOOKS) == 6


def marked(path: Path) -> Any:
    """An example as a parameter of a test."""
    marks = [pytest.mark.long_runs] if path.name in LONG_RUNS else []
    return pytest.param(path, id=path.name, marks=marks)


@pytest.mark.parametrize("path", [marked(path) for path in EXAMPLES])
def test_examples_run_and_check_their_claim(path: Path, script: Callable[..., str]) -> None:
    source = path.read_text("utf-8")
    assert len(source.splitlines()) <= 80
    assert source.split('"""')[1].splitlines()[0].endswith("?"), "the title is a question"
    assert "assert" in source
    assert script(path)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """IPython in an empty folder, in this process (what is compiled stays)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()
    plt.close("all")


def shown_in(shell: InteractiveShell, notebook: Any) -> list[dict[str, Any]]:
    """What the cells show, by media type: their last value, and all figures that they leave."""
    shown = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            done = shell.run_cell(cell.source)
            done.raise_error()
            if done.result is not None:
                shown.append(DisplayFormatter(parent=shell).format(done.result)[0])
            shown += [{"image/png": print_figure(plt.figure(i))} for i in plt.get_fignums()]
            plt.close("all")
    return shown


def shown_by_a_kernel(notebook: Any, folder: Path) -> list[dict[str, Any]]:
    """The same from a process of its own."""
    nbclient.NotebookClient(
        notebook, timeout=1800, resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebooks_run_and_show_pictures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(path, as_version=4)
    assert len(notebook.cells) <= 15
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
    tunes = any("tune_cpu" in cell.source for cell in notebook.cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own machinery
        if tunes:  # which a process must do before it computes anything
            shown = shown_by_a_kernel(notebook, tmp_path)
        else:
            shown = shown_in(request.getfixturevalue("shell"), notebook)
    assert sum("image/png" in data for data in shown) >= 2
    assert any("data:image/gif" in data.get("text/html", "") for data in shown)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_run_in_small(name: str, script: Callable[..., str]) -> None:
    out = script(ROOT / "benchmarks" / name, *BENCHMARKS[name])
    assert len(out.splitlines()) >= 4
