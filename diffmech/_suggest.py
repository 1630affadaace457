"""Names in sentences: cut when long, and 'Did you mean ...?', without loading anything heavy."""

import difflib
from collections.abc import Iterable

LONGEST_NAME = 60  # characters of a name that a sentence shows
_NEAR = 0.75  # difflib's ratio from which a name may be a slip of the pen
_GAP = "..."


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """The text, or its beginning and end if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    kept = most - len(_GAP)
    return f"{text[: kept - kept // 2]}{_GAP}{text[-(kept // 2) :]}"


def quoted(word: object) -> str:
    """A word as somebody wrote it, in quotes; a long one is cut in the middle."""
    return shortened(repr(shortened(word) if isinstance(word, str) else word), LONGEST_NAME + 2)


def nearest(word: str, options: Iterable[str]) -> str | None:
    """The option that is a slip of the pen away, if there is one; letters' case hardly matters."""
    folded = {option.lower(): option for option in options}
    slips = [option for key, option in folded.items() if _is_slip(word.lower(), key)]
    close = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=_NEAR)
    return folded[close[0]] if close else next(iter(slips), None)


def _is_slip(word: str, option: str) -> bool:
    """Whether one letter too many, too few or doubled is all: short names have low ratios."""
    longer, shorter = sorted((word, option), key=len, reverse=True)
    return len(longer) == len(shorter) + 1 > 1 and any(
        longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer))
    )


def suggestion(word: str, options: Iterable[str]) -> str:
    """' Did you mean ...?' if something comes close, and the valid names if there are any."""
    options = list(options)
    if not options:
        return " There are none."
    close = nearest(word, options)
    hint = f" Did you mean {close!r}?" if close is not None else ""
    return f"{hint} Valid names: {', '.join(options)}."
