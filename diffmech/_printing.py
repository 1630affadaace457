"""How records print: labelled lines and tables, aligned the same way everywhere."""

from collections.abc import Collection, Iterable, Sequence


def aligned(rows: Iterable[tuple[str, str]], title: str = "") -> str:
    """Labels in one column and what they say in another; under a title, set in by two spaces.

    A row with an empty label goes on with what the row above it says.
    """
    rows = list(rows)
    width = max((len(label) for label, _ in rows), default=0)
    indent = "  " if title else ""
    lines = [f"{indent}{label:<{width}}  {text}" for label, text in rows]
    return "\n".join([title, *lines] if title else lines)


def tabled(rows: Sequence[Sequence[str]], left: Collection[int] = (0,), indent: str = "") -> str:
    """Cells in columns, numbers to the right; the columns `left` are words, and so to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)
