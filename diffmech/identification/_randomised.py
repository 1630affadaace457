"""Many guesses made to fit at once, each what was measured plus noise of its own.

Guesses that fit data and beliefs with noise added, each another one, lie about as the truth does
by what is known (randomised maximum likelihood: P. K. Kitanidis, Water Resour. Res. 31 (1995)
2411-2419; D. S. Oliver, Math. Geol. 28 (1996) 811-817), also along curved valleys that a beginning
leaves open. So the right valley stays among them until a longer beginning tells which it is.

Steps are Levenberg and Marquardt's. Derivatives are differences over a fifth of a standard error,
along the principal axes of what each guess knows: lanes without derivatives are cheap.
"""

from typing import NamedTuple

import numpy as np

from ._plain import Plain

_APART = 0.2  # standard errors over which differences are taken
_NEARER = (1.0, -1.0, 0.1, -0.1, 0.01, -0.01, 0.0)  # of that, the first that the limits allow
_FIRST_DAMPING, _LEAST, _MOST = 1e-2, 1e-6, 1e6
_DAMPINGS, _AFTER_NONE = (0.01, 0.3, 10.0), 300.0  # tried at once, times the last; if none helped
_STILL = 0.3  # of the cost: what a step must promise to be made
_FIRM, _OFF = 1e6, 1e-2  # a limit in the way of a step: how firm it is, and errors to stay off it
_ROUNDING = 1e-12  # of the largest square: what is added to all of them
_ROUNDS = 3  # of steps, with more limits each time


class Guesses(NamedTuple):
    """Guesses and what is near them, G of them.

    Attributes:
        x: shape (G, d).
        root: x + root u has errors of about 1 in all u, shape (G, d, d).
        noise: added to what was measured, in errors, shape (G, k).
        shift: added to what is believed, in units of `spread`, shape (G, d).
        misses: what x misses of the data themselves, shape (G, k).
    """

    x: np.ndarray
    root: np.ndarray
    noise: np.ndarray
    shift: np.ndarray
    misses: np.ndarray

    def chosen(self, indices: np.ndarray) -> "Guesses":
        """The guesses with these indices, of which some may come twice."""
        return Guesses(*(array[indices] for array in self))

    @property
    def cost(self) -> np.ndarray:
        """Half the sum of squares of the data alone, shape (G,), infinite for what failed."""
        cost = 0.5 * np.sum(self.misses**2, axis=1)
        return np.where(np.isfinite(cost), cost, np.inf)


def improved(plain: Plain, guesses: Guesses, until: float, steps: int) -> Guesses:
    """At most so many steps of every guess towards the data up to `until` [s]."""
    x, root = guesses.x.copy(), guesses.root.copy()
    noise, shift = guesses.noise * plain.counted(until), guesses.shift
    misses = plain.missed(x, until)
    cost = _cost(plain, x, misses, noise, shift)
    damping = np.full(len(x), _FIRST_DAMPING)
    slopes = np.zeros((*misses.shape, x.shape[1]))
    live = np.flatnonzero(np.isfinite(cost))
    stale = np.ones(len(x), bool)
    for _ in range(steps):
        old = live[stale[live]]
        if len(old):
            slopes[old] = _slopes(plain, x[old], root[old], misses[old], until)
            stale[old] = False
        believed = root[live] / plain.spread[:, None]
        rows = np.concatenate([slopes[live], believed], axis=1)
        about = (x[live] - plain.centre) / plain.spread - shift[live]
        left = np.concatenate([misses[live] - noise[live], about], axis=1)
        square, slope = np.einsum("gki,gkj->gij", rows, rows), _dot(rows, left)
        tried = np.stack([
            _inside(plain, x[live], root[live], square, slope, factor * damping[live])
            for factor in _DAMPINGS
        ])  # fmt: skip
        promised = -np.sum(tried[0] * (slope + 0.5 * _times(square, tried[0])), axis=1)
        worth = promised > _STILL
        live, tried, square = live[worth], tried[:, worth], square[worth]
        if not len(live):
            break
        there = x[live] + np.einsum("gij,tgj->tgi", root[live], tried)
        misses_there = plain.missed(there.reshape(-1, x.shape[1]), until)
        misses_there = misses_there.reshape(*there.shape[:2], -1)
        costs = np.stack([
            _cost(plain, *pair, noise[live], shift[live])
            for pair in zip(there, misses_there, strict=True)
        ])  # fmt: skip
        best, every = np.argmin(costs, axis=0), np.arange(len(live))
        good = costs[best, every] < cost[live]
        damping[live] *= np.where(good, np.array(_DAMPINGS)[best], _AFTER_NONE)
        damping = np.clip(damping, _LEAST, _MOST)
        taken, which = live[good], (best[good], every[good])
        x[taken], misses[taken], cost[taken] = there[which], misses_there[which], costs[which]
        root[taken] = _axes(root[taken], square[good])
        stale[taken] = True
    return guesses._replace(x=x, root=root, misses=misses)


def _slopes(
    plain: Plain, x: np.ndarray, root: np.ndarray, misses: np.ndarray, until: float
) -> np.ndarray:
    """Derivatives of what is missed along the columns of roots, shape (G, k, d).

    Zero where a neighbour failed or the limits leave no room.
    """
    guesses, d = x.shape
    along = np.swapaxes(root, 1, 2)
    apart = np.zeros((guesses, d))
    for share in reversed(_NEARER):
        tried = x[:, None] + share * _APART * along
        apart = np.where(plain.possible(tried), share * _APART, apart)
    near = (x[:, None] + apart[..., None] * along).reshape(-1, d)
    moved = plain.missed(near, until).reshape(guesses, d, -1)
    slopes = (moved - misses[:, None]) / np.where(apart, apart, 1.0)[..., None]
    sound = np.all(np.isfinite(slopes), axis=2, keepdims=True)
    return np.swapaxes(np.where(sound, slopes, 0.0), 1, 2)


def _cost(
    plain: Plain, x: np.ndarray, misses: np.ndarray, noise: np.ndarray, shift: np.ndarray
) -> np.ndarray:
    about = (x - plain.centre) / plain.spread - shift
    cost = 0.5 * np.sum((misses - noise) ** 2, axis=1) + 0.5 * np.sum(about**2, axis=1)
    return np.where(np.isfinite(cost), cost, np.inf)


def _axes(root: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Roots turned and scaled so that errors along each axis are 1 by these squares."""
    sizes, turned = np.linalg.eigh(square)
    largest = np.maximum(sizes[:, -1:], 1e-300)
    sizes = np.maximum(sizes, _ROUNDING * largest)
    return root @ (turned / np.sqrt(sizes)[:, None, :])


def _inside(
    plain: Plain,
    x: np.ndarray,
    root: np.ndarray,
    square: np.ndarray,
    slope: np.ndarray,
    damping: np.ndarray,
) -> np.ndarray:
    """Damped steps in u, shape (G, d), that slide along limits in their way."""
    d = x.shape[1]
    sizes = np.einsum("gii->gi", square)
    largest = np.max(sizes, axis=1, initial=1e-300)[:, None]
    matrix = square.copy()
    matrix[:, range(d), range(d)] += damping[:, None] * sizes + _ROUNDING * largest
    across = plain.limits[:, :-1] @ root  # (G, k, d)
    room = x @ plain.limits[:, :-1].T - plain.limits[:, -1]
    lengths = np.linalg.norm(across, axis=2) + 1e-300
    across, room = across / lengths[..., None], room / lengths
    stopping, u = np.zeros(room.shape), np.zeros(slope.shape)
    for _ in range(_ROUNDS):
        firm = _FIRM * largest * stopping
        whole = matrix + np.einsum("gk,gki,gkj->gij", firm, across, across)
        right = slope + np.einsum("gk,gki->gi", firm * (room - _OFF), across)
        u = -np.linalg.solve(whole, right[..., None])[..., 0]
        over = _times(across, u) + room < 0
        if not np.any(over):
            break
        stopping = np.maximum(stopping, over)
    # What is left over is not worth another round.
    along = _times(across, u)
    short = along + room < 0
    share = np.where(short, np.maximum(room, 0.0) / np.where(short, -along, 1.0), 1.0)
    share = np.clip(np.min(share, axis=1, initial=1.0), 0.0, 1.0)
    return share[:, None] * u


def _dot(rows: np.ndarray, left: np.ndarray) -> np.ndarray:
    return np.einsum("gki,gk->gi", rows, left)


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.einsum("gij,gj->gi", matrix, vector)
