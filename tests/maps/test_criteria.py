"""Criteria: the words they bring along, their defaults, and one of one's own."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.criteria import CATALOGUE, named
from diffmech.maps._abstract_criterion import words_of

from ..conftest import machine


def _height(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return -jnp.cos(q[0])


class Climbs(dm.criteria.AbstractCriterion):
    """What the protocol's docstring has as its example."""

    height: float  # [m]
    measures = "largest height [m]"

    def reducers(self, system: Any) -> Any:
        return {"top": dm.reducers.Largest(_height)}

    def measure(self, values: Any, duration: float) -> Any:
        return values["top"][:, 0]

    def judge(self, measured: Any, duration: float) -> Any:
        return dm.criteria.by_limits(measured, self.height, self.height)


def climbing(criterion: Any, **more: Any) -> dm.StabilityMap:
    return dm.stability_map(machine("pendulum"), {"theta": [0.5, 1.5]}, criterion, 3.0, **more)


def test_a_criterion_of_ones_own_needs_three_methods() -> None:
    chart = climbing(Climbs(-0.5))
    # The top is where a cubic through the ends of a step says.
    np.testing.assert_allclose(chart.values, -np.cos([0.5, 1.5]), atol=1e-6)
    assert list(chart.verdicts) == [dm.Verdict.STABLE, dm.Verdict.UNSTABLE]
    assert chart.settings["criterion"] == {"criterion": "climbs", "height": -0.5}
    assert "\n  criterion  climbs (height -0.5)\n  verdicts " in str(chart), "it has no sentence"


def test_a_map_whose_criterion_is_unknown_here_keeps_its_words(tmp_path: Path) -> None:
    class Says(Climbs):
        word = "says"

        @property
        def sentence(self) -> str:
            return f"the bob stays below {self.height:g} m"

        def value_range(self, duration: float) -> tuple[float, float] | None:
            return -1.0, duration

    path = climbing(Says(-0.5)).save(tmp_path / "map.npz")
    chart = dm.load(path)
    assert chart.criterion is None
    assert chart.words == ("largest height [m]", "the bob stays below -0.5 m", (-1.0, 3.0))
    assert "\n  criterion  says (height -0.5)\n  stable     the bob stays below -0.5 m\n" in str(
        chart
    )
    assert chart.summary()["criterion"]["stable"] == "the bob stays below -0.5 m"


def test_a_map_is_resumed_though_its_criterion_says_the_same_in_other_words(
    tmp_path: Path,
) -> None:
    class Reworded(Climbs):
        word = "climbs"
        measures = "height [m]"

    path = tmp_path / "map.npz"
    climbing(Climbs(-0.5), path=path)
    again = climbing(Reworded(-0.5), path=path, resume=True)
    assert again.words.measures == "height [m]"
    with pytest.raises(ValueError, match=r"criterion\.height: -0\.4 against -0\.5"):
        climbing(Climbs(-0.4), path=path, resume=True)


@pytest.mark.parametrize("word", CATALOGUE)
def test_what_the_list_of_criteria_says_is_what_they_are(word: str) -> None:
    entry, boot = CATALOGUE[word], machine("babyboot")
    kind = named(word)
    assert kind is getattr(dm.criteria, entry.name)
    assert (kind.word, kind.__name__) == (word, entry.name)
    assert entry.usage.partition(":")[0] == word
    assert entry.text
    # The numbers of the usage line are read, and are those that make sense: its defaults.
    pairs = dict(part.split("=") for part in entry.usage.partition(":")[2].split(",") if part)
    criterion = kind.from_words(pairs, boot, lambda text, *_, **__: float(text.rstrip("deg")))
    words = words_of(criterion, 10.0)
    assert words.measures != word, "an axis has a label with a unit"
    assert words.stable
    if word not in ("tumble", "spread"):  # those need a coordinate
        assert criterion.describe() == kind().describe()


def test_words_that_a_criterion_does_not_have_are_refused_with_what_is_near() -> None:
    with pytest.raises(ValueError, match=r"no number of climbs 'hight'\. Did you mean 'height'"):
        Climbs.from_words({"hight": "1"}, machine("pendulum"), float)


def test_limits_leave_what_is_not_a_number_undecided() -> None:
    verdicts = dm.criteria.by_limits(np.array([0.0, 1.0, 2.0, 3.0, np.nan, np.inf]), 1.0, 3.0)
    assert verdicts.tolist() == [0, 0, 2, 1, 2, 1]


def test_names_that_are_no_criteria_are_named_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"no criterion 'Tumbles'; there are .*Tumble"):
        _ = dm.criteria.Tumbles  # pyright: ignore[reportAttributeAccessIssue]
