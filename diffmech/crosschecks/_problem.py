"""One machine at many states: what every formulation is given, and what it gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ..model import ForcesOfParts, Laws, System
from ..motion import rate_residual_of
from ._batched import IndependentRows, independent
from ._kinematics import Kinematics, bodies_of, heavy_strangers, seen
from ._over_states import OverStates


class InapplicableError(Exception):
    """A formulation has nothing to say about a machine; why, in words."""


class Accelerations(NamedTuple):
    """Accelerations, shape (k, n); and multipliers, shape (k, m), where a formulation has them."""

    qdd: np.ndarray
    multipliers: np.ndarray | None = None


class Rows(NamedTuple):
    """What the constraints say of rates: φ̇ = J q̇ + a, and c of J q̈ + c = 0."""

    rate: Any
    jacobian: Any
    drift: Any


def rows_at(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Rows:
    """The rows of all constraints at one state."""

    def rate(q: Vector, qd: Vector, t: Scalar) -> Any:
        return rate_residual_of(laws, q, qd, t, params)

    still, now = jnp.zeros_like(qd), jnp.ones_like(t)
    value, drift = jax.jvp(rate, (q, qd, t), (qd, still, now))
    return Rows(value, jax.jacfwd(rate, argnums=1)(q, qd, t), drift)


def declared_forces(system: System) -> Callable[..., Any] | None:
    """The generalised forces that a machine has beside those of its parts."""
    if isinstance(system.forces, ForcesOfParts):
        return system.forces.extra
    return system.forces


@dataclass(frozen=True)
class Problem:
    """A machine given by a Lagrangian, and the states at which it is looked at.

    Attributes:
        system: the machine.
        params: its parameters.
        q, qd, t: the states, shapes (k, n), (k, n) and (k,).
        seed: of what a formulation draws at random.
        speeds: generalised speeds of the user's choice, for Kane's equations.
        about: points and axes of the user's choice, for balances of angular momentum.
        compiled: what had no scalar form and was compiled, as it turns up.
    """

    system: System
    params: Params
    q: np.ndarray
    qd: np.ndarray
    t: np.ndarray
    seed: int = 0
    speeds: Callable[..., Any] | None = None
    about: Sequence[Any] | None = None
    compiled: list[str] = field(default_factory=list)

    @property
    def laws(self) -> Laws:
        """The functions that decide how the machine moves."""
        return self.system.laws

    @property
    def parts(self) -> Callable[..., Any]:
        """Where the parts are; inapplicable without."""
        if self.system.parts is None:
            raise InapplicableError("it needs bodies, and the machine is a Lagrangian only")
        return self.system.parts

    def program(self, label: str, function: Callable[..., Any], *more: Any) -> OverStates:
        """A function of (q, q̇, t, *more, params) over states; `more` are examples of the rest."""
        program = OverStates(function, self.params, self.q[0], self.qd[0], self.t[0], *more)
        if program.compiled and label not in self.compiled:
            self.compiled.append(label)
        return program

    def at_states(self, label: str, function: Callable[..., Any], *more: np.ndarray) -> Any:
        """The same at all states; `more` have one entry for each."""
        examples = [one[0] for one in more]
        return self.program(label, function, *examples)(self.q, self.qd, self.t, *more)

    @cached_property
    def rows(self) -> IndependentRows | None:
        """Independent combinations of the constraints' rows; None for a machine without."""
        if not self.system.constraints:
            return None
        laws = self.laws
        rows = self.at_states("constraints", lambda *state: rows_at(laws, *state))
        return independent(rows.jacobian, rows.drift)

    @cached_property
    def extra(self) -> np.ndarray:
        """Generalised forces declared beside those of the parts, −∂D/∂q̇ included, (k, n)."""
        forces, dissipation = declared_forces(self.system), self.system.dissipation

        def force(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
            total = jnp.zeros_like(q)
            if forces is not None:
                total = total + forces(q, qd, t, params)
            if dissipation is not None:
                total = total - jax.grad(dissipation, argnums=1)(q, qd, t, params)
            return total

        if forces is None and dissipation is None:
            return np.zeros_like(self.q)
        return self.at_states("forces", force)

    @cached_property
    def forces(self) -> np.ndarray:
        """Q − ∂D/∂q̇, those of the parts included, shape (k, n)."""
        forces = self.system.forces
        if not isinstance(forces, ForcesOfParts):
            return self.extra
        of_parts = ForcesOfParts(forces.parts, None)
        return self.extra + self.at_states("forces", lambda *state: of_parts(*state))

    @cached_property
    def kinematics(self) -> Kinematics:
        """Of a machine of bodies; inapplicable to others."""
        parts = self.parts
        assert self.bodies
        return Kinematics(self.at_states("parts", lambda *state: seen(parts, *state)), self.extra)

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """The names of bodies and particles, in the order of all arrays.

        Inapplicable without, and to other parts that have a kinetic energy.
        """
        parts, names = self.parts, list[list[str]]()

        def look(q: Any, t: Any, params: Any) -> Any:
            pieces = parts(q, t, params)
            names.extend([heavy_strangers(pieces), list(bodies_of(pieces))])
            return q

        jax.eval_shape(look, self.q[0], self.t[0], self.params)
        strangers, bodies = names
        if strangers:
            raise InapplicableError(
                f"part {strangers[0]!r} has a kinetic energy but is no body: it has no momentum "
                "to balance"
            )
        if not bodies:
            raise InapplicableError("there are no bodies among its parts")
        return tuple(bodies)
