"""`tune_cpu`: options tried before they are trusted, the user's own kept, and what is said."""

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import diffmech as dm
from diffmech.tuning import _trial, _tune, _xla_flags
from diffmech.tuning._tune import current_tuning, is_tuned

LOOPS = "xla_cpu_small_while_loop_byte_threshold=100000000"
FUSION = "xla_cpu_use_multi_output_fusion"
BOTH = f"--xla_backend_extra_options={LOOPS},{FUSION}"
EASIER = "xla_cpu_disable_loop_unrolling,-pre-RA-sched=fast"
ALL = f"{BOTH},{EASIER}"
WIDE = "--xla_cpu_prefer_vector_width=512"
DEVICES = "--xla_force_host_platform_device_count="

# Stands in for the canary, without JAX: counts its starts, and behaves as told under `XLA_FLAGS`.
FAKE = """
import json, os, signal, sys, time
flags = os.environ["XLA_FLAGS"]
with open({starts!r}, "a") as file:
    file.write(flags + "\\n")
tuned, fused, wide = "extra_options" in flags, "multi_output" in flags, "vector_width" in flags
easier = "pre-RA" in flags
seconds = 1.5 / (1 + 2 * tuned + 2 * wide)
value, numbers = 1.0, 3
{behaviour}
print(json.dumps({{"seconds": seconds, "values": [value] * numbers}}))
"""


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    """The flags of every start of the fake canary, one a line."""
    return tmp_path / "starts"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Make this process look as if JAX had not started, nor anything been tuned."""
    monkeypatch.setattr(_tune, "_seen", [""])
    monkeypatch.setattr(_tune, "backend_started", lambda: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def forget() -> None:
        monkeypatch.setattr(_tune, "_first", [])
        monkeypatch.setenv("XLA_FLAGS", "")

    forget()
    return forget


@pytest.fixture
def canary(
    fresh: Callable[[], None], starts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Replace the canary by a fake one that behaves as told."""

    def behave(behaviour: str = "") -> None:
        fake = tmp_path / "fake.py"
        fake.write_text(FAKE.format(starts=str(starts), behaviour=behaviour))
        monkeypatch.setattr(_trial, "_CANARY", fake)

    monkeypatch.setattr(_trial, "processor", lambda: "flags : sse2 avx2")
    behave()
    return behave


@pytest.fixture
def wide_canary(canary: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same on a processor with wide vectors."""
    monkeypatch.setattr(_trial, "processor", lambda: "flags : sse2 avx2 avx512f avx512dq")
    return canary


Canary = Callable[[str], None]


def python(code: str, *words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *words], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_called_too_late_says_so_and_changes_nothing() -> None:
    before = os.environ.get("XLA_FLAGS")
    with pytest.warns(
        RuntimeWarning, match=r"must be called before JAX computes .* nothing was ch"
    ):
        found = dm.tune_cpu()
    assert not found.active
    assert not is_tuned()
    assert current_tuning() is None
    assert "right after the imports" in found.verdict
    assert os.environ.get("XLA_FLAGS") == before


def test_a_started_backend_is_seen_without_starting_one() -> None:
    code = """
import sys
from diffmech.tuning._xla_flags import backend_started
assert not backend_started() and "jax" not in sys.modules
import jax, jax.numpy as jnp
assert not backend_started() and jax.config.jax_num_cpu_devices == -1
jax.make_jaxpr(jnp.sin)(1.0)
assert not backend_started()
jnp.sin(1.0)
assert backend_started() and jax.config.jax_num_cpu_devices == -1
"""
    python(code)


def test_good_options_are_added_and_counted(canary: Canary, starts: Path) -> None:
    found = dm.tune_cpu(devices=5)
    assert found == dm.Tuning(f"{ALL} {DEVICES}5", 5, True, found.verdict, 3.0)
    assert os.environ["XLA_FLAGS"] == found.flags
    assert current_tuning() is found
    assert is_tuned()
    assert starts.read_text().splitlines() == ["", ALL]
    assert [line[:9].strip() for line in str(found).splitlines()] == [
        "tuning", "verdict", "gain", "devices", "flags",
    ]  # fmt: skip


def test_wide_vectors_are_added_where_the_processor_has_them(
    wide_canary: Canary, fresh: Callable[[], None], starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = dm.tune_cpu(devices=2)
    assert (found.flags, found.active, found.gain) == (f"{ALL} {WIDE} {DEVICES}2", True, 5.0)
    assert "with whole-loop kernels, multi-output fusion, loops not unro" in found.verdict
    assert "a fast scheduler and 512-bit vectors a trial gave the same numbers" in found.verdict
    assert starts.read_text().splitlines() == ["", ALL, f"{ALL} {WIDE}"]
    fresh()
    assert dm.tune_cpu(devices=2) == found, "from the cache"
    monkeypatch.setattr(_tune, "_first", [])
    assert dm.tune_cpu().gain == 5.0, "inherited"
    fresh()
    os.environ["XLA_FLAGS"] = ALL
    assert dm.tune_cpu().gain is None, "the gain was that of wide vectors"
    assert len(starts.read_text().splitlines()) == 3


# behaviour -> what is said; the other options stay in any case
NARROW = {
    "are no faster": ("if wide: seconds = 0.47", ""),
    "are unknown": ("if wide: os.abort()", "left out 512-bit vectors, because the trial ended by"),
    "are wrong": ("if wide: value += 3e-12", "left out 512-bit vectors, because the trial gave"),
    "came with wrong fusion": ("if fused: value += 3e-12", "left out multi-output fusion, loops"),
}


@pytest.mark.parametrize("case", NARROW)
def test_wide_vectors_are_left_out_where_they_do_not_help(
    case: str, wide_canary: Canary, fresh: Callable[[], None], starts: Path
) -> None:
    behaviour, said = NARROW[case]
    wide_canary(behaviour)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = dm.tune_cpu(devices=2)
    if said:
        (warning,) = heard
        assert str(warning.message).startswith(f"`tune_cpu()` {said}")
    else:
        assert not heard
    assert WIDE not in found.flags
    assert found.active == ("fusion" not in case)
    assert found.gain == 3.0
    before = len(starts.read_text().splitlines())
    fresh()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert dm.tune_cpu(devices=2) == found
    assert len(starts.read_text().splitlines()) == before


@pytest.mark.parametrize("wide", [False, True])
def test_options_that_only_ease_compiling_can_fail_alone(
    wide: bool, canary: Canary, monkeypatch: pytest.MonkeyPatch, starts: Path
) -> None:
    canary("if easier: sys.exit('xla: Unknown command line argument')")
    if wide:
        monkeypatch.setattr(_trial, "processor", lambda: "flags : avx512f")
    said = r"left out loops not unrolled and a fast scheduler, .*Unknown command line.*; kept whole"
    with pytest.warns(RuntimeWarning, match=said):
        found = dm.tune_cpu(devices=2)
    assert found.flags == f"{BOTH}{f' {WIDE}' * wide} {DEVICES}2"
    assert found.active
    assert found.gain == (5.0 if wide else 3.0)
    assert starts.read_text().splitlines() == ["", ALL, BOTH] + [f"{BOTH} {WIDE}"] * wide


def test_a_width_of_ones_own_is_kept(wide_canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "--xla_cpu_prefer_vector_width=256"
    monkeypatch.setenv("XLA_FLAGS", own)
    assert dm.tune_cpu(devices=2).flags == f"{own} {ALL} {DEVICES}2"


def test_the_default_is_one_device_a_usable_core(canary: Canary) -> None:
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    assert dm.tune_cpu().devices == len(usable)


OWN = {
    "others": ("--xla_a=1", f"--xla_a=1 {ALL} {DEVICES}2", 2),
    "devices": (f"{DEVICES}7", f"{DEVICES}7 {ALL}", 7),
    "extra": (
        "--xla_backend_extra_options=a=1,b",
        f"--xla_backend_extra_options=a=1,b {ALL} {DEVICES}2",
        2,
    ),
    "one of them": (
        "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=7",
        "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=7 "
        f"--xla_backend_extra_options={FUSION},{EASIER} {DEVICES}2",
        2,
    ),
    "all": (f"{BOTH} {DEVICES}7", f"{BOTH} {DEVICES}7", 7),
}


@pytest.mark.parametrize("case", OWN)
def test_the_users_own_options_are_kept(
    case: str, canary: Canary, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, flags, devices = OWN[case]
    monkeypatch.setenv("XLA_FLAGS", own)
    monkeypatch.setattr(_tune, "_cores", lambda: 2)
    found = dm.tune_cpu()
    assert (found.flags, found.devices) == (flags, devices)
    assert found.active == (case != "one of them")
    assert starts.exists() == (case != "all"), "options of one's own are not put on trial"


def test_another_number_of_devices_is_not_fought_over(
    canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"{DEVICES}7")
    with pytest.warns(RuntimeWarning, match="`devices=2` was not used: .* ask for 7 already"):
        assert dm.tune_cpu(devices=2).devices == 7


def test_flags_in_a_file_are_left_there(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "my_flags.txt")
    with pytest.warns(RuntimeWarning, match="names a file; nothing was changed"):
        assert not dm.tune_cpu().active
    assert os.environ["XLA_FLAGS"] == "my_flags.txt"


@pytest.mark.parametrize("devices", [0, -1, True])
def test_a_senseless_number_of_devices_is_refused(devices: int, canary: Canary) -> None:
    with pytest.raises(ValueError, match="`devices` must be a whole number, at least 1, but is"):
        dm.tune_cpu(devices)
    assert os.environ["XLA_FLAGS"] == ""


# behaviour -> (what is kept, what is said, whether the verdict is)
FAULTS = {
    "fusion crashes": ("if fused: os.kill(os.getpid(), signal.SIGSEGV)", LOOPS, "SIGSEGV", True),
    "fusion is wrong": ("if fused: value += 3e-12", LOOPS, "other numbers, off by 2e-12", True),
    "fusion gives NaN": ("if fused: value = float('nan')", LOOPS, "off by inf", True),
    "fusion loses some": ("if fused: numbers = 2", LOOPS, "2 numbers instead of 3", True),
    "fusion hangs": ("if fused: time.sleep(100)", LOOPS, "did not end within 1 s", True),
    "fusion raises": ("if fused: raise MemoryError('x')", LOOPS, "exit code 1 (MemoryError", True),
    "all crash": ("if tuned: os.abort()", "", "left out whole-loop kernels, multi", True),
    "nothing runs": ("raise ImportError('no jax')", "", "even without: the trial failed", False),
    "somebody ends it": (
        # A shell's background job is started deaf to it.
        "if tuned: signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT)",
        "",
        "SIGINT",
        False,
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_options_that_fail_are_left_out_and_it_says_so(
    case: str,
    canary: Canary,
    fresh: Callable[[], None],
    starts: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    behaviour, kept, reason, cached = FAULTS[case]
    canary(behaviour)
    if "hangs" in case:
        monkeypatch.setattr(_trial, "_TIMEOUT", 1.0)
    with pytest.warns(RuntimeWarning, match=re.escape(reason)):
        found = dm.tune_cpu(devices=2)
    extra = f"--xla_backend_extra_options={kept} " if kept else ""
    assert found.flags == f"{extra}{DEVICES}2"
    assert not found.active
    assert not is_tuned()
    assert found.gain == (3.0 if kept else None)
    before = len(starts.read_text().splitlines())
    fresh()
    with pytest.warns(RuntimeWarning, match=re.escape(reason)):
        assert dm.tune_cpu(devices=2) == found
    assert (len(starts.read_text().splitlines()) == before) is cached


def test_rounding_is_no_fault(canary: Canary) -> None:
    canary("if tuned: value += 1e-13")
    assert dm.tune_cpu().active


def test_the_verdict_is_kept_and_a_bad_one_for_a_week(
    canary: Canary, fresh: Callable[[], None], starts: Path, tmp_path: Path
) -> None:
    first = dm.tune_cpu(devices=2)
    (file,) = (tmp_path / "cache" / "diffmech").iterdir()
    os.utime(file, (0, 0))
    fresh()
    assert dm.tune_cpu(devices=2) == first
    assert len(starts.read_text().splitlines()) == 2, "the second call started nothing"
    fresh()
    os.environ["XLA_FLAGS"] = "--xla_a=1"
    dm.tune_cpu()
    assert len(starts.read_text().splitlines()) == 4, "another set of flags is another trial"
    file.write_text(json.dumps({"options": [], "gain": None, "fault": "a bad day"}))
    fresh()
    with pytest.warns(RuntimeWarning, match="a bad day"):
        dm.tune_cpu()
    os.utime(file, (0, 0))
    fresh()
    assert dm.tune_cpu(devices=2) == first


DAMAGES = [
    "", "{", "[]", "null", "[" * 100_000, '{"options": []}', "\0\0",
    '{"options": ["xla_dump_to=/"], "gain": 2.0, "fault": ""}',
    '{"options": [["x"]], "gain": 2.0, "fault": ""}',
    '{"options": [], "gain": "fast", "fault": ""}',
    '{"options": [], "gain": NaN, "fault": ""}',
    '{"options": [], "gain": null, "fault": "\\u001b[2J"}',
]  # fmt: skip


def test_a_damaged_verdict_is_not_believed(
    canary: Canary, fresh: Callable[[], None], tmp_path: Path
) -> None:
    first = dm.tune_cpu()
    (file,) = (tmp_path / "cache" / "diffmech").iterdir()
    for damage in DAMAGES:
        file.write_text(damage)
        fresh()
        assert dm.tune_cpu() == first, damage
    file.write_bytes(b"\xff\xfe")
    fresh()
    assert dm.tune_cpu() == first


def test_a_cache_that_cannot_be_written_is_done_without(
    canary: Canary, fresh: Callable[[], None], starts: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where a folder would go")
    for count in (2, 4):
        assert dm.tune_cpu().active
        assert len(starts.read_text().splitlines()) == count
        fresh()


def test_the_canary_gets_the_users_flags_and_none_of_jaxs_settings(
    canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAX_DISABLE_JIT", "1")
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    canary("assert 'JAX_DISABLE_JIT' not in os.environ and os.environ['JAX_PLATFORMS'] == 'cpu'")
    assert dm.tune_cpu().active
    canary("assert '' not in sys.path and 'diffmech' not in sys.modules")
    monkeypatch.setattr(_tune, "_first", [])
    monkeypatch.setenv("XLA_FLAGS", "")
    assert dm.tune_cpu().active


def test_flags_set_by_hand_after_import_count_until_the_backend_starts(
    fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert current_tuning() is None
    monkeypatch.setenv("XLA_FLAGS", f"{BOTH} {DEVICES}2")
    assert is_tuned()
    found = current_tuning()
    assert found is not None
    assert (found.active, found.devices, found.gain) == (True, 2, None)
    monkeypatch.setattr(_tune, "backend_started", lambda: True)
    monkeypatch.setenv("XLA_FLAGS", "")
    assert is_tuned(), "the backend has read them"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dm.tune_cpu() == found, "nothing to complain of"
    monkeypatch.setattr(_tune, "_seen", [f"--xla_backend_extra_options={LOOPS}"])
    found = current_tuning()
    assert found is not None
    assert not found.active
    assert not is_tuned()


def test_odd_flags_are_read_without_a_trace() -> None:
    for flags in ('--xla_a="b', "", "   ", "--", "file", "--xla_backend_extra_options=", "-x=,=,"):
        assert not _xla_flags.has_both(flags)
        assert _xla_flags.devices_of(flags) is None
    assert _xla_flags.devices_of(f"{DEVICES}3 {DEVICES}2") == 2, "XLA takes the last"
    assert _xla_flags.devices_of(f"{DEVICES}many") is None
    assert _xla_flags.has_both(f"--xla_backend_extra_options='{LOOPS}' {BOTH}")
