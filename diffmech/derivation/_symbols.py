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
    entries = []
    for i, (path, leaf) in enumerate(
        zip(parameter_names(params), jax.tree.leaves(params), strict=True)
    ):
        for index in np.ndindex(np.shape(leaf)):
            end = f"[{','.join(map(str, index))}]" if index else ""
            entries.append((path + end, i, index))
    return entries


class Symbols:
    """Names and registers of a machine's quantities.

    A coordinate qA has the rate qA' (or qA_dot) and the acceleration qA'' (or qA_ddot); time is t;
    a parameter goes by its path, `masses[1]`, without brackets, `masses1`, or by a symbol declared
    for it; multipliers go by the names of their constraints' rows, or `lam[k]`.

    Attributes:
        registers: of all names.
        spelled: the name of every input, as sentences use it.
    """

    def __init__(
        self, system: AbstractSystem, inputs: Inputs, declared: Mapping[str, str] | None = None
    ):
        self.coordinates = tuple(system.coordinates)
        self.spelled: dict[Register, str] = {}
        self.registers: dict[str, Register] = {}
        for order, registers in enumerate((inputs.q, inputs.qd, inputs.qdd)):
            for name, register in zip(self.coordinates, registers.tolist(), strict=True):
                self._add(
                    register, name + "'" * order, f"{name}_{'d' * order}ot" if order else name
                )
        leaves = jax.tree.leaves(inputs.params)
        entries = parameter_entries(system.params)
        self.parameters = {path: int(leaves[i][index]) for path, i, index in entries}
        for path, register in self.parameters.items():
            self._add(register, path)
        rows = getattr(system, "rows", ())
        for k, register in enumerate(inputs.lam.tolist()):
            self._add(register, rows[k] if k < len(rows) else f"lam[{k}]", f"lam[{k}]")
        self._add(int(inputs.t), "t")
        # What is shorter is understood, too, wherever it means nothing else.
        for path, register in self.parameters.items():
            self.registers.setdefault(re.sub(r"[\[\],]", "", path), register)
        for name, meaning in (declared or {}).items():
            self._declare(name, meaning)

    def _add(self, register: Register, name: str, *others: str) -> None:
        self.spelled.setdefault(register, name)
        for each in (name, *others):
            self.registers.setdefault(each, register)

    def _declare(self, name: str, meaning: str) -> None:
        if not isinstance(name, str) or not _SIMPLE.fullmatch(name) or name in FUNCTIONS:
            raise ValueError(
                "`symbols` must be names of letters, digits and '_', and none of a function, but "
                f"one is {quoted(name)}"
            )
        if meaning not in self.registers:
            raise ValueError(
                f"`symbols` must name parameters or coordinates, but {quoted(name)} is said to be "
                f"{quoted(meaning)}, which is neither.{suggestion(str(meaning), self.names())}"
            )
        if self.registers.get(name, self.registers[meaning]) != self.registers[meaning]:
            raise ValueError(
                f"`symbols` must be new names, but {quoted(name)} has a meaning here already: "
                f"{self.spelled[self.registers[name]]}"
            )
        register = self.registers[meaning]
        self.registers[name] = register
        if register in self.parameters.values():
            self.spelled[register] = name
        if meaning in self.coordinates:
            for end, word in (("'", "_dot"), ("''", "_ddot")):
                self.registers[name + end] = self.registers[name + word] = self.registers[
                    meaning + end
                ]

    def names(self) -> list[str]:
        """Every name once, as sentences use it."""
        return list(self.spelled.values())

    def written(self, tape: Tape) -> dict[Register, str]:
        """Names for what is spelled out of a tape."""
        del tape
        return self.spelled
