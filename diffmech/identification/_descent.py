"""Levenberg and Marquardt's method along chains of segments, for several guesses side by side.

Each step solves the linearised problem with the segments tied together exactly
(`_chains`), damped, and inside its limits. It is taken if it makes

    cost + ν Σ |jumps between segments| / scale

smaller, with ν large enough that closing jumps is never paid for by not fitting. Where steps shrink
slowly they are bent (`_bent`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._bent import Steps
from ._chains import Laws, Reduced, joined, reduced, states as states_along
from ._limited import limited
from ._residuals import Linear, Problem, linearised

FIRST_DAMPING, _LEAST, _MOST = 1e-3, 1e-12, 1e8
SETTLED = 1e-4  # standard errors by which a last step may still move anything
_CLOSED = 1e-8  # of a state's scale: the largest jump that is left
_NOTHING = 1e-2  # standard errors: what closing such jumps may cost is no reason not to
ALL_STEPS = 100
_CALM = 1e-5  # damping, below which steps may be bent
_UPHILL, _TORN = 0.05, 1e-3  # by which a bent step may raise the cost, and leave jumps
_VAGUE = 1e-2  # of the tolerance of the integration, in the cost
_SHRINKS, _NEARLY_ZERO = 0.1, 1e-6


class Descent(NamedTuple):
    """Where guesses have come to, G of them.

    Attributes:
        z: shape (G, p); `states`: shape (G, L, m).
        cost, jump: half the sum of squares, and the largest jump relative to its scale, (G,).
        settled: which have converged; `steps`: how many were made.
        rows: what all chains say of z, undamped, shape (G, p + 1, p + 1).
        stopped: whether Ctrl-C ended it.
    """

    z: np.ndarray
    states: np.ndarray
    cost: np.ndarray
    jump: np.ndarray
    settled: np.ndarray
    steps: int
    rows: np.ndarray
    stopped: bool = False

    def best(self, count: int) -> "Descent":
        """The guesses with the smallest cost."""
        return self.chosen(np.argsort(self.cost)[:count])

    def chosen(self, rows: np.ndarray) -> "Descent":
        """Some of the guesses, by their indices."""
        return self._replace(
            z=self.z[rows],
            states=self.states[rows],
            cost=self.cost[rows],
            jump=self.jump[rows],
            settled=self.settled[rows],
            rows=self.rows[rows],
        )


def descend(
    problem: Problem,
    z: np.ndarray,
    states: np.ndarray,
    horizon: int,
    most_steps: int,
    frozen: bool = False,
    look: Callable[[], None] = lambda: None,
    enough: float = SETTLED,
    first: float = FIRST_DAMPING,
) -> Descent:
    """Make the cost small while `horizon` neighbouring segments are tied; `frozen` keeps z.

    `look` is called before every step. Ctrl-C ends it where it is. It has settled when a step moves
    nothing by more than `enough` standard errors; `first` is the damping to begin with.
    """
    windows = problem.segments.windows(horizon)
    guesses = len(z)
    scale = _scales(states)
    damping = np.full(guesses, first)
    share = np.ones(guesses)  # of a step: damping alone does not shorten what closes jumps
    price = np.zeros(guesses)
    settled = np.zeros(guesses, bool)
    here = linearised(problem, z, states)
    jumps = _jumps(here.ends, states, windows)
    count = max(np.count_nonzero(here.residuals[0]), 1)
    done, stopped = 0, False
    owed = np.full(guesses, np.inf)  # what a step must come down to; −∞: no more bent ones
    last_steps = [Steps() for _ in range(guesses)]
    # Integration leaves this much of the cost unknown: a change by less is none.
    vague = _VAGUE * problem.machine.rtol
    while done < most_steps and not np.all(settled):
        live = np.flatnonzero(~settled & np.isfinite(here.cost))
        if not len(live):
            break
        try:
            look()
            dz, ds, predicted, moved = _step(
                problem, _chosen(here, live), z[live], states[live], windows, damping[live], frozen
            )
            dz, ds = dz * share[live, None], ds * share[live, None, None]
            calm = (share[live] == 1.0) & (damping[live] <= _CALM) & (owed[live] == np.inf)
            bent = _bend(last_steps, problem, here, z, states, live, calm, dz, ds)
            there = linearised(problem, z[live] + dz, states[live] + ds)
        except KeyboardInterrupt:
            stopped = True
            break
        done += 1
        size = np.sum(np.abs(jumps[live]) / scale[live, None], axis=(1, 2))
        now = _linear_cost(problem, here, z)[live]
        rise = np.maximum(predicted - now, 0.0)
        # States move too, by as much as they would gain.
        moved = np.sqrt(moved**2 + 2 * np.maximum(now - predicted, 0.0))
        # Jumps that are closed already ask for no price: a rise over them would be any number.
        open_ = size > _CLOSED
        price[live] = np.maximum(
            price[live], np.where(open_, 2 * rise / np.where(open_, size, 1), 0)
        )
        new_jumps = _jumps(there.ends, states[live] + ds, windows)
        new_size = np.sum(np.abs(new_jumps) / scale[live, None], axis=(1, 2))
        before = here.cost[live] + price[live] * size
        after = there.cost + price[live] * new_size
        # Standard errors are those of the misfit, where it is larger than the noise.
        error = np.sqrt(np.maximum(2 * there.cost / count, 1.0))
        # Jumps that are closed to rounding may still be worth some cost: a step may ask for it.
        forgiven = np.where(open_, 0.0, np.minimum(2 * rise, 0.5 * (_NOTHING * error) ** 2))
        good = after <= before * (1 + 1e-12 + vague) + forgiven + 1e-300
        whole = share[live] == 1.0
        # From where a bent step goes the next plain one must fall below what was, or no more bend.
        sound = (
            bent
            & (there.cost <= here.cost[live] + _UPHILL)
            & (np.max(np.abs(new_jumps) / scale[live, None], axis=(1, 2)) < _TORN)
        )
        owed[live] = np.where(
            np.isfinite(owed[live]) & (after > owed[live]), -np.inf,
            np.where(sound & ~good, before, np.where(np.isfinite(owed[live]), np.inf, owed[live])),
        )  # fmt: skip
        good |= sound
        # One that was bent in vain is followed by the plain one.
        refused = ~good & ~bent
        shorter = np.where(good, np.minimum(4 * share[live], 1.0), 0.25 * share[live])
        share[live] = np.where(good | refused, shorter, share[live])
        factor = np.where(good, 0.1, np.where(refused, 8.0, 1.0))
        damping[live] = np.clip(factor * damping[live], _LEAST, 2 * _MOST)
        taken = live[good]
        for g in live[~good]:
            last_steps[g].clear()
        z[taken] += dz[good]
        states[taken] += ds[good]
        here = _replaced(here, taken, there, good)
        jumps[taken] = new_jumps[good]
        closed = np.max(np.abs(new_jumps) / scale[live, None], axis=(1, 2)) < _CLOSED
        # A whole step that is not worth taking is rounding.
        whole &= good | (refused & (damping[live] <= 8 * FIRST_DAMPING))
        still = whole & closed & (moved < enough * error)
        settled[live] = still | (damping[live] > _MOST)
    jump = np.max(np.abs(jumps) / scale[:, None], axis=(1, 2), initial=0.0)
    settled &= (damping <= _MOST) & (jump < 1e-6) & np.isfinite(here.cost)
    rows = _tied(here, states, windows, np.zeros(guesses))[1]
    return Descent(z, states, here.cost, jump, settled, done, rows, stopped)


def _bend(
    last_steps: list[Steps],
    problem: Problem,
    here: Linear,
    z: np.ndarray,
    states: np.ndarray,
    live: np.ndarray,
    calm: np.ndarray,
    dz: np.ndarray,
    ds: np.ndarray,
) -> np.ndarray:
    """Put better steps in place of (dz, ds) for some of the live guesses; which ones, (live,)."""
    p, m = problem.p, states.shape[-1]
    bent = np.zeros(len(live), bool)
    for i in np.flatnonzero(calm):
        g = live[i]
        rows, shape = here.rows[g], states[g].shape

        def moves(step: np.ndarray, rows: np.ndarray = rows, shape: Any = shape) -> np.ndarray:
            along = rows[..., :m] @ step[p:].reshape(shape)[..., None]
            return (along[..., 0] + rows[..., m:-1] @ step[:p]).ravel()

        x, step = np.concatenate([z[g], states[g].ravel()]), np.concatenate([dz[i], ds[i].ravel()])
        better = last_steps[g].bent(x, step, moves)
        if better is None:
            continue
        if np.all(problem.limits[:, :-1] @ (z[g] + better[:p]) >= problem.limits[:, -1]):
            dz[i], ds[i], bent[i] = better[:p], better[p:].reshape(shape), True
    return bent


def _linear_cost(problem: Problem, here: Linear, z: np.ndarray) -> np.ndarray:
    """Half the sum of squares of the rows, shape (G,); with Huber's loss not the same as `cost`."""
    about = np.concatenate([z, np.ones((len(z), 1))], axis=1) @ problem.priors.T
    return 0.5 * (np.sum(here.rows[..., -1] ** 2, axis=(1, 2)) + np.sum(about**2, axis=1))


def _scales(states: np.ndarray) -> np.ndarray:
    """The size of every component of the states, shape (G, m)."""
    size = np.sqrt(np.mean(states**2, axis=1))
    return np.where(size > 0, size, 1.0)


def _jumps(ends: np.ndarray, states: np.ndarray, windows: np.ndarray) -> np.ndarray:
    """End of each segment minus start of the next one in its window, shape (G, L, m)."""
    jumps = np.zeros_like(states)
    here, there = windows[:, :-1].ravel(), windows[:, 1:].ravel()
    tied = there >= 0
    jumps[:, here[tied]] = ends[:, here[tied]] - states[:, there[tied]]
    return jumps


def _tied(
    here: Linear, states: np.ndarray, windows: np.ndarray, damping: np.ndarray
) -> tuple[Reduced, np.ndarray]:
    """The chains reduced, and what they say of z together, shape (G, p + 1, p + 1)."""
    m, p = here.drift.shape[-2:]
    empty = windows < 0
    window = np.where(empty, 0, windows)
    jumps = _jumps(here.ends, states, windows)[:, window]
    phi, psi, rows = here.flow[:, window], here.drift[:, window], here.rows[:, window]
    phi = np.where(empty[..., None, None], np.eye(m), phi)
    psi = np.where(empty[..., None, None], 0.0, psi)
    jumps = np.where(empty[..., None], 0.0, jumps)
    rows = np.where(empty[..., None, None], 0.0, rows)
    sizes = np.sqrt(np.sum(rows[..., :m] ** 2, axis=-2)) + 1e-12
    damped = np.zeros((*rows.shape[:-2], m, m + p + 1))
    damped[..., :m] = np.sqrt(damping)[:, None, None, None, None] * sizes[..., None] * np.eye(m)
    chain = reduced(Laws(phi, psi, jumps, np.concatenate([rows, damped], axis=-2)))
    return chain, joined(chain.rows)


def _step(
    problem: Problem,
    here: Linear,
    z: np.ndarray,
    states: np.ndarray,
    windows: np.ndarray,
    damping: np.ndarray,
    frozen: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """dz, ds, the cost that a linear problem would have, and how far all moves [SE]."""
    chain, together = _tied(here, states, windows, damping)
    p = problem.p
    steps = np.zeros_like(z)
    predicted, moved = np.zeros(len(z)), np.zeros(len(z))
    for g in range(len(z)):
        known = problem.priors.copy()
        known[:, -1] += known[:, :-1] @ z[g]
        rows = np.concatenate([together[g], known])
        sizes = np.sqrt(np.sum(rows[:, :-1] ** 2, axis=0))
        # What nothing depends on stays where it is.
        weights = np.sqrt(max(damping[g], 1e-14)) * np.where(sizes > 0, sizes, 1.0)
        damped = np.concatenate([rows, np.c_[np.diag(weights), np.zeros(p)]])
        if not frozen and np.all(np.isfinite(damped)):
            steps[g] = limited(damped, _shrunk_slowly(problem.limits, z[g]), z[g])
        left = rows[:, :-1] @ steps[g] + rows[:, -1]
        predicted[g] = 0.5 * np.sum(left**2)
        moved[g] = np.sqrt(np.sum((rows[:, :-1] @ steps[g]) ** 2))
    segments = windows.shape[1]
    everywhere = np.broadcast_to(steps[:, None], (len(z), len(windows), p))
    along = states_along(chain, everywhere, segments)
    ds = np.zeros_like(states)
    there = windows >= 0
    ds[:, windows[there]] = along[:, there]
    return steps, np.nan_to_num(ds), predicted, moved


def _shrunk_slowly(limits: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Limits of one step: what must stay above zero loses nine tenths at most.

    A length of nearly nothing, tried on the way, would make a machine absurdly fast.
    """
    limits = limits.copy()
    rows, least = limits[:, :-1], limits[:, -1]
    above_zero = (np.count_nonzero(rows, axis=1) == 1) & (least > 0) & (least < _NEARLY_ZERO)
    limits[above_zero, -1] = np.maximum(least, _SHRINKS * (rows @ z))[above_zero]
    return limits


def _chosen(here: Linear, rows: np.ndarray) -> Linear:
    return Linear(*(array[rows] for array in here))


def _replaced(here: Linear, at: np.ndarray, there: Linear, rows: np.ndarray) -> Linear:
    def put(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        if old.shape[1:] != new.shape[1:]:  # samples were dealt out otherwise
            more = [(0, max(b - a, 0)) for a, b in zip(old.shape, new.shape, strict=True)]
            back = [(0, max(a - b, 0)) for a, b in zip(old.shape, new.shape, strict=True)]
            old, new = np.pad(old, [(0, 0), *more[1:]]), np.pad(new, [(0, 0), *back[1:]])
        old = old.copy()
        old[at] = new[rows]
        return old

    return Linear(*(put(old, new) for old, new in zip(here, there, strict=True)))
