"""The grammar of one equation: text into scalar operations; nothing is ever executed.

    line     =  name "=" sum | sum "=" sum
    sum      =  product (("+" | "-") product)*
    product  =  signed (("*" | "/") signed)*
    signed   =  ("+" | "-")* power
    power    =  atom (("^" | "**") signed)?
    atom     =  number | name "'"* | function "(" sum ("," sum)* ")" | "(" sum ")"
             |  "where" "(" sum (">" | "<" | ">=" | "<=") sum "," sum "," sum ")"

Brackets may be nested to a fixed depth, so that no text can exhaust the stack.
"""

import math
from typing import NamedTuple

from .._suggest import nearest, quoted, suggestion
from ..scalars import Register, Tape
from ._symbols import FUNCTIONS, Symbols
from ._text import Source, Token

_DEEPEST = 60  # brackets within brackets
_LARGEST_POWER = 64  # that is written as products
_COMPARED = {">": "gt", "<": "lt", ">=": "ge", "<=": "le"}

Span = tuple[tuple[int, int], tuple[int, int]]  # (line, column) of its beginning, and behind it


class Equation(NamedTuple):
    """left − right of one equation.

    Attributes:
        register: of the difference.
        text: as it was written.
        line: where it begins.
        spans: where in the text what is written at a register stands.
    """

    register: Register
    text: str
    line: int
    spans: dict[Register, Span]


def _near_function(name: str) -> str:
    function = nearest(name, FUNCTIONS)
    return "" if function is None else f" Did you mean {function!r}?"


class Reader:
    """One definition or equation, from left to right; what is read is written on the tape.

    Attributes:
        spans: where in the text what is written at a register stands.
    """

    def __init__(
        self,
        source: Source,
        tokens: list[Token],
        tape: Tape,
        symbols: Symbols,
        given: dict[str, Register],
        later: dict[str, int],
        used: set[str],
    ):
        self._source, self._tokens, self._tape = source, tokens, tape
        self._symbols, self._given, self._later, self._used = symbols, given, later, used
        self._at = 0
        self._depth = 0
        self.spans: dict[Register, Span] = {}

    def knows(self, name: str) -> bool:
        """Whether a name means something of the machine."""
        return name in self._symbols.registers or name in FUNCTIONS or name == "pi"

    def definition(self) -> tuple[str, Register]:
        """name = sum."""
        name = self._next()
        if name.text in self._given:
            raise self._source.mistake(name, f"{quoted(name.text)} has got a meaning already")
        self._next()
        value = self._sum()
        self._finish("a name is given to one expression")
        return name.text, value

    def equation(self) -> Equation:
        """sum = sum."""
        first = self._tokens[0]
        left = self._sum()
        if self._peek().text != "=":
            self._refuse_what_follows()
        self._next()
        right = self._sum()
        self._finish("an equation has one '='")
        last = self._tokens[-1]
        text = self._source.excerpt((first.line, first.column), (last.line, last.column))
        register = self._tape.operate("sub", left, right)
        return Equation(register, text.strip(), first.line, self.spans)

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    def _finish(self, rule: str) -> None:
        token = self._peek()
        if token.text == "=":
            raise self._source.mistake(token, rule)
        if token.kind != "end":
            self._refuse_what_follows()

    def _refuse_what_follows(self) -> None:
        token = self._peek()
        before = self._tokens[self._at - 1] if self._at else token
        if token.kind in ("name", "number", "raised") or token.text == "(":
            raise self._source.mistake(
                token, f"write a '*' between {quoted(before.text)} and {quoted(token.text)}"
            )
        if token.kind == "end":
            raise self._source.mistake(token, "an equation must have a '=' and two sides")
        if token.text == ")":
            raise self._source.mistake(token, "this bracket was never opened")
        raise self._source.mistake(token, f"{quoted(token.text)} is not expected here")

    def _noted(self, begin: Token, register: Register) -> Register:
        behind = self._tokens[self._at - 1]
        self.spans[register] = ((begin.line, begin.column), (behind.line, behind.after))
        return register

    def _sum(self) -> Register:
        begin = self._peek()
        value = self._product()
        while self._peek().text in ("+", "-") and self._peek().kind == "sign":
            name = "add" if self._next().text == "+" else "sub"
            value = self._tape.operate(name, value, self._product())
        return self._noted(begin, value)

    def _product(self) -> Register:
        begin = self._peek()
        value = self._signed()
        while self._peek().text in ("*", "/") and self._peek().kind == "sign":
            name = "mul" if self._next().text == "*" else "div"
            value = self._tape.operate(name, value, self._signed())
        return self._noted(begin, value)

    def _signed(self) -> Register:
        begin, negative = self._peek(), False
        while self._peek().kind == "sign" and self._peek().text in ("+", "-"):
            negative ^= self._next().text == "-"
        value = self._power()
        return self._noted(begin, self._tape.operate("neg", value)) if negative else value

    def _power(self) -> Register:
        begin = self._peek()
        value = self._atom()
        if self._peek().kind == "raised":
            value = self._tape.power(value, "²³".index(self._next().text) + 2)
        elif self._peek().text == "^":
            self._enter(self._next())
            value = self._raised(value, self._signed())
            self._depth -= 1
        return self._noted(begin, value)

    def _raised(self, base: Register, exponent: Register) -> Register:
        number = self._tape.value(exponent) if self._tape.is_constant(exponent) else math.nan
        if number == int(number) if math.isfinite(number) else False:
            if abs(number) <= _LARGEST_POWER:
                return self._tape.power(base, int(number))
        elif number == 0.5:
            return self._tape.operate("sqrt", base)
        return self._tape.operate("pow", base, exponent)

    def _enter(self, token: Token) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._source.mistake(
                token, f"brackets and powers may be nested {_DEEPEST} deep, and no deeper"
            )

    def _atom(self) -> Register:
        token = self._next()
        if token.kind == "number":
            value = float(token.text)
            if not math.isfinite(value):
                raise self._source.mistake(token, f"the number {quoted(token.text)} is too large")
            return self._tape.constant(value)
        if token.kind == "name":
            return self._noted(token, self._named(token))
        if token.text == "(":
            self._enter(token)
            value = self._sum()
            self._close(token)
            return value
        if token.kind == "end":
            raise self._source.mistake(token, "the equation ends where an expression must follow")
        raise self._source.mistake(
            token, f"an expression must stand here, not {quoted(token.text)}"
        )

    def _close(self, opened: Token) -> None:
        token = self._peek()
        if token.text != ")":
            if token.kind == "end":
                raise self._source.mistake(opened, "this bracket is never closed")
            if token.text == "=":
                raise self._source.mistake(opened, "this bracket is not closed before the '='")
            self._refuse_what_follows()
        self._next()
        self._depth -= 1

    def _named(self, token: Token) -> Register:
        """A function with its arguments, or a quantity with its primes."""
        name = "".join(token.text.split())
        if name in FUNCTIONS:
            return self._called(token)
        if self._peek().kind == "primes":
            name += self._next().text
        if self._peek().text == "(":
            raise self._source.mistake(
                token,
                f"{quoted(name)} is not a function; write a '*' before the bracket if it is a "
                f"factor, and no '(t)'.{_near_function(name)}",
            )
        if name in self._given:
            self._used.add(name)
            return self._given[name]
        if name in self._symbols.registers:
            return self._symbols.registers[name]
        if name == "pi":
            return self._tape.constant(math.pi)
        raise self._source.mistake(token, self._unknown(name))

    def _unknown(self, name: str) -> str:
        bare = name.rstrip("'")
        if bare != name and (bare in self._symbols.registers or bare in self._given):
            if bare in self._symbols.coordinates:
                return f"{quoted(name)} has too many primes: '' is the acceleration"
            return f"only coordinates have rates, but {quoted(bare)} is none"
        if name in self._later:
            return f"{quoted(name)} gets its meaning in line {self._later[name]} only: move it up"
        known = [*self._symbols.names(), *self._given]
        if bare != name:
            known = [f"{each}{name[len(bare) :]}" for each in self._symbols.coordinates]
        elif nearest(name, known) is None:
            function = nearest(name, FUNCTIONS)
            if function is not None:
                return f"there is no symbol {quoted(name)}. Did you mean {function}(...)?"
        return f"there is no symbol {quoted(name)}.{suggestion(name, known)}"

    def _called(self, token: Token) -> Register:
        operation, count = FUNCTIONS[token.text]
        opened = self._peek()
        if opened.text != "(":
            raise self._source.mistake(
                opened, f"write a bracket behind the function {token.text!r}: {token.text}(...)"
            )
        self._next()
        self._enter(opened)
        arguments = [self._comparison() if operation == "select" else self._sum()]
        while self._peek().text == ",":
            self._next()
            arguments.append(self._sum())
        self._close(opened)
        if len(arguments) != count:
            raise self._source.mistake(
                token, f"{token.text!r} takes {count} argument{'s' * (count > 1)}, not "
                f"{len(arguments)}"
            )  # fmt: skip
        if operation == "select":  # the tape has the false branch first
            arguments = [arguments[0], arguments[2], arguments[1]]
        return self._tape.operate(operation, *arguments)

    def _comparison(self) -> Register:
        """sum (">" | "<" | ">=" | "<=") sum, the condition of `where`."""
        left, token = self._sum(), self._next()
        if token.text not in _COMPARED:
            raise self._source.mistake(token, "`where` begins with a comparison: where(x > 0, ...)")
        return self._tape.operate(_COMPARED[token.text], left, self._sum())
