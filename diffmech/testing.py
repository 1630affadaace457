"""Assertions for people's own test suites."""

from collections.abc import Mapping
from typing import Any

from ._typing import Params
from .derivation import DerivationCheck, check_derivation
from .model import AbstractSystem


def assert_derivation(
    system: AbstractSystem,
    hand_written: Any,
    params: Params | str = None,
    *,
    symbols: Mapping[str, str] | None = None,
    states: int | None = None,
    seed: int = 0,
) -> DerivationCheck:
    """Fail unless equations derived by hand are those of a machine; the failure says where not.

        def test_my_pendulum():
            pendulum = dm.systems.pendulum()
            dm.testing.assert_derivation(pendulum, "theta'' = -gravity/length*sin(theta)")

    Takes what `check_derivation` takes, and returns its record.

    Raises:
        AssertionError: the equations are not right; the message is the record in print.
        ValueError: they cannot be read.
    """
    __tracebackhide__ = True  # pytest points at the caller
    found = check_derivation(
        system, hand_written, params, symbols=symbols, states=states, seed=seed
    )
    if not found.right:
        raise AssertionError(f"the derivation is wrong\n{found}")
    return found
