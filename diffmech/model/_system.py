"""A machine given by its Lagrangian."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import equinox as eqx
import jax

from .._checks import trial_trace
from .._fingerprint import version_of
from .._typing import Params, ScalarFunction
from ._abstract_arguments import trial_arguments
from ._abstract_system import AbstractSystem, Description, with_description
from ._constraints import AbstractConstraint, Constraints, checked_constraints
from ._laws import Laws


class System(AbstractSystem):
    """A machine given by its Lagrangian, with the forces that no potential covers.

    The motion obeys, for every coordinate,

        d/dt ∂L/∂q̇ − ∂L/∂q = Q(q, q̇, t) − ∂D/∂q̇

    where L is the Lagrangian [J], Q the generalised forces and D Rayleigh's dissipation
    function [W]. L may depend on time and need not be quadratic in the rates.

    **Main arguments:**

    - `lagrangian`: pure JAX function `(q, qd, t, params) -> scalar` [J]; `q`, `qd` of shape (n,).
    - `coordinates`: `{"theta": "rad", "x": "m"}`, or a tuple of names (units unknown).
    - `params`: any pytree of numbers, handed to every function; the defaults of this machine.
    - `forces`: `(q, qd, t, params) -> (n,)`, generalised forces [J per unit of the coordinate].
    - `dissipation`: `(q, qd, t, params) -> scalar` [W], half the power lost if quadratic.
    - `constraints`: what coordinates or rates must obey: `Holonomic(phi)`, `Pfaffian(matrix,
      drift)`, a bare function phi(q, t, params), a list of them, or a mapping by name. They add
      Jᵀλ to the right side, J their rows and λ the multipliers.

    **Other arguments:**

    - `landmarks`: `(q, t, params) -> (k, 2)` or `(k, 3)`, points to draw [m].
    - `links`, `springs`, `dampers`: pairs of indices into the landmarks, drawn as rods, coils and
      dashpots.
    - `faces`: rings of indices into the landmarks, drawn as plates.
    - `starts`: `{"default": (q0, qd0)}`, named initial states.
    - `units`: `{"mB": "kg"}`, what parameters are measured in, by path; they are printed and label
      axes. Bodies, and fields of the catalogue, know their own; of a spring or damper it is enough
      to say what it acts on, `{"hinge": "angle"}` or "length".
    - `ranges`: `{"mB": (0.01, 1.0)}`, the values that make sense; others are accepted.
    - `name`: what the machine is called in print; after its function, or the function or file
      that this one is written in, if not given.
    - `parts`: `(q, t, params) -> {name: part}`, set by `machine(...)`; what is asked of single
      bodies goes by it.

    Functions should read nothing but their arguments. What they take from closures, globals,
    defaults and attributes is looked at again whenever they are used (numbers, texts and small
    NumPy arrays by value, JAX arrays by identity), and when it has changed, what was compiled is
    dropped, with a warning. What cannot be followed: values that a function finds by computed
    names, in files or inside objects of other packages, and programs compiled by a `jax.jit` of
    your own around a verb.

    **Raises:** `ValueError` if a function does not trace on these shapes, or returns another
    shape than said here; every function is tried once, abstractly. On use, if a function reads an
    array of more than 64 kB from outside.
    """

    lagrangian: ScalarFunction = eqx.field(static=True)
    forces: Callable[..., Any] | None = eqx.field(static=True)
    dissipation: ScalarFunction | None = eqx.field(static=True)
    constraints: tuple[AbstractConstraint, ...] = eqx.field(static=True)
    rows: tuple[str, ...] = eqx.field(static=True)  # names of the constraints' rows

    @with_description
    def __init__(
        self,
        lagrangian: ScalarFunction,
        coordinates: Mapping[str, str] | Sequence[str],
        params: Params = (),
        *,
        forces: Callable[..., Any] | None = None,
        dissipation: ScalarFunction | None = None,
        constraints: Constraints = (),
        **description: Unpack[Description],
    ):
        self.lagrangian = lagrangian
        self.forces = forces
        self.dissipation = dissipation
        super().__init__(lagrangian, coordinates, params, **description)

        n = len(self.coordinates)
        arguments = trial_arguments(n, self.params)
        trial_trace(lagrangian, "lagrangian", (), *arguments)
        trial_trace(_second_derivative(lagrangian), "lagrangian", None, *arguments)
        if forces is not None:
            trial_trace(forces, "forces", (n,), *arguments)
        if dissipation is not None:
            trial_trace(dissipation, "dissipation", (), *arguments)
        self.constraints, self.rows = checked_constraints(constraints, n, self.params)

    @property
    def laws(self) -> Laws:
        """The functions without the numbers: what a compiled program is specialised to."""
        functions = (self.lagrangian, self.forces, self.dissipation)
        held = (function for one in self.constraints for function in one.functions)
        return Laws(*functions, self.constraints, version_of(*functions, *held))


def _second_derivative(lagrangian: ScalarFunction) -> ScalarFunction:
    """What the equations of motion need of a Lagrangian, for a trial."""

    def second_derivative(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return jax.jvp(lambda qd: jax.grad(lagrangian, 1)(q, qd, t, params), (qd,), (qd,))[1]

    name = getattr(lagrangian, "__qualname__", type(lagrangian).__name__)
    second_derivative.__qualname__ = f"{name}, differentiated twice"
    return second_derivative
