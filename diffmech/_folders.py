"""Folders of results that appear whole: filled aside, then moved into place."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

_STAGE = ".writing"
_OWNER = "pid"


@contextlib.contextmanager
def staged_folder(
    path: str | Path, members: Sequence[str], *, overwrite: bool = False
) -> Iterator[Path]:
    """Give an empty folder to write to; its files move into `path` when the block ends well.

    `path` is created if its parent exists. Only files named in `members` are ever replaced or
    removed, and only with `overwrite`; if the block fails, those that were there stay as they
    were. The staging folder inside `path` keeps a second writer out.
    """
    path = Path(path)
    _require_free(path, members, overwrite=overwrite)
    made = not path.exists()
    stage = path / _STAGE
    try:
        path.mkdir(exist_ok=True)
        _claim(stage)
    except (FileExistsError, BlockingIOError):
        raise
    except OSError as error:
        raise type(error)(f"cannot write in `{path}`: {error.strerror or error}") from error
    try:
        yield stage
        (stage / _OWNER).unlink()
        written = [member.name for member in stage.iterdir()]
        for name in written:
            (stage / name).replace(path / name)
        for name in set(members) - set(written):
            (path / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):  # it holds results now
                path.rmdir()


def _require_free(path: Path, members: Sequence[str], *, overwrite: bool) -> None:
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"`{path}` is a file, not a folder; choose another name")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(
            f"the directory `{path.absolute().parent}` does not exist; create it first"
        )
    there = [name for name in members if (path / name).exists()]
    if there and not overwrite:
        raise FileExistsError(
            f"`{path}` holds results already ({', '.join(there)}); choose another folder, or pass "
            "`overwrite=True` to replace them"
        )


def _claim(stage: Path) -> None:
    """Make the staging folder, unless a living process has made it."""
    for _ in range(2):
        try:
            stage.mkdir()
        except FileExistsError as error:
            owner = _owner(stage)
            if owner is not None:
                raise BlockingIOError(
                    f"process {owner} is writing to `{stage.parent}` at the moment; wait for it, "
                    "or choose another folder"
                ) from error
            shutil.rmtree(stage, ignore_errors=True)  # left behind by one that was killed
        else:
            (stage / _OWNER).write_text(str(os.getpid()), encoding="ascii")
            return
    raise BlockingIOError(f"`{stage.parent}` is being written to; choose another folder")


def _owner(stage: Path) -> int | None:
    """The living process that claimed a staging folder, if any."""
    try:
        owner = int((stage / _OWNER).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    try:
        os.kill(owner, 0)
    except PermissionError:  # it lives, and belongs to somebody else
        return owner
    except OSError:
        return None
    return owner
