"""A machine given by its equations of motion, without a Lagrangian."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx

from .._checks import trial_trace
from .._fingerprint import version_of
from .._typing import Params, ScalarFunction
from ._abstract_arguments import trial_arguments
from ._coordinates import CoordinateUnits, FixedMapping
from ._drawing import checked_drawing
from ._laws import ExplicitLaws
from ._measures import checked_measures
from ._naming import name_after
from ._rules import Range
from ._system import AbstractSystem, Start, checked_description


class Explicit(AbstractSystem):
    """Equations of motion that come without a Lagrangian, q̈ = f(q, q̇, t).

    Momentum balances, Euler's equations, somebody's hand derivation: they run through the same
    `simulate`, the same records and the same report as a `System`.

    **Arguments:**

    - `acceleration`: pure JAX function `(q, qd, t, params) -> (n,)` [1/s²].
    - `coordinates`, `params`, `landmarks`, `links`, `springs`, `dampers`, `faces`, `starts`,
      `name`, `parts`, `units`, `ranges`: as for `System`.
    - `energy`: optional `(q, qd, t, params) -> scalar` [J]. Its change is reported; since the
      forces are not known apart, no work is set against it.

    **Raises:** `ValueError` if a function does not trace, or returns another shape.
    """

    equations: Callable[..., Any] = eqx.field(static=True)
    coordinates: CoordinateUnits = eqx.field(static=True)
    params: Params
    energy: ScalarFunction | None = eqx.field(static=True)
    landmarks: Callable[..., Any] | None = eqx.field(static=True)
    links: tuple[tuple[int, int], ...] = eqx.field(static=True)
    springs: tuple[tuple[int, int], ...] = eqx.field(static=True)
    dampers: tuple[tuple[int, int], ...] = eqx.field(static=True)
    faces: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    starts: dict[str, Start]
    name: str = eqx.field(static=True)
    parts: Callable[..., Any] | None = eqx.field(static=True)
    units: FixedMapping[str] = eqx.field(static=True)
    ranges: FixedMapping[Range] = eqx.field(static=True)

    def __init__(
        self,
        acceleration: Callable[..., Any],
        coordinates: Mapping[str, str] | Sequence[str],
        params: Params = (),
        *,
        energy: ScalarFunction | None = None,
        landmarks: Callable[..., Any] | None = None,
        links: Sequence[tuple[int, int]] = (),
        springs: Sequence[tuple[int, int]] = (),
        dampers: Sequence[tuple[int, int]] = (),
        faces: Sequence[Sequence[int]] = (),
        starts: Mapping[str, tuple[Any, Any]] | None = None,
        name: str | None = None,
        parts: Callable[..., Any] | None = None,
        units: Mapping[str, str] | None = None,
        ranges: Mapping[str, Any] | None = None,
    ):
        self.equations = acceleration
        self.energy = energy
        self.landmarks = landmarks
        self.parts = parts
        self.name = name or name_after(acceleration, "explicit system")
        self.coordinates, self.params, self.starts = checked_description(
            coordinates, params, starts
        )
        self.units, self.ranges = checked_measures(self.params, units, ranges)
        n = len(self.coordinates)
        self.links, self.springs, self.dampers, self.faces = checked_drawing(
            landmarks, n, self.params, links=links, springs=springs, dampers=dampers, faces=faces
        )

        arguments = trial_arguments(n, self.params)
        trial_trace(acceleration, "acceleration", (n,), *arguments)
        if energy is not None:
            trial_trace(energy, "energy", (), *arguments)

    @property
    def laws(self) -> ExplicitLaws:
        """The functions without the numbers: what a compiled program is specialised to."""
        return ExplicitLaws(self.equations, self.energy, version_of(self.equations, self.energy))
