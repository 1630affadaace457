"""How much memory is left, and what does not fit into it."""

import os

_SHARE = 0.8  # of what is free: the rest of the computer goes on


def require_memory(need: float | int, what: str, way_out: str) -> None:
    """Refuse work whose results need more bytes than there are, with the numbers.

    Where the system does not say how much memory is free, nothing is refused.
    """
    try:
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return
    if need > _SHARE * free:
        raise ValueError(
            f"{what} need {need / 2**30:.3g} GiB, but only {free / 2**30:.3g} GiB of memory are "
            f"free: {way_out}"
        )
