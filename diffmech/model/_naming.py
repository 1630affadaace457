"""What a machine is called where no `name` is given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

# What functions are called that say what they compute, not of which machine.
_COMMON = {"lagrangian", "parts", "acceleration", "equations", "L", "f", "main"}


def name_after(function: Callable[..., Any], otherwise: str) -> str:
    """The function's own name; if that is a common one (`lagrangian`, `parts`, a lambda), the name
    of the function or class that it is written in, or of its file; else `otherwise`.
    """
    own = getattr(function, "__qualname__", "").split(".")
    code = getattr(function, "__code__", None)
    file = Path(code.co_filename).stem if code is not None else ""
    for name in (*reversed(own), file):
        # Lambdas, local scopes and cells of notebooks have no names, but signs or digits.
        if name not in _COMMON and name[:1].isalpha():
            return name
    return otherwise
