"""Where do the seconds of a first `diffmech simulate babyboot` go?

Starts fresh interpreters and times each stage: what the shell waits for, imports, the first run
with its compilation, a second one without, the report and the pictures.
"""

import argparse
import statistics
import subprocess
import sys
import time

_STAGES = """
import time
marks = [time.perf_counter()]
import diffmech as dm
from diffmech import simulation, viz
marks.append(time.perf_counter())
boot = dm.systems.babyboot()
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


def waited(*arguments: str) -> float:
    """Seconds until a command has ended."""
    clock = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats

    def median(*arguments: str) -> float:
        return statistics.median(waited(*arguments) for _ in range(repeats))

    print(f"medians of {repeats} fresh interpreters [s]\n")
    for words in (["--help"], ["systems"], ["simulate", "babyboot"]):
        print(f"diffmech {' '.join(words):20} {median('-m', 'diffmech', *words):6.2f}")
    rows = [
        [
            float(x)
            for x in subprocess.run(
                [sys.executable, "-c", _STAGES], check=True, capture_output=True, text=True
            ).stdout.split()
        ]
        for _ in range(repeats)
    ]
    names = ("imports", "first run, compiled", "next run", "report", "pictures")
    print()
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        print(f"{name:29} {statistics.median(column):6.2f}")


if __name__ == "__main__":
    main()
