"""The verdict on equations derived by hand: right, right up to a factor, or wrong and where."""

import math
from typing import Any

import equinox as eqx

from .._printing import aligned

RIGHT, UP_TO_A_FACTOR, WRONG, UNDECIDED = (
    "right",
    "right up to a factor",
    "wrong",
    "undecided",
)


class EquationCheck(eqx.Module):
    """One equation.

    Attributes:
        number: counted from 1.
        text: as it was written, or what it is called.
        verdict: "right", "right up to a factor", "wrong" or "undecided" (not finite somewhere).
        factor: the number that the machine's equation is multiplied by, if it is one; else None.
        where: what part of it is wrong: "gravity term", "coefficient of qB''".
        term: the machine's term that is wrong, spelled out.
        guess: the mistake in words; of a right equation, what it says where that is not plain.
        disagreement: largest |left − right| on the true motion, relative to what is added up in it.
        state: where that is, coordinates, rates, time and parameters by name.
        line, column: of text, where the mistake is if it was found there, else where the equation
            begins.
        credit: 1 if it is right and says something new; of a wrong one the share of its terms
            that are right, where that is known, else 0.
    """

    number: int = eqx.field(static=True)
    text: str = eqx.field(static=True)
    verdict: str = eqx.field(static=True)
    factor: float | None = eqx.field(static=True)
    where: str = eqx.field(static=True)
    term: str = eqx.field(static=True)
    guess: str = eqx.field(static=True)
    disagreement: float = eqx.field(static=True)
    state: dict[str, float] = eqx.field(static=True)
    line: int | None = eqx.field(static=True)
    column: int | None = eqx.field(static=True)
    credit: float = eqx.field(static=True)

    @property
    def right(self) -> bool:
        """Whether it holds on every motion."""
        return self.verdict in (RIGHT, UP_TO_A_FACTOR)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        finite = math.isfinite(self.disagreement)
        return {
            "equation": self.number,
            "text": self.text,
            "verdict": self.verdict,
            "factor": self.factor,
            "where": self.where,
            "term": self.term,
            "guess": self.guess,
            "disagreement": self.disagreement if finite else None,
            "state": {k: v for k, v in self.state.items() if math.isfinite(v)},
            "line": self.line,
            "column": self.column,
            "credit": self.credit,
        }


class DerivationCheck(eqx.Module):
    """What `check_derivation` found.

    Attributes:
        right: whether the equations are those of the machine: all of them hold on every motion,
            and together they determine the accelerations.
        equations: one verdict each.
        credit: for all of them, from 0 to 1; missing equations count.
        remarks: what else was noticed, sentences.
        system: the machine's name.
        form: what was handed in: "text", "accelerations", "residuals", ...
        states: how many states were compared.
        needed: how many independent equations determine the motion.
    """

    right: bool = eqx.field(static=True)
    equations: tuple[EquationCheck, ...] = eqx.field(static=True)
    credit: float = eqx.field(static=True)
    remarks: tuple[str, ...] = eqx.field(static=True)
    system: str = eqx.field(static=True)
    form: str = eqx.field(static=True)
    states: int = eqx.field(static=True)
    needed: int = eqx.field(static=True)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "right": self.right,
            "credit": self.credit,
            "system": self.system,
            "form": self.form,
            "states": self.states,
            "needed": self.needed,
            "equations": [one.as_dict() for one in self.equations],
            "remarks": list(self.remarks),
        }

    def __str__(self) -> str:
        good = sum(one.right for one in self.equations)
        verdict = "right" if self.right else "not right"
        rows = [
            (
                "derivation",
                f"{verdict}: {good} of {len(self.equations)} equations "
                f"of {self.system} hold ({self.form}, {self.states} states), "
                f"credit {self.credit:.3g}",
            )
        ]
        for one in self.equations:
            rows += _rows_of(one)
        rows += [("remark", remark) for remark in self.remarks]
        return aligned(rows)


_NOTHING = 1e-8  # of an equation's size: rounding
_LONGEST = 72  # characters of an equation in print


def _rows_of(one: EquationCheck) -> list[tuple[str, str]]:
    text = one.text if len(one.text) <= _LONGEST else f"{one.text[:_LONGEST]}..."
    verdict = one.verdict
    if one.verdict == UP_TO_A_FACTOR and one.factor is not None:
        verdict = f"right up to the factor {one.factor:.6g}"
    rows = [(f"equation {one.number}", f"{verdict}: {text}")]
    if one.guess:
        rows.append(("", one.guess))
    if not one.right and not one.disagreement < _NOTHING:
        # Parameters are in the record; a line has no room for them.
        state = ", ".join(f"{k} = {v:.4g}" for k, v in list(one.state.items())[:6])
        size = "not finite" if not math.isfinite(one.disagreement) else f"{one.disagreement:.2g}"
        rows.append(("", f"off by {size} of its size, at {state}"))
    return rows
