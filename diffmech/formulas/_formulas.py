"""The equations of motion as SymPy's expressions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..scalars import Evaluation, NotScalar, Register, Symbolic, require_sympy
from ._page import Line, Page, Sum


class Formulas(NamedTuple):
    """Equations of motion to compute with in SymPy.

    All symbols are real and plain: a rate is a symbol of its own, `qA'`.

    Attributes:
        q, qd, qdd, multipliers: lists of symbols; `t` the time.
        params: symbols by the parameters' paths.
        mass, velocity, potential, forces: M, shape (n, n), and columns, (n, 1).
        jacobian, drift: J and c in J q̈ + c = 0, shapes (m, n) and (m, 1).
        rates: what the constraints say of the rates, (m, 1): it vanishes.
        balance: M q̈ + velocity + potential − forces − Jᵀλ, (n, 1), term by term as printed.
    """

    q: list[Any]
    qd: list[Any]
    qdd: list[Any]
    multipliers: list[Any]
    t: Any
    params: Mapping[str, Any]
    mass: Any
    velocity: Any
    potential: Any
    forces: Any
    jacobian: Any
    drift: Any
    rates: Any
    balance: Any


def formulas_of(page: Page, coordinates: tuple[str, ...], numbers: tuple[str, ...]) -> Formulas:
    """A page in SymPy's terms.

    Raises:
        ValueError: SymPy is not installed.
        NotScalar: something has no formula.
    """
    sympy = require_sympy()
    _require_real(page)

    def symbols(names: list[str]) -> list[Any]:
        return [sympy.Symbol(name, real=True) for name in names]

    params, q = symbols(list(numbers)), symbols(list(coordinates))
    qd, qdd = (symbols([f"{name}{mark}" for name in coordinates]) for mark in ("'", "''"))
    lam = symbols([f"lambda{k + 1}" for k in range(len(page.lam))])
    (t,) = symbols(["t"])
    inputs = (*page.numbers, *page.q, page.t, *page.qd, *page.qdd, *page.lam)
    known = dict(zip(inputs, (*params, *q, t, *qd, *qdd, *lam), strict=True))
    evaluation = Evaluation(page.tape, Symbolic(), known)

    def value(register: Register) -> Any:
        return evaluation.of(np.array(register)).item()

    def total(terms: Sum) -> Any:
        return sympy.Add(*(value(term.whole) for term in terms))

    def column(values: list[Any]) -> Any:
        return sympy.Matrix(len(values), 1, values)

    def coefficients(lines: tuple[Line, ...]) -> Any:
        matrix = sympy.zeros(len(lines), len(page.qdd))
        for i, line in enumerate(lines):
            for term in line.inertia:
                matrix[i, page.qdd.index(term.factors[-1])] = value(term.coefficient)
        return matrix

    balance = page.balance
    return Formulas(
        q,
        qd,
        qdd,
        lam,
        t,
        dict(zip(numbers, params, strict=True)),
        coefficients(balance),
        column([total(line.velocity) for line in balance]),
        column([total(line.potential) for line in balance]),
        column([total(line.forces) for line in balance]),
        coefficients(page.rows),
        column([total(line.velocity) for line in page.rows]),
        column([total(line.velocity) for line in page.rates]),
        column([total(line.left) - total(line.right) for line in balance]),
    )


def _require_real(page: Page) -> None:
    """Whole numbers have an arithmetic of their own: 3/2 = 1."""
    for register in page.tape.needed_for(page.registers):
        name = page.tape.operations[register].name
        if name in ("div", "rem") and page.tape.kind(register) is int:
            raise NotScalar("SymPy has no formula for the quotient of whole numbers here")
