"""README, examples and benchmarks run as they stand."""

import re
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest
from matplotlib import pyplot as plt
from PIL import Image

from diffmech import cli

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BENCHMARKS = {
    "cold_start.py": ["--repeats", "1"],
    "first_trajectory.py": ["--links", "2", "--repeats", "1", "--limit", "100"],
    "parts_cost.py": ["--repeats", "1", "--only", "babyboot"],
    "constraint_cost.py": ["--repeats", "1", "--only", "double_pendulum_natural"],
    "stability.py": ["--quick"],
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


def test_the_readmes_programs_run(script: Callable[..., str], tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 9
    program = tmp_path / "readme.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    lines = script(program).splitlines()
    assert lines[0].startswith("run      lagrangian, 10 s by Dopri8")
    assert "Believable to the end" in lines[5]
    assert any(line.startswith("half turn ") for line in lines), "the event ends the run"
    for name in ("run.csv", "spring.png", "bands.png", "boot.gif", "results/motion.gif"):
        assert (tmp_path / name).exists()


def test_the_readmes_pictures_are_there_and_small() -> None:
    pictures = re.findall(r'<img src="([^"]+)"', (ROOT / "README.md").read_text("utf-8"))
    assert len(pictures) == 9
    for name in pictures:
        with Image.open(ROOT / name) as picture:
            assert np.ptp(np.asarray(picture.convert("L"))) > 100, f"{name} is blank"
        assert (ROOT / name).stat().st_size < 300_000


def test_the_readmes_commands_are_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = (ROOT / "README.md").read_text("utf-8").split("## Without writing Python")[1]
    commands = re.findall(r"^diffmech ([^#\n]*)", block.split("```")[1], re.MULTILINE)
    assert len(commands) == 10
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for words in commands:
        assert cli.run(words.split()) == 0, f"{words}: {capsys.readouterr().err}"
    assert (tmp_path / "run5" / "motion.gif").exists()


def test_the_readme_names_the_two_commands_of_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 19
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_examples_run_and_check_their_claim(path: Path, script: Callable[..., str]) -> None:
    source = path.read_text("utf-8")
    assert len(source.splitlines()) <= 80
    assert source.split('"""')[1].splitlines()[0].endswith("?"), "the title is a question"
    assert "assert" in source
    assert script(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebooks_run_and_show_pictures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(path, as_version=4)
    assert len(notebook.cells) <= 15
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own machinery
        client = nbclient.NotebookClient(
            notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}}
        )
        client.execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    kinds = [kind for out in shown for kind in out.get("data", {})]
    films = ["data:image/gif" in out.get("data", {}).get("text/html", "") for out in shown]
    assert kinds.count("image/png") >= 2
    assert any(films)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_run_in_small(name: str, script: Callable[..., str]) -> None:
    out = script(ROOT / "benchmarks" / name, *BENCHMARKS[name])
    assert len(out.splitlines()) >= 4
