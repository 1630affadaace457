"""Which tests notice a change in a room soonest: its own, and those of the rooms that import it."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from .rooms import FAMILIES, ROOMS, ROOT, TESTS, importers, imports_of, sources
from .uses import ALSO_USED, WHOLE, rooms_with_tests


def folders_after(room: str) -> list[str]:
    """The test folders to run after a change in a room: its own, and those of its importers.

    What has no tests of its own (a file of the ground floor, the door to a family) is tested by
    the rooms that import it, and a door by the room behind it.
    """
    folders = rooms_with_tests()
    if room in FAMILIES:
        behind = {found.room for path in sources(room) for found in imports_of(path)}
        return sorted(behind & folders)
    users: set[str] = set()
    waiting = [room]
    while waiting:
        for user in importers(waiting.pop()) - users - set(FAMILIES):
            users.add(user)
            if user not in folders:
                waiting.append(user)
    users |= {other for other, rooms in ALSO_USED.items() if room in rooms}
    # The room's own tests first, then those of the lowest rooms: the likeliest to notice.
    rest = sorted((users & folders) - {room}, key=lambda user: (ROOMS[user].floor, user))
    return [*([room] if room in folders else []), *rest]


def quick_tests(changed: Iterable[str]) -> list[str]:
    """What to run after changes in these files, as arguments of pytest; always the layers.

    Documents, examples and notebooks are left to the whole suite.
    """
    chosen: dict[str, None] = {}
    for name in changed:
        parts = name.split("/")
        if parts[0] == "diffmech" and len(parts) > 1:
            room = parts[1].removesuffix(".py")
            chosen |= dict.fromkeys(folders_after(room) if room in ROOMS else [])
            if room == "__init__":
                chosen["house/test_exports.py"] = None
        elif parts[0] == "tests" and len(parts) > 2 and parts[1] != WHOLE:
            chosen[parts[1]] = None
        elif parts[0] == "tests" and len(parts) == 2:
            helped = (path for path in TESTS.rglob("test_*.py") if imports_helper(path, parts[1]))
            chosen |= dict.fromkeys(str(path.relative_to(TESTS)) for path in helped)
    names = [name for name in chosen if name in ROOMS or Path(name).parts[0] not in chosen]
    return [f"tests/{name}" for name in (f"{WHOLE}/test_layers.py", *names)]


def imports_helper(path: Path, helper: str) -> bool:
    module = f"tests.{helper.removesuffix('.py')}"
    return any(found.module == module for found in imports_of(path))


def changed_files() -> list[str]:
    """What differs from the last commit, new files included."""
    listed = [
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for words in (
            ("diff", "--name-only", "HEAD"),
            ("ls-files", "--others", "--exclude-standard"),
        )
    ]
    return sorted({line for text in listed for line in text.splitlines()})
