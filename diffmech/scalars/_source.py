"""A scalar program as the source of a function in Python, C or JavaScript.

One walk over the tape: what is needed more than once is computed once and gets a name, what is
needed once is written where it is needed, unless the line grows too long. The order of the
operations is the tape's, so that the numbers are those of all other algebras to round-off.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .._suggest import quoted, suggestion
from ._identifiers import Identifiers, ascii_letters
from ._in_c import C
from ._in_javascript import JAVASCRIPT
from ._in_python import PYTHON
from ._language import Language
from ._notation import ANY, ATOM, Form
from ._tape import Register, Tape
from ._unknown import NotScalar

LANGUAGES = {"python": PYTHON, "c": C, "javascript": JAVASCRIPT}

_LONGEST = 72  # characters of an expression
_WIDEST = 96  # of a line that lists results
_INDENT = "    "
_SHOWN = 60  # characters of a name in a comment


def source(
    tape: Tape,
    outputs: Mapping[str, Any],
    inputs: Mapping[str, Any],
    language: str = "python",
    *,
    name: str = "f",
    names: Mapping[Register, str] | None = None,
    comment: str = "",
) -> str:
    """The source of a function that works out registers of a tape, complete with what it imports.

    Python: NumPy's functions, on numbers or on arrays of many lanes (`q` of shape (n,) or
    (n, lanes), results alike). C: C99; arrays are pointers, those of the results come last,
    matrices row by row. JavaScript: numbers and arrays of them. A single output is returned as it
    is, several by name (a `dict`, an object).

    Names are made into identifiers, whatever they are: letters and digits, none of them a word of
    the language.

    Args:
        outputs: by name, arrays of registers of any shape.
        inputs: by name, in the order of the function's arguments: a register, or an array of them,
            which is taken as one list of numbers, row by row.
        language: "python", "c" or "javascript".
        name: of the function.
        names: of registers, where they have any: they name variables.
        comment: lines above the function.

    Raises:
        NotScalar: the language has no such function (`digamma`).
        KeyError: an input of the tape is missing.
    """
    if language not in LANGUAGES:
        raise ValueError(
            f"there is no language {quoted(language)}.{suggestion(str(language), LANGUAGES)}"
        )
    arrays = {key: np.asarray(registers, dtype=np.int64) for key, registers in outputs.items()}
    given = {key: np.asarray(registers, dtype=np.int64) for key, registers in inputs.items()}
    return _Function(tape, LANGUAGES[language], language, names or {}).text(
        arrays, given, name, comment
    )


class _Function:
    """One function, as it grows line by line."""

    def __init__(self, tape: Tape, language: Language, title: str, names: Mapping[Register, str]):
        self._tape, self._language, self._title = tape, language, title
        self._names = names
        self._identifiers = Identifiers(language.reserved)
        self._lines: list[str] = []
        self._texts: dict[Register, tuple[str, int]] = {}  # and how tightly they hold
        self._used: set[str] = set()

    def text(
        self, outputs: dict[str, np.ndarray], inputs: dict[str, np.ndarray], name: str, comment: str
    ) -> str:
        function = self._identifiers.new(name)
        arguments = {key: self._identifiers.new(key) for key in inputs}
        wanted = [
            register for registers in outputs.values() for register in registers.ravel().tolist()
        ]
        needed = self._tape.needed_for(wanted)
        taken = self._read(arguments, inputs, set(needed))
        stored = {key: self._identifiers.new(key) for key in outputs if self._language.stored}
        for register in needed:
            if self._tape.operations[register].name == "input" and register not in self._texts:
                raise KeyError(f"input {self._tape.operations[register].arguments[0]} is not given")
        self._work_out(needed, wanted)
        self._give(outputs, stored)
        return self._whole(function, inputs, arguments, taken, stored, comment)

    def _read(
        self, arguments: dict[str, str], inputs: dict[str, np.ndarray], needed: set[Register]
    ) -> list[str]:
        """Lines that read the arguments, each number that is needed; the arguments so read."""
        language, taken = self._language, []
        for key, registers in inputs.items():
            argument = arguments[key]
            listed = registers.ravel().tolist()
            if not needed.isdisjoint(listed):
                taken.append(argument)
                if language.take:
                    self._lines.append(language.take.format(argument))
            for index, register in enumerate(listed):
                if not registers.ndim:
                    self._texts[register] = argument, ATOM
                elif register in needed:
                    plain = self._names.get(register, f"{key}_{index}")
                    word = self._identifiers.new(plain)
                    value = language.entry.format(argument, index)
                    line = language.declared[float].format(word, value)
                    said = "" if word == plain else f"  {language.comment.format(_harmless(plain))}"
                    self._lines.append(line + said)
                    self._texts[register] = word, ATOM
        return taken

    def _work_out(self, needed: list[Register], wanted: list[Register]) -> None:
        """Assignments, in the tape's order."""
        uses: dict[Register, int] = {}
        for register in needed:
            operation = self._tape.operations[register]
            if operation.name not in ("constant", "input"):
                for argument in operation.arguments:
                    uses[argument] = uses.get(argument, 0) + 1
        for register in wanted:
            uses[register] = uses.get(register, 0) + 1
        numbered = iter(self._identifiers.numbered("x"))
        for register in needed:
            name, arguments = self._tape.operations[register]
            if name == "input":
                continue
            if name == "constant":
                text = self._language.number(arguments[0])
                self._texts[register] = text, ATOM if text[0] != "-" else ANY
                continue
            if name == "mul" and self._tape.is_constant(arguments[1]):
                arguments = arguments[::-1]  # 3 x rather than x 3
            form = self._form(name, arguments)
            text = self._formed(form, arguments, numbered)
            if uses[register] > 1:
                self._assign(register, text, numbered)
            else:
                self._texts[register] = text, form.holds

    def _formed(self, form: Form, arguments: tuple[Register, ...], numbered: Iterator[str]) -> str:
        """An operation as text; long arguments get names until it is short enough."""
        while True:
            pieces = [self._texts[argument] for argument in arguments]
            needs = form.needs + (ANY,) * len(pieces)
            texts = [
                text if holds >= need else f"({text})"
                for (text, holds), need in zip(pieces, needs, strict=False)
            ]
            whole = form.template.format(*texts)
            longest = max(arguments, key=lambda register: len(self._texts[register][0]))
            plain = self._tape.operations[longest].name in ("constant", "input")
            short = len(self._texts[longest][0]) <= len(whole) // 4
            if len(whole) <= _LONGEST or plain or short:
                return whole
            self._assign(longest, self._texts[longest][0], numbered)

    def _assign(self, register: Register, text: str, numbered: Iterator[str]) -> None:
        name, arguments = self._tape.operations[register]
        inner = self._texts[arguments[0]][0] if name in ("sin", "cos") else ""
        word = self._identifiers.new(f"{name}_{inner}") if inner.isidentifier() else next(numbered)
        declared = self._language.declared[self._tape.kind(register)]
        self._lines.append(declared.format(word, text))
        self._texts[register] = word, ATOM

    def _form(self, name: str, arguments: tuple[Register, ...]) -> Form:
        forms = self._language.forms
        kind = self._tape.kind(arguments[0]).__name__
        form = forms.get(f"{name}:{kind}") or forms.get(name)
        if form is None:
            what = f"`{name}`" if kind == "float" else f"`{name}` of whole numbers"
            others = [
                key
                for key, one in LANGUAGES.items()
                if f"{name}:{kind}" in one.forms or name in one.forms
            ]
            instead = f"print it in {' or '.join(others)}" if others else "write it as a sum"
            raise NotScalar(f"{self._title} has no function for {what}: {instead}")
        self._used.update(re.findall(r"[A-Za-z_]\w*", form.template))
        return form

    def _give(self, outputs: dict[str, np.ndarray], stored: dict[str, str]) -> None:
        """The results: stored one by one, or returned."""
        language = self._language
        if stored:
            for key, registers in outputs.items():
                for index, register in enumerate(registers.ravel().tolist()):
                    text = self._texts[register][0]
                    self._lines.append(language.stored.format(stored[key], index, text))
            return
        texts = {key: self._listed(registers) for key, registers in outputs.items()}
        if len(texts) == 1:
            (text,) = texts.values()
            self._lines.append(language.result.format(text))
            return
        template, entry = language.results
        named = Identifiers(())
        parts = [entry.format(named.new(key), text) for key, text in texts.items()]
        self._lines.append(template.format(_joined(parts)))

    def _listed(self, registers: np.ndarray) -> str:
        if not registers.ndim:
            return self._texts[int(registers)][0]
        if self._language.array:
            self._used.update(re.findall(r"[A-Za-z_]\w*", self._language.array))
            numbers = [self._texts[register][0] for register in registers.ravel().tolist()]
            return self._language.array.format(_joined(numbers), registers.shape)
        return f"[{_joined([self._listed(part) for part in registers])}]"

    def _whole(
        self,
        function: str,
        inputs: dict[str, np.ndarray],
        arguments: dict[str, str],
        taken: list[str],
        stored: dict[str, str],
        comment: str,
    ) -> str:
        language = self._language
        declared = [
            language.argument[inputs[key].ndim > 0].format(word) for key, word in arguments.items()
        ]
        declared += [language.argument[1].replace("const ", "").format(w) for w in stored.values()]
        lines = [language.comment.format(_harmless(line)) for line in comment.splitlines()]
        lines.append(language.head.format(function, ", ".join(declared)))
        if stored:  # a C compiler complains of what is not used
            self._lines[:0] = [f"(void){word};" for word in arguments.values() if word not in taken]
        body = "\n".join(self._lines)
        lines.append("\n".join(f"{_INDENT}{line}" if line else "" for line in body.split("\n")))
        if language.foot:
            lines.append(language.foot)
        return "\n".join([*self._beginning(body), *lines]) + "\n"

    def _beginning(self, body: str) -> list[str]:
        """Imports and helpers, those that are used."""
        language = self._language
        helpers = [text for name, text in language.helpers.items() if name in self._used]
        if "{}" not in language.imports:
            return [part for part in (language.imports, *helpers) if part]
        words = set(re.findall(r"[A-Za-z_]\w*", "\n".join([body, *helpers])))
        library = {"asarray", "errstate", *(words & language.library)}
        start = language.imports.format(", ".join(sorted(library)))
        if any("math." in text for text in helpers):
            start = f"import math\n\n{start}"
        return [start, "", *(f"{text}\n" for text in helpers)]


def _joined(parts: list[str]) -> str:
    """A list in one line, or one line an entry."""
    line = ", ".join(parts)
    if len(line) <= _WIDEST and "\n" not in line:
        return line
    inner = ",\n".join(parts).replace("\n", f"\n{_INDENT}")
    return f"\n{_INDENT}{inner},\n"


def _harmless(text: str) -> str:
    """A name in a comment: nothing in it ends the line or the comment."""
    kept = re.sub(r"[^A-Za-z0-9_ .,:;=()\[\]'+-]", "?", ascii_letters(text))
    return kept[:_SHOWN] if len(kept) <= _SHOWN else f"{kept[: _SHOWN - 3]}..."
