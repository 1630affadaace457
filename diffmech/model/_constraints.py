"""Constraints: what a machine's coordinates or rates must obey. Declared here, solved elsewhere.

A constraint gives rows. Every row restricts the rates, linearly; a holonomic one is the rate of a
function of q and t that vanishes:

    holonomic    φ(q, t) = 0,   so   (∂φ/∂q) q̇ + ∂φ/∂t = 0
    Pfaffian     A(q, t) q̇ + a(q, t) = 0
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp

from .._checks import trial_trace
from .._typing import AnyArray, Params, Scalar, Vector
from ._abstract_arguments import trial_arguments


class AbstractConstraint:
    """One or more rows that restrict the rates; hashable, without numbers."""

    holonomic: bool

    @property
    @abstractmethod
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """The user's functions behind it, each of (q, t, params)."""

    @abstractmethod
    def residual(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        """φ(q, t), shape (m,); zeros where there is no such function."""

    @abstractmethod
    def rate(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> AnyArray:
        """What must vanish of the rates, linear in them but for a constant; shape (m,)."""

    @abstractmethod
    def tried(self, n: int, params: Params, label: str) -> dict[str, int]:
        """The number of rows by name, found by a trial on n coordinates; refuses wrong shapes."""


def _rows(values: Any) -> AnyArray:
    return jnp.reshape(values, (-1,))


@dataclass(frozen=True)
class Holonomic(AbstractConstraint):
    """Coordinates that are restricted, by functions of them that vanish.

        φ(q, t, params) = 0,   so   (∂φ/∂q) q̇ + ∂φ/∂t = 0;   M q̈ + b = (∂φ/∂q)ᵀ λ

    φ may depend on time: a pivot that is moved, a guide that turns. λ is the force along the
    gradient of φ [J per unit of φ]: with φ in metres, in newtons.

    Attributes:
        phi: pure JAX function `(q, t, params) -> (m,)` for m rows, or a single number, shape ().
        name: that of its rows in print; that of the function `phi` if None.

    `System` and `machine` raise a ValueError for other shapes, and if `phi` does not trace.
    """

    phi: Callable[..., Any]
    name: str | None = None
    holonomic = True

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        return (self.phi,)

    def residual(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        return _rows(self.phi(q, t, params))

    def rate(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> AnyArray:
        """φ̇ = (∂φ/∂q) q̇ + ∂φ/∂t."""
        return jax.jvp(lambda q, t: self.residual(q, t, params), (q, t), (qd, jnp.ones_like(t)))[1]

    def tried(self, n: int, params: Params, label: str) -> dict[str, int]:
        q, _, t, params = trial_arguments(n, params)
        shape = trial_trace(self.phi, label, None, q, t, params)
        if len(shape) > 1 or shape == (0,):
            raise ValueError(
                f"`{label}` ({_called(self.phi)}) must return m numbers, shape (m,), or one, but "
                f"returns shape {shape}"
            )
        return {self.name or label: shape[0] if shape else 1}


@dataclass(frozen=True)
class Pfaffian(AbstractConstraint):
    """Rates that are restricted, linearly: for rolling, skates and knife edges.

        A(q, t, params) q̇ + a(q, t, params) = 0;   M q̈ + b = Aᵀ λ

    For constraints that are no function's rate. λ [W per unit of A q̇]: of a row that is a velocity
    [m/s], a force [N].

    Attributes:
        matrix: A, pure JAX function `(q, t, params) -> (m, n)`, or (n,) for a single row.
        drift: a, `(q, t, params) -> (m,)`, or () for a single row, in the unit of A q̇; None for
            zero.
        name: that of its rows in print; that of the function `matrix` if None.

    `System` and `machine` raise a ValueError for other shapes, and if a function does not trace.
    """

    matrix: Callable[..., Any]
    drift: Callable[..., Any] | None = None
    name: str | None = None
    holonomic = False

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        return (self.matrix,) if self.drift is None else (self.matrix, self.drift)

    def residual(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        return jnp.zeros_like(self.rate(q, jnp.zeros_like(q), t, params))

    def rate(self, q: Vector, qd: Vector, t: Scalar, params: Params) -> AnyArray:
        """A q̇ + a, shape (m,)."""
        rows = _rows(self.matrix(q, t, params) @ qd)
        return rows if self.drift is None else rows + _rows(self.drift(q, t, params))

    def tried(self, n: int, params: Params, label: str) -> dict[str, int]:
        q, _, t, params = trial_arguments(n, params)
        shape = trial_trace(self.matrix, label, None, q, t, params)
        if len(shape) not in (1, 2) or shape[-1] != n or shape[0] == 0:
            raise ValueError(
                f"the matrix of `{label}` ({_called(self.matrix)}) must return shape (m, {n}), one "
                f"column per coordinate, or ({n},) for one row, but returns shape {shape}"
            )
        rows = shape[0] if len(shape) == 2 else 1
        if self.drift is not None:
            drift_shape = trial_trace(self.drift, label, None, q, t, params)
            if drift_shape != (rows,) and not (rows == 1 and drift_shape == ()):
                raise ValueError(
                    f"the drift of `{label}` ({_called(self.drift)}) must return shape ({rows},), "
                    f"one number per row of the matrix, but returns shape {drift_shape}"
                )
        return {self.name or label: rows}


def _called(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


if TYPE_CHECKING:
    Constraints: TypeAlias = (
        AbstractConstraint
        | Callable[..., Any]
        | Sequence[AbstractConstraint | Callable[..., Any]]
        | Mapping[str, AbstractConstraint | Callable[..., Any]]
    )
else:
    Constraints: TypeAlias = Any  # what else may come is refused below, with a sentence


def checked_constraints(
    given: Constraints, n: int, params: Params
) -> tuple[tuple[AbstractConstraint, ...], tuple[str, ...]]:
    """Constraints as every system keeps them, each with a name, and the names of all rows.

    A bare function φ(q, t, params) counts as holonomic. Rows of a constraint with several are
    named `name[0]`, `name[1]`, ...
    """
    if isinstance(given, Mapping):
        pairs = [(str(name), one) for name, one in given.items()]
    elif isinstance(given, AbstractConstraint) or callable(given):
        pairs = [(None, given)]
    else:
        pairs = [(None, one) for one in (given if isinstance(given, Sequence) else [given])]
    named: list[AbstractConstraint] = []
    rows: list[str] = []
    taken: list[str] = []
    for i, (name, one) in enumerate(pairs):
        if not isinstance(one, AbstractConstraint):
            if not callable(one):
                raise ValueError(
                    "`constraints` must be `Holonomic`s, `Pfaffian`s or functions phi(q, t, "
                    f"params), but has {one!r}"
                )
            one = Holonomic(one)
        if isinstance(one, Holonomic | Pfaffian):
            name = name or one.name or _name_of(one) or f"constraint{i + 1}"
            one = replace(one, name=f"{name}{i + 1}" if name in taken else name)
        label = f"constraints[{getattr(one, 'name', None)!r}]"
        for block, count in one.tried(n, params, label).items():
            taken.append(block)
            rows += [block] if count == 1 else [f"{block}[{k}]" for k in range(count)]
        named.append(one)
    return tuple(named), tuple(rows)


def _name_of(constraint: AbstractConstraint) -> str | None:
    name = getattr(constraint.functions[0], "__name__", None)
    return None if name == "<lambda>" else name
