"""What a section may be: a plane, a clock, or any function of the state."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._checks import as_scalar, in_force, trial_trace
from .._suggest import quoted, suggestion
from .._typing import AnyArray, Params
from ..model import AbstractSystem

_LOOKS = 6.0  # at least, in every turn of an angle and every period of a clock


class Plane(eqx.Module):
    """A coordinate, or the rate of one, has a value; angles modulo 2π if wrapped.

    Wrapped it is sin(q − value), of which only the zeros with a positive cosine count.
    """

    value: AnyArray
    index: int = eqx.field(static=True)  # among (q, q̇)
    wrapped: bool = eqx.field(static=True)

    def _distance(self, q: Any, qd: Any) -> Any:
        n = q.shape[0]
        return (q[self.index] if self.index < n else qd[self.index - n]) - self.value

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """The distance from the plane."""
        distance = self._distance(q, qd)
        return jnp.sin(distance) if self.wrapped else distance

    def counts(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """Not half a turn away."""
        if not self.wrapped:
            return jnp.ones((), bool)
        return jnp.cos(self._distance(q, qd)) > 0

    def pace(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """How fast an angle turns, so that no turn is passed over [1/s]."""
        if not self.wrapped:
            return jnp.zeros_like(t)
        return _LOOKS / (2 * np.pi) * jnp.abs(qd[self.index])


class Clock(eqx.Module):
    """Every period: sin(2π (t − phase) / period) rises through zero."""

    period: AnyArray
    phase: AnyArray

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """The clock's hand."""
        return jnp.sin(2 * np.pi * (t - self.phase) / self.period)

    def pace(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """[1/s]."""
        return jnp.broadcast_to(_LOOKS / self.period, jnp.shape(t))


class Function(eqx.Module):
    """A user's function of (q, qd, t, params), looked at every so often."""

    function: Callable[..., Any] = eqx.field(static=True)
    looks: AnyArray  # [1/s]

    def __call__(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """Its value."""
        return self.function(q, qd, t, params)

    def pace(self, q: Any, qd: Any, t: Any, params: Params) -> Any:
        """[1/s]."""
        return jnp.broadcast_to(self.looks, jnp.shape(t))


Cut = Plane | Clock | Function


def as_cut(
    system: AbstractSystem,
    section: Callable[..., Any] | Mapping[str, Any] | None,
    period: Any,
    wrap: bool,
    every: Any,
) -> tuple[Cut, str]:
    """What a user means by `section` or `period`, checked; and how it is called in print."""
    if (section is None) == (period is None):
        raise ValueError(
            "either `section` or `period` must be given: a function (q, qd, t, params) -> number, "
            f"a mapping such as {{{next(iter(system.coordinates))!r}: 0.0}}, or a period [s]"
        )
    if section is None:
        section = {"period": period}
    if isinstance(section, Mapping):
        if every is not None:
            raise ValueError("`every` must be left out, unless `section` is a function")
        return _named(system, dict(section), wrap)
    looks = 0.0 if every is None else 1.0 / float(as_scalar(every, "every", positive=True))
    n = system.n
    state = (np.zeros(n), np.zeros(n), np.zeros(()), system.params)
    trial_trace(section, "section", (), *state)
    label = getattr(section, "__name__", type(section).__name__)
    return Function(section, in_force(looks)), "section" if label == "<lambda>" else label


def _named(system: AbstractSystem, section: dict[str, Any], wrap: bool) -> tuple[Cut, str]:
    names = list(system.coordinates)
    known = [*names, *(f"{name}_dot" for name in names)]
    if "period" in section and "period" not in names:
        unknown = [key for key in section if key not in ("period", "phase")]
        if unknown:
            raise ValueError(
                f"`section` with a period may have a 'phase' besides, but has {unknown[0]!r}"
            )
        period = as_scalar(section["period"], "period", positive=True)
        phase = as_scalar(section.get("phase", 0.0), "phase")
        return Clock(in_force(period), in_force(phase)), f"every {float(period):.6g} s"
    if len(section) != 1:
        raise ValueError(
            f"`section` must name one coordinate or rate and its value, but names {len(section)}"
        )
    ((name, value),) = section.items()
    if name not in known:
        raise ValueError(
            f"`section` names {quoted(name)}, which is no coordinate and no rate."
            + suggestion(str(name), [*known, "period"])
        )
    index = known.index(name)
    value = as_scalar(value, f"section[{name!r}]")
    wrapped = wrap and index < len(names) and system.coordinates[name] == "rad"
    label = f"{name} = {float(value):.6g}" + (" modulo 2π" if wrapped else "")
    return Plane(in_force(value), index, wrapped), label
