"""Does the compilation cache change a single bit?

Ten runs, ensembles and maps in three processes: without a cache, with an empty one, and with what
that left behind. All values and statuses must be the same to the byte.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from computations import runs_and_maps


def _write(path: str, with_cache: str) -> None:
    import jax

    import diffmech as dm

    if with_cache:
        assert dm.cache(folder=with_cache).active
    arrays = {
        f"{name} {i}": np.asarray(leaf)
        for name, tree in runs_and_maps().items()
        for i, leaf in enumerate(jax.tree.leaves(tree))
    }
    np.savez(path, **arrays)  # pyright: ignore[reportArgumentType]
    found = dm.cache(folder=with_cache) if with_cache else dm.cache(False)
    print(found.hits, found.misses)


def main() -> None:
    if len(sys.argv) == 3:
        return _write(*sys.argv[1:])
    ways = ("without a cache", "with an empty cache", "with what that left")
    with tempfile.TemporaryDirectory() as folder:
        files, said = [], []
        for i in range(3):
            files.append(Path(folder) / f"{i}.npz")
            words = [sys.executable, __file__, str(files[-1]), f"{folder}/cache" if i else ""]
            own = os.environ | {"DIFFMECH_CACHE": "1"}
            done = subprocess.run(words, check=True, capture_output=True, text=True, env=own)
            said.append(done.stdout.split())
        results = [dict(np.load(file)) for file in files]
    for way, (hits, misses) in zip(ways, said, strict=True):
        print(f"{way:20} {hits:>5} programs found, {misses:>5} compiled and kept")
    names = {name.rsplit(" ", 1)[0] for name in results[0]}
    different = {
        name.rsplit(" ", 1)[0]
        for name, array in results[0].items()
        for other in results[1:]
        if other[name].tobytes() != array.tobytes() or other[name].dtype != array.dtype
    }
    size = sum(array.nbytes for array in results[0].values())
    print(f"{len(names)} computations, {len(results[0])} arrays, {size} bytes")
    print("different:", ", ".join(sorted(different)) or "none")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
