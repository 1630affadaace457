"""How often a motion winds round, by the time or by the return to a section."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .._checks import trial_trace
from .._suggest import quoted, suggestion
from ..model import AbstractSystem
from ..simulation import Trajectory
from ._section_record import PoincareSection


def winding_number(
    motion: Trajectory | PoincareSection, angle: str | Callable[..., Any], *, lane: int = 0
) -> float:
    """The mean rotation of an angle: turns a second of a trajectory, turns a return of a section,

        w = Σ g(sₖ) (θₖ₊₁ − θₖ) / (2π Σ g(sₖ) Δₖ),    g(s) = exp(−1 / (s (1 − s))),

    where sₖ from 0 to 1 is how much of the motion has passed and Δ is 1 return, or the time
    between samples. The weights g make the mean of a quasi-periodic motion converge faster than
    any power of its length (S. Das, Y. Saiki, E. Sander & J. A. Yorke, Nonlinearity 30 (2017)
    4111–4140); a chaotic one gains nothing.

    **Arguments:**

    - `motion`: a `Trajectory`, or a `PoincareSection` with the `lane` that is meant, from 0.
    - `angle`: the name of a coordinate, whose turns have been counted by the integration; or a
      function `(q, qd, t, params) -> angle` [rad], known up to 2π only. Of a trajectory, samples
      must then lie less than half a turn apart. Of a section, steps are taken from 0 to 2π, so
      that w is known up to whole turns and lies in [0, 1).

    **Returns:** w, a float: [turns/s] of a trajectory, [turns a return] of a section.

    **Raises:** `ValueError` for what is no such motion, an unknown name, a lane that is not there,
    a motion of fewer than two points, or a function that does not return one number.
    """
    if isinstance(motion, PoincareSection):
        motion = motion.lane(lane)
        ts, q, qd = motion.times, motion.q, motion.qd
        params, spans = motion.params, np.ones(max(len(ts) - 1, 0))
    elif isinstance(motion, Trajectory):
        ts, q, qd = (np.asarray(x) for x in (motion.ts, motion.qs, motion.qds))
        params, spans = motion.params, np.diff(ts)
    else:
        raise ValueError(
            "`motion` must be a `Trajectory` or a `PoincareSection`, but is a "
            f"{type(motion).__name__}"
        )
    if len(ts) < 2:
        raise ValueError(f"`motion` must have two points at least, but has {len(ts)}")
    turns = _turns(motion, angle, q, qd, ts, params)
    middle = np.cumsum(spans) - 0.5 * spans
    s = middle / np.sum(spans)
    weights = np.exp(-1.0 / (s * (1.0 - s)))
    return float(np.sum(weights * turns) / np.sum(weights * spans))


def _turns(
    motion: Trajectory | PoincareSection,
    angle: str | Callable[..., Any],
    q: np.ndarray,
    qd: np.ndarray,
    ts: np.ndarray,
    params: Any,
) -> np.ndarray:
    """Between successive points, shape (k − 1,)."""
    system: AbstractSystem = motion.system
    names = list(system.coordinates)
    if isinstance(angle, str):
        if angle not in names:
            raise ValueError(
                f"`angle` names {quoted(angle)}, which is not a coordinate."
                + suggestion(angle, names)
            )
        return np.diff(q[:, names.index(angle)]) / (2 * np.pi)
    trial_trace(angle, "angle", (), q[0], qd[0], ts[0], params)
    angles = jax.vmap(angle, in_axes=(0, 0, 0, None))(q, qd, ts, params)
    turns = np.diff(np.asarray(angles, float) / (2 * np.pi))
    return turns % 1.0 if isinstance(motion, PoincareSection) else turns - np.round(turns)
