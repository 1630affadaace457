"""What a criterion says of points anywhere on a map."""

import warnings
from typing import Any, NamedTuple

import jax
import numpy as np

from .._checks import WRONG_PRECISION, float_dtype
from .._results import Status
from ..lanes import EnergyError, Ensemble, ensemble
from ..model import AbstractSystem, Laws, parameter_paths
from ._axes import Grid
from ._criteria import AbstractCriterion
from ._verdicts import Verdict

_ENERGY = "energy balance"  # among the reducers; a criterion's own names have no blank
# Starts that are closer than so many roundings part by rounding, or not at all.
_TELLING = 1e3


class Points(NamedTuple):
    """What is known of some points; arrays of shape (points,)."""

    values: np.ndarray
    verdicts: np.ndarray
    energy_error: np.ndarray
    status: np.ndarray
    indefinite: np.ndarray  # whether a motion starts with a mass matrix that is not definite
    engine: dict[str, Any]  # the ensemble's settings


class Study(NamedTuple):
    """Everything that says what is asked of a point."""

    system: AbstractSystem
    grid: Grid
    criterion: AbstractCriterion
    duration: float
    trust: float
    options: dict[str, Any]  # of the ensemble

    def at(self, places: list[np.ndarray]) -> Points:
        """Measure and judge points; `places` holds one array of shape (points,) for each axis.

        Raises:
            KeyboardInterrupt: the user ended it; nothing of these points is kept.
        """
        criterion = self.criterion
        ran = self._motions(places)
        count = places[0].size
        status = np.asarray(ran.status).reshape(count, -1)
        copies = status.shape[1]
        if np.any(status == Status.INTERRUPTED):
            raise KeyboardInterrupt
        found = jax.tree.map(
            lambda leaf: np.asarray(leaf).reshape(count, copies, *np.shape(leaf)[1:]), ran.values
        )
        energy = np.max(found.pop(_ENERGY), axis=1)
        ended = np.all((status == Status.OK) | (status == Status.EVENT), axis=1)
        with np.errstate(all="ignore"):  # motions that failed
            values = np.where(ended, criterion.measure(found, self.duration), np.nan)
        lost = self._lost(places)
        values[lost] = np.nan
        verdicts = criterion.judge(values, self.duration).astype(np.int8)
        if isinstance(self.system.laws, Laws):  # else there may be no energy, or not one that stays
            verdicts[~(energy <= self.trust)] = Verdict.UNDECIDED
        verdicts[lost] = Verdict.UNDECIDED
        verdicts[~ended] = Verdict.FAILED
        worst = np.where(ended, status[:, 0], np.max(status, axis=1)).astype(np.int8)
        unreal = np.zeros(count, bool)
        if ran.indefinite is not None:
            unreal = np.any(ran.indefinite.reshape(count, copies), axis=1)
        return Points(values, verdicts, energy, worst, unreal, ran.settings)

    def require_apart(self) -> None:
        """Refuse neighbours that are lost in the rounding of their start all over the map."""
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
        return size, _TELLING * float(np.finfo(float_dtype()).eps) * size

    def _lost(self, places: list[np.ndarray]) -> np.ndarray:
        """Where a start beside a point's is the same but for rounding, shape (points,)."""
        apart = np.max(np.abs(self.criterion.copies(self.system)), axis=1)
        if not np.any(apart > 0):
            return np.zeros(places[0].size, bool)
        return self._needed(places)[1] > np.min(apart[apart > 0])

    def engine(self) -> dict[str, Any]:
        """The ensemble's settings, found without computing or compiling a motion."""
        settings: dict[str, Any] = {}

        def traced(nothing: Any) -> Any:
            first = [axis.grid[:1] for axis in self.grid.axes]
            settings.update(self._motions(first, nothing).settings)
            return nothing

        jax.eval_shape(traced, 0.0)
        return settings

    def _motions(self, places: list[np.ndarray], shift: Any = 0.0) -> Ensemble:
        """All motions of some points: those of the first point, those of the second, ..."""
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
