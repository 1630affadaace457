"""Folders of results: filled aside, then moved into place, one writer at a time."""

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ._records import require_nameable, what_is_at

_STAGE = ".writing"
_OWNER = "owner"


@contextlib.contextmanager
def staged_folder(
    path: str | Path, members: Sequence[str], *, overwrite: bool = False
) -> Iterator[Path]:
    """Give an empty folder to write to; its files move into `path` when the block ends well.

    `path` is created if its parent exists. Only files named in `members` are ever replaced or
    removed, and only with `overwrite`; if the block fails, those that were there stay as they
    were. Files move in the order of `members`, the last of which thus says that all are there. The
    staging folder inside `path` keeps a second writer out.
    """
    path = Path(path)
    _require_free(path, members, overwrite=overwrite)
    is_new = what_is_at(path) is None
    stage = path / _STAGE
    try:
        try:
            path.mkdir(exist_ok=True)
            _claim(stage, path)
        except BlockingIOError:
            raise
        except OSError as error:
            raise type(error)(f"cannot write in `{path}`: {error.strerror or error}") from error
        try:
            _require_free(path, members, overwrite=overwrite)  # another may just have finished
            yield stage
            for name in members:
                if (stage / name).exists():
                    (stage / name).replace(path / name)
                else:
                    (path / name).unlink(missing_ok=True)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    finally:
        if is_new:
            with contextlib.suppress(OSError):  # it holds results now
                path.rmdir()


@contextlib.contextmanager
def sole_writer(path: str | Path) -> Iterator[None]:
    """Keep other processes from writing the file `path` while the block runs."""
    path = Path(path)
    require_nameable(path)
    if what_is_at(path.absolute().parent) != "folder":
        raise FileNotFoundError(f"the directory `{path.parent}` does not exist; create it first")
    stage = path.with_name(f".{path.name}{_STAGE}")
    try:
        _claim(stage, path)
    except BlockingIOError:
        raise
    except OSError as error:
        raise type(error)(f"cannot write in `{path.parent}`: {error.strerror or error}") from error
    try:
        yield
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _require_free(path: Path, members: Sequence[str], *, overwrite: bool) -> None:
    require_nameable(path)
    if what_is_at(path) not in (None, "folder"):
        raise FileExistsError(f"`{path}` is a file, not a folder; choose another name")
    parent = path.absolute().parent
    if what_is_at(parent) != "folder":
        raise FileNotFoundError(f"the directory `{parent}` does not exist; create it first")
    for name in members:
        if what_is_at(path / name) == "folder":
            raise FileExistsError(f"`{path / name}` is a folder where a file would go; move it")
    there = [name for name in members if what_is_at(path / name)]
    if there and not overwrite:
        raise FileExistsError(
            f"`{path}` holds results already ({', '.join(there)}); choose another folder, or pass "
            "`overwrite=True` to replace them"
        )


def _claim(stage: Path, wanted: Path) -> None:
    """Make the staging folder of what is `wanted`, unless a living process has made it."""
    own = Path(tempfile.mkdtemp(prefix=f"{_STAGE}-", dir=stage.parent))
    try:
        (own / _OWNER).write_text(f"{os.getpid()} {socket.gethostname()}", encoding="utf-8")
        if stage.exists() and not _is_alive(stage):
            shutil.rmtree(stage, ignore_errors=True)  # left behind by one that was killed
        try:
            own.rename(stage)  # onto a folder that is not empty it fails, whoever is first
        except OSError as error:
            if not stage.exists():
                raise
            raise BlockingIOError(
                f"another process is writing to `{wanted}` at the moment: wait, choose another "
                f"place, or remove `{stage}` if none is"
            ) from error
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _is_alive(stage: Path) -> bool:
    """Whether the process that claimed a staging folder may still be running."""
    try:
        process, host = (stage / _OWNER).read_text(encoding="utf-8").split(maxsplit=1)
        owner = int(process)
    except (OSError, ValueError):
        return True  # none of ours: leave it alone
    if host != socket.gethostname() or os.name != "posix":
        return True  # no way to ask
    try:
        os.kill(owner, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it lives, and belongs to somebody else
        return True
    return owner > 0
