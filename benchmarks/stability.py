"""What do stability maps and band edges cost, and are their verdicts right?

The babyboot, motions of 10 s, unstable where the plate turns by 90°, all cores, tuned:

    chart      18001 releases, 0.01° apart; the whole life of a fresh process, compilation included
    area       1000 x 1000 starts (qA, qB), with compilation
    overhead   time a point of a map / time a motion of `dm.ensemble` that keeps the last state, on
               the same starts: where no motion ends early, and where tumbling ones do
    edges      the three edges along qA by Floquet, compiled before
    usual      vmap(diffeqsolve), Tsit5, the same tolerance: time a motion, in a process of its own
               that is not tuned; needs heyoka, whose benchmark it is taken from
    verdicts   random points of the area against SciPy's DOP853 at 1e-12, equations by hand; points
               count whose neighbours on the map, two steps each way, all have the same verdict

Running times are minima over repeats that take turns. Processes run one after the other.

    python benchmarks/stability.py [--side 1000] [--repeats 3] [--verdicts 200] [--quick]
"""

import argparse
import importlib.util
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import diffmech as dm

RTOL = 1e-8
DURATION = 10.0  # [s]
TUMBLE = dm.criteria.Tumble("qB")
NEVER = dm.criteria.Tumble("qB", 1e6)
SPANS = ((0.0, math.pi), (math.radians(0.1), math.radians(30.0)))  # of qA and qB [rad]
OVERHEAD_POINTS = 32768
AROUND = 2  # steps of the area's grid


def chart(points: int) -> dict[str, Any]:
    """The chart along qA with qB = 1°: the shares and the seconds without imports."""
    clock = time.perf_counter()
    boot, axes = dm.systems.babyboot(), {"qA": (0.0, math.pi, points)}
    charted = dm.stability_map(boot, axes, TUMBLE, DURATION, q0={"qB": math.radians(1)}, rtol=RTOL)
    return {
        "seconds": time.perf_counter() - clock,
        "unstable": float(np.mean(charted.verdicts == 1)),
    }


def area(side: int) -> tuple[dm.StabilityMap, float]:
    """The area, and the seconds it took with compilation."""
    clock = time.perf_counter()
    axes = {"qA": (*SPANS[0], side), "qB": (*SPANS[1], side)}
    charted = dm.stability_map(dm.systems.babyboot(), axes, TUMBLE, DURATION, rtol=RTOL)
    return charted, time.perf_counter() - clock


def overhead(points: int, repeats: int) -> dict[str, float]:
    """Seconds a motion: of the bare ensemble, of the map without and with early ends."""
    boot, qA = dm.systems.babyboot(), np.linspace(*SPANS[0], points)
    qB = math.radians(1.0)
    runs: dict[str, Callable[[], Any]] = {
        "bare": lambda: dm.ensemble(
            boot, {"qA": qA, "qB": np.full(points, qB)}, duration=DURATION, rtol=RTOL
        ),
        "never": lambda: dm.stability_map(
            boot, {"qA": qA}, NEVER, DURATION, q0={"qB": qB}, rtol=RTOL
        ),
        "tumble": lambda: dm.stability_map(
            boot, {"qA": qA}, TUMBLE, DURATION, q0={"qB": qB}, rtol=RTOL
        ),
    }
    best = dict.fromkeys(runs, math.inf)
    for turn in range(repeats + 1):  # the first compiles
        for name, run in runs.items():
            clock = time.perf_counter()
            run()
            if turn:
                best[name] = min(best[name], (time.perf_counter() - clock) / points)
    return best


def edges(repeats: int) -> dict[str, Any]:
    """The three edges [deg], and the seconds for those of other plates, compiled before."""
    boot = dm.systems.babyboot()
    located = dm.band_edges(boot, "qA")
    best = math.inf
    for i in range(repeats):
        other = boot.with_params(IBx=(2.5 - 0.01 * (i + 1)) * 1e-4)
        clock = time.perf_counter()
        dm.band_edges(other, "qA")
        best = min(best, time.perf_counter() - clock)
    return {"values": np.degrees(located.values).tolist(), "seconds": best}


def tumbles_by_scipy(qA: float, qB: float) -> bool:
    """Whether |qB| reaches 90° within 10 s, by the source's two equations and numbers.

    (I + IBx cos² qB + IBy sin² qB) q̈A = 2 (IBx − IBy) sin qB cos qB q̇A q̇B − W sin qA
    IBz q̈B = −(IBx − IBy) sin qB cos qB q̇A²
    """
    still, weight = 5e-6 + 0.01 * 0.075**2 + 0.1 * 0.2**2, (0.01 * 0.075 + 0.1 * 0.2) * 9.81
    big, small, spin = 2.5e-4, 0.5e-4, 2e-4

    def rate(_t: float, x: np.ndarray) -> list[float]:
        a, b, wa, wb = x.tolist()
        sin, cos = math.sin(b), math.cos(b)
        hinge = still + big * cos**2 + small * sin**2
        turn = (2 * (big - small) * sin * cos * wa * wb - weight * math.sin(a)) / hinge
        return [wa, wb, turn, -(big - small) / spin * sin * cos * wa**2]

    def over(_t: float, x: np.ndarray) -> float:
        return abs(x[1]) - math.pi / 2

    over.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    start = [qA, qB, 0.0, 0.0]
    run = solve_ivp(
        rate, (0.0, DURATION), start, method="DOP853", rtol=1e-12, atol=1e-12, events=over
    )
    return run.status == 1


def verdicts(made: dm.StabilityMap, count: int) -> dict[str, int]:
    """How many random points were asked, of these how many tumble, and how many differ."""
    rng, size = np.random.default_rng(0), made.verdicts.shape[0]
    asked = tumbled = differ = 0
    while asked < count:
        i, j = rng.integers(AROUND, size - AROUND, 2)
        around = made.verdicts[i - AROUND : i + AROUND + 1, j - AROUND : j + AROUND + 1]
        if np.ptp(around) or around[0, 0] > 1:
            continue
        theirs = tumbles_by_scipy(float(made.axes[0].grid[i]), float(made.axes[1].grid[j]))
        asked, tumbled = asked + 1, tumbled + theirs
        differ += theirs != bool(around[0, 0])
    return {"asked": asked, "tumbled": tumbled, "differ": differ}


def usual() -> dict[str, float]:
    """Seconds a motion of the usual JAX program at the same tolerance, on 512 starts."""
    sys.path.insert(0, str(Path(__file__).parent))
    from ensemble_lanes import slow_peer

    return {"seconds": slow_peer("usual", "babyboot", None, RTOL).seconds}


def tuned(options: argparse.Namespace) -> dict[str, Any]:
    """Everything of the tuned process but the chart, which has one of its own."""
    if not (tuning := dm.tune_cpu()).active:
        print(f"not tuned: {tuning.verdict}", file=sys.stderr)
    charted, seconds = area(options.side)
    return {
        "area": seconds,
        "undecided": int(np.sum(charted.verdicts > 1)),
        "overhead": overhead(options.points, options.repeats),
        "edges": None if options.quick else edges(options.repeats),
        "verdicts": verdicts(charted, options.verdicts),
    }


def part(name: str, options: argparse.Namespace) -> Any:
    """What a part says, from a process of its own, and its wall time [s]."""
    numbers = ("side", "points", "chart", "repeats", "verdicts")
    words = [word for key in numbers for word in (f"--{key}", str(getattr(options, key)))]
    words += ["--quick"] if options.quick else []
    command = [sys.executable, str(Path(__file__).resolve()), "--part", name, *words]
    clock = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]), time.perf_counter() - clock


def report(name: str, value: float, unit: str, wanted: float | None = None) -> None:
    """A line of the table."""
    line = f"{name:52}{value:10.3g} {unit:3}"
    if wanted is not None:
        wish = f"{wanted:g} {unit}".rstrip()
        line += f"  wanted {wish}: {'' if value <= wanted else 'not '}reached"
    print(line.rstrip(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost and truth of stability maps")
    parser.add_argument("--side", type=int, default=1000, help="points of the area a side")
    parser.add_argument("--points", type=int, default=OVERHEAD_POINTS, help="of the overhead")
    parser.add_argument("--chart", type=int, default=18001, help="points of the chart")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--verdicts", type=int, default=200, help="points checked with SciPy")
    parser.add_argument("--quick", action="store_true", help="small numbers, no edges, no peer")
    parser.add_argument("--part", choices=("chart", "tuned", "usual"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        said = {
            "chart": lambda: dm.tune_cpu() and chart(options.chart),
            "tuned": lambda: tuned(options),
            "usual": usual,
        }[options.part]()
        print(json.dumps(said))
        return
    if options.quick:
        options.side, options.points, options.chart = 60, 4096, 1801
        options.repeats, options.verdicts = 1, 5

    print("babyboot, 10 s, rtol 1e-8, all cores")
    said, wall = part("chart", options)
    report(f"chart of {options.chart} points, a whole process", wall, "s", 10)
    report("  of which without starting Python and JAX", said["seconds"], "s")
    said, _ = part("tuned", options)
    report(f"area of {options.side} x {options.side} points", said["area"], "s", 60)
    costs = said["overhead"]
    report("a motion of the bare ensemble", 1e6 * costs["bare"], "us")
    report("a point of a map where nothing ends early", 1e6 * costs["never"], "us")
    report("  over a motion of the bare ensemble", costs["never"] / costs["bare"], "x", 1.3)
    report("a point of a map where what tumbles ends", 1e6 * costs["tumble"], "us")
    report("  over a motion of the bare ensemble", costs["tumble"] / costs["bare"], "x", 1.3)
    if said["edges"]:
        report("three edges by Floquet, compiled before", said["edges"]["seconds"], "s", 5)
        print("  " + ", ".join(f"{x:.8f}°" for x in said["edges"]["values"]))
    checked = said["verdicts"]
    report(f"verdicts of {checked['asked']} points unlike SciPy's", checked["differ"], "", 0)
    print(f"  {checked['tumbled']} of them tumble; {said['undecided']} of the area undecided")
    if options.quick:
        return
    if importlib.util.find_spec("heyoka") is None:
        print("the usual JAX program: left out, as heyoka is not installed")
        return
    said, _ = part("usual", options)
    report("a motion of the usual JAX program", 1e6 * said["seconds"], "us")
    report("  over a point of the map", said["seconds"] / costs["tumble"], "x")


if __name__ == "__main__":
    main()
