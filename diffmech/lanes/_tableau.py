"""Coefficients of explicit Runge-Kutta methods, taken from Diffrax's solvers."""

from functools import cache
from typing import Any, NamedTuple

import diffrax
import numpy as np

from .._suggest import quoted, suggestion

METHODS = ("Tsit5", "Dopri5", "Dopri8", "Bosh3")
_ALLOWED = f"one of {', '.join(METHODS)}, or such a Diffrax solver"


class Tableau(NamedTuple):
    """kᵢ = f(t + cᵢ h, y + h Σⱼ aᵢⱼ kⱼ); the last stage is f at the end of the step.

    Hashable: programs are compiled for it.
    """

    name: str
    order: int
    nodes: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    error: tuple[float, ...]

    @property
    def stages(self) -> int:
        """Evaluations a step, the first of which is the last of the step before."""
        return len(self.nodes)


def as_tableau(method: str | diffrax.AbstractSolver) -> Tableau:
    """The coefficients of a method, by name or as Diffrax's solver object."""
    if isinstance(method, str):
        named = {name.lower(): name for name in METHODS}
        if method.lower() not in named:
            raise ValueError(
                f"`method` must be {_ALLOWED}, but is {quoted(method)}."
                f"{suggestion(method, METHODS)} "
                "Lanes take explicit Runge-Kutta steps; for others run `simulate` under `jax.vmap`"
            )
        return _named(named[method.lower()])
    return _taken(method)


@cache
def _named(name: str) -> Tableau:
    return _taken(getattr(diffrax, name)())


def _taken(method: diffrax.AbstractSolver) -> Tableau:
    tableau: Any = getattr(method, "tableau", None)
    if not isinstance(method, diffrax.AbstractERK) or not tableau.fsal or not tableau.ssal:
        raise ValueError(
            f"`method` must be {_ALLOWED}, but is {type(method).__name__}: lanes take explicit "
            "Runge-Kutta steps whose last stage is the first of the next"
        )
    return Tableau(
        name=type(method).__name__,
        order=int(method.order(None)),  # pyright: ignore[reportArgumentType]
        nodes=(0.0, *(float(c) for c in tableau.c)),
        weights=((), *(tuple(float(a) for a in row) for row in tableau.a_lower)),
        error=tuple(float(b) for b in np.asarray(tableau.b_error)),
    )
