"""What of the ensemble benchmark runs in processes of its own: tuned or not, on one core or on all.

`diffmech.tune_cpu` holds for a whole process and can upset other vmapped programs there, so the
lanes of diffmech and the usual JAX programs never share one. A process for one core may run on no
other, so that no library's threads help it along.
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import ensemble_peers as peers
import jax
import numpy as np
from ensemble_peers import Run, Workload

import diffmech as dm

T = TypeVar("T")

ACCURACY = 1e-8  # the tolerance where all that is compared is diffmech itself


class Worker:
    """A process that calls functions of this module, one at a time; a context manager."""

    def __init__(self, *, tuned: bool, one_core: bool = False):
        context = multiprocessing.get_context("spawn")
        self._line, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, tuned, one_core), daemon=True)
        self._process.start()
        far.close()  # so that the process's death ends the waiting in `__call__`

    def __call__(self, function: Callable[..., T], *arguments: Any) -> T:
        """The result of a function of plain numbers."""
        self._line.send((function, arguments))
        return self._line.recv()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()
        self._process.join()


def _serve(line: Connection, tuned: bool, one_core: bool) -> None:
    os.environ.pop("XLA_FLAGS", None)  # whatever the parent has
    if one_core:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if tuned and not (tuning := dm.tune_cpu()).active:
        print(f"not tuned: {tuning.verdict}", flush=True)
    while True:
        try:
            function, arguments = line.recv()
        except EOFError:
            return
        line.send(function(*arguments))


@cache
def bare(name: str, lanes: int | None) -> Workload:
    """A workload without its reference."""
    starts, count, duration = peers.WORKLOADS[name]
    system, q0s, qd0s = starts(lanes or count)
    nothing = np.empty(0)
    return Workload(name, system, q0s, qd0s, duration, regular=nothing, ends=nothing)


def slow_peer(kind: str, name: str, lanes: int | None, tol: float) -> Run:
    """SciPy, the usual JAX program, or that with `diffmech.acceleration`, on some of the starts."""
    run = {"SciPy": peers.scipy_run, "usual": peers.usual_run, "acceleration": peers.diffmech_run}
    count = 32 if kind == "SciPy" else 512
    return run[kind](bare(name, lanes), tol, count)


def heyoka(name: str, lanes: int | None, tol: float, repeats: int) -> Run:
    """heyoka on one core, equations by hand."""
    return peers.heyoka_run(bare(name, lanes), tol, repeats=repeats)


def _ensemble(
    work: Workload,
    tol: float,
    reduce: Any = None,
    fixed: bool = False,
) -> dm.Ensemble:
    return dm.ensemble(
        work.system,
        work.q0s,
        work.qd0s,
        duration=work.duration,
        rtol=tol,
        reduce=reduce,
        fixed_params=fixed,
        progress=False,
    )


def diffmech(name: str, lanes: int | None, tol: float, fixed: bool) -> Run:
    """One `dm.ensemble` on all devices of this process; lanes that fail end in NaN."""
    run = _ensemble(bare(name, lanes), tol, fixed=fixed)
    ends = np.concatenate(run.values["last"], axis=1)
    ends[~np.asarray(run.ok)] = np.nan
    devices = run.settings["devices"]
    words = [
        "diffmech",
        *["fixed"] * run.settings["fixed_params"],
        run.settings["method"],
        run.settings["form"],
        "one core" if devices == 1 else f"{devices} cores",
    ]
    seconds, lanes_run = run.running / len(ends), np.arange(len(ends))
    return Run(", ".join(words), tol, seconds, run.compiling, lanes_run, ends)


def first_call(name: str, lanes: int | None) -> tuple[float, float]:
    """Seconds of tracing and compiling: of the first call of a process, and of a later one.

    The first is what a first call takes longer than the same again. The later call differs in
    parameters, tolerance, duration and number of lanes; its seconds are by JAX's own count.
    """
    work = bare(name, lanes)
    waits = []
    for _ in range(2):
        clock = time.perf_counter()
        _ensemble(work, ACCURACY)
        waits.append(time.perf_counter() - clock)
    some = slice(0, len(work.q0s) // 2 + 7)
    other = dm.ensemble(
        work.system,
        work.q0s[some],
        work.qd0s[some],
        duration=0.7 * work.duration,
        params=jax.tree.map(lambda leaf: 1.01 * np.asarray(leaf), work.system.params),
        rtol=3 * ACCURACY,
        progress=False,
    )
    return waits[0] - waits[1], other.compiling


def tangents(name: str, lanes: int | None, repeats: int) -> tuple[float, float]:
    """Seconds a trajectory, plain and with the growth of one neighbour; repeats take turns."""
    work = bare(name, lanes)
    growth = dm.reducers.Growth(np.eye(2 * work.system.n)[0])
    kinds = (None, growth)
    run = partial(_ensemble, work, ACCURACY)
    for reduce in kinds:
        run(reduce)
    pairs = [[run(kind).running for kind in kinds] for _ in range(repeats)]
    plain, grown = np.min(pairs, axis=0) / len(work.q0s)
    return float(plain), float(grown)
