"""Compiled programs on disk, for one kind of processor and one version of the compiler.

    <root>/<kind>/<key>-<CRC-32>       a program: complete, and its name says what it must contain
    <root>/<kind>/at-work-<random>/    where one process reads and writes: <key>-cache, JAX's names

JAX reads an entry without checking it, writes it in place, and never replaces one. So no two
processes share what it reads and writes: each gets a folder of its own, filled with hard links to
programs whose checksum is right (others are deleted), and what it adds there is linked back once it
is complete. A process that is killed leaves a folder that nobody holds a lock on, and the next one
removes it; what was half written in there is never seen.
"""

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ._host import package_version, processor

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl: Any = None

_ENTRY = re.compile(r"(?P<key>.+)-(?P<sum>[0-9a-f]{8})")
_AT_WORK, _BEING_MADE = "at-work-", ".new-"
_SUFFIX = "-cache"  # what JAX appends to a key
_ABANDONED = 7 * 86400.0  # [s] after which a folder is nobody's where locks do not tell


class UnusableError(Exception):
    """Why there is no store.

    Attributes:
        unsafe: whether it is because somebody else may write there.
    """

    def __init__(self, reason: str, *, unsafe: bool = False):
        super().__init__(reason)
        self.unsafe = unsafe


class Contents(NamedTuple):
    """How many programs there are, and their bytes."""

    programs: int
    size: int


def kind_of_machine() -> str:
    """The name of the folder: our version, the compiler's, and the processor's features."""
    about = "\n".join([package_version("jax"), processor()])
    features = hashlib.sha256(about.encode()).hexdigest()[:12]
    return f"{package_version('diffmech')}-jaxlib-{package_version('jaxlib')}-cpu-{features}"


class ProgramStore:
    """The programs of one kind of machine, and this process's folder among them.

    Args:
        root: holds a folder for each kind of machine. Made if it is missing.
        limit: bytes that all of them may have together; the longest unused go first.

    Raises:
        UnusableError: nothing can be written there, or somebody else could.
    """

    def __init__(self, root: Path, limit: int):
        self.root, self.folder, self.limit = root, root / kind_of_machine(), limit
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._linked: set[str] = set()
        try:
            for folder in (self.root, self.folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _require_private(folder)
            self._sweep()
            self.at_work, self._lock = self._begin()
            for entry, key in self._sound_entries():
                name = f"{key}{_SUFFIX}"
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    _link(entry, self.at_work / name)
                self._linked.add(name)
        except OSError as error:
            raise UnusableError(f"`{self.folder}` cannot be used: {error.strerror}") from error

    def _begin(self) -> tuple[Path, int]:
        """A folder for this process, locked before it gets the name that others look for."""
        own = Path(tempfile.mkdtemp(prefix=_BEING_MADE, dir=self.folder))
        lock = os.open(own / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return own.rename(own.with_name(own.name.replace(_BEING_MADE, _AT_WORK))), lock

    def _sound_entries(self) -> Iterator[tuple[Path, str]]:
        """Programs that are what their name says, with their keys; the others are deleted."""
        for path in _entries(self.folder):
            matched = _ENTRY.fullmatch(path.name)
            assert matched is not None
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                if _checksum(path) == matched["sum"]:
                    yield path, matched["key"]
                else:
                    path.unlink()

    def publish(self) -> None:
        """Make programs that this process has compiled known to others. Never fails."""
        if os.getpid() != self._process:  # a fork: they are its parent's
            return
        with self._guard, contextlib.suppress(OSError):
            for path in self.at_work.glob(f"*{_SUFFIX}"):
                if path.name in self._linked:
                    continue
                self._linked.add(path.name)
                name = f"{path.name.removesuffix(_SUFFIX)}-{_checksum(path)}"
                with contextlib.suppress(FileExistsError):
                    _link(path, self.folder / name)

    def close(self) -> None:
        """Publish what is new, keep to the limit, and leave. Never fails."""
        if os.getpid() != self._process or self._lock < 0:
            return
        self.publish()
        shutil.rmtree(self.at_work, ignore_errors=True)
        os.close(self._lock)
        self._lock = -1
        with contextlib.suppress(OSError):
            shrink(self.root, self.limit)

    def contents(self) -> Contents:
        """What is in the folder of this kind of machine."""
        return contents(self.folder)

    def _sweep(self) -> None:
        """Remove the folders of processes that were killed."""
        for path in self.folder.iterdir():
            if path.name.startswith(_AT_WORK) and _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith(_BEING_MADE) and _age(path) > _ABANDONED:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


def contents(folder: Path) -> Contents:
    """How many programs a folder has, and their bytes; none if it cannot be read."""
    sizes = []
    with contextlib.suppress(OSError):
        for path in _entries(folder):
            with contextlib.suppress(FileNotFoundError):
                sizes.append(path.stat().st_size)
    return Contents(len(sizes), sum(sizes))


def shrink(root: Path, limit: int) -> Contents:
    """Delete the programs that were not used for longest until `limit` bytes are left.

    Processes that are at work keep theirs: a hard link holds them. Returns what was deleted.
    """
    by_last_use = []
    for folder in root.iterdir():
        if not folder.is_symlink() and folder.is_dir():
            for path in _entries(folder):
                with contextlib.suppress(FileNotFoundError):
                    status = path.stat()
                    used = max(status.st_atime, status.st_mtime)
                    by_last_use.append((used, path, status.st_size))
    total = sum(size for _, _, size in by_last_use)
    deleted = []
    for _, path, size in sorted(by_last_use):
        if total <= limit:
            break
        path.unlink(missing_ok=True)
        total -= size
        deleted.append(size)
    return Contents(len(deleted), sum(deleted))


def _require_private(folder: Path) -> None:
    """Who may write a compiled program may run it as whoever reads it."""
    if not hasattr(os, "geteuid"):
        return
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise UnusableError(f"`{folder}` must be a folder of your own", unsafe=True)
    if status.st_mode & 0o077:
        raise UnusableError(
            f"`{folder}` must be yours alone, but has mode {status.st_mode & 0o777:o}: "
            f"`chmod 700 {folder}`",
            unsafe=True,
        )


def _entries(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if _ENTRY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _checksum(path: Path) -> str:
    """CRC-32 of a file, read without counting as a use of it where the system allows."""
    flags = os.O_RDONLY | getattr(os, "O_NOATIME", 0) | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(path, flags), "rb") as file:
        return f"{zlib.crc32(file.read()):08x}"


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        handle, name = tempfile.mkstemp(prefix=_BEING_MADE, dir=target.parent)
        os.close(handle)
        shutil.copyfile(source, name)
        os.replace(name, target)


def _is_abandoned(folder: Path) -> bool:
    """Whether no process holds its lock."""
    if fcntl is None:
        return _age(folder) > _ABANDONED
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True  # being removed
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return _age(folder) > _ABANDONED
    finally:
        os.close(lock)
    return True


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
