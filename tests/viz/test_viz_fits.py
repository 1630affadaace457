"""Pictures of fits show what was measured, what the model says, and what is left."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib import cbook, pyplot as plt

import diffmech as dm

from ..made_fits import lagrangian, made_fit, record_of
from .test_viz import texts


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fit() -> dm.Fit:
    return made_fit(error=0.001)


def test_measured_values_are_dots_and_the_model_is_a_line(fit: dm.Fit) -> None:
    first = dm.viz.fit(fit)
    axes = first.figure.axes
    titles = [ax.get_title() for ax in axes]
    assert titles == ["first", "second", "third, held back"]
    assert first.get_ylabel() == "x [m]"
    assert first.get_xlabel() == "time [s]"
    dots, line = first.get_lines()
    assert dots.get_linestyle() == "None"
    np.testing.assert_array_equal(dots.get_ydata(), fit.records[0].values[:, 0])
    drawn = np.asarray(line.get_ydata())
    here = np.isfinite(drawn)
    np.testing.assert_array_equal(drawn[here], fit.computed[0][np.isfinite(fit.computed[0])])
    assert np.sum(~here) == 1, "no straight line through the gap"


def test_of_many_records_some_are_drawn_and_the_sheet_says_so() -> None:
    many = tuple(record_of(1.0, f"swing {i}", i) for i in range(6))
    fit = made_fit(records=many, computed=tuple(np.asarray(r.values) for r in many))
    figure = dm.viz.fit(fit).figure
    assert [ax.get_title() for ax in figure.axes] == [
        "swing 0", "swing 1", "swing 2", "third, held back",
    ]  # fmt: skip
    assert figure.get_suptitle() == "oscillator, 4 of 7 records"


def test_residuals_are_in_units_of_the_noise_with_their_autocorrelation(fit: dm.Fit) -> None:
    first = dm.viz.fit_residuals(fit)
    drawn = np.asarray(first.get_lines()[0].get_ydata())
    expected = (fit.records[0].values[:, 0] - fit.computed[0][:, 0]) / 0.01
    np.testing.assert_allclose(drawn, expected)
    bars = first.figure.axes[1].collections
    lag_one = next(b for b in bars if hasattr(b, "get_segments")).get_segments()[0][1]
    assert lag_one[0] == 1
    assert lag_one[1] == pytest.approx(fit.whiteness.correlation[0], abs=0.02)


def test_correlations_are_labelled_and_written_out(fit: dm.Fit) -> None:
    ax = dm.viz.correlations(fit)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["stiffness", "friction"]
    expected = 1e-5 / (0.018 * 0.0027)
    assert f"{expected:.2f}" in [text.get_text() for text in ax.texts]


def test_what_is_not_determined_has_no_correlation() -> None:
    fit = made_fit(errors=np.array([0.018, np.inf]))
    texts = [text.get_text() for text in dm.viz.correlations(fit).texts]
    assert texts == ["1.00", "–", "–", "–"]


def test_given_axes_are_drawn_into_and_returned(fit: dm.Fit) -> None:
    for draw in (dm.viz.fit, dm.viz.fit_residuals, dm.viz.correlations):
        ax = plt.figure().add_subplot()
        assert draw(fit, ax) is ax
        assert ax.has_data()
    with pytest.raises(ValueError, match="`channel` must be one of x, but is 'y'"):
        dm.viz.fit(fit, channel="y")


def test_a_folder_of_a_fit_is_whole_and_names_are_shown_literally(tmp_path: Path) -> None:
    fit = made_fit(names=("a|b_c", "<b>"), limited=("<b>",), held=False)
    folder = dm.viz.save_fit_folder(fit, tmp_path / "result")
    assert sorted(path.name for path in folder.iterdir()) == [
        "correlations.png", "fit.npz", "measured.png", "report.md", "residuals.png",
    ]  # fmt: skip
    text = (folder / "report.md").read_text("utf-8")
    assert r"| a\|b\_c | 40.020 | 0.018 | 39.985 to 40.055 | N/m |" in text
    assert r"| 0.0027 | 0.19771 to 0.20829 | N s/m | on a limit |" in text
    assert "Taken as known: friction = 0.203; mass = 1.; stiffness = 40.02." in text
    for name in ("correlations.png", "measured.png", "residuals.png"):
        assert f"]({name})" in text
        assert (folder / name).stat().st_size > 5000
    with pytest.raises(FileExistsError, match="holds results already"):
        dm.viz.save_fit_folder(fit, folder)
    assert not plt.get_fignums(), "figures are closed"


HOSTILE = "a $x_1$ 100% </script> | b\n# c `d`"


def test_hostile_names_are_shown_literally(tmp_path: Path) -> None:
    """Of the machine, its numbers, records and channels, in pictures and in the report."""
    fit = made_fit(names=(HOSTILE, "friction"))
    record = dataclasses.replace(fit.records[0], name=HOSTILE, channels=(HOSTILE,))
    machine = dm.System(lagrangian, {"x": "m"}, fit.system.params, name=HOSTILE)
    fit = dataclasses.replace(
        fit,
        records=(record,),
        computed=fit.computed[:1],
        system=machine,
        held=(),
        predicted=(),
        starts=fit.starts[:1],
    )
    for draw in (dm.viz.fit, dm.viz.fit_residuals, dm.viz.correlations):
        shown = [text.get_text() for text in texts(draw(fit).figure)]
        hostile = [text for text in shown if "script" in text]
        assert hostile, draw
        assert not [text for text in hostile if cbook.is_math_text(text)], draw
        assert all("100% </script> | b" in text for text in hostile), draw
    folder = dm.viz.save_fit_folder(fit, tmp_path / "result")
    report = (folder / "report.md").read_text("utf-8")
    literal = r"a \$x\_1\$ 100% \</script\> \| b \# c \`d\`"
    assert report.startswith(f"# What {literal} is made of\n")
    assert f"| {literal} | 81 | " in report, "the record"
    assert f"| {literal} | 40.020 | " in report, "the number"
    assert f"| record | samples | {literal}" in report, "the channel"
    assert "</script>" not in report.replace("\\<", "")
    assert "\n# c" not in report
    assert dm.load(folder / "fit.npz").records[0].name == HOSTILE


def test_a_folder_that_cannot_be_filled_does_not_appear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("diffmech.viz._fit_report.fit_residuals", full)
    with pytest.raises(OSError, match="no space left"):
        dm.viz.save_fit_folder(made_fit(), tmp_path / "result")
    assert not (tmp_path / "result").exists()
