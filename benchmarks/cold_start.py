"""Where do the seconds of a first `diffmech simulate babyboot` go, and what does a cache save?

Starts fresh interpreters and times each stage: what the shell waits for, imports, the first run
with its compilation, a second one without, the report and the pictures. Then the same command
twice with an empty compilation cache: the second time it finds what the first has compiled.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

_STAGES = """
import time
marks = [time.perf_counter()]
import diffmech as dm
from diffmech import simulation, viz
marks.append(time.perf_counter())
boot = dm.systems.{machine}()
run = dm.simulate(boot, *boot.starts["default"], duration=10.0)
marks.append(time.perf_counter())
dm.simulate(boot, *boot.starts["default"], duration=10.0)
marks.append(time.perf_counter())
run.report()
marks.append(time.perf_counter())
viz.overview(run), viz.balance(run)
marks.append(time.perf_counter())
print(*[b - a for a, b in zip(marks, marks[1:])])
"""


def _children() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(*arguments: str, **environment: str) -> tuple[float, float]:
    """CPU and wall seconds of a command in a fresh interpreter."""
    before, clock = _children(), time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        env=os.environ | environment,
    )
    return _children() - before, time.perf_counter() - clock


def twice(machine: str) -> list[tuple[float, float]]:
    """The first and the second time with a cache that was empty."""
    with tempfile.TemporaryDirectory() as folder:
        command = ("-m", "diffmech", "simulate", machine)
        return [timed(*command, XDG_CACHE_HOME=folder, DIFFMECH_CACHE="1") for _ in range(2)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--machines", default="babyboot,four_bar")
    given = parser.parse_args()

    print(f"medians of {given.repeats} fresh interpreters, without a cache [s]\n")
    machines = given.machines.split(",")
    for words in (["--help"], ["systems"], ["simulate", machines[0]]):
        walls = [
            timed("-m", "diffmech", *words, DIFFMECH_CACHE="0")[1] for _ in range(given.repeats)
        ]
        print(f"diffmech {' '.join(words):20} {statistics.median(walls):6.2f}")
    rows = [
        [
            float(x)
            for x in subprocess.run(
                [sys.executable, "-c", _STAGES.format(machine=machines[0])],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()
        ]
        for _ in range(given.repeats)
    ]
    names = ("imports", "first run, compiled", "next run", "report", "pictures")
    print()
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        print(f"{name:29} {statistics.median(column):6.2f}")

    print("\ndiffmech simulate, with a cache  first: CPU   wall   second: CPU   wall   ratio: CPU")
    for machine in machines:
        pairs = [twice(machine) for _ in range(given.repeats)]
        (cpu, wall), (again, walled) = (
            [statistics.median(column) for column in zip(*times, strict=True)]
            for times in zip(*pairs, strict=True)
        )
        print(f"{machine:30} {cpu:12.2f} {wall:6.2f} {again:13.2f} {walled:6.2f}", end="")
        print(f" {cpu / again:11.2f}")


if __name__ == "__main__":
    main()
