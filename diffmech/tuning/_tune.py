"""`tune_cpu`: compiler options that make ensembles faster, tried before they are trusted."""

import operator
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from .._printing import aligned
from ._trial import TrialOutcome, known_gain, outcome_of
from ._xla_flags import (
    FUSION,
    LOOPS,
    OPTIONS,
    SCHEDULER,
    UNROLLING,
    WIDTH,
    backend_started,
    devices_of,
    extra_options,
    has_both,
    missing_options,
    names_a_file,
    with_devices,
    with_options,
)

_CALLED = {
    LOOPS: "whole-loop kernels",
    FUSION: "multi-output fusion",
    UNROLLING: "loops not unrolled",
    SCHEDULER: "a fast scheduler",
    WIDTH: "512-bit vectors",
}
_INHERITED = "`XLA_FLAGS` had the options already"
_TOO_LATE = (
    "`tune_cpu()` must be called before JAX computes anything, but JAX's backend is running, and "
    "XLA reads its options only when that starts; nothing was changed. Call it right after the "
    "imports, before the first JAX array is made (in a notebook: restart the kernel first)."
)
_IN_A_FILE = (
    "`tune_cpu()` adds options to `XLA_FLAGS`, but that names a file; nothing was changed. Put the "
    "options themselves in `XLA_FLAGS`, or add these to the file: "
    + with_options("", (LOOPS, FUSION))
)


@dataclass(frozen=True)
class Tuning:
    """What `tune_cpu` did, or what a process has inherited.

    Attributes:
        flags: `XLA_FLAGS` as JAX's backend reads them.
        devices: CPU devices asked for.
        active: whether the two options that matter most, for loops and fusion, are in force.
        verdict: why, in words.
        gain: how many times as fast as without the options a small program of lanes ran when they
            were tried on this machine; None if that is not known.
    """

    flags: str
    devices: int
    active: bool
    verdict: str
    gain: float | None

    def __str__(self) -> str:
        return aligned(
            [
                ("tuning", "active" if self.active else "not active"),
                ("verdict", self.verdict),
                ("gain", _times(self.gain) or "not measured"),
                ("devices", str(self.devices)),
                ("flags", self.flags or "none"),
            ]
        )


_first: list[Tuning] = []  # the record of this process, once it is tuned
_seen = [os.environ.get("XLA_FLAGS", "")]  # the flags, when last seen before the backend started


def tune_cpu(devices: int | None = None) -> Tuning:
    """Let XLA compile ensembles for this CPU, and show JAX one device a core.

    Adds to `XLA_FLAGS`, for this process and those it starts: kernels of whole loops, multi-output
    fusion, less work for the compiler, vectors of 512 bits where the processor has them and is
    faster with them, and a number of CPU devices. What is set already is kept as it is. Call it
    once, before JAX computes anything (importing JAX first is fine). A single trajectory gains
    little.

    Fusion is experimental in XLA. So a small program is first run in a process of its own, with the
    options and without, and must give the same numbers to 1e-12; if it does not, or crashes, the
    options that fail are left out. That takes 6 to 9 s, once for each JAX, processor and set of
    flags: the verdict is kept in `$XDG_CACHE_HOME/diffmech` (`~/.cache/diffmech`), a bad one for a
    week.

    The trial is about ensembles, but the options hold for the whole process. Fusion has been seen
    to abort a process that compiled a large vmapped program with many outputs (jax 0.10.2): run
    programs of that kind in a process that is not tuned.

    Args:
        devices: how many CPU devices JAX shows; by default, the cores this process may use.

    Returns:
        What is in force. A second call returns the record of the first.

    A RuntimeWarning, and `verdict`, say what could not be done: it was called too late, options
    failed, another number of devices is set. Raises ValueError for `devices` below 1.
    """
    asked = _as_devices(devices)
    if _first:
        return _first[0]
    if backend_started():
        current = current_tuning()
        if current is not None and current.active and asked in (None, current.devices):
            return current
        return _unchanged(_TOO_LATE)
    flags = os.environ.get("XLA_FLAGS", "").strip()
    if names_a_file(flags):
        return _unchanged(_IN_A_FILE)
    there = devices_of(flags)
    if there is not None and asked not in (None, there):
        warnings.warn(
            f"`devices={asked}` was not used: XLA_FLAGS or JAX_NUM_CPU_DEVICES ask for {there} "
            "already; take that away first.",
            RuntimeWarning,
            stacklevel=2,
        )
    missing = missing_options(flags)
    if {LOOPS, FUSION}.intersection(missing):
        outcome = outcome_of(flags, missing)
        text, gain = _in_words(outcome, missing), outcome.gain
        if outcome.fault:
            warnings.warn(f"`tune_cpu()` {text}.", RuntimeWarning, stacklevel=2)
        flags = with_options(flags, outcome.options)
    else:
        text, gain = _INHERITED, known_gain(flags)
    if there is None:
        flags = with_devices(flags, asked or _cores())
    os.environ["XLA_FLAGS"] = _seen[0] = flags
    _first.append(_record(flags, text, gain))
    return _first[0]


def current_tuning() -> Tuning | None:
    """What is in force in this process: by `tune_cpu`, or inherited in `XLA_FLAGS`; else None.

    Starts nothing, neither JAX's backend nor a trial.
    """
    if _first:
        return _first[0]
    flags = _flags_in_force()
    if not any(name in extra_options(flags) for name in OPTIONS):
        return None
    return _record(flags, _INHERITED, known_gain(flags))


def is_tuned() -> bool:
    """Whether the options for loops and fusion are in force here. Cheap; starts nothing."""
    return has_both(_flags_in_force())


def tuning_line() -> str:
    """What is in force, in one line."""
    current = current_tuning()
    if current is None:
        return "not active; `tune_cpu()`, called first, speeds up ensembles"
    times = _times(current.gain)
    state = "active" if current.active else "not active"
    return f"{state}{times and f', {times}'}; {current.verdict}"


def _flags_in_force() -> str:
    if not backend_started():
        _seen[0] = os.environ.get("XLA_FLAGS", "")
    return _seen[0]


def _as_devices(devices: int | None) -> int | None:
    if devices is None:
        return None
    try:
        number = 0 if isinstance(devices, bool) else operator.index(devices)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"`devices` must be a whole number, at least 1, but is {devices!r}")
    return number


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _unchanged(reason: str) -> Tuning:
    warnings.warn(reason, RuntimeWarning, stacklevel=3)
    return _record(_flags_in_force(), reason, None)


def _record(flags: str, verdict: str, gain: float | None) -> Tuning:
    return Tuning(flags, devices_of(flags) or 1, has_both(flags), verdict, gain)


def _times(gain: float | None) -> str:
    return "" if gain is None else f"{gain:.1f} times as fast as without"


def _in_words(outcome: TrialOutcome, missing: Sequence[str]) -> str:
    kept = _listed(outcome.options)
    left = [name for name in missing if name not in outcome.options]
    left = [name for name in left if name != WIDTH] or left  # tried last, only if the others pass
    if not outcome.fault:
        return f"with {kept} a trial gave the same numbers"
    return f"left out {_listed(left)}, because {outcome.fault}" + (f"; kept {kept}" if kept else "")


def _listed(names: Sequence[str]) -> str:
    *most, last = (_CALLED[name] for name in names) if names else ("",)
    return f"{', '.join(most)} and {last}" if most else last
