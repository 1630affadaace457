"""Motions, numbers and verdicts of points anywhere on a map."""

import warnings
from typing import Any, NamedTuple

import jax
import numpy as np

from .._checks import WRONG_PRECISION, float_dtype
from .._results import Status
from ..lanes import EnergyError, Ensemble, ensemble
from ..model import AbstractSystem, Laws, parameter_paths
from ._abstract_criterion import AbstractCriterion
from ._axes import Grid
from ._verdicts import Verdict

_ENERGY = "energy balance"  # among the reducers; a criterion's own names have no blank
_FEWEST_ROUNDINGS = 1e3  # between starts: closer ones part by rounding, or not at all


class Points(NamedTuple):
    """What is known of some points; arrays of shape (points,).

    Attributes:
        values: what the criterion measures; NaN where there is nothing.
        verdicts: as `Verdict`.
        energy_error: the larger max |h − h₀ − W| / max(T, |W|) of each point's motions.
        status: how the motions ended, as `Status`; of several the worst.
        indefinite: whether a motion starts with a mass matrix that is not positive definite.
        settings: the ensemble's.
    """

    values: np.ndarray
    verdicts: np.ndarray
    energy_error: np.ndarray
    status: np.ndarray
    indefinite: np.ndarray
    settings: dict[str, Any]


class Evaluator(NamedTuple):
    """All that a map's points have in common; it measures and judges any of them."""

    system: AbstractSystem
    grid: Grid
    criterion: AbstractCriterion
    duration: float
    trust: float
    options: dict[str, Any]  # of the ensemble

    def evaluate(self, places: list[np.ndarray]) -> Points:
        """Measure and judge points, at `places` along each axis, each of shape (points,).

        Raises:
            KeyboardInterrupt: the user ended it; nothing of these points is kept.
        """
        criterion = self.criterion
        motions = self._motions(places)
        count = places[0].size
        status = np.asarray(motions.status).reshape(count, -1)
        copies = status.shape[1]
        if np.any(status == Status.INTERRUPTED):
            raise KeyboardInterrupt
        kept = jax.tree.map(
            lambda leaf: np.asarray(leaf).reshape(count, copies, *np.shape(leaf)[1:]),
            motions.values,
        )
        energy = np.max(kept.pop(_ENERGY), axis=1)
        ended = np.all((status == Status.OK) | (status == Status.EVENT), axis=1)
        with np.errstate(all="ignore"):  # motions that failed
            values = np.where(ended, criterion.measure(kept, self.duration), np.nan)
        lost = self._lost(places)
        values[lost] = np.nan
        verdicts = criterion.judge(values, self.duration).astype(np.int8)
        if isinstance(self.system.laws, Laws):  # else there may be no energy, or not one that stays
            verdicts[~(energy <= self.trust)] = Verdict.UNDECIDED
        verdicts[lost] = Verdict.UNDECIDED
        verdicts[~ended] = Verdict.FAILED
        worst = np.where(ended, status[:, 0], np.max(status, axis=1)).astype(np.int8)
        indefinite = np.zeros(count, bool)
        if motions.indefinite is not None:
            indefinite = np.any(motions.indefinite.reshape(count, copies), axis=1)
        return Points(values, verdicts, energy, worst, indefinite, motions.settings)

    def require_apart(self) -> None:
        """Refuse neighbours that are lost in the rounding of their start everywhere on the map."""
        least = [axis.grid[[np.argmin(np.abs(axis.grid))]] for axis in self.grid.axes]
        if not np.any(self._lost(least)):
            return
        size, needed = (float(x[0]) for x in self._needed(least))
        precision = float_dtype().name
        fix = f" {WRONG_PRECISION}" if precision == "float32" else ""
        raise ValueError(
            f"`criterion` must start neighbours at least {needed:.1e} from each start: these have "
            f"numbers of {size:.2g} or more, and a smaller offset is lost in their rounding in "
            f"{precision}.{fix}"
        )

    def _needed(self, places: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The largest number of each point's start, and the least offset that tells."""
        q0s, qd0s, _ = self.grid.lanes(self.system, self.system.params, places)
        size = np.max(np.abs(np.concatenate([q0s, qd0s], axis=1)), axis=1)
        return size, _FEWEST_ROUNDINGS * float(np.finfo(float_dtype()).eps) * size

    def _lost(self, places: list[np.ndarray]) -> np.ndarray:
        """Where a start beside a point's is the same but for rounding, shape (points,)."""
        apart = np.max(np.abs(self.criterion.copies(self.system)), axis=1)
        if not np.any(apart > 0):
            return np.zeros(places[0].size, bool)
        return self._needed(places)[1] > np.min(apart[apart > 0])

    def ensemble_settings(self) -> dict[str, Any]:
        """The ensemble's settings, without computing or compiling a motion.

        `ensemble` fills in what was left to it (method, tolerances, step limit) and tells it with
        its motions only: those of the first point are traced, and thrown away.
        """
        settings: dict[str, Any] = {}

        def traced(shift: Any) -> Any:
            first = [axis.grid[:1] for axis in self.grid.axes]
            settings.update(self._motions(first, shift).settings)
            return shift

        jax.eval_shape(traced, 0.0)
        return settings

    def _motions(self, places: list[np.ndarray], shift: Any = 0.0) -> Ensemble:
        """All motions of some points: those of the first point, those of the second, ...

        `shift` is added to every coordinate; a traced zero keeps them from being computed.
        """
        criterion, system = self.criterion, self.system
        q0s, qd0s, params = self.grid.lanes(system, system.params, places)
        beside = criterion.copies(system)
        count, copies, n = q0s.shape[0], beside.shape[0], system.n
        if copies > 1:
            q0s, qd0s = (np.repeat(x, copies, axis=0) for x in (q0s, qd0s))
            q0s = q0s + np.tile(beside[:, :n], (count, 1))
            qd0s = qd0s + np.tile(beside[:, n:], (count, 1))
            params = _repeated(system.params, params, copies)
        with warnings.catch_warnings():  # an interruption is told by the status as well
            warnings.simplefilter("ignore", UserWarning)
            return ensemble(
                system,
                q0s + shift,
                qd0s,
                duration=self.duration,
                reduce={**criterion.reducers(system), _ENERGY: EnergyError(system)},
                params=params,
                progress=False,
                **self.options,
            )


def _repeated(own: Any, params: dict[str, Any], copies: int) -> dict[str, Any]:
    """Parameters that vary from lane to lane, each for all copies of a point."""
    usual = {path: np.ndim(leaf) for path, leaf in parameter_paths(own).items()}
    return {
        path: np.repeat(leaf, copies, axis=0) if np.ndim(leaf) > usual[path] else leaf
        for path, leaf in params.items()
    }
