"""`diffmech edges`: what it prints, draws and refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

import diffmech as dm
from diffmech import cli
from diffmech.cli._quantities import both_ends

from ..conftest import machine


def test_edges_are_printed_in_degrees_with_their_derivatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "slopes.png"
    words = ["edges", "babyboot", "--family", "qA", "--param", "IBx=2.4e-4", "--json"]
    assert cli.run([*words, "--plot", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)
    edges = dm.band_edges(machine("babyboot").with_params(IBx=2.4e-4), "qA")
    printed = [edge["value"] for edge in found["edges"]]
    assert printed == pytest.approx(np.degrees(np.asarray(edges.values)), abs=1e-10)
    assert found["unit"] == "deg"
    slopes = [edge["derivatives"]["IBz"] for edge in found["edges"]]
    assert slopes == pytest.approx(np.degrees(np.asarray(edges.derivatives["IBz"])), rel=1e-8)
    assert picture.stat().st_size > 5000
    moved = edges.per_percent()
    assert list(moved)[:2] == ["g", "LA"]
    np.testing.assert_allclose(
        moved["IBz"], 0.01 * 2e-4 * np.degrees(np.asarray(edges.derivatives["IBz"]))
    )
    lines = edges.slope_lines()
    assert lines[0].endswith("[deg]")
    assert any(line.split()[0] == "IBx" for line in lines)


@pytest.mark.parametrize("text", ["10:170deg", "10:170°", "10:170DEG", "10deg:170deg"])
def test_a_unit_after_the_second_number_is_that_of_both(text: str) -> None:
    low, _, high = text.partition(":")
    assert both_ends(low, high, "--span", "rad") == pytest.approx(np.radians([10, 170]))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--family", "qC"], "--family must name a coordinate or a parameter"),
        (["--family", "qA", "--span", "10"], "--span must look like 10:170deg"),
        (["--family", "qA", "--span", "a:b"], "--span must be a number"),
        (["--family", "qA", "--span", "10deg:170"], "--span must have its unit after the second"),
        (["--family", "mB", "--span", "0.1:0.2"], "period"),
        (["--family", "qA", "--plot", "x.doc"], "must end in .png"),
        ([], "--family"),
    ],
)
def test_wrong_words_get_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["edges", "babyboot", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
