"""What a machine's quantities are called in equations written as text."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from .._suggest import quoted, suggestion
from ..model import AbstractSystem, parameter_names
from ..scalars import Register, Tape

FUNCTIONS: dict[str, tuple[str, int]] = {
    # by the name in the text: the tape's operation, and how many arguments it takes
    **{
        name: (name, 1)
        for name in (
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
            *(
                "acosh",
                "atanh",
                "sqrt",
                "cbrt",
                "rsqrt",
                "exp",
                "expm1",
                "log",
                "log1p",
                "abs",
                "sign",
            ),
        )
    },
    **{name: (name, 2) for name in ("atan2", "max", "min")},
    "arcsin": ("asin", 1),
    "arccos": ("acos", 1),
    "arctan": ("atan", 1),
    "arctan2": ("atan2", 2),
    "ln": ("log", 1),
    "sgn": ("sign", 1),
    "where": ("select", 3),  # where(x > 0, if so, if not)
}
_SIMPLE = re.compile(r"[^\W\d]\w*")


class Inputs(NamedTuple):
    """Registers of all that a machine's equations are made of; `lam` of the constraints' rows."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    lam: np.ndarray
    t: np.ndarray
    params: Any


def parameter_entries(params: Any) -> list[tuple[str, int, tuple[int, ...]]]:
    """(path, leaf, index) of every single number: `mB`, `masses[1]`, `plate.inertia[2,2]`."""
    found = []
    for i, (path, leaf) in enumerate(
        zip(parameter_names(params), jax.tree.leaves(params), strict=True)
    ):
        for index in np.ndindex(np.shape(leaf)):
            end = f"[{','.join(map(str, index))}]" if index else ""
            found.append((path + end, i, index))
    return found


class Symbols:
    """Names and places of a machine's quantities.

    A coordinate qA has the rate qA' (or qA_dot) and the acceleration qA'' (or qA_ddot); time is t;
    a parameter goes by its path, `masses[1]`, without brackets, `masses1`, or by a symbol declared
    for it; multipliers go by the names of their constraints' rows, or `lam[k]`.

    Attributes:
        places: of all names.
        spelled: the name of every input, as sentences use it.
    """

    def __init__(
        self, system: AbstractSystem, inputs: Inputs, declared: Mapping[str, str] | None = None
    ):
        self.coordinates = tuple(system.coordinates)
        self.spelled: dict[Register, str] = {}
        self.places: dict[str, Register] = {}
        for order, places in enumerate((inputs.q, inputs.qd, inputs.qdd)):
            for name, place in zip(self.coordinates, places.tolist(), strict=True):
                self._add(place, name + "'" * order, f"{name}_{'d' * order}ot" if order else name)
        leaves = jax.tree.leaves(inputs.params)
        entries = parameter_entries(system.params)
        self.parameters = {path: int(leaves[i][index]) for path, i, index in entries}
        for path, place in self.parameters.items():
            self._add(place, path)
        rows = getattr(system, "rows", ())
        for k, place in enumerate(inputs.lam.tolist()):
            self._add(place, rows[k] if k < len(rows) else f"lam[{k}]", f"lam[{k}]")
        self._add(int(inputs.t), "t")
        # What is shorter is understood, too, wherever it means nothing else.
        for path, place in self.parameters.items():
            self.places.setdefault(re.sub(r"[\[\],]", "", path), place)
        for name, meaning in (declared or {}).items():
            self._declare(name, meaning)

    def _add(self, place: Register, name: str, *others: str) -> None:
        self.spelled.setdefault(place, name)
        for each in (name, *others):
            self.places.setdefault(each, place)

    def _declare(self, name: str, meaning: str) -> None:
        if not isinstance(name, str) or not _SIMPLE.fullmatch(name) or name in FUNCTIONS:
            raise ValueError(
                "`symbols` must be names of letters, digits and '_', and none of a function, but "
                f"one is {quoted(name)}"
            )
        if meaning not in self.places:
            raise ValueError(
                f"`symbols` must name parameters or coordinates, but {quoted(name)} is said to be "
                f"{quoted(meaning)}, which is neither.{suggestion(str(meaning), self.names())}"
            )
        if self.places.get(name, self.places[meaning]) != self.places[meaning]:
            raise ValueError(
                f"`symbols` must be new names, but {quoted(name)} has a meaning here already: "
                f"{self.spelled[self.places[name]]}"
            )
        place = self.places[meaning]
        self.places[name] = place
        if place in self.parameters.values():
            self.spelled[place] = name
        if meaning in self.coordinates:
            for end, word in (("'", "_dot"), ("''", "_ddot")):
                self.places[name + end] = self.places[name + word] = self.places[meaning + end]

    def names(self) -> list[str]:
        """Every name once, as sentences use it."""
        return list(self.spelled.values())

    def written(self, tape: Tape) -> dict[Register, str]:
        """Names for what is spelled out of a tape."""
        del tape
        return self.spelled
