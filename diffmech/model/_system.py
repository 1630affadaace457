"""A machine given by its Lagrangian."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from .._checks import as_vector, briefly, require_kind, trial_trace
from .._fingerprint import version_of
from .._typing import AnyArray, Params, ScalarFunction
from ._abstract_arguments import trial_arguments
from ._constraints import AbstractConstraint, Constraints, checked_constraints
from ._coordinates import CoordinateUnits, FixedMapping
from ._drawing import checked_drawing
from ._laws import ExplicitLaws, Laws
from ._measures import checked_measures, parameter_units
from ._naming import name_after
from ._parameters import cast_params, parameter_paths, replace_params
from ._rules import Range, require_sound_params

Start = tuple[AnyArray, AnyArray]
_System = TypeVar("_System", bound="AbstractSystem")

_MOST_SHOWN = 9  # entries of an array in print


class AbstractSystem(eqx.Module):
    """What every description of a machine has: coordinates, parameters, starts, a drawing."""

    name: eqx.AbstractVar[str]
    coordinates: eqx.AbstractVar[CoordinateUnits]
    params: eqx.AbstractVar[Params]
    landmarks: eqx.AbstractVar[Callable[..., Any] | None]
    links: eqx.AbstractVar[tuple[tuple[int, int], ...]]
    springs: eqx.AbstractVar[tuple[tuple[int, int], ...]]
    dampers: eqx.AbstractVar[tuple[tuple[int, int], ...]]
    faces: eqx.AbstractVar[tuple[tuple[int, ...], ...]]
    starts: eqx.AbstractVar[dict[str, Start]]
    units: eqx.AbstractVar[FixedMapping[str]]  # as declared; `parameter_units` has all of them
    ranges: eqx.AbstractVar[FixedMapping[Range]]

    @property
    @abstractmethod
    def laws(self) -> Laws | ExplicitLaws:
        """The functions without the numbers: what a compiled program is specialised to."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    def with_params(
        self: _System, changes: Mapping[str, Any] | None = None, /, **named: Any
    ) -> _System:
        """The same machine with some parameters changed, by path.

            system.with_params(mB=0.2)
            system.with_params({"masses[1]": 2.0, "lengths": [1.0, 0.5]})

        Raises:
            ValueError: unknown path, or a value of another shape.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise ValueError(
                "`with_params` must be given values by path, such as with_params(mB=0.2) or "
                f"with_params({{'masses[1]': 2.0}}), but is given {briefly(changes)}"
            )
        params = replace_params(self.params, {**(changes or {}), **named})
        return eqx.tree_at(lambda system: system.params, self, params)

    def __str__(self) -> str:
        units = ", ".join(f"{q} [{u or '-'}]" for q, u in self.coordinates.items())
        measured = parameter_units(self)
        values = ", ".join(
            f"{path} [{measured[path] or '-'}] = {_numbers(np.asarray(leaf))}"
            for path, leaf in parameter_paths(self.params).items()
        )
        starts = ", ".join(self.starts) or "none named"
        return (
            f"{self.name}\n"
            f"  coordinates  {units}\n"
            f"  parameters   {values or 'none'}\n"
            f"  starts       {starts}"
        )


def _numbers(leaf: np.ndarray) -> str:
    """1, [0.5, 2], [[1, 0], [0, 1]]; of many numbers the first and the last."""
    if leaf.ndim == 0:
        return f"{float(leaf):.6g}"
    parts = [_numbers(np.asarray(part)) for part in leaf]
    if len(parts) > _MOST_SHOWN:
        parts = [*parts[:3], "...", *parts[-3:]]
    return f"[{', '.join(parts)}]"


def require_system(system: Any) -> None:
    """Refuse what is not a machine."""
    require_kind(system, AbstractSystem, "system", "a `System` or an `Explicit`")


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
    coordinates: CoordinateUnits = eqx.field(static=True)
    params: Params
    forces: Callable[..., Any] | None = eqx.field(static=True)
    dissipation: ScalarFunction | None = eqx.field(static=True)
    constraints: tuple[AbstractConstraint, ...] = eqx.field(static=True)
    rows: tuple[str, ...] = eqx.field(static=True)  # names of the constraints' rows
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
        lagrangian: ScalarFunction,
        coordinates: Mapping[str, str] | Sequence[str],
        params: Params = (),
        *,
        forces: Callable[..., Any] | None = None,
        dissipation: ScalarFunction | None = None,
        constraints: Constraints = (),
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
        self.lagrangian = lagrangian
        self.forces = forces
        self.dissipation = dissipation
        self.landmarks = landmarks
        self.parts = parts
        self.name = name or name_after(lagrangian, "system")
        self.coordinates, self.params, self.starts = checked_description(
            coordinates, params, starts
        )
        self.units, self.ranges = checked_measures(self.params, units, ranges)
        n = len(self.coordinates)
        self.links, self.springs, self.dampers, self.faces = checked_drawing(
            landmarks, n, self.params, links=links, springs=springs, dampers=dampers, faces=faces
        )

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


def checked_description(
    coordinates: Mapping[str, str] | Sequence[str],
    params: Params,
    starts: Mapping[str, tuple[Any, Any]] | None,
) -> tuple[CoordinateUnits, Params, dict[str, Start]]:
    """Coordinates, parameters and starts as every system keeps them."""
    units = CoordinateUnits(coordinates)
    return units, _checked_params(params, units), _checked_starts(starts or {}, units)


def _checked_params(params: Params, coordinates: CoordinateUnits) -> Params:
    """Parameters as float arrays; a name that is also a coordinate's is refused."""
    params = cast_params(params)
    require_sound_params(params)
    for path in parameter_paths(params):
        if path in coordinates:
            raise ValueError(
                f"{path!r} names both a coordinate and a parameter; rename one of them"
            )
    return params


def _checked_starts(
    starts: Mapping[str, tuple[Any, Any]], coordinates: CoordinateUnits
) -> dict[str, Start]:
    """Named initial states as pairs of float vectors."""
    if not isinstance(starts, Mapping):
        raise ValueError(
            "`starts` must map names to pairs (q0, qd0), such as {'default': ([0.1], [0.0])}, but "
            f"is {briefly(starts)}"
        )
    names = tuple(coordinates)
    checked = {}
    for label, pair in starts.items():
        if isinstance(pair, str | Mapping) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(
                f"`starts[{label!r}]` must be a pair (q0, qd0), coordinates and rates, but is "
                f"{briefly(pair)}"
            )
        checked[label] = (
            as_vector(pair[0], names, f"starts[{label!r}][0]"),
            as_vector(pair[1], names, f"starts[{label!r}][1]"),
        )
    return checked
