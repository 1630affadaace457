"""The functions that decide how a system moves: hashable, without numbers.

A compiled program is specialised to these; parameters, states and times stay free.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .._typing import ScalarFunction
from ._constraints import AbstractConstraint


class Laws(NamedTuple):
    """The functions of a Lagrangian system; `version` changes with what they read from outside."""

    lagrangian: ScalarFunction
    forces: Callable[..., Any] | None
    dissipation: ScalarFunction | None
    constraints: tuple[AbstractConstraint, ...] = ()
    version: tuple[int, ...] = ()


class ExplicitLaws(NamedTuple):
    """The functions of a system that comes without a Lagrangian; `version` as of `Laws`."""

    acceleration: Callable[..., Any]
    energy: ScalarFunction | None
    version: tuple[int, ...] = ()
