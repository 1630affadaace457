"""Long formulas over several lines, broken at a plus, minus or equals sign."""

from collections.abc import Callable

_OPEN, _CLOSED = "([{", ")]}"
_SIGNS = (" + ", " - ", " = ")


def broken(
    text: str, width: int, measure: Callable[[str], int] = len, unbroken: str = ""
) -> list[str]:
    """The text in lines of at most `width`, where that is possible.

    Signs outside of all parentheses are preferred, and among them the last of a line.

    Args:
        measure: the width of a piece of text.
        unbroken: opening brackets within which no line may end.
    """
    breaks = _breaks(text, unbroken)
    lines, start = [], 0
    while measure(text[start:]) > width:
        ahead = [at for at in breaks if at[0] > start + 1]
        fitting = [at for at in ahead if measure(text[start : at[0]]) <= width]
        if not ahead:
            break
        # The beginning of a line is not where to end it, unless it is the only one.
        late = [at for at in fitting if 4 * measure(text[start : at[0]]) > width]
        end, _ = min(late or fitting or ahead[:1], key=lambda at: (at[1], -at[0]))
        lines.append(text[start:end])
        start = end + 1
    return [*lines, text[start:]]


def _breaks(text: str, unbroken: str) -> list[tuple[int, int]]:
    """Where a line may end, and how deep in parentheses that is."""
    breaks: list[tuple[int, int]] = []
    open_: list[str] = []
    for i, letter in enumerate(text):
        if letter in _OPEN:
            open_.append(letter)
        elif letter in _CLOSED:
            del open_[-1:]
        elif text.startswith(_SIGNS, i) and not any(one in unbroken for one in open_):
            breaks.append((i, len(open_)))
    return breaks
