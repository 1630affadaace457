"""Whether residuals look like noise: runs of one sign, and what neighbours have in common."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np

_DOUBT = 3.29  # standard deviations: one in a thousand


class Whiteness(eqx.Module):
    """Tests of residuals, over all records.

    Attributes:
        runs: how far the number of runs of one sign departs from that of independent signs, in
            standard deviations, for each channel; negative for too few (A. Wald, J. Wolfowitz, Ann.
            Math. Stat. 11 (1940) 147-162).
        correlation: of neighbouring residuals, for each channel, 0 for noise.
        spread: the standard deviation of that, 1/√N.
    """

    runs: np.ndarray
    correlation: np.ndarray
    spread: np.ndarray

    @property
    def white(self) -> bool:
        """Whether both tests let all channels pass as noise (one in a thousand would not)."""
        return bool(
            np.all(np.abs(self.runs) < _DOUBT)
            and np.all(np.abs(self.correlation) < _DOUBT * self.spread)
        )

    @property
    def sentence(self) -> str:
        """What is odd, in words."""
        worst = float(self.correlation[np.argmax(np.abs(self.correlation))])
        return (
            f"neighbours correlate by {worst:.2g}, and signs change "
            f"{np.max(np.abs(self.runs)):.3g} standard deviations "
            f"{'less' if self.runs[np.argmax(np.abs(self.runs))] < 0 else 'more'} often than by "
            "chance"
        )


def whiteness(residuals: Sequence[np.ndarray]) -> Whiteness:
    """Tests of residuals of records, each of shape (k, c), NaN where nothing was measured."""
    channels = residuals[0].shape[1]
    runs, correlation, spread = np.zeros(channels), np.zeros(channels), np.ones(channels)
    for c in range(channels):
        seen = [r[np.isfinite(r[:, c]), c] for r in residuals]
        total = sum(float(np.sum(r**2)) for r in seen)
        pairs = sum(max(len(r) - 1, 0) for r in seen)
        if pairs < 2 or total == 0:
            continue
        products = sum(float(np.sum(r[1:] * r[:-1])) for r in seen)
        mean_square = total / sum(map(len, seen))
        correlation[c], spread[c] = products / (pairs * mean_square), 1 / np.sqrt(pairs)
        counted, expected, variance = 0.0, 0.0, 0.0
        for r in seen:
            up, down = float(np.sum(r > 0)), float(np.sum(r < 0))  # integers would overflow
            n = up + down
            if up == 0 or down == 0 or n < 2:
                continue
            signs = np.sign(r[r != 0])
            counted += 1 + np.sum(signs[1:] != signs[:-1])
            expected += 1 + 2 * up * down / n
            variance += 2 * up * down * (2 * up * down - n) / (n**2 * (n - 1))
        runs[c] = (counted - expected) / np.sqrt(variance) if variance > 0 else 0.0
    return Whiteness(runs, correlation, spread)
