"""From measured motion to parameters."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._checks import as_count, require_concrete, warn_if_single_precision
from .._progress import Progress
from .._suggest import quoted, suggestion
from ..model import AbstractSystem
from ._as_records import as_records
from ._beginning import cut_up, first_horizon, first_states, guesses_around
from ._descent import Descent, descend
from ._fit_end import made_of
from ._fit_record import Fit
from ._forward import carried_on, followed
from ._free import free_numbers
from ._grown import grown
from ._guess import half_windows, parameters_from_accelerations
from ._held_back import predicted_by
from ._measure import Measure, as_measure
from ._plain import plain
from ._preparation import (
    all_limits,
    as_tolerance,
    begin_of,
    counted_on,
    determined,
    divided,
    least_noise,
    named_channels,
    named_free,
    noise_of,
    prior_rows,
    require_enough,
    require_machine,
    sensors_of,
    spread_of,
    start_rows,
)
from ._residuals import Problem, linearised
from ._segments import cut
from ._shots import Machine
from ._sieve import sieved_again

# Where not all is measured: how many guesses are left by a sieve, and how many times the noise's a
# mean square may be without following the first guess, too.
_VALLEYS, _MET = 4, 1.5
_LOSSES = {"squares": np.inf, "huber": 1.345}  # in units of the noise


def fit(
    system: AbstractSystem,
    data: Any,
    free: str | Sequence[str],
    *,
    measure: Callable[..., Any] | None = None,
    guess: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    priors: Mapping[str, tuple[float, float]] | None = None,
    noise: float | Mapping[str, float] | None = None,
    offsets: Sequence[str] = (),
    scales: Sequence[str] = (),
    delays: Mapping[str, float] | None = None,
    starts: Mapping[str, tuple[float, float]] | None = None,
    wrap: Sequence[str] = (),
    unknown: str = "refuse",
    loss: str = "squares",
    holdout: str | int | Sequence[str | int] = (),
    profile: Sequence[str] = (),
    first_guess: bool = True,
    guesses: int = 1,
    seed: int = 0,
    segment: float | None = None,
    rtol: float | None = None,
    progress: bool | None = None,
) -> Fit:
    """Find the parameters with which a machine moves as it was measured.

        minimise  χ²(p, starts) = Σ (measured − computed)² / σ²

    by Levenberg and Marquardt's method (K. Levenberg, Quart. Appl. Math. 2 (1944) 164-168; D. W.
    Marquardt, J. SIAM 11 (1963) 431-441) on exact derivatives. Every record is cut into short
    segments that run side by side in lanes, each from a state of its own; tied end to end exactly,
    they are one motion from one fitted start (multiple shooting: H. G. Bock, in: K. H. Ebert, P.
    Deuflhard, W. Jäger (eds.), Modelling of Chemical Reaction Systems, Springer, 1981, 102-125).
    Segments are so short that neighbours hardly part along them, and at first only as many are tied
    as a difference grows along by a factor of 10, so that a chaotic record is fitted like a regular
    one. Data are in SI units and radians; a parameter comes out in its own unit.

    **Main arguments:**

    - `data`: a `Record` or several, arrays `(ts, values)`, a mapping, a `Trajectory`, the path of a
      CSV or of a saved run, or a list of these (`read_records` has more choices).
    - `free`: paths of parameters, `["length", "masses[1]"]`; an array stands for its entries.
    - `measure`: `(q, qd, t, params)` to one number per channel. Without it channels are coordinates
      and rates by name: "theta", "theta_dot".
    - `guess`: where to start, by path; the machine's own numbers otherwise.
    - `bounds`: (low, high) by path, None for no limit, also of a difference: {"a - b": (0, None)}
      says that a is not below b. Masses, moments, lengths and friction keep
      their signs, and moments belong to a possible body, by themselves.
    - `priors`: (value, standard deviation) by path, for what is known otherwise.
    - `noise`: standard deviation of the channels, one for all or by name; estimated if not given
      here or with the records.

    **Other arguments:**

    - `offsets`, `scales`: channels whose offset or scale is free; `delays`: channels whose delay is
      free, each with the largest possible one [s]. A sensor shows scale · x(t − delay) + offset.
    - `starts`: what is known of the start of every record, (value, standard deviation) by name of
      coordinate or rate ("theta", "theta_dot"); needed for those that are not measured. Then the
      fit goes on from the best of thousands of guesses drawn with `seed`, and if that misses by
      more than the noise, from the first one, followed from its start: some seconds to a minute.
    - `wrap`: channels with angles that jump by whole turns: they are counted on, and refused where
      samples are too far apart for that.
    - `unknown`: what to do where the equations do not determine all that is free (masses often
      scale out): "refuse", which says what they do determine, or "keep", which fits, with infinite
      errors for what is not determined (`fit.of` has those of combinations that are).
    - `loss`: "squares", or "huber", which lets outliers, beyond 1.345 σ, count less (P. J. Huber,
      Ann. Math. Stat. 35 (1964) 73-101).
    - `holdout`: names or numbers, from 0 on, of records that are not fitted but predicted (their
      starts are fitted). Two that are called "swing" are "swing (1)" and "swing (2)" here.
    - `profile`: free numbers whose 95 % intervals are found by fitting again with the number held,
      in `fit.profiles`; `fit.interval` has those of the linearised problem without more ado.
    - `first_guess`: start from the accelerations of smoothed samples, where all coordinates are
      measured. `guesses`: how many starts to try side by side, the others each with every number
      times a factor between 1/2 and 2 drawn with `seed`.
    - `segment`: length of a segment [s]; 8 samples if not given.
    - `rtol`: of the integration; None means 1e-9 (1e-5 in float32).
    - `progress`: show a bar; None means on a terminal, if it takes long.

    The same call gives the same numbers. Ctrl-C ends it with the best so far, and the verdict says
    so.

    **Returns:** a `Fit`: values with standard errors, the cost's shape around them, predictions.

    **Raises:** `ValueError` for a wrong call, data that cannot be, or fewer data than unknowns.
    """
    warn_if_single_precision()
    require_machine(system)
    require_concrete(
        "fit", "it gives numbers with their errors", data, guess, bounds, priors, noise
    )
    if loss not in _LOSSES:
        raise ValueError(f"there is no loss {quoted(loss)}.{suggestion(loss, _LOSSES)}")
    how_many, seed = as_count(guesses, "guesses", 1), as_count(seed, "seed", 0)
    records = as_records(data, tuple(system.coordinates))
    seen = as_measure(system, records, measure)
    channels = records[0].channels
    numbers = free_numbers(system, free, bounds, guess)
    sensors, names, extra = sensors_of(channels, offsets, scales, delays or {})
    turning = named_channels(wrap, channels, "wrap")
    fitted, held = divided(counted_on(records, turning), holdout)
    profile = named_free(profile, (*numbers.names, *names))
    words = determined(system, numbers, priors or {}, measure is not None, unknown)
    tolerance = as_tolerance(rtol)
    least = least_noise(fitted, tolerance)
    known, given = noise_of(fitted, channels, noise, least)
    machine = Machine(system, numbers, seen.function, len(channels), tolerance)
    slack = max((delays or {}).values(), default=0.0)
    problem = Problem(
        machine=machine,
        records=fitted,
        segments=cut(fitted, np.inf, slack, slack),
        sensors=sensors,
        noise=known,
        wraps=np.array([channel in turning for channel in channels]),
        limits=all_limits(numbers, extra),
        priors=prior_rows(system, numbers, priors or {}, len(extra)),
        start_priors=start_rows(system, len(fitted), starts or {}),
        huber=_LOSSES[loss],
    )
    require_enough(problem)
    first = np.concatenate([numbers.start / numbers.scale, [each[0] for each in extra]])
    z = first.copy()
    of_machine = len(numbers.names)
    halves = half_windows(fitted, known)
    if first_guess and seen.complete:
        z[:of_machine] = parameters_from_accelerations(
            machine, fitted, seen.coordinates, halves, first[:of_machine]
        )
    problem = cut_up(problem, segment, slack)
    tried = guesses_around(numbers, problem.limits, z, first, how_many, seed)
    states = first_states(problem, seen, halves, len(tried))
    begin = begin_of(system, starts or {})
    tied, rate = (8, np.nan)
    with Progress(problem.segments.longest, progress, system.name, "segments tied") as bar:
        if seen.complete:
            tied, rate = first_horizon(problem, tried[0], states[0])
            descent = grown(problem, tried, states, tied, bar.update)
        else:
            descent = _sieved_and_followed(
                problem, seen, tried, states, halves, starts or {}, slack, seed, bar
            )
        look = partial(bar.update, problem.segments.longest)
        if not given.all() and not descent.stopped:
            problem, descent = _reweighted(problem, descent, given, least, look)
        predicted = None
        if held and not descent.stopped:
            predicted = predicted_by(problem, held, seen, begin, starts or {}, descent, slack, look)
            if predicted is None:
                descent = descent._replace(stopped=True)
        return made_of(
            problem,
            descent,
            (*numbers.names, *names),
            given,
            predicted,
            profile,
            {
                "loss": loss,
                "unknown": unknown,
                "words": words,
                "rtol": tolerance,
                "segment": float(np.median(problem.segments.end - problem.segments.start)),
                "segments": len(problem.segments.start),
                "guesses": len(tried),
                "seed": seed,
                "first_horizon": tied,
                "parting_rate": rate,
                "interrupted": descent.stopped,
                "first_guess": bool(first_guess and seen.complete),
            },
            look,
        )


def _sieved_and_followed(
    problem: Problem,
    seen: Measure,
    z: np.ndarray,
    states: np.ndarray,
    halves: np.ndarray,
    starts: Mapping[str, tuple[float, float]],
    slack: float,
    seed: int,
    bar: Progress,
) -> Descent:
    """What is measured in part: the best of thousands of guesses, or else the guess, followed."""
    system, whole = problem.machine.system, problem.segments.longest
    begin, spread = begin_of(system, starts), spread_of(system, starts)
    guesses = sieved_again(
        plain(problem, seen, z[0], begin, spread, halves),
        _VALLEYS,
        seed,
        lambda part: bar.update(int(part * whole)),
    )
    if guesses.stopped:
        return carried_on(problem, guesses.z, guesses.starts)._replace(stopped=True)
    if guesses.whole:
        descent = carried_on(problem, guesses.z, guesses.starts, bar.update)
    else:
        segments, bare = problem.segments, np.full_like(states[:1], np.nan)
        bare = np.repeat(bare, len(guesses.z), axis=0)
        first = np.unique(segments.record, return_index=True)[1]
        bare[:, first] = guesses.starts
        late = segments.end - segments.start[first][segments.record]
        reach = max(int(np.max(np.bincount(segments.record[late <= guesses.until]), initial=1)), 1)
        descent = followed(problem, guesses.z, bare, begin, slack, bar.update, reach=reach)
    count = sum(int(np.sum(np.isfinite(record.values))) for record in problem.records)
    if descent.stopped or (descent.settled[0] and 2 * descent.cost[0] < _MET * count):
        return descent
    again = followed(problem, z, states, begin, slack, bar.update)
    return min(descent, again, key=lambda one: (not one.settled[0], one.cost[0]))


def _reweighted(
    problem: Problem,
    descent: Descent,
    given: np.ndarray,
    least: np.ndarray,
    look: Callable[[], None],
) -> tuple[Problem, Descent]:
    """The noise as residuals show it, but not below `least`, and the fit with it."""
    try:
        for _ in range(3):
            here = linearised(problem, descent.z, descent.states)
            weights = problem.dealt(descent.z[0]).weights
            seen = weights > 0
            count = np.sum(seen, axis=(0, 1))
            unknown = problem.p + len(problem.records) * problem.machine.size
            spare = np.maximum(count * (1 - unknown / np.sum(count)), 1.0)
            ratio = np.sqrt(np.sum(here.residuals[0] ** 2, axis=(0, 1)) / spare)
            ratio = np.where(given, 1.0, np.maximum(ratio, least / problem.noise))
            other = problem.cut_into(problem.segments, problem.noise * ratio)
            # One factor for all channels moves nothing.
            longest = problem.segments.longest
            descent = descend(other, descent.z, descent.states, longest, 30, look=look)
            problem = other
            if descent.stopped or (
                np.ptp(np.log(ratio)) < 0.02 and np.max(np.abs(np.log(ratio))) < 0.02
            ):
                break
    except KeyboardInterrupt:
        descent = descent._replace(stopped=True)
    return problem, descent
