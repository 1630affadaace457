"""Runs in stretches: compiled calls of about half a second each, from a loop on the host.

XLA does not hear Ctrl-C, which arrives when a call ends. So a long run is cut into stretches of
steps; between them the host looks at Ctrl-C, at the progress bar and at whether the run has ended.
Where a run is cut changes nothing in it: state and step control are carried across.
"""

import time
from collections.abc import Callable, Iterator

_FIRST = 1000  # steps
_SECONDS = 0.5  # of wall clock
_FEWEST, _MOST = 20, 10**6  # steps


def stretches(taken: Callable[[], int], going: Callable[[], bool]) -> Iterator[int]:
    """How many steps to take next, again and again, for as long as `going()` is true.

        for most in stretches(taken, going):
            state = advance(state, most)

    Each stretch is as many steps as half a second had room for at the pace of the one before.

    Args:
        taken: steps so far, accepted or not.
        going: whether the run goes on.
    """
    steps, first = _FIRST, True
    while going():
        before, clock = taken(), time.perf_counter()
        yield steps
        if not first:  # the first stretch may have been compiled: its time says nothing
            pace = (taken() - before) / max(time.perf_counter() - clock, 1e-6)
            steps = min(max(int(pace * _SECONDS), _FEWEST), _MOST)
        first = False
