"""The cache of compiled programs, seen and cleared from the command line."""

import json
from pathlib import Path

import pytest

from diffmech.cli import run

from ..tuning.test_cache import compiled, fresh as fresh, kept, opened


@pytest.mark.usefixtures("fresh")
def test_the_command_line_clears_the_cache_and_warns_of_an_unsafe_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    root = tmp_path / "diffmech" / "programs"
    assert run(["doctor", "--clear-cache"]) == 0
    assert capsys.readouterr().out == f"Deleted 0 programs, 0 MB, from {root}.\n"
    store = opened(root)
    compiled(store, march=bytes(2000))
    store.close()
    assert run(["doctor", "--clear-cache", "--json"]) == 0
    told = {"folder": str(root), "programs": 1, "bytes": 2000}
    assert json.loads(capsys.readouterr().out) == told
    assert kept(root) == []
    assert run(["doctor", "four_bar", "--clear-cache"]) == 2
    assert "--clear-cache goes alone" in capsys.readouterr().err
    root.chmod(0o777)
    assert run(["doctor", "pendulum_dae", "--set", "x=oops"]) == 2
    note, error = capsys.readouterr().err.splitlines()
    assert note.startswith("Note: the compilation cache is off: `")
    assert "must be yours alone, but has mode 777" in note
    assert error.startswith("Error: ")
