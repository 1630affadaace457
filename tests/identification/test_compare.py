"""Models of the same data, sorted by what they miss."""

import numpy as np
import pytest

import diffmech as dm

from ..made_fits import made_fit


def test_models_are_sorted_by_the_error_on_records_held_back() -> None:
    found = dm.compare({
        "dry": made_fit(held_error=0.02),
        "viscous": made_fit(held_error=0.0),
        "both": made_fit(held_error=0.01),
    })  # fmt: skip
    assert found.names == ("viscous", "both", "dry")
    assert found.best == "viscous"
    assert found["dry"].misfit(held=True) > found["both"].misfit(held=True)
    ratio = found["both"].misfit(held=True)[0] / found["viscous"].misfit(held=True)[0]
    assert found.differences == pytest.approx([0, ratio - 1, found.differences[2]])
    less = 100 * (1 - 1 / ratio)
    assert found.verdict == (
        f"The data prefer viscous: it misses records held back by {less:.2g} % less than both."
    )
    assert found.warnings == ()


def test_without_records_held_back_akaikes_criterion_decides() -> None:
    found = dm.compare({
        "poor": made_fit(held=False, error=0.01),
        "good": made_fit(held=False),
    })  # fmt: skip
    gap = found["poor"].aic - found["good"].aic
    assert gap > 10
    assert found.names == ("good", "poor")
    assert found.verdict == f"The data prefer good clearly: its AIC is {gap:.3g} below poor's."


def test_a_model_that_only_remembers_is_warned_about() -> None:
    found = dm.compare({
        "rich": made_fit(error=0.0, held_error=0.03, unknowns=12),
        "plain": made_fit(error=0.01, held_error=0.0),
    })  # fmt: skip
    assert found.best == "plain"
    assert found.warnings == (
        "rich wins on the records fitted (AIC) and loses on those held back: what it gained does "
        "not carry over",
    )
    assert "Beware: rich wins" in str(found)


def test_models_that_are_equally_good_are_said_to_be() -> None:
    found = dm.compare({"two": made_fit(unknowns=7), "one": made_fit()})
    assert found.verdict == (
        "The data do not tell two and one apart by records held back; one needs the fewest numbers."
    )
    same = dm.compare([made_fit(), made_fit()])
    assert same.verdict.endswith("model 1 and model 2 apart by records held back.")
    assert dm.compare([made_fit()]).verdict == "There is nothing to compare model 1 with."


def test_the_table_is_aligned_and_has_every_number() -> None:
    found = dm.compare({"a model of friction": made_fit(), "none": made_fit(held_error=0.05)})
    lines = str(found).splitlines()
    assert len({len(line) for line in lines[:3]}) == 1, "columns end in one place"
    assert lines[0].split()[:2] == ["model", "free"]
    assert "rms x [m]" in lines[0]
    assert f"{found.fits[0].aic:.1f}" in lines[1]
    assert f"{found.fits[1].bic:.1f}" in lines[2]
    assert lines[3].startswith("Sorted by error on records held back. The data prefer")


def test_fits_of_different_data_are_refused_with_the_reason() -> None:
    first, other = made_fit(), made_fit(seed=5)
    with pytest.raises(ValueError, match="record 'first' has other values"):
        dm.compare({"a": first, "b": other})
    with pytest.raises(ValueError, match=r"'b' held back differs .* nothing against third"):
        dm.compare({"a": first, "b": made_fit(held=False)})
    shorter = made_fit(records=first.records[:1], computed=first.computed[:1])
    with pytest.raises(ValueError, match=r"was fitted to differs .* first against first, second"):
        dm.compare({"a": first, "b": shorter})
    with pytest.raises(ValueError, match="with the same noise"):
        dm.compare({"a": first, "b": made_fit(noise=np.array([0.02]))})
    with pytest.raises(ValueError, match="at least one fit"):
        dm.compare([])
    with pytest.raises(ValueError, match="'model 2' is a int"):
        dm.compare([first, 3])


def test_a_fit_that_has_not_converged_is_named() -> None:
    found = dm.compare({"a": made_fit(), "b": made_fit(converged=False, held_error=0.1)})
    assert found.warnings == ("b has not converged: its rank may change",)
    with pytest.raises(ValueError, match="'c' was not compared: a, b were"):
        found["c"]
