"""The page of public names: what each is, by the first line of its docstring.

python -m tests.house.names    write docs/names.md anew
"""

import inspect
from typing import Any

import diffmech as dm
from diffmech.systems import CATALOGUE

from .rooms import ROOMS, ROOT, homes, summary_of

PAGE = ROOT / "docs" / "names.md"
FAMILIES = (
    *("systems", "parts", "joints", "reducers", "criteria", "solvers", "geometry", "viz"),
    "testing",
)


def first_line(value: Any) -> str:
    """What a name is, in one line."""
    return summary_of(inspect.getdoc(value) or "")


def names_of(family: str) -> list[str]:
    """The public names of a family, as its door has them."""
    module = getattr(dm, family)
    if family == "systems":
        return [*CATALOGUE, "tops"]
    ours = (
        "diffmech.testing" if family == "testing" else "diffmech"
    )  # no door: functions of its own
    return [
        name
        for name in dir(module)
        if not name.startswith("_")
        and getattr(getattr(module, name), "__module__", "").startswith(ours)
    ]


def table(rows: list[tuple[str, Any]]) -> list[str]:
    return [
        "| name | what it is |",
        "|---|---|",
        *(f"| `{name}` | {first_line(value)} |" for name, value in rows),
        "",
    ]


def page() -> str:
    """The whole page."""
    lines = [
        "# Public names",
        "",
        "Each with the first line of its docstring; `help(dm.simulate)` shows the rest: equations,",
        "shapes, units, failures. Written by `make names`; a test compares it with the sources.",
        "",
    ]
    by_room: dict[str, list[str]] = {}
    for name, room in homes().items():
        by_room.setdefault(room, []).append(name)
    order = [room for room in ROOMS if room in by_room]
    for room in sorted(order, key=lambda room: (room.startswith("_"), order.index(room))):
        title = f"Of `{room}`" if not room.startswith("_") else f"Of the ground floor, `{room}`"
        lines += [f"## {title}", ""]
        # Verbs and quantities first, records and other types after them.
        names = sorted(by_room[room], key=lambda name: (name[0].isupper(), name))
        lines += table([(f"dm.{name}", getattr(dm, name)) for name in names])
    for family in FAMILIES:
        module = getattr(dm, family)
        lines += [f"## `dm.{family}`", "", first_line(module), ""]
        lines += table(
            [(f"dm.{family}.{name}", getattr(module, name)) for name in names_of(family)]
        )
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
