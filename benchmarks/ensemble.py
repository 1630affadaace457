"""Many motions at once: diffmech against heyoka, the usual JAX program and SciPy.

For each workload of `ensemble_peers.py`, at equal accuracy: the median error over the regular lanes
at the end, against heyoka at 1e-15, is at most 3e-7. Each program gets the loosest tolerance that
meets this, found on one core; all cores then run with the same. SciPy has one core in any case.

    SciPy       DOP853, the right-hand side in Python, hand-derived; 32 of the starts
    usual       vmap(diffeqsolve), Tsit5, jax.hessian and jnp.linalg.solve; 512 of the starts
    accel.      the same with `diffmech.acceleration`
    heyoka      Taylor series in SIMD batches, equations written by hand; all starts
    diffmech    `dm.ensemble` of the plain Lagrangian with its default method; all starts
    fixed       the same with the parameters written into the program, as heyoka has them

A shared machine is half as fast again at some minutes as at others. So the programs take turns, and
a ratio is the median over the rounds of what two programs took in the same round; the first three
take part in three rounds only. Times in the table are minima per trajectory, compilation apart. One
core means a process that may use no other. First calls are in fresh processes on all cores.

    python benchmarks/ensemble.py [--only babyboot] [--lanes 256] [--repeats 15] [--json out.json]
"""

import argparse
import bisect
import json
import math
import os
import platform
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import diffrax
import ensemble_lanes as lanes
import ensemble_peers as peers
import heyoka  # pyright: ignore[reportMissingImports]
import jax
import numpy as np
import scipy
from ensemble_heyoka import Team
from ensemble_lanes import Worker
from ensemble_peers import Run, Workload

GOAL = 3e-7  # median error, in rad and rad/s
TOLS = tuple(10.0 ** -(5 + k / 4) for k in range(17))  # 1e-5 to 1e-9
# How many times faster than heyoka, the usual program and SciPy diffmech is to be.
TARGETS = {
    "babyboot": {"heyoka": 1.3, "usual": 60, "SciPy": 1000},
    "n_link:n=2": {"heyoka": 1.0, "usual": 40},
    "n_link:n=3": {"heyoka": 1.0, "usual": 40},
    "n_link:n=5": {"usual": 30},
}
SLOW = ("SciPy", "usual", "acceleration")
FIRST_CALL = {"babyboot": 6.0, "n_link:n=3": 15.0, "n_link:n=5": 30.0}  # at most [s]
TANGENTS = {"babyboot": 2.5, "n_link:n=3": 2.5}  # at most, times the plain run

Point = dict[str, Any]


def _point(work: Workload, run: Run) -> Point:
    """A run as numbers for the record."""
    gaps = np.max(np.abs(run.ends - work.ends[run.lanes]), axis=1)[work.regular[run.lanes]]
    return {
        "how": run.how,
        "tol": run.tol,
        "us_per_trajectory": 1e6 * run.seconds,
        "error": work.error(run),
        "worst_error": float(np.max(gaps)) if len(gaps) else math.nan,
        "lanes": len(run.lanes),
        "failed": int(np.sum(~np.isfinite(run.ends).all(axis=1))),
        "compile_seconds": run.compile_seconds,
    }


def _meets(point: Point) -> bool:
    return point["error"] <= GOAL


def _best(points: Sequence[Point]) -> Point:
    """The one with the loosest tolerance that meets the goal, or else the most accurate."""
    good = [point for point in points if _meets(point)]
    if good:
        return min(good, key=lambda point: (-point["tol"], point["us_per_trajectory"]))
    return min(points, key=lambda point: np.nan_to_num(point["error"], nan=math.inf))


def _loosest(work: Workload, run: Callable[[float], Run], tols: Sequence[float]) -> Point:
    """The point at the loosest tolerance that meets the goal, by bisection."""
    points: list[Point] = []

    def meets(tol: float) -> bool:
        points.append(_point(work, run(tol)))
        return _meets(points[-1])

    bisect.bisect_left(tols, True, key=meets)
    return {**_best(points), "compile_seconds": max(point["compile_seconds"] for point in points)}


class Rounds:
    """Programs that take turns; every run's seconds a trajectory by program, nan for none."""

    def __init__(self, work: Workload):
        self._work = work
        self.best: dict[str, Point] = {}
        self.seconds: dict[str, list[float]] = {}

    def run(self, programs: dict[str, Callable[[], Run]], repeats: int) -> None:
        """The slow ones run in the first three rounds only. What they took is shown."""
        took = {who: np.full(repeats, np.nan) for who in programs}
        for i in range(repeats):
            for who, program in programs.items():
                if i < 3 or who not in SLOW:
                    run = program()
                    took[who][i] = run.seconds
                    if i == 0:
                        self.best[who] = {**_point(self._work, run), **self.best.get(who, {})}
                        self.best[who]["how"] = run.how
        for who, seconds in took.items():
            self.best[who]["us_per_trajectory"] = 1e6 * float(np.nanmin(seconds))
            self.seconds[who] = seconds.tolist()
            _show(self.best[who])

    def ratio(self, of: str, to: str) -> float:
        """How many times longer one took than another in the same round, median over rounds."""
        return float(np.nanmedian(np.divide(self.seconds[of], self.seconds[to])))


def _show(point: Point) -> None:
    notes = [] if _meets(point) else ["misses the goal"]
    if point["failed"]:
        notes.append(f"{point['failed']} failed")
    print(
        f"  {point['how']:52}{point['tol']:9.1e}{point['us_per_trajectory']:11.1f} us"
        f"{point['error']:9.1e}{point['lanes']:7d}{point['compile_seconds']:8.2f} s"
        + "".join(f"  {note}" for note in notes),
        flush=True,
    )


def _judge(what: str, value: float, target: float | None, *, least: bool = True) -> Point:
    """One line of the verdict: at least the target, or at most."""
    reached = None if target is None else (value >= target if least else value <= target)
    verdict = ""
    if reached is not None:
        sign = ">=" if least else "<="
        verdict = f"target {sign} {target:g}: {'reached' if reached else 'not reached'}"
    print(f"    {what:46}{value:9.3g}   {verdict}".rstrip(), flush=True)
    return {"what": what, "value": value, "target": target, "reached": reached}


def measure(name: str, count: int | None, repeats: int, tols: Sequence[float]) -> dict[str, Any]:
    """All runs of one workload and the ratios, printed as they come."""
    work = peers.workload(name, count)
    print(
        f"{name}: {len(work.q0s)} starts, {work.duration:g} s, {np.mean(work.regular):.0%} regular"
    )
    rounds = Rounds(work)
    with (
        Worker(tuned=False, one_core=True) as plain,
        Worker(tuned=True, one_core=True) as tuned,
    ):
        runs: dict[str, Callable[[float], Run]] = {
            **{who: partial(plain, lanes.slow_peer, who, name, count) for who in SLOW},
            "heyoka": lambda tol: plain(lanes.heyoka, name, count, tol, 1),
            "diffmech": lambda tol: tuned(lanes.diffmech, name, count, tol, False),
            "fixed": lambda tol: tuned(lanes.diffmech, name, count, tol, True),
        }
        rounds.best = {who: _loosest(work, run, tols) for who, run in runs.items()}
        tol = {who: point["tol"] for who, point in rounds.best.items()}
        with Team(work.problem, tol["heyoka"], 1) as team:
            turns: dict[str, Callable[[], Run]] = {
                who: partial(run, tol[who]) for who, run in runs.items()
            }
            rounds.run({**turns, "heyoka": team.run}, repeats)
        times = tuned(lanes.tangents, name, count, repeats) if name in TANGENTS else None
    with Worker(tuned=True) as tuned, Team(work.problem, tol["heyoka"]) as team:
        first, later = tuned(lanes.first_call, name, count)
        fixed = tuned(lanes.diffmech, name, count, tol["fixed"], True)
        rounds.best["diffmech, all cores"] = {"compile_seconds": first}
        rounds.best["fixed, all cores"] = {"compile_seconds": fixed.compile_seconds}
        rounds.run(
            {
                "heyoka, all cores": team.run,
                "diffmech, all cores": lambda: tuned(
                    lanes.diffmech, name, count, tol["diffmech"], False
                ),
                "fixed, all cores": lambda: tuned(lanes.diffmech, name, count, tol["fixed"], True),
            },
            repeats,
        )
    ratio = rounds.ratio
    targets = TARGETS.get(name, {})
    verdicts = [
        _judge(f"{who} / diffmech, one core", ratio(who, "diffmech"), targets.get(who))
        for who in (*SLOW, "heyoka")
    ]
    of, to = "heyoka, all cores", "diffmech, all cores"
    verdicts += [
        _judge("heyoka / diffmech, all cores", ratio(of, to), targets.get("heyoka")),
        _judge("heyoka / fixed, one core", ratio("heyoka", "fixed"), None),
        _judge("heyoka / fixed, all cores", ratio(of, "fixed, all cores"), None),
    ]
    if times is not None:
        what, most = "with the growth of a neighbour / plain", TANGENTS[name]
        verdicts.append(_judge(what, times[1] / times[0], most, least=False))
    what, most = "first call, trace and compile [s]", FIRST_CALL.get(name)
    verdicts.append(_judge(what, first, most, least=False))
    what = "compiled again for other numbers [s]"
    verdicts.append(_judge(what, later, 0.0, least=False))
    return {
        "name": name,
        "starts": len(work.q0s),
        "duration": work.duration,
        "regular": float(np.mean(work.regular)),
        "best": rounds.best,
        "seconds": rounds.seconds,
        "verdicts": verdicts,
    }


def _machine() -> dict[str, Any]:
    modules = {"jax": jax, "diffrax": diffrax, "heyoka": heyoka, "scipy": scipy, "numpy": np}
    return {
        "cores": len(os.sched_getaffinity(0)),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        **{name: module.__version__ for name, module in modules.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Ensembles at equal accuracy")
    parser.add_argument("--only", default="", help="workloads whose name starts so")
    parser.add_argument("--lanes", type=int, help="starts, instead of each workload's own number")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--tols", type=float, nargs="+", default=list(TOLS), help="loose to tight")
    parser.add_argument("--json", type=Path, default=Path("ensemble.json"))
    options = parser.parse_args()
    machine = _machine()
    print(
        f"{machine['cores']} cores, load {machine['load']:.2f}; median error at most {GOAL:.0e}\n"
        f"{'':54}{'tol':>9}{'a trajectory':>14}{'error':>9}{'lanes':>7}{'compiled':>10}"
    )
    record = {"goal": GOAL, "machine": machine, "workloads": []}
    for name in peers.WORKLOADS:
        if name.startswith(options.only):
            row = measure(name, options.lanes, options.repeats, options.tols)
            record["workloads"].append(row)
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
