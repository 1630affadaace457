"""heyoka's Taylor integrator on the machines of the ensemble benchmark, one core and all cores.

heyoka gets what is fastest for it: equations written by hand, lanes in SIMD batches of half its
recommended size to four times as much (a trial decides: with AVX-512 it recommends 4, and 8 or 16
are up to 1.6 times as fast), unrolled code rather than `compact_mode` (1.3 to 2.7 times slower
here), `high_accuracy` off and `fast_math` on. `force_avx512` and `slp_vectorize` change nothing.

Neither JAX nor diffmech is imported here, so that worker processes start fast.
"""

import multiprocessing
import os
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

import heyoka as hy  # pyright: ignore[reportMissingImports]
import numpy as np
from ensemble_equations import MACHINES, Equations

hy.llvm_state.set_diskcache_enabled(False)  # else only the first run of all would compile


@dataclass(frozen=True)
class Problem:
    """Starts of one machine: plain numbers, so that it travels to other processes."""

    name: str  # the system's, "n_link:n=3"
    numbers: dict[str, Any]  # the system's parameters, by field
    q0s: np.ndarray  # (lanes, n)
    qd0s: np.ndarray  # (lanes, n)
    duration: float  # [s]


@dataclass(frozen=True)
class Run:
    """What one integrator did at one tolerance."""

    how: str
    tol: float
    seconds: float  # per trajectory, compilation apart
    compile_seconds: float
    lanes: np.ndarray  # which starts were run, (lanes run,)
    ends: np.ndarray  # (q, q̇) at the end, (lanes run, 2n)


def equations(problem: Problem, route: str = "hand") -> Equations:
    """The problem's equations; `route` is "hand" or "lagrangian"."""
    return MACHINES[problem.name.split(":")[0]](problem.numbers, route)


def accelerations(problem: Problem, route: str = "hand") -> np.ndarray:
    """q̈ at the starts, shape (lanes, n) [rad/s²]."""
    system = equations(problem, route)
    return _evaluated(system.accelerations, system, _states(problem, len(system.odes)))


def _states(problem: Problem, size: int) -> np.ndarray:
    return np.concatenate([problem.q0s, problem.qd0s], axis=1)[:, :size]


def _evaluated(what: list[Any], made: Equations, states: np.ndarray) -> np.ndarray:
    function = hy.cfunc(what, [variable for variable, _ in made.odes])
    return function(np.ascontiguousarray(states.T)).T


def _ends(made: Equations, states: np.ndarray) -> np.ndarray:
    """(q, q̇) of states, shape (lanes, 2n)."""
    rates = _evaluated(made.rates, made, states)
    return np.concatenate([states[:, : len(made.rates)], rates], axis=1)


def _compiled(made: Equations, tol: float, batch: int, fast: bool = True) -> tuple[Any, float]:
    """An integrator and the seconds it took to compile."""
    hy.llvm_state.clear_memcache()
    clock = time.perf_counter()
    zeros = np.zeros((len(made.odes), batch))
    solver = hy.taylor_adaptive_batch(made.odes, zeros, tol=tol, fast_math=fast)
    return solver, time.perf_counter() - clock


def _blocks(problem: Problem, size: int, batch: int) -> np.ndarray:
    """Starts in batches, shape (batches, size, batch); the last is filled up with its last lane."""
    states = _states(problem, size)
    states = np.concatenate([states, states[-1:].repeat(-len(states) % batch, axis=0)])
    return np.ascontiguousarray(states.reshape(-1, batch, size).transpose(0, 2, 1))


def _integrate(solver: Any, blocks: np.ndarray, duration: float) -> tuple[np.ndarray, float]:
    """End states in the blocks' shape, and the seconds it took."""
    ends = np.empty_like(blocks)
    clock = time.perf_counter()
    for start, end in zip(blocks, ends, strict=True):
        solver.state[:] = start
        solver.set_time(0.0)
        solver.propagate_until(duration)
        end[:] = solver.state
    return ends, time.perf_counter() - clock


def best_batch(problem: Problem, tol: float, route: str = "hand") -> int:
    """Lanes a batch: heyoka's recommendation, or half to four times it, by a trial on some starts.

    These are 16 batches of the largest kind, spread over all, which take turns.
    """
    full = hy.recommended_simd_size()
    sizes = (max(full // 2, 1), full, 2 * full, 4 * full)
    count = len(problem.q0s)
    firsts = np.linspace(0, max(count - 4 * full, 0), 16).astype(int)
    lanes = np.minimum((firsts[:, None] + np.arange(4 * full)).ravel(), count - 1)
    trial = replace(problem, q0s=problem.q0s[lanes], qd0s=problem.qd0s[lanes])
    system = equations(problem, route)
    runs = [
        (_compiled(system, tol, size)[0], _blocks(trial, len(system.odes), size)) for size in sizes
    ]
    seconds = [[_integrate(*run, problem.duration)[1] for run in runs] for _ in range(12)]
    return sizes[int(np.argmin(np.min(seconds, axis=0)))]


def _lanes(made: Equations, ends: np.ndarray, count: int) -> np.ndarray:
    return _ends(made, ends.transpose(0, 2, 1).reshape(-1, len(made.odes))[:count])


def one_core(problem: Problem, tol: float, route: str = "hand", repeats: int = 3) -> Run:
    """All starts on one core; the least time over repeats."""
    system, count = equations(problem, route), len(problem.q0s)
    solver, compiling = _compiled(system, tol, batch := best_batch(problem, tol, route))
    blocks = _blocks(problem, len(system.odes), batch)
    runs = [_integrate(solver, blocks, problem.duration) for _ in range(repeats)]
    return Run(
        f"heyoka {hy.__version__}, {route}, batch {batch}, one core",
        tol,
        min(seconds for _, seconds in runs) / count,
        compiling,
        np.arange(count),
        _lanes(system, runs[0][0], count),
    )


class Team:
    """One process a core, batches dealt out in turn; a context manager.

    A single one may run on the last core only.
    """

    def __init__(self, problem: Problem, tol: float, cores: int | None = None):
        usable = os.sched_getaffinity(0)
        self._problem, self._tol = problem, tol
        self._cores = cores or len(usable)
        self._batch = best_batch(problem, tol)
        self._lines, self._workers = [], []
        context = multiprocessing.get_context("spawn")
        for core in range(self._cores):
            line, far = context.Pipe()
            share = slice(core, None, self._cores)
            where = {max(usable)} if self._cores == 1 else usable
            worker = context.Process(
                target=_work, args=(far, problem, tol, self._batch, share, where), daemon=True
            )
            worker.start()
            far.close()  # so that a worker's death ends the waiting below
            self._lines.append(line)
            self._workers.append(worker)
        self._compiling = max(line.recv() for line in self._lines)

    def run(self) -> Run:
        """All starts once; the wall time."""
        system, count = equations(self._problem), len(self._problem.q0s)
        ends = np.empty((-(-count // self._batch), len(system.odes), self._batch))
        clock = time.perf_counter()
        for line in self._lines:
            line.send(True)
        for core, line in enumerate(self._lines):
            ends[core :: self._cores] = line.recv()
        seconds = time.perf_counter() - clock
        cores = "one core" if self._cores == 1 else f"{self._cores} cores"
        return Run(
            f"heyoka {hy.__version__}, hand, batch {self._batch}, {cores}",
            self._tol,
            seconds / count,
            self._compiling,
            np.arange(count),
            _lanes(system, ends, count),
        )

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *_: object) -> None:
        for line, worker in zip(self._lines, self._workers, strict=True):
            line.send(False)
            worker.join()


def _work(
    line: Connection, problem: Problem, tol: float, batch: int, share: slice, where: set[int]
) -> None:
    """A worker: compile, say so, then integrate its share of the batches whenever asked."""
    os.sched_setaffinity(0, where)
    system = equations(problem)
    solver, compiling = _compiled(system, tol, batch)
    blocks = _blocks(problem, len(system.odes), batch)[share]
    line.send(compiling)
    while line.recv():
        line.send(_integrate(solver, blocks, problem.duration)[0])


def all_cores(problem: Problem, tol: float, cores: int | None = None, repeats: int = 3) -> Run:
    """A team's best run."""
    with Team(problem, tol, cores) as team:
        return min((team.run() for _ in range(repeats)), key=lambda run: run.seconds)


def reference(problem: Problem) -> np.ndarray:
    """(q, q̇) at the end from heyoka at tol 1e-15 without fast maths, shape (lanes, 2n)."""
    system = equations(problem)
    batch = hy.recommended_simd_size()
    solver, _ = _compiled(system, 1e-15, batch, fast=False)
    blocks = _blocks(problem, len(system.odes), batch)
    return _lanes(system, _integrate(solver, blocks, problem.duration)[0], len(problem.q0s))
