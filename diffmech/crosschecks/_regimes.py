"""Seeded random states of all regimes: small and large, at rest and fast, near poles."""

from typing import Any, NamedTuple

import numpy as np

from .._typing import Params, Scalar, Vector
from ..model import AbstractSystem, System
from ..motion import mass_and_bias_of, residual_of
from ._batched import independent
from ._over_states import OverStates
from ._problem import rows_at

REGIMES = ("small", "at rest", "moderate", "large", "fast", "near a pole")
_SMALL, _MODERATE, _FAST = 0.02, 1.0, 15.0  # [rad] or of a length; rates that many times
_RATES = 2.0  # [1/s]
_LENGTHS = 0.3  # of a length, or of 1 where it is zero
_LAST = 5.0  # [s]
# Of the inertia on the free rates: it multiplies the rounding of every formulation, and that of the
# discrete action, some 1e-15, has to stay well below 1e-9.
_CONDITION = 1e5
_NARROW = 1e-2  # smallest singular value of independent rows of unit size
_POOL = 8  # candidates for each state near a pole
_ROUNDS = 20  # of drawing, before too few states are found
_STEPS = 30  # of Newton's method onto the constraints
_CLOSED = 1e-12  # of the size of the coordinates


class States(NamedTuple):
    """States and the name of the regime of each; `refused` had no finite equations.

    `momenta` are M q̇, shape (k, n); zero for a machine without a Lagrangian.
    """

    q: np.ndarray
    qd: np.ndarray
    t: np.ndarray
    momenta: np.ndarray
    regimes: tuple[str, ...]
    refused: int


class _Candidates(NamedTuple):
    q: np.ndarray
    qd: np.ndarray
    t: np.ndarray
    momenta: np.ndarray
    condition: np.ndarray

    def chosen(self, which: np.ndarray) -> "_Candidates":
        return _Candidates(*(values[which] for values in self))


def _drawn(
    system: AbstractSystem, regime: str, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇ and t as they fall, around the default start."""
    n = system.n
    start = np.asarray(system.starts["default"][0]) if "default" in system.starts else np.zeros(n)
    angle = np.array([unit == "rad" for unit in system.coordinates.values()])
    closed = isinstance(system, System) and bool(system.constraints)
    centre = np.where(angle & (not closed), 0.0, start)
    sizes = np.where(angle, 1.0, _LENGTHS * np.where(start != 0, np.abs(start), 1.0))
    if closed:  # the lengths of a linkage are alike
        longest = float(np.max(np.abs(start[~angle]), initial=0.0))
        sizes = np.where(angle, 1.0, _LENGTHS * (longest or 1.0))
    spread = _SMALL if regime == "small" else _MODERATE
    q = centre + spread * sizes * rng.normal(size=(count, n))
    if regime in ("large", "fast", "near a pole"):
        q = np.where(angle, rng.uniform(-np.pi, np.pi, (count, n)), q)
    pace = {"small": _SMALL, "at rest": 0.0, "fast": _FAST * _RATES}.get(regime, _RATES)
    qd = pace * sizes * rng.normal(size=(count, n))
    return q, qd, rng.uniform(0.0, _LAST, count)


class _Ground:
    """What is asked of candidates: are they on the constraints, and are they sound?"""

    def __init__(self, system: AbstractSystem, params: Params):
        self.system, n = system, system.n
        if not isinstance(system, System):
            return
        laws = system.laws
        example = np.zeros(n), np.zeros(n), np.zeros(())

        def inertia(q: Vector, qd: Vector, t: Scalar, params: Params) -> Any:
            return mass_and_bias_of(laws, q, qd, t, params)

        self.inertia = OverStates(inertia, params, *example)
        if system.constraints:
            self.rows = OverStates(lambda *state: rows_at(laws, *state), params, *example)
            self.gap = OverStates(
                lambda q, qd, t, params: residual_of(laws, q, t, params), params, *example
            )

    def admitted(self, q: np.ndarray, qd: np.ndarray, t: np.ndarray) -> _Candidates:
        """Candidates moved onto the constraints, and rates projected; those that are sound."""
        if not isinstance(self.system, System):
            return _Candidates(q, qd, t, np.zeros_like(q), np.ones(len(q)))
        sound = np.ones(len(q), bool)
        free = np.broadcast_to(np.eye(q.shape[1]), (len(q), q.shape[1], q.shape[1]))
        if self.system.constraints:
            q = self._closed(q, qd, t)
            rows = self._independent(q, qd, t)
            for _ in range(2):
                violation = self._rates(q, qd, t)
                qd = qd + np.einsum("kmn,km->kn", rows.rows, violation)
            gap = np.max(np.abs(self.gap(q, qd, t)), axis=1)
            size = 1.0 + np.max(np.abs(q), axis=1)
            sound = (gap < _CLOSED * size) & (rows.narrow > _NARROW)
            sound &= np.sum(~rows.lost, axis=1) == rows.rank
            free = rows.free
        mass, bias = self.inertia(q, qd, t)
        finite = np.all(np.isfinite(mass), axis=(1, 2)) & np.all(np.isfinite(bias), axis=1)
        mass = np.where(finite[:, None, None], mass, 1.0)
        typical = np.median(np.einsum("kii->ki", np.abs(mass)), axis=0)
        unit = 1 / np.sqrt(np.where(typical > 0, typical, 1.0))
        free = np.linalg.qr(free / unit[:, None])[0]
        reduced = np.swapaxes(free, 1, 2) @ (unit[:, None] * mass * unit) @ free
        condition = np.where(finite, np.linalg.cond(reduced), np.nan)
        momenta = np.einsum("kij,kj->ki", mass, qd)
        return _Candidates(q, qd, t, momenta, condition).chosen(sound)

    def _closed(self, q: np.ndarray, qd: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Newton's method, each step the shortest."""
        for _ in range(_STEPS):
            gap, rows = self.gap(q, qd, t), self.rows(q, qd, t)
            if not np.all(np.isfinite(gap)):
                gap = np.nan_to_num(gap)
            if np.max(np.abs(gap)) < 0.1 * _CLOSED:
                break
            jacobian = np.nan_to_num(rows.jacobian)
            change = np.linalg.pinv(jacobian, rcond=1e-10) @ gap[..., None]
            q = q - np.clip(change[..., 0], -1.0, 1.0)
        return q

    def _independent(self, q: np.ndarray, qd: np.ndarray, t: np.ndarray) -> Any:
        rows = self.rows(q, qd, t)
        return independent(np.nan_to_num(rows.jacobian), np.nan_to_num(rows.rate))

    def _rates(self, q: np.ndarray, qd: np.ndarray, t: np.ndarray) -> np.ndarray:
        """By how much the rates miss the independent rows."""
        return self._independent(q, qd, t).right


def random_states(system: AbstractSystem, params: Params, count: int, seed: int) -> States:
    """`count` seeded states, regimes in turn.

    Angles are drawn around zero, lengths around the default start, and everything of a machine
    with constraints, which is then moved onto them. Near a pole are those with the largest
    condition of the inertia below 1e5, which no state exceeds.

    Raises:
        ValueError: hardly any states were found at which the machine has equations.
    """
    rng = np.random.default_rng(seed)
    ground, refused = _Ground(system, params), 0
    kept: dict[str, _Candidates] = {}
    for first, regime in enumerate(REGIMES):
        wanted = len(range(first, count, len(REGIMES)))
        if not wanted:
            continue
        many = wanted * (_POOL if regime == "near a pole" else 2)
        pool = None
        for _ in range(_ROUNDS):
            tried = ground.admitted(*_drawn(system, regime, many, rng))
            refused += int(np.sum(~np.isfinite(tried.condition)))
            tried = tried.chosen(tried.condition < _CONDITION)
            pool = (
                tried
                if pool is None
                else _Candidates(*(np.concatenate(pair) for pair in zip(pool, tried, strict=True)))
            )
            if len(pool.q) >= (many if regime == "near a pole" else wanted):
                break
        assert pool is not None
        if len(pool.q) < wanted:
            raise ValueError(
                f"`system` must have equations of motion at most states, but of {system.name!r} "
                f"only {len(pool.q)} of {_ROUNDS * many} random ones ({regime}) could be put on "
                "its constraints with finite, well-conditioned equations: give it a start called "
                "'default' near which it moves"
            )
        order = np.argsort(-pool.condition, kind="stable")
        best = order if regime == "near a pole" else np.arange(len(pool.q))
        kept[regime] = pool.chosen(best[:wanted])
    regimes = tuple(REGIMES[i % len(REGIMES)] for i in range(count))
    every = [kept[regimes[i]].chosen(np.array([i // len(REGIMES)])) for i in range(count)]
    q, qd, t, momenta, _ = (np.concatenate(values) for values in zip(*every, strict=True))
    return States(q, qd, t, momenta, regimes, refused)
