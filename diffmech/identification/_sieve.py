"""Many guesses of numbers and starts, sieved by longer and longer beginnings of the records.

Where a coordinate is not measured its motion hangs on a start that is known only roughly, and on
numbers that short beginnings do not tell: a single guess ends in the wrong valley. So thousands of
guesses are drawn from what is known and run side by side in lanes; those that show a first
beginning best are made to fit it, each with noise of its own (`_randomised`), then a longer one,
and so on, while those that miss too much give way to others.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ._plain import Plain
from ._randomised import Guesses, improved

_DRAWN = 4096
_LEFT = 0.05  # of the guesses that count after weighting
_MOST, _FEWEST = 192, 48  # that are made to fit: their number times the time is kept
_FIRST = 12  # times of the first beginning
_FURTHER = 1.3  # times as many, each time, at most
_FORESEEN = 3.0  # errors by which half of the guesses may miss what comes next
_STEPS, _LAST_STEPS = 4, 8
_FAR, _PER_NUMBER = 10.0, 0.25  # of a cost above the least, beyond which a guess is dropped
_FLAT = 0.1  # of the logarithm of a weight: what the noise of a beginning favours may be wrong
_APART = 0.03  # of what is believed: how far differences are taken at first
# How often all is done at most: of a boot of which one angle is seen one in 20 sieves ends in a
# neighbouring valley. And what costs may differ by in the same one.
_TIMES, _SAME = 3, 1.0
_ROUNDS = 1  # more at the end, with other noise
_POLISHED = 8  # guesses, at the end
_OTHER = 5.0  # standard errors: guesses that are nearer are in one valley


class Sieved(NamedTuple):
    """Guesses that are left, best first.

    Attributes:
        z: shape (G, p).
        starts: of records, shape (G, R, m).
        until: up to when they fit, from the start of records [s]; `whole` if to their ends.
        stopped: whether Ctrl-C ended it.
        cost: half the sum of squares of the best, for these beginnings.
    """

    z: np.ndarray
    starts: np.ndarray
    until: float
    whole: bool
    stopped: bool
    cost: float


def sieved_again(
    plain: Plain, kept: int, seed: int, look: Callable[[float], None] = lambda _: None
) -> Sieved:
    """`sieved` with other draws until two have found the same best: a neighbouring valley may win.

    What is returned has at most `kept` guesses of each time.
    """
    sieve = sieved(plain, kept, seed, lambda part: look(part / _TIMES))
    best = [sieve.cost]
    for again in range(1, _TIMES):
        if sieve.stopped:
            break
        done = again / _TIMES
        other = sieved(plain, kept, (seed, again), lambda part, d=done: look(d + part / _TIMES))
        if other.stopped:
            return sieve._replace(stopped=True)
        z, starts = (np.concatenate(both) for both in zip(sieve[:2], other[:2], strict=True))
        sieve = sieve._replace(z=z, starts=starts)
        if min(abs(other.cost - cost) for cost in best) < _SAME and other.cost <= min(best) + _SAME:
            break
        best.append(other.cost)
    return sieve


def sieved(
    plain: Plain,
    kept: int,
    seed: int | tuple[int, ...],
    look: Callable[[float], None] = lambda _: None,
) -> Sieved:
    """Sieve guesses drawn around the centre; at most `kept` are returned, of different valleys.

    `look` gets the part of the records that they fit, before every beginning.
    """
    rng = np.random.default_rng(seed)
    times = plain.times
    count = min(_FIRST, len(times))
    guesses, until, fitted = _only(plain), times[count - 1], 0.0
    try:
        look(0.0)
        guesses = _begun(plain, until, rng)
        while True:
            steps = _STEPS if count < len(times) else _LAST_STEPS
            guesses = improved(plain, guesses, until, steps)
            fitted = until
            look(count / len(times))
            if count == len(times):
                break
            many = int(np.clip(2 * _MOST * times[_FIRST - 1] / until, _FEWEST, _MOST))
            guesses = _renewed(plain, guesses, many, int(np.sum(plain.counted(until))), rng)
            count = _further(plain, guesses, count)
            until = times[count - 1]
        for _ in range(_ROUNDS):
            guesses = _renewed(plain, guesses, _FEWEST, int(np.sum(plain.counted(until))), rng)
            guesses = improved(plain, guesses, until, _STEPS)
        guesses = improved(plain, _best(guesses, _POLISHED), until, _LAST_STEPS)
    except KeyboardInterrupt:
        best = guesses.chosen(np.argsort(guesses.cost)[:1])
        return Sieved(*plain.spread_out(best.x), fitted, False, True, float(best.cost[0]))
    x, least = _valleys(guesses, kept), float(np.min(guesses.cost))
    return Sieved(*plain.spread_out(x), until, plain.whole, False, least)


def _only(plain: Plain) -> Guesses:
    """The guess in the middle alone."""
    size, d = len(plain.counted(0.0)), len(plain.centre)
    root = np.diag(plain.spread)[None]
    return Guesses(
        plain.centre[None], root, np.zeros((1, size)), np.zeros((1, d)), np.zeros((1, size))
    )


def _begun(plain: Plain, until: float, rng: np.random.Generator) -> Guesses:
    """Guesses that show a first beginning best; the first is the one in the middle."""
    draws = plain.drawn(_DRAWN, rng)
    misses = plain.missed(draws, until)
    cost = 0.5 * np.sum(misses**2, axis=1)
    weights = _weights(np.where(np.isfinite(cost), cost, np.inf))
    drawn = _drawn_again(weights, _MOST, rng) if np.any(weights) else np.zeros(1, int)
    drawn[0] = 0
    d = draws.shape[1]
    guesses = Guesses(
        draws[drawn],
        np.tile(_APART * np.diag(plain.spread), (len(drawn), 1, 1)),
        np.zeros((len(drawn), misses.shape[1])),
        np.zeros((len(drawn), d)),
        misses[drawn],
    )
    return _disturbed(guesses, np.arange(len(drawn)) > 0, rng)


def _renewed(
    plain: Plain, guesses: Guesses, many: int, numbers: int, rng: np.random.Generator
) -> Guesses:
    """The better ones, several times if need be, each time with other noise; the best without."""
    late = guesses.cost - np.min(guesses.cost)
    alive = late < max(_FAR, _PER_NUMBER * numbers)
    if not np.any(alive):
        return guesses
    weights = np.where(alive, np.exp(-_FLAT * np.where(alive, late, 0.0)), 0.0)
    drawn = _drawn_again(weights / np.sum(weights), many, rng)
    drawn[0] = np.argmin(guesses.cost)
    again = np.append(False, drawn[1:] == drawn[:-1])
    renewed = _disturbed(guesses.chosen(drawn), again, rng)
    renewed.noise[0], renewed.shift[0] = 0.0, 0.0
    return renewed


def _further(plain: Plain, guesses: Guesses, count: int) -> int:
    """How many times the next beginning has: as many as half of the guesses nearly foresee."""
    times = plain.times
    most = min(max(int(_FURTHER * count), count + 1), len(times))
    misses = plain.missed(guesses.x, times[most - 1])
    known = plain.counted(times[count - 1])
    for further in range(most, count + 1, -1):
        new = plain.counted(times[further - 1]) & ~known
        if np.median(np.mean(misses[:, new] ** 2, axis=1)) < _FORESEEN**2:
            return further
    return count + 1


def _best(guesses: Guesses, count: int) -> Guesses:
    """The best ones, without noise."""
    best = guesses.chosen(np.argsort(guesses.cost)[:count])
    return best._replace(noise=0 * best.noise, shift=0 * best.shift)


def _disturbed(guesses: Guesses, which: np.ndarray, rng: np.random.Generator) -> Guesses:
    """Other noise for some of them."""
    noise, shift = guesses.noise.copy(), guesses.shift.copy()
    noise[which] = rng.normal(size=(np.sum(which), noise.shape[1]))
    shift[which] = rng.normal(size=(np.sum(which), shift.shape[1]))
    return guesses._replace(noise=noise, shift=shift)


def _drawn_again(weights: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices, each about as often as its weight says, in order."""
    levels = (np.arange(count) + rng.uniform()) / count
    return np.searchsorted(np.cumsum(weights), levels * np.sum(weights)).clip(0, len(weights) - 1)


def _weights(cost: np.ndarray) -> np.ndarray:
    """exp(−τ cost), summing to one, with the largest τ ≤ 1 that lets some of them count.

    Motions that failed have no weight; all are zero where every one has.
    """
    weights, sound = np.zeros(len(cost)), np.isfinite(cost)
    if not np.any(sound):
        return weights
    late = cost[sound] - np.min(cost[sound])
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        shares = np.exp(-middle * late)
        count = np.sum(shares) ** 2 / np.sum(shares**2)
        low, high = (middle, high) if count > _LEFT * len(late) else (low, middle)
    shares = np.exp(-low * late)
    weights[sound] = shares / np.sum(shares)
    return weights


def _valleys(guesses: Guesses, kept: int) -> np.ndarray:
    """x of the best guesses that are far from each other, shape (G, d)."""
    valleys: list[int] = []
    for i in np.argsort(guesses.cost):
        apart = [
            np.linalg.norm(np.linalg.solve(guesses.root[j], guesses.x[i] - guesses.x[j]))
            for j in valleys
        ]
        if (
            len(valleys) < kept
            and np.isfinite(guesses.cost[i])
            and min(apart, default=np.inf) > _OTHER
        ):
            valleys.append(int(i))
    return guesses.x[valleys or [0]]
