"""Gauss-Legendre collocation in (q, p): symplectic, symmetric, A-stable, of even order.

With s stages of rates Vᵢ, and F = ∂L/∂q + Q − ∂D/∂q̇,

    Qᵢ = q₀ + h Σⱼ aᵢⱼ Vⱼ,    ∂L/∂q̇ (Qᵢ, Vᵢ) = p₀ + h Σⱼ aᵢⱼ F(Qⱼ, Vⱼ)
    q₁ = q₀ + h Σ bᵢ Vᵢ,       p₁ = p₀ + h Σ bᵢ F(Qᵢ, Vᵢ)

The unknowns are the rates, so no Legendre transform is needed inside the step and L need not be
quadratic in them. Newton's method solves for them to round-off: an early stop would leave an error
that is not symplectic and drifts.

Hairer, Lubich, Wanner, Geometric Numerical Integration, II.1.3 and VI.4.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Params, Scalar, Truth, Vector
from ..motion import Field, newton, power_of, unpack
from ._path import MotionPath
from ._symplectic import AbstractSymplectic, rate_scale, slopes_of, start_momentum

_R3, _R15 = np.sqrt(3.0), np.sqrt(15.0)

# order -> (A, b, c)
_TABLEAUS: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {
    2: (np.array([[0.5]]), np.array([1.0]), np.array([0.5])),
    4: (
        np.array([[1 / 4, 1 / 4 - _R3 / 6], [1 / 4 + _R3 / 6, 1 / 4]]),
        np.array([1 / 2, 1 / 2]),
        np.array([1 / 2 - _R3 / 6, 1 / 2 + _R3 / 6]),
    ),
    6: (
        np.array(
            [
                [5 / 36, 2 / 9 - _R15 / 15, 5 / 36 - _R15 / 30],
                [5 / 36 + _R15 / 24, 2 / 9, 5 / 36 - _R15 / 24],
                [5 / 36 + _R15 / 30, 2 / 9 + _R15 / 15, 5 / 36],
            ]
        ),
        np.array([5 / 18, 4 / 9, 5 / 18]),
        np.array([1 / 2 - _R15 / 10, 1 / 2, 1 / 2 + _R15 / 10]),
    ),
}


def gauss_work(
    order: int, field: Field, t: Scalar, step: Scalar, path: MotionPath, params: Params
) -> Scalar:
    """∫ power dt over the step by Gauss quadrature along the interpolated path [J]."""
    _, weights, nodes = _TABLEAUS[order]

    def power_at(node: Scalar) -> Scalar:
        time = t + node * step
        q, qd, _ = unpack(path.evaluate(time))
        return power_of(field.laws, q, qd, time, params)

    return step * (weights @ jax.vmap(power_at)(jnp.asarray(nodes, step.dtype)))


class _AbstractGauss(AbstractSymplectic):
    def move(
        self, field: Field, t: Scalar, step: Scalar, start: AnyArray, params: Params
    ) -> tuple[Vector, Vector, Vector, Truth]:
        a, b, c = (jnp.asarray(x, step.dtype) for x in _TABLEAUS[self.order(None)])
        q, qd, qdd, p = start_momentum(field, t, start, params)
        laws: Any = field.laws

        def stages(rates: AnyArray) -> tuple[AnyArray, AnyArray]:
            positions = q + step * (a @ rates)
            return jax.vmap(lambda q_, v, node: slopes_of(laws, q_, v, t + node * step, params))(
                positions, rates, c
            )

        def residual(flat: AnyArray) -> AnyArray:
            forces, momenta = stages(flat.reshape(c.size, q.size))
            return (momenta - p - step * (a @ forces)).ravel()

        guess = qd + step * c[:, None] * qdd
        flat, solved = newton(residual, guess.ravel(), rate_scale(q, step), jnp.max(jnp.abs(p)))
        rates = flat.reshape(guess.shape)
        forces, _ = stages(rates)
        end_rates = rates[-1] + (1 - c[-1]) * step * qdd
        return q + step * (b @ rates), p + step * (b @ forces), end_rates, solved

    def work(
        self, field: Field, t: Scalar, step: Scalar, path: MotionPath, params: Params
    ) -> Scalar:
        return gauss_work(self.order(None), field, t, step, path, params)


class ImplicitMidpoint(_AbstractGauss):
    """Implicit midpoint rule in (q, p): order 2, symplectic, fixed step.

        ∂L/∂q̇ (q̄, V, t̄) = p₀ + h/2 F(q̄, V, t̄),   q̄ = q₀ + h/2 V,   t̄ = t₀ + h/2
        q₁ = q₀ + h V,   p₁ = p₀ + h F(q̄, V, t̄),   F = ∂L/∂q + Q − ∂D/∂q̇

    The Gauss-Legendre method of one stage. Without forces the map is symplectic and symmetric; it
    keeps momenta that are linear or quadratic in (q, p) to round-off, and the error of a conserved
    energy is O(h²) and does not drift.

    Hairer, Lubich, Wanner, Geometric Numerical Integration, 2nd edition, Springer 2006, VI.4.

    **Raises:** `simulate` raises a `ValueError` without `dt`, without a Lagrangian, and for a
    machine with constraints, and a `SimulationError` where Newton's method finds no solution of a
    step: take a shorter `dt`.
    """

    def order(self, terms: Any) -> int:
        del terms
        return 2


class GaussLegendre4(_AbstractGauss):
    """Two-stage Gauss-Legendre method in (q, p): order 4, symplectic, fixed step.

        Xᵢ = q₀ + h Σⱼ aᵢⱼ Vⱼ,    ∂L/∂q̇ (Xᵢ, Vᵢ, t₀ + cᵢ h) = p₀ + h Σⱼ aᵢⱼ Fⱼ
        q₁ = q₀ + h Σ bᵢ Vᵢ,       p₁ = p₀ + h Σ bᵢ Fᵢ,    F = ∂L/∂q + Q − ∂D/∂q̇

        c = 1/2 ∓ √3/6,   b = (1/2, 1/2),   a = [[1/4, 1/4 − √3/6], [1/4 + √3/6, 1/4]]

    Without forces the map is symplectic and symmetric; it keeps momenta that are linear or
    quadratic in (q, p) to round-off, and the error of a conserved energy is O(h⁴) and does not
    drift.

    J. C. Butcher, "Implicit Runge-Kutta processes", Mathematics of Computation 18 (1964) 50-64;
    symplectic: J. M. Sanz-Serna, "Runge-Kutta schemes for Hamiltonian systems", BIT 28 (1988)
    877-883.

    **Raises:** `simulate` raises a `ValueError` without `dt`, without a Lagrangian, and for a
    machine with constraints, and a `SimulationError` where Newton's method finds no solution of a
    step: take a shorter `dt`.
    """

    def order(self, terms: Any) -> int:
        del terms
        return 4


class GaussLegendre6(_AbstractGauss):
    """Three-stage Gauss-Legendre method in (q, p): order 6, symplectic, fixed step.

        Xᵢ = q₀ + h Σⱼ aᵢⱼ Vⱼ,    ∂L/∂q̇ (Xᵢ, Vᵢ, t₀ + cᵢ h) = p₀ + h Σⱼ aᵢⱼ Fⱼ
        q₁ = q₀ + h Σ bᵢ Vᵢ,       p₁ = p₀ + h Σ bᵢ Fᵢ,    F = ∂L/∂q + Q − ∂D/∂q̇

        c = (1/2 − √15/10, 1/2, 1/2 + √15/10),   b = (5/18, 4/9, 5/18),   aᵢⱼ = ∫₀^cᵢ ℓⱼ(τ) dτ

    with ℓⱼ Lagrange's polynomials on c. Without forces the map is symplectic and symmetric; it
    keeps momenta that are linear or quadratic in (q, p) to round-off, and the error of a conserved
    energy is O(h⁶) and does not drift. Sources as of `GaussLegendre4`.

    **Raises:** `simulate` raises a `ValueError` without `dt`, without a Lagrangian, and for a
    machine with constraints, and a `SimulationError` where Newton's method finds no solution of a
    step: take a shorter `dt`.
    """

    def order(self, terms: Any) -> int:
        del terms
        return 6
