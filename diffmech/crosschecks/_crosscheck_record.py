"""What independent formulations of one machine say, side by side."""

from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from .._printing import tabled
from ..model import FixedMapping

_AS_LARGE = 0.999  # of the largest disagreement
_QUIET = 1e-3  # of the typical size: smaller accelerations are not judged by their own size


class Disagreement(NamedTuple):
    """Where two formulations differ most.

    Attributes:
        size: relative to the largest of its kind at that state; infinite if one of them is NaN.
        kind: "acceleration", "multiplier", "force" or "moment".
        of: the coordinate, the row, or the joint and component.
        between: the two formulations.
        state: index of the state.
    """

    size: float
    kind: str
    of: str
    between: tuple[str, str]
    state: int


class Crosscheck(eqx.Module):
    """Accelerations, multipliers and reactions by several formulations at random states.

    Attributes:
        name: of the machine; coordinates, rows: of its coordinates and constraints.
        q, qd, t: the states, shapes (k, n), (k, n) [1/s] and (k,) [s].
        regimes: the kind of each state.
        accelerations: by formulation, shape (k, n) [1/s²]; multipliers: (k, m).
        unique: which multipliers are determined and compared, shape (k, m).
        reactions: by formulation, force [N] and moment [N m] of every named joint, in that order,
            shape (k, joints, 6).
        joints: their names.
        floors: by kind of result, the size below which nothing is judged by its own, shape (k,): of
            accelerations that would change the rates by less than 1e-5 in a second.
        skipped: formulations that do not apply, and why.
        compiled: what had no scalar form, so that a program was compiled for it.
        refused: how many random states had no finite equations.
        rtol: up to which differences count as agreement.
    """

    name: str = eqx.field(static=True)
    coordinates: tuple[str, ...] = eqx.field(static=True)
    rows: tuple[str, ...] = eqx.field(static=True)
    q: np.ndarray
    qd: np.ndarray
    t: np.ndarray
    regimes: tuple[str, ...] = eqx.field(static=True)
    accelerations: dict[str, np.ndarray]
    multipliers: dict[str, np.ndarray]
    unique: np.ndarray
    reactions: dict[str, np.ndarray]
    joints: tuple[str, ...] = eqx.field(static=True)
    floors: dict[str, np.ndarray]
    skipped: FixedMapping[str] = eqx.field(static=True)
    compiled: tuple[str, ...] = eqx.field(static=True)
    refused: int = eqx.field(static=True)
    rtol: float = eqx.field(static=True)

    @property
    def formulations(self) -> tuple[str, ...]:
        """What was compared; the first is what `simulate` integrates."""
        return tuple(self.accelerations)

    def _compared(self) -> list[tuple[str, dict[str, np.ndarray], np.ndarray, list[str]]]:
        """Kind, values by formulation (k, c), sizes (k,), names of all columns."""
        compared = [("acceleration", self.accelerations, list(self.coordinates))]
        if len(self.multipliers) > 1:
            known = {
                name: np.where(self.unique, each, 0.0) for name, each in self.multipliers.items()
            }
            compared.append(("multiplier", known, list(self.rows)))
        for kind, part in (("force", slice(0, 3)), ("moment", slice(3, 6))):
            if self.reactions:
                values = {
                    name: each[:, :, part].reshape(len(each), -1)
                    for name, each in self.reactions.items()
                }
                labels = [f"{joint}, {axis}" for joint in self.joints for axis in "xyz"]
                compared.append((kind, values, labels))
        return [
            (kind, values, _sizes(values, self.floors[kind]), labels)
            for kind, values, labels in compared
        ]

    def _of(self, kind: str) -> dict[str, np.ndarray]:
        """The results of one kind by formulation; nothing where there are none."""
        by_kind = {name: values for name, values, _, labels in self._compared() if labels}
        return by_kind.get(kind, {})

    def _gaps_of_joints(self) -> list[tuple[str, float]]:
        """By how much forces and moments of joints differ; nothing without joints."""
        if not self.reactions:
            return []
        first, second = self.reactions
        return [(kind, self.disagreement(first, second, kind).size) for kind in ("force", "moment")]

    def _off(self, name: str, kind: str) -> Disagreement | None:
        """Where a formulation differs most from the first; None if it has no such results."""
        known = self._of(kind)
        return self.disagreement(next(iter(known)), name, kind) if name in known else None

    def disagreement(self, first: str, second: str, kind: str = "acceleration") -> Disagreement:
        """Where two formulations differ most in one kind of result."""
        for this_kind, values, sizes, labels in self._compared():
            if this_kind == kind and first in values and second in values:
                gaps = _gaps(values[first], values[second], sizes)
                state, entry = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
                return Disagreement(
                    float(gaps[state, entry]), kind, labels[entry], (first, second), int(state)
                )
        return Disagreement(0.0, kind, "", (first, second), 0)

    @property
    def worst(self) -> Disagreement | None:
        """The largest disagreement of all; None if there is nothing to compare."""
        disagreements = [
            self.disagreement(first, second, kind)
            for kind, values, _, labels in self._compared()
            for i, first in enumerate(values)
            for second in list(values)[i + 1 :]
            if labels
        ]
        largest = max((one.size for one in disagreements), default=0.0)
        # Of those that are as large but for rounding, the first.
        return next((one for one in disagreements if one.size >= _AS_LARGE * largest), None)

    @property
    def passed(self) -> bool:
        """Whether there are at least two formulations, and all agree everywhere."""
        return self.worst is not None and self.worst.size <= self.rtol

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Formulations that agree with each other in the accelerations."""
        groups: list[list[str]] = []
        for name in self.formulations:
            for group in groups:
                if self.disagreement(group[0], name).size <= self.rtol:
                    group.append(name)
                    break
            else:
                groups.append([name])
        return tuple(map(tuple, groups))

    @property
    def verdict(self) -> str:
        """What follows, in one sentence."""
        worst, count = self.worst, len(self.formulations)
        if worst is None:
            return f"Unchecked: there is nothing to compare {self.formulations[0]} with."
        if self.passed:
            return f"{_spelled(count)} formulations agree to {worst.size:.1e} of the largest."
        between = f"{worst.kind} of {worst.of} by {worst.between[0]} and by {worst.between[1]}"
        where = f"({self.regimes[worst.state]}, state {worst.state})"
        if np.isinf(worst.size):
            return f"They do not agree: of the {between} one is NaN {where}."
        return (
            f"They do not agree: the {between} differ by {worst.size:.1e} of the largest {where}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts for JSON; None where a size is not finite."""
        worst = self.worst
        return {
            "system": self.name,
            "passed": self.passed,
            "verdict": self.verdict,
            "rtol": self.rtol,
            "states": len(self.t),
            "formulations": {
                name: {
                    f"{kind}s": _finite(off.size)
                    for kind in ("acceleration", "multiplier")
                    if (off := self._off(name, kind)) is not None
                }
                for name in self.formulations
            },
            "reactions": {f"{kind}s": _finite(gap) for kind, gap in self._gaps_of_joints()},
            "skipped": dict(self.skipped),
            "compiled": list(self.compiled),
            "refused": self.refused,
            "groups": [list(group) for group in self.groups],
            "worst": None
            if worst is None
            else {
                "size": _finite(worst.size),
                "kind": worst.kind,
                "of": worst.of,
                "between": list(worst.between),
                "regime": self.regimes[worst.state],
                "q": self.q[worst.state].tolist(),
                "qd": self.qd[worst.state].tolist(),
                "t": float(self.t[worst.state]),
            },
        }

    def __str__(self) -> str:
        kinds = [kind for kind in ("acceleration", "multiplier") if self._of(kind)]
        first = self.formulations[0]
        table = [["formulation", *(f"{kind}s" for kind in kinds), "worst"]]
        for name in self.formulations:
            off = {kind: self._off(name, kind) for kind in kinds}
            cells = ["-" if one is None else _size(one.size) for one in off.values()]
            most = self.disagreement(first, name)
            where = f"{most.of}, {self.regimes[most.state]}" if most.size else "-"
            if name == first:
                cells, where = ["" for _ in kinds], "what the others are compared with"
            table.append([name, *cells, where])
        count = _spelled(len(self.formulations)).lower()
        plural = "" if count == "one" else "s"
        lines = [f"{self.name}: {count} formulation{plural} at {len(self.t)} random states"]
        lines.append(tabled(table, left=(0, len(kinds) + 1), indent="  "))
        if self.reactions:
            gaps = ", ".join(f"{kind}s {_size(gap)}" for kind, gap in self._gaps_of_joints())
            ways = " and by ".join(self.reactions)
            lines.append(f"  reactions of {', '.join(self.joints)} by {ways}: {gaps}")
        for why in dict.fromkeys(self.skipped.values()):
            names = ", ".join(name for name, reason in self.skipped.items() if reason == why)
            lines.append(f"  not by {names}: {why}")
        if self.compiled:
            lines.append(f"  compiled, having no scalar form: {', '.join(self.compiled)}")
        if self.refused:
            lines.append(f"  {self.refused} random states had no finite equations")
        if self.worst is not None and not self.passed and len(self.groups) > 1:
            said = "; ".join(", ".join(group) for group in self.groups)
            lines.append(f"  agree among themselves: {said}")
        return "\n".join([*lines, self.verdict])


_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def _spelled(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _size(size: float) -> str:
    return f"{size:.1e}" if np.isfinite(size) else "NaN"


def _finite(size: float) -> float | None:
    return size if np.isfinite(size) else None


def _sizes(values: dict[str, np.ndarray], floor: np.ndarray) -> np.ndarray:
    """The largest number of every state, and no less than a part of what is typical, shape (k,)."""
    every = np.stack(list(values.values()))
    sizes = np.max(np.where(np.isfinite(every), np.abs(every), 0.0), axis=(0, 2), initial=0.0)
    return np.maximum(np.maximum(sizes, _QUIET * np.median(sizes)), floor)


def _gaps(first: np.ndarray, second: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Relative differences, shape (k, c); infinite where NaN is against a number or NaN."""
    gap = np.abs(first - second)
    relative = gap / np.where(sizes > 0, sizes, 1.0)[:, None]
    return np.where(np.isfinite(gap), relative, np.inf)
