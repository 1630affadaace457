"""Starts that keep their constraints."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import ROUNDINGS
from .._typing import AnyArray, Params, Scalar, Vector
from ..model import AbstractSystem, Laws
from ._constraint_rows import rate_residual_of
from ._euler_lagrange import by_laws
from ._multipliers import Violations, violations_of

# Starts are often printed with few digits: this part of 1 and of a coordinate's size (or a rate's)
# may be missing. Where an origin lies says nothing about a machine, so beyond so many metres or
# radians from it the size no longer counts.
START_DIGITS = 1e-6
_LARGEST_COORDINATE = 10.0


class Kept(NamedTuple):
    """How well a start keeps its constraints, one entry per row.

    Attributes:
        violations: what is left of φ and φ̇.
        allowed: how much of each missing digits explain.
    """

    violations: Violations
    allowed: Violations

    @property
    def place(self) -> AnyArray:
        """Whether each φ is kept, shape (m,); NaN is not."""
        return abs(self.violations.residual) <= self.allowed.residual

    @property
    def rate(self) -> AnyArray:
        """Whether each φ̇ is kept, shape (m,)."""
        return abs(self.violations.rate_residual) <= self.allowed.rate_residual


def kept_of(laws: Laws, q: Vector, qd: Vector, t: Scalar, params: Params) -> Kept:
    """What a start leaves of its constraints, beside what missing digits may leave.

        |φᵢ| ≤ Σⱼ |Jᵢⱼ| δⱼ,    |φ̇ᵢ| ≤ Σⱼ |Jᵢⱼ| δ̇ⱼ + Σⱼ |∂φ̇ᵢ/∂qⱼ| δⱼ,    and roundings of the terms

    for coordinates known to δ and rates known to δ̇. Each row is thus judged by what it is
    sensitive to itself, in its own unit.
    """
    slopes, rows = jax.jacfwd(
        lambda q, qd: rate_residual_of(laws, q, qd, t, params), argnums=(0, 1)
    )(q, qd)
    slopes, rows, coordinates, rates = map(jnp.abs, (slopes, rows, q, qd))
    rounding = ROUNDINGS * jnp.finfo(q.dtype).eps
    digits = START_DIGITS * (1.0 + jnp.minimum(coordinates, _LARGEST_COORDINATE))
    rate_digits = START_DIGITS * (1.0 + rates)
    allowed = Violations(
        rows @ digits + rounding * (1.0 + rows @ coordinates),
        rows @ rate_digits + slopes @ digits + rounding * (1.0 + rows @ rates),
    )
    return Kept(violations_of(laws, q, qd, t, params), allowed)


_violations, _kept = by_laws(violations_of), by_laws(kept_of)


def kept_at(laws: Laws, q: AnyArray, qd: AnyArray, t: AnyArray, params: Params) -> Kept:
    """The same of numbers: slopes are asked for only where something is left beyond rounding."""
    violations = jax.tree.map(np.asarray, _violations(laws, q, qd, t, params))
    rounding = ROUNDINGS * np.finfo(violations.rate_residual.dtype).eps
    certain = Violations(*(np.full(rows.shape, rounding) for rows in violations))
    kept = Kept(violations, certain)
    if np.all(kept.place) and np.all(kept.rate):
        return kept
    return jax.tree.map(np.asarray, _kept(laws, q, qd, t, params))


def require_consistent(
    system: AbstractSystem,
    q: AnyArray,
    qd: AnyArray,
    t: AnyArray,
    params: Params,
    way_out: str = "",
) -> None:
    """Refuse a start that breaks its constraints by more than printed digits do.

    `way_out` ends the sentence, after the advice to assemble.
    """
    laws: Any = system.laws
    if not getattr(system, "constraints", ()):
        return
    kept = kept_at(laws, q, qd, t, params)
    for values, good, where in (
        (kept.violations.residual, kept.place, "place"),
        (kept.violations.rate_residual, kept.rate, "rates"),
    ):
        if not np.all(good):
            worst = int(np.argmax(np.where(good, -1.0, np.nan_to_num(np.abs(values), nan=np.inf))))
            raise ValueError(
                f"the start of {system.name!r} breaks its constraints: "
                f"{getattr(system, 'rows', ())[worst]} by {float(values[worst]):.3g} in {where}. "
                f"`assemble(system, q0, qd0)` gives the nearest state that keeps them{way_out}"
            )
