"""Accelerations and multipliers together, from one symmetric system.

    M q̈ + b = Jᵀ λ,   J q̈ = r

Rows are scaled to about unit size in the metric of the masses. Adding JᵀwJ to M changes nothing
where J q̈ = r holds, and makes the matrix definite wherever the motion is determinate, parts without
mass included:

    M̃ = M + JᵀwJ,   S = √w J M̃⁻¹ Jᵀ √w   (eigenvalues between 0 and 1),   μ = S⁻¹(...),   λ = √w μ

Where M is sound by itself, for one state of more than a few coordinates, it is used as it is: S is
then another matrix with the same small directions.

Redundant rows and positions where rows become dependent make S singular. It is therefore solved as
(S + ε)⁻¹ and refined: where rows are independent the result is that of S to round-off; along a
combination of rows that says nothing, or nearly nothing (σ² < ε), no force is made up, and the
accelerations are those that are still determined.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular

from .._typing import AnyArray, Columns, Matrix, RowMatrix, RowSquare, RowVector, Vector
from ._solve import UNROLLED_UP_TO, definite_solver, pivot_ratio, solve_columns, unit_diagonal

# √ε = 1e-5 is the part of a row's size below which a combination of rows counts as lost.
REGULARISATION = 1e-10
REFINEMENTS = 2  # leave (ε/(σ² + ε))³ of the error: 1e-15 where σ² is 1e-5
# A multiplier is unique if less than this part of its row lies in lost combinations.
_LOST_PART = 1e-3
# A row is scaled by its size here, or by this many times its size elsewhere if that is more. With
# √ε it says how close to rank loss forces fade; three keeps the energy best at change points.
_NATURAL = 3.0
_SOUND = 1e6  # condition estimate of M up to which M̃ would be no better


class Scaled(NamedTuple):
    """Rows scaled to unit size, with what solving needs; nothing in it is differentiated."""

    inertia: Matrix  # M, (n, n)
    rows: RowMatrix  # √w J, (m, n)
    roots: RowVector  # √w, (m,)

    @property
    def mass(self) -> Matrix:
        """M̃, (n, n)."""
        return self.inertia + self.rows.T @ self.rows


def scaled(mass: Matrix, jacobian: RowMatrix, elsewhere: RowMatrix) -> Scaled:
    """M and the scaled rows.

    A row that vanishes here but not `elsewhere`, at another configuration, is about to be lost:
    where links fall in line one of their closure does. It must not be scaled up as one in small
    units is.
    """
    mass, jacobian, elsewhere = map(lax.stop_gradient, (mass, jacobian, elsewhere))
    diagonal = jnp.abs(jnp.diagonal(mass))
    heavy = diagonal > 0
    mobility = jnp.where(heavy, 1.0 / jnp.where(heavy, diagonal, 1.0), 0.0)
    # A row on massless coordinates alone has no size in this metric: it gets one.
    plain = 1.0 / jnp.maximum(jnp.max(diagonal), 1e-300)

    def sizes_of(rows: RowMatrix) -> RowVector:
        sizes = jnp.sum(rows**2 * mobility, axis=1)
        return jnp.where(sizes > 0, sizes, plain * jnp.sum(rows**2, axis=1))

    there = sizes_of(elsewhere)
    sizes = jnp.maximum(
        sizes_of(jacobian), jnp.where(jnp.isfinite(there), _NATURAL**2 * there, 0.0)
    )
    roots = jnp.where(sizes > 0, 1.0 / jnp.sqrt(jnp.where(sizes > 0, sizes, 1.0)), 1.0)
    return Scaled(mass, roots[:, None] * jacobian, roots)


def inverse_of_rows(system: Scaled) -> tuple[Columns, RowSquare]:
    """M̃⁻¹ √w Jᵀ, shape (n, m), and (S + ε)⁻¹, shape (m, m)."""
    pushed, _ = solve_columns(system.mass, system.rows.T)
    return pushed, _regular_inverse(system.rows @ pushed)


def _regular_inverse(square: RowSquare) -> RowSquare:
    eye = jnp.eye(square.shape[0], dtype=square.dtype)
    return solve_columns(square + REGULARISATION * eye, eye, definite=True)[0]


def _refined(apply_inverse: Any, square: RowSquare, wanted: RowVector) -> RowVector:
    forces = apply_inverse(wanted)
    for _ in range(REFINEMENTS):
        forces = forces + apply_inverse(wanted - square @ forces)
    return forces


def _by_elimination(mass: Any, rows: Any, load: Any, right: Any) -> tuple[Any, Any]:
    """x and μ with M x − Rᵀμ = load, R x = right, by M̃, whatever M is like."""
    load = load + rows.T @ right
    columns = jnp.concatenate([rows.T, load[:, None]], axis=1)
    solved, _ = solve_columns(mass + rows.T @ rows, columns)
    pushed, free = solved[:, :-1], solved[:, -1]
    square = rows @ pushed
    inverse = _regular_inverse(square)
    forces = _refined(lambda b: inverse @ b, square, right - rows @ free)
    return free + pushed @ forces, forces


def _by_halves(mass: Any, rows: Any, load: Any, right: Any) -> tuple[Any, Any]:
    """The same for one M: where M = LLᵀ is sound by itself it takes the place of M̃.

    L⁻¹ goes on all rows, L⁻ᵀ on the result alone.
    """
    scale = unit_diagonal(mass)
    lower = jnp.linalg.cholesky(scale[:, None] * mass * scale, symmetrize_input=False)
    definite = pivot_ratio(jnp.diagonal(lower) ** 2) < _SOUND

    def definitely(mass: Any, rows: Any, load: Any, right: Any) -> tuple[Any, Any]:
        columns = scale[:, None] * jnp.concatenate([rows.T, load[:, None]], axis=1)
        halves = solve_triangular(lower, columns, lower=True)
        pushed, free = halves[:, :-1], halves[:, -1]
        products = halves.T @ halves
        square, wanted = products[:-1, :-1], right - products[:-1, -1]
        eye = jnp.eye(rows.shape[0], dtype=rows.dtype)
        solve = definite_solver(square + REGULARISATION * eye)
        forces = _refined(solve, square, wanted)
        x = solve_triangular(lower, free + pushed @ forces, lower=True, trans=1)
        return scale * x, forces

    return lax.cond(definite, definitely, _by_elimination, mass, rows, load, right)


# Under `vmap` a batch is eliminated, without LAPACK: see `_solve`.
_solve_large = jax.custom_batching.custom_vmap(_by_halves)


@_solve_large.def_vmap
def _solve_many(size: int, batched: list[bool], *arguments: Any) -> tuple[Any, Any]:
    del size
    axes = tuple(0 if mapped else None for mapped in batched)
    return jax.vmap(_by_elimination, in_axes=axes)(*arguments), (True, True)


def solve_kkt(
    mass: Matrix, jacobian: RowMatrix, elsewhere: RowMatrix, load: Vector, right: RowVector
) -> tuple[Any, Any]:
    """q̈ and λ with M q̈ − Jᵀλ = load, J q̈ = right; NaN where the motion is not determinate.

    Derivatives are those of the solution, right wherever the rank of J is locally constant.
    """
    system = scaled(mass, jacobian, elsewhere)
    n = mass.shape[0]

    # One vector (q̈, −λ): JAX 0.10 loses the derivative of a pair of which one part is constant.
    def solve(_: Any, b: AnyArray) -> AnyArray:
        right = system.roots * b[n:]
        solve_scaled = _by_elimination if n <= UNROLLED_UP_TO else _solve_large
        qdd, forces = solve_scaled(system.inertia, system.rows, b[:n], right)
        return jnp.concatenate([qdd, -system.roots * forces])

    def apply(x: AnyArray) -> AnyArray:
        return jnp.concatenate([mass @ x[:n] + jacobian.T @ x[n:], jacobian @ x[:n]])

    right_side = jnp.concatenate([load, right])
    solution = lax.custom_linear_solve(apply, right_side, solve, symmetric=True)
    return solution[:n], -solution[n:]


def unique_rows(inverse: RowSquare) -> AnyArray:
    """Which multipliers are determined, from (S + ε)⁻¹: ε(S + ε)⁻¹ projects on what is lost."""
    return REGULARISATION * jnp.diagonal(inverse) < _LOST_PART
