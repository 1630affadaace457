"""`equations`: a machine's equations of motion, printed from its functions."""

from collections.abc import Iterable, Mapping
from typing import Any

import equinox as eqx

from .._checks import as_scalar
from .._suggest import quoted, suggestion
from .._typing import Params
from ..model import (
    AbstractSystem,
    System,
    match_params,
    number_names,
    require_finite_params,
    require_system,
)
from ..scalars import NotScalar, Registers, source
from ._broken import broken
from ._formulas import Formulas, formulas_of
from ._latex import width
from ._left_out import same_of, zeros_of
from ._page import Page, page_of
from ._sections import Sections
from ._spelling import Spelling, as_latex, as_text

_WIDTH = 92  # characters of a line
_MOST_COORDINATES = 32
_MOST_OPERATIONS = 30_000
_MOST_LETTERS = 400_000
_FORMS = ("balance", "matrix")
_OUTPUTS = ("acceleration", "multipliers", "mass", "bias", "jacobian", "drift")


class Equations(eqx.Module):
    """A machine's equations of motion, in words of its own.

        M q̈ + velocity terms + potential terms = forces + Jᵀ λ,   J q̈ + drift = 0

    Printed it is plain text: `qA'` is a rate, `qA''` an acceleration, `lambda1` a multiplier. In a
    notebook it shows as formulas.

    Attributes:
        name: of the machine.
        form: "balance", an equation for each coordinate, or "matrix", entry by entry.
        coordinates: their names.
        balance: the equations of motion, one line each, terms in the order inertia, velocity,
            potential (what is left at rest: gravity, springs, moved supports), then on the right
            forces and multipliers. Of an `Explicit` machine: `x'' = ...`.
        constraints: what the constraints say of the rates, one line each.
        rows: the same of the accelerations, differentiated.
        parts: of each balance, its sums by name: "inertia", "velocity", "potential", "forces",
            "multipliers"; "0" where there is nothing.
        entries: of M and of all columns, as `M[1,2] = ...`; none of an `Explicit` machine.
        shared: subexpressions that have names of their own, as `s1 = ...`; none if short.
        left_out: parameters that do not occur: zero, or the same as another.
        remark: why the equations are not simplified; "" if they are.
    """

    name: str = eqx.field(static=True)
    form: str = eqx.field(static=True)
    coordinates: tuple[str, ...] = eqx.field(static=True)
    balance: tuple[str, ...] = eqx.field(static=True)
    constraints: tuple[str, ...] = eqx.field(static=True)
    rows: tuple[str, ...] = eqx.field(static=True)
    parts: tuple[dict[str, str], ...] = eqx.field(static=True)
    entries: tuple[str, ...] = eqx.field(static=True)
    shared: tuple[str, ...] = eqx.field(static=True)
    left_out: tuple[str, ...] = eqx.field(static=True)
    remark: str = eqx.field(static=True)
    _page: Page = eqx.field(static=True)
    _sections: Sections = eqx.field(static=True)

    def __str__(self) -> str:
        heading = f"{self.name}: M q'' + velocity + potential = forces + constraints"
        if self._sections.is_explicit:
            heading = f"{self.name}: accelerations"
        lines = [heading, *(f"  {line}" for line in self._notes())]
        for title, formulas in self._blocks(self):
            lines += ["", title] if title else [""]
            lines += _wrapped(formulas)
        return "\n".join(lines)

    def latex(self) -> str:
        """All equations as one `aligned` block, for a display of LaTeX (with amsmath) or MathJax.

        Without the signs that begin a display: write `\\[` and `\\]`, or `$$`, around it.
        """
        page = as_latex(self._page, self.coordinates, self._sections.names)
        rows: list[str] = []
        for _, formulas in self._blocks(page):
            for formula in formulas:
                first, *others = broken(formula, _WIDTH, width, unbroken="{")
                rows.append(f"& {first}")
                rows += [f"& \\qquad {{}} {line}" for line in others]
        body = " \\\\\n".join(rows)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def markdown(self) -> str:
        """A heading, remarks and the equations as a display."""
        notes = "".join(f"*{line}*\n\n" for line in self._notes())
        return f"**{_plain(self.name)}**\n\n{notes}$$\n{self.latex()}\n$$\n"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def sympy(self) -> Formulas:
        """The same as SymPy's expressions: M, all terms, J, and the balance as printed.

        Raises:
            ValueError: SymPy is not installed (`pip install 'diffmech[symbolic]'`).
        """
        return formulas_of(self._page, self.coordinates, self._sections.names)

    def python(self, *what: str) -> str:
        """A Python function `(q, qd, t, params)` of NumPy's functions; see `code`."""
        return self.code("python", *what)

    def c(self, *what: str) -> str:
        """A C function; results are written to arrays that come last; see `code`."""
        return self.code("c", *what)

    def javascript(self, *what: str) -> str:
        """A JavaScript function `(q, qd, t, params)`; see `code`."""
        return self.code("javascript", *what)

    def code(self, language: str, *what: str) -> str:
        """The source of a function that works out what is asked for.

        It is the program that lanes run, with the solution of M q̈ = ... written out, constraints
        included, and needs nothing of diffmech. `params` is a list of all numbers in the tree's
        order; the function's first lines name them.

        Args:
            language: "python", "c" or "javascript".
            what: any of "acceleration" (if nothing is given), "multipliers", "mass", "bias",
                "jacobian", "drift".
        """
        s = self._sections
        wanted = what or ("acceleration",)
        for one in wanted:
            if one not in _OUTPUTS:
                raise ValueError(
                    f"there is no output {quoted(one)}.{suggestion(str(one), _OUTPUTS)}"
                )
        if s.is_explicit and set(wanted) & {"mass", "bias"}:
            raise ValueError(
                f"{s.system.name!r} is given by its accelerations, without masses: ask for "
                "'acceleration'"
            )
        try:
            arrays = {one: _output(s, one) for one in wanted}
        except NotScalar as error:
            raise ValueError(f"`{' '.join(wanted)}` cannot be printed: {error}") from error
        rates = [f"{name}_dot" for name in self.coordinates]
        groups = ((s.numbers, s.names), (s.q, self.coordinates), (s.qd, rates))
        names = {
            int(register): name
            for registers, words in groups
            for register, name in zip(registers, words, strict=True)
        }
        comment = f"{self.name}: {', '.join(wanted)}"
        if self.left_out:
            comment += "\nnot used: " + ", ".join(self.left_out)
        return source(
            s.tape,
            arrays,
            {"q": s.q, "qd": s.qd, "t": s.t, "params": s.numbers},
            language,
            name=self.name.partition(":")[0],
            names=names,
            comment=comment,
        )

    def _notes(self) -> list[str]:
        notes = [self.remark] if self.remark else []
        if self.left_out:
            notes.append("without " + ", ".join(self.left_out))
        return notes

    def _blocks(self, spelled: "Equations | Spelling") -> Iterable[tuple[str, tuple[str, ...]]]:
        """What is printed, under which titles."""
        rates = spelled.rates if isinstance(spelled, Spelling) else spelled.constraints
        yield "", spelled.entries if self.form == "matrix" else spelled.balance
        if rates:
            yield "constraints", rates
        if rates and self.form == "balance":
            yield "constraints, differentiated", spelled.rows
        if spelled.shared:
            yield "with", spelled.shared


def equations(
    system: AbstractSystem,
    *,
    params: Params = None,
    form: str = "balance",
    zero: bool | Iterable[str] = False,
    same: Mapping[str, str] | None = None,
    seconds: Any = 10.0,
) -> Equations:
    """The equations of motion, printed from the machine's own functions.

        M q̈ + velocity terms + potential terms = forces + Jᵀ λ,   J q̈ + drift = 0

    Sums are opened, sin² + cos² and sums of angles merged, and what is left is factorised. Text,
    LaTeX and source code need nothing else; `.sympy()` needs SymPy.

    Args:
        params: the system's own if None; they only decide which are zero.
        form: "balance", an equation for each coordinate, or "matrix", the entries of M, of the
            columns and of J.
        zero: True leaves out all parameters that are zero; or names of those that are to be taken
            as zero, by path: "frictions", "springs[1]".
        same: parameters that are the same as another, by path: {"disc.inertia[1]":
            "disc.inertia[0]"}.
        seconds: after so long sums are left as they came, with names for shared subexpressions.

    Returns:
        `Equations`, which print themselves: SI units and radians, in the order of the coordinates.

    Raises:
        ValueError: a function has no scalar form (loops of unknown length), or the machine is too
            large to be printed.
    """
    require_system(system)
    if form not in _FORMS:
        raise ValueError(f"there is no form {quoted(form)}.{suggestion(str(form), _FORMS)}")
    if form == "matrix" and not isinstance(system, System):
        raise ValueError(
            f"`form` must be 'balance' for {system.name!r}, which is given by its accelerations: "
            "it has no mass matrix"
        )
    limit = float(as_scalar(seconds, "seconds", positive=True))
    if system.n > _MOST_COORDINATES:
        raise ValueError(
            f"`system` must have at most {_MOST_COORDINATES} coordinates to be printed, but "
            f"{system.name!r} has {system.n}: take a smaller one of its kind"
        )
    params = match_params(params, system.params)
    require_finite_params(params)
    names = number_names(params)
    zeros = zeros_of(zero, params, names)
    try:
        sections = Sections(system, params, zeros, same_of(same or {}, names, zeros))
    except NotScalar as error:
        raise ValueError(f"the equations of {system.name!r} cannot be printed: {error}") from error
    page = page_of(sections, limit)
    operations = page.tape.count(page.registers)
    if operations > _MOST_OPERATIONS:
        raise ValueError(_too_large(system, f"take {operations} operations"))
    coordinates = tuple(system.coordinates)
    spelled = as_text(page, coordinates, sections.names)
    letters = sum(map(len, (*spelled.balance, *spelled.shared)))
    if letters > _MOST_LETTERS:
        raise ValueError(_too_large(system, f"have {letters} characters"))
    return Equations(
        system.name,
        form,
        coordinates,
        spelled.balance,
        spelled.rates,
        spelled.rows,
        spelled.parts,
        () if sections.is_explicit else spelled.entries,
        spelled.shared,
        sections.left_out,
        page.remark,
        page,
        sections,
    )


def _output(sections: Sections, name: str) -> Registers:
    """The registers of what a program may be asked for."""
    if name in ("acceleration", "multipliers"):
        motion = sections.motion
        return motion.qdd if name == "acceleration" else motion.multipliers
    if name == "bias":
        return sections.collected(sections.bias)
    return sections.collected(
        {"mass": sections.mass, "jacobian": sections.rows}.get(name, sections.drift)
    )


def _too_large(system: AbstractSystem, how: str) -> str:
    return (
        f"`system` must be small enough to be printed, but the equations of {system.name!r} {how}: "
        "leave parameters out that are zero (`zero=True`), or take a smaller machine of its kind"
    )


def _wrapped(formulas: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for formula in formulas:
        first, *others = broken(formula, _WIDTH)
        lines += [f"  {first}", *(f"      {line}" for line in others)]
    return lines


def _plain(name: str) -> str:
    """A name in Markdown, shown literally."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|$" else letter for letter in name)
