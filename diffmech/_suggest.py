"""'Did you mean ...?', without loading anything heavy."""

import difflib
from collections.abc import Iterable


def suggestion(word: str, options: Iterable[str]) -> str:
    """' Did you mean ...?' if something comes close, and the valid names."""
    options = list(options)
    folded = {option.lower(): option for option in options}
    close = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6)
    hint = f" Did you mean {folded[close[0]]!r}?" if close else ""
    return f"{hint} Valid names: {', '.join(options)}."
