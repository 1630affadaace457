"""`diffmech check`, `crosscheck` and `equations`: derivations on the command line."""

import json
from pathlib import Path

import pytest

from diffmech.cli import run

from ..derivation.test_check_derivation import SOLVED
from .test_cli import Cli, cli as cli


def test_the_command_tells_right_from_wrong_and_from_unreadable(cli: Cli) -> None:
    Path("mine.txt").write_text(SOLVED, encoding="utf-8")
    code, said, _ = cli("check", "babyboot", "mine.txt")
    assert code == 0
    assert "right: 2 of 2 equations" in said
    Path("mine.txt").write_text(SOLVED.replace("IBz", "Iz"), encoding="utf-8")
    assert cli("check", "babyboot", "mine.txt", "--symbol", "Iz=IBx", "--json")[0] == 1
    code, _, told = cli("check", "babyboot", "mine.txt")
    assert code == 2
    assert told.split("\n")[2].index("^") == told.split("\n")[1].index("Iz"), "the caret survives"
    code, said, _ = cli("check", "pendulum", "mine.txt", "--vary", "all")
    assert code == 2
    assert cli("check", "babyboot", "yours.txt")[0] == 2
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00")
    assert "not a text file in UTF-8" in cli("check", "babyboot", "bytes.txt")[2]


def test_the_command_gives_json_for_graders(cli: Cli) -> None:
    Path("mine.txt").write_text(SOLVED.replace("= 2*sin", "= sin"), encoding="utf-8")
    code, said, _ = cli("check", "babyboot", "mine.txt", "--json", "--param", "mB=0.2")
    found = json.loads(said)
    assert code == 1
    assert found["equations"][0]["where"] == "Coriolis term qA' qB'"
    assert 0.5 < found["credit"] < 1


def test_the_command_prints_the_table_or_json_and_ends_with_1_where_they_disagree(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["crosscheck", "pendulum", "--states", "6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pendulum: three formulations at 6 random states"
    assert lines[-1].startswith("Three formulations agree to")
    assert run(["crosscheck", "free_body:route=quaternion", "--states", "6", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"].startswith("Unchecked")
    words = ["crosscheck", "babyboot", "--states", "6", "--seed", "2", "--json"]
    words += ["--against", "babyboot_of_bodies"]
    for change, code in (([], 0), (["--param", "IBz=3e-4"], 1)):
        assert run([*words, *change]) == code
        shown = json.loads(capsys.readouterr().out)
        assert shown["passed"] is (code == 0)
        gap = shown["formulations"]["against babyboot_of_bodies"]["accelerations"]
        assert (gap < 1e-9) is (code == 0)
    assert shown["worst"]["of"] == "qB"
    assert run(["crosscheck", "pendulum", "--states", "0"]) == 2
    assert "`states` must be" in capsys.readouterr().err


def test_the_command_prints_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    heads = {
        "text": "babyboot: M q''",
        "latex": "\\[\n\\begin{aligned}",
        "markdown": "**babyboot**",
        "python": "from numpy import",
        "c": "#include <math.h>",
        "js": "// babyboot: acceleration",
    }
    for name, head in heads.items():
        assert run(["equations", "babyboot", "--format", name]) == 0
        assert capsys.readouterr().out.startswith(head)
    assert run(["equations", "n_link:n=1", "--zero", "all", "--json"]) == 0
    assert '"left_out": [\n    "stiffnesses[0]"' in capsys.readouterr().out
    same = "disc.inertia[1]=disc.inertia[0]"
    assert run(["equations", "rolling_disc", "--same", same, "--form", "matrix"]) == 0
    assert "  without disc.inertia[1]" in capsys.readouterr().out
    assert run(["equations", "babyboot", "--format", "fortran"]) == 2
    assert run(["equations", "babyboot", "--zero", "gg"]) == 2
    assert "Did you mean 'g'?" in capsys.readouterr().err
