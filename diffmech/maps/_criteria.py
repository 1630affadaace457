"""When a motion counts as stable: criteria for maps.

A criterion measures one number of every motion and judges it:

    copies(system) -> (k, 2n)                   starts beside each point, as (δq, δq̇) from it
    reducers(system) -> {name: reducer}         what is kept of each motion
    measure(values, duration) -> (points,)      a number from it; leaves have shape (points, k, ...)
    judge(values, duration) -> (points,)        as `Verdict`
    describe() -> {name: number or text}        for the record: equal criteria, equal descriptions
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar, in_force
from .._fingerprint import digest_of
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Params
from ..lanes import AbstractReducer, FirstTime, Last
from ..model import AbstractSystem
from ._verdicts import Verdict


class AbstractCriterion(eqx.Module):
    """When a motion counts as stable; the module's text has the whole protocol."""

    @abstractmethod
    def copies(self, system: AbstractSystem) -> np.ndarray:
        """Starts beside each point, as (δq, δq̇) from it, shape (k, 2n)."""

    @abstractmethod
    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """What is kept of each motion."""

    @abstractmethod
    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """A number for each point, from leaves of shape (points, k, ...)."""

    @abstractmethod
    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """A `Verdict` for each number."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Names and numbers, for the record: "criterion" and what else tells it from others.

        "measures" is the label of the number on an axis, with its unit.
        """


def alone(system: AbstractSystem) -> np.ndarray:
    """The point itself, and no start beside it."""
    return np.zeros((1, 2 * system.n))


def judged(measured: np.ndarray, stable: float, unstable: float) -> np.ndarray:
    """Stable up to one number, unstable from another on, undecided between."""
    verdict = np.full(measured.shape, Verdict.UNDECIDED, np.int8)
    verdict[measured <= stable] = Verdict.STABLE
    verdict[measured >= unstable] = Verdict.UNSTABLE
    return verdict


class _Beyond(eqx.Module):
    """|q_i| − bound."""

    bound: AnyArray
    index: int = eqx.field(static=True)

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        return jnp.abs(q[self.index]) - self.bound


class Tumble(AbstractCriterion):
    """Unstable where |coordinate| reaches `bound` in time; measures when [s], infinite if never."""

    coordinate: str = eqx.field(static=True)
    bound: float = eqx.field(static=True)

    def __init__(self, coordinate: str, bound: Any = np.pi / 2):
        self.coordinate = coordinate
        self.bound = float(as_scalar(bound, "bound", positive=True))

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point alone."""
        return alone(system)

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The time, after which a motion ends."""
        names = list(system.coordinates)
        if self.coordinate not in names:
            raise ValueError(
                f"there is no coordinate {quoted(self.coordinate)}."
                + suggestion(self.coordinate, names)
            )
        beyond = _Beyond(in_force(self.bound), names.index(self.coordinate))
        return {"time": FirstTime(beyond)}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The time of leaving [s]."""
        return values["time"][:, 0]

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable if it never leaves."""
        return _in_time(measured)

    def describe(self) -> dict[str, Any]:
        """Coordinate and bound."""
        return {"criterion": "tumble", "coordinate": self.coordinate, "bound": self.bound}


class Leaves(AbstractCriterion):
    """Unstable where `condition(q, qd, t, params)` gets to zero or above (or true) in time [s]."""

    condition: Callable[..., Any]

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point alone."""
        return alone(system)

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The time, after which a motion ends."""
        return {"time": FirstTime(self.condition)}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The time at which it first holds [s]."""
        return values["time"][:, 0]

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable if it never holds."""
        return _in_time(measured)

    def describe(self) -> dict[str, Any]:
        """The function's name, and a digest of its code and of what it reads."""
        name = getattr(self.condition, "__qualname__", type(self.condition).__name__)
        return {"criterion": "leaves", "condition": name, "code": digest_of(self.condition)}


def _in_time(times: np.ndarray) -> np.ndarray:
    """Unstable where a time was found; where the condition was NaN, nothing is known."""
    verdicts = np.where(np.isfinite(times), Verdict.UNSTABLE, Verdict.STABLE)
    return np.where(np.isnan(times), Verdict.UNDECIDED, verdicts).astype(np.int8)


class Spread(AbstractCriterion):
    """Unstable where two neighbours are further apart than `limit` when the time is over.

    The second start differs by `offset`, a mapping by coordinate or rate. Measures the largest
    difference of a coordinate at the end. Undecided where the offset is lost in the rounding of the
    start: less than a thousand roundings of its largest number.
    """

    offset: tuple[tuple[str, float], ...] = eqx.field(static=True)
    limit: float = eqx.field(static=True)

    def __init__(self, offset: dict[str, Any], limit: Any = 1.0):
        self.offset = tuple((str(k), float(as_scalar(v, f"offset {k}"))) for k, v in offset.items())
        if not any(change for _, change in self.offset):
            raise ValueError(
                "`offset` must move the second start, such as {'qB': 1e-3}, but is "
                f"{dict(self.offset)}"
            )
        self.limit = float(as_scalar(limit, "limit", positive=True))

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point, and its neighbour."""
        names = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
        both = np.zeros((2, 2 * system.n))
        for name, change in self.offset:
            if name not in names:
                raise ValueError(
                    f"there is no coordinate or rate {quoted(name)}.{suggestion(name, names)}"
                )
            both[1, names.index(name)] = change
        return both

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """Where they end."""
        return {"last": Last()}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The largest difference of a coordinate."""
        q, _ = values["last"]
        return np.max(np.abs(q[:, 1] - q[:, 0]), axis=-1)

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable if they stay together."""
        return judged(measured, np.nextafter(self.limit, 0), self.limit)

    def describe(self) -> dict[str, Any]:
        """Offset and limit."""
        return {"criterion": "spread", "limit": self.limit, **dict(self.offset)}
