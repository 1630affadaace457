"""Names that any language takes, from names that people give: `masses[1]`, `lambda`, `θ`."""

import re
import unicodedata
from collections.abc import Iterable

_LONGEST = 40  # characters
_NOTHING_LEFT = "v"  # of a name without a single ASCII letter or digit


def ascii_letters(name: str) -> str:
    """Greek letters spelled out, accents left out; what else is not ASCII is gone."""
    return "".join(_spelled(letter) for letter in unicodedata.normalize("NFKD", name))


def _spelled(letter: str) -> str:
    if letter.isascii():
        return letter
    said = unicodedata.name(letter, "").split()  # GREEK SMALL LETTER THETA
    if said[:1] == ["GREEK"] and "LETTER" in said:
        word = said[said.index("LETTER") + 1].lower().replace("lamda", "lambda")
        return word if "SMALL" in said else word.capitalize()
    return ""


class Identifiers:
    """Gives out names, each once: letters, digits and underscores, none of them reserved."""

    def __init__(self, reserved: Iterable[str]):
        self._taken = set(reserved)

    def new(self, name: str) -> str:
        """The name itself, or what is left of it."""
        word = re.sub(r"[^A-Za-z0-9]+", "_", ascii_letters(name)).strip("_")[:_LONGEST].rstrip("_")
        word = word if word[:1].isalpha() else f"{_NOTHING_LEFT}{word}"
        tried = word if word not in self._taken else f"{word}_"
        number = 2
        while tried in self._taken:
            tried, number = f"{word}_{number}", number + 1
        self._taken.add(tried)
        return tried

    def numbered(self, prefix: str) -> Iterable[str]:
        """x1, x2, ..., those that are taken left out."""
        number = 0
        while True:
            number += 1
            name = f"{prefix}{number}"
            if name not in self._taken:
                self._taken.add(name)
                yield name
