"""Solving with a mass matrix: positive definite where it can be, never silently singular."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import Columns, Matrix, Scalar, Vector

Solve = Callable[[Any], Any]  # right sides of shape (n, m)
Factorise = Callable[[Any, Any], tuple[Any, Any]]  # X and the ratio of pivots

UNROLLED_UP_TO = 4  # coordinates; measured: 30 % faster runs at 3, slower from 8 on
_DIGITS_LOST = 50.0  # a solution this close to 1/eps has no trustworthy digit left


def max_condition(dtype: jnp.dtype) -> float:
    """Condition estimate from which a mass matrix counts as singular (4.5e13 in float64)."""
    return 1.0 / (_DIGITS_LOST * float(jnp.finfo(dtype).eps))


def unit_diagonal(matrix: Matrix) -> Vector:
    """1/√|Mᵢᵢ|: takes the units out, so that kilometres beside millimetres are not "singular"."""
    diagonal = jnp.abs(jnp.diagonal(matrix))
    return jnp.where(diagonal > 0, 1.0 / jnp.sqrt(jnp.where(diagonal > 0, diagonal, 1.0)), 1.0)


def _unrolled(scaled: Matrix) -> tuple[Solve, Vector]:
    """L D Lᵀ written out entry by entry: for few coordinates faster than calling LAPACK."""
    n = scaled.shape[0]
    lower: list[list[Any]] = [[0.0] * n for _ in range(n)]
    pivots: list[Any] = []
    for j in range(n):
        pivots.append(scaled[j, j] - sum(lower[j][k] ** 2 * pivots[k] for k in range(j)))
        for i in range(j + 1, n):
            rest = sum(lower[i][k] * lower[j][k] * pivots[k] for k in range(j))
            lower[i][j] = (scaled[i, j] - rest) / pivots[j]

    def solve(b: Columns) -> Columns:
        y: list[Any] = []
        for i in range(n):
            y.append(b[i] - sum(lower[i][k] * y[k] for k in range(i)))
        x: list[Any] = [0.0] * n
        for i in reversed(range(n)):
            x[i] = y[i] / pivots[i] - sum(lower[k][i] * x[k] for k in range(i + 1, n))
        return jnp.stack(x)

    return solve, jnp.stack(pivots)


def _cholesky(scaled: Matrix) -> tuple[Solve, Vector]:
    lower = jnp.linalg.cholesky(scaled)
    return lambda b: jax.scipy.linalg.cho_solve((lower, True), b), jnp.diagonal(lower) ** 2


def definite_solver(matrix: Matrix) -> Solve:
    """b ↦ M⁻¹ b, b of shape (n,), for one definite M of about unit diagonal and several b."""
    if matrix.shape[0] <= UNROLLED_UP_TO:
        solve, _ = _unrolled(matrix)
        return lambda b: solve(b[:, None])[:, 0]
    lower = jnp.linalg.cholesky(matrix, symmetrize_input=False)
    eye = jnp.eye(matrix.shape[0], dtype=matrix.dtype)
    inverse = jax.scipy.linalg.solve_triangular(lower, eye, lower=True)
    return lambda b: (inverse @ b) @ inverse


def _factorise(scaled: Matrix, b: Columns) -> tuple[Columns, Scalar]:
    """One matrix: L D Lᵀ or Cholesky where it is positive definite, else eliminated; b (n, m)."""
    solve, pivots = (_unrolled if scaled.shape[0] <= UNROLLED_UP_TO else _cholesky)(scaled)
    definite = jnp.where(jnp.all(pivots > 0), jnp.max(pivots) / jnp.min(pivots), jnp.inf)

    well = definite < max_condition(scaled.dtype)
    return lax.cond(well, lambda b: (solve(b), definite), lambda b: _eliminate(scaled, b), b)


def _factorise_definite(scaled: Matrix, b: Columns) -> tuple[Columns, Scalar]:
    """The same for a matrix that is known to be positive definite."""
    solve, pivots = (_unrolled if scaled.shape[0] <= UNROLLED_UP_TO else _cholesky)(scaled)
    return solve(b), pivot_ratio(pivots)


def pivot_ratio(pivots: Vector) -> Scalar:
    """Largest over smallest pivot in size; infinite if one is zero or not finite."""
    ratio = jnp.max(jnp.abs(pivots)) / jnp.min(jnp.abs(pivots))
    return jnp.where(jnp.isfinite(ratio), ratio, jnp.inf)


def _eliminate(scaled: Matrix, b: Columns) -> tuple[Columns, Scalar]:
    """Gauss-Jordan elimination with the largest pivot of each column; b of shape (n, m).

    Made of arithmetic alone: under `vmap` every instance goes through the same operations. A zero
    pivot gives NaN and an infinite ratio.
    """
    n = scaled.shape[0]
    rows = jnp.arange(n)

    def clear_column(k: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        table, pivots = carry
        largest = jnp.argmax(jnp.where(rows >= k, jnp.abs(table[:, k]), -1.0))
        row, old = table[largest], table[k]
        table = jnp.where((rows == largest)[:, None], old, table)
        table = jnp.where((rows == k)[:, None], row, table)
        factors = jnp.where(rows == k, 0.0, table[:, k] / row[k])
        return table - factors[:, None] * row, jnp.where(rows == k, row[k], pivots)

    table = jnp.concatenate([scaled, b], axis=1)
    table, pivots = lax.fori_loop(0, n, clear_column, (table, jnp.ones(n, table.dtype)))
    return table[:, n:] / pivots[:, None], pivot_ratio(pivots)


def _without_lapack(factorise: Factorise) -> Factorise:
    """X with M X = B, shape (n, m), for M of unit diagonal, and the ratio of M's pivots.

    A batch of matrices does not call LAPACK: under `vmap` definite and indefinite ones alike would
    be factorised in every way, and XLA's CPU threads wait for each other for ever when several
    large batches of LAPACK calls are under way at once (jaxlib 0.10).
    """
    single = jax.custom_batching.custom_vmap(factorise)

    @single.def_vmap
    def batch(
        size: int, batched: list[bool], scaled: Any, b: Any
    ) -> tuple[tuple[Any, Any], tuple[bool, bool]]:
        """Many matrices are eliminated side by side; one takes all right sides at once."""
        if batched[0]:
            axes = tuple(0 if mapped else None for mapped in batched)
            return jax.vmap(_eliminate, in_axes=axes)(scaled, b), (True, True)
        n, k = b.shape[1:]
        x, ratio = single(scaled, jnp.moveaxis(b, 0, 1).reshape(n, size * k))
        return (jnp.moveaxis(x.reshape(n, size, k), 1, 0), ratio), (True, False)

    return single


_solve_scaled = _without_lapack(_factorise)
_solve_definite = _without_lapack(_factorise_definite)


def solve_columns(
    matrix: Matrix, right: Columns, *, definite: bool = False
) -> tuple[Columns, Scalar]:
    """X with M X = B for a symmetric M, shape (n, m), and the condition estimate of M.

    NaN where the estimate says "singular". Not to be differentiated: wrap it. `definite` says that
    M is known to be so, and saves a look.
    """
    scale = unit_diagonal(matrix)
    solve = _solve_definite if definite else _solve_scaled
    x, condition = solve(scale[:, None] * matrix * scale, scale[:, None] * right)
    sound = condition < max_condition(matrix.dtype)
    return scale[:, None] * jnp.where(sound, x, jnp.nan), condition


def condition_estimate(matrix: Matrix) -> Scalar:
    """Ratio of the largest to the smallest pivot of the matrix scaled to a unit diagonal.

    A lower bound on the condition number, tight in practice; infinite for a singular matrix.
    """
    frozen = lax.stop_gradient(matrix)
    return solve_columns(frozen, jnp.ones((len(frozen), 1), frozen.dtype))[1]


def solve_symmetric(matrix: Matrix, right: Vector) -> Vector:
    """x with M x = b for a symmetric M; NaN where the condition estimate says "singular".

    L D Lᵀ or Cholesky where M is positive definite, else elimination with pivoting (indefinite
    Lagrangians exist: L = ẋẏ), and always that under `vmap`. Derivatives are those of the solution,
    not of the factorisation.
    """
    frozen = lax.stop_gradient(matrix)

    def solve(_, b: Vector) -> Vector:
        return solve_columns(frozen, b[:, None])[0][:, 0]

    return lax.custom_linear_solve(lambda x: matrix @ x, right, solve, symmetric=True)
