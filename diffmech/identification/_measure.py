"""What sensors see of a machine: coordinates and rates by name, or any function of the state."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import trial_trace
from .._suggest import quoted, suggestion
from .._units import in_si, rate_unit
from ..model import AbstractSystem
from ._record import Record


class Measure(NamedTuple):
    """What is measured.

    Attributes:
        function: `(q, qd, t, params)` to shape (c,).
        coordinates, rates: the channel that shows each, −1 where none does so directly.
        units: of each channel; "" where unknown.
    """

    function: Callable[..., Any]
    coordinates: list[int]
    rates: list[int]
    units: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether all coordinates are measured."""
        return all(c >= 0 for c in self.coordinates)


def as_measure(
    system: AbstractSystem, records: Sequence[Record], given: Callable[..., Any] | None
) -> Measure:
    """The function that records are compared with.

    Without one, channels are coordinates ("theta") and rates ("theta_dot") by name.

    Raises:
        ValueError: records differ in their channels, a channel is neither, or the function does not
            return one number for each channel.
    """
    channels = records[0].channels
    for record in records[1:]:
        if record.channels != channels:
            raise ValueError(
                f"all records must have the channels ({', '.join(channels)}), but record "
                f"{quoted(record.name)} has ({', '.join(record.channels)})"
            )
    names = tuple(system.coordinates)
    n = len(names)
    if given is not None:
        arguments = (np.zeros(n), np.zeros(n), np.zeros(()), system.params)
        abstract = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(np.shape(x), jnp.result_type(float)), arguments
        )
        shape = trial_trace(given, "measure", None, *abstract)
        if int(np.prod(shape)) != len(channels):
            raise ValueError(
                f"`measure` must return one number for each of the {len(channels)} channels "
                f"({', '.join(channels)}), but returns shape {shape}"
            )
        return Measure(given, [-1] * n, [-1] * n, ("",) * len(channels))
    known = {name: i for i, name in enumerate(names)}
    known |= {f"{name}_dot": n + i for i, name in enumerate(names)}
    for channel in channels:
        if channel not in known:
            raise ValueError(
                f"channel {quoted(channel)} must be a coordinate or a rate of {system.name!r}, or "
                f"give `measure`.{suggestion(channel, known)}"
            )
    require_units(system, records)
    indices = tuple(known[channel] for channel in channels)
    units = list(system.coordinates.values())
    return Measure(
        _chosen(indices),
        [indices.index(i) if i in indices else -1 for i in range(n)],
        [indices.index(n + i) if n + i in indices else -1 for i in range(n)],
        tuple(units[i] if i < n else f"{units[i - n]}/s" for i in indices),
    )


def require_units(system: AbstractSystem, records: Sequence[Record]) -> None:
    """Refuse a channel that is said to be in a unit of something else than its coordinate."""
    units = dict(system.coordinates)
    units |= {f"{name}_dot": rate_unit(unit) for name, unit in system.coordinates.items() if unit}
    for record in records:
        for channel, unit in record.units:
            wanted, stated = units.get(channel, ""), in_si(unit)
            if channel in record.channels and wanted and stated and not _alike(stated[0], wanted):
                raise ValueError(
                    f"channel {quoted(channel)} of record {quoted(record.name)} must be in "
                    f"{wanted}, as in {system.name!r}, or in a unit of the same kind, but is said "
                    f"to be in {unit}"
                )


def _alike(one: str, other: str) -> bool:
    """Angles are pure numbers."""
    return one.replace("rad", "1") == other.replace("rad", "1")


@lru_cache(maxsize=64)
def _chosen(indices: tuple[int, ...]) -> Callable[..., Any]:
    """Entries of (q, q̇); the same function for the same entries, so that programs are shared."""

    def measure(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t, params
        return jnp.concatenate([q, qd])[np.array(indices)]

    return measure
