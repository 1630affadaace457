"""The end of a fit: errors, limits that were reached, what the model shows, all in one record."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model import AbstractSystem
from ._chains import triangle
from ._descent import Descent
from ._fit_numbers import SHARE, channel_unit
from ._fit_record import Fit
from ._foreseen import foreseen
from ._limited import active
from ._profile import profiled
from ._residuals import Linear, Problem, huber, linearised
from ._whiteness import whiteness

_DETERMINED = 1e-11  # of the largest singular value; below it is rounding


def made_of(
    problem: Problem,
    descent: Descent,
    names: tuple[str, ...],
    given: np.ndarray,
    predicted: tuple[Problem, Descent] | None,
    profile: tuple[str, ...],
    settings: dict[str, Any],
    look: Callable[[], None],
) -> Fit:
    """The record of a fit that has come to an end; `look` is called before steps of profiles."""
    z, free = descent.z[0], problem.machine.free
    of_machine = len(free.names)
    scale = np.concatenate([free.scale, np.ones(problem.sensors.size)])
    known = problem.priors.copy()
    known[:, -1] += known[:, :-1] @ z
    rows = triangle(np.concatenate([descent.rows[0], known]))
    covariance, unknown, condition, limited = _spread(rows[:, :-1], problem.limits, z)
    values = z * scale
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * scale
    if len(unknown):
        errors = np.where(np.max(np.abs(unknown), axis=0) > SHARE, np.inf, errors)
    here = linearised(problem, descent.z, descent.states)
    computed = _computed(problem, descent, here)
    first = np.unique(problem.segments.record, return_index=True)[1]
    count = sum(int(np.sum(np.isfinite(record.values))) for record in problem.records)
    units = list(free.units)
    units += [_sensor_unit(problem.machine.system, name) for name in names[of_machine:]]
    return Fit(
        system=problem.machine.system.with_params(
            dict(zip(free.names, map(float, values[:of_machine]), strict=True))
        ),
        names=names,
        values=values,
        errors=errors,
        units=tuple(units),
        covariance=covariance * np.outer(scale, scale),
        unknown=unknown,
        limited=tuple(name for name, hit in zip(names, limited, strict=True) if hit),
        rows=rows,
        limits=problem.limits,
        starts=descent.states[0][first],
        records=problem.records,
        computed=computed,
        held=() if predicted is None else predicted[0].records,
        predicted=() if predicted is None else _shown(*predicted),
        noise=problem.noise,
        noise_given=given,
        chi2=float(np.sum(huber(here.residuals, problem.huber)[1])),
        count=count,
        unknowns=problem.p + len(problem.records) * problem.machine.size,
        condition=condition,
        jump=float(descent.jump[0]),
        converged=bool(descent.settled[0]),
        whiteness=whiteness([
            (np.asarray(r.values) - c) / problem.noise
            for r, c in zip(problem.records, computed, strict=True)
        ]),
        profiles=_profiles(problem, descent, rows, unknown, names, scale, profile, look),
        settings={
            **settings,
            "scale": scale.tolist(),
            "steps": descent.steps,
            "foreseen": foreseen(problem.segments, here, descent.states[0]),
        },
    )  # fmt: skip


def _profiles(
    problem: Problem,
    descent: Descent,
    rows: np.ndarray,
    unknown: np.ndarray,
    names: tuple[str, ...],
    scale: np.ndarray,
    wanted: tuple[str, ...],
    look: Callable[[], None],
) -> dict[str, tuple[float, float]]:
    """Intervals by fitting again; NaN where not all is determined, or the fit has not ended."""
    if len(unknown) or not descent.settled[0] or descent.stopped:
        return dict.fromkeys(wanted, (np.nan, np.nan))
    profiles = {}
    for name in wanted:
        i = names.index(name)
        low, high = profiled(problem, descent, rows, i, look)
        profiles[name] = (low * float(scale[i]), high * float(scale[i]))
    return profiles


def _sensor_unit(system: AbstractSystem, name: str) -> str:
    """Of "offset of theta" and the like."""
    kind, _, channel = name.partition(" of ")
    return {"scale": "1", "delay": "s"}.get(kind) or channel_unit(system, channel)


def _spread(
    rows: np.ndarray, limits: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Covariance of z, directions nobody knows, condition, and which numbers are on a limit.

    Along an active limit there is no room: the covariance is that inside it.
    """
    p = rows.shape[1]
    touched = limits[active(limits, z), :-1] if len(limits) else np.zeros((0, p))
    basis = np.eye(p)
    if len(touched):
        basis = np.linalg.svd(touched)[2][np.linalg.matrix_rank(touched) :].T
    _, sizes, turned = np.linalg.svd(rows @ basis, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(basis.shape[1] - len(sizes))])
    largest = np.max(sizes, initial=0.0)
    known = sizes > _DETERMINED * largest if largest > 0 else np.zeros(len(sizes), bool)
    inside = (turned[known].T / sizes[known] ** 2) @ turned[known]
    smallest = np.min(sizes[known], initial=np.inf)
    condition = float(largest / smallest) if np.any(known) else np.inf
    on_limit = np.any(np.abs(touched) > 1e-9, axis=0)
    return basis @ inside @ basis.T, (basis @ turned[~known].T).T, condition, on_limit


def _shown(problem: Problem, descent: Descent) -> tuple[np.ndarray, ...]:
    return _computed(problem, descent, linearised(problem, descent.z, descent.states))


def _computed(problem: Problem, descent: Descent, here: Linear) -> tuple[np.ndarray, ...]:
    """What the model shows at every sample, sensors included; NaN where nothing was measured."""
    dealt = problem.dealt(descent.z[0])
    results = []
    for r, record in enumerate(problem.records):
        mine = problem.segments.record == r
        measured = np.asarray(record.values)
        counts = np.isfinite(measured)
        if record.weights is not None:
            counts &= np.asarray(record.weights) > 0
        values = np.full(measured.shape, np.nan)
        for c in range(len(problem.noise)):
            times, weights = dealt.times[mine], dealt.weights[mine][..., c]
            there = weights > 0
            order = np.argsort(times[there], kind="stable")
            miss = (here.residuals[0][mine][..., c][there] / weights[there])[order]
            seen = counts[:, c]
            values[seen, c] = measured[seen, c] + miss
        results.append(values)
    return tuple(results)
