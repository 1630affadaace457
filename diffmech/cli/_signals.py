"""Ctrl-C and SIGTERM: the first asks the work to end well, the second ends it."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from .._progress import forget_stop, request_stop

_EXIT = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Signals:
    """Which signal has arrived, if any."""

    def __init__(self) -> None:
        self.received: int | None = None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that ended by this signal."""
        return _EXIT[signal.Signals(self.received)] if self.received is not None else 130

    def __call__(self, number: int, frame: Any) -> None:
        del frame
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = number
        request_stop()
        with contextlib.suppress(OSError, ValueError):
            print(
                "\nStopping after this block of work. (Once more stops at once.)",
                file=sys.stderr,
            )


@contextlib.contextmanager
def watching() -> Iterator[Signals]:
    """Handle both signals while the block runs."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    before = {number: signal.signal(number, signals) for number in _EXIT}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        forget_stop()
