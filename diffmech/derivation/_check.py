"""Equations derived by hand, compared with a machine's own at random states."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from .._checks import as_count
from .._suggest import quoted
from .._typing import Params
from ..model import AbstractSystem, match_params, require_finite_params, require_system
from ..motion import require_lagrangian
from ._check_record import RIGHT, UNDECIDED, UP_TO_A_FACTOR, WRONG, DerivationCheck, EquationCheck
from ._factors import EMPTY, Meaning, meanings, undetermined
from ._granted import features_off, few, hidden_numbers
from ._hand_written import HandWritten, Lagrangian, read_hand_written
from ._library import Library
from ._locate import Case, Mistake, mistakes, quantities_of
from ._proportions import has_known_units
from ._remarks import factors_of, on_factors, on_multipliers, on_parameters, remarks_on
from ._rows import rows_at
from ._states import ALIKE, GIVEN, NONZERO, VARIED, Entry, random_points
from ._symbols import Symbols
from ._symmetry import assumed_symmetry
from ._truth import Points, Truth
from ._unused import unused

_UNEXPLAINED = 4  # mistakes, in an equation that no few of them explain
_FEWEST = 20  # states that must be comparable
_WAYS = (VARIED, NONZERO, GIVEN)


class _Way(NamedTuple):
    """How parameters vary: which zeros stay, and what is to be said of all that."""

    vary: str
    off: frozenset[Entry] = frozenset()
    said: str = ""


def check_derivation(
    system: AbstractSystem,
    hand_written: Any,
    params: Params | str = None,
    *,
    symbols: Mapping[str, str] | None = None,
    states: int | None = None,
    seed: int = 0,
) -> DerivationCheck:
    """Whether equations derived by hand are those of a machine, and if not, where the mistake is.

        r(q, q̇, q̈, λ, t, p) = 0   with   M q̈ + b = Jᵀ λ,   J q̈ + c = 0

    An equation is right if r vanishes at the machine's own q̈ for every admissible state, so that
    any combination of right equations is right; all together they must determine q̈. The verdict
    comes from random states with random parameters, and so do the guesses, see `EquationCheck`.

    Args:
        hand_written: one of

            - text, one equation a line: `qB'' = -sin(qB)*cos(qB)*qA'^2*(IBx-IBy)/IBz`; coordinates
              with ' and '' for rates and accelerations, t, parameters by path, names for what is
              used again (`I1 = IA + mA*LA^2`), comments behind #. On a constrained machine the
              multipliers may be named: as its rows are, or lam[0], lam[1]. Nothing is executed.
            - a function `(q, qd, t, params) -> qdd`, of JAX, NumPy or plain Python;
            - residuals `(q, qd, qdd, t, params) -> r`, any number of them, or
              `(q, qd, qdd, lam, t, params) -> r` with the multipliers;
            - `(mass, bias)` or {"mass": ..., "bias": ...}: functions `(q, t, params) -> (n, n)` and
              `(q, qd, t, params) -> (n,)`, in M q̈ + b = 0;
            - `dm.derivation.Lagrangian(function)`: compared without the machine's forces and
              constraints, up to a factor and a gauge term.
        params: "varied": every state has parameters of its own, up to 20 % off the machine's, and
            those that are zero are not; "nonzero": zeros stay zero, what multiplies them may be
            left out; "given": the machine's own numbers; or parameters, which are taken as they
            are. Moments of inertia stay those of a body; equal ones stay equal if the equations use
            one of them for both. None: "varied"; but zeros of parameters that do not occur in the
            equations stay zero (no springs, no friction), and if other numbers do not occur (the
            moment of a uniform rod, whose mass and length do), machines of the same proportions
            will do: the parameters in other units of mass, length and time. Remarks say so.
        symbols: other names for parameters and coordinates in the text, {"m1": "masses[0]"}.
        states: how many; None takes enough for the number of parameters.
        seed: of the states.

    Returns:
        A `DerivationCheck`: a verdict for each equation, and where it is wrong, the term and a
        guess at the mistake.

    Raises:
        ValueError: text that cannot be read, with line and column; a function that raises or
            returns another shape; a form that is none of these.
    """
    require_system(system)
    system, vary = _parameters(system, params)
    rng = np.random.default_rng(as_count(seed, "seed", 0))
    of_lagrangian = isinstance(hand_written, Lagrangian)
    laws = None
    if of_lagrangian:
        laws = require_lagrangian(system, "checking a Lagrangian")
        laws = laws._replace(forces=None, dissipation=None, constraints=())
    truth = Truth(system, laws)
    names = Symbols(system, truth.inputs, symbols)
    written = read_hand_written(truth, hand_written, names)
    numbers = len(names.parameters)
    wanted = max(96, 2 * numbers + 20 * system.n)
    count = wanted if states is None else as_count(states, "states", _FEWEST)

    def checked(way: _Way) -> DerivationCheck:
        return _checked(truth, names, written, rng, way, of_lagrangian, count)

    if vary:
        return checked(_Way(vary))
    off, felt = features_off(truth, written)
    varied = checked(_Way(VARIED, off, _on_zeros(felt, system)))
    hidden = [] if varied.right else hidden_numbers(truth, written, off)
    if not hidden or not has_known_units(system):
        return varied
    try:
        alike = checked(_Way(ALIKE, off, _on_proportions(hidden, system)))
    except ValueError:  # its own zeros may leave the motion undetermined
        return varied
    return max(varied, alike, key=_simplicity)


def _simplicity(check: DerivationCheck) -> tuple[bool, int, int]:
    """What speaks for a way to look at equations: more of them right, fewer mistakes."""
    wrong = [one for one in check.equations if not one.right]
    mistakes = sum(one.guess.count("; ") + 1 if one.term else _UNEXPLAINED for one in wrong)
    return check.right, -len(wrong), -mistakes


def _on_zeros(off: list[str], system: AbstractSystem) -> str:
    if not off:
        return ""
    is_, do = ("is", "does") if len(off) == 1 else ("are", "do")
    return (
        f"{few(off)} {is_} zero in {system.name} and {do} not occur in the equations: they were "
        'kept zero (`params="varied"` does not)'
    )


def _on_proportions(hidden: list[str], system: AbstractSystem) -> str:
    does = "does" if len(hidden) == 1 else "do"
    return (
        f"{few(hidden)} {does} not occur in the equations: they were compared for machines of the "
        f'proportions of {system.name} (`params="varied"` is stricter)'
    )


def _checked(
    truth: Truth,
    names: Symbols,
    written: HandWritten,
    rng: np.random.Generator,
    way: _Way,
    of_lagrangian: bool,
    count: int,
) -> DerivationCheck:
    """The verdict with parameters that vary in one way."""
    system, vary = truth.system, way.vary
    symmetry = assumed_symmetry(truth, written, vary) if vary in (VARIED, NONZERO) else ""
    points, motions = random_points(truth, count, rng, vary, bool(symmetry), way.off)
    if written.uses_multipliers and not np.all(motions.unique):
        raise ValueError(
            f"`hand_written` must not use multipliers of {system.name!r}, but does: its rows "
            "depend on each other, so that the multipliers are not determined; eliminate them"
        )
    rows = rows_at(written, points, motions)
    case = Case(truth, names, written, rows, points, motions)
    remarks = (*written.remarks, *(one for one in (way.said, symmetry) if one))
    case = case._replace(written=written._replace(remarks=remarks))
    return _verdict(case, rng, vary, of_lagrangian, count)


def _parameters(system: AbstractSystem, params: Params | str) -> tuple[AbstractSystem, str]:
    """The machine with the numbers asked for, and how they are to vary."""
    if params is None:
        return system, ""
    if isinstance(params, str):
        if params not in _WAYS:
            raise ValueError(
                f"`params` must be {', '.join(map(repr, _WAYS))} or parameters, but is "
                f"{quoted(params)}"
            )
        return system, params
    params = match_params(params, system.params)
    require_finite_params(params)
    return eqx.tree_at(lambda one: one.params, system, params), GIVEN


def _verdict(
    case: Case, rng: np.random.Generator, vary: str, of_lagrangian: bool, count: int
) -> DerivationCheck:
    truth, written, rows = case.truth, case.written, case.rows
    disagreement = rows.disagreement()
    comparable = int(np.sum(rows.comparable))
    enough = comparable >= max(_FEWEST, count // 2)
    finite = np.all(np.isfinite(rows.value) & np.isfinite(rows.size), axis=0)
    holds = rows.holding()
    wrong = [int(j) for j in np.flatnonzero(~holds)] if comparable else []
    lost, says = undetermined(case)
    library = Library(truth, case.symbols) if wrong and truth.registers is not None else None
    located = mistakes(case, library, wrong, rng)
    meant = meanings(case, holds, quantities_of(case)) if comparable else {}
    needed = truth.n - _rank_of_rows(truth, case.points)
    needed += truth.m if written.uses_multipliers else 0
    remarks = [*written.remarks, *remarks_on(case, comparable, lost, needed)]
    if of_lagrangian and not wrong and comparable:
        remarks += on_factors(meant)
    m = rows.value.shape[1]
    sizes = {}
    if library is not None:
        sizes = {row: library.count(row) for row in range(truth.n + truth.m)}
    checks = [
        _equation(case, j, holds, finite, located.get(j), meant.get(j), says, disagreement, lost,
                  sizes)
        for j in range(m)
    ]  # fmt: skip
    uneven = of_lagrangian and bool(meant) and len(factors_of(meant)) > 1
    right = bool(
        enough and np.all(finite) and np.all(rows.comparable) and not wrong and not lost and m
        and not uneven and not any(one.verdict == WRONG for one in checks)
    )  # fmt: skip
    remarks += unused(case, vary) if comparable and not lost else []
    if wrong and written.uses_multipliers:
        remarks += on_multipliers(case)
    if wrong and vary in (VARIED, NONZERO):
        remarks += on_parameters(case, vary)
    total = sum(one.credit for one in checks) / max(needed, m, 1)
    credit = 1.0 if right else min(total, 1.0)
    return DerivationCheck(
        right, tuple(checks), float(credit), tuple(dict.fromkeys(remarks)), truth.system.name,
        written.form, comparable, needed,
    )  # fmt: skip


def _equation(
    case: Case,
    j: int,
    holds: np.ndarray,
    finite: np.ndarray,
    mistake: Mistake | None,
    meaning: Meaning | None,
    says: list[str],
    disagreement: np.ndarray,
    lost: str,
    sizes: dict[int, int],
) -> EquationCheck:
    written = case.written
    column = disagreement[:, j]
    at = int(np.argmax(np.nan_to_num(column, nan=-1.0)))
    verdict, factor, guess, where, term, credit = RIGHT, None, "", "", "", 1.0
    line = written.lines[j] if written.lines else None
    start = None
    if not np.any(case.rows.comparable) or (holds[j] and not finite[j]):
        verdict, credit, guess = UNDECIDED, 0.0, "it is not finite at some states"
        at = int(np.argmin(np.isfinite(case.rows.value[:, j])))
    elif not holds[j]:
        verdict, credit = WRONG, 0.0
        if mistake is not None:
            explanation = mistake.explanation
            guess, where, term = explanation.guess, explanation.where, explanation.term
            line, start = mistake.line, mistake.column
            several = 1 + explanation.term.count("; ")
            row = j if j in sizes else max(sizes, default=-1)  # by what the piece is called
            total = sizes.get(explanation.row if explanation.row >= 0 else row, 0)
            credit = max(1 - several / total, 0.0) if total and explanation.register >= 0 else 0.0
    elif says[j]:
        # It holds, and yet it is no equation of motion, or none that was not there.
        empty = says[j] == EMPTY
        verdict, guess = (WRONG, says[j]) if empty or lost else (RIGHT, says[j])
        credit = 0.0 if verdict == WRONG else 1.0
    elif meaning is not None:
        factor, guess = meaning.factor, meaning.words
        if factor is not None and factor != 1.0:
            verdict = UP_TO_A_FACTOR
    return EquationCheck(
        j + 1, written.texts[j] if j < len(written.texts) else f"residual {j + 1}", verdict,
        factor, where, term, guess, float(column[at]), _state(case, at), line, start, credit,
    )  # fmt: skip


def _state(case: Case, at: int) -> dict[str, float]:
    """The state with index `at`: coordinates, rates, time and parameters by name."""
    points, names = case.points, case.symbols
    state: dict[str, float] = {}
    for mark, values in (("", points.q), ("'", points.qd)):
        for name, value in zip(names.coordinates, values[at], strict=True):
            state[name + mark] = float(value)
    state["t"] = float(points.t[at])
    given = case.truth.given(points)
    for path, register in names.parameters.items():
        state[path] = float(given[register][at])
    return state


def _rank_of_rows(truth: Truth, points: Points) -> int:
    if not truth.m:
        return 0
    return int(np.max(np.linalg.matrix_rank(truth.at(points, "jacobian")[0], tol=1e-9)))
