"""The progress bar: on standard error, only on a terminal, only when a run is long."""

import sys
import threading
import time
from types import TracebackType
from typing import Any

_SHOW_AFTER = 1.0  # [s] a bar for shorter runs is only noise


_stop = threading.Event()


def request_stop() -> None:
    """Let the work that is under way end at its next look at the progress bar.

    For signal handlers: an exception raised there may get lost inside a compiler's callbacks.
    """
    _stop.set()


def forget_stop() -> None:
    """Take `request_stop` back."""
    _stop.clear()


def stop_requested() -> bool:
    """Whether `request_stop` was called."""
    return _stop.is_set()


class Progress:
    """Counts what is done towards `total`: time of a run, or things of another kind.

    `show=None` means: if standard error is a terminal and the run takes more than a second.
    `done` says what is counted: "s simulated". The time left is judged by what came after the bar
    was first shown, so that compiling does not count.
    """

    def __init__(
        self, total: float | int, show: bool | None, label: str, done: str = "s simulated"
    ):
        self._total = total
        self._done = done
        self._wanted = sys.stderr.isatty() if show is None else show
        self._delay = _SHOW_AFTER if show is None else 0.0
        self._label = label
        self._started = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        return self

    def update(self, done: float | int) -> None:
        """Say that the work has reached `done` of `total`; stop here if that was asked for."""
        if _stop.is_set():
            raise KeyboardInterrupt
        if not self._wanted:
            return
        if self._bar is None:
            if time.monotonic() - self._started < self._delay:
                return
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._total,
                initial=min(done, self._total),
                desc=self._label,
                file=sys.stderr,
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {n:.6g}/{total:.6g} "
                f"{self._done}, {{elapsed}} gone, {{remaining}} left",
            )
        self._bar.n = min(done, self._total)
        self._bar.refresh()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
