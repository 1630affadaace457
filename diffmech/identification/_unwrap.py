"""Angles that a sensor gives within one turn, counted on."""

import numpy as np

_TURN = 2 * np.pi
# Between two samples an angle may be this much faster than it is anywhere that can be seen.
_MARGIN = 1.5


def unwrapped(ts: np.ndarray, angles: np.ndarray, what: str) -> np.ndarray:
    """The angles plus the whole turns that make them continuous, shape (k,) [rad]; gaps are NaN.

    From one sample to the next, angle i to j, the step is the one of

        θ_j − θ_i + 2π n,   |step| ≤ 1.5 v (t_j − t_i),

    where v is the largest speed that the samples show. Where several n are possible, after a gap
    or with a sampling that is too slow, nothing is guessed.

    Raises:
        ValueError: more than one number of turns is possible; `what` and the times are named.
    """
    seen = np.flatnonzero(~np.isnan(angles))
    if len(seen) < 2:
        return angles
    times, known = ts[seen], angles[seen]
    durations, steps = np.diff(times), np.diff(known)
    nearest = steps - _TURN * np.round(steps / _TURN)
    # Two samples that nearly coincide show the noise, not the speed; far ones hide it.
    usual = np.sort(durations)[(len(durations) - 1) // 2]
    neighbours = (durations >= 0.5 * usual) & (durations <= 1.5 * usual)
    reach = _MARGIN * np.max(np.abs(nearest[neighbours]) / durations[neighbours]) * durations
    unsure = np.flatnonzero(reach >= _TURN - np.abs(nearest))
    if len(unsure):
        i = int(unsure[0])
        raise ValueError(
            f"{what} must be sampled densely enough to count its turns, but from t = "
            f"{times[i]:.6g} to {times[i + 1]:.6g} s, at up to {reach[i] / durations[i]:.3g} "
            f"rad/s, it may have moved by {nearest[i]:.3g} rad or by a turn more or less: use the "
            "parts before and after as two records (`between`)"
        )
    result = angles.copy()
    result[seen] = known[0] + np.concatenate([[0.0], np.cumsum(nearest)])
    return result
