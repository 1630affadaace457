"""Shared by all tests: the catalogue's machines, and random states with fixed seeds."""

import gc
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jaxtyping
import numpy as np
import pytest

# Shapes and types of all arguments and results are checked, but for functions on single numbers,
# equations and lines of code, which one test of a large machine calls ten thousands of times.
ROOT = Path(__file__).parent.parent
_SOURCES = ROOT / "diffmech"
_NAMES = [
    ".".join(path.relative_to(_SOURCES.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in _SOURCES.rglob("*.py")
]
_INNER_LOOPS = {
    *(name for name in _NAMES if name.startswith("diffmech.scalars.")),
    *(f"diffmech.{name}" for name in ("_indices", "_reads", "_fingerprint")),
    "diffmech.geometry._entries",
}
_ABOVE = {"diffmech", "diffmech.scalars", "diffmech.geometry"}  # a name stands for all below it
jaxtyping.install_import_hook(sorted({*_NAMES} - _INNER_LOOPS - _ABOVE), "beartype.beartype")

import diffmech as dm  # noqa: E402
from diffmech.model import parameter_paths  # noqa: E402
from diffmech.systems import CATALOGUE  # noqa: E402

# Every program is compiled, in the processes that tests start too, unless DIFFMECH_CACHE=1 asks
# for those that an earlier run has kept.
os.environ.setdefault("DIFFMECH_CACHE", "0")
dm.cache()

# Small loops run as one piece, in half the time, as after `tune_cpu`; and JAX 0.10 can write loops
# by an older route, which takes a quarter less CPU time over a test file and gives the same digits
# to 1e-13. Machine code is written as it stands: what LLVM could still gain takes longer than a run
# of a test does; where it does not, see `long_runs`. XLA's own passes are those of users' programs,
# and a product and a sum are still rounded once where theirs are, as they would not be without
# `-fast-isel=false`. This process does so; the processes that tests start (command line, tuning,
# a notebook) compile as users' programs do.
_given = os.environ.get("XLA_FLAGS")
_flags = [
    "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=100000000,-fast-isel=false"
]
if jax.__version_info__ < (0, 11):
    _flags.append("--xla_cpu_use_fusion_emitters=false")
# The environment of a process whose results are to have the bytes of this one's.
COMPILES_AS_HERE = {
    "XLA_FLAGS": " ".join([*_flags, _given or ""]).strip(),
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
}
os.environ["XLA_FLAGS"] = COMPILES_AS_HERE["XLA_FLAGS"]
jax.devices()  # the backend reads them once, here
os.environ.pop("XLA_FLAGS")
if _given is not None:
    os.environ["XLA_FLAGS"] = _given
_AS_IT_STANDS = "jax_disable_most_optimizations"  # of LLVM's; XLA's own are not meant
jax.config.update(_AS_IT_STANDS, True)

# Tracing makes millions of small objects that stay; looking through them took a tenth of the time.
gc.set_threshold(500_000, 50, 1000)


def machine(name: str) -> dm.System:
    """A machine of the catalogue with its default arguments."""
    return getattr(dm.systems, name)()


def jittered_params(system: dm.AbstractSystem, seed: int) -> Any:
    """The machine's parameters, each changed by up to 20 %, and zeros made positive.

    Zeros are features that are switched off (springs, torques); the laws must hold with them on.
    Bodies are scaled as a whole and stay possible.
    """
    rng = np.random.default_rng(seed)

    def change(leaf: Any) -> Any:
        if isinstance(leaf, dm.parts.RigidBody):
            mass, inertia = (
                np.asarray(x) * rng.uniform(0.8, 1.2) for x in (leaf.mass, leaf.inertia)
            )
            return dm.parts.RigidBody(mass, inertia)
        leaf = np.asarray(leaf)
        factor = 1 + 0.2 * rng.uniform(-1, 1, leaf.shape)
        return np.where(leaf == 0, rng.uniform(0.1, 0.5, leaf.shape), leaf * factor)

    for _ in range(100):
        params = jax.tree.map(
            change, system.params, is_leaf=lambda x: isinstance(x, dm.parts.RigidBody)
        )
        try:
            system.with_params(parameter_paths(params))
        except ValueError:
            continue  # no such body: a moment larger than the sum of the other two
        return params
    raise AssertionError(f"no possible parameters near those of {system.name}")


def random_states(n: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`count` random q, qd and qdd, each of shape (count, n)."""
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(scale=2.0, size=(3, count, n)))  # pyright: ignore[reportReturnType]


def imbalance(run: dm.Trajectory) -> float:
    """max|h − h₀ − W| / max(T_max, |W|_max)."""
    total, work = np.asarray(run.energies.total), np.asarray(run.work)
    scale = max(np.max(run.energies.kinetic), np.max(np.abs(work)))
    return float(np.max(np.abs(total - total[0] - work)) / scale)


@pytest.fixture(params=list(CATALOGUE))
def any_machine(request: pytest.FixtureRequest) -> dm.System:
    """Each machine of the catalogue in turn."""
    return machine(request.param)


@pytest.fixture(scope="session", autouse=True)
def _float64_everywhere() -> None:
    """The suite is about float64; tests of float32 run in processes of their own."""
    assert jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
    jax.devices()  # from here on no command can tune this process, whichever test comes first
    warnings.simplefilter("error")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `long_runs` compute for longer than the optimisations they get take."""
    jax.config.update(_AS_IT_STANDS, item.get_closest_marker("long_runs") is None)


class _Programs:
    """Counts what is compiled."""

    count = 0
    counted = 0  # when the memory maps were looked at last

    def hear(self, event: str, duration_secs: float, **_: str | int) -> None:
        del duration_secs
        self.count += event.endswith("backend_compile_duration")


_programs = _Programs()
jax.monitoring.register_event_duration_secs_listener(_programs.hear)


def programs_compiled() -> int:
    """How many programs this process has compiled so far."""
    return _programs.count


@pytest.fixture(autouse=True)
def _few_programs_at_a_time() -> Iterator[None]:
    """Forget compiled programs before there are too many of them for one process.

    Each program that XLA compiles keeps some memory maps. Linux allows a process 65530 of them,
    and a thousand tests of many programs come near; the next compilation then ends the process.
    """
    yield
    maps = Path("/proc/self/maps")
    # Looking takes as long as a short test.
    if _programs.count < _programs.counted + 100 or not maps.exists():
        return
    _programs.counted = _programs.count
    if maps.read_bytes().count(b"\n") > 45_000:
        jax.clear_caches()
        gc.collect()
