"""What a section may be: a plane, a strobe, or the surface on which a function vanishes."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_direction, as_scalar, briefly, in_force, trial_trace
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Number, Params
from ..lanes import AbstractCrossed
from ..model import AbstractSystem

_LOOKS = 6.0  # at least, in every turn of an angle and every period of a strobe
_WAYS = {1: "rising", -1: "falling", 0: "both ways"}


class AbstractSection(eqx.Module):
    """Where motions are looked at: `Plane`, `Strobe` or `Surface`.

    Attributes:
        direction: 1 keeps crossings at which the section's function rises along the motion, −1
            those at which it falls, 0 all.
    """

    direction: eqx.AbstractVar[int]

    @abstractmethod
    def function(self, system: AbstractSystem) -> AbstractCrossed:
        """f(q, qd, t, params), which vanishes on the section, as `lanes.crossings` takes it.

        Raises:
            ValueError: the section does not fit the machine.
        """

    @abstractmethod
    def label(self, system: AbstractSystem) -> str:
        """What is crossed, in print."""


class Plane(AbstractSection):
    """Where a coordinate, or the rate of one, has a value:

        f = x − level

    or f = sin(x − level), of which only zeros with a positive cosine count, for a coordinate in
    "rad" with `wrap`: then all angles level + 2π k, k whole, lie on the plane. Crossings are
    rising where ẋ > 0.

    Attributes:
        coordinate: its name, as in "qA", or that of its rate, "qA_dot".
        level: the value [the coordinate's unit, or that per second].
        direction: 1 for rising crossings (default), −1 for falling ones, 0 for all.
        wrap: whether a coordinate in "rad" counts modulo 2π (default); nothing else does.

    **Raises:** `ValueError` for a value that is no finite number, or another direction.
    """

    coordinate: str = eqx.field(static=True)
    level: AnyArray
    direction: int = eqx.field(static=True)
    wrap: bool = eqx.field(static=True)

    def __init__(
        self, coordinate: str, level: Number = 0.0, *, direction: int = 1, wrap: bool = True
    ):
        self.coordinate = coordinate
        self.level = as_scalar(level, "level")
        self.direction = as_direction(direction)
        self.wrap = bool(wrap)

    def _index(self, system: AbstractSystem) -> int:
        """Among (q, q̇)."""
        names = list(system.coordinates)
        known = [*names, *(f"{name}_dot" for name in names)]
        if self.coordinate not in known:
            raise ValueError(
                f"`section` names {quoted(self.coordinate)}, which is no coordinate and no rate of "
                f"{system.name!r}." + suggestion(str(self.coordinate), known)
            )
        return known.index(self.coordinate)

    def _wraps(self, system: AbstractSystem) -> bool:
        return self.wrap and system.coordinates.get(self.coordinate) == "rad"

    def function(self, system: AbstractSystem) -> AbstractCrossed:
        """x − level, or its sine."""
        return _Level(in_force(self.level), self._index(system), self._wraps(system))

    def label(self, system: AbstractSystem) -> str:
        """As in "qA = 0 modulo 2π, rising"."""
        modulo = " modulo 2π" if self._wraps(system) else ""
        return f"{self.coordinate} = {float(self.level):.6g}{modulo}, {_WAYS[self.direction]}"


class Strobe(AbstractSection):
    """Instants a period apart, t = phase + k period with k whole:

        f = sin(2π (t − phase) / period),   rising

    Attributes:
        period: [s], greater than zero.
        phase: one of the instants [s]; 0 by default.

    **Raises:** `ValueError` for a period or a phase that is no such number.
    """

    period: AnyArray
    phase: AnyArray
    direction: int = eqx.field(static=True)

    def __init__(self, period: Number, phase: Number = 0.0):
        self.period = as_scalar(period, "period", positive=True)
        self.phase = as_scalar(phase, "phase")
        self.direction = 1

    def function(self, system: AbstractSystem) -> AbstractCrossed:
        """The sine, whatever the machine."""
        return _Periodic(in_force(self.period), in_force(self.phase))

    def label(self, system: AbstractSystem) -> str:
        """As in "every 0.5 s from 0.1 s"."""
        after = f" from {float(self.phase):.6g} s" if float(self.phase) else ""
        return f"every {float(self.period):.6g} s{after}"


class Surface(AbstractSection):
    """Where a function of the state, the time and the parameters vanishes:

        f(q, q̇, t, params) = 0,   f a scalar of any unit

    Crossings are rising where df/dt > 0 along the motion.

    Attributes:
        crossed: the function f(q, qd, t, params) -> number, made of JAX operations; q, qd of shape
            (n,).
        direction: 1 for rising crossings (default), −1 for falling ones, 0 for all.
        every: longest step between two looks at f [s]; None leaves it to the integration. Set it
            where f changes sign more than once while the motion takes a step.

    **Raises:** `ValueError` for a direction or an `every` that is none.
    """

    crossed: Callable[..., Any] = eqx.field(static=True)
    direction: int = eqx.field(static=True)
    every: AnyArray | None

    def __init__(
        self, crossed: Callable[..., Any], *, direction: int = 1, every: Number | None = None
    ):
        self.crossed = crossed
        self.direction = as_direction(direction)
        self.every = None if every is None else as_scalar(every, "every", positive=True)

    def function(self, system: AbstractSystem) -> AbstractCrossed:
        """f, tried on arrays of the machine's shapes."""
        rest = np.zeros(system.n)
        trial_trace(self.crossed, "section", (), rest, rest, np.zeros(()), system.params)
        looks = 0.0 if self.every is None else 1.0 / float(self.every)
        return _Looked(self.crossed, in_force(looks))

    def label(self, system: AbstractSystem) -> str:
        """The function's name."""
        name = getattr(self.crossed, "__name__", type(self.crossed).__name__)
        return f"{'section' if name == '<lambda>' else name} = 0, {_WAYS[self.direction]}"


def as_section(given: Any) -> AbstractSection:
    """A section as given; a coordinate's name is short for its plane, a function for its surface.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(given, AbstractSection):
        return given
    if isinstance(given, str):
        return Plane(given)
    if callable(given) and not isinstance(given, type):
        return Surface(given)
    raise ValueError(
        "`section` must be a `Plane(coordinate, level)`, a `Strobe(period)`, a `Surface(function)`"
        f", the name of a coordinate or a function, but is {briefly(given)}"
    )


class _Level(AbstractCrossed):
    """The function of a plane."""

    level: AnyArray
    index: int = eqx.field(static=True)  # among (q, q̇)
    wraps: bool = eqx.field(static=True)

    def _distance(self, q: Any, qd: Any) -> Any:
        n = q.shape[0]
        return (q[self.index] if self.index < n else qd[self.index - n]) - self.level

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """x − level, or its sine."""
        distance = self._distance(q, qd)
        return jnp.sin(distance) if self.wraps else distance

    def counts(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """Whether a zero of the function lies on the plane, not half a turn away."""
        if not self.wraps:
            return jnp.ones((), bool)
        return jnp.cos(self._distance(q, qd)) > 0

    def pace(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """How often to look [1/s]: six times in a turn of the angle."""
        if not self.wraps:
            return jnp.zeros_like(t)
        return _LOOKS / (2 * np.pi) * jnp.abs(qd[self.index])


class _Periodic(AbstractCrossed):
    """The function of a strobe."""

    period: AnyArray
    phase: AnyArray

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """sin(2π (t − phase) / period)."""
        return jnp.sin(2 * np.pi * (t - self.phase) / self.period)

    def pace(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """How often to look [1/s]: six times in a period."""
        return jnp.broadcast_to(_LOOKS / self.period, jnp.shape(t))


class _Looked(AbstractCrossed):
    """The function of a surface, looked at so often at least."""

    crossed: Callable[..., Any] = eqx.field(static=True)
    looks: AnyArray  # [1/s]

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """f."""
        return self.crossed(q, qd, t, params)

    def pace(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """How often to look [1/s]; 0 leaves it to the integration."""
        return jnp.broadcast_to(self.looks, jnp.shape(t))
