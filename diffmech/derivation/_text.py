"""Words and signs of equations written as text, each with its line and column."""

import re
from typing import NamedTuple

from .._suggest import quoted

LONGEST_LINE = 20_000  # characters
LONGEST_TEXT = 200_000
_SHOWN = 60  # characters of a line beside a mistake

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f\v\u00a0]+)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[^\W\d²³][^\W²³]*(?:\.[^\W\d²³][^\W²³]*|\[\s*\d+(?:\s*,\s*\d+)*\s*\])*)
  | (?P<primes>['’′″]+)
  | (?P<raised>[²³])
  | (?P<sign>\*\*|==|<=|>=|[-+*/^()=,<>−–·⋅×])
    """,
    re.VERBOSE,
)
_SAME_SIGN = {"−": "-", "–": "-", "·": "*", "⋅": "*", "×": "*", "**": "^", "==": "="}
_OPEN_ENDS = frozenset("+-*/^=(,")  # a line that ends so goes on in the next
_CONTINUES = frozenset("+-*/^),")  # so does the line before one that begins so and has no "="


class Token(NamedTuple):
    """A word of an equation; `kind` is "number", "name", "primes", "raised", "sign" or "end"."""

    kind: str
    text: str
    line: int
    column: int

    @property
    def after(self) -> int:
        """The column behind it."""
        return self.column + len(self.text)


class UnreadableTextError(ValueError):
    """What is wrong with a text, where, and the line with a caret below the column."""


class Source:
    """The lines of a text, for its tokens and its mistakes."""

    def __init__(self, text: str):
        if len(text) > LONGEST_TEXT:
            raise UnreadableTextError(
                f"equations must have at most {LONGEST_TEXT} characters, but have {len(text)}: "
                "give names to what they share, one a line (I1 = IA + mA*LA^2)"
            )
        self.lines = text.split("\n")

    def mistake(self, token: Token, sentence: str) -> UnreadableTextError:
        """A sentence about a token."""
        line = self.lines[token.line - 1].expandtabs(1)
        begin = max(0, token.column - 1 - _SHOWN // 2)
        shown = line[begin : begin + _SHOWN].rstrip("\r")
        front, back = "..." if begin else "", "..." if len(line) > begin + _SHOWN else ""
        caret = " " * (len(front) + token.column - 1 - begin) + "^"
        return UnreadableTextError(
            f"line {token.line}, column {token.column}: {sentence}\n"
            f"    {front}{shown}{back}\n    {caret}"
        )

    def excerpt(self, first: tuple[int, int], last: tuple[int, int]) -> str:
        """The text between two positions, (line, column) each."""
        if first[0] != last[0]:
            return self.lines[first[0] - 1][first[1] - 1 :].split("#")[0].strip()
        return self.lines[first[0] - 1][first[1] - 1 : last[1] - 1]

    def equations(self) -> list[list[Token]]:
        """The tokens of every equation, an "end" behind each; empty lines and comments left out."""
        equations: list[list[Token]] = []
        for number, line in enumerate(self.lines, 1):
            tokens = self._tokens(number, line)
            if not tokens:
                continue
            if equations and self._goes_on(equations[-1], tokens):
                equations[-1] += tokens
            else:
                equations.append(tokens)
        for tokens in equations:
            last = tokens[-1]
            tokens.append(Token("end", "", last.line, last.after))
        return equations

    def _goes_on(self, before: list[Token], tokens: list[Token]) -> bool:
        if before[-1].kind == "sign" and before[-1].text in _OPEN_ENDS:
            return True
        unequal = all(token.text != "=" for token in tokens)
        first = tokens[0]
        return unequal and first.kind == "sign" and first.text in _CONTINUES

    def _tokens(self, number: int, line: str) -> list[Token]:
        if len(line) > LONGEST_LINE:
            raise UnreadableTextError(
                f"line {number}: a line must have at most {LONGEST_LINE} characters, but has "
                f"{len(line)}: give names to parts of it, on lines of their own (I1 = IA + mA*LA^2)"
            )
        tokens: list[Token] = []
        at, end = 0, line.find("#") if "#" in line else len(line)
        while at < end:
            match = _TOKEN.match(line, at, end)
            if match is None:
                raise self.mistake(
                    Token("sign", line[at], number, at + 1),
                    f"{quoted(line[at])} means nothing in an equation",
                )
            kind, text = str(match.lastgroup), match.group()
            if kind != "space":
                if kind == "primes":
                    text = "'" * sum(2 if prime == "″" else 1 for prime in text)
                tokens.append(Token(kind, _SAME_SIGN.get(text, text), number, at + 1))
            at = match.end()
        return tokens
