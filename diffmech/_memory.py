"""How much memory is left, and what does not fit into it."""

import contextlib
import os
from pathlib import Path

_SHARE = 0.8  # of what is free: the rest of the computer goes on


def require_memory(need: float | int, what: str, way_out: str) -> None:
    """Refuse work whose results need more bytes than there are, with the numbers.

    Where the system does not say how much memory is free, nothing is refused.
    """
    free = _available()
    if free is not None and need > _SHARE * free:
        raise ValueError(
            f"{what} need {need / 2**30:.3g} GiB, but only {free / 2**30:.3g} GiB of memory are "
            f"free: {way_out}"
        )


def _available() -> int | None:
    """Bytes that can be had without swapping, what the system keeps of files included."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    return None
