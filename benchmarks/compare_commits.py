"""Does this version compute what another one did?

    python benchmarks/compare_commits.py COMMIT        (or the folder of another checkout)

Both run the same computations on this computer, in turns: runs, ensembles and maps must have the
same bytes, orbits, multipliers and edges agree to 1e-10 and take no longer (CPU seconds of a cold
process, compiling included; the smallest of some repeats). Nothing is kept: digests of another
computer would say nothing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from computations import orbits, runs_and_maps

ROOT = Path(__file__).parent.parent
_AGREEMENT = 1e-10  # of orbits, relative to 1 + |value|


def _write(path: str) -> None:
    """What this process' version computes; CPU seconds of each orbit on standard output."""
    import jax

    arrays, seconds = {}, {}
    for name, tree in runs_and_maps().items():
        for i, leaf in enumerate(jax.tree.leaves(tree)):
            arrays[f"bytes/{name}/{i}"] = np.asarray(leaf)
    for name, tree, spent in orbits():
        seconds[name] = spent
        for i, leaf in enumerate(jax.tree.leaves(tree)):
            arrays[f"orbits/{name}/{i}"] = np.asarray(leaf)
    np.savez(path, **arrays)  # pyright: ignore[reportArgumentType]
    print(json.dumps(seconds))


def _computed(tree: Path, file: Path) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """The arrays and seconds of the version in a folder, by a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--write", str(file), str(tree)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tree), "DIFFMECH_CACHE": "0"},
    )
    return dict(np.load(file)), json.loads(done.stdout.splitlines()[-1])


def _checked_out(commit: str, folder: Path) -> Path:
    if Path(commit).is_dir():
        return Path(commit).resolve()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True)
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", help="a commit, or a folder with another version")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--write", metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        import diffmech

        assert diffmech.__file__ is not None
        assert Path(diffmech.__file__).is_relative_to(given.other), "another version was imported"
        return _write(given.write)
    seconds: dict[str, list[list[float]]] = {}
    results: list[dict[str, np.ndarray]] = []
    with tempfile.TemporaryDirectory() as name:
        trees = _checked_out(given.other, Path(name) / "other"), ROOT.resolve()
        for _ in range(given.repeats):
            results = []
            for i, tree in enumerate(trees):
                arrays, spent = _computed(tree, Path(name) / f"{i}.npz")
                results.append(arrays)
                for orbit, each in spent.items():
                    seconds.setdefault(orbit, [[], []])[i].append(each)
    there, here = results
    assert there.keys() == here.keys()
    exact = [key for key in there if key.startswith("bytes/")]
    different = {
        key.split("/")[1]
        for key in exact
        if there[key].tobytes() != here[key].tobytes() or there[key].dtype != here[key].dtype
    }
    size = sum(there[key].nbytes for key in exact)
    count = len({key.split("/")[1] for key in exact})
    print(f"{count} runs, ensembles and maps, {len(exact)} arrays, {size} bytes; ", end="")
    print("different:", ", ".join(sorted(different)) or "none")
    worst = 0.0
    print(f"{'':24} difference    there     here   CPU seconds")
    for orbit, (old, new) in seconds.items():
        keys = [key for key in there if key.startswith(f"orbits/{orbit}/")]
        gap = max(
            float(np.max(np.abs(there[key] - here[key]) / (1 + np.abs(there[key])), initial=0.0))
            for key in keys
        )
        worst = max(worst, gap)
        print(f"{orbit:24} {gap:10.1e} {min(old):8.2f} {min(new):8.2f}")
    sys.exit(bool(different) or not worst <= _AGREEMENT)


if __name__ == "__main__":
    main()
