"""Which mistakes would the tests notice?

Draws mistakes in the package (a sign, a factor, a comparison, an index, a dropped term), as many in
each room as its lines deserve, and runs the tests of that room and those above it on each, until
one fails. `--against` runs what survives on another version's tests too, but for those that fail on
the package as it is. Minutes are those of the processor, so that a busy machine changes nothing.
"""

import argparse
import ast
import concurrent.futures
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tests.house.quick import folders_after  # noqa: E402
from tests.house.rooms import room_of  # noqa: E402

# Rooms whose mistakes documents and examples show too, after all other tests.
SHOWN = ("systems", "viz", "cli")
SWAPS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip


class Mutant(NamedTuple):
    """One mistake: what stands from `start` to `end` in a file, and what is to stand there."""

    file: Path
    line: int
    start: int
    end: int
    kind: str
    before: str
    after: str

    def __str__(self) -> str:
        place = f"{self.file.relative_to(ROOT)}:{self.line}"
        return f"{self.kind:10} {place}: `{self.before}` -> `{self.after}`"

    def source(self) -> str:
        text = self.file.read_bytes()
        return (text[: self.start] + self.after.encode() + text[self.end :]).decode()


def tests_of(room: str) -> list[str]:
    """The test files that may notice a mistake in a room: its own, then those of its importers."""
    if room == "__init__":
        return ["test_exports.py"]
    files = [
        path.name
        for folder in folders_after(room)
        for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))
    ]
    return [*files, "test_layers.py", *(["test_documents.py"] if room in SHOWN else [])]


def mutants_of(file: Path) -> Iterator[Mutant]:
    """All mistakes that can be made in the functions of a file."""
    text = file.read_bytes()
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, (
            starts[node.end_lineno - 1] + node.end_col_offset
        )

    def mistake(node: ast.expr, kind: str, after: str, at: tuple[int, int] | None = None) -> Mutant:
        start, end = at or span(node)
        return Mutant(file, node.lineno, start, end, kind, text[start:end].decode(), after)

    def code(node: ast.expr) -> str:
        start, end = span(node)
        return text[start:end].decode()

    for node in _inside_functions(ast.parse(text)):
        if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            left, right = code(node.left), code(node.right)
            kind = "sign" if isinstance(node.op, ast.Add | ast.Sub) else "factor"
            yield mistake(node, kind, f"({left}) {SWAPS[type(node.op)]} ({right})")
            if kind == "sign":
                yield mistake(node, "dropped", left)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield mistake(node, "sign", code(node.operand))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            between = (span(node.left)[1], span(node.comparators[0])[0])
            yield mistake(node, "comparison", f" {SWAPS[type(node.ops[0])]} ", between)
        elif isinstance(node, ast.Constant) and type(node.value) is float and node.value:
            yield mistake(node, "factor", repr(2 * node.value))
        elif isinstance(node, ast.Subscript) and _is_index(node.slice):
            yield mistake(node.slice, "index", f"{code(node.slice)} + 1")


def _is_index(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _inside_functions(tree: ast.Module) -> Iterator[ast.expr]:
    """Expressions in the bodies of functions; no annotations, decorators or messages."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            waiting: list[ast.AST] = list(function.body)
            while waiting:
                node = waiting.pop()
                if isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef | ast.Assert):
                    continue
                if isinstance(node, ast.AnnAssign):
                    waiting += [node.value] if node.value else []
                    continue
                if isinstance(node, ast.expr):
                    yield node
                waiting += ast.iter_child_nodes(node)


def drawn(count: int, seed: int) -> list[Mutant]:
    """Mutants in proportion to the lines of each room."""
    random_ = random.Random(seed)
    files = sorted((ROOT / "diffmech").rglob("*.py"))
    rooms: dict[str, list[Path]] = {}
    for file in files:
        rooms.setdefault(room_of(file), []).append(file)
    lines = {room: sum(len(f.read_bytes().splitlines()) for f in rooms[room]) for room in rooms}
    shares = {room: count * n / sum(lines.values()) for room, n in lines.items()}
    counts = {room: int(share) for room, share in shares.items()}
    for room in sorted(shares, key=lambda room: counts[room] - shares[room]):
        if sum(counts.values()) < count:
            counts[room] += 1
    found = []
    for room in sorted(counts):
        possible = [mutant for file in rooms[room] for mutant in mutants_of(file)]
        found += random_.sample(sorted(possible), counts[room])
    return found


_NOTHING_TESTED = 5  # pytest's exit code


def fate(mutant: Mutant, tests: Path, minutes: float, left_out: Sequence[str] = ()) -> str:
    """Run tests on a copy of the package with the mistake: which one failed, or "survived"."""
    changed = {mutant.file.relative_to(ROOT): mutant.source()}
    clock = time.monotonic()
    options = ["-x", *(f"--deselect={test}" for test in left_out)]
    code, failed = outcome(room_of(mutant.file), tests, minutes, options, changed)
    seconds = time.monotonic() - clock
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"survived {minutes:g} minutes"
    if code == _NOTHING_TESTED:
        return "there are no tests of this room"
    if code == 0:
        return f"survived ({seconds:.0f} s)"
    return f"killed ({seconds:.0f} s) {failed[0] if failed else 'at once'}"


@cache
def failing(room: str, tests: Path, minutes: float) -> tuple[str, ...]:
    """The tests of a room that fail on the package as it is, as far as the time goes."""
    return tuple(outcome(room, tests, 2 * minutes, [], {})[1])


def outcome(
    room: str, tests: Path, minutes: float, options: list[str], changed: dict[Path, str]
) -> tuple[int, list[str]]:
    """Run a room's tests on a copy of the package with changed files: exit code, what failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (
            "diffmech",
            "examples",
            "notebooks",
            "benchmarks",
            "docs",
            "README.md",
            "CONTRIBUTING.md",
        ):
            source = ROOT / part
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
        for part in ("Makefile", "pyproject.toml"):
            shutil.copy(tests.parent / part, folder / part)
        shutil.copytree(tests, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        for file, source in changed.items():
            (folder / file).write_text(source, encoding="utf-8")
        # Another version may have them in other folders.
        places = {path.name: path for path in sorted((folder / "tests").rglob("test_*.py"))}
        names = [str(places[test]) for test in tests_of(room) if test in places]
        if not names:
            return _NOTHING_TESTED, []
        words = {word for file in changed for word in re.split(r"[_.]", file.name) if len(word) > 3}
        # Those named like what has changed come first: they fail soonest.
        names.sort(key=lambda test: not any(word in Path(test).name for word in words))
        printed = folder / "printed.txt"
        with printed.open("w") as stream:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-rfE", "-v", "-p", "no:cacheprovider"]
                + [*options, *names],
                cwd=folder, stdout=stream, stderr=subprocess.STDOUT, check=False,
                env=os.environ | {"DIFFMECH_CACHE": "1", "PYTHONPATH": name},
                preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_CPU, (int(60 * minutes), int(60 * minutes) + 5)
                ),
            )  # fmt: skip
        lines = printed.read_text(errors="replace").splitlines()
        bad = [
            line.split(" ")[0] for line in lines if line.split(" ")[1:2] in (["FAILED"], ["ERROR"])
        ]
        bad += [line.split(" ")[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return done.returncode, list(dict.fromkeys(bad))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=4.0, help="at most, for each")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--against", type=Path, help="tests of another version, for survivors")
    parser.add_argument("--list", action="store_true", help="draw them only")
    given = parser.parse_args()
    mutants = drawn(given.count, given.seed)

    def judged(mutant: Mutant) -> tuple[Mutant, str, str]:
        ours = fate(mutant, ROOT / "tests", given.minutes)
        theirs = ""
        if ours.startswith("survived") and given.against:
            broken = failing(room_of(mutant.file), given.against, given.minutes)
            theirs = fate(mutant, given.against, given.minutes, broken)
        return mutant, ours, theirs

    if given.list:
        print(*mutants, sep="\n")
        return
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(given.workers) as pool:
        for mutant, ours, theirs in pool.map(judged, mutants):
            survivors += ours.startswith("survived")
            print(mutant, ours, f"| there: {theirs}" * bool(theirs), sep="\n    ", flush=True)
    print(f"{len(mutants) - survivors} killed, {survivors} survived of {len(mutants)}")


if __name__ == "__main__":
    main()
