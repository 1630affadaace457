"""Criteria whose numbers say nothing are refused, and what a map says of its edges is true."""

from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech.analysis import Verdict

from .conftest import machine


def swing(points: Any, criterion: Any, **more: Any) -> dm.StabilityMap:
    return dm.stability_map(machine("pendulum"), {"theta": points}, criterion, 0.5, **more)


def test_a_spread_of_nothing_is_refused() -> None:
    for offset in ({}, {"theta": 0.0}, {"theta": 0, "theta_dot": -0.0}):
        with pytest.raises(ValueError, match="`offset` must move the second start"):
            dm.Spread(offset)


def test_a_spread_that_rounding_swallows_is_refused_or_undecided() -> None:
    with pytest.raises(ValueError, match=r"at least 4\.4e-15 from each start: .* in float64"):
        swing([0.02, 0.1], dm.Spread({"theta": 1e-20}))
    chart = swing([0.01, 0.5, 1.0], dm.Spread({"theta": 5e-14}))
    assert chart.verdicts.tolist() == [Verdict.STABLE, Verdict.UNDECIDED, Verdict.UNDECIDED]
    assert np.isnan(chart.values).tolist() == [False, True, True]
    rest = swing([0.0], dm.Spread({"theta": 1e-20}))
    assert 0 < rest.values[0] <= 1e-20, "nothing is lost where there is nothing to round"
