"""Guesses of all that a fit may change as plain vectors, and what they miss, by lanes alone.

x holds the free numbers, those of sensors but for delays, and how far each record's start lies from
where it is believed to be, in those coordinates and rates that are not known. One lane per guess
and record, without derivatives: hundreds of guesses cost what one segment-wise step does.
"""

import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._fingerprint import version_of
from ..lanes import Samples, ensemble
from ..model import parameter_paths
from ._condensed import Condensed, at_start, condensed
from ._measure import Measure
from ._residuals import Problem, huber
from ._shots import Machine

_MOST_TIMES, _FEWEST_TIMES = 128, 64  # of one record; room for fewer is not made
_KNOWN = 1e-5  # of a start [SI]: better than any sensor tells
_TIMES_ERROR = 2.0  # standard errors by which a start read from samples may be off
_RTOL = 1e-6
_AT_ONCE = 512  # lanes whose measured values are found at once
_FACTOR = 2.0  # by which a guess of a number may be off
_UNSURE = 1.0  # of itself: standard deviation of a guess
_STEPS = 40  # of a lane for every time that is compared: a machine may be absurdly fast


class Plain(NamedTuple):
    """A problem for guesses x, shape (..., d).

    Attributes:
        problem: what it is about.
        z: numbers that x does not change keep these values, shape (p,).
        starts: of records, where x is zero, shape (R, m).
        entries: of x, which they are in (z, starts), flat; shape (d,).
        centre, spread: what is believed of x, and how surely, shape (d,).
        limits: rows (a, b) of a·x ≥ b, shape (k, d + 1).
        parts: records as they are compared.
        longest: how many times a program has room for.
    """

    problem: Problem
    z: np.ndarray
    starts: np.ndarray
    entries: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    limits: np.ndarray
    parts: tuple[Condensed, ...]
    longest: int

    @property
    def times(self) -> np.ndarray:
        """At which records are compared, from their starts, of the one with the most [s]."""
        return max((part.ts for part in self.parts), key=lambda ts: float(ts[-1]))

    @property
    def whole(self) -> bool:
        """Whether all records are compared to their ends."""
        return all(part.whole for part in self.parts)

    def spread_out(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """z, shape (G, p), and starts, shape (G, R, m), of guesses x, (G, d)."""
        p = len(self.z)
        whole = np.tile(np.concatenate([self.z, self.starts.ravel()]), (len(x), 1))
        inside = self.entries < p
        whole[:, self.entries[inside]] = x[:, inside]
        whole[:, self.entries[~inside]] += x[:, ~inside]
        return whole[:, :p], whole[:, p:].reshape(len(x), *self.starts.shape)

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Guesses within the limits, shape (count, d), the first in the middle of all."""
        of_machine = np.count_nonzero(self.entries < len(self.problem.machine.free.leaves))
        guesses = np.zeros((0, len(self.centre)))
        for _ in range(100):
            tried = self.centre + self.spread * rng.normal(size=(count, len(self.centre)))
            factors = _FACTOR ** rng.normal(size=(count, of_machine))
            moved, centre = tried[:, :of_machine], self.centre[:of_machine]
            tried[:, :of_machine] = np.where(centre != 0, centre * factors, moved)
            guesses = np.concatenate([guesses, tried[self.possible(tried)]])
            if len(guesses) >= count:
                break
        return np.concatenate([self.centre[None], guesses])[:count]

    def possible(self, x: np.ndarray) -> np.ndarray:
        """Which guesses, shape (..., d), keep all limits, shape (...)."""
        return np.all(x @ self.limits[:, :-1].T >= self.limits[:, -1], axis=-1)

    def counted(self, until: float) -> np.ndarray:
        """Which entries of what is missed count up to `until` [s], shape (k,)."""
        known = np.ones(len(self.problem.priors), bool)
        rows = []
        for part in self.parts:
            rows.append(((part.ts <= until)[:, None] & (part.bands[0] != 0)).ravel())
        return np.concatenate([*rows, known])

    def missed(self, x: np.ndarray, until: float) -> np.ndarray:
        """By how much guesses miss what was measured up to `until` [s], in errors, (G, k).

        Zero for what comes later, NaN for motions that failed. What is known of numbers otherwise
        comes last.

        Raises:
            KeyboardInterrupt: Ctrl-C ended the run of lanes.
        """
        z, starts = self.spread_out(x)
        machine, guesses = self.problem.machine, len(x)
        of_machine, n, records = len(machine.free.leaves), machine.system.n, len(self.parts)
        first = np.array([float(record.ts[0]) for record in self.problem.records])
        counts = [int(np.searchsorted(part.ts, until, "right")) for part in self.parts]
        times = np.full((records, self.longest), np.nan)
        for r, (part, count) in enumerate(zip(self.parts, counts, strict=True)):
            times[r, :count] = first[r] + part.ts[:count]
        duration = np.fmax(np.nanmax(np.c_[times, first], axis=1) - first, 1e-9)
        values = z[:, :of_machine] * machine.free.scale
        changed = _changed(machine, np.repeat(values, records, axis=0))
        lanes, times = starts.reshape(-1, 2 * n), np.tile(times, (guesses, 1))
        with warnings.catch_warnings():
            # Whoever breaks a run of lanes off means the fit.
            warnings.filterwarnings("error", ".*interrupted after")
            try:
                run = ensemble(
                    machine.system,
                    lanes[:, :n],
                    lanes[:, n:],
                    t0=np.tile(first, guesses),
                    duration=np.tile(duration, guesses),
                    params=changed,
                    rtol=max(_RTOL, machine.rtol),
                    reduce=Samples(times),
                    max_steps=_STEPS * self.longest,
                    progress=False,
                )
            except UserWarning as interrupted:
                raise KeyboardInterrupt from interrupted
        q, qd = (np.asarray(values) for values in run.values["samples"])
        shown = _measured(machine, q, qd, times, changed)
        shown = shown.reshape(guesses, records, *shown.shape[1:])
        of, sensors = self.problem.sensors, z[:, None, of_machine:]
        scale, offset = of.of(of.scale, sensors, 1.0), of.of(of.offset, sensors, 0.0)
        rows = []
        for r, (part, count) in enumerate(zip(self.parts, counts, strict=True)):
            miss = scale * shown[:, r, : len(part.ts)] + offset - part.values
            miss = np.where(self.problem.wraps, (miss + np.pi) % (2 * np.pi) - np.pi, miss)
            later = (np.arange(len(part.ts)) >= count)[:, None]
            miss = np.where(later, 0.0, miss)
            miss = np.where(later, 0.0, part.missed(miss))
            if np.isfinite(self.problem.huber):
                miss = np.sign(miss) * np.sqrt(huber(miss, self.problem.huber)[1])
            rows.append(miss.reshape(guesses, -1))
        rows.append(z @ self.problem.priors[:, :-1].T + self.problem.priors[:, -1])
        return np.concatenate(rows, axis=1)


def plain(
    problem: Problem,
    seen: Measure,
    z: np.ndarray,
    begin: np.ndarray,
    spread: np.ndarray,
    halves: np.ndarray,
) -> Plain:
    """A problem around numbers z, shape (p,), and starts `begin`, (m,), known up to `spread`.

    `halves` are the windows of records, (R, c).
    """
    p, delays = problem.p, problem.sensors.delay
    starts, around = _starts(problem, seen, begin, spread, halves)
    numbers = np.setdiff1d(np.arange(p), delays[delays >= 0])
    moving = np.flatnonzero(around.ravel() > _KNOWN)
    rows, least = problem.limits[:, :-1], problem.limits[:, -1]
    fixed = np.setdiff1d(np.arange(p), numbers)
    least = least - rows[:, fixed] @ z[fixed]
    outliers = bool(np.isfinite(problem.huber))
    # As many as segments, where they suffice: motions that go on share the program.
    longest = problem.segments.longest
    most = longest if _FEWEST_TIMES <= longest <= _MOST_TIMES else _MOST_TIMES
    parts = tuple(
        condensed(record, problem.noise, windows, most, outliers)
        for record, windows in zip(problem.records, halves, strict=True)
    )
    return Plain(
        problem=problem,
        z=z,
        starts=starts,
        entries=np.concatenate([numbers, p + moving]),
        centre=np.concatenate([z[numbers], np.zeros(len(moving))]),
        spread=np.concatenate([_sizes(problem, z)[numbers], around.ravel()[moving]]),
        limits=np.c_[rows[:, numbers], np.zeros((len(rows), len(moving))), least],
        parts=parts,
        longest=max(longest, most),
    )


def _changed(machine: Machine, values: np.ndarray) -> dict[str, np.ndarray]:
    """Leaves with free numbers, (lanes, ...), for values (lanes, own); no lane count compiles."""
    values_by_path, changed = parameter_paths(machine.system.params), dict[str, np.ndarray]()
    for i, (leaf, index) in enumerate(machine.free.leaves):
        if leaf not in changed:
            here = np.asarray(values_by_path[leaf], float)
            changed[leaf] = np.tile(here, (len(values), *[1] * here.ndim))
        changed[leaf][(slice(None), *index)] = values[:, i]
    return changed


def _measured(
    machine: Machine, q: np.ndarray, qd: np.ndarray, times: np.ndarray, changed: dict[str, Any]
) -> np.ndarray:
    """What is measured, shape (lanes, k, c), of states (lanes, k, n) at times (lanes, k)."""
    paths = parameter_paths(machine.system.params)
    structure = jax.tree.structure(machine.system.params)
    unchanged = [leaf for path, leaf in paths.items() if path not in changed]
    program = _program(
        machine.measure, version_of(machine.measure), structure, tuple(paths), tuple(changed)
    )
    shown = []
    for first in range(0, len(q), _AT_ONCE):
        part = [x[first : first + _AT_ONCE] for x in (q, qd, times, *changed.values())]
        count = len(part[0])
        if count < _AT_ONCE:
            part = [np.concatenate([x, np.repeat(x[-1:], _AT_ONCE - count, axis=0)]) for x in part]
        shown.append(np.asarray(program(unchanged, *part))[:count])
    return np.concatenate(shown)


@lru_cache(maxsize=16)
def _program(
    measure: Any,
    version: tuple[int, ...],
    structure: Any,
    paths: tuple[str, ...],
    changed: tuple[str, ...],
) -> Any:
    """What is measured of many motions, a fixed number of lanes at a time."""
    del version

    @jax.jit
    def program(unchanged: list[Any], q: Any, qd: Any, times: Any, *varying: Any) -> Any:
        def one(q: Any, qd: Any, times: Any, varying: list[Any]) -> Any:
            those, rest = dict(zip(changed, varying, strict=True)), iter(unchanged)
            leaves = [those[path] if path in those else next(rest) for path in paths]
            every = jax.tree.unflatten(structure, leaves)
            return jax.vmap(lambda q, qd, t: jnp.ravel(measure(q, qd, t, every)))(q, qd, times)

        return jax.vmap(one)(q, qd, times, list(varying))

    return program


def _sizes(problem: Problem, z: np.ndarray) -> np.ndarray:
    """By how much each number may be off, shape (p,)."""
    sizes = np.where(z != 0, _UNSURE * np.abs(z), 1.0)
    for c, index in enumerate(problem.sensors.offset):
        if index >= 0:
            shown = np.concatenate([np.asarray(record.values)[:, c] for record in problem.records])
            sizes[len(problem.machine.free.leaves) + index] = np.nanstd(shown) or 1.0
    return sizes


def _starts(
    problem: Problem, seen: Measure, begin: np.ndarray, spread: np.ndarray, halves: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where records start and how well that is known, shape (R, m) both."""
    n = problem.machine.system.n
    starts = np.tile(begin, (len(problem.records), 1))
    around = np.tile(spread, (len(problem.records), 1))

    def told(r: int, i: int, value: float, error: float) -> None:
        if np.isfinite(error) and (around[r, i] == 0 or error < around[r, i]):
            starts[r, i], around[r, i] = value, error

    for r, record in enumerate(problem.records):
        for i in range(n):
            for c, first in ((seen.coordinates[i], i), (seen.rates[i], n + i)):
                if c >= 0:
                    values, errors = at_start(record, c, float(problem.noise[c]), halves[r, c])
                    for k in range(2 if first < n else 1):
                        told(r, first + k * n, float(values[k]), _TIMES_ERROR * float(errors[k]))
    return starts, around
