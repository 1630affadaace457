"""The options of XLA's compiler for CPUs that make ensembles faster, and what `XLA_FLAGS` say.

XLA reads `XLA_FLAGS` once, when JAX's backend starts: at the first computation, not at `import
jax`. Nothing here imports JAX.
"""

import os
import shlex
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

# Loops that carry up to so many bytes become one kernel: more than any block of lanes has.
LOOPS, _LOOP_BYTES = "xla_cpu_small_while_loop_byte_threshold", 100_000_000
# One pass over the lanes for all results that share work. Experimental in XLA.
FUSION = "xla_cpu_use_multi_output_fusion"
# Less work for the compiler: loops over lanes stay as they are, and LLVM's first of two schedulers
# is the one that takes time in proportion. A long step compiles a quarter faster and runs the same.
UNROLLING, SCHEDULER = "xla_cpu_disable_loop_unrolling", "-pre-RA-sched"
# Vectors of eight numbers, where the processor has them; XLA takes four by itself.
WIDTH = "xla_cpu_prefer_vector_width"
OPTIONS = {  # spellings by name
    LOOPS: f"{LOOPS}={_LOOP_BYTES}",
    FUSION: FUSION,
    UNROLLING: UNROLLING,
    SCHEDULER: f"{SCHEDULER}=fast",
    WIDTH: f"{WIDTH}=512",
}
_EXTRA = "--xla_backend_extra_options="  # the list in which all but the width are given
_DEVICES = "--xla_force_host_platform_device_count="


def names_a_file(flags: str) -> bool:
    """Whether XLA would read its flags from a file of this name (its own rule)."""
    return bool(flags.strip()) and not flags.strip().startswith("-")


def words(flags: str) -> list[str]:
    """One flag each; none if they are in a file."""
    if names_a_file(flags):
        return []
    try:
        return shlex.split(flags)
    except ValueError:  # a quotation that does not end
        return flags.split()


def compiler_words(flags: str) -> list[str]:
    """All of them but the number of devices."""
    return [word for word in words(flags) if not word.startswith(_DEVICES)]


def extra_options(flags: str) -> dict[str, str]:
    """XLA's extra options by name. It merges repeated lists, and the last value counts."""
    lists = [word.removeprefix(_EXTRA) for word in words(flags) if word.startswith(_EXTRA)]
    pairs = [pair.partition("=") for text in lists for pair in text.split(",") if pair]
    return {name: value for name, _, value in pairs}


def missing_options(flags: str) -> list[str]:
    """Those of `OPTIONS` that these flags say nothing about."""
    named = {word.removeprefix("--").partition("=")[0] for word in words(flags)}
    return [name for name in OPTIONS if name not in named | set(extra_options(flags))]


@cache
def has_both(flags: str) -> bool:
    """Whether loops and fusion are on: fusion by being named, loops by a large enough number."""
    options = extra_options(flags)
    size = options.get(LOOPS, "")
    return FUSION in options and size.isdecimal() and int(size) >= _LOOP_BYTES


def with_options(flags: str, names: Iterable[str]) -> str:
    """`flags` with these of `OPTIONS` added."""
    names = list(names)
    extra = ",".join(OPTIONS[name] for name in names if name != WIDTH)
    added = [f"{_EXTRA}{extra}"] * bool(extra) + [f"--{OPTIONS[WIDTH]}"] * (WIDTH in names)
    return " ".join([flags, *added]).strip()


def with_devices(flags: str, number: int) -> str:
    """`flags` with a number of CPU devices added."""
    return f"{flags} {_DEVICES}{number}".strip()


def devices_of(flags: str) -> int | None:
    """How many CPU devices were asked for, if a number was. JAX's setting comes before the flag."""
    jax: Any = sys.modules.get("jax")
    settings = [word.removeprefix(_DEVICES) for word in words(flags) if word.startswith(_DEVICES)]
    settings.append(
        os.environ.get("JAX_NUM_CPU_DEVICES", "")
        if jax is None
        else str(jax.config.jax_num_cpu_devices)  # -1 if there is none
    )
    numbers = [int(text) for text in settings if text.isdecimal()]
    return numbers[-1] if numbers else None


def backend_started() -> bool:
    """Whether JAX has read `XLA_FLAGS`, so that no change counts any more. Starts nothing."""
    jax: Any = sys.modules.get("jax")
    if jax is None:
        return False
    number = jax.config.jax_num_cpu_devices
    try:
        # JAX refuses another number of devices once its backend runs, and only then.
        jax.config.update("jax_num_cpu_devices", abs(number) + 1)
    except RuntimeError:
        return True
    jax.config.update("jax_num_cpu_devices", number)
    return False
