"""The errors of a run, measured by a second, finer one."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from .._checks import float_dtype, in_force
from .._defaults import RUN_MAX_STEPS
from .._results import RESULTS, same
from ..motion import unpack
from ._run import Settings, run_in_stretches

if TYPE_CHECKING:
    from ._trajectory import Trajectory

_TIGHTER = 1e-3  # the second run's tolerance, relative to the first one's
_ROUNDING_IN_EPS = 4.0  # a few roundings are left in any result
_FLOOR_IN_EPS = 150.0  # tolerances below this many eps (3e-14) are beyond the arithmetic


def _second_settings(trajectory: "Trajectory") -> tuple[Settings, float, str]:
    """Settings of the comparison run, the factor from difference to error, and its description.

    A tighter tolerance alone is not enough: where the samples, not the errors, bound the steps,
    both runs would be the same to the last bit. So its steps are at most half as long, too.
    """
    settings = trajectory.settings
    plain = dataclasses.replace(
        settings, events=(), event_names=(), dense=False, max_steps=20 * RUN_MAX_STEPS
    )
    if settings.dt is not None:
        order = settings.solver.order(None) or 1  # pyright: ignore[reportArgumentType]
        step = min(float(settings.dt), float(trajectory.ts[-1]) - float(trajectory.ts[0]))
        halved = dataclasses.replace(plain, dt=in_force(step / 2))
        return halved, 1.0 / (1.0 - 0.5**order), "half the step"
    rtol = float(settings.rtol)
    finer = max(rtol * _TIGHTER, _FLOOR_IN_EPS * float(np.finfo(float_dtype()).eps))
    finer = min(finer, rtol)
    span = float(trajectory.ts[-1]) - float(trajectory.ts[0])
    other = dataclasses.replace(
        plain,
        rtol=in_force(finer),
        atol=in_force(float(settings.atol) * finer / rtol),
        longest=in_force(0.5 * span / max(int(trajectory.stats["accepted"]), 1)),
    )
    return other, 1.0, f"a run at rtol {finer:.0e}"


def unknown_errors(trajectory: "Trajectory") -> tuple[np.ndarray, np.ndarray, str]:
    """The same without a second run: NaN."""
    unknown = np.full(trajectory.qs.shape, np.nan)
    return unknown, unknown, "no second run"


def estimate_errors(
    trajectory: "Trajectory", progress: bool | None
) -> tuple[np.ndarray, np.ndarray, str]:
    """Estimated errors of q and q̇ at the samples, and the name of the second run."""
    if len(trajectory.ts) < 2:
        return np.zeros(trajectory.qs.shape), np.zeros(trajectory.qs.shape), "nothing"
    settings, factor, text = _second_settings(trajectory)
    start = np.concatenate([trajectory.qs[0], trajectory.qds[0], np.zeros(1)])
    second = run_in_stretches(
        trajectory.system,
        trajectory.params,
        start,
        trajectory.ts,
        trajectory.ts[-1],
        settings,
        progress,
        f"{trajectory.system.name}, second run",
    )
    if same(second.result, RESULTS.interrupted):
        raise KeyboardInterrupt  # a report that was broken off must not be kept
    error = np.full((2, *trajectory.qs.shape), np.inf)
    q, qd, _ = unpack(np.asarray(second.ys))
    count = len(q)
    error[0, :count] = factor * np.abs(q - np.asarray(trajectory.qs)[:count])
    error[1, :count] = factor * np.abs(qd - np.asarray(trajectory.qds)[:count])
    # Two runs may agree by chance; neither is better than the rounding of its numbers.
    rounding = _ROUNDING_IN_EPS * float(np.finfo(float_dtype()).eps)
    for i, samples in enumerate((trajectory.qs, trajectory.qds)):
        error[i] = np.maximum(error[i], rounding * np.max(np.abs(samples), axis=0))
    return error[0], error[1], text
