"""Lyapunov exponents: how fast neighbours of a motion part."""

import dataclasses
import warnings
from typing import Any

import jax
import numpy as np

from .._checks import (
    as_count,
    as_duration,
    as_scalar,
    require_concrete,
    warn_if_single_precision,
)
from .._defaults import LYAPUNOV_RTOL, as_rtol
from .._progress import Progress
from .._results import Status
from .._stretches import stretches
from .._typing import AnyArray, Coordinates, Number, Params
from ..lanes import STOPS, Frame, FrameRun, Program, Reached, frame_at, frame_of
from ..model import AbstractSystem, Laws, rest_zero
from ..motion import SymmetryTrials, jacobian_of, prepare, require_consistent, residual_of
from ._lyapunov_record import Lyapunov

_SAMPLES = 512  # running estimates kept
_BATCHES = 8  # of the second half
_TRIED = 8  # states at which time is tried
_AT_REST = 1e-6  # of the size of the coordinates, or of their rates
_INDEPENDENT = 1e-10  # of the largest singular value of the constraints' rows


def lyapunov(
    system: AbstractSystem,
    q0: Coordinates,
    qd0: Coordinates | None = None,
    *,
    duration: Number,
    count: int | None = None,
    transient: Number = 0.0,
    interval: Number | None = None,
    t0: Number = 0.0,
    params: Params = None,
    rtol: Number | None = None,
    seed: int = 0,
    throw: bool = True,
    progress: bool | None = None,
) -> Lyapunov:
    """The largest Lyapunov exponents of a motion,

        λᵢ = lim 1/T Σ ln rᵢᵢ,    Y = Q R after every step,

    where the columns of Y are neighbours (δq, δq̇) that obey the motion's linear equations and
    start every step as the orthonormal columns of Q (Benettin et al. 1980).

    **Main arguments:**

    - `q0`, `qd0`: the start, shape (n,) or mappings by name; rates that are left out
      are zero.
    - `duration` [s] over which exponents are taken, after `transient` [s], in which the motion
      reaches its attractor and the neighbours their directions.
    - `count`: how many exponents; all if None: 2n, or as many as the constraints leave free.

    **Other arguments:**

    - `interval` [s] between running estimates, a 512th of the duration if None, at most a 16th:
      error bars are from eight batches of the second half. Nothing else depends on it but the
      history: neighbours are set straight after every step.
    - `rtol`: of the integration, per step; None means 1e-10 (1e-4 in float32).
    - `seed`: of the directions of the first neighbours.
    - `throw`: raise `RuntimeError` if the run fails; else look at `status`.
    - `progress`: show a bar; None means on a terminal, if the run is long. Ctrl-C ends a run and
      keeps what was computed.

    Estimates of a chaotic motion scatter as 1/√T, those of a regular one converge as ln T / T.
    A motion without a drive that does not come to rest has an exponent 0, along itself; every
    conserved quantity brings another; a conservative one has pairs ±λ. Time is no coordinate here,
    so that a driven machine has 2n exponents, without the 0 of its phase. A motion that runs off
    to infinity may have positive exponents and is not chaotic. New numbers do not compile anew.

    **Raises:** `ValueError` for a wrong call, `RuntimeError` for a failed run.
    """
    warn_if_single_precision()
    require_concrete(
        "lyapunov",
        "for exponents of many motions at once use `ensemble(..., reduce=Growth(direction))` "
        "divided by the duration",
        *(q0, qd0, duration, transient, t0, params, rtol),
    )
    q, qd, start, params = prepare(system, t0, params, q0=q0, qd0=rest_zero(system, qd0))
    length = float(as_duration(duration))
    before = float(as_scalar(transient, "transient"))
    if before < 0:
        raise ValueError(f"`transient` must not be negative, but is {before:g}")
    spacing = length / _SAMPLES
    if interval is not None:
        spacing = float(as_scalar(interval, "interval", positive=True))
        longest = length / (2 * _BATCHES)
        if spacing > longest * (1 + 1e-9):
            raise ValueError(
                f"`interval` must be at most a {2 * _BATCHES}th of the duration, {longest:g} s, "
                f"but is {spacing:g}: error bars are from {_BATCHES} batches of the second half"
            )
    require_consistent(system, q, qd, start, params)
    dimensions = _dimensions(system, q, start, params)
    count = dimensions if count is None else as_count(count, "count", 1)
    if count > dimensions:
        raise ValueError(
            f"`count` must be at most {dimensions}, the dimension of the neighbourhood of a state "
            f"of {system.name!r}, but is {count}"
        )
    tolerance = float(as_rtol(rtol, LYAPUNOV_RTOL))
    directions = np.random.default_rng(as_count(seed, "seed", 0)).normal(size=(count, 2 * system.n))
    # One stop at the transient's end, then every interval; the last one is the end itself.
    pieces = max(int(np.ceil(length / spacing * (1 - 1e-9))), 1)
    stops = float(start) + before + length * np.arange(pieces + 1) / pieces
    stops = stops[0 if before else 1 :]
    program, run, frame = frame_of(
        system, q, qd, directions, params=params, t0=start, duration=before + length, rtol=tolerance
    )
    frame, met, interrupted = _run_to_stops(program, run, frame, stops, progress, system.name)
    if len(met.t) < len(stops) and len(met.t) >= (before > 0):
        met = _with_end(met, frame, system.n, float(start) + before)
    status = Status.INTERRUPTED if interrupted else frame.status
    used = jax.tree.map(lambda leaf: leaf[1 if before else 0 :], met)
    grown = used.grown - (met.grown[0] if before and len(met.t) else 0.0)
    times = used.t - (float(start) + before)
    exponents, errors, history = _estimates(times, grown)
    record = Lyapunov(
        exponents=exponents,
        errors=errors,
        times=times,
        history=history,
        transient=before,
        dimensions=dimensions,
        at_rest=_stays(used),
        swings=_swings(used),
        steps=int(frame.loop.pace.accepted[0]),
        rtol=tolerance,
        status=status,
        system=system,
    )
    if len(times) and record.signs[0] < 0 and not record.at_rest:
        record = dataclasses.replace(record, settling=_undriven(system.laws, used, params))
    if interrupted:
        warnings.warn(
            f"{system.name}: interrupted at t = {float(frame.loop.t[0]):.6g} s of {stops[-1]:g} s; "
            "the estimates up to there are kept",
            stacklevel=2,
        )
    elif status is not Status.OK and throw:
        raise RuntimeError(
            f"{system.name} stopped at t = {float(frame.loop.t[0]):.6g} s of {stops[-1]:g} s: "
            f"{status.sentence}. `throw=False` returns what was computed before"
        )
    return record


def _dimensions(system: AbstractSystem, q: AnyArray, t: AnyArray, params: Params) -> int:
    """Of the space of neighbours of a state: 2n less what the constraints take away."""
    laws = system.laws
    if not isinstance(laws, Laws) or not laws.constraints:
        return 2 * system.n
    of_rates = jacobian_of(laws, q, t, params)
    of_places = jax.jacfwd(lambda q: residual_of(laws, q, t, params))(q)
    ranks = [np.linalg.matrix_rank(np.asarray(a), _INDEPENDENT) for a in (of_rates, of_places)]
    return 2 * system.n - int(sum(ranks))


def _run_to_stops(
    program: Program,
    run: FrameRun,
    frame: Frame,
    stops: np.ndarray,
    progress: bool | None,
    label: str,
) -> tuple[Frame, Reached, bool]:
    """To all stops, in stretches: where it ended, what was met, and whether it was interrupted."""
    k, n = program.layout.tangents, program.layout.n
    reached = [Reached(np.zeros((0, k)), np.zeros((0, n)), np.zeros((0, n)), np.zeros(0))]
    start, done, interrupted = float(run.tolerances.start), 0, False

    def taken() -> int:
        return int(frame.loop.steps[0])

    def going() -> bool:
        return done < len(stops) and frame.status is Status.OK

    try:
        with Progress(float(run.tolerances.end) - start, progress, label) as bar:
            for stretch in stretches(taken, going):
                frame, met = frame_at(program, run, frame, stops[done : done + STOPS], stretch)
                reached.append(met)
                done += len(met.t)
                bar.update(float(frame.loop.t[0]) - start)
    except KeyboardInterrupt:
        interrupted = True
    return frame, jax.tree.map(lambda *parts: np.concatenate(parts), *reached), interrupted


def _with_end(met: Reached, frame: Frame, n: int, since: float) -> Reached:
    """What was met and, beyond the last stop, where a run ended early."""
    t = float(frame.loop.t[0])
    if t <= np.max(met.t, initial=since) or not np.all(np.isfinite(frame.grown)):
        return met
    state = np.concatenate(frame.loop.y[: 2 * n])
    last = Reached(np.asarray(frame.grown), state[:n], state[n:], np.asarray(t))
    return jax.tree.map(lambda rows, row: np.concatenate([rows, row[None]]), met, last)


def _estimates(times: np.ndarray, grown: np.ndarray) -> tuple[Any, Any, Any]:
    """Exponents, their errors and the running estimates, the largest first."""
    if not len(times):
        nothing = np.full(grown.shape[1], np.nan)
        return nothing, nothing, grown
    history = grown / times[:, None]
    order = np.argsort(-history[-1], kind="stable")
    history, grown = history[:, order], grown[:, order]
    marks = np.linspace(times[-1] / 2, times[-1], _BATCHES + 1)
    at_marks = np.stack([np.interp(marks, times, column) for column in grown.T], axis=1)
    rates = np.diff(at_marks, axis=0) / np.diff(marks)[:, None]
    # The whole is twice as long as the batches together.
    scatter = np.std(rates, axis=0, ddof=1) / np.sqrt(2 * _BATCHES)
    change = history[-1] - np.mean(rates, axis=0)
    return history[-1], np.hypot(scatter, change), history


def _undriven(laws: Any, met: Reached, params: Params) -> bool:
    """Whether time itself changes nothing, tried where the motion was."""
    ys = np.concatenate([met.q, met.qd], axis=1)[:_TRIED]
    trials = SymmetryTrials(laws, 1.0, 1.0, params)
    here = trials.accelerations(ys, float(met.t[0]))
    others = float(met.t[0]) + np.random.default_rng(5).uniform(0, 10, 3)
    return all(trials.same(here, trials.accelerations(ys, t)) for t in others)


def _swings(met: Reached) -> int | None:
    """How often a rate passed its mean, at most; None if all rates are constant."""
    if not len(met.t):
        return None
    about = met.qd - np.mean(met.qd, axis=0)
    moving = np.max(np.abs(about), axis=0) > _AT_REST * np.max(np.abs(met.qd), initial=0.0)
    if not np.any(moving):
        return None
    sides = np.signbit(about[:, moving])
    return int(np.max(np.sum(sides[1:] != sides[:-1], axis=0)))


def _stays(met: Reached) -> bool:
    """Whether the second half of the run is one place, and at rest."""
    later = jax.tree.map(lambda leaf: leaf[len(leaf) // 2 :], met)
    if not len(later.t):
        return False
    scale = _AT_REST * (1 + np.max(np.abs(later.q)))
    return bool(np.ptp(later.q, axis=0).max() <= scale and np.max(np.abs(later.qd)) <= scale)
