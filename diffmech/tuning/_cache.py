"""`cache`: what is compiled once is kept on disk for the processes that come after.

JAX's persistent compilation cache does the work; `_program_store` makes it safe. A program's key
is JAX's own: a hash of the program, the compiler's options and its version.
"""

import atexit
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._printing import aligned
from ._host import cache_home
from ._program_store import Contents, ProgramStore, UnusableError, contents, shrink

_LIMIT = 512  # [MB] some 5000 programs
_SWITCH = "DIFFMECH_CACHE"
_HITS, _MISSES = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"
_FOLDER = "jax_compilation_cache_dir"
_SETTINGS: dict[str, Any] = {
    # Small programs too: a first run compiles a dozen of them beside the large one.
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_persistent_cache_enable_xla_caches": "none",  # they would point to this process's folder
}


@dataclass(frozen=True)
class Cache:
    """The compilation cache as it stands.

    Attributes:
        active: whether programs are kept and found.
        folder: where; None if there is no place for it.
        reason: why it is not active; empty if it is.
        programs: how many are kept there.
        size: their bytes.
        limit: bytes above which the longest unused are deleted.
        hits: programs that this process found instead of compiling them.
        misses: programs that this process compiled and keeps.
    """

    active: bool
    folder: Path | None
    reason: str
    programs: int
    size: int
    limit: int
    hits: int
    misses: int

    def __str__(self) -> str:
        state = "active" if self.active else f"not active: {self.reason}"
        sizes = f"{_megabytes(self.size)} of {_megabytes(self.limit)}"
        return aligned(
            [
                ("cache", state),
                ("folder", str(self.folder or "none")),
                ("programs", f"{self.programs}, {sizes}"),
                ("process", f"{self.hits} found, {self.misses} compiled and kept"),
            ]
        )


class _State:
    """What this process uses: one store at most."""

    def __init__(self) -> None:
        self.store: ProgramStore | None = None
        self.reason = "it was not asked for"
        self.limit = _LIMIT * 10**6
        self.before: dict[str, Any] = {}  # JAX's settings
        self.counts = {_HITS: 0, _MISSES: 0}
        self.listening = False


_state = _State()


def cache(
    on: bool = True, *, folder: str | Path | None = None, megabytes: float | int = _LIMIT
) -> Cache:
    """Keep compiled programs on disk, so that a later process need not compile them again.

    The second process that runs a machine starts computing about twice as fast, with the same bytes
    as result. Call it at the top of a script or notebook; the command line has it on. It holds for
    whatever JAX compiles from then on. `DIFFMECH_CACHE=0` in the environment turns it off
    everywhere, a cache of JAX's own that is set up already is left alone.

    A damaged program is deleted and compiled anew; processes do not disturb each other; where
    nothing can be written, or others could write, there is no cache, and the record says why. Never
    share the folder with anybody: it holds machine code that is run.

    Args:
        on: False turns it off for this process; what is on disk stays.
        folder: where; by default `programs` in `$XDG_CACHE_HOME/diffmech` (`~/.cache/diffmech`).
            Inside, a folder for each kind of processor and version of JAX.
        megabytes: what may be kept; beyond it the programs unused for longest are deleted.

    Returns:
        What is in force, ready to print.

    Warns:
        UserWarning: the folder is not the user's alone, so there is no cache.
    """
    if not megabytes > 0:
        raise ValueError(f"`megabytes` must be positive, but is {megabytes}")
    if folder is not None and not isinstance(folder, str | os.PathLike):
        raise ValueError(f"`folder` must be the path of a folder, but is a {type(folder).__name__}")
    _state.limit = round(megabytes * 10**6)
    if not on or os.environ.get(_SWITCH, "") == "0":
        _turn_off("it was turned off" if not on else f"{_SWITCH}=0 is set")
        return current_cache()
    root = _root() if folder is None else Path(folder).expanduser().absolute()
    if _state.store is not None and _state.store.root == root:
        _state.store.limit = _state.limit
        return current_cache()
    _turn_off("it was turned off")
    _turn_on(root)
    return current_cache()


def current_cache() -> Cache:
    """The cache as it stands; turns nothing on."""
    store, root = _state.store, _root()
    folder = store.folder if store is not None else root
    kept = Contents(0, 0) if store is None else contents(store.folder)
    return Cache(
        active=store is not None,
        folder=folder,
        reason="" if store is not None else _state.reason,
        programs=kept.programs,
        size=kept.size,
        limit=_state.limit,
        hits=_state.counts[_HITS],
        misses=_state.counts[_MISSES],
    )


def cache_line() -> str:
    """The cache in one line."""
    kept = current_cache()
    if not kept.active:
        return f"not active: {kept.reason}"
    return (
        f"{kept.folder}: {kept.programs} programs, {_megabytes(kept.size)} of "
        f"{_megabytes(kept.limit)}; {kept.hits} found by this process, {kept.misses} compiled"
    )


def clear_cache() -> Contents:
    """Delete all programs kept in the default folder, of every version: how many, their bytes.

    Processes at work keep what they have. Raises OSError if something cannot be deleted.
    """
    from .._records import what_is_at

    root = _root() if _state.store is None else _state.store.root
    if root is None or what_is_at(root) != "folder":
        return Contents(0, 0)
    try:
        return shrink(root, 0)
    except PermissionError as error:
        raise PermissionError(
            f"the programs in `{root}` cannot be deleted: permission to read and write "
            f"`{error.filename}` is needed"
        ) from error


def _root() -> Path | None:
    home = cache_home()
    return None if home is None else home / "programs"


def _turn_on(root: Path | None) -> None:
    import jax

    theirs = getattr(jax.config, _FOLDER)
    if theirs:
        _state.reason = f"JAX's own cache in `{theirs}` is on, and is left alone"
        return
    if root is None:
        _state.reason = "there is no home folder: say `folder=`, or set XDG_CACHE_HOME"
        return
    try:
        store = ProgramStore(root, _state.limit)
    except UnusableError as error:
        _state.reason = str(error)
        if error.unsafe:
            warnings.warn(f"the compilation cache is off: {error}", stacklevel=3)
        return
    _state.store, _state.reason = store, ""
    _configure(jax, {**_SETTINGS, _FOLDER: str(store.at_work)})
    # What JAX cannot write (a full disk) is not kept: that is no trouble of the user's.
    warnings.filterwarnings("ignore", "Error (read|writ)ing persistent compilation cache entry")
    if not _state.listening:
        jax.monitoring.register_event_listener(_count)
        atexit.register(_turn_off, "the process is ending")
        _state.listening = True


def _turn_off(reason: str) -> None:
    store, _state.store, _state.reason = _state.store, None, reason
    if store is None:
        return
    _configure(sys.modules["jax"], _state.before)
    store.close()


def _configure(jax: Any, settings: dict[str, Any]) -> None:
    """Set JAX's configuration, and have it look for its cache anew."""
    from jax.experimental.compilation_cache import compilation_cache

    _state.before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def _count(event: str, **details: Any) -> None:
    """Hear what JAX says of its cache. It names a miss before it writes the program."""
    del details
    if event in _state.counts and _state.store is not None:
        _state.counts[event] += 1
        if event == _MISSES:
            _state.store.publish()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB"
