"""Starts: which of them keep their constraints, wherever the origin lies."""

from typing import Any

import numpy as np
import pytest

import diffmech as dm
from diffmech.motion import require_consistent

from ..conftest import machine

FAR = 1e6  # [m] from the origin


def free(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd @ qd


def rail(q: Any, t: Any, params: Any) -> Any:
    """Straight along x, but for a slope that is felt in the rates."""
    return q[1] - params["slope"] * (q[0] - FAR)


@pytest.fixture(scope="module")
def cart() -> dm.System:
    return dm.System(free, {"x": "m", "y": "m"}, {"slope": 0.0}, constraints=rail, name="cart")


def test_far_from_the_origin_a_start_beside_its_rail_is_refused(cart: dm.System) -> None:
    with pytest.raises(ValueError, match=r"rail by 0\.1 in place"):
        dm.simulate(cart, [FAR, 0.1], duration=1.0)
    with pytest.raises(ValueError, match=r"rail by 0\.1 in rates"):
        dm.simulate(cart, [FAR, 0.0], [1e6, 0.1], duration=1.0)
    with pytest.raises(ValueError, match=r"rail by -0\.001 in place"):
        dm.simulate(cart, [FAR + 1.0, 0.0], duration=1.0, params={"slope": 1e-3})


def test_starts_printed_with_six_digits_are_accepted() -> None:
    linkage = machine("four_bar")
    q, qd = (np.array([float(f"{x:.6g}") for x in half]) for half in linkage.starts["spinning"])
    assert np.any(q != linkage.starts["spinning"][0])
    require_consistent(linkage, q, qd, np.zeros(()), linkage.params)
