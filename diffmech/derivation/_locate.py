"""From a wrong equation to the likeliest mistake."""

from typing import NamedTuple

import numpy as np

from .._suggest import shortened
from ..scalars import spelled
from ._explain import Explanation
from ._hand_written import HandWritten
from ._library import Library
from ._misreadings import explained_by, misread
from ._openings import angles_in
from ._part_laws import parts_wrong
from ._recognise import Quantities
from ._repairs import Pieces, Repair
from ._rows import Rows
from ._symbols import Symbols
from ._terms_of_truth import explanations
from ._truth import Motions, Points, Truth

_NEAR = 1e-9  # of the cost: the same
_SHARP = 0.6  # what a single symbol may cost more than what surrounds it, to be shown
_LONGEST = 200  # characters of a piece that a sentence shows


class Mistake(NamedTuple):
    """The likeliest explanation of one equation, and where it is in the text."""

    explanation: Explanation
    line: int | None = None
    column: int | None = None


class Case(NamedTuple):
    """Everything that a wrong equation is explained from."""

    truth: Truth
    symbols: Symbols
    written: HandWritten
    rows: Rows
    points: Points
    motions: Motions


def mistakes(
    case: Case, library: Library | None, wrong: list[int], rng: np.random.Generator
) -> dict[int, Mistake]:
    """The likeliest explanation of every wrong equation, by its index."""
    truth, rows = case.truth, case.rows
    good = rows.comparable
    if not wrong or not np.any(good):
        return {}
    points = case.points.kept(good)
    motions = Motions(*(array[good] for array in case.motions))
    value, slope, size = (array[good] for array in rows[:3])
    rows = Rows(value, slope, size, rows.linear, rows.comparable[good])
    case = case._replace(rows=rows, points=points, motions=motions)
    off = _elsewhere(points, rng)
    candidates: dict[int, list[Explanation]] = {j: [] for j in wrong}
    linear = [j for j in wrong if rows.linear[j]]
    for one, explained in misread(truth, rows, points, off):
        alone = len(explained) < 2 or len(explained) < len(linear)
        for j, row in explained.items():
            candidates[j].append(explained_by(one, alone, row))
    quantities = quantities_of(case)
    located: dict[int, Mistake] = {}
    for j in wrong:
        whereabouts = f"in equation {j + 1}"
        if library is not None and rows.linear[j]:
            candidates[j] += explanations(
                truth, library, quantities, rows, j, points, motions, whereabouts
            )
        repairs = _repairs(case, j, off, quantities)
        located[j] = _chosen(case, j, candidates[j], repairs, whereabouts)
    return located


def _elsewhere(points: Points, rng: np.random.Generator) -> Points:
    """The same states with other q̈ and λ."""

    def moved(array: np.ndarray) -> np.ndarray:
        size = np.sqrt(np.mean(array**2, axis=0))
        size = np.where(size > 0, size, np.max(size, initial=0.0) or 1.0)
        return array + size * rng.normal(size=array.shape)

    return points._replace(qdd=moved(points.qdd), lam=moved(points.lam))


def quantities_of(case: Case) -> Quantities:
    """What products may be made of: parameters, rates, coordinates, sines and cosines."""
    truth, names, points = case.truth, case.symbols.spelled, case.points
    tape, inputs = truth.tape, truth.inputs
    angles = [int(p) for p, unit in zip(inputs.q, truth.system.coordinates.values(), strict=True)
              if unit in ("rad", "")]  # fmt: skip
    asked = [] if case.written.registers is None else angles_in(tape, case.written.registers)
    of_machine = [] if truth.registers is None else angles_in(tape, truth.registers["rows"])
    pairs = [
        tape.operate(name, a, b)
        for i, a in enumerate(angles)
        for b in angles[i + 1 :]
        for name in ("sub", "add")
    ]
    turned = list(dict.fromkeys([*angles, *of_machine, *pairs, *asked]))
    # Rates last: on constraints they are products of the others.
    plain = [*case.symbols.parameters.values()]
    last = [*inputs.q.tolist(), *inputs.qd.tolist()]
    room = len(points.q) - len(plain) - len(last) - 10  # fewer unknown exponents than states
    turned = turned[: max(room // 4, 0)]
    values = truth.of(points, np.array([*plain, *turned, *last], dtype=np.int64)).T
    behind = len(plain) + len(turned)
    named = {names[int(p)]: values[k] for k, p in enumerate(plain)}
    for k, register in enumerate(turned, len(plain)):
        text = spelled(tape, register, names)
        named[f"sin({text})"], named[f"cos({text})"] = np.sin(values[k]), np.cos(values[k])
    named |= {names[int(p)]: values[k] for k, p in enumerate(last, behind)}
    return Quantities(named, len(points.q))


def _repairs(case: Case, j: int, off: Points, quantities: Quantities) -> list[Repair]:
    """What put right in the expression itself would make equation j right."""
    truth, written, rows = case.truth, case.written, case.rows
    if written.registers is None or written.form == "Lagrangian":
        return []
    tape, row = truth.tape, int(written.registers[j])
    on = truth.given(case.points)
    away = truth.given(off)
    given = {register: np.concatenate([on[register], away[register]]) for register in on}
    size = rows.size[:, j]
    pieces = Pieces(tape, row, given, size, quantities, 1 / size)
    inputs = {name: register for register, name in case.symbols.spelled.items()}

    def named(register: int) -> str:
        if written.spans and written.source is not None and register in written.spans[j]:
            text = written.source.excerpt(*written.spans[j][register])
        else:
            text = spelled(tape, register, case.symbols.spelled)
        return f"`{shortened(text, _LONGEST)}`"

    return pieces.repairs(named, inputs)


def _chosen(
    case: Case, j: int, candidates: list[Explanation], repairs: list[Repair], whereabouts: str
) -> Mistake:
    written = case.written
    repairs = sorted(repairs, key=lambda one: one.explanation.cost)
    line, column = (written.lines[j], None) if written.lines else (None, None)
    if repairs and written.spans:
        spans = written.spans[j]
        nearest = min(repairs, key=lambda one: one.explanation.cost - _SHARP * one.sharp)
        piece = spans.get(nearest.piece) or spans.get(nearest.operation)
        if piece is not None:
            line, column = piece[0]
    best = min(candidates, key=lambda one: one.cost, default=None)
    if repairs and (best is None or repairs[0].explanation.cost < best.cost - _NEAR):
        best = _in_its_own_words(case, j, repairs[0], whereabouts)
    if best is None:
        parts = parts_wrong(case.truth, written, case.rows, j, case.points, case.motions)
        where = "; ".join(parts)
        best = Explanation(9.0, "", where, f"no single mistake explains it; wrong is {where}")
    return Mistake(best, line, column)


def _in_its_own_words(case: Case, j: int, repair: Repair, whereabouts: str) -> Explanation:
    """A repair with the term that it is in."""
    assert case.written.registers is not None
    tape, explanation = case.truth.tape, repair.explanation
    term, row = repair.piece, int(case.written.registers[j])
    order = tape.needed_for([row])
    at = repair.operation
    while tape.operations[at].name not in ("add", "sub") and at != row:
        term = at
        at = next(p for p in order if p > at and at in tape.operations[p].arguments)
    text = explanation.term or spelled(tape, term, case.symbols.spelled)
    guess = f"{explanation.guess}, {whereabouts}"
    if explanation.where != "missing term" and term != repair.piece:
        guess += f" (term {shortened(text, _LONGEST)})"
    return Explanation(explanation.cost, text, explanation.where or f"term {text}", guess, -1, term)
