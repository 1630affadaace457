"""Compiler options on trial: the canary run with and without them, and the outcome kept.

The canary is a file of its own, run by its path in a fresh interpreter, so that a crash of the
compiler ends that process and no other, and nothing of the user's is run again.
"""

import contextlib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ._host import cache_home, package_version, processor
from ._xla_flags import FUSION, LOOPS, OPTIONS, WIDTH, compiler_words, missing_options, with_options

_CANARY = Path(__file__).with_name("_canary.py")
_TIMEOUT = 60.0  # [s] it takes 3
_AGREEMENT = 1e-12  # relative to 1 + |value|; rounding leaves 1e-15
_WORTHWHILE = 1.1  # times as fast: wider vectors lower the clock of some processors
_RETRY = 7 * 86400.0  # [s] a fault may be of a passing state of this machine: tried again then
# Signals by which a user, a scheduler or a full memory ends a process: no fault of the options.
_FROM_OUTSIDE = {"SIGINT", "SIGTERM", "SIGKILL", "SIGHUP"}
_WIDE = "avx512f"  # among a processor's instruction sets


class TrialOutcome(NamedTuple):
    """Which options passed the trial.

    Attributes:
        options: those with which the canary gave the same numbers.
        gain: its time without them over its time with them; None if none passed.
        fault: what went wrong with the others; empty if nothing did.
    """

    options: tuple[str, ...]
    gain: float | None = None
    fault: str = ""


class _CanaryRun(NamedTuple):
    """What the canary printed: its numbers and its time [s]; or why there are none."""

    values: tuple[float, ...] = ()
    seconds: float = 0.0
    fault: str = ""
    conclusive: bool = True  # whether a fault is due to the options, not to this one attempt


def outcome_of(flags: str, options: Sequence[str]) -> TrialOutcome:
    """Which of `options` can be added to `flags`: all, those for loops and fusion, loops, or none.

    Wide vectors come on top, where fusion works and the processor has them and is faster with them.
    From the cache, or by running the canary two or three times, 3 s each; four if options fail.
    """
    file = _cache_file(with_options(flags, options))
    kept = _kept(file)
    if kept is not None:
        return kept
    plain = _run_canary(flags)
    if plain.fault:
        return TrialOutcome((), fault=f"the trial did not run even without: {plain.fault}")
    outcome, conclusive = _trial(flags, options, plain)
    if conclusive:
        _keep(file, outcome)
    return outcome


def _trial(flags: str, options: Sequence[str], plain: _CanaryRun) -> tuple[TrialOutcome, bool]:
    """The outcome by runs of the canary, and whether it is to be kept."""
    first_fault, most = "", [name for name in options if name != WIDTH]
    passed, run = (), plain
    for allowed in (OPTIONS, (LOOPS, FUSION), (LOOPS,)):
        fewer = tuple(name for name in most if name in allowed)
        if not fewer or fewer == passed:
            continue
        passed = fewer
        run, fault = _run_with(flags, passed, plain)
        first_fault = first_fault or fault
        if not run.conclusive:
            return TrialOutcome((), fault=first_fault), False
        if not fault:
            break
    else:
        return TrialOutcome((), fault=first_fault), True
    outcome = TrialOutcome(passed, plain.seconds / run.seconds, first_fault)
    fused = FUSION in passed or FUSION not in most
    if not fused or WIDTH not in options or _WIDE not in processor().split():
        return outcome, True
    wide, fault = _run_with(flags, (*passed, WIDTH), plain)
    if fault:
        return outcome._replace(fault=first_fault or fault), wide.conclusive
    if run.seconds < _WORTHWHILE * wide.seconds:
        return outcome, True
    return TrialOutcome((*passed, WIDTH), plain.seconds / wide.seconds, first_fault), True


def _run_with(flags: str, options: Sequence[str], plain: _CanaryRun) -> tuple[_CanaryRun, str]:
    """A run with these options, and what was wrong with it."""
    run = _run_canary(with_options(flags, options))
    return run, run.fault or _difference(plain.values, run.values)


def known_gain(flags: str) -> float | None:
    """What the options in `flags` gained when they were tried here, if they were, and passed."""
    missing = missing_options(flags)
    kept = _kept(_cache_file(with_options(flags, missing)))
    if kept is None or kept.fault or not set(kept.options).isdisjoint(missing):
        return None
    return kept.gain


def _difference(plain: Sequence[float], tuned: Sequence[float]) -> str:
    if len(plain) != len(tuned):
        return f"the trial gave {len(tuned)} numbers instead of {len(plain)}"
    errors = [abs(a - b) / (1 + abs(a)) for a, b in zip(plain, tuned, strict=True)]
    worst = max(error if math.isfinite(error) else math.inf for error in [0.0, *errors])
    return f"the trial gave other numbers, off by {worst:.0e}" if worst > _AGREEMENT else ""


def _run_canary(flags: str) -> _CanaryRun:
    if not sys.executable or getattr(sys, "frozen", False):
        return _CanaryRun(fault="there is no Python interpreter to run it", conclusive=False)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment |= {
        "XLA_FLAGS": flags,
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
        "JAX_ENABLE_COMPILATION_CACHE": "0",  # it must be compiled here and now
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", str(_CANARY)],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return _CanaryRun(fault=f"the trial did not end within {_TIMEOUT:g} s")
    except OSError as error:
        return _CanaryRun(fault=f"the trial could not be started ({error})", conclusive=False)
    if done.returncode < 0:
        name = _signal_name(-done.returncode)
        return _CanaryRun(fault=f"the trial ended by {name}", conclusive=name not in _FROM_OUTSIDE)
    try:
        printed = json.loads(done.stdout.splitlines()[-1])
        seconds = max(float(printed["seconds"]), 1e-9)
        return _CanaryRun(tuple(map(float, printed["values"])), seconds)
    except (IndexError, KeyError, TypeError, ValueError):
        said = done.stderr.decode(errors="replace").splitlines()
        last = next((line.strip() for line in reversed(said) if line.strip()), "no message")
        return _CanaryRun(fault=f"the trial failed with exit code {done.returncode} ({last[:200]})")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _cache_file(flags: str) -> Path | None:
    """Where the outcome for these flags belongs: for this JAX, this processor, this canary."""
    root = cache_home()
    if root is None:
        return None
    try:
        canary = hashlib.sha256(_CANARY.read_bytes()).hexdigest()
    except OSError:
        return None
    versions = [package_version("jax"), package_version("jaxlib")]
    about = [*versions, processor(), canary, *compiler_words(flags)]
    name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:24]
    return root / f"tuning-{name}.json"


def _kept(file: Path | None) -> TrialOutcome | None:
    """The outcome in a file; None if there is none, it is damaged, or a fault is a week old."""
    if file is None:
        return None
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        options, gain, fault = kept["options"], kept["gain"], kept["fault"]
        age = time.time() - file.stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = (
        isinstance(options, list)
        and all(isinstance(name, str) and name in OPTIONS for name in options)
        and (gain is None or (isinstance(gain, float) and 0 < gain < math.inf))
        and isinstance(fault, str)
        and fault.isprintable()
    )
    if not sound or (fault and age > _RETRY):
        return None
    return TrialOutcome(tuple(options), gain, fault)


def _keep(file: Path | None, outcome: TrialOutcome) -> None:
    """Write the outcome, whole or not at all; nothing where no cache can be written."""
    if file is None:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tuning-", dir=file.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(outcome._asdict(), stream)
            os.replace(name, file)
        finally:
            Path(name).unlink(missing_ok=True)
