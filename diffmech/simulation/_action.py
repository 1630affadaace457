"""Hamilton's principle: the action of a path, its gradient, and motions found by making it vanish.

A path is piecewise a polynomial through Gauss-Lobatto points; the action is the sum over them

    S = Σ w_k L(q_k, q̇_k, t_k) ≈ ∫ L dt  [J s]

with Lobatto's weights. Its error falls exponentially with the polynomials' degree.
"""

from functools import lru_cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix

from .._checks import as_array, as_count, as_duration, as_vector, briefly, in_force
from .._typing import AnyArray, Coordinates, Number, Params, Samples, Scalar, Truth
from ..model import AbstractSystem, Laws, require_unconstrained
from ..motion import force_of, prepare, require_lagrangian
from ._trajectory import Trajectory

_TOLERANCE = 1e-10  # of path and impulses; rounding of second derivatives leaves about 1e-12
_MAX_STEPS = 60
_STAGES = 12  # durations on the way from a quick, nearly straight motion to the one asked for


@lru_cache
def _lobatto(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gauss-Lobatto points on [0, 1], weights, and the matrix of d/dx at them."""
    legendre = np.polynomial.Legendre.basis(degree)
    points = np.concatenate([[-1.0], np.sort(legendre.deriv().roots().real), [1.0]])
    weights = 2 / (degree * (degree + 1) * legendre(points) ** 2)
    gaps = points[:, None] - points + np.eye(degree + 1)
    scales = np.prod(gaps, axis=1)
    slopes = scales[:, None] / scales / gaps
    np.fill_diagonal(slopes, 0.0)
    np.fill_diagonal(slopes, -np.sum(slopes, axis=1))
    return (points + 1) / 2, weights / 2, 2 * slopes


class ActionPath(eqx.Module):
    """A path through configuration space: `elements` polynomials of equal length in time.

        q(t) = Σ_j ℓ_j(s) q_j,   q̇ = dq/dt,   s from 0 to 1 in the (t1 − t0)/elements of each [s]

    ℓ_j are Lagrange's polynomials through the Gauss-Lobatto points; neighbouring elements share the
    point between them, at which q̇ may jump.

    Attributes:
        t0, t1: when it begins and ends, shape () [s].
        qs: coordinates at its points, shape (elements · degree + 1, n) [unit of each].
        degree: of the polynomials.

    `path(t)` gives (q, q̇) at a time. `ActionPath.along(run)` is the path of a simulated motion.
    """

    t0: Number = eqx.field(converter=as_array)
    t1: Number = eqx.field(converter=as_array)
    qs: AnyArray = eqx.field(converter=as_array)
    degree: int = eqx.field(static=True)

    @property
    def elements(self) -> int:
        """Number of polynomials."""
        return (self.qs.shape[0] - 1) // self.degree

    @property
    def ts(self) -> AnyArray:
        """Times of the points, shape (elements · degree + 1,) [s]."""
        return self.t0 + (self.t1 - self.t0) * _fractions(self.elements, self.degree)

    def __call__(self, t: Number) -> tuple[AnyArray, AnyArray]:
        """(q, q̇) at a time [s], or at an array of times, each of shape (*shape of t, n).

        Outside of t0 to t1 the polynomials of the ends go on.
        """
        times = jnp.asarray(as_array(t))
        points, _, slopes = _lobatto(self.degree)
        span = (self.t1 - self.t0) / self.elements
        pieces = jnp.asarray(_sampled(self.qs, self.t0, self.t1, self.degree)[0])

        def at(t: Any) -> tuple[Any, Any]:
            i = jnp.clip(jnp.floor((t - self.t0) / span).astype(int), 0, self.elements - 1)
            x = (t - self.t0) / span - i
            gaps = x - points
            exact = jnp.abs(gaps) < 1e-14
            others = jnp.where(np.eye(len(points), dtype=bool), 1.0, gaps[None, :])
            scales = np.prod(points[:, None] - points + np.eye(len(points)), axis=1)
            basis = jnp.where(
                jnp.any(exact), exact.astype(float), jnp.prod(others, axis=1) / scales
            )
            return basis @ pieces[i], basis @ (slopes @ pieces[i]) / span

        q, qd = jax.vmap(at)(times.reshape(-1))
        shape = (*times.shape, self.qs.shape[1])
        return q.reshape(shape), qd.reshape(shape)

    @classmethod
    def along(cls, run: Trajectory, elements: int = 8, degree: int = 12) -> "ActionPath":
        """The path of a simulated motion, its states at the Gauss-Lobatto points.

        Raises:
            ValueError: `elements` is no whole number of at least 1, or `degree` none of at least 2.
        """
        elements, degree = as_count(elements, "elements", 1), as_count(degree, "degree", 2)
        t0, t1 = run.ts[0], run.ts[-1]
        times = np.asarray(t0 + (t1 - t0) * _fractions(elements, degree))
        return cls(t0, t1, run(np.clip(times, t0, t1))[0], degree)


def _fractions(elements: int, degree: int) -> np.ndarray:
    """The points of all elements on [0, 1], neighbours' common ones once."""
    points = _lobatto(degree)[0]
    return np.append((np.arange(elements)[:, None] + points[:-1]).reshape(-1), elements) / elements


def _sampled(qs: Samples, t0: Scalar, t1: Scalar, degree: int) -> tuple[Any, Any, Any, Any, Any]:
    """Coordinates, rates and times at each element's points, their weights [s] and indices."""
    points, weights, slopes = _lobatto(degree)
    elements = (qs.shape[0] - 1) // degree
    span = (t1 - t0) / elements
    indices = np.arange(elements)[:, None] * degree + np.arange(degree + 1)
    rates = jnp.einsum("ij,ejn->ein", slopes, qs[indices]) / span
    times = t0 + span * (np.arange(elements)[:, None] + points)
    return qs[indices], rates, times, span * np.broadcast_to(weights, indices.shape), indices


def _summed(laws: Laws, qs: Samples, t0: Scalar, t1: Scalar, params: Params, degree: int) -> Scalar:
    pieces, rates, times, weights, _ = _sampled(qs, t0, t1, degree)
    along = jax.vmap(jax.vmap(lambda q, qd, t: laws.lagrangian(q, qd, t, params)))
    return jnp.sum(weights * along(pieces, rates, times))


@partial(jax.jit, static_argnums=(0, 5))
def _action(laws: Laws, qs: Any, t0: Any, t1: Any, params: Params, degree: int) -> Scalar:
    return _summed(laws, qs, t0, t1, params, degree)


def _impulses(
    laws: Laws, qs: Any, t0: Any, t1: Any, params: Params, degree: int
) -> tuple[AnyArray, AnyArray]:
    """∂S/∂q_k + w_k Q at the inner points, shape (inner, n), and the weights w_k [s]."""
    gradient = jax.grad(_summed, argnums=1)(laws, qs, t0, t1, params, degree)
    pieces, rates, times, weights, indices = _sampled(qs, t0, t1, degree)
    force = jax.vmap(jax.vmap(lambda q, qd, t: force_of(laws, q, qd, t, params)))
    impulses = weights[..., None] * force(pieces, rates, times)
    total = gradient.at[indices].add(impulses)
    shares = jnp.zeros(qs.shape[0], qs.dtype).at[indices].add(weights)
    return total[1:-1], shares[1:-1, None]


_impulses_compiled = partial(jax.jit, static_argnums=(0, 5))(_impulses)


def action(system: AbstractSystem, path: ActionPath, params: Params = None) -> Scalar:
    """S = ∫ L dt along a path [J s].

        S = Σ_k w_k L(q_k, q̇_k, t_k, params),   w_k Lobatto's weights [s]

    Declared forces and constraints do not enter.

    Args:
        path: an `ActionPath`, qs of shape (elements · degree + 1, n).

    Returns:
        S, shape () [J s].

    Raises:
        ValueError: the system has no Lagrangian, `path` is none through its coordinates, or
            `params` do not fit.
    """
    laws = require_lagrangian(system, "the action")
    _require_path(path, "path", system)
    _, params_ = prepare(system, 0.0, params)
    return _action(laws, *_raw(path), params_, path.degree)


def action_gradient(system: AbstractSystem, path: ActionPath, params: Params = None) -> AnyArray:
    """How the action changes with the path's inner points, per unit of time, ends held fixed.

        (1/w_k) ∂S/∂q_k + Q ≈ ∂L/∂q − d/dt ∂L/∂q̇ + Q

    Q are the declared forces, dissipation included (d'Alembert's principle); w_k [s] the weights of
    the sum. Up to the error of the polynomials this is zero on every motion of a machine without
    constraints, −Jᵀλ on one with constraints, and on any other path minus the generalised force
    that would be needed besides Q.

    Args:
        path: an `ActionPath`, qs of shape (elements · degree + 1, n).

    Returns:
        One row an inner point, shape (elements · degree − 1, n) [J per unit of q].

    Raises:
        ValueError: as for `action`.
    """
    laws = require_lagrangian(system, "the action")
    _require_path(path, "path", system)
    _, params_ = prepare(system, 0.0, params)
    impulses, weights = _impulses_compiled(laws, *_raw(path), params_, path.degree)
    return impulses / weights


def _require_path(path: Any, label: str, system: AbstractSystem) -> None:
    """Refuse what is no `ActionPath` through the system's coordinates."""
    if not isinstance(path, ActionPath):
        raise ValueError(
            f"`{label}` must be an `ActionPath`, such as `ActionPath.along(run)`, but is "
            f"{briefly(path)}"
        )
    shape = np.shape(path.qs)
    if len(shape) != 2 or shape[1] != system.n:
        raise ValueError(
            f"`{label}` must have coordinates of shape (points, {system.n}) = (..., "
            f"{', '.join(system.coordinates)}), but has shape {shape}"
        )


def _raw(path: ActionPath) -> tuple[Any, Any, Any]:
    return in_force(path.qs), in_force(path.t0), in_force(path.t1)


@partial(jax.jit, static_argnums=(0, 5))
def _stationary(
    laws: Laws, qs: Any, t0: Any, t1: Any, params: Params, degree: int
) -> tuple[Samples, Truth]:
    first, last = qs[:1], qs[-1:]

    def lacking(inner: Any, _: Any) -> Any:
        whole = jnp.concatenate([first, inner, last])
        return _impulses(laws, whole, t0, t1, params, degree)[0]

    solver = optimistix.Dogleg(rtol=_TOLERANCE, atol=_TOLERANCE)
    solution = optimistix.root_find(lacking, solver, qs[1:-1], max_steps=_MAX_STEPS, throw=False)
    whole = jnp.concatenate([first, solution.value, last])
    good = solution.result == optimistix.RESULTS.successful
    return whole, good & jnp.all(jnp.isfinite(whole))


def motion_between(
    system: AbstractSystem,
    q0: Coordinates,
    q1: Coordinates,
    duration: Number,
    *,
    guess: ActionPath | None = None,
    elements: int = 8,
    degree: int = 12,
    params: Params = None,
) -> ActionPath:
    """A motion from one configuration to another, found by making the action stationary.

        δS + ∫ Q·δq dt = 0   for every δq that vanishes at both ends

    Starts from the straight path, or from `guess`; where several motions join the two
    configurations, the guess decides. Declared forces Q are taken along (d'Alembert). Start
    velocities are `path(0.0)[1]`, shape (n,).

    Args:
        q0, q1: coordinates at both ends, shape (n,), or mappings by name [unit of each].
        duration: [s]; the motion goes from t = 0 to `duration`.
        guess: a path whose inner points are started from; its times do not count, and it brings
            its own `elements` and `degree`.
        elements, degree: of the path otherwise, at least 1 and 2.

    Returns:
        The motion as an `ActionPath`. Numbers are needed: it is not found under `jit` or `grad`.

    Raises:
        ValueError: a wrong call, a system with constraints or without a Lagrangian, or no
            stationary path was found from this guess.
    """
    laws = require_lagrangian(system, "a motion between configurations")
    require_unconstrained(system, "a motion between configurations")
    names = tuple(system.coordinates)
    ends = [in_force(as_vector(q, names, label)) for q, label in ((q0, "q0"), (q1, "q1"))]
    length = in_force(as_duration(duration))
    _, params_ = prepare(system, 0.0, params)
    start = np.zeros((), np.asarray(length).dtype)
    if guess is None:
        elements, degree = as_count(elements, "elements", 1), as_count(degree, "degree", 2)
        x = _fractions(elements, degree)[:, None]
        qs: Any = in_force(ends[0] + x * (ends[1] - ends[0]))
    else:
        _require_path(guess, "guess", system)
        qs, degree = in_force(guess.qs), guess.degree
        qs = jnp.asarray(qs).at[0].set(ends[0]).at[-1].set(ends[1])
    points, good = _stationary(laws, qs, start, length, params_, degree)
    if guess is None and not good:
        # A motion in no time is straight; from there to the duration, each the next one's guess.
        points = qs
        for stage in range(1, _STAGES + 1):
            shorter = in_force(np.asarray(length) * stage / _STAGES)
            points, good = _stationary(laws, points, start, shorter, params_, degree)
    if not good:
        raise ValueError(
            f"no motion of {system.name!r} between these configurations was found from this guess: "
            "pass another `guess=`, more `elements`, or another duration"
        )
    return ActionPath(start, length, points, degree)
