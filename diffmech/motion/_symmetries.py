"""What the equations of motion leave unchanged, by trying them at random states.

reversible       a(q, −q̇) = a(q, q̇): a motion that comes to rest goes back the way it came
point symmetric  a(−q, −q̇) = −a(q, q̇): the mirror image of a motion is a motion
autonomous       a does not depend on time
at rest          some coordinates stay at their values, at rest, whatever the others do
"""

from functools import partial
from typing import Any

import jax
import numpy as np

from .._typing import AnyArray, Params
from ..model import ExplicitLaws, Laws
from ._euler_lagrange import acceleration_of

_TRIALS = 8
_AGREEMENT = 1e-9  # of the largest acceleration: many roundings, far below any physical effect
_JITTER = 0.01  # of the parameters


@partial(jax.jit, static_argnums=0)
def _accelerations(laws: Laws | ExplicitLaws, ys: Any, ts: Any, params: Params) -> Any:
    n = ys.shape[1] // 2
    return jax.vmap(lambda y, t: acceleration_of(laws, y[:n], y[n:], t, params))(ys, ts)


class SymmetryTrials:
    """Trials of the equations of motion at random states, about as large as a given motion.

    A property is reported if it holds at 8 states to 1e-9 of the largest acceleration. States come
    from fixed seeds, so that answers repeat.

    Args:
        size: largest |q| of the states [units of the coordinates].
        rate: largest |q̇| [the same per second].
    """

    def __init__(self, laws: Laws | ExplicitLaws, size: float, rate: float, params: Params):
        self.laws = laws
        self.params = params
        self.size, self.rate = size, rate

    def states(self, n: int, seed: int) -> np.ndarray:
        """Random states, shape (trials, 2n)."""
        unit = np.random.default_rng(seed).uniform(-1, 1, (_TRIALS, 2 * n))
        return unit * np.repeat([self.size, self.rate], n)

    def accelerations(self, ys: AnyArray, t: float = 0.0, params: Params = None) -> np.ndarray:
        """q̈ at each state, shape (trials, n); `params` other than the machine's if given."""
        params = self.params if params is None else params
        return np.asarray(_accelerations(self.laws, ys, np.full(len(ys), t), params))

    def jittered(self) -> Params:
        """Parameters nearby, zeros made different from zero: what holds there holds in general."""
        rng = np.random.default_rng(2)

        def change(leaf: Any) -> Any:
            leaf = np.asarray(leaf)
            by = _JITTER * rng.uniform(0.5, 1, leaf.shape)
            return np.where(leaf == 0, by, leaf * (1 + by))

        return jax.tree.map(change, self.params)

    def same(self, ours: np.ndarray, others: np.ndarray) -> bool:
        """Whether two sets of accelerations agree to rounding; NaN never does."""
        return bool(np.max(np.abs(ours - others)) <= _AGREEMENT * np.max(np.abs(ours)))

    def reversible(self, n: int) -> bool:
        """a(q, −q̇) = a(q, q̇)."""
        ys = self.states(n, 0)
        back = ys * np.repeat([1.0, -1.0], n)
        return self.same(self.accelerations(ys), self.accelerations(back))

    def point_symmetric(self, n: int) -> bool:
        """a(−q, −q̇) = −a(q, q̇), with parameters nearby too."""
        ys = self.states(n, 0)
        return all(
            self.same(self.accelerations(ys, 0.0, p), -self.accelerations(-ys, 0.0, p))
            for p in (self.params, self.jittered())
        )

    def autonomous(self, n: int, times: tuple[float, ...] = (0.37, 1.91)) -> bool:
        """Whether the equations are the same at all times."""
        ys = self.states(n, 0)
        now = self.accelerations(ys)
        return all(self.same(now, self.accelerations(ys, t)) for t in times)

    def staying(self, q: AnyArray, moving: tuple[int, ...]) -> tuple[int, ...]:
        """The coordinates beside `moving` that stay at their values in q, at rest.

        The largest set that none of the others can move: all are tried, those that accelerate
        are let go, and the rest is tried again with them in motion.
        """
        n = len(q)
        resting = [i for i in range(n) if i not in moving]
        while resting:
            ys = self.states(n, 1)
            ys[:, resting] = np.asarray(q)[resting]
            ys[:, [n + i for i in resting]] = 0.0
            sizes = np.abs(self.accelerations(ys))
            largest = np.max(sizes)
            still = [i for i in resting if np.max(sizes[:, i]) <= _AGREEMENT * largest]
            if len(still) == len(resting):
                break
            resting = still
        return tuple(resting)


def typical_rate(laws: Laws | ExplicitLaws, q: AnyArray, size: float, params: Params) -> float:
    """How fast a motion of this size is, √(size · max |q̈|) at rest in q [units of q per second].

    1 where nothing accelerates. `q` has shape (n,) or (k, n).
    """
    ys = np.concatenate([np.atleast_2d(q), np.zeros_like(np.atleast_2d(q))], axis=1)
    accelerations = np.asarray(_accelerations(laws, ys, np.zeros(len(ys)), params))
    finite = np.abs(accelerations[np.isfinite(accelerations)])
    largest = float(np.max(finite)) if finite.size else 0.0
    return float(np.sqrt(size * largest)) or 1.0
