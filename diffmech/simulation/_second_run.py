"""The errors of a run, measured by a second, finer one."""

import dataclasses
from typing import NamedTuple

import numpy as np

from .._checks import float_dtype, in_force
from .._defaults import RUN_MAX_STEPS
from .._results import RESULTS, same
from ..motion import unpack
from ._run import run_in_stretches
from ._run_data import RunData, Settings

_TIGHTER = 1e-3  # the second run's tolerance, relative to the first one's
_ROUNDING_IN_EPS = 4.0  # a few roundings are left in any result
_FLOOR_IN_EPS = 150.0  # tolerances below this many eps (3e-14) are beyond the arithmetic


class Errors(NamedTuple):
    """Estimated errors at the k samples, and what they were measured against.

    Attributes:
        q, qd: of coordinates and rates, shape (k, n); NaN if nothing was compared.
        reference: the run compared with, in words.
    """

    q: np.ndarray
    qd: np.ndarray
    reference: str


def _second_settings(run: RunData) -> tuple[Settings, float, str]:
    """Settings of the comparison run, the factor from difference to error, and its description.

    A tighter tolerance alone is not enough: where the samples, not the errors, bound the steps,
    both runs would be the same to the last bit. So its steps are at most half as long, too.
    """
    settings = run.settings
    plain = dataclasses.replace(
        settings, events=(), event_names=(), dense=False, max_steps=20 * RUN_MAX_STEPS
    )
    if settings.dt is not None:
        order = settings.solver.order(None) or 1  # pyright: ignore[reportArgumentType]
        step = min(float(settings.dt), float(run.ts[-1]) - float(run.ts[0]))
        halved = dataclasses.replace(plain, dt=in_force(step / 2))
        return halved, 1.0 / (1.0 - 0.5**order), "half the step"
    rtol = float(settings.rtol)
    finer = max(rtol * _TIGHTER, _FLOOR_IN_EPS * float(np.finfo(float_dtype()).eps))
    finer = min(finer, rtol)
    span = float(run.ts[-1]) - float(run.ts[0])
    other = dataclasses.replace(
        plain,
        rtol=in_force(finer),
        atol=in_force(float(settings.atol) * finer / rtol),
        longest=in_force(0.5 * span / max(int(run.stats["accepted"]), 1)),
    )
    return other, 1.0, f"a run at rtol {finer:.0e}"


def unknown_errors(run: RunData) -> Errors:
    """What is known without a second run: nothing, NaN."""
    unknown = np.full(run.qs.shape, np.nan)
    return Errors(unknown, unknown, "no second run")


def estimate_errors(run: RunData, progress: bool | None) -> Errors:
    """The difference to a finer run, |x − x₂| (for constant steps of order p: / (1 − 2⁻ᵖ))."""
    if len(run.ts) < 2:
        return Errors(np.zeros(run.qs.shape), np.zeros(run.qs.shape), "nothing")
    settings, factor, text = _second_settings(run)
    start = np.concatenate([run.qs[0], run.qds[0], np.zeros(1)])
    second = run_in_stretches(
        run.system,
        run.params,
        start,
        run.ts,
        run.ts[-1],
        settings,
        progress,
        f"{run.system.name}, second run",
    )
    if same(second.result, RESULTS.interrupted):
        raise KeyboardInterrupt  # a report that was broken off must not be kept
    error = np.full((2, *run.qs.shape), np.inf)
    q, qd, _ = unpack(np.asarray(second.ys))
    count = len(q)
    error[0, :count] = factor * np.abs(q - np.asarray(run.qs)[:count])
    error[1, :count] = factor * np.abs(qd - np.asarray(run.qds)[:count])
    # Two runs may agree by chance; neither is better than the rounding of its numbers.
    rounding = _ROUNDING_IN_EPS * float(np.finfo(float_dtype()).eps)
    for i, samples in enumerate((run.qs, run.qds)):
        error[i] = np.maximum(error[i], rounding * np.max(np.abs(samples), axis=0))
    return Errors(error[0], error[1], text)
