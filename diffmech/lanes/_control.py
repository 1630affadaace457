"""Step sizes: the first, the next, what counts as too small; and whether a step is accepted."""

from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from .._results import Status
from .._typing import AnyArray
from ._field import Lane, State
from ._lane_equations import Layout
from ._lanewise import unshared
from ._step import Step

# In the loop statuses and counts are floats: lanes of one width are what vectorises.
OK = float(Status.OK)

# Bounds on the change of the step size, and the share of the step that the error allows. At equal
# errors in the end 0.85 takes 3 % fewer steps than 0.9 (Dopri8; boots and three links): those that
# are refused cost more than shorter ones.
_SHRINK, _GROW, _SAFETY = 0.2, 8.0, 0.85
# Powers of the error now and one step ago in the new step size (PI control).
_NOW, _BEFORE = 0.7, 0.3
_SMALLEST_STEP_IN_EPS = 16.0  # of the largest time
_FIRST = 0.2  # of the time in which the state changes by its own size
_TANGENT_SLACK = 100.0  # growth is wanted to fewer digits than the motion


class Tolerances(NamedTuple):
    """Numbers of a run that may change without compiling anew."""

    start: AnyArray  # [s]
    end: AnyArray  # [s]
    rtol: AnyArray
    atol: AnyArray
    dt: AnyArray | None  # [s] a fixed step; then no tolerance is used
    max_steps: AnyArray


def _own(layout: Layout, y: State) -> State:
    """The components whose error counts one by one: not those of tangents and work."""
    return y[: 2 * layout.n]


def first_step(layout: Layout, y: State, rate: State, tolerances: Tolerances) -> Lane:
    """A fifth of the time in which the state changes by its own size; or the fixed step."""
    whole = tolerances.end - tolerances.start
    if tolerances.dt is not None:
        return jnp.broadcast_to(whole / jnp.ceil(whole / tolerances.dt * (1 - 1e-9)), y[0].shape)
    pairs = list(zip(_own(layout, y), _own(layout, rate), strict=True))
    size = sum((a / (tolerances.atol + tolerances.rtol * jnp.abs(a))) ** 2 for a, _ in pairs)
    speed = sum((b / (tolerances.atol + tolerances.rtol * jnp.abs(a))) ** 2 for a, b in pairs)
    guess = _FIRST * jnp.sqrt(size / jnp.where(speed > 0, speed, 1.0))
    usable = (speed > 0) & (guess > 0) & jnp.isfinite(guess)
    guess = jnp.where(usable, guess, 1e-4 * whole)
    return lax.stop_gradient(jnp.clip(guess, 1e-8 * whole, 0.1 * whole))


def error_size(layout: Layout, y: State, step: Step, tolerances: Tolerances) -> Lane:
    """The mean square of error over tolerance; of tangents, if theirs is larger.

    Tangents count as a whole, by their lengths: at an equilibrium they are all that moves.
    """
    total: Any = 0.0
    states = (_own(layout, x) for x in (y, step.y, step.error))
    for old, new, error in zip(*states, strict=True):
        scale = tolerances.atol + tolerances.rtol * jnp.maximum(jnp.abs(old), jnp.abs(new))
        total = total + (error / scale) ** 2
    total = total / (2 * layout.n)
    for i in range(layout.tangents):
        old, new, error = (
            sum(x**2 for part in layout.pair(state, 1 + i) for x in part)
            for state in (y, step.y, step.error)
        )
        size = jnp.maximum(jnp.maximum(old, new), jnp.finfo(total.dtype).tiny)
        total = jnp.maximum(total, error / (size * (_TANGENT_SLACK * tolerances.rtol) ** 2))
    return lax.stop_gradient(total)


class Pace(NamedTuple):
    """How far lanes are, and how they proceed."""

    t: Lane  # [s]
    h: Lane  # the next step [s]
    error: Lane  # ln of the mean square error of the last accepted step
    status: Lane
    accepted: Lane
    rejected: Lane


def next_step(pace: Pace, stop: Any) -> tuple[Lane, Lane]:
    """The size of the next step, 0 for lanes that have ended or reached `stop`; and its end [s]."""
    return unshared(lambda *own: _tried(stop, Pace(*own))[2:], *pace)


def _tried(stop: Any, pace: Pace) -> tuple[Lane, Lane, Lane, Lane]:
    """(live, last, size, end) of the next step."""
    live = (pace.status == OK) & (pace.t < stop)
    left = stop - pace.t
    # A step that would leave a sliver is stretched to the stop. Step sizes are decisions, not
    # results: derivatives do not pass through them, but do through the last one.
    last = pace.h >= left * (1 - 1e-9)
    h = jnp.where(live, jnp.where(last, left, lax.stop_gradient(pace.h)), 0.0)
    return live, last, h, jnp.where(last, stop, pace.t + h)


def accept_or_reject(
    pace: Pace, size: Lane, stop: Any, order: int, tolerances: Tolerances
) -> tuple[Pace, Lane]:
    """After a step with mean square error `size`; and 1.0 where it is accepted, 0.0 elsewhere."""
    *after, accepted = unshared(
        partial(_accepted_or_rejected, stop, order, tolerances), size, *pace
    )
    return Pace(*after), accepted


def _accepted_or_rejected(
    stop: Any, order: int, tolerances: Tolerances, size: Lane, *own: Lane
) -> tuple[Lane, ...]:
    pace = Pace(*own)
    live, last, h, t = _tried(stop, pace)
    good = size <= 1.0
    accept, refused = live & good, live & ~good
    if tolerances.dt is None:
        factor, log = _change_of_step(order, size, pace.error, good & (pace.accepted > 0))
        h_next = jnp.where(live, lax.stop_gradient(h) * factor, pace.h)
        # A step cut short by a stop says nothing against the longer one planned before.
        h_next = jnp.where(good & last, jnp.maximum(h_next, pace.h), h_next)
        error = jnp.where(accept, log, pace.error)
        lost, why = refused & _too_small(h, tolerances), Status.STEP_TOO_SMALL
    else:
        h_next, error, lost, why = pace.h, pace.error, refused, Status.NON_FINITE
    why = jnp.where(jnp.isfinite(size), 1.0 * why, 1.0 * Status.NON_FINITE)
    status = jnp.where(lost, why, pace.status)
    accepted = pace.accepted + jnp.where(accept, 1.0, 0.0)
    rejected = pace.rejected + jnp.where(refused, 1.0, 0.0)
    exhausted = live & (accepted + rejected >= tolerances.max_steps) & (status == OK)
    return (
        jnp.where(accept, t, pace.t),
        h_next,
        error,
        jnp.where(exhausted, 1.0 * Status.MAX_STEPS, status),
        accepted,
        rejected,
        jnp.where(accept, 1.0, 0.0),
    )


def _change_of_step(order: int, size: Lane, before: Lane, steady: Lane) -> tuple[Lane, Lane]:
    """PI control: h_new / h = 0.85 e^(−0.7/p) e_before^(0.3/p), where e² = size; and ln size.

    Where not `steady`, after a step that was refused or was the first, 0.85 e^(−1/p).
    """
    log = _rough_log(jnp.maximum(size, 1e-20))
    power = jnp.where(steady, -_NOW * log + _BEFORE * before, -log)
    factor = _SAFETY * _rough_exp(power * (0.5 / order))
    factor = jnp.where(jnp.isfinite(size), jnp.clip(factor, _SHRINK, _GROW), _SHRINK)
    return factor, log


def _too_small(h: Lane, tolerances: Tolerances) -> Lane:
    """Steps that no longer change the time."""
    smallest = _SMALLEST_STEP_IN_EPS * jnp.finfo(h.dtype).eps
    return h <= smallest * jnp.maximum(jnp.abs(tolerances.end), jnp.abs(tolerances.start))


def _rough_log(x: Lane) -> Lane:
    """ln x to 0.06, for x > 0: exponent and mantissa read off the bits; XLA's own calls libm."""
    if x.dtype != jnp.float64:
        return jnp.log(x)
    high = lax.shift_right_logical(lax.bitcast_convert_type(x, jnp.int64), jnp.int64(32))
    # As the last bits of 2⁵² + high, which is the fastest way to make a float of an integer.
    lifted = lax.bitcast_convert_type(high | jnp.int64(0x4330000000000000), jnp.float64)
    return ((lifted - 2.0**52) * 2.0**-20 - 1023.0) * 0.6931471805599453


def _rough_exp(x: Lane) -> Lane:
    """eˣ as (1 + x/64)⁶⁴: to 3 % for |x| < 2."""
    result = jnp.maximum(1.0 + x * (1.0 / 64), 0.0)
    for _ in range(6):
        result = result * result
    return result
