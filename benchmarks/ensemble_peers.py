"""What the other integrators need for the workloads of the ensemble benchmark.

    SciPy      DOP853 with a right-hand side in Python, hand-derived, as people write it
    usual      vmap(diffeqsolve), Tsit5, q̈ from jax.hessian and jnp.linalg.solve; constraints by KKT
    diffmech   the same with `diffmech.acceleration`
    heyoka     Taylor series in SIMD batches, one core and all cores (see ensemble_heyoka.py)

Seconds are per trajectory with compilation apart. Errors are max-norms of (q, q̇) at the end
against heyoka at 1e-15, median over the regular lanes. SciPy runs a few starts, spread evenly over
all, and JAX a subset. Run as a script, this checks first that all solve the same equations.

    python benchmarks/ensemble_peers.py [--only babyboot] [--lanes 256] [--tols 1e-6 1e-9]
"""

import argparse
import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import diffrax
import ensemble_heyoka as heyoka
import ensemble_scipy as scipy_peer
import jax
import jax.numpy as jnp
import numpy as np
from ensemble_heyoka import Problem, Run

import diffmech as dm

SHIFT = 1e-9  # [rad/s] of the first rate, between the two references
GROWTH = 1e3  # of the shift, beyond which a motion counts as chaotic


@dataclass(frozen=True)
class Workload:
    """Many starts of one machine, all for the same duration."""

    name: str
    system: dm.System
    q0s: np.ndarray  # (lanes, n) [rad]
    qd0s: np.ndarray  # (lanes, n) [rad/s]
    duration: float  # [s]
    regular: np.ndarray  # lanes whose errors count, (lanes,) of bool
    ends: np.ndarray  # (q, q̇) at the end by the reference, (lanes, 2n)

    @property
    def problem(self) -> Problem:
        """The workload as heyoka and SciPy take it."""
        return _problem(self.system, self.q0s, self.qd0s, self.duration)

    def error(self, run: Run) -> float:
        """Median over the regular lanes that were run; nan if there are none."""
        gaps = np.max(np.abs(run.ends - self.ends[run.lanes]), axis=1)[self.regular[run.lanes]]
        return float(np.median(gaps)) if len(gaps) else math.nan


def _plain(params: Any) -> Any:
    """Parameters as numbers in lists and dictionaries, by field."""
    if dataclasses.is_dataclass(params):
        return {f.name: _plain(getattr(params, f.name)) for f in dataclasses.fields(params)}
    return np.asarray(params).tolist()


def _problem(system: dm.System, q0s: np.ndarray, qd0s: np.ndarray, duration: float) -> Problem:
    return Problem(system.name, _plain(system.params), q0s, qd0s, duration)


def _babyboot(lanes: int) -> tuple[dm.System, np.ndarray, np.ndarray]:
    """qA evenly over 1..179°, qB = 1°, at rest."""
    q0s = np.deg2rad(np.stack([np.linspace(1, 179, lanes), np.ones(lanes)], axis=1))
    return dm.systems.babyboot(), q0s, np.zeros((lanes, 2))


def _chain(n: int) -> Callable[[int], tuple[dm.System, np.ndarray, np.ndarray]]:
    """All links at the same angle, evenly over 1..120°, at rest.

    None is at 90° exactly unless lanes − 1 is a multiple of 119. There the Taylor coefficients of
    orders 3, 4, 7, 8, 11, 12, ... vanish; heyoka chooses its step from the last two, of orders 7, 8
    at 1e-6 and 11, 12 at 1e-9, and its first one of 4.6 s or 0.8 s throws the chain out of bounds.
    """

    def starts(lanes: int) -> tuple[dm.System, np.ndarray, np.ndarray]:
        q0s = np.deg2rad(np.linspace(1, 120, lanes))[:, None] * np.ones(n)
        return dm.systems.n_link(n=n), q0s, np.zeros((lanes, n))

    return starts


def _in_space(lanes: int) -> tuple[dm.System, np.ndarray, np.ndarray]:
    """theta1 evenly over 1..120°, theta2 = 30°, at rest."""
    q0s = np.deg2rad(np.stack([np.linspace(1, 120, lanes), np.full(lanes, 30.0)], axis=1))
    return dm.systems.double_pendulum_3d(), q0s, np.zeros((lanes, 2))


def _four_bar(lanes: int) -> tuple[dm.System, np.ndarray, np.ndarray]:
    """The crank at 60°, turning at 0.5..12 rad/s; from about 1.5 on it goes round."""
    system = dm.systems.four_bar()
    q0, qd0 = system.starts["spinning"]
    spins = np.linspace(0.5, 12, lanes)[:, None]
    return system, np.tile(q0, (lanes, 1)), spins * (np.asarray(qd0) / qd0[0])


# Starts, lanes, duration [s].
WORKLOADS: dict[str, tuple[Callable[[int], tuple[Any, np.ndarray, np.ndarray]], int, float]] = {
    "babyboot": (_babyboot, 4096, 10.0),
    "n_link:n=2": (_chain(2), 4096, 5.0),
    "double_pendulum_3d": (_in_space, 2048, 5.0),
    "n_link:n=3": (_chain(3), 1024, 2.0),
    "n_link:n=5": (_chain(5), 1024, 2.0),
    "four_bar": (_four_bar, 1024, 2.0),
}


def workload(name: str, lanes: int | None = None) -> Workload:
    """A workload by name with its reference; `lanes` spreads fewer or more starts over the range.

    Regular is for the babyboot qA < 60° or 113..150°; for the others that a shift of the first
    rate by 1e-9 grows less than a thousandfold.
    """
    starts, count, duration = WORKLOADS[name]
    system, q0s, qd0s = starts(lanes or count)
    ends = heyoka.reference(_problem(system, q0s, qd0s, duration))
    if name == "babyboot":
        degrees = np.rad2deg(q0s[:, 0])
        regular = (degrees < 60) | ((degrees > 113) & (degrees < 150))
    else:
        shifted = qd0s + SHIFT * np.eye(system.n)[0]
        others = heyoka.reference(_problem(system, q0s, shifted, duration))
        regular = np.max(np.abs(others - ends), axis=1) < GROWTH * SHIFT
    return Workload(name, system, q0s, qd0s, duration, regular, ends)


def _spread(work: Workload, count: int) -> np.ndarray:
    lanes = len(work.q0s)
    return np.unique(np.linspace(0, lanes - 1, min(count, lanes)).astype(int))


def usual_acceleration(system: dm.System) -> Callable[[Any, Any], Any]:
    """q̈(q, q̇) by automatic differentiation and a dense solve, as one writes it.

    [M Jᵀ; J 0] [q̈; −λ] = [∂L/∂q − (∂²L/∂q̇∂q) q̇; −(∂(J q̇)/∂q) q̇],   M = ∂²L/∂q̇²
    """

    def lagrangian(q: Any, qd: Any) -> Any:
        return system.lagrangian(q, qd, 0.0, system.params)

    def residual(q: Any) -> Any:
        return jnp.concatenate([c.residual(q, 0.0, system.params) for c in system.constraints])

    def acceleration(q: Any, qd: Any) -> Any:
        mass = jax.hessian(lagrangian, 1)(q, qd)
        mixed = jax.jacfwd(jax.grad(lagrangian, 1), 0)(q, qd)
        force = jax.grad(lagrangian, 0)(q, qd) - mixed @ qd
        if not system.constraints:
            return jnp.linalg.solve(mass, force)
        rows = jax.jacfwd(residual)(q)
        drift = jax.jacfwd(lambda q: jax.jacfwd(residual)(q) @ qd)(q) @ qd
        corner = jnp.zeros((len(rows), len(rows)))
        matrix = jnp.block([[mass, rows.T], [rows, corner]])
        return jnp.linalg.solve(matrix, jnp.concatenate([force, -drift]))[: system.n]

    return acceleration


def _diffrax_run(
    how: str, acceleration: Callable[[Any, Any], Any], work: Workload, tol: float, count: int
) -> Run:
    n, lanes = work.system.n, _spread(work, count)

    def rate(_t: Any, x: Any, _args: Any) -> Any:
        return jnp.concatenate([x[n:], acceleration(x[:n], x[n:])])

    def solve(x: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rate),
            diffrax.Tsit5(),
            0.0,
            work.duration,
            None,
            x,
            saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=diffrax.PIDController(rtol=tol, atol=tol),
            max_steps=1_000_000,
        ).ys[0]  # pyright: ignore[reportOptionalSubscript]

    starts = jnp.concatenate([work.q0s, work.qd0s], axis=1)[lanes]
    clock = time.perf_counter()
    compiled = jax.jit(jax.vmap(solve)).lower(starts).compile()
    compiling = time.perf_counter() - clock
    clock = time.perf_counter()
    ends = np.asarray(compiled(starts))
    return Run(how, tol, (time.perf_counter() - clock) / len(lanes), compiling, lanes, ends)


def usual_run(work: Workload, tol: float, count: int = 512) -> Run:
    """`vmap(diffeqsolve)` with the usual acceleration, on `count` starts spread evenly."""
    return _diffrax_run("usual JAX, Tsit5", usual_acceleration(work.system), work, tol, count)


def diffmech_run(work: Workload, tol: float, count: int = 512) -> Run:
    """`vmap(diffeqsolve)` with `diffmech.acceleration`, on `count` starts spread evenly."""
    return _diffrax_run(
        "dm.acceleration, Tsit5",
        lambda q, qd: dm.acceleration(work.system, q, qd),
        work,
        tol,
        count,
    )


def scipy_run(work: Workload, tol: float, count: int = 8) -> Run:
    """`solve_ivp` with a right-hand side in Python, on `count` starts spread evenly."""
    return scipy_peer.integrate(work.problem, tol, _spread(work, count))


def heyoka_run(work: Workload, tol: float, route: str = "hand", repeats: int = 3) -> Run:
    """heyoka on one core, all starts; `route` is "hand" or "lagrangian"."""
    return heyoka.one_core(work.problem, tol, route, repeats)


def heyoka_all_cores_run(
    work: Workload, tol: float, cores: int | None = None, repeats: int = 3
) -> Run:
    """heyoka with one process a core, all starts, batches dealt out in turn."""
    return heyoka.all_cores(work.problem, tol, cores, repeats)


def check(work: Workload, count: int = 16) -> None:
    """Assert that all peers solve the same equations, and that the reference is one.

    Right-hand sides against `dm.acceleration` to 1e-12 of the largest q̈ at random states;
    heyoka's end at 1e-15 against `dm.simulate` at rtol 1e-13 to 1e-8 for two regular starts.
    """
    rng = np.random.default_rng(0)
    n, lanes = work.system.n, _spread(work, count)
    spins = rng.normal(scale=3.0, size=(len(lanes), n))
    if work.system.constraints:  # one freedom: the ends, faster or slower, keep the loop closed
        q, qd = work.ends[lanes, :n], spins[:, :1] * work.ends[lanes, n:]
    else:
        q, qd = rng.uniform(-3, 3, size=(len(lanes), n)), spins
    ours = np.asarray(jax.vmap(lambda q, qd: dm.acceleration(work.system, q, qd))(q, qd))
    problem = _problem(work.system, q, qd, work.duration)
    rate = scipy_peer.rates(problem)
    theirs = {
        "heyoka": heyoka.accelerations(problem),
        "SciPy": np.array([rate(0.0, x)[n:] for x in np.concatenate([q, qd], axis=1)]),
        "usual": np.asarray(jax.vmap(usual_acceleration(work.system))(q, qd)),
    }
    if not work.system.constraints:
        theirs["heyoka's Lagrangian"] = heyoka.accelerations(problem, "lagrangian")
    for who, accelerations in theirs.items():
        gap = np.max(np.abs(accelerations - ours)) / np.max(np.abs(ours))
        assert gap < 1e-12, f"{work.name}: the accelerations of {who} are {gap:.1e} off"
    regular = np.flatnonzero(work.regular)
    for lane in regular[[len(regular) // 3, 2 * len(regular) // 3]]:
        start = work.q0s[lane], work.qd0s[lane]
        motion = dm.simulate(work.system, *start, duration=work.duration, rtol=1e-13, samples=2)
        end = np.concatenate([motion.qs[-1], motion.qds[-1]])
        gap = np.max(np.abs(end - work.ends[lane]))
        assert gap < 1e-8, f"{work.name}, start {lane}: ends are {gap:.1e} apart"


def main() -> None:
    parser = argparse.ArgumentParser(description="Peers of the ensemble benchmark")
    parser.add_argument("--only", default="", help="workloads whose name starts so")
    parser.add_argument("--lanes", type=int, help="starts, instead of each workload's own number")
    parser.add_argument("--tols", type=float, nargs="+", default=[1e-6, 1e-9])
    options = parser.parse_args()
    print(f"{'':46}{'tol':>7}{'us/trajectory':>15}{'error':>9}{'lanes':>7}{'compile':>10}")
    for name in WORKLOADS:
        if not name.startswith(options.only):
            continue
        work = workload(name, options.lanes)
        check(work)
        share = np.mean(work.regular)
        print(f"{name}: {len(work.q0s)} starts, {work.duration:g} s, {share:.0%} regular")
        peers: list[Callable[[Workload, float], Run]] = [
            scipy_run,
            usual_run,
            diffmech_run,
            heyoka_run,
            heyoka_all_cores_run,
        ]
        if not work.system.constraints:
            peers.append(lambda work, tol: heyoka_run(work, tol, route="lagrangian"))
        for peer in peers:
            for tol in options.tols:
                run = peer(work, tol)
                print(
                    f"  {run.how:44}{tol:7.0e}{1e6 * run.seconds:15.1f}{work.error(run):9.1e}"
                    f"{len(run.lanes):7d}{run.compile_seconds:8.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
