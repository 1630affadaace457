"""Equations as text, one a line, names for what is used again among them.

I1 = IA + mA*LA^2                       # a name for what is used below
qB'' = -sin(qB)*cos(qB)*qA'^2*(IBx - IBy)/IBz
"""

from typing import NamedTuple

from ..scalars import Register, Tape
from ._grammar import Equation, Reader, Span
from ._symbols import Symbols
from ._text import Source, Token, UnreadableTextError

_MOST_EQUATIONS = 200


class ReadText(NamedTuple):
    """All equations of a text; `unused` are names that were given and never used."""

    equations: tuple[Equation, ...]
    unused: tuple[str, ...]
    source: Source


def read_text(text: str, tape: Tape, symbols: Symbols) -> ReadText:
    """Read equations, one a line.

    Raises:
        UnreadableTextError: what is wrong, with line and column.
    """
    source = Source(text)
    lines = source.equations()
    if len(lines) > _MOST_EQUATIONS:
        raise UnreadableTextError(
            f"there must be at most {_MOST_EQUATIONS} equations, but there are {len(lines)}"
        )
    given: dict[str, Register] = {}
    later = {tokens[0].text: tokens[0].line for tokens in lines if _names_something(tokens)}
    used: set[str] = set()
    equations = []
    spans: dict[Register, Span] = {}  # of what has got a name
    for tokens in lines:
        reader = Reader(source, tokens, tape, symbols, given, later, used)
        if _names_something(tokens) and not reader.knows(tokens[0].text):
            name, value = reader.definition()
            given[name] = value
            spans |= reader.spans
        else:
            equation = reader.equation()
            equations.append(equation._replace(spans={**spans, **equation.spans}))
    if not equations:
        raise UnreadableTextError(
            "there must be at least one equation, a line with '=' such as "
            f"{symbols.coordinates[0]}'' = ..., but there is none"
        )
    return ReadText(tuple(equations), tuple(name for name in given if name not in used), source)


def _names_something(tokens: list[Token]) -> bool:
    """Whether a line could be a definition: a bare name on its left side."""
    return (
        len(tokens) > 1
        and tokens[0].kind == "name"
        and tokens[0].text.isidentifier()
        and tokens[1].text == "="
    )
