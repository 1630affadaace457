"""Solving with a mass matrix: positive definite where it can be, never silently singular."""

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import Matrix, Scalar, Vector

_DIGITS_LOST = 50.0  # a solution this close to 1/eps has no trustworthy digit left


def max_condition(dtype: jnp.dtype) -> float:
    """Condition estimate from which a mass matrix counts as singular (4.5e13 in float64)."""
    return 1.0 / (_DIGITS_LOST * float(jnp.finfo(dtype).eps))


def _scaling(matrix: Matrix) -> Vector:
    """1/√|Mᵢᵢ|: takes the units out, so that kilometres beside millimetres are not "singular"."""
    diagonal = jnp.abs(jnp.diagonal(matrix))
    return jnp.where(diagonal > 0, 1.0 / jnp.sqrt(jnp.where(diagonal > 0, diagonal, 1.0)), 1.0)


def _cholesky(scaled: Matrix) -> tuple[Matrix, Scalar]:
    """Lower factor and condition estimate max(pivot)/min(pivot); inf where not definite."""
    lower = jnp.linalg.cholesky(scaled)
    pivots = jnp.diagonal(lower) ** 2
    condition = jnp.max(pivots) / jnp.min(pivots)
    return lower, jnp.where(jnp.all(pivots > 0), condition, jnp.inf)


def _lu_condition(lu: Matrix) -> Scalar:
    pivots = jnp.abs(jnp.diagonal(lu))
    condition = jnp.max(pivots) / jnp.min(pivots)
    return jnp.where(jnp.isfinite(condition), condition, jnp.inf)


def condition_estimate(matrix: Matrix) -> Scalar:
    """Ratio of the largest to the smallest pivot of the matrix scaled to a unit diagonal.

    A lower bound on the condition number, tight in practice; infinite for a singular matrix.
    """
    scale = _scaling(matrix)
    scaled = scale[:, None] * matrix * scale
    _, condition = _cholesky(scaled)
    return jnp.where(
        jnp.isfinite(condition), condition, _lu_condition(jax.scipy.linalg.lu_factor(scaled)[0])
    )


def solve_symmetric(matrix: Matrix, right: Vector) -> Vector:
    """x with M x = b for a symmetric M; NaN where the condition estimate says "singular".

    Cholesky where M is positive definite, else LU with pivoting (indefinite Lagrangians exist:
    L = ẋẏ). Derivatives are those of the solution, not of the factorisation. Under `vmap` both
    branches run.
    """
    frozen = lax.stop_gradient(matrix)
    scale = _scaling(frozen)
    scaled = scale[:, None] * frozen * scale
    lower, condition = _cholesky(scaled)
    limit = max_condition(matrix.dtype)

    def definite(b: Vector) -> Vector:
        return jax.scipy.linalg.cho_solve((lower, True), b)

    def indefinite(b: Vector) -> Vector:
        factors = jax.scipy.linalg.lu_factor(scaled)
        solution = jax.scipy.linalg.lu_solve(factors, b)
        return jnp.where(_lu_condition(factors[0]) < limit, solution, jnp.nan)

    def solve(_, b: Vector) -> Vector:
        return scale * lax.cond(condition < limit, definite, indefinite, scale * b)

    return lax.custom_linear_solve(lambda x: matrix @ x, right, solve, symmetric=True)
