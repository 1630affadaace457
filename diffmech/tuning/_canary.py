"""A small program in the form that ensembles take, run on its own to try compiler options.

`_tuning` starts this file by its path, never by importing it, once for each set of options. It
knows nothing of diffmech, tunes nothing, and prints one line of JSON: `values`, the numbers it has
computed, and `seconds`, the shortest of some runs of `_many`, without compiling [s].

It is stable against rounding: a step size is a power of two times the first, so that two compilers
agree but for the last digits unless one of them is wrong.
"""

import json
import math
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_BLOCKS, _LANES, _SLOTS = 16, 64, 8
_END = 1.0  # [s]
_REPEATS = 20  # of 10 to 20 ms
# Bogacki and Shampine, Appl. Math. Lett. 2 (1989) 321: third order with the second embedded.
_ROWS = ((1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9))
_ERROR = (-5 / 72, 1 / 12, 1 / 9, -1 / 8)
_TOLERANCE = 1e-5
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9)]

Lanes = tuple[Any, ...]  # arrays of shape (lanes,)


def _sincos(x: Any) -> tuple[Any, Any]:
    """sin x and cos x without calling a library, for angles of a few turns."""
    quarters = jnp.round(x * (2 / np.pi))
    x = x - quarters * (np.pi / 2)
    sine, cosine = (jnp.full_like(x, series[-1]) for series in (_SINE, _COSINE))
    for s, c in zip(_SINE[-2::-1], _COSINE[-2::-1], strict=True):
        sine, cosine = sine * x * x + s, cosine * x * x + c
    quadrant = quarters.astype(jnp.int32)
    odd = quadrant & 1 == 1
    sine, cosine = jnp.where(odd, cosine, sine * x), jnp.where(odd, sine * x, cosine)
    return (
        jnp.where(quadrant & 2 == 2, -sine, sine),
        jnp.where((quadrant + 1) & 2 == 2, -cosine, cosine),
    )


def _rates(y: Lanes, torque: Any) -> Lanes:
    """Double pendulum of unit masses and lengths, y = (θ₁, θ₂, θ̇₁, θ̇₂), its first link driven."""
    first, second, first_rate, second_rate = y
    s, c = _sincos(first - second)
    f = torque - s * second_rate**2 - 2 * 9.81 * _sincos(first)[0]
    g = s * first_rate**2 - 9.81 * _sincos(second)[0]
    return first_rate, second_rate, (f - c * g) / (2 - c * c), (2 * g - c * f) / (2 - c * c)


def _attempt(y: Lanes, h: Any, torque: Any) -> tuple[Lanes, Any]:
    """One step of size h [s], and its squared error in units of the tolerance."""
    stages, new = [_rates(y, torque)], y
    for row in _ROWS:
        new = _combine(y, h, row, stages)
        stages.append(_rates(new, torque))
    error = _combine(tuple(jnp.zeros_like(x) for x in y), h, _ERROR, stages)
    return new, sum(
        (e / (_TOLERANCE * (1 + jnp.abs(x)))) ** 2 for e, x in zip(error, y, strict=True)
    )


def _combine(y: Lanes, h: Any, weights: tuple[float, ...], stages: list[Lanes]) -> Lanes:
    return tuple(
        x + h * sum(w * k[i] for w, k in zip(weights, stages, strict=True) if w)
        for i, x in enumerate(y)
    )


def _block(starts: tuple[Any, Any, Any], *, stored: bool) -> Any:
    """One block of lanes to the end, each with a step size of its own.

    A torque is looked up by lane. With `stored`, states are also scattered into rows by lane, on
    some of the steps only.
    """
    first, second, torques = starts
    lanes, zeros = jnp.arange(_LANES), jnp.zeros(_LANES)

    def running(carry: Any) -> Any:
        t, count = carry[0], carry[-1]
        return jnp.any(t < _END) & (count < 10_000)

    def step(carry: Any) -> Any:
        t, h, y, largest, rows, count = carry
        new, size = _attempt(y, jnp.minimum(h, _END - t), torques[(lanes + count) % _SLOTS])
        accepted = (size <= 1) & (t < _END)
        y = tuple(jnp.where(accepted, n, x) for n, x in zip(new, y, strict=True))
        t = jnp.where(accepted, jnp.minimum(t + h, _END), t)
        largest = jnp.where(accepted, jnp.maximum(largest, jnp.abs(y[0])), largest)
        # The error is of third order in h: 1/64 of it allows a step twice as long.
        h = jnp.where(size > 1, h / 2, jnp.where(size < 1 / 64, jnp.minimum(2 * h, 0.25), h))
        if stored:
            where = (lanes + count) % _SLOTS
            rows = lax.cond(
                count % 3 == 0,
                lambda rows: rows.at[where, lanes].add(jnp.where(accepted, y[1], 0.0)),
                lambda rows: rows.at[count % _SLOTS].set(jnp.sin(y[0])),
                rows,
            )
        return t, h, y, largest, rows, count + 1

    y = (first, second, zeros, zeros)
    rows = jnp.zeros((_SLOTS, _LANES))
    return lax.while_loop(running, step, (zeros, zeros + 1 / 64, y, zeros, rows, 0))


@jax.jit
def _many(starts: Any) -> Any:
    return lax.map(lambda block: _block(block, stored=False), starts)


@jax.jit
def _many_stored(starts: Any) -> Any:
    ends = lax.map(lambda block: _block(block, stored=True), starts)
    lane = jnp.argmax(ends[3], axis=1)
    return (
        ends,
        jnp.take_along_axis(ends[2][0], lane[:, None], axis=1),
        jnp.bincount(lane, length=_LANES),
    )


def _main() -> None:
    rng = np.random.default_rng(0)
    shape = (_BLOCKS, _LANES)
    starts = (
        rng.uniform(0.1, 0.8, shape),
        rng.uniform(-0.5, 0.5, shape),
        rng.uniform(-1.0, 1.0, (_BLOCKS, _SLOTS)),
    )
    found = jax.block_until_ready((_many(starts), _many_stored(starts)))
    seconds = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(_many(starts))
        seconds.append(time.perf_counter() - began)
    values = np.concatenate([np.ravel(leaf).astype(float) for leaf in jax.tree.leaves(found)])
    print(json.dumps({"seconds": min(seconds), "values": values.tolist()}))


if __name__ == "__main__":
    _main()
