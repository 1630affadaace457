"""The flow of a machine: where a state is after a time, and where its neighbours are.

States are y = (q, q̇) in one vector, shape (2n,).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._defaults import FLOW_MAX_STEPS
from .._typing import AnyArray, Number, Params
from ..lanes import as_tableau
from ..model import ExplicitLaws, Laws
from ..motion import acceleration_of

_FIRST_STEP = 1e-3  # of the duration
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0  # factors of the step size control
_LAST = 1e-9  # of a step: what is left at the end is taken along rather than stepped over


def rate_of(laws: Laws | ExplicitLaws) -> Callable[[Any, Any, Any], Any]:
    """dy/dt = (q̇, q̈) as a function (t, y, params)."""

    def rate(t: Any, y: Any, params: Params) -> Any:
        n = y.shape[0] // 2
        return jnp.concatenate([y[n:], acceleration_of(laws, y[:n], y[n:], t, params)])

    return rate


@cache
def _coefficients() -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """A, shape (stages, stages), error weights and nodes, shape (stages,), of Dopri8; its order."""
    tableau = as_tableau("Dopri8")
    a = np.zeros((tableau.stages, tableau.stages))
    for i, row in enumerate(tableau.weights):
        a[i, : len(row)] = row
    return a, np.asarray(tableau.error), np.asarray(tableau.nodes), tableau.order


def step(slope: Callable[[Any, Any], Any], s: Any, y: AnyArray, h: Any) -> tuple[Any, Any]:
    """y(s + h) of dy/ds = slope(s, y) by one step of Dormand and Prince's order 8; its error.

    kᵢ = slope(s + cᵢ h, y + h Σⱼ aᵢⱼ kⱼ),   y(s + h) = y + h Σⱼ bⱼ kⱼ,   b = the last row of a
    """
    a, b_error, c = (jnp.asarray(part, y.dtype) for part in _coefficients()[:3])

    def stage(i: Any, k: Any) -> Any:
        return k.at[i].set(slope(s + c[i] * h, y + h * (a[i] @ k)))

    k = lax.fori_loop(0, len(c), stage, jnp.zeros((len(c), y.size), y.dtype))
    return y + h * (a[-1] @ k), h * (b_error @ k)


def flow(
    rate: Callable[[Any, Any, Any], Any],
    y: AnyArray,
    duration: Number,
    t0: Number,
    params: Params,
    rtol: Number,
) -> AnyArray:
    """y(t0 + duration) of dy/dt = rate(t, y, params), shape (k,); NaN if it cannot be reached.

    Adaptive steps with errors per step below rtol (1 + |y|), root mean square over the entries.
    A pure function of all its numbers: forward derivatives hold the steps fixed.

    A loop of its own because programs of end states are many and short-lived. Against Diffrax's
    `diffeqsolve` with Dopri8, its stages rolled, at the same tolerance (CPU seconds of one core
    from function to program, then for one run; one process, both ways; ends agree to 6e-12):

        babyboot's state and tangents, 181 amplitudes     1.7 and 0.061   3.1 and 0.057
        their derivatives by start and parameters, one    2.9 and 0.016   4.3 and 0.012
        double pendulum's tangents, 181 starts            2.3 and 0.125   3.9 and 0.116
        their derivatives, one                            3.7 and 0.020   5.3 and 0.017
    """
    smallest = 4 * jnp.finfo(y.dtype).eps
    order = _coefficients()[3]

    def slope(s: Any, y: Any) -> Any:
        return duration * rate(t0 + duration * s, y, params)

    def advance(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        s, h, y, count = carry
        last = s + h * (1 + _LAST) >= 1
        h = jnp.where(last, 1 - s, h)
        after, error = step(slope, s, y, h)
        scale = rtol * (1 + jnp.maximum(jnp.abs(y), jnp.abs(after)))
        size = lax.stop_gradient(jnp.sqrt(jnp.mean((error / scale) ** 2)))
        accepted = size <= 1
        factor = jnp.clip(_SAFETY * jnp.maximum(size, 1e-30) ** (-1 / order), _SHRINK, _GROW)
        factor = jnp.where(jnp.isfinite(size), factor, _SHRINK)
        s = jnp.where(accepted, jnp.where(last, 1.0, s + h), s)
        return s, h * factor, jnp.where(accepted, after, y), count + 1

    def going(carry: tuple[Any, ...]) -> Any:
        s, h, _, count = carry
        return (s < 1) & (h > smallest) & (count < FLOW_MAX_STEPS)

    begin = (jnp.zeros((), y.dtype), jnp.asarray(_FIRST_STEP, y.dtype), y, 0)
    s, _, y, _ = lax.while_loop(going, advance, begin)
    return jnp.where(s >= 1, y, jnp.nan)


def end_state_and_tangents(
    laws: Laws | ExplicitLaws,
    y: AnyArray,
    duration: Number,
    t0: Number,
    params: Params,
    rtol: Number,
) -> tuple[AnyArray, AnyArray]:
    """The state after a time, shape (2n,), and Φ = ∂y(t0 + duration)/∂y, shape (2n, 2n).

        dΦ/dt = (∂rate/∂y) Φ,   Φ(t0) = 1

    is solved along with the motion, under the same tolerance: along a motion that stands still
    the steps are those that its neighbours need.

    All orbits, multipliers and band edges come from here. Two others stay: the reducer
    `Neighbours` (criterion `FloquetStable`), which runs in lanes with thousands of motions but
    cannot be differentiated once more, as band edges must be; and the frame of `lyapunov`, which
    is made orthonormal after every step, since over its long runs Φ has no digits left.
    """
    size = y.shape[0]
    rate = rate_of(laws)

    def with_tangents(t: Any, rows: Any, params: Params) -> Any:
        """Rows: the state, then the columns of Φ."""
        rows = rows.reshape(size + 1, size)
        value, push = jax.linearize(lambda y: rate(t, y, params), rows[0])
        return jnp.concatenate([value, jax.vmap(push)(rows[1:]).reshape(-1)])

    rows = jnp.concatenate([y, jnp.eye(size, dtype=y.dtype).reshape(-1)])
    end = flow(with_tangents, rows, duration, t0, params, rtol).reshape(size + 1, size)
    return end[0], end[1:].T
