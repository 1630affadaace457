"""Least squares along chains of segments, by orthogonal transformations; cost linear in the length.

A chain has states s₀ … s_S of size m, tied by linear laws, and rows of data about each and about
numbers z, of size p, that all chains share:

    s_{j+1} = Φ_j s_j + Ψ_j z + d_j                   exactly
    minimise  Σ_j ‖e_j + H_j s_j + G_j z‖²

Two neighbouring segments become one by eliminating the state between them: from the laws by a QR
factorisation, whose pivots no growth or decay along the chain can make small, and from the data by
substitution; what is left of the data is triangularised. So the chain halves until its two ends
are left (S. J. Wright, SIAM J. Sci. Stat. Comput. 13 (1992) 742-764). JᵀJ is never formed. All
arrays have batch axes in front.
"""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray


class Laws(NamedTuple):
    """What ties the states of a chain, and what is known of them.

    Attributes:
        phi: Φ, shape (..., S, m, m); S is a power of two (`padded`).
        psi: Ψ, shape (..., S, m, p).
        jump: d, shape (..., S, m).
        rows: (H, G, e), shape (..., S, r, m + p + 1).
    """

    phi: Array
    psi: Array
    jump: Array
    rows: Array


class Reduced(NamedTuple):
    """What a chain says of z alone, and how to find its states when z is known.

    Attributes:
        rows: (R, e), shape (..., p + 1, p + 1): the chain's cost is ‖R z + e‖².
        ends: (first and last state) = ends[..., :p] z + ends[..., p], shape (..., 2 m, p + 1).
        levels: the eliminated states, from the ends inwards, as functions of the two around them,
            of z, and of 1: each of shape (..., nodes, m, 2 m + p + 1).
        spread: the first and last state given z have the covariance spread spreadᵀ, (..., 2 m, m).
    """

    rows: Array
    ends: Array
    levels: list[Array]
    spread: Array


def padded(laws: Laws) -> Laws:
    """The chain lengthened to a power of two by segments in which nothing happens."""
    segments, m = laws.phi.shape[-3:-1]
    extra = (1 << max(segments - 1, 0).bit_length()) - segments
    if not extra:
        return laws

    def longer(array: Array, filler: float | Array = 0.0) -> Array:
        axis = array.ndim - (2 if array is laws.jump else 3)
        shape = (*array.shape[:axis], extra, *array.shape[axis + 1 :])
        return np.concatenate([array, np.broadcast_to(filler, shape)], axis=axis)

    return Laws(longer(laws.phi, np.eye(m)), longer(laws.psi), longer(laws.jump), longer(laws.rows))


def reduced(laws: Laws) -> Reduced:
    """Eliminate all states."""
    laws = padded(laws)
    m, p = laws.psi.shape[-2:]
    ties = np.concatenate(
        [
            laws.phi,
            np.broadcast_to(-np.eye(m), laws.phi.shape),
            laws.psi,
            laws.jump[..., None],
        ],
        axis=-1,
    )  # (..., S, m, 2 m + p + 1): columns a, b, z, 1
    rows = np.concatenate(
        [laws.rows[..., :m], np.zeros((*laws.rows.shape[:-1], m)), laws.rows[..., m:]], axis=-1
    )
    rows = _triangular(rows)
    levels = []
    while ties.shape[-3] > 1:
        ties, rows, level = _halved(ties, rows, m)
        levels.append(level)
    return _ended(ties[..., 0, :, :], rows[..., 0, :, :], levels[::-1], m, p)


def triangle(rows: Array) -> Array:
    """R of the QR factorisation."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _triangular(rows: Array) -> Array:
    """At most as many rows as columns, of the same cost."""
    return rows if rows.shape[-2] <= rows.shape[-1] else triangle(rows)


def _halved(ties: Array, rows: Array, m: int) -> tuple[Array, Array, Array]:
    """Neighbours joined: ties, rows, and the states between them."""

    def stacked(blocks: Array) -> Array:
        left, right = blocks[..., 0::2, :, :], blocks[..., 1::2, :, :]
        none = np.zeros((*left.shape[:-1], m))
        return np.concatenate(
            [  # columns: the state between, a, b, z, 1
                np.concatenate(
                    [left[..., m : 2 * m], left[..., :m], none, left[..., 2 * m :]], axis=-1
                ),
                np.concatenate(
                    [right[..., :m], none, right[..., m : 2 * m], right[..., 2 * m :]], axis=-1
                ),
            ],
            axis=-2,
        )

    both = triangle(stacked(ties))
    pivot, rest = both[..., :m, :m], both[..., :m, m:]
    between = -np.linalg.solve(pivot, rest)
    about = stacked(rows)
    rows = about[..., m:] + about[..., :m] @ between
    return both[..., m : 2 * m, m:], _triangular(rows), between


def _ended(ties: Array, rows: Array, levels: list[Array], m: int, p: int) -> Reduced:
    """The two ends: along the laws by z, across them by the data."""
    basis, factor = np.linalg.qr(np.swapaxes(ties[..., : 2 * m], -1, -2), mode="complete")
    along, across = basis[..., :m], basis[..., m:]
    fixed = -along @ np.linalg.solve(
        np.swapaxes(factor[..., :m, :], -1, -2), ties[..., 2 * m :]
    )  # (2m, p + 1)
    inner = np.concatenate(
        [rows[..., : 2 * m] @ across, rows[..., 2 * m :] + rows[..., : 2 * m] @ fixed], axis=-1
    )
    short = m + p + 1 - inner.shape[-2]
    if short > 0:
        inner = np.concatenate([inner, np.zeros((*inner.shape[:-2], short, m + p + 1))], axis=-2)
    upper = triangle(inner)
    pivot = upper[..., :m, :m]
    sizes = np.abs(np.diagonal(pivot, axis1=-2, axis2=-1))
    largest = np.max(sizes, axis=-1, keepdims=True)
    # A start that the data say nothing of stays where it is.
    floor = np.finfo(float).eps * np.where(largest > 0, largest, 1.0)
    lift = np.where(sizes > floor, 0.0, np.where(largest > 0, largest, 1.0))
    inverse = np.linalg.inv(pivot + lift[..., None] * np.eye(m))
    free = -inverse @ upper[..., :m, m:]
    return Reduced(
        rows=upper[..., m : m + p + 1, m:],
        ends=fixed + across @ free,
        levels=levels,
        spread=across @ inverse,
    )


def states(chain: Reduced, z: Array, segments: int) -> Array:
    """All states but the last, shape (..., segments, m), for z of shape (..., p)."""
    m = chain.ends.shape[-2] // 2
    known = np.concatenate([z, np.ones((*z.shape[:-1], 1))], axis=-1)
    ends = (chain.ends @ known[..., None])[..., 0]
    whole = np.stack([ends[..., :m], ends[..., m:]], axis=-2)
    for level in chain.levels:
        around = np.concatenate(
            [
                whole[..., :-1, :],
                whole[..., 1:, :],
                np.broadcast_to(known[..., None, :], (*level.shape[:-2], known.shape[-1])),
            ],
            axis=-1,
        )
        between = (level @ around[..., None])[..., 0]
        longer = np.empty((*whole.shape[:-2], whole.shape[-2] + between.shape[-2], m))
        longer[..., 0::2, :], longer[..., 1::2, :] = whole, between
        whole = longer
    return whole[..., :segments, :]


def joined(rows: Any) -> Array:
    """What several chains say of z together: rows of shape (chains, p + 1, p + 1) as one."""
    rows = np.asarray(rows)
    flat = rows.reshape(*rows.shape[:-3], -1, rows.shape[-1])
    return _triangular(flat)
