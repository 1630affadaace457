"""Rates and accelerations of a sampled signal, with their errors: polynomials fitted locally.

Around each time t a polynomial in u = (s − t)/h is fitted by least squares to the samples with
|s − t| ≤ h (A. Savitzky, M. J. E. Golay, Anal. Chem. 36 (1964) 1627-1639, for any times):

    c = G⁻¹ Aᵀy,   G = AᵀA,   A = (1, u, u², ...)
    (q, q̇, q̈) = (c₀, c₁/h, 2 c₂/h²),   covariance σ² G⁻¹, scaled alike

A long window averages noise away, ∝ h^(−5/2) for q̈, and a short one follows the motion. The window
is made as long as estimates do not depart, beyond noise, from those of shorter ones (O. V.
Lepskii, Theory Probab. Appl. 35 (1991) 454-466), and then two sizes shorter, which makes what is
left of the bias small beside the error.
"""

from typing import NamedTuple

import numpy as np

_RATIO = 1.2  # from one size of window to the next
_SHORTER = 2  # sizes: bias² / variance falls by 1.2¹³ = 11 with each of them at degree 4
_MOST_CENTRES = 2000  # at which windows are compared
_MOST_SIZES = 24
_DOUBT = 3.0  # standard deviations by which a mean square may exceed its expectation
_MOST_NUMBERS = 100_000  # alive at once: what a cache holds
_EVEN = 1e-6  # of the time between samples: by less they count as evenly spaced
_LONGEST_HOLE = 0.5  # of h, between two samples in a window
_LONGEST_REST = 0.2  # of h, without samples at either end of a window


class Local(NamedTuple):
    """Estimates at some times; NaN where a window has too few samples, a hole or an end.

    Attributes:
        states: (q, q̇, q̈), shape (k, 3).
        covariances: of these for noise of standard deviation 1, shape (k, 3, 3).
        squares: sum of squared residuals, shape (k,).
        spare: samples beyond the coefficients, shape (k,).
    """

    states: np.ndarray
    covariances: np.ndarray
    squares: np.ndarray
    spare: np.ndarray


def local_polynomials(
    ts: np.ndarray, values: np.ndarray, centres: np.ndarray, half: float, degree: int
) -> Local:
    """Fits to the samples within `half` [s] of every centre; missing samples are NaN."""
    seen = ~np.isnan(values)
    times, known = ts[seen], values[seen]
    if len(times) < degree + 2 or np.isnan(half):
        unknown = np.full((len(centres), 3, 3), np.nan)
        return Local(unknown[:, 0], unknown, unknown[:, 0, 0], unknown[:, 0, 0])
    reach = half * (1 + 1e-9)
    first = np.searchsorted(times, centres - reach)
    last = np.searchsorted(times, centres + reach, side="right")
    width = max(int(np.max(last - first, initial=0)), 2)
    portion = max(1, _MOST_NUMBERS // (width * (degree + 1)))
    usual = float(np.median(np.diff(times)))
    whole = Local(*(np.full((len(centres), *more), np.nan) for more in ((3,), (3, 3), (), ())))
    alike = _alike(times, centres, first, last, width, degree, usual)
    if np.any(alike):
        part = _alike_windows(times, known, centres[alike], first[alike], half, degree, width)
        _fill(whole, alike, part)
    ends = np.minimum(
        centres - times[np.minimum(first, len(times) - 1)], times[np.maximum(last - 1, 0)] - centres
    )
    long_enough = half - ends <= max(1.5 * usual, _LONGEST_REST * half)
    others = np.flatnonzero(~alike & long_enough & (last - first >= degree + 2))
    for rows in (others[i : i + portion] for i in range(0, len(others), portion)):
        part = _portion(
            times, known, centres[rows], first[rows], last[rows], half, degree, width, usual
        )
        _fill(whole, rows, part)
    return whole


def _fill(whole: Local, rows: np.ndarray, part: Local) -> None:
    for room, array in zip(whole, part, strict=True):
        room[rows] = array


def _alike(
    times: np.ndarray,
    centres: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    width: int,
    degree: int,
    usual: float,
) -> np.ndarray:
    """Which windows have one and the same shape: full ones around samples at even times."""
    even = np.ptp(np.diff(times)) < _EVEN * usual and width % 2 and width >= degree + 2
    middle = np.minimum(first + width // 2, len(times) - 1)
    there = np.abs(times[middle] - centres) < _EVEN * usual
    return even & there & (last - first == width)


def _alike_windows(
    times: np.ndarray,
    samples: np.ndarray,
    centres: np.ndarray,
    first: np.ndarray,
    half: float,
    degree: int,
    width: int,
) -> Local:
    """Fits in windows of one shape, for which one system of equations is solved."""
    u = (times[first[0] : first[0] + width] - centres[0]) / half
    powers = u[:, None] ** np.arange(degree + 1)
    y = np.lib.stride_tricks.sliding_window_view(samples, width)[first]
    mean = y.mean(axis=1, keepdims=True)
    centred = y - mean  # large offsets cost no digits
    inverse = np.linalg.inv(powers.T @ powers)
    coefficients = centred @ (powers @ inverse)
    residuals = centred - coefficients @ powers.T
    scale = np.array([1.0, 1 / half, 2 / half**2])
    states = coefficients[:, :3] * scale
    states[:, :1] += mean
    covariance = inverse[:3, :3] * scale[:, None] * scale
    count = len(centres)
    return Local(
        states,
        np.broadcast_to(covariance, (count, 3, 3)),
        _dots(residuals, residuals),
        np.full(count, width - degree - 1.0),
    )


def _portion(
    times: np.ndarray,
    measured: np.ndarray,
    centres: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    half: float,
    degree: int,
    width: int,
    usual: float,
) -> Local:
    samples = first[:, None] + np.arange(width)
    inside = samples < last[:, None]
    samples = np.minimum(samples, len(times) - 1)
    u = np.where(inside, (times[samples] - centres[:, None]) / half, 0.0)
    powers = [inside * 1.0]
    for _ in range(degree):
        powers.append(powers[-1] * u)
    y = np.where(inside, measured[samples], 0.0)

    gaps = np.where(inside[:, 1:], np.diff(times[samples], axis=1), 0.0).max(axis=1)
    ends = np.maximum(centres - times[np.minimum(first, len(times) - 1)], 0.0)
    ends = np.minimum(ends, times[np.maximum(last - 1, 0)] - centres)
    count = last - first
    sound = count >= degree + 2
    sound &= gaps <= max(1.5 * usual, _LONGEST_HOLE * half)
    sound &= half - ends <= max(1.5 * usual, _LONGEST_REST * half)

    orders = np.arange(degree + 1)
    halves = [(i // 2, i - i // 2) for i in range(2 * degree + 1)]
    moments = np.stack([_dots(powers[i], powers[j]) for i, j in halves], axis=1)
    gram = moments[:, orders[:, None] + orders]  # Σ uⁱ uʲ
    gram[~sound] = np.eye(degree + 1)
    mean = y.sum(axis=1) / np.maximum(count, 1)
    centred = np.where(inside, y - mean[:, None], 0.0)  # large offsets cost no digits
    right = np.stack([_dots(power, centred) for power in powers], axis=1)
    unit = np.broadcast_to(np.eye(degree + 1), gram.shape)
    solved = np.linalg.solve(gram, np.concatenate([unit, right[..., None]], axis=2))
    inverse, coefficients = solved[..., :-1], solved[..., -1]
    residuals = centred - sum(coefficients[:, i, None] * power for i, power in enumerate(powers))
    scale = np.array([1.0, 1 / half, 2 / half**2])
    states = coefficients[:, :3] * scale
    states[:, 0] += mean
    covariances = inverse[:, :3, :3] * scale[:, None] * scale
    states[~sound] = np.nan
    covariances[~sound] = np.nan
    squares = np.where(sound, _dots(residuals, residuals), np.nan)
    return Local(states, covariances, squares, np.where(sound, count - degree - 1.0, np.nan))


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a·b of every row, shape (k,)."""
    return np.einsum("kw,kw->k", a, b)


def noise_of(local: Local) -> float:
    """The standard deviation that the residuals of all windows show together; NaN of none."""
    spare = np.nansum(local.spare)
    return float(np.sqrt(np.nansum(local.squares) / spare)) if spare > 0 else np.nan


def chosen_half(
    ts: np.ndarray, values: np.ndarray, noise: float | None, degree: int
) -> tuple[float, float]:
    """Half the length of the window [s], and the noise: the given one, or as the samples show.

    NaN where not even the shortest window has enough samples anywhere.
    """
    seen = ~np.isnan(values)
    if np.sum(seen) < degree + 2:
        return np.nan, np.nan
    usual = float(np.median(np.diff(ts[seen])))
    shortest = usual * ((degree + 3) // 2 + 0.4)  # times may be somewhat uneven
    every = -(-len(ts) // _MOST_CENTRES)
    centres = ts[::every]
    tried: list[tuple[float, Local]] = []
    half, level = shortest, noise
    while not tried or (len(tried) < _MOST_SIZES and 4 * half <= ts[-1] - ts[0]):
        local = local_polynomials(ts, values, centres, half, degree)
        if np.all(np.isnan(local.squares)):
            break
        level = noise_of(local) if level is None else level  # the shortest follows the motion best
        if tried and _departs(local, tried, level, ts):
            break
        tried.append((half, local))
        half = max(half * _RATIO, half + usual)
    if not tried:
        return np.nan, np.nan
    half, local = tried[max(len(tried) - 1 - _SHORTER, 0)]
    return half, noise_of(local) if noise is None else noise


def _departs(long: Local, shorter: list[tuple[float, Local]], noise: float, ts: np.ndarray) -> bool:
    """Whether accelerations differ by more than noise from those of any shorter window.

    The long window's estimate is the best linear one of its samples, so the variance of the
    difference is the difference of the variances.
    """
    halves = np.array([half for half, _ in shorter])
    bends = np.stack([short.states[:, 2] for _, short in shorter])
    spreads = np.stack([short.covariances[:, 2, 2] for _, short in shorter])
    variance = noise**2 * (spreads - long.covariances[:, 2, 2])
    both = np.isfinite(variance) & (variance > 0)
    count = np.sum(both, axis=1)
    misses = np.where(both, long.states[:, 2] - bends, 0.0)
    excess = np.sum(misses**2 / np.where(both, variance, 1.0), axis=1) / np.maximum(count, 1)
    independent = np.maximum(1.0, np.mean(both, axis=1) * (ts[-1] - ts[0]) / (2 * halves))
    independent = np.maximum(np.minimum(independent, count), 1.0)
    return bool(np.any((count > 0) & (excess > 1 + _DOUBT * np.sqrt(2 / independent))))
