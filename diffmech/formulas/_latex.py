"""LaTeX: names as symbols, and the spelling of formulas."""

import math
import re

from ..scalars import ANY, ATOM, COMPARISON, POWER, SUM, Form, Notation, as_quotient, ascii_letters

_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi"),
    "omega",
)
_CAPITAL = (
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)
_LETTERS = re.compile(
    rf"({'|'.join(sorted((*_GREEK, *_CAPITAL), key=len, reverse=True))}|[A-Za-z])"
)
_LONGEST_INDEX = 2  # letters of an index written right behind a single letter: IBx, mA
_ESCAPED = re.compile(r"[^A-Za-z0-9., ]")


class Symbol:
    """A name in LaTeX: a letter or word, and its index."""

    def __init__(self, name: str):
        path, _, index = ascii_letters(name).partition("[")
        *branch, leaf = path.split(".")
        letter = _LETTERS.match(leaf)
        rest = leaf[letter.end() :] if letter else ""
        base, indices = f"\\mathrm{{{escaped(leaf)}}}", []
        if letter and _is_index(rest, letter[0]):
            base = letter[0] if len(letter[0]) == 1 else f"\\{letter[0]}"
            indices = [rest.strip("_")] if rest else []
        indices += [*branch, *([index.rstrip("]")] if index else [])]
        self.base = base
        self.index = ", ".join(_as_index(word) for word in indices)

    def written(self, mark: str = "") -> str:
        """With a mark such as `dot` above the letter."""
        base = f"\\{mark}{{{self.base}}}" if mark else self.base
        return f"{base}_{{{self.index}}}" if self.index else base


def _is_index(rest: str, letter: str) -> bool:
    """Whether what follows a letter is an index to it rather than the rest of a word."""
    if rest == "" or re.fullmatch(r"_?\d+", rest):
        return True
    if re.fullmatch(r"_[A-Za-z0-9]+", rest):
        return True
    short = len(rest) <= _LONGEST_INDEX and not rest.startswith("_")
    return short and (rest[0].isupper() or rest[0].isdigit()) and rest.isalnum()


def _as_index(word: str) -> str:
    return word if re.fullmatch(r"\d+|[A-Za-z]", word) else f"\\mathrm{{{escaped(word)}}}"


def escaped(text: str) -> str:
    """Any text, as upright letters in a formula."""
    plain = ascii_letters(text) or "?"
    return _ESCAPED.sub(lambda match: _SPECIAL.get(match[0], "?"), plain).replace(" ", "\\ ")


_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "_#%$"},
    **{sign: sign for sign in "-+*/()[]:;'!=<>|@?"},
    "{": "\\{",
    "}": "\\}",
}


def symbols(names: list[str]) -> list[Symbol]:
    """One for each name, so that no two are alike; those that come first choose first."""
    chosen: list[Symbol] = []
    written: set[str] = set()
    for name in names:
        symbol = Symbol(name)
        if symbol.written() in written:  # theta1 and theta_1
            symbol.base, symbol.index = f"\\mathrm{{{escaped(name)}}}", ""
        while symbol.written() in written:
            symbol.base += "'"
        written.add(symbol.written())
        chosen.append(symbol)
    return chosen


def _number(value: float | int | bool) -> str:
    """A half as a fraction, 1e-5 as a power of ten."""
    if isinstance(value, bool):
        return f"\\mathrm{{{'true' if value else 'false'}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return "\\mathrm{NaN}" if value != value else "\\infty"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e6:
        return str(int(value))
    for below in (2, 4, 8):
        if isinstance(value, float) and value * below == int(value * below) and value < 1:
            return f"\\frac{{{int(value * below)}}}{{{below}}}"
    above, below = as_quotient(abs(value))
    if below != 1:
        return f"\\frac{{{above}}}{{{below}}}"
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = f"10^{{{int(exponent)}}}"
    return power if digits == "1" else f"{digits} \\times {power}"


_COMPARED = {"eq": "=", "ge": "\\ge", "gt": ">", "le": "\\le", "lt": "<", "ne": "\\ne"}
_NAMED = {
    **{name: f"\\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
    "acos": "\\arccos",
    "asin": "\\arcsin",
    "atan": "\\arctan",
    "log": "\\ln",
    "max": "\\max",
    "min": "\\min",
}
_WORDS = ("is_finite", "round_away", "round_even", "to_bool", "to_int", "erf_inv")

LATEX = Notation(
    forms={
        "over": Form("\\frac{{{}}}{{{}}}", ATOM, (ANY, ANY)),
        "power": Form("{}^{{{}}}", POWER, (ATOM, ANY)),
        "pow": Form("{}^{{{}}}", POWER, (ATOM, ANY)),
        "sqrt": Form("\\sqrt{{{}}}", ATOM),
        "rsqrt": Form("\\frac{{1}}{{\\sqrt{{{}}}}}", ATOM),
        "abs": Form("|{}|", ATOM),
        "exp": Form("e^{{{}}}", POWER),
        "to_float": Form("{}"),
        "select": Form("\\operatorname{{where}}({0}, {2}, {1})"),
        **{
            name: Form(f"{{}} {sign} {{}}", COMPARISON, (SUM, SUM))
            for name, sign in _COMPARED.items()
        },
        **{
            name: Form(f"{word}({', '.join(['{}'] * (1 + (name in ('max', 'min'))))})")
            for name, word in _NAMED.items()
            if name != "exp"
        },
        **{name: Form(f"\\operatorname{{{{{name.replace('_', ' ')}}}}}({{}})") for name in _WORDS},
    },
    call="\\operatorname{{{}}}({})",
    number=_number,
    times=" \\, ",
    ordered=True,
)

_SQUARED = re.compile(r"(\\(?:sin|cos|tan))(\([^()]*\))\^(\{\d+\})")


def tidy(text: str) -> str:
    """sin² x for (sin x)²."""
    return _SQUARED.sub(r"\1^\3\2", text)


def width(text: str) -> int:
    """About how many letters wide a formula is."""
    text = re.sub(r"\\(?:dot|ddot|mathrm|operatorname|frac|,|ti?mes)", "", text)
    text = re.sub(r"\\[A-Za-z]+", "x", text)
    return len(re.sub(r"[{}_^\\ ]", "", text))
