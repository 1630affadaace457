"""Families of periodic motions, each with the map that decides its stability.

A *brake* family starts at rest with one coordinate at the family's value; after half a period τ it
is at rest again, and goes back the way it came. With Φ = ∂y(τ)/∂y(0) and R = diag(1, −1)

    M = R Φ⁻¹ R Φ   the map of a whole period
    H = −Φ          that of half a turn, M = H², where q(τ) = −q(0) by the machine's symmetry

A *forced* family is the motion with the period of the drive while a parameter changes; M = Φ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._typing import AnyArray, Params
from ..model import ExplicitLaws, Laws, replace_params
from ..motion import energy_of
from ._edge_functions import edge_functions
from ._flow import end_state_and_tangents, rate_of, step

_CLOSED = 1e-11  # of the unknowns: Newton steps below this are rounding
_NEWTON_STEPS = 12
_STEPS_PER_SWING = 100  # of the coarse integration that looks for the first return
_LONGEST = 10  # swings it waits


@dataclass(frozen=True)
class Family:
    """What a compiled program is specialised to; all numbers stay free."""

    laws: Laws | ExplicitLaws
    n: int
    label: str  # of the coordinate (brake) or the parameter (forced)
    index: int | None  # of the coordinate; None for a forced family
    held: tuple[int, ...] = ()  # coordinates that stay where they are
    steady: bool = False  # forced: the given state is the motion, whatever the parameter
    half_turn: bool = False
    reciprocal: bool = True
    period: Callable[[Any], Any] | None = None  # forced: of the parameters, if not a number

    @property
    def free(self) -> np.ndarray:
        """Coordinates that take part."""
        return np.asarray([i for i in range(self.n) if i not in self.held])

    @property
    def sought(self) -> np.ndarray:
        """Coordinates of the start that are found along with half the period."""
        return np.asarray([i for i in self.free if i != self.index], int)

    @property
    def size(self) -> int:
        """Number of multipliers that count."""
        return 2 * self.n if self.index is None else 2 * self.n - 2


class Base(NamedTuple):
    """The numbers of a family besides its value and the parameters."""

    q: AnyArray  # where the coordinates that are not sought are
    qd: AnyArray
    t0: AnyArray  # [s]
    period: AnyArray  # [s] forced only
    rtol: AnyArray


class Passage(NamedTuple):
    """A motion followed once: what it lacks to be a closed orbit, and the map of its neighbours.

    Attributes:
        missing: zero on an orbit, as many as there are unknowns.
        slope: its derivative with respect to the unknowns.
        map: trivial multipliers deflated, shape (2n, 2n).
        unit: the identity where the map was not deflated, shape (2n, 2n).
        start, end: states, shape (2n,).
    """

    missing: AnyArray
    slope: AnyArray
    map: AnyArray
    unit: AnyArray
    start: AnyArray
    end: AnyArray


def passage(family: Family, value: Any, z: Any, base: Base, params: Params) -> Passage:
    """Follow the motion with family value `value` and unknowns z once (half a turn) around.

    Brake: z = (the sought coordinates, τ). Forced: z = y(t0), or nothing if it is steady.
    """
    n, laws = family.n, family.laws
    if family.index is None:
        params = replace_params(params, {family.label: value})
        period = base.period if family.period is None else family.period(params)
        y = jnp.concatenate([base.q, base.qd]) if family.steady else z
        end, phi = end_state_and_tangents(laws, y, period, base.t0, params, base.rtol)
        unit = jnp.eye(2 * n, dtype=phi.dtype)
        missing, slope = end - y, phi - unit
        if family.steady:
            missing, slope = missing[:0], slope[:0, :0]
        return Passage(missing, slope, phi, unit, y, end)
    q = base.q.at[family.sought].set(z[:-1]).at[family.index].set(value)
    y = jnp.concatenate([q, jnp.zeros_like(q)])
    end, phi = end_state_and_tangents(laws, y, z[-1], base.t0, params, base.rtol)
    rows = n + family.free
    before, after = jax.vmap(lambda y: rate_of(laws)(base.t0, y, params))(jnp.stack([y, end]))
    slope = jnp.concatenate([phi[rows][:, family.sought], after[rows, None]], axis=1)
    whole = -phi if family.half_turn else there_and_back(phi)
    unit = deflation(before, energy_slope(laws, y, base.t0, params))
    return Passage(end[rows], slope, unit @ whole @ unit, unit, y, end)


def there_and_back(phi: AnyArray) -> AnyArray:
    """M = R Φ⁻¹ R Φ, the map of a brake orbit from its first half."""
    n = phi.shape[0] // 2
    back = jnp.asarray(np.repeat([1.0, -1.0], n), phi.dtype)[:, None]
    return back * jnp.linalg.solve(phi, back * phi)


def energy_slope(laws: Laws | ExplicitLaws, y: AnyArray, t: Any, params: Params) -> AnyArray:
    """g = ∂h/∂y, shape (2n,)."""
    n = y.shape[0] // 2
    return jax.grad(lambda y: energy_of(laws, y[:n], y[n:], t, params).total)(y)


def deflation(along: AnyArray, energy: AnyArray | None) -> AnyArray:
    """P, shape (2n, 2n): P M P is the map M without its trivial multipliers, which become zero.

        P = 1 − f fᵀ/f² − g gᵀ/g²

    f is the direction of motion (M f = f) and g the slope of the energy (gᵀ M = gᵀ), None if there
    is none; f·g = 0, so that M is block triangular in a basis that begins with f and ends with g.
    """
    project = jnp.eye(along.shape[0], dtype=along.dtype)
    for direction in (along, energy):
        if direction is not None:
            project = project - jnp.outer(direction, direction) / (direction @ direction)
    return project


def _solve(matrix: Any, right: Any) -> Any:
    """x with A x = b; one unknown, the common case, is spared LAPACK and its compilation."""
    return right / matrix[:, 0] if right.size == 1 else jnp.linalg.solve(matrix, right)


class FamilyOrbit(NamedTuple):
    """An orbit of a family: unknowns z, last Newton step, map, edge functions, start and end."""

    z: AnyArray
    error: AnyArray  # size of the last step relative to the unknowns; what is left is its square
    map: AnyArray
    edges: AnyArray
    start: AnyArray
    end: AnyArray


def close_orbit(family: Family, value: Any, z: Any, base: Base, params: Params) -> FamilyOrbit:
    """The orbit of the family near the unknowns z, by Newton's method."""

    def newton(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        z, change, _, count, _ = carry
        z = z + change
        trial = passage(family, value, z, base, params)
        change = -_solve(trial.slope, trial.missing) if z.size else z
        error = jnp.max(jnp.abs(change) / (1e-3 + jnp.abs(z)), initial=0.0)
        return z, change, error, count + 1, (trial.map, trial.unit, trial.start, trial.end)

    def going(carry: tuple[Any, ...]) -> Any:
        _, _, error, count, _ = carry
        return (count == 0) | ((error > _CLOSED) & (count < _NEWTON_STEPS))

    n = 2 * family.n
    blank = tuple(jnp.zeros(shape, z.dtype) for shape in ((n, n), (n, n), (n,), (n,)))
    begin = (z, jnp.zeros_like(z), jnp.asarray(jnp.inf, z.dtype), 0, blank)
    z, _, error, _, (m, unit, start, end) = lax.while_loop(going, newton, begin)
    edges = edge_functions(m, unit, family.reciprocal, family.size)
    return FamilyOrbit(z, error, m, edges, start, end)


@partial(jax.jit, static_argnums=0)
def close_orbits(family: Family, values: Any, zs: Any, base: Base, params: Params) -> FamilyOrbit:
    """`close_orbit` for several values and guesses at trial."""
    return jax.vmap(close_orbit, in_axes=(None, 0, 0, None, None))(family, values, zs, base, params)


@partial(jax.jit, static_argnums=0)
def first_returns(family: Family, values: Any, base: Base, params: Params) -> Any:
    """Roughly when a machine started at rest has its coordinate at rest again, per value [s].

    By coarse steps of `step`, which compiles and runs in the time of Runge and Kutta's four stages
    at the same number of evaluations (babyboot at 181 amplitudes: 1.5 s and 0.025 s of CPU, either
    way). Infinite if that does not happen within some ten times a swing of the same size at the
    acceleration of the start.
    """
    assert family.index is not None
    n, index, rate = family.n, family.index, rate_of(family.laws)

    def slope(t: Any, y: Any) -> Any:
        return rate(t, y, params)

    def one(value: Any) -> Any:
        q = base.q.at[index].set(value)
        y = jnp.concatenate([q, jnp.zeros_like(q)])
        pull = jnp.max(jnp.abs(slope(base.t0, y)[n:]))
        h = jnp.pi * jnp.sqrt(jnp.max(jnp.abs(q)) / pull) / _STEPS_PER_SWING

        def advance(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            y, _, count = carry
            return step(slope, base.t0, y, h)[0], y[n + index], count + 1

        def going(carry: tuple[Any, ...]) -> Any:
            y, before, count = carry
            turned = (count > 1) & (before * y[n + index] <= 0)
            return ~turned & (count < _LONGEST * _STEPS_PER_SWING) & jnp.all(jnp.isfinite(y))

        y, before, count = lax.while_loop(going, advance, (y, jnp.zeros_like(h), 0))
        now = y[n + index]
        turned = before * now <= 0
        when = h * (count - now / jnp.where(now == before, 1.0, now - before))
        return jnp.where(turned & jnp.isfinite(when), when, jnp.inf)

    return jax.vmap(one)(values)
