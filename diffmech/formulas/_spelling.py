"""The terms of a page as text, in a notation."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..scalars import TEXT, Notation, Register, spelled
from ._latex import LATEX, symbols, tidy
from ._page import Line, Page, Sum, shared

_PLAIN = TEXT._replace(ordered=True)


class Spelling(NamedTuple):
    """All equations of a page as text; each is one line.

    Attributes:
        shared: what got names of its own, as `s1 = ...`.
        balance, rates, rows: the equations.
        parts: of each balance the sums by name, as in `Line`; "0" where there is nothing.
        entries: of M (`M[1,2]`, its upper half), of velocity terms, potential terms and forces, of
            J and its drift, each as `M[1,2] = ...`; what is zero is left out.
    """

    shared: tuple[str, ...]
    balance: tuple[str, ...]
    rates: tuple[str, ...]
    rows: tuple[str, ...]
    parts: tuple[dict[str, str], ...]
    entries: tuple[str, ...]


def as_text(page: Page, coordinates: tuple[str, ...], numbers: tuple[str, ...]) -> Spelling:
    """Plain text: `qA''` is an acceleration, `qA'` a rate."""
    clean = [_printable(name) for name in (*numbers, *coordinates)]
    time = _apart("t", clean)
    multipliers = [_apart(f"lambda{k + 1}", clean) for k in range(len(page.lam))]
    moving = clean[len(numbers) :]
    names = [*clean, time, *(f"{x}'" for x in moving), *(f"{x}''" for x in moving), *multipliers]
    return _Speller(page, names, lambda k: _apart(f"s{k}", clean), _PLAIN, str, "{}[{}]").spelling()


def as_latex(page: Page, coordinates: tuple[str, ...], numbers: tuple[str, ...]) -> Spelling:
    """LaTeX without line breaks: dots over rates and accelerations."""
    plain = [*coordinates, *numbers]
    lambdas = [f"lambda{k + 1}" for k in range(len(page.lam))]
    letters = symbols([*plain, *(_apart(name, plain) for name in ("t", *lambdas))])
    n = len(coordinates)
    own, params, (t, *lam) = letters[:n], letters[n : len(plain)], letters[len(plain) :]
    names = [symbol.written() for symbol in (*params, *own, t)]
    names += [symbol.written(mark) for mark in ("dot", "ddot") for symbol in own]
    names += [symbol.written() for symbol in lam]
    return _Speller(
        page, names, lambda k: f"\\sigma_{{({k})}}", LATEX, tidy, "{}_{{{}}}"
    ).spelling()


def _apart(name: str, others: list[str]) -> str:
    """A name that nobody else has."""
    while name in others:
        name += "_"
    return name


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


class _Speller:
    def __init__(
        self,
        page: Page,
        names: list[str],
        numbered: Callable[[int], str],
        notation: Notation,
        tidied: Callable[[str], str],
        indexed: str,
    ):
        self._page, self._notation, self._tidied = page, notation, tidied
        self._indexed = indexed
        inputs = (*page.numbers, *page.q, page.t, *page.qd, *page.qdd, *page.lam)
        self._names = dict(zip(inputs, names, strict=True))
        self._shared = shared(page)
        for k, register in enumerate(self._shared):
            self._names[register] = numbered(k + 1)

    def spelling(self) -> Spelling:
        page = self._page
        return Spelling(
            shared=tuple(f"{self._names[one]} = {self._defined(one)}" for one in self._shared),
            balance=tuple(map(self._line, page.balance)),
            rates=tuple(map(self._line, page.rates)),
            rows=tuple(map(self._line, page.rows)),
            parts=tuple(
                {name: self._sum(part) for name, part in zip(Line._fields, line, strict=True)}
                for line in page.balance
            ),
            entries=tuple(self._entries()),
        )

    def _entries(self) -> Iterator[str]:
        page = self._page
        for i, line in enumerate(page.balance):
            for term in line.inertia:
                j = page.qdd.index(term.factors[-1])
                if j >= i:
                    yield self._entry("M", (i, j), self._text(term.coefficient))
        for letter, name in (("v", "velocity"), ("p", "potential"), ("Q", "forces")):
            for i, line in enumerate(page.balance):
                if getattr(line, name):
                    yield self._entry(letter, (i,), self._sum(getattr(line, name)))
        for k, line in enumerate(page.rows):
            for term in line.inertia:
                j = page.qdd.index(term.factors[-1])
                yield self._entry("J", (k, j), self._text(term.coefficient))
        for k, line in enumerate(page.rows):
            if line.velocity:
                yield self._entry("c", (k,), self._sum(line.velocity))

    def _entry(self, letter: str, index: tuple[int, ...], text: str) -> str:
        numbers = ",".join(str(i + 1) for i in index)
        return f"{self._indexed.format(letter, numbers)} = {text}"

    def _text(self, register: Register) -> str:
        return self._tidied(spelled(self._page.tape, register, self._names, self._notation))

    def _defined(self, register: Register) -> str:
        names = {key: name for key, name in self._names.items() if key != register}
        return self._tidied(spelled(self._page.tape, register, names, self._notation))

    def _line(self, line: Line) -> str:
        return f"{self._sum(line.left)} = {self._sum(line.right)}"

    def _sum(self, terms: Sum) -> str:
        """Terms in their order; 0 of none."""
        texts = [self._text(term.whole) for term in terms]
        total = texts[0] if texts else "0"
        for text in texts[1:]:
            total += f" - {text[1:]}" if text.startswith("-") else f" + {text}"
        return total
