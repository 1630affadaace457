"""What right equations say: the machine's own, times what; and whether they say enough."""

from typing import NamedTuple

import numpy as np

from ._locate import Case
from ._recognise import Quantities

_LOST = 1e-7  # of a row's length: what is left of it once the others are taken out
EMPTY = "it says nothing about the accelerations"
_NONE = 1e-7  # of an equation's size: a share of another equation that is none


class Meaning(NamedTuple):
    """Which of the machine's equations one is.

    Attributes:
        factor: the number it is multiplied by; None if that is no number, or if it is a
            combination.
        words: what it is, where that is not plain.
    """

    factor: float | None
    words: str


def meanings(case: Case, holds: np.ndarray, quantities: Quantities) -> dict[int, Meaning]:
    """Of all equations that hold: r = Σ c_i E_i, with c found from the slopes."""
    truth, rows, motions = case.truth, case.rows, case.motions
    good, n = rows.comparable, truth.n
    if not np.all(good):
        quantities = quantities.kept(good)
    inverse = motions.inverse[good]
    slope = np.zeros((int(np.sum(good)), rows.slope.shape[1], n + truth.m))
    slope[:, :, : rows.slope.shape[2]] = rows.slope[good]
    shares = np.einsum("sjk,ski->sji", slope, inverse)
    sizes = _sizes(case)[good]
    names = [f"the equation of {name}" for name in truth.system.coordinates]
    names += [f"the constraint row {k}" for k in range(truth.m)]
    by_equation: dict[int, Meaning] = {}
    for j in np.flatnonzero(holds & rows.linear):
        if not np.all(rows.size[good, j] > 0):
            continue
        part = np.max(np.abs(shares[:, j]) * sizes / rows.size[good, j][:, None], axis=0)
        present = np.flatnonzero(part > _NONE)
        if case.written.form == "accelerations":
            by_equation[int(j)] = Meaning(1.0, "")
        elif len(present) > 1:
            whole = " and ".join(names[i] for i in present)
            by_equation[int(j)] = Meaning(None, f"a combination of {whole}")
        elif len(present) == 1:
            by_equation[int(j)] = _single(shares[:, j, present[0]], names[present[0]], quantities)
    return by_equation


def _single(share: np.ndarray, name: str, quantities: Quantities) -> Meaning:
    one = share[:, None]
    allowed = 1e-7 * float(np.sqrt(np.mean(share**2)))
    (product,) = quantities.products(one, np.ones_like(one), [allowed])
    if product is None:
        return Meaning(None, f"{name}, times a function of the state")
    if not product.exponents:
        return Meaning(product.number, "" if product.number == 1 else name)
    return Meaning(None, f"{name}, times {product}")


def _sizes(case: Case) -> np.ndarray:
    """Of the machine's own equations, shape (states, n + m)."""
    mass, bias, jacobian, drift = case.truth.at(case.points, "mass", "bias", "jacobian", "drift")
    qdd = np.abs(case.motions.qdd)
    balance = np.einsum("sij,sj->si", np.abs(mass), qdd) + np.abs(bias)
    return np.concatenate(
        [balance, np.einsum("sij,sj->si", np.abs(jacobian), qdd) + np.abs(drift)], axis=1
    )


def undetermined(case: Case) -> tuple[str, list[str]]:
    """(why the equations do not determine q̈, or "", what each equation says that is not news)."""
    truth, rows, motions = case.truth, case.rows, case.motions
    good = rows.comparable
    m, n = rows.value.shape[1], truth.n
    if not np.any(good):
        return "", [""] * m
    k = rows.slope.shape[2] - n
    (jacobian,) = truth.at(case.points.kept(good), "jacobian")
    bound = np.concatenate([jacobian, np.zeros((*jacobian.shape[:2], k))], axis=2)
    slope, units = rows.slope[good], motions.units[good]
    forces = 1 / np.maximum(np.linalg.norm(jacobian * units[:, None, :], axis=2), 1e-300)
    scale = np.concatenate([units, forces[:, :k]], axis=1)[:, None, :]
    basis = _Basis(int(np.sum(good)), n + k)
    for i in range(truth.m):
        basis.add((bound * scale)[:, i])
    constraints = basis.copy()
    known = ["" for _ in range(m)]
    for j in range(m):
        row = (slope * scale)[:, j]
        if np.all(np.abs(slope[:, j] * _reach(case, good, k)) <= 1e-12 * rows.size[good, j, None]):
            known[j] = EMPTY
        elif not constraints.takes(row):
            known[j] = "it says what the machine's constraints say"
        elif not basis.add(row):
            known[j] = "it says nothing that the equations before it do not say"
    lost = basis.missing()
    if not lost:
        return "", known
    names = [*truth.system.coordinates, *(f"lam[{i}]" for i in range(k))]
    free = [f"{name}''" if i < n else name for i, name in enumerate(names) if basis.frees(i)]
    return f"the equations do not determine {', '.join(free) or 'the accelerations'}", known


def _reach(case: Case, good: np.ndarray, k: int) -> np.ndarray:
    true = np.concatenate([case.motions.qdd, case.motions.lam[:, :k]], axis=1)[good]
    size = np.sqrt(np.mean(true**2, axis=0))
    return np.maximum(np.abs(true), size)


class _Basis:
    """Directions that rows span, at every state by itself."""

    def __init__(self, states: int, width: int):
        self._rest = np.tile(np.eye(width), (states, 1, 1))  # projects on what is free still

    def copy(self) -> "_Basis":
        """A basis that may grow on by itself."""
        other = _Basis(*self._rest.shape[:2])
        other._rest = self._rest.copy()
        return other

    def takes(self, rows: np.ndarray) -> bool:
        """Whether a row is new, without taking it in."""
        return self.copy().add(rows)

    def add(self, rows: np.ndarray) -> bool:
        """Take one row in; whether it is new."""
        length = np.linalg.norm(rows, axis=1)
        with np.errstate(all="ignore"):
            unit = rows / length[:, None]
        left = np.einsum("sij,sj->si", self._rest, np.nan_to_num(unit))
        left = np.einsum("sij,sj->si", self._rest, left)
        size = np.linalg.norm(left, axis=1)
        new = size > _LOST
        direction = np.where(new[:, None], left / np.where(new, size, 1.0)[:, None], 0.0)
        self._rest = self._rest - direction[:, :, None] * direction[:, None, :]
        return bool(np.mean(new) > 0.5)

    def missing(self) -> bool:
        """Whether anything is free at any state."""
        return bool(np.max(np.einsum("sii->s", self._rest)) > 0.5)

    def frees(self, i: int) -> bool:
        """Whether one unknown is not determined."""
        return bool(np.max(np.abs(self._rest[:, i, i])) > 1e-6)
