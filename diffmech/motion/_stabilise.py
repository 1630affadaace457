"""Ways to keep a constrained motion on its constraints.

Solving for accelerations keeps φ̈ = 0, so that errors of φ̇ stay and those of φ grow with time. What
is done about it is chosen by one argument; the model is the same under all.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx

from .._checks import as_scalar, is_traced
from .._suggest import quoted, suggestion
from .._typing import Number


class AbstractStabilisation(eqx.Module):
    """How violations are treated."""

    name: ClassVar[str]

    def __str__(self) -> str:
        return self.name


class Unstabilised(AbstractStabilisation):
    """Nothing is done: φ̈ = 0, and φ drifts."""

    name: ClassVar[str] = "none"


class Baumgarte(AbstractStabilisation):
    """φ̈ + 2ζω φ̇ + ω² φ = 0: violations die out like a damped oscillator (Pfaffian: ψ̇ + ω ψ = 0).

    J. Baumgarte, "Stabilization of constraints and integrals of motion in dynamical systems",
    Computer Methods in Applied Mechanics and Engineering 1 (1972) 1-16.
    """

    omega: Any  # [rad/s]
    zeta: Any
    name: ClassVar[str] = "baumgarte"

    def __str__(self) -> str:
        return f"baumgarte(ω = {float(self.omega):g}, ζ = {float(self.zeta):g})"


class Penalty(AbstractStabilisation):
    """λ = −α (ω² φ + 2ζω φ̇ + φ̈): constraints become stiff springs and dampers with some mass.

    With the φ̈ term (`inertial`) the equations are not stiff; without it they are, and want an
    implicit method. The constraint is broken by about λ/(α ω²).
    """

    alpha: Any
    omega: Any  # [rad/s]
    zeta: Any
    inertial: bool = eqx.field(static=True)
    name: ClassVar[str] = "penalty"

    def __str__(self) -> str:
        kind = "" if self.inertial else ", without φ̈"
        return f"penalty(α = {float(self.alpha):g}, ω = {float(self.omega):g}{kind})"


class Projection(AbstractStabilisation):
    """After every step, and at every sample, the nearest state that obeys φ = 0 and φ̇ = 0.

    Nearest in the metric of the masses, δqᵀ M δq.
    """

    name: ClassVar[str] = "projection"


class Nullspace(AbstractStabilisation):
    """Independent coordinates are integrated, the others solved for, at every stage.

    Which ones are independent is chosen anew at every step, by elimination with full pivoting.
    """

    name: ClassVar[str] = "nullspace"


def baumgarte(omega: Number = 10.0, zeta: Number = 1.0) -> Baumgarte:
    """Feedback that lets violations die out like a damped oscillator.

        φ̈ + 2ζω φ̇ + ω² φ = 0;   of rows that restrict rates only: ψ̇ + ω ψ = 0,   ψ = A q̇ + a

    With ζ = 1 violations die out fastest, in about 1/ω; ω h must stay well below 1 for steps h of
    an explicit method.

    J. Baumgarte, "Stabilization of constraints and integrals of motion in dynamical systems",
    Computer Methods in Applied Mechanics and Engineering 1 (1972) 1-16.

    Args:
        omega: ω, shape () [rad/s].
        zeta: the damping ratio ζ, shape () [1].

    Returns:
        What `simulate(stabilise=...)` takes.

    Raises:
        ValueError: ω or ζ is not greater than zero.
    """
    return Baumgarte(
        omega=as_scalar(omega, "omega", positive=True),
        zeta=as_scalar(zeta, "zeta", positive=True),
    )


def penalty(
    alpha: Number | None = None,
    omega: Number = 10.0,
    zeta: Number = 0.7,
    *,
    inertial: bool = True,
) -> Penalty:
    """Constraints as stiff springs and dampers with some mass, which need no multipliers.

        λ = −α (ω² φ + 2ζω φ̇ + φ̈),   or λ = −α (ω ψ + ψ̇) with ψ = A q̇ + a

    of rows that restrict rates only. A constraint that bears λ is broken by about λ/(α ω²).
    `inertial=False` leaves φ̈ and ψ̇ out, which makes the equations stiff: `simulate` then takes
    "Kvaerno5" unless told otherwise.

    E. Bayo, J. García de Jalón, M. A. Serna, "A modified Lagrangian formulation for the dynamic
    analysis of constrained mechanical systems", Computer Methods in Applied Mechanics and
    Engineering 71 (1988) 183-195.

    Args:
        alpha: α, shape () [kg for φ in metres]; 1e8 if None. Without φ̈ it is 1e3, beyond which
            implicit methods struggle.
        omega: ω, shape () [rad/s].
        zeta: the damping ratio ζ, shape () [1].
        inertial: whether φ̈ counts.

    Returns:
        What `simulate(stabilise=...)` takes.

    Raises:
        ValueError: α, ω or ζ is not greater than zero.
    """
    if alpha is None:
        alpha = 1e8 if inertial else 1e3
    return Penalty(
        alpha=as_scalar(alpha, "alpha", positive=True),
        omega=as_scalar(omega, "omega", positive=True),
        zeta=as_scalar(zeta, "zeta", positive=True),
        inertial=bool(inertial),
    )


_NAMED = {
    "none": Unstabilised,
    "baumgarte": baumgarte,
    "penalty": penalty,
    "projection": Projection,
    "nullspace": Nullspace,
}


_CLASSES = {kind.name: kind for kind in (Unstabilised, Baumgarte, Penalty, Projection, Nullspace)}


def stabilisation_as_data(how: AbstractStabilisation | None) -> dict[str, Any] | None:
    """Its name and numbers, as JSON can hold them and `as_stabilisation` takes them again.

    Numbers that are being traced are left out.
    """
    if how is None:
        return None
    numbers = {field.name: getattr(how, field.name) for field in dataclasses.fields(how)}
    plain = {
        key: value if isinstance(value, bool) else float(value)
        for key, value in numbers.items()
        if not is_traced(value)
    }
    return {"name": how.name, **plain}


def as_stabilisation(value: str | Mapping[str, Any] | AbstractStabilisation) -> Any:
    """By name, as it is, or from the data of `stabilisation_as_data`."""
    if isinstance(value, AbstractStabilisation):
        return value
    if isinstance(value, Mapping):
        numbers = dict(value)
        return _CLASSES[numbers.pop("name")](**numbers)
    if not isinstance(value, str) or value not in _NAMED:
        raise ValueError(
            f"`stabilise` must be one of {', '.join(_NAMED)}, or `baumgarte(omega, zeta)` or "
            f"`penalty(alpha, omega, zeta)`, but is {quoted(value)}."
            + suggestion(str(value), _NAMED)
        )
    return _NAMED[value]()
