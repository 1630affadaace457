"""Compiled programs on disk: found again, and nothing that happens to them does any harm.

The folder is tested by itself, with bytes for programs; two tests compile.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

import diffmech as dm
from diffmech.tuning import _cache, _program_store
from diffmech.tuning._program_store import ProgramStore, UnusableError

MEGABYTE = 10**6


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "programs"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process as if nobody had spoken of a cache; nothing may be compiled meanwhile."""
    monkeypatch.setattr(_cache, "_state", _cache._State())
    monkeypatch.delenv("DIFFMECH_CACHE", raising=False)
    folder = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    jax.config.update("jax_compilation_cache_dir", None)
    yield
    jax.config.update("jax_compilation_cache_dir", folder)


def opened(root: Path, limit: int = 100 * MEGABYTE) -> ProgramStore:
    return ProgramStore(root, limit)


def compiled(store: ProgramStore, **programs: bytes) -> None:
    """What JAX does: write an entry in place, under its own name, unless it is there."""
    for key, content in programs.items():
        path = store.at_work / f"jit_{key}-cache"
        if not path.exists():
            path.write_bytes(content)


def found(store: ProgramStore) -> dict[str, bytes]:
    """What JAX would find."""
    return {
        path.name.removeprefix("jit_").removesuffix("-cache"): path.read_bytes()
        for path in store.at_work.glob("*-cache")
    }


def kept(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("*/jit_*"))


def test_what_one_process_compiles_the_next_one_finds(root: Path) -> None:
    first = opened(root)
    assert found(first) == {}
    compiled(first, march=b"one", report=b"two")
    first.close()
    second = opened(root)
    assert found(second) == {"march": b"one", "report": b"two"}
    assert second.contents() == (2, 6)
    second.close()
    assert [path.name for path in root.iterdir()] == [_program_store.kind_of_machine()]
    assert len(list(second.folder.iterdir())) == 2, "folders of processes are gone"


def test_other_processors_compilers_and_versions_have_folders_of_their_own(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {_program_store.kind_of_machine()}
    monkeypatch.setattr(_program_store, "processor", lambda: "flags : avx512f")
    names.add(_program_store.kind_of_machine())
    for package in ("jax", "jaxlib", "diffmech"):
        with monkeypatch.context() as patched:
            version = _program_store.package_version
            patched.setattr(
                _program_store,
                "package_version",
                lambda name, package=package, version=version: (
                    "9.9" if name == package else version(name)
                ),
            )
            names.add(_program_store.kind_of_machine())
    assert len(names) == 5
    assert all(dm.__version__ in name or "9.9" in name for name in names)


@pytest.mark.parametrize("damage", [b"", b"on", b"onE", b"one and more"])
def test_a_damaged_program_is_deleted_and_written_anew(root: Path, damage: bytes) -> None:
    first = opened(root)
    compiled(first, march=b"one", report=b"two")
    first.close()
    broken = next(path for path in kept(root) if "march" in path.name)
    broken.write_bytes(damage)
    second = opened(root)
    assert found(second) == {"report": b"two"}
    assert not broken.exists()
    compiled(second, march=b"one")
    second.close()
    assert found(opened(root)) == {"march": b"one", "report": b"two"}


def test_processes_at_once_do_not_see_each_others_half_written_programs(root: Path) -> None:
    one, two = opened(root), opened(root)
    compiled(one, march=b"half of a pro")
    three = opened(root)
    assert found(two) == found(three) == {}
    (one.at_work / "jit_march-cache").write_bytes(b"half of a program, and the rest")
    compiled(two, march=b"half of a program, and the rest", map=b"map")
    one.publish()  # the same program from two of them
    two.publish()
    assert found(opened(root)) == {"march": b"half of a program, and the rest", "map": b"map"}
    assert all(store.at_work.is_dir() for store in (one, two, three)), "they are at work"
    for store in (three, two, one):
        store.close()
        store.close()  # twice does no harm
    assert len(kept(root)) == 2


KILLED = """
import os, sys
from pathlib import Path
from diffmech.tuning._program_store import ProgramStore

store = ProgramStore(Path(sys.argv[1]), 10**8)
(store.at_work / "jit_whole-cache").write_bytes(b"whole")
store.publish()
with (store.at_work / "jit_half-cache").open("wb") as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), 9)
"""


def test_kill_9_while_writing_leaves_nothing_that_is_half(root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(root)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = root.glob("*/at-work-*")
    assert (left / "jit_half-cache").read_bytes() == b"half"
    after = opened(root)
    assert not left.exists()
    assert found(after) == {"whole": b"whole"}
    after.close()


def test_the_programs_unused_for_longest_go_first_and_processes_at_work_keep_theirs(
    root: Path,
) -> None:
    store = opened(root)
    compiled(store, old=bytes(400), used=bytes(401), fresh=bytes(402))
    store.close()
    for day, name in enumerate(("old", "used", "fresh")):
        (path,) = root.glob(f"*/jit_{name}-*")
        os.utime(path, (day, day))
    (used,) = root.glob("*/jit_used-*")
    os.utime(used, (9, 1))  # read later than it was written
    working = opened(root)
    _program_store.shrink(root, 900)
    assert [path.name.split("-")[0] for path in kept(root)] == ["jit_fresh", "jit_used"]
    assert set(found(working)) == {"old", "used", "fresh"}
    working.limit = 500
    compiled(working, newest=bytes(100))
    working.close()
    assert [path.name.split("-")[0] for path in kept(root)] == ["jit_newest"]


def test_a_folder_that_others_may_write_to_is_not_used(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(root).close()
    root.chmod(0o755)
    with pytest.raises(UnusableError, match=r"yours alone, but has mode 755: `chmod 700 ") as no:
        opened(root)
    assert no.value.unsafe
    root.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UnusableError, match="must be a folder of your own"):
        opened(root)
    monkeypatch.undo()
    other = root.with_name("link")
    other.symlink_to(root)
    with pytest.raises(UnusableError, match="must be a folder of your own"):
        opened(other)


@pytest.mark.usefixtures("fresh")
def test_where_nothing_can_be_written_there_is_no_cache_and_no_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    for nowhere in (file / "programs", Path("/proc/diffmech")):
        without = dm.cache(folder=nowhere)
        assert not without.active
        assert "cannot be used" in without.reason
    monkeypatch.setattr(_cache, "cache_home", lambda: None)
    assert "no home folder" in dm.cache().reason
    assert "no home folder" in str(dm.cache())


@pytest.mark.usefixtures("fresh")
def test_it_can_be_turned_off_and_says_so(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv("DIFFMECH_CACHE", "0")
    assert dm.cache(folder=root).reason == "DIFFMECH_CACHE=0 is set"
    assert not root.exists()
    assert dm.cache(False).reason == "it was turned off"
    with pytest.raises(ValueError, match="`megabytes` must be positive, but is 0"):
        dm.cache(megabytes=0)


PROGRAM = """
import json, sys
import jax
import numpy as np
import diffmech as dm

before = dm.cache(folder=sys.argv[1])
@jax.jit
def twice(x):
    return 2 * jax.numpy.sin(x)
value = np.asarray(twice(np.arange(5.0))).tobytes().hex()
after = dm.cache(folder=sys.argv[1])
settings = jax.config.jax_compilation_cache_dir
dm.cache(False)
print(json.dumps([before.active, value, after.hits, after.misses, before.programs, settings,
                  jax.config.jax_compilation_cache_dir]))
"""


def _run(root: Path, **environment: str) -> tuple[list, str]:
    own = {name: value for name, value in os.environ.items() if name != "DIFFMECH_CACHE"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(root)],
        env=own | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_jax_finds_what_was_kept_and_replaces_what_was_damaged_without_a_word(root: Path) -> None:
    (active, value, hits, misses, programs, _, after), said = _run(root)
    assert (active, hits, programs, after, said) == (True, 0, 0, None, "")
    assert misses == len(kept(root)) > 0
    largest = max(kept(root), key=lambda path: path.stat().st_size)
    whole = largest.read_bytes()
    largest.write_bytes(whole[: len(whole) // 2])
    (_, again, hits, new, programs, _, _), said = _run(root)
    assert (again, said) == (value, "")
    assert (hits, new, programs) == (misses - 1, 1, misses - 1)
    assert len(kept(root)) == misses, "it was deleted, compiled and kept anew"


def test_a_cache_of_jaxs_own_is_left_alone(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (active, _, hits, misses, *_, settings, after), said = _run(
        root, JAX_COMPILATION_CACHE_DIR=str(own)
    )
    assert (active, hits, misses, said) == (False, 0, 0, "")
    assert settings == after == str(own)
    assert not root.exists()
