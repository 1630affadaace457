"""Criteria whose numbers say nothing are refused, and what a map says of its edges is true."""

from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech.maps import Verdict

from ..conftest import machine


def swing(points: Any, criterion: Any, **more: Any) -> dm.StabilityMap:
    return dm.stability_map(machine("pendulum"), {"theta": points}, criterion, 0.5, **more)


def test_a_spread_of_nothing_is_refused() -> None:
    for offset in ({}, {"theta": 0.0}, {"theta": 0, "theta_dot": -0.0}):
        with pytest.raises(ValueError, match="`offset` must move the second start"):
            dm.criteria.Spread(offset)


def test_a_spread_that_rounding_swallows_is_refused_or_undecided() -> None:
    with pytest.raises(ValueError, match=r"at least 4\.4e-15 from each start: .* in float64"):
        swing([0.02, 0.1], dm.criteria.Spread({"theta": 1e-20}))
    chart = swing([0.01, 0.5, 1.0], dm.criteria.Spread({"theta": 5e-14}))
    assert chart.verdicts.tolist() == [Verdict.STABLE, Verdict.UNDECIDED, Verdict.UNDECIDED]
    assert np.isnan(chart.values).tolist() == [False, True, True]
    rest = swing([0.0], dm.criteria.Spread({"theta": 1e-20}))
    assert 0 < rest.values[0] <= 1e-20, "nothing is lost where there is nothing to round"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: dm.criteria.MegnoBelow(5, 3), "`regular` must be at most `chaotic`, but 5 > 3"),
        (lambda: dm.criteria.MegnoBelow(np.nan), "`regular` must be finite"),
        (
            lambda: dm.criteria.SaliAbove(1e-9, 1e-3),
            "`aligned` must be at most `apart`, but 0.001 > 1e-09",
        ),
        (lambda: dm.criteria.SaliAbove(aligned=0), "`aligned` must be greater than zero"),
        (lambda: dm.criteria.FloquetStable(margin=-1), "`margin` must not be negative, but is -1"),
        (lambda: dm.criteria.FloquetStable(closing=0), "`closing` must be greater than zero"),
    ],
)
def test_limits_in_the_wrong_order_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


def test_an_edge_is_said_to_be_bisected_and_not_to_be_known() -> None:
    grid, tumble = (1.0, 2.0, 3), dm.criteria.Tumble("theta", 1.5)
    said = str(swing(grid, tumble, accuracy=1e-3, rtol=1e-5))
    assert "bisected to" in said
    assert "the integration's error at rtol 1e-05 comes on top" in said
    assert "known to" not in said
    said = str(swing(grid, tumble, accuracy=1e-3, dt=0.05))
    assert "the integration's error at dt 0.05 s comes on top" in said
    with pytest.raises(ValueError, match=r"`accuracy` must be at least 4\.4e-16, but is 1e-16"):
        swing(grid, tumble, accuracy=1e-16)
