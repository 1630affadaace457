"""Cases that once went wrong, each small enough to be overlooked again."""

from typing import Any

import pytest

import diffmech as dm
from diffmech import geometry as geo


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: geo.from_quaternion([0.0, 0, 0, 0]), "`q` must have a length"),
        (lambda: geo.jack([-1.0, 1, 1], 1.0), "`masses` must not be negative"),
        (lambda: geo.jack_masses([1.0, 1, 1], 0.0), "`arm` must be greater than zero"),
        (lambda: dm.systems.double_pendulum_3d(inertias=3), "`inertias` must be two"),
    ],
)
def test_more_that_cannot_be_is_refused(wrong: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wrong()
