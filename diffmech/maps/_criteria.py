"""Criteria by the motion itself, and by a second start beside it."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar, in_force
from .._fingerprint import digest_of
from .._typing import AnyArray, Params
from ..lanes import AbstractReducer, FirstTime, Last
from ..model import AbstractSystem
from ._abstract_criterion import AbstractCriterion, by_limits, require_known
from ._verdicts import Verdict


class _Beyond(eqx.Module):
    """|q_i| − bound."""

    bound: AnyArray
    index: int = eqx.field(static=True)

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        return jnp.abs(q[self.index]) - self.bound


class Tumble(AbstractCriterion):
    """Unstable where |coordinate| reaches `bound` in time; measures when [s], infinite if never.

        min {t : |q_i(t)| ≥ bound},   shape (points,)

    t is that of the clock, and the start counts. Angles are not taken modulo 2π.

    Attributes:
        coordinate: its name.
        bound: greater than zero [unit of the coordinate].

    **Raises:** `ValueError` for a bound that is no such number; and by `stability_map`, for a name
    that is no coordinate.
    """

    word: ClassVar[str] = "tumble"
    measures: ClassVar[str] = "time until it tumbles [s]"

    coordinate: str = eqx.field(static=True)
    bound: float = eqx.field(static=True)

    def __init__(self, coordinate: str, bound: Any = np.pi / 2):
        self.coordinate = coordinate
        self.bound = float(as_scalar(bound, "bound", positive=True))

    @classmethod
    def from_words(
        cls, words: Mapping[str, str], system: AbstractSystem, number: Callable[..., float]
    ) -> AbstractCriterion:
        """`tumble:qB=90deg`: one coordinate and its bound, in the coordinate's unit."""
        for name in words:
            require_known(name, "coordinate", system.coordinates)
        if len(words) != 1:
            raise ValueError(
                f"`criterion` tumble needs one bound: tumble:{_example(system, 90.0, 1.0)}"
            )
        ((name, text),) = words.items()
        return cls(name, number(text, name, system.coordinates[name]))

    @property
    def sentence(self) -> str:
        """The bound that is kept, in the coordinate's SI unit."""
        return f"|{self.coordinate}| stays below {self.bound:g} all the time"

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The time [s] at which the bound is reached; the motion ends there."""
        names = list(system.coordinates)
        require_known(self.coordinate, "coordinate", names)
        beyond = _Beyond(in_force(self.bound), names.index(self.coordinate))
        return {"time": FirstTime(beyond)}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The time at which the bound is reached [s], shape (points,); infinite if never."""
        return values["time"][:, 0]

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable where the bound is never reached, shape (points,)."""
        return _in_time(measured)

    def value_range(self, duration: float) -> tuple[float, float] | None:
        """From the start to the end of the motions [s]."""
        return 0.0, duration


class Leaves(AbstractCriterion):
    """Unstable where `condition(q, qd, t, params)` gets to zero or above (or true) in time [s].

        min {t : g(q, q̇, t, params) ≥ 0},   g the condition, shape (), of any unit

    Measures that time, on the clock of t, shape (points,); infinite if never, and undecided where g
    becomes NaN. How it is found, and what may be missed: `reducers.FirstTime`.

    **Raises:** `ValueError`, by `stability_map`, for a condition that does not return one number or
    one truth value.
    """

    word: ClassVar[str] = "leaves"
    measures: ClassVar[str] = "time until it leaves [s]"

    condition: Callable[..., Any]

    @property
    def sentence(self) -> str:
        """The condition never holds."""
        return "the condition stays below zero, or false, all the time"

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The time [s] at which the condition first holds; the motion ends there."""
        return {"time": FirstTime(self.condition)}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """The time at which the condition first holds [s], shape (points,); infinite if never."""
        return values["time"][:, 0]

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable where the condition never holds, shape (points,)."""
        return _in_time(measured)

    def value_range(self, duration: float) -> tuple[float, float] | None:
        """From the start to the end of the motions [s]."""
        return 0.0, duration

    def describe(self) -> dict[str, Any]:
        """The function's name, and a digest of its code and of what it reads."""
        return {"condition": _name_of(self.condition), "code": digest_of(self.condition)}


def _name_of(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


def _in_time(times: np.ndarray) -> np.ndarray:
    """Unstable where a time was measured; where the condition was NaN, nothing is known."""
    verdicts = np.where(np.isfinite(times), Verdict.UNSTABLE, Verdict.STABLE)
    return np.where(np.isnan(times), Verdict.UNDECIDED, verdicts).astype(np.int8)


class Spread(AbstractCriterion):
    """Unstable where two neighbours are `limit` or further apart when the time is over.

        max_i |q_i − q_i'|  at the end,   shape (points,) [unit of the coordinates]

    The second start differs by `offset`. Undecided where the offset is lost in the rounding of the
    start: less than a thousand roundings of its largest number.

    Attributes:
        offset: by name of a coordinate or rate, `qB` or `qB_dot` [its unit].
        limit: greater than zero [unit of the coordinates].

    **Raises:** `ValueError` for an offset that moves nothing, or a limit that is no such number;
    and by `stability_map`, for an unknown name or an offset that is lost at all points.
    """

    word: ClassVar[str] = "spread"
    measures: ClassVar[str] = "distance in the end"

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

    @classmethod
    def from_words(
        cls, words: Mapping[str, str], system: AbstractSystem, number: Callable[..., float]
    ) -> AbstractCriterion:
        """`spread:qB=0.5deg,limit=1`: how far off the second start is, and the limit."""
        units = system.coordinates
        rates = {f"{name}_dot": unit for name, unit in units.items()}
        for name in words:
            require_known(name, "coordinate or rate", [*units, *rates, "limit"])
        offset = {
            name: number(text, name, {**rates, **units}[name], rate=name not in units)
            for name, text in words.items()
            if name != "limit"
        }
        if not offset:
            raise ValueError(
                f"`criterion` spread needs a second start: spread:{_example(system, 0.5, 0.01)}"
            )
        limit = number(words["limit"], "limit", "1") if "limit" in words else 1.0
        return cls(offset, limit)

    @property
    def sentence(self) -> str:
        """How far the second start may be in the end."""
        beside = ", ".join(f"{name} + {change:g}" for name, change in self.offset)
        return f"a start at {beside} ends less than {self.limit:g} away"

    def copies(self, system: AbstractSystem) -> np.ndarray:
        """The point and its neighbour, as (δq, δq̇) from the point, shape (2, 2n)."""
        names = [*system.coordinates, *(f"{name}_dot" for name in system.coordinates)]
        both = np.zeros((2, 2 * system.n))
        for name, change in self.offset:
            require_known(name, "coordinate or rate", names)
            both[1, names.index(name)] = change
        return both

    def reducers(self, system: AbstractSystem) -> dict[str, AbstractReducer]:
        """The state in the end."""
        return {"last": Last()}

    def measure(self, values: dict[str, Any], duration: float) -> np.ndarray:
        """max_i |q_i − q_i'| in the end, shape (points,)."""
        q, _ = values["last"]
        return np.max(np.abs(q[:, 1] - q[:, 0]), axis=-1)

    def judge(self, measured: np.ndarray, duration: float) -> np.ndarray:
        """Stable below the limit, unstable from it on, shape (points,)."""
        return by_limits(measured, np.nextafter(self.limit, 0), self.limit)

    def describe(self) -> dict[str, Any]:
        """The limit, and the offset by coordinate or rate."""
        return {"limit": self.limit, **dict(self.offset)}


def _example(system: AbstractSystem, angle_deg: float, other: float) -> str:
    """`qB=90deg` for the machine's last coordinate, or `z=1` if that is no angle."""
    name, unit = list(system.coordinates.items())[-1]
    return f"{name}={f'{angle_deg:g}deg' if unit == 'rad' else f'{other:g}'}"
