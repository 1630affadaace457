"""Smooth functions of a return map that vanish where the stability of a periodic motion changes.

A motion is unstable if a multiplier μ (eigenvalue of the map) lies outside of the unit circle.
For a reciprocal map (multipliers in pairs μ, 1/μ, as those of every conservative machine) of size
2m they can leave the circle at +1, at −1, or by colliding on it:

    f₊ = det(M − 1) = Π (2 − a_j),   f₋ = det(M + 1) = Π (2 + a_j),   a_j = μ_j + 1/μ_j
    f_D = det(p_{i+j}) = Π_{i<j} (a_i − a_j)²,   i, j = 0..m−1,   p_k = Σ_j a_j^k

For any other map, at +1, at −1, or as a pair of complex ones (Yu. I. Neimark, Dokl. Akad. Nauk
SSSR 129 (1959) 736–739; R. J. Sacker, Report IMM-NYU 333, New York University, 1964):

    f_NS = det(C₂(M) − 1) = Π_{i<j} (μ_i μ_j − 1),   C₂ the second compound of M
"""

from math import comb
from typing import Any

import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray

_VERDICT = 1e-7  # how far from the unit circle (in a = μ + 1/μ, or in |μ|) rounding may reach


def kinds_of(reciprocal: bool, size: int) -> tuple[str, ...]:
    """What each edge function stands for; `size` is the number of multipliers that count."""
    if reciprocal:
        return ("+1", "-1", "collision") if size >= 4 else ("+1", "-1")
    return ("+1", "-1", "complex pair") if size >= 2 else ("+1", "-1")


def edge_functions(m: AnyArray, unit: AnyArray, reciprocal: bool, size: int) -> AnyArray:
    """(f₊, f₋) and f_D or f_NS where there are enough multipliers; shape (2,) or (3,).

    The map may be larger than the number of multipliers that count, `size`, if the others are
    zero: trivial multipliers that were deflated. `unit` is the identity on the rest.

    f± are made of the entries of M ∓ 1, not of traces of M: where two edges nearly coincide, all
    these entries are small, and bands of a width of 1e-9 can be told from touches.
    """
    functions = [_determinant(m - unit, unit, size), _determinant(m + unit, unit, size)]
    if reciprocal and size >= 4:
        functions.append(_discriminant(m, size // 2))
    elif not reciprocal and size >= 2:
        # The identity on the second compound's space, deflated likewise.
        pairs, whole = second_compound(m), second_compound(unit)
        functions.append(_determinant(pairs - whole, whole, size * (size - 1) // 2))
    return jnp.stack(functions)


def _determinant(m: AnyArray, unit: AnyArray, size: int) -> Any:
    """The product of the `size` eigenvalues of m on the space that `unit` projects on."""
    if size == 1:
        return jnp.trace(m)
    if size == 2:
        return (jnp.trace(m) ** 2 - jnp.trace(m @ m)) / 2
    return jnp.linalg.det(m + jnp.eye(m.shape[0], dtype=m.dtype) - unit)


def _discriminant(m: AnyArray, count: int) -> Any:
    """f_D from the traces of powers of M: p_k = ½ Σ_j C(k, j) tr M^(k−2j), tr M^−k = tr M^k."""
    traces, power = [2.0 * count * jnp.ones((), m.dtype)], m
    for _ in range(2 * count - 2):
        traces.append(jnp.trace(power))
        power = power @ m
    sums = [
        0.5 * sum(comb(k, j) * traces[abs(k - 2 * j)] for j in range(k + 1))
        for k in range(2 * count - 1)
    ]
    hankel = jnp.stack([jnp.stack(sums[i : i + count]) for i in range(count)])
    return jnp.linalg.det(hankel)


def second_compound(m: AnyArray) -> AnyArray:
    """C₂(M), entries M_pr M_qs − M_ps M_qr for p < q, r < s; its eigenvalues are the μ_i μ_j."""
    p, q = (np.asarray(i) for i in np.triu_indices(m.shape[0], 1))
    return m[np.ix_(p, p)] * m[np.ix_(q, q)] - m[np.ix_(p, q)] * m[np.ix_(q, p)]


def multipliers_of(m: AnyArray, size: int) -> np.ndarray:
    """The `size` eigenvalues of a map that are largest in modulus, largest first."""
    multipliers = np.linalg.eigvals(np.asarray(m))
    order = np.lexsort((-np.imag(multipliers), -np.abs(multipliers)))
    return multipliers[order][:size]


def unstable_count(m: AnyArray, reciprocal: bool, size: int) -> int:
    """How many multipliers lie outside of the unit circle; −1 if the map is not finite.

    For a reciprocal map it is read off a = μ + 1/μ, which is exact to rounding where two
    multipliers meet at ±1 and each of them is only known to its square root.
    """
    if not np.all(np.isfinite(m)):
        return -1
    multipliers = multipliers_of(m, size)
    if not reciprocal:
        return int(np.sum(np.abs(multipliers) > 1 + _VERDICT))
    a = multipliers + 1 / multipliers
    scale = np.maximum(1.0, np.abs(a))
    outside = (np.abs(a.real) > 2 + _VERDICT) | (np.abs(a.imag) > np.sqrt(_VERDICT) * scale)
    return int(np.sum(outside)) // 2


def is_reciprocal(m: AnyArray, size: int) -> bool:
    """Whether the multipliers come in pairs μ, 1/μ: their polynomial reads the same backwards."""
    if size % 2:
        return False
    coefficients = np.poly(multipliers_of(m, size)).real
    largest = np.max(np.abs(coefficients))
    return bool(np.max(np.abs(coefficients - coefficients[::-1])) <= 1e-6 * largest)
