"""README, examples and benchmarks run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BENCHMARKS = {
    "first_trajectory.py": ["--links", "2", "--repeats", "1", "--limit", "100"],
    "long_energy.py": ["--periods", "5"],
}


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readmes_programs_run(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 4
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    lines = run(str(script), cwd=tmp_path).splitlines()
    assert lines[0].startswith("run      lagrangian, 10 s by Dopri8")
    assert "Believable to the end" in lines[5]
    assert (tmp_path / "run.csv").exists()


def test_the_readme_names_the_two_commands_of_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 1


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_examples_run_and_check_their_claim(path: Path, tmp_path: Path) -> None:
    source = path.read_text("utf-8")
    assert len(source.splitlines()) <= 80
    assert source.split('"""')[1].splitlines()[0].endswith("?"), "the title is a question"
    assert "assert" in source
    run(str(path), cwd=tmp_path)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_run_in_small(name: str, tmp_path: Path) -> None:
    out = run(str(ROOT / "benchmarks" / name), *BENCHMARKS[name], cwd=tmp_path)
    assert len(out.splitlines()) >= 4
