"""Variational integrators: Hamilton's principle discretised, then differentiated.

The path over one step is the polynomial through s + 1 control points at the Lobatto nodes, the
action its quadrature there:

    L_d(q₀, ..., q_s) = h Σᵢ wᵢ L(qᵢ, q̇ᵢ, tᵢ),     q̇ᵢ = Σⱼ Dᵢⱼ qⱼ / h

Making it stationary with the forces' virtual work gives the step (discrete Lagrange-d'Alembert):

    p₀ = −∂L_d/∂q₀ − f₀,    0 = ∂L_d/∂q_k + f_k,    p₁ = ∂L_d/∂q_s + f_s,    f_k = h w_k Q_k

The map (q₀, p₀) -> (q₁, p₁) is symplectic where there are no forces, and keeps the momentum of
every symmetry of L that acts on q linearly.
s = 1 is Störmer-Verlet for separable Lagrangians.

Marsden, West, Acta Numerica 10 (2001) 357; Ober-Blöbaum, Saake, Adv. Comput. Math. 41 (2015) 955.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Params, Scalar, Truth, Vector
from ..motion import Field, force_of, newton
from ._gauss_legendre import gauss_work
from ._path import MotionPath
from ._symplectic import AbstractSymplectic, rate_scale, start_momentum

_R5 = np.sqrt(5.0)

# order -> (Lobatto nodes, weights) on [0, 1]
_LOBATTO: dict[int, tuple[np.ndarray, np.ndarray]] = {
    2: (np.array([0.0, 1.0]), np.array([1 / 2, 1 / 2])),
    4: (np.array([0.0, 0.5, 1.0]), np.array([1 / 6, 4 / 6, 1 / 6])),
    6: (
        np.array([0.0, 0.5 - _R5 / 10, 0.5 + _R5 / 10, 1.0]),
        np.array([1 / 12, 5 / 12, 5 / 12, 1 / 12]),
    ),
}


def _differentiation(nodes: np.ndarray) -> np.ndarray:
    """D with p'(xᵢ) = Σⱼ Dᵢⱼ p(xⱼ) for polynomials through the nodes."""
    powers = np.vander(nodes, increasing=True)
    slopes = np.zeros_like(powers)
    slopes[:, 1:] = powers[:, :-1] * np.arange(1, len(nodes))
    return slopes @ np.linalg.inv(powers)


class Variational(AbstractSymplectic):
    """Galerkin variational integrator of order 2, 4 or 6: symplectic, fixed step.

        L_d(q₀, ..., q_s) = h Σᵢ wᵢ L(qᵢ, q̇ᵢ, tᵢ),   q̇ᵢ = Σⱼ Dᵢⱼ qⱼ/h,   s = order/2
        p₀ = −∂L_d/∂q₀ − f₀,   0 = ∂L_d/∂q_k + f_k,   p₁ = ∂L_d/∂q_s + f_s,   f_k = h w_k Q_k

    tᵢ and wᵢ are Lobatto's nodes and weights, D differentiates the polynomial through the qᵢ, and
    Q − ∂D/∂q̇ stands for Q. Without forces the map (q₀, p₀) -> (q₁, p₁) is symplectic and
    symmetric; the momentum of a symmetry that acts on q linearly (a shift, a turn of Cartesian
    coordinates) is kept to round-off, and the error of a conserved energy is O(h^order) and does
    not drift. Order 2 is Störmer-Verlet for separable Lagrangians.

    J. E. Marsden, M. West, "Discrete mechanics and variational integrators", Acta Numerica 10
    (2001) 357-514; S. Ober-Blöbaum, N. Saake, "Construction and analysis of higher order Galerkin
    variational integrators", Advances in Computational Mathematics 41 (2015) 955-986.

    Attributes:
        accuracy: the order; 2 by default.

    **Raises:** `ValueError` for another order. `simulate` raises a `ValueError` without `dt`,
    without a Lagrangian, and for a machine with constraints, and a `SimulationError` where
    Newton's method finds no solution of a step: take a shorter `dt`.
    """

    accuracy: int = eqx.field(static=True)

    def __init__(self, order: int = 2):
        if order not in _LOBATTO:
            raise ValueError(f"`order` must be one of {', '.join(map(str, _LOBATTO))}, not {order}")
        self.accuracy = order

    def order(self, terms: Any) -> int:
        del terms
        return self.accuracy

    def move(
        self, field: Field, t: Scalar, step: Scalar, start: AnyArray, params: Params
    ) -> tuple[Vector, Vector, Vector, Truth]:
        nodes, weights = _LOBATTO[self.accuracy]
        slopes = _differentiation(nodes)
        q, qd, qdd, p = start_momentum(field, t, start, params)
        laws: Any = field.laws
        times = t + step * jnp.asarray(nodes, step.dtype)

        # Control points as q + h e with e₀ = 0: the rates are then D e, free of the cancellation
        # in (q₁ − q₀)/h, and ∂L_d/∂q_k is the derivative of L_d/h with respect to e_k.
        def mean_lagrangian(e: AnyArray) -> Scalar:
            values = jax.vmap(lambda q_, v, t_: laws.lagrangian(q_, v, t_, params))(
                q + step * e, slopes @ e, times
            )
            return weights @ values

        def impulses(later: AnyArray) -> AnyArray:
            """∂L_d/∂q_k + f_k for every control point, shape (s + 1, n)."""
            e = jnp.concatenate([jnp.zeros_like(q)[None], later.reshape(-1, q.size)])
            forces = jax.vmap(lambda q_, v, t_: force_of(laws, q_, v, t_, params))(
                q + step * e, slopes @ e, times
            )
            return jax.grad(mean_lagrangian)(e) + step * weights[:, None] * forces

        def residual(later: AnyArray) -> AnyArray:
            return impulses(later)[:-1].at[0].add(p).ravel()

        fractions = jnp.asarray(nodes[1:], step.dtype)[:, None]
        guess = fractions * qd + 0.5 * step * fractions**2 * qdd
        later, solved = newton(residual, guess.ravel(), rate_scale(q, step), jnp.max(jnp.abs(p)))
        return q + step * later[-q.size :], impulses(later)[-1], qd + step * qdd, solved

    def work(
        self, field: Field, t: Scalar, step: Scalar, path: MotionPath, params: Params
    ) -> Scalar:
        return gauss_work(self.accuracy, field, t, step, path, params)
