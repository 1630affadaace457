"""Many guesses made to fit at once, each what was measured plus noise of its own.

Guesses that fit data and beliefs with noise added, each another one, lie about as the truth does
by what is known (randomised maximum likelihood: P. Kitanidis 1995, D. Oliver 1996), also along
curved valleys that a beginning leaves open. So the right valley stays among them until a longer
beginning tells which it is.

Steps are Levenberg and Marquardt's. Derivatives are differences over a fifth of a standard error,
along the principal axes of what each guess knows: lanes without derivatives are cheap.
"""

from typing import NamedTuple

import numpy as np

from ._plain import Plain

_APART = 0.2  # standard errors over which differences are taken
_NEARER = (1.0, -1.0, 0.1, -0.1, 0.01, -0.01, 0.0)  # of that, the first that the limits allow
_FIRST_DAMPING, _LEAST, _MOST = 1e-2, 1e-6, 1e6
_STILL = 0.05  # of the cost: what a step must gain for another one
_FIRM, _OFF = 1e6, 1e-2  # a limit in the way of a step: how firm it is, and errors to stay off it
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

    def chosen(self, places: np.ndarray) -> "Guesses":
        """Some of them, or some twice."""
        return Guesses(*(array[places] for array in self))

    @property
    def cost(self) -> np.ndarray:
        """Half the sum of squares of the data alone, shape (G,), infinite for what failed."""
        cost = 0.5 * np.sum(self.misses**2, axis=1)
        return np.where(np.isfinite(cost), cost, np.inf)


def improved(plain: Plain, guesses: Guesses, until: float, steps: int) -> Guesses:
    """At most so many steps of every guess towards the data up to `until` [s]."""
    x, root = guesses.x.copy(), guesses.root.copy()
    misses, slopes = _near(plain, x, root, until)
    noise = guesses.noise * plain.counted(until)
    cost = _cost(plain, x, misses, noise, guesses.shift)
    damping = np.full(len(x), _FIRST_DAMPING)
    live = np.flatnonzero(np.isfinite(cost))
    for _ in range(steps):
        if not len(live):
            break
        believed = root[live] / plain.spread[:, None]
        rows = np.concatenate([slopes[live], believed], axis=1)
        left = np.concatenate(
            [
                misses[live] - noise[live],
                (x[live] - plain.centre) / plain.spread - guesses.shift[live],
            ],
            axis=1,
        )
        square = np.einsum("gki,gkj->gij", rows, rows)
        step = _inside(plain, x[live], root[live], square, _dot(rows, left), damping[live])
        there = x[live] + step
        turned = _axes(root[live], square)
        new_misses, new_slopes = _near(plain, there, turned, until)
        new_cost = _cost(plain, there, new_misses, noise[live], guesses.shift[live])
        gain = cost[live] - new_cost
        good = gain > 0
        taken = live[good]
        x[taken], root[taken], cost[taken] = there[good], turned[good], new_cost[good]
        misses[taken], slopes[taken] = new_misses[good], new_slopes[good]
        damping[live] = np.clip(damping[live] * np.where(good, 0.1, 10.0), _LEAST, _MOST)
        live = live[~good | (gain > _STILL)]
    return guesses._replace(x=x, root=root, misses=misses)


def _near(
    plain: Plain, x: np.ndarray, root: np.ndarray, until: float
) -> tuple[np.ndarray, np.ndarray]:
    """What guesses miss, (G, k), and its derivatives along the columns of their roots, (G, k, d).

    Slopes are zero where a neighbour failed or the limits leave no room.
    """
    guesses, d = x.shape
    along = np.swapaxes(root, 1, 2)
    apart = np.zeros((guesses, d))
    for share in reversed(_NEARER):
        tried = x[:, None] + share * _APART * along
        apart = np.where(plain.possible(tried), share * _APART, apart)
    every = np.concatenate([x[:, None], x[:, None] + apart[..., None] * along], axis=1)
    found = plain.missed(every.reshape(-1, d), until).reshape(guesses, d + 1, -1)
    misses = found[:, 0]
    slopes = (found[:, 1:] - misses[:, None]) / np.where(apart, apart, 1.0)[..., None]
    sound = np.all(np.isfinite(slopes), axis=2, keepdims=True)
    return misses, np.swapaxes(np.where(sound, slopes, 0.0), 1, 2)


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
    sizes = np.maximum(sizes, 1e-12 * largest)
    return root @ (turned / np.sqrt(sizes)[:, None, :])


def _inside(
    plain: Plain,
    x: np.ndarray,
    root: np.ndarray,
    square: np.ndarray,
    slope: np.ndarray,
    damping: np.ndarray,
) -> np.ndarray:
    """Damped steps, shape (G, d), that slide along limits in their way."""
    d = x.shape[1]
    sizes = np.einsum("gii->gi", square)
    floor = 1e-12 * np.max(sizes, axis=1, initial=1e-300)
    matrix = square.copy()
    matrix[:, range(d), range(d)] += damping[:, None] * sizes + floor[:, None]
    across = plain.limits[:, :-1] @ root  # (G, k, d)
    room = x @ plain.limits[:, :-1].T - plain.limits[:, -1]
    lengths = np.linalg.norm(across, axis=2) + 1e-300
    across, room = across / lengths[..., None], room / lengths
    held = np.zeros(room.shape)
    for _ in range(_ROUNDS):
        firm = _FIRM * held
        whole = matrix + np.einsum("gk,gki,gkj->gij", firm, across, across)
        right = slope + np.einsum("gk,gki->gi", firm * (room - _OFF), across)
        u = -np.linalg.solve(whole, right[..., None])[..., 0]
        over = _times(across, u) + room < 0
        if not np.any(over):
            break
        held = np.maximum(held, over)
    # What is left over is not worth another round.
    along = _times(across, u)
    share = np.min(
        np.where(along + room < 0, np.maximum(room, 0) / np.maximum(-along, 1e-300), 1.0),
        axis=1,
        initial=1.0,
    )
    return _times(root, share[:, None] * u)


def _dot(rows: np.ndarray, left: np.ndarray) -> np.ndarray:
    return np.einsum("gki,gk->gi", rows, left)


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.einsum("gij,gj->gi", matrix, vector)
