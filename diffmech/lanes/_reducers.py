"""What is kept of every motion: small summaries, made while it runs."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import ROUNDINGS, as_array, as_direction, is_traced
from .._typing import AnyArray, Params, Scalar, ScalarFunction, Truth
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import energy_of
from ._instant import Instant, between, peak
from ._reducer_protocol import AbstractReducer, AbstractSample, Carry, Value

_HALVINGS = 40  # of the step in which a condition became true: down to 1e-12 of it


class Last(AbstractSample):
    """(q, q̇) where the motion ended, shapes (lanes, n) [SI units, SI units/s]."""

    def sample(self, instant: Instant, params: Params) -> tuple[AnyArray, AnyArray]:
        """(q, q̇), shapes (n,)."""
        return instant.q, instant.qd


def _value(function: ScalarFunction, at: Instant, params: Params) -> AnyArray:
    return jnp.asarray(function(at.q, at.qd, at.t, params), at.q.dtype)


class Largest(AbstractReducer):
    """The largest value of `function(q, qd, t, params)`, a number, on the way; shape (lanes,).

        max f(q, q̇, t, params)   from the start to the end   [unit of f]

    Peaks inside steps are found by the function's values and slopes at their ends, where it rises
    at the start of a step and falls at its end; others inside a step are missed.

    Attributes:
        function: f, of q, qd of shape (n,) and t [s], returning shape (); `ensemble` raises
            `ValueError` for another shape.
    """

    function: ScalarFunction

    def init(self, instant: Instant, params: Params) -> Carry:
        """The value at the start."""
        return _value(self.function, instant, params)

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The larger of what was and the step's peak."""
        return jnp.maximum(carry, peak(self.function, before, after, params)[1])

    def finish(self, carry: Carry) -> Value:
        """The largest."""
        return carry


class Smallest(AbstractReducer):
    """The smallest value of `function(q, qd, t, params)` on the way; shape (lanes,).

        min f(q, q̇, t, params)   from the start to the end   [unit of f]

    Troughs inside steps are found, or missed, as the peaks of `Largest`; `function` is as there.
    """

    function: ScalarFunction

    def _negative(self, *state: Any) -> AnyArray:
        return -self.function(*state)

    def init(self, instant: Instant, params: Params) -> Carry:
        """The value at the start."""
        return _value(self.function, instant, params)

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The smaller of what was and the step's trough."""
        return jnp.minimum(carry, -peak(self._negative, before, after, params)[1])

    def finish(self, carry: Carry) -> Value:
        """The smallest."""
        return carry


class FirstTime(AbstractReducer):
    """When `condition(q, qd, t, params)` first is at least zero (or true) [s]; infinite if never.

        min {t : g(q, q̇, t, params) ≥ 0},   g the condition, shape (), of any unit

    Shape (lanes,), on the clock of t: a condition that holds at the start gives `t0`.

    The moment is found inside the step, on the polynomial of degree 5 through its ends: at the
    default tolerance the condition is zero there to about 1e-6 of its range, with a tighter `rtol`
    to less. A number that rises above zero and falls below it again within one step is noticed by
    its slopes at the step's ends, if it rises by more than that; a truth value that does so is
    not. With `stop`, motions end there. A condition that becomes NaN gives NaN.
    """

    condition: Callable[..., Any]
    stop: bool = eqx.field(static=True, default=True)

    def _holds(self, q: AnyArray, qd: AnyArray, t: Scalar, params: Params) -> Any:
        value = self.condition(q, qd, t, params)
        return value if jnp.asarray(value).dtype == bool else value >= 0

    def _is_truth(self, at: Instant, params: Params) -> bool:
        value = jax.eval_shape(self.condition, at.q, at.qd, at.t, params)
        return value.dtype == bool

    def init(self, instant: Instant, params: Params) -> Carry:
        """Not yet, unless it holds from the start: then a step of no length, at the start."""
        q, qd, t = instant.q, instant.qd, instant.t
        start = Instant(t, q, qd, jnp.zeros_like(q))
        holds = jnp.asarray(self._holds(q, qd, t, params), bool)
        return holds, start, start, jnp.zeros_like(t), params

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The step in which it came to hold, and a part of it at which it does."""
        held, start, end, part, used = carry
        if self._is_truth(after, params):
            s, now = jnp.ones_like(after.t), self._holds(after.q, after.qd, after.t, params)
        else:
            s, top = peak(self.condition, before, after, params)
            now = ~(top < 0)  # NaN counts, too, at an unknown time
            s = jnp.where(jnp.isnan(top), jnp.nan, s)
        new = now & ~held
        keep = lambda old, fresh: jnp.where(new, fresh, old)  # noqa: E731
        this, that = (Instant(x.t, x.q, x.qd, x.qdd) for x in (before, after))
        return (
            held | now,
            jax.tree.map(keep, start, this),
            jax.tree.map(keep, end, that),
            keep(part, s),
            used,
        )

    def done(self, carry: Carry) -> Truth:
        """Whether the condition has held, if motions are to stop there."""
        return carry[0] if self.stop else jnp.zeros_like(carry[0])

    def finish(self, carry: Carry) -> Value:
        """The time, by halving the step, and one Newton step that carries derivatives."""
        held, before, after, part, params = carry
        frozen = lax.stop_gradient((before, after, params))

        def halve(_: Any, bounds: Any) -> Any:
            low, high = bounds
            middle = 0.5 * (low + high)
            holds = self._holds(*between(frozen[0], frozen[1], middle), frozen[2])
            return jnp.where(holds, low, middle), jnp.where(holds, middle, high)

        bounds = jnp.zeros_like(part), lax.stop_gradient(part)
        _, s = lax.fori_loop(0, _HALVINGS, halve, bounds)
        if not self._is_truth(before, params):

            def value(s: Any) -> Any:
                return self.condition(*between(before, after, s), params)

            here, slope = jax.jvp(value, (s,), (jnp.ones_like(s),))
            slope = lax.stop_gradient(slope)
            usable = jnp.abs(slope) > 0
            change = (here - lax.stop_gradient(here)) / jnp.where(usable, slope, 1.0)
            s = s - jnp.where(usable, change, 0.0)
        return jnp.where(held, before.t + s * (after.t - before.t), jnp.inf)


class Crossings(AbstractReducer):
    """How often `function(q, qd, t, params)` crosses zero; shape (lanes,) [-], floats.

        rising (direction 1):    f < 0 at a step's start and f ≥ 0 at its end
        falling (direction −1):  f ≥ 0 at a step's start and f < 0 at its end;   both (0)

    f has shape () and any unit. It is judged at the ends of steps only: two crossings within one
    step are missed.
    """

    function: ScalarFunction
    direction: int = eqx.field(static=True, default=0, converter=as_direction)

    def init(self, instant: Instant, params: Params) -> Carry:
        """No crossing."""
        return jnp.zeros_like(instant.t)

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """One more if the sign has changed."""
        old = self.function(before.q, before.qd, before.t, params)
        new = self.function(after.q, after.qd, after.t, params)
        rising, falling = (old < 0) & (new >= 0), (old >= 0) & (new < 0)
        counted = {1: rising, -1: falling, 0: rising | falling}[self.direction]
        return carry + jnp.where(counted, 1.0, 0.0)

    def finish(self, carry: Carry) -> Value:
        """How many there were."""
        return carry


class Samples(AbstractSample):
    """(q, q̇) at given times [s], shapes (lanes, k, n) [SI units, SI units/s]; steps end on them.

    Times of shape (k,) are for all lanes, of shape (lanes, k) each lane's own: these never
    decrease along a row, and where one is NaN, so is the sample. Times may be traced and
    differentiated by. NaN after the end of a motion that failed, or that another reducer has ended.

    **Raises:** `ValueError`, by `ensemble`, for times outside of a motion, or that decrease along a
    row.
    """

    times: AnyArray = eqx.field(converter=as_array)

    def sample(self, instant: Instant, params: Params) -> tuple[AnyArray, AnyArray]:
        """(q, q̇), shapes (n,)."""
        return instant.q, instant.qd


class EnergyError(AbstractReducer):
    """max |h − h₀ − W| / max(T, |W|): by how much the energy fails to balance; shape (lanes,).

    h = p·q̇ − L [J], h₀ at the start, W the work of forces and moving guides since then [J], T the
    kinetic energy [J]. Each maximum is over the ends of all steps on its own; the ratio is a pure
    number, 0 where all of it is rounding of h. For explicit systems the numerator alone [J].
    """

    laws: Laws | ExplicitLaws = eqx.field(static=True)
    needs_work = True

    def __init__(self, system: AbstractSystem):
        self.laws = system.laws

    def init(self, instant: Instant, params: Params) -> Carry:
        """h₀, no imbalance, and T [J]."""
        energy = energy_of(self.laws, instant.q, instant.qd, instant.t, params)
        return energy.total, jnp.zeros_like(instant.t), jnp.nan_to_num(energy.kinetic)

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """The worst imbalance so far, and the scale it is measured by."""
        start, worst, scale = carry
        energy = energy_of(self.laws, after.q, after.qd, after.t, params)
        worst = jnp.maximum(worst, jnp.abs(energy.total - start - after.work))
        if isinstance(self.laws, ExplicitLaws):
            return start, worst, scale
        return start, worst, jnp.maximum(scale, jnp.maximum(energy.kinetic, jnp.abs(after.work)))

    def finish(self, carry: Carry) -> Value:
        """The relative imbalance; none where nothing moves by more than the rounding of h."""
        start, worst, scale = carry
        part = worst / jnp.where(scale > 0, scale, 1.0)
        if isinstance(self.laws, ExplicitLaws):
            return part
        rounding = ROUNDINGS * jnp.finfo(part.dtype).eps * jnp.abs(start)
        return jnp.where((worst <= rounding) & (scale <= rounding), 0.0, part)


def as_rows(directions: tuple[Any, ...], *, lengths: bool = False) -> AnyArray:
    """Directions (δq, δq̇), k of them, as `tangents` of shape (k, 2n).

    Raises:
        ValueError: one is zero or no number, where their `lengths` are divided by.
    """
    rows = [as_array(direction).ravel() for direction in directions]
    for row in rows if lengths else ():
        if not is_traced(row) and not 0 < np.linalg.norm(row) < np.inf:
            raise ValueError(
                f"a direction must be finite and not zero, but is {np.asarray(row).tolist()}"
            )
    return (jnp if is_traced(rows) else np).stack(rows)


class Growth(AbstractReducer):
    """ln(‖δ‖ / ‖δ₀‖): by how much neighbours part, shape (lanes, k), from their linear equations.

        ‖δ‖² = Σ_i (δq_i² + δq̇_i²),   numbers in SI units, at the end of the motion   [-]

    Divided by the duration it is the finite-time Lyapunov exponent of these directions. δ is
    divided by powers of 2 on the way, so that it neither overflows nor vanishes.
    """

    tangents: AnyArray

    def __init__(self, *directions: Any):
        """Each direction is (δq, δq̇), shape (2n,), not zero; k of them.

        `ensemble` raises `ValueError` where the shape is not that of its machine.
        """
        self.tangents = as_rows(directions, lengths=True)

    def init(self, instant: Instant, params: Params) -> Carry:
        """‖δ₀‖², and no doublings."""
        zero = jnp.zeros(self.tangents.shape[0], self.tangents.dtype)
        return jnp.sum(self.tangents**2, axis=1), zero

    def update(self, carry: Carry, before: Instant, after: Instant, params: Params) -> Carry:
        """‖δ‖² as scaled, and the doublings left out."""
        return jnp.sum(after.dq**2, axis=1) + jnp.sum(after.dqd**2, axis=1), after.doublings

    def finish(self, carry: Carry) -> Value:
        """ln of the growth."""
        size, doublings = carry
        start = jnp.sum(self.tangents**2, axis=1)
        return 0.5 * jnp.log(size / start) + doublings * jnp.log(2.0)
