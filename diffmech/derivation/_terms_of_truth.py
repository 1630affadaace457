"""Which term of the machine's own equations a hand-written one has wrong.

A hand-written equation r = 0 says the same as E_i + δ = 0, whatever it was multiplied by and
whatever other equations were added, if r vanishes where all other equations hold and E_i = −δ. On
the line (q̈, λ) = true ones + ε K⁻¹ eᵢ, K = [[M, −Jᵀ], [J, 0]], that is at ε = −δ. So ε, found
from r alone, is compared with every term τ of equation i at that state: ρ = 1 − ε/τ is what τ
stands multiplied by.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ._explain import Explanation, cost_of, wrong_factor
from ._library import Library, Term, values_of
from ._recognise import Product, Quantities, tidy
from ._rows import Rows
from ._truth import Motions, Points, Truth

_EXACT = 1e-7  # of the disagreement: what an explanation may leave
_ROUNDING = 1e-11  # of the equation's size
_LEVEL = 1e-7  # of its size: below it an equation does not feel another one
# Of an equation of two terms nobody can tell which has the wrong sign: rather not the inertia.
_INERTIA = 0.3
_STEP = 0.6  # of the equation's size
_ODD = 0.75  # for an equation that has been multiplied by something of both signs
_MOST_MISTAKES = 3  # in one equation


class Line(NamedTuple):
    """Where one hand-written equation and all but one of the machine's hold.

    Attributes:
        row: the one that does not.
        missing: by how much, shape (states,).
        points: these states.
        weight: one over the equation's size.
        usable: which states they are.
        direction: along which (q̈, λ) change if that equation does not hold.
        along: what the hand-written equation changes by in that direction.
    """

    row: int
    missing: np.ndarray
    points: Points
    weight: np.ndarray
    usable: np.ndarray
    direction: np.ndarray
    along: np.ndarray


def lines(truth: Truth, rows: Rows, j: int, points: Points, motions: Motions) -> Iterator[Line]:
    """For every equation of the machine that hand-written equation j feels."""
    n = truth.n
    slope, value = rows.slope[:, j], rows.value[:, j]
    k = slope.shape[1]
    for i in range(n + truth.m):
        direction = motions.inverse[:, :, i]
        with np.errstate(all="ignore"):
            along = np.einsum("sk,sk->s", slope, direction[:, :k])
            reach = np.einsum("sk,sk->s", np.abs(slope), np.abs(direction[:, :k]))
            missing = -value / along
        felt = (np.abs(along) > _LEVEL * reach) & np.isfinite(missing) & rows.comparable
        if np.sum(felt) < 0.8 * len(felt):
            continue
        there = points.kept(felt)
        moved = missing[felt][:, None] * direction[felt]
        there = there._replace(qdd=there.qdd + moved[:, :n], lam=there.lam + moved[:, n:])
        mass, bias, jacobian, drift = truth.at(there, "mass", "bias", "jacobian", "drift")
        matrix, rest = np.concatenate([mass, jacobian], 1), np.concatenate([bias, drift], 1)
        pulled = np.einsum("sk,sk->s", np.abs(matrix[:, i]), np.abs(there.qdd))
        size = np.abs(rest[:, i]) + pulled
        size = np.maximum(size, 1e-6 * np.median(size) + 1e-300)
        yield Line(i, missing[felt], there, 1 / size, felt, direction[felt], along[felt])


def explanations(
    truth: Truth,
    library: Library,
    quantities: Quantities,
    rows: Rows,
    j: int,
    points: Points,
    motions: Motions,
    whereabouts: str,
) -> list[Explanation]:
    """All single terms that would explain equation j, and if there is none, several together.

    `quantities` are at `points`.
    """
    single: list[Explanation] = []
    several: list[Explanation] = []
    for line in lines(truth, rows, j, points, motions):
        terms = library.of_row(line.row)
        if not terms:
            continue
        values = values_of(truth, terms, line.points)
        here = quantities.kept(line.usable)
        ratios = _ratios(line, values, here)
        multiple = _Multiple(truth, line, terms)
        for k, ratio in enumerate(ratios):
            if ratio is None:
                continue
            term = terms[k]
            rest = multiple.cost([k], [here.value(ratio)])
            if rest is None:
                continue
            cost = cost_of(ratio) + term.cost + rest
            cost += _INERTIA if term.second and not ratio.exponents else 0.0
            text = library.text(term)
            guess = wrong_factor(ratio, text, term.kind, whereabouts)
            single.append(Explanation(cost, text, term.kind, guess, term.row, term.register))
        extra = _too_many(line, here, whereabouts)
        if extra is not None:
            rest = multiple.cost_of_extra()
            single.append(extra._replace(cost=extra.cost + (_ODD if rest is None else rest)))
        if not single:
            several += _together(line, library, terms, values, multiple, whereabouts)
    if not np.any(rows.slope[:, j]):
        single += _without_accelerations(truth, library, quantities, rows, j, points, whereabouts)
    return single or several


def _without_accelerations(
    truth: Truth,
    library: Library,
    quantities: Quantities,
    rows: Rows,
    j: int,
    points: Points,
    whereabouts: str,
) -> list[Explanation]:
    """Equation j lost the only term with an acceleration that it had: r = c (E_i − τ) = −c τ."""
    terms = [term for term in library.terms if term.second]
    if not terms:
        return []
    weight = 1 / rows.size[:, j]
    values = values_of(truth, terms, points)
    with np.errstate(all="ignore"):
        multiples = -rows.value[:, j, None] / values
    allowed = _EXACT * float(np.sqrt(np.mean((rows.value[:, j] * weight) ** 2)))
    weights = np.abs(values) * weight[:, None]
    named = quantities.products(multiples, weights, [allowed] * len(terms))
    missing, single = Product(0.0, ()), []
    for term, multiple in zip(terms, named, strict=True):
        if multiple is not None:
            cost = cost_of(missing) + term.cost + 0.2 * multiple.weight
            cost += 0.0 if multiple.number == 1 else 0.3
            text = library.text(term)
            guess = wrong_factor(missing, text, term.kind, whereabouts)
            single.append(Explanation(cost, text, term.kind, guess, term.row, term.register))
    return single


def _ratios(line: Line, values: np.ndarray, quantities: Quantities) -> list[Product | None]:
    """What each term stands multiplied by, if a product that can be named."""
    allowed = _allowed(line)
    weighted, missing = values * line.weight[:, None], line.missing * line.weight
    with np.errstate(all="ignore"):
        share = (missing @ weighted) / np.sum(weighted**2, axis=0)
        left = np.sqrt(np.mean((missing[:, None] - share * weighted) ** 2, axis=0))
        ratios = 1 - line.missing[:, None] / values
    plain = np.isfinite(share) & (left <= allowed)
    usable = np.any(values != 0, axis=0) & ~plain
    weights = np.abs(values) * line.weight[:, None]
    named = quantities.products(np.where(usable, ratios, np.nan), weights, [allowed] * len(usable))
    return [
        Product(_number(1 - share[k]), ()) if plain[k] else named[k] for k in range(values.shape[1])
    ]


def _number(ratio: float) -> float:
    """A ratio of two terms without the dust of rounding."""
    return 0.0 if abs(ratio) < _EXACT else tidy(ratio)


def _allowed(line: Line) -> float:
    return max(_EXACT * float(np.sqrt(np.mean((line.missing * line.weight) ** 2))), _ROUNDING)


def _too_many(line: Line, quantities: Quantities, whereabouts: str) -> Explanation | None:
    """A term that the machine's equation does not have."""
    column = -line.missing[:, None]
    (product,) = quantities.products(column, line.weight[:, None], [_allowed(line)])
    if product is None:
        return None
    cost = 2.4 + 0.1 * product.weight
    text = str(product)
    return Explanation(
        cost, text, "term too many", f"the term {text} does not belong {whereabouts}", line.row
    )


class _Multiple:
    """What the equation is multiplied by, once a term is put right: best if by nothing.

    Further along the line the mistaken equation does not hold, while all others still do.
    """

    def __init__(self, truth: Truth, line: Line, terms: list[Term]):
        step = _STEP / line.weight
        moved, points = step[:, None] * line.direction, line.points
        self._off = points._replace(
            qdd=points.qdd + moved[:, : truth.n], lam=points.lam + moved[:, truth.n :]
        )
        self._value = step * line.along
        self._true = line.missing + step
        self._missing = line.missing
        self._own = values_of(truth, terms, self._off)

    def cost(self, which: list[int], ratios: list[Any]) -> float | None:
        """Of terms that stand multiplied by ratios; None if nothing of the equation is left."""
        changes = [(ratio - 1) * self._own[:, k] for k, ratio in zip(which, ratios, strict=True)]
        return self._of(self._true + np.sum(changes, axis=0))

    def cost_of_extra(self) -> float | None:
        """Of a term too many; None if nothing of the equation is left."""
        return self._of(self._true - self._missing)

    def _of(self, mistaken: np.ndarray) -> float | None:
        if np.median(np.abs(mistaken)) <= _EXACT * np.median(np.abs(self._true)):
            return None
        with np.errstate(all="ignore"):
            multiple = self._value / mistaken
        middle = np.median(multiple)
        if not np.isfinite(middle):
            return _ODD
        if np.mean(np.abs(multiple - middle) < 1e-6 * abs(middle)) < 0.9:
            return 0.35 if np.all(multiple > 0) else _ODD
        if abs(middle - 1) < 1e-6:
            return 0.0
        return 0.3 if middle > 0 else 0.7


def _together(
    line: Line,
    library: Library,
    terms: list[Term],
    values: np.ndarray,
    multiple: _Multiple,
    whereabouts: str,
) -> list[Explanation]:
    """Two or three terms with wrong numbers, the nearest one first."""
    missing = line.missing * line.weight
    weighted = values * line.weight[:, None]
    norms = np.sqrt(np.sum(weighted**2, axis=0))
    singles = np.array([t.cost == 0 for t in terms]) & (norms > 0) & np.isfinite(norms)
    best: tuple[list[int], np.ndarray] | None = None
    starts = np.argsort(-np.abs(missing @ weighted) / np.where(norms > 0, norms, np.inf))
    for first in [k for k in starts[:40] if singles[k]]:
        chosen = [int(first)]
        while len(chosen) < _MOST_MISTAKES:
            basis = np.linalg.qr(weighted[:, chosen])[0]
            rest = missing - basis @ (basis.T @ missing)
            others = weighted - basis @ (basis.T @ weighted)
            size = np.sqrt(np.sum(others**2, axis=0))
            able = singles & (size > 1e-8 * norms)
            with np.errstate(all="ignore"):
                gain = np.where(able, np.abs(rest @ others) / size, -1.0)
            chosen.append(int(np.argmax(gain)))
            shares, *_ = np.linalg.lstsq(weighted[:, chosen], missing, rcond=None)
            left = missing - weighted[:, chosen] @ shares
            if np.sqrt(np.mean(left**2)) <= _allowed(line):
                if multiple.cost(chosen, list(1 - shares)) is None:
                    break
                if best is None or len(chosen) < len(best[0]):
                    best = (chosen, shares)
                break
    if best is None:
        return []
    chosen, shares = best
    cost, guesses = 0.5, []
    for k, share in zip(chosen, shares, strict=True):
        ratio = Product(_number(1 - float(share)), ())
        cost += cost_of(ratio)
        guesses.append(wrong_factor(ratio, library.text(terms[k]), terms[k].kind, whereabouts))
    text = "; ".join(library.text(terms[k]) for k in chosen)
    where = "; ".join(dict.fromkeys(terms[k].kind for k in chosen))
    first = terms[chosen[0]]
    return [Explanation(cost, text, where, "; ".join(guesses), first.row, first.register)]
