"""Assertions for people's own test suites."""

import pytest

import diffmech as dm

from ..derivation.test_check_derivation import BOOT, SOLVED


def test_a_right_derivation_passes_in_ones_own_tests_and_a_wrong_one_says_where() -> None:
    assert dm.testing.assert_derivation(BOOT, SOLVED).right
    with pytest.raises(AssertionError, match="qB'' is multiplied by IBx where IBz belongs"):
        dm.testing.assert_derivation(BOOT, SOLVED.replace("/IBz", "/IBx"))
