"""A machine given by its equations of motion, without a Lagrangian."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Unpack

import equinox as eqx

from .._checks import trial_trace
from .._fingerprint import version_of
from .._typing import Params, ScalarFunction
from ._abstract_arguments import trial_arguments
from ._abstract_system import AbstractSystem, Description, with_description
from ._laws import ExplicitLaws


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

    unnamed: ClassVar[str] = "explicit system"

    equations: Callable[..., Any] = eqx.field(static=True)
    energy: ScalarFunction | None = eqx.field(static=True)

    @with_description
    def __init__(
        self,
        acceleration: Callable[..., Any],
        coordinates: Mapping[str, str] | Sequence[str],
        params: Params = (),
        *,
        energy: ScalarFunction | None = None,
        **description: Unpack[Description],
    ):
        self.equations = acceleration
        self.energy = energy
        super().__init__(acceleration, coordinates, params, **description)

        arguments = trial_arguments(self.n, self.params)
        trial_trace(acceleration, "acceleration", (self.n,), *arguments)
        if energy is not None:
            trial_trace(energy, "energy", (), *arguments)

    @property
    def laws(self) -> ExplicitLaws:
        """The functions without the numbers: what a compiled program is specialised to."""
        return ExplicitLaws(self.equations, self.energy, version_of(self.equations, self.energy))
