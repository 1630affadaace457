"""How do time and memory of an ensemble grow with the number of motions?

The babyboot, 10 s, rtol 1e-8, qA evenly over 1..179°; the last state of each motion is kept. A
process of its own, tuned, on all cores, runs the numbers of motions in ascending order: running
times without compilation, minima over repeats, and the peak of the process's memory so far, with
Python, JAX and the compiler in it. Draws both over the number of motions.

    python benchmarks/ensemble_scaling.py [--counts 1000 10000 100000 1000000] [--repeats 3]
                                          [--plot ensemble_scaling.png]
"""

import argparse
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from ensemble_lanes import ACCURACY, Worker, diffmech
from matplotlib.figure import Figure

COUNTS = (1_000, 10_000, 100_000, 1_000_000)
MOST = 2 * 2**30  # bytes that a million motions may take
MIB = 2**20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


def cost(count: int, repeats: int) -> tuple[float, int]:
    """Seconds of running `count` motions, and the peak of memory [bytes] in this process."""
    runs = [diffmech("babyboot", count, ACCURACY, fixed=False) for _ in range(repeats + 1)]
    if not np.all(np.isfinite(runs[0].ends)):
        raise RuntimeError(f"of {count} motions some did not run to the end")
    seconds = count * min(run.seconds for run in runs[1:])  # the first may compile
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


def draw(counts: Sequence[int], seconds: Sequence[float], peaks: Sequence[int]) -> Figure:
    """Time and memory over the number of motions, both logarithmic."""
    figure = Figure(figsize=(7.0, 2.9), layout="constrained")
    time, memory = figure.subplots(1, 2)
    ends = np.array([counts[0], counts[-1]])
    time.loglog(ends, seconds[-1] / counts[-1] * ends, "--", color="0.55", label="linear growth")
    time.loglog(counts, seconds, "o", color="C0", label="measured")
    time.set(xlabel="number of motions", ylabel="running time [s]")
    memory.axhline(MOST / MIB, linestyle="--", color="0.55", label="2 GiB")
    memory.loglog(counts, np.array(peaks) / MIB, "o", color="C1", label="measured")
    memory.set(xlabel="number of motions", ylabel="peak memory [MiB]", ylim=(100, 4000))
    for axes in (time, memory):
        axes.legend(frameon=False, loc="upper left" if axes is time else "lower right")
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description="Growth of an ensemble's time and memory")
    parser.add_argument("--counts", type=int, nargs="+", default=list(COUNTS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plot", type=Path, default=Path("ensemble_scaling.png"))
    options = parser.parse_args()
    counts = sorted(options.counts)
    print("babyboot, 10 s, rtol 1e-8, all cores")
    print(f"{'motions':>9}{'running':>13}{'a motion':>13}{'peak memory':>15}")
    seconds, peaks = [], []
    with Worker(tuned=True) as tuned:
        for count in counts:
            took, peak = tuned(cost, count, options.repeats)
            print(
                f"{count:9d}{took:11.4f} s{1e6 * took / count:10.2f} us{peak / MIB:11.0f} MiB",
                flush=True,
            )
            seconds.append(took)
            peaks.append(peak)
    slope = np.polyfit(np.log(counts[-2:]), np.log(seconds[-2:]), 1)[0]
    print(f"time grows as the number to the power of {slope:.3f} at the end")
    print(f"peak memory {'below' if peaks[-1] < MOST else 'not below'} {MOST / MIB:.0f} MiB")
    draw(counts, seconds, peaks).savefig(options.plot, dpi=300)


if __name__ == "__main__":
    main()
