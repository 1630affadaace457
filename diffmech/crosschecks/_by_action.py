"""The discrete action: Hamilton's principle with difference quotients instead of derivatives.

J. E. Marsden, M. West, Discrete mechanics and variational integrators, Acta Numerica 10 (2001)
357-514.
"""

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params, Scalar, Vector
from ._batched import moved
from ._problem import Accelerations, Problem

_LONGEST_STEP = 0.4  # times the state's own time, 1 s or what the rates take for one unit
_CORRECTION = 1e-3  # of the accelerations
_LEVELS = 20  # steps, each half as long: down to a millionth, for states next to a singularity


def by_action(problem: Problem) -> Accelerations:
    """The action of three points q(t − h), q(t), q(t + h) is stationary in the middle one.

        S = Lₕ(q₋, q₀) + Lₕ(q₀, q₊),   Lₕ(x, y) = h L((x + y)/2, (y − x)/h, midtime),
        1/h ∂S/∂q₀ + Q + Jᵀλ → 0,   q± = q ± h q̇ + 1/2 h² q̈

    No derivative by time is taken, and none by q̇ twice. The quotient is even in h; steps are
    halved and extrapolated to h = 0 (Richardson), as far as that still changes less at each state,
    which leaves about 1e-12 of the momenta's rates. It is affine in q̈: n + 1 evaluations
    give the equations, and one more at their solution corrects it.
    """
    lagrangian = problem.system.lagrangian

    def quotient(
        q: Vector, qd: Vector, t: Scalar, qdd: Vector, h: Scalar, params: Params
    ) -> tuple[Vector, Scalar]:
        def discrete(x: Vector, y: Vector, start: Scalar) -> Scalar:
            """Lₕ between two points, given by how far they are from q: small numbers stay exact."""
            return h * lagrangian(q + 0.5 * (x + y), (y - x) / h, start + 0.5 * h, params)

        here, bend = 0.0 * q, 0.5 * h**2 * qdd
        before = jax.grad(discrete, argnums=1)(bend - h * qd, here, t - h)
        after = jax.grad(discrete, argnums=0)(here, bend + h * qd, t)
        return (before + after) / h, jnp.max(jnp.abs(before)) / h

    n, count = problem.system.n, len(problem.q)
    program = problem.program("discrete action", quotient, np.zeros(n), np.zeros(()))
    pace = np.maximum(1.0, np.max(np.abs(problem.qd), axis=1))
    steps = _LONGEST_STEP / pace * 0.5 ** np.arange(_LEVELS)[:, None]  # (levels, k)

    def limit(qdd: np.ndarray, least: np.ndarray) -> np.ndarray:
        """∂L/∂q − d/dt ∂L/∂q̇ for accelerations of shape (j, k, n); least sizes, (j, k)."""
        shape = (_LEVELS, *qdd.shape[:2])

        def lanes(x: np.ndarray) -> np.ndarray:
            return np.broadcast_to(x, (*shape, *x.shape[2:])).reshape(-1, *x.shape[2:])

        state = (lanes(x[None]) for x in (problem.q, problem.qd, problem.t))
        asked = np.broadcast_to(qdd, (*shape, n)).reshape(-1, n)
        h = np.broadcast_to(steps[:, None], shape).reshape(-1)
        quotients, terms = program(*state, asked, h)
        rounding = np.finfo(float).eps * terms.reshape(shape)
        return extrapolated(quotients.reshape(*shape, n), rounding, least)

    size = pace[:, None] ** 2
    unit = np.concatenate([np.zeros((1, count, n)), np.eye(n)[:, None] * size])
    force = limit(unit, np.zeros(unit.shape[:2]))
    mass = -np.moveaxis(force[1:] - force[0], 0, 2) / size[:, None]
    qdd, first = moved(mass, -force[0] - problem.forces, problem.rows)
    # M q̈ is what is left to correct: b = −(force at q̈) − M q̈.
    still = np.einsum("kij,kj->ki", mass, qdd)
    left = limit(qdd[None], np.max(np.abs(still), axis=1)[None])[0] + still
    better, multipliers = moved(mass, -left - problem.forces, problem.rows)
    # What is not small is no correction: next to a singularity the way at q̈ leaves it at once.
    change, sizes = (np.max(np.abs(x), axis=1) for x in (better - qdd, qdd))
    small = (change <= _CORRECTION * sizes)[:, None]
    return Accelerations(np.where(small, better, qdd), np.where(small, multipliers, first))


def extrapolated(values: np.ndarray, rounding: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The limit of values at steps h, h/2, h/4, ..., even in h; shape (levels, ..., n).

    Of Richardson's table the entry that differs least from its neighbours one column before, by the
    size of the values that it is made of, or a `least` one, shape (...): where steps are too long
    for a state, all that is made of them changes from entry to entry by as much as it is.
    Differences below the `rounding` of the values, shape (levels, ...), are chance.
    """
    best = values[-1]
    error = np.full(rounding.shape[1:], np.inf)
    column, sizes = values, np.maximum(np.max(np.abs(values), axis=-1), least)
    for order in range(1, len(values)):
        with np.errstate(all="ignore"):
            finer = column[1:] + (column[1:] - column[:-1]) / (4.0**order - 1)
            gaps = np.maximum(np.abs(finer - column[1:]), np.abs(finer - column[:-1])).max(axis=-1)
            sizes, rounding = (np.maximum(x[1:], x[:-1]) for x in (sizes, rounding))
            gaps = np.maximum(gaps, rounding)
            relative = np.where(gaps == 0, 0.0, gaps / sizes)
            for level, one in enumerate(relative):
                closer = one < error
                best = np.where(closer[..., None], finer[level], best)
                error = np.where(closer, one, error)
        column = finer
    return best
