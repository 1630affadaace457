"""Does the compilation cache change a single bit?

Ten runs, ensembles and maps in three processes: without a cache, with an empty one, and with what
that left behind. All values and statuses must be the same to the byte.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def _results() -> dict[str, Any]:
    """What is compared, by name: arrays, or trees of them."""
    import diffmech as dm

    boot, bar, chain = (getattr(dm.systems, name)() for name in ("babyboot", "four_bar", "n_link"))
    angles = np.radians(np.linspace(1, 179, 300))

    def run(machine: Any, **how: Any) -> Any:
        start = how.pop("start", machine.starts["default"])
        motion = dm.simulate(machine, *start, duration=2.0, samples=101, **how)
        return motion.qs, motion.qds, motion.work, motion.energies, motion.residuals

    def many(**how: Any) -> Any:
        lanes = dm.ensemble(boot, {"qA": angles, "qB": 0.01}, duration=5.0, **how)
        return lanes.values, lanes.status, lanes.steps

    def mapped(criterion: Any) -> Any:
        axes = {"qA": np.radians(np.linspace(0, 180, 61)), "qB": [0.01, 0.02]}
        charted = dm.stability_map(boot, axes, criterion, duration=5.0)
        return [np.asarray(getattr(charted, name)) for name in ("values", "verdicts", "status")]

    return {
        "babyboot": run(boot, start=boot.starts["chaotic"]),
        "babyboot, Tsit5": run(boot, method="Tsit5", rtol=1e-8),
        "babyboot, GaussLegendre4": run(boot, method="GaussLegendre4", dt=0.01),
        "four_bar": run(bar),
        "four_bar, nullspace": run(bar, stabilise="nullspace"),
        "n_link": run(chain, start=chain.starts["chaotic"]),
        "ensemble": many(),
        "ensemble, growth": many(
            reduce={"g": dm.reducers.Growth([1.0, 0, 0, 0]), "last": dm.reducers.Last()}
        ),
        "map, tumble": mapped(dm.criteria.Tumble("qB", np.pi / 2)),
        "map, ftle": mapped(dm.criteria.Ftle(direction=(1.0, 0, 0, 0))),
    }


def _write(path: str, with_cache: str) -> None:
    import jax

    import diffmech as dm

    if with_cache:
        assert dm.cache(folder=with_cache).active
    arrays = {
        f"{name} {i}": np.asarray(leaf)
        for name, tree in _results().items()
        for i, leaf in enumerate(jax.tree.leaves(tree))
    }
    np.savez(path, **arrays)  # pyright: ignore[reportArgumentType]
    cache = dm.cache(folder=with_cache) if with_cache else dm.cache(False)
    print(cache.hits, cache.misses)


def main() -> None:
    if len(sys.argv) == 3:
        return _write(*sys.argv[1:])
    ways = ("without a cache", "with an empty cache", "with what that left")
    with tempfile.TemporaryDirectory() as folder:
        files, said = [], []
        for i in range(3):
            files.append(Path(folder) / f"{i}.npz")
            words = [sys.executable, __file__, str(files[-1]), f"{folder}/cache" if i else ""]
            environment = os.environ | {"DIFFMECH_CACHE": "1"}
            done = subprocess.run(
                words, check=True, capture_output=True, text=True, env=environment
            )
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
