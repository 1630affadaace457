"""What does a fit cost, against SciPy, by length of record, and with many guesses?

    a  a laboratory's double pendulum, angles of 26 pieces: `dm.fit` against SciPy's `least_squares`
       with the pattern of the Jacobian, finite differences and a compiled, vmapped `dm.simulate`;
       the same residuals, until the same cost. Parameters start as those of rods of 0.17 m, or as
       published, next to the answer. SciPy is given the published rates as well, which `dm.fit` is
       not, and is stopped after --patience times the time of the fit: then a ratio is no result
    b  values and Jacobian of all segments against values alone, both compiled
    c  256 guesses against one, a chaotic babyboot of 10 s
    d  seconds by length of a chaotic record
    e  the first fit of the babyboot in a process, imports and compilation included

Every part has a process of its own, without kept programs; b, c, d and the warm times of a with
`dm.tune_cpu()`, unless --untuned. Times are minima over repeats, wall and CPU.

    python benchmarks/identification.py [--only a,b] [--pieces 26] [--repeats 3] [--untuned]
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from identification_scipy import (
    FREE,
    NOISE,
    RTOL,
    SAME,
    by_scipy,
    fit_pendulum,
    pendulum,
    pieces_of,
)
from matplotlib.figure import Figure

import diffmech as dm
from diffmech.identification._free import free_numbers
from diffmech.identification._guess import half_windows, states_from_samples
from diffmech.identification._measure import as_measure
from diffmech.identification._segments import cut, deal
from diffmech.identification._shots import Machine

BOOT_NOISE = np.deg2rad(0.5)
PLATE = ["IBx", "IBy", "IBz"]
LENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)  # [s]


def least(run: Callable[[], Any], repeats: int) -> dict[str, float]:
    """The smallest wall and CPU seconds; what has to be compiled is compiled before."""
    run()
    best = {"wall": np.inf, "cpu": np.inf}
    for _ in range(repeats):
        clock, cpu = time.perf_counter(), time.process_time()
        run()
        took = {"wall": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
        best = {name: min(best[name], took[name]) for name in best}
    return best


def against_scipy(options: argparse.Namespace) -> dict[str, Any]:
    """Both, warm, from one start."""
    pieces, near = pieces_of(options.pieces), options.near
    fit = fit_pendulum(near, pieces)
    ours = least(lambda: fit_pendulum(near, pieces), options.repeats)
    theirs = by_scipy(near, pieces, fit.chi2 / 2, options.patience * ours["wall"])
    return {"ours": ours, "scipy": theirs, "cost": fit.chi2 / 2, "settled": fit.converged}


def jacobian(options: argparse.Namespace) -> dict[str, Any]:
    """Segments of all pieces as a fit shoots them, with and without derivatives."""
    pieces, system = tuple(pieces_of(options.pieces)), pendulum(near=True)
    segments = cut(pieces, 0.08, 0.0, 0.0)
    noise, measure = np.full(2, NOISE), as_measure(system, list(pieces), None)
    halves = half_windows(pieces, noise)
    starts = states_from_samples(pieces, segments, [0, 1], [-1, -1], halves)
    wide = len(segments.start)
    machine = Machine(
        system, free_numbers(system, FREE), measure.function, 2, RTOL, wide, timed=False
    )
    free = machine.free
    given = (
        starts,
        np.tile(free.start / free.scale, (wide, 1)),
        segments.start,
        segments.end - segments.start,
        deal(pieces, segments, noise).times,
    )

    @jax.jit
    def values(starts: Any, z: Any, t0: Any, duration: Any, times: Any) -> Any:
        own, x = system.params, z * free.scale
        fixed = {"lengths": own.lengths[1], "centres": own.centres[1]}
        changed = {
            name: jnp.stack([x[:, i], jnp.full(wide, fixed[name])], axis=1)
            for i, name in enumerate(fixed)
        }
        changed |= {"inertias": x[:, 2:4], "frictions": x[:, 4:6]}
        return dm.ensemble(
            system, starts[:, :2], starts[:, 2:], t0=t0, duration=duration, params=changed,
            rtol=RTOL, reduce={"samples": dm.reducers.Samples(times), "last": "last"},
        ).values  # fmt: skip

    repeats = 5 * options.repeats
    return {
        "plain": least(lambda: jax.block_until_ready(values(*given)), repeats),
        "both": least(lambda: machine.shoot(*given), repeats),
        "columns": machine.size + len(free.leaves),
        "lanes": wide,
    }


def boot_record(duration: float) -> dm.Record:
    """A chaotic babyboot, 100 samples a second."""
    boot = dm.systems.babyboot().with_params(IBx=2.3e-4)
    ts = np.linspace(0.0, duration, round(100 * duration) + 1)
    run = dm.simulate(boot, np.deg2rad([90.0, 1.0]), ts=ts, rtol=1e-10)
    noise = BOOT_NOISE * np.random.default_rng(0).normal(size=(len(ts), 2))
    return dm.Record(ts, np.asarray(run.qs) + noise, ("qA", "qB"), noise=BOOT_NOISE)


def fit_boot(record: dm.Record, guesses: int = 1) -> dm.Fit:
    boot = dm.systems.babyboot().with_params(IBx=3e-4, IBy=0.9e-4, IBz=2.9e-4)
    return dm.fit(boot, record, PLATE, guesses=guesses)


def many_guesses(options: argparse.Namespace) -> dict[str, Any]:
    record = boot_record(10.0)
    one = least(lambda: fit_boot(record), 2 * options.repeats)
    return {"one": one, "many": least(lambda: fit_boot(record, options.guesses), 1)}


def by_length(options: argparse.Namespace) -> list[dict[str, Any]]:
    whole, rows = boot_record(max(options.lengths)), []
    for length in options.lengths:
        record = whole.between(0.0, length)
        settled = fit_boot(record).converged  # compiles
        clock, cpu = time.perf_counter(), time.process_time()
        steps = fit_boot(record).settings["steps"]
        took = {"wall": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
        rows.append({**took, "length": length, "settled": settled, "steps": steps})
    return rows


def cold(run: Callable[[], Any]) -> dict[str, Any]:
    run()
    return {"cpu": time.process_time()}


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "a": against_scipy,
    "b": jacobian,
    "c": many_guesses,
    "d": by_length,
    "cold fit": lambda o: cold(lambda: fit_pendulum(o.near, pieces_of(o.pieces))),
    "cold scipy": lambda o: cold(lambda: by_scipy(o.near, pieces_of(o.pieces), o.goal, np.inf)),
    "e": lambda o: cold(lambda: fit_boot(boot_record(10.0))),
}


def part(name: str, options: argparse.Namespace, **more: Any) -> Any:
    """What a part says, from a fresh process, with its wall seconds where it is cold."""
    told = json.dumps({**vars(options), **more, "part": name}, default=str)
    command = [sys.executable, str(Path(__file__).resolve()), "--told", told]
    clock = time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True,
        env=os.environ | {"DIFFMECH_CACHE": "0"},
    )  # fmt: skip
    said = json.loads(done.stdout.splitlines()[-1])
    return said if isinstance(said, list) else {"wall": time.perf_counter() - clock, **said}


def line(name: str, took: dict[str, float], target: str = "") -> None:
    print(f"{name:56}{took['wall']:9.4g}{took['cpu']:9.4g}  {target}".rstrip(), flush=True)


def over(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {name: a[name] / b[name] for name in ("wall", "cpu")}


def show_a(options: argparse.Namespace) -> None:
    print(f"double pendulum, {options.pieces} pieces, 6 parameters, 2 offsets, all starts")
    for near, label in ((False, "uniform rods"), (True, "next to the answer")):
        said = part("a", options, near=near)
        ours, theirs, goal = said["ours"], said["scipy"], said["cost"]
        line(f"a  fit from {label}, compiled before", ours)
        ended = theirs["cost"] <= goal * (1 + SAME)
        line(f"   SciPy, {theirs['jacobians']} Jacobians", theirs)
        words = "x, target 20 or more" if ended else "x when it was stopped: more than that"
        line("   SciPy over fit", over(theirs, ours), words)
        words = "reached" if ended else "NOT reached, stopped at"
        print(f"   cost {goal:.6g}, by SciPy {words} {theirs['cost']:.6g}")
        if ended:
            alone = part("cold fit", options, near=near, untuned=True)
            other = part("cold scipy", options, near=near, goal=goal, untuned=True)
            line("   fit in a fresh process, everything included", alone)
            line("   SciPy likewise, until the same cost", other)
            line("   SciPy over fit", over(other, alone), "x, target more than 1")


def show_b(options: argparse.Namespace) -> None:
    said = part("b", options)
    line(f"b  {said['lanes']} segments, values", said["plain"])
    line(f"   with {said['columns']} columns of derivatives", said["both"])
    line("   over values", over(said["both"], said["plain"]), f"x, target {1 + said['columns']}")


def show_c(options: argparse.Namespace) -> None:
    said = part("c", options)
    line("c  babyboot, 10 s, one guess", said["one"])
    line(f"   {options.guesses} guesses", said["many"])
    line("   over one", over(said["many"], said["one"]), "x, target 40 at most for 256")


def show_d(options: argparse.Namespace) -> None:
    rows = part("d", options)
    for row in rows:
        words = "" if row["settled"] else "not converged"
        line(f"d  babyboot, {row['length']:g} s of chaos", row, words)
    lengths = np.array([row["length"] for row in rows])
    slopes = {
        kind: float(np.polyfit(np.log(lengths), np.log([row[kind] for row in rows]), 1)[0])
        for kind in ("wall", "cpu")
    }
    line("   power of the length, all of them", slopes, "target 1 at most")
    figure = Figure(figsize=(4.5, 3.2), layout="constrained")
    axes = figure.subplots()
    for i, (kind, label) in enumerate((("wall", "wall"), ("cpu", "CPU"))):
        axes.loglog(lengths, [row[kind] for row in rows], "os"[i], color=f"C{i}", label=label)
    axes.loglog(
        lengths, rows[-1]["cpu"] * lengths / lengths[-1], "--", color="0.55", label="linear"
    )
    axes.set(xlabel="length of the record [s]", ylabel="time of a fit, compiled before [s]")
    axes.legend(frameon=False)
    axes.grid(color="0.92")
    options.plot.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.plot, dpi=200)


def show_e(options: argparse.Namespace) -> None:
    said = part("e", options, untuned=True)
    line("e  first fit of a babyboot, everything included", said, "s, target less than 30")


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of fits")
    parser.add_argument("--only", default="a,b,c,d,e", help="parts, by comma")
    parser.add_argument("--pieces", type=int, default=26, help="of the double pendulum")
    parser.add_argument("--guesses", type=int, default=256)
    parser.add_argument("--lengths", type=float, nargs="+", default=list(LENGTHS), help="[s]")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=50.0, help="with SciPy, in fits")
    parser.add_argument("--untuned", action="store_true")
    parser.add_argument("--plot", type=Path, default=Path("results/identification.png"))
    parser.add_argument("--told", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.told:
        told = argparse.Namespace(**json.loads(options.told))
        if not told.untuned and not (tuning := dm.tune_cpu()).active:
            print(f"not tuned: {tuning.verdict}", file=sys.stderr)
        print(json.dumps(PARTS[told.part](told)))
        return
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':56}{'wall [s]':>9}{'CPU [s]':>9}")
    shows = {"a": show_a, "b": show_b, "c": show_c, "d": show_d, "e": show_e}
    for name in options.only.split(","):
        shows[name](options)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
