"""How a block of lanes moves: the same questions, answered by scalars or by small arrays.

The state of a block is a tuple of arrays of shape (lanes,): q, q̇, then δq and δq̇ of each tangent,
then the work done.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._typing import Params
from ..model import ExplicitLaws, Laws
from ..motion import (
    AbstractStabilisation,
    Motion,
    mass_condition_of,
    mass_matrix_of,
    motion_of,
    nearest,
    power_with,
)
from ..scalars import Evaluation, Lanes, Register, Registers, Tape, independent_of
from ._lane_equations import Equations, Layout

Lane = Any  # an array of shape (lanes,), or () where all lanes agree
State = tuple[Lane, ...]


class LaneParameters(NamedTuple):
    """What a run's lanes are told: parameters, and the gains of a stabilisation."""

    params: Params  # leaves with the lanes' axis last, where they vary
    varies: Any  # the same tree of truth values
    gains: AbstractStabilisation | None


class AbstractField(ABC):
    """The right side of the equations for a block of lanes, for given parameters."""

    layout: Layout

    @abstractmethod
    def derivative(self, t: Lane, y: State) -> State:
        """dy/dt, of which the first 2n are (q̇, q̈)."""

    @abstractmethod
    def projected(self, t: Lane, y: State) -> State:
        """The nearest state on the constraints."""

    @abstractmethod
    def condition(self, t: Lane, y: State) -> Lane:
        """The condition estimate of the mass matrix."""


class ScalarField(AbstractField):
    """Lanes of scalars, from a tape; what does not change along a run is worked out once."""

    def __init__(
        self,
        equations: Equations,
        layout: Layout,
        parameters: LaneParameters,
        t: Lane,
        start: State,
    ):
        self.layout = layout
        self._equations = equations
        tape = equations.tape
        given: dict[Register, Any] = {}
        for registers, values in zip(
            jax.tree.leaves((equations.params, equations.gains)),
            jax.tree.leaves((parameters.params, parameters.gains)),
            strict=True,
        ):
            given.update(_entries(tape, registers, values))
        wanted = [*equations.rates, *equations.target, equations.condition]
        fixed = independent_of(tape, wanted, [*equations.inputs, equations.t])
        moment = {**dict(zip(map(int, equations.inputs), start, strict=False)), int(equations.t): t}
        sizes = Evaluation(tape, Lanes(), {**given, **moment}).of(equations.sizes)
        given.update(zip(map(int, equations.roots), map(lax.stop_gradient, sizes), strict=True))
        known = Evaluation(tape, Lanes(), given).of(fixed)
        self._before = Evaluation(tape, Lanes(), dict(zip(fixed, known, strict=True)))

    def _at(self, t: Lane, y: State) -> Evaluation:
        return self._before.with_given(
            {
                **dict(zip(map(int, self._equations.inputs), y, strict=False)),
                int(self._equations.t): t,
            }
        )

    def derivative(self, t: Lane, y: State) -> State:
        """dy/dt."""
        return _spread(self._at(t, y).of(self._equations.rates), y)

    def projected(self, t: Lane, y: State) -> State:
        """The nearest state on the constraints; the work stays."""
        return (
            *_spread(self._at(t, y).of(self._equations.target), y),
            *y[len(self._equations.target) :],
        )

    def condition(self, t: Lane, y: State) -> Lane:
        """The condition estimate of the mass matrix."""
        return self._at(t, y).of(self._equations.condition).item()


def _spread(values: Any, y: State) -> State:
    """Constants and values that all lanes share, as lanes."""
    return tuple(jnp.broadcast_to(jnp.asarray(v, y[0].dtype), y[0].shape) for v in values)


def _entries(tape: Tape, registers: Registers, values: Any) -> dict[Register, Any]:
    """A parameter's scalars, lane axis last where they vary; the tape knows those it holds."""
    flat = jnp.reshape(values, (registers.size, *values.shape[registers.ndim :]))
    free = (i for i, one in enumerate(registers.ravel()) if not tape.is_constant(int(one)))
    return {int(registers.ravel()[i]): flat[i] for i in free}


class ArrayField(AbstractField):
    """Small arrays under `vmap`, lanes last: for equations too large, or without a scalar form."""

    def __init__(self, laws: Laws | ExplicitLaws, layout: Layout, parameters: LaneParameters):
        self._laws = laws
        self.layout = layout
        self._parameters = parameters

    def _map(self, function: Any, *arguments: Any) -> Any:
        """`function(*columns, params)` for every lane."""
        axes = jax.tree.map(lambda varies: -1 if varies else None, self._parameters.varies)
        spread = [
            jnp.stack(jnp.broadcast_arrays(*a)) if isinstance(a, tuple) else a for a in arguments
        ]
        return jax.vmap(function, in_axes=(*(-1 for _ in spread), axes), out_axes=-1)(
            *spread, self._parameters.params
        )

    def _motion(self, q: Any, qd: Any, t: Any, params: Params) -> Motion:
        return motion_of(self._laws, q, qd, t, params, self._parameters.gains)

    def derivative(self, t: Lane, y: State) -> State:
        """dy/dt."""
        layout = self.layout
        q, qd = layout.pair(y, 0)
        t = jnp.broadcast_to(t, jnp.shape(y[0]))
        rates: list[Any] = []

        def one(q: Any, qd: Any, t: Any, params: Params) -> Any:
            motion = self._motion(q, qd, t, params)
            power = power_with(self._laws, motion.multipliers, q, qd, t, params)
            return motion.qdd, (power if layout.work else ())

        qdd, power = self._map(one, q, qd, t)
        rates += [*qd, *qdd]
        if layout.tangents:

            def pushed(q: Any, qd: Any, t: Any, dqs: Any, dqds: Any, params: Params) -> Any:
                move = lambda q, qd: self._motion(q, qd, t, params).qdd  # noqa: E731
                push = lambda dq, dqd: jax.jvp(move, (q, qd), (dq, dqd))[1]  # noqa: E731
                return jax.vmap(push)(dqs, dqds)

            pairs = layout.pairs(y)[1:]
            dqs, dqds = (jnp.stack([jnp.stack(pair[i]) for pair in pairs]) for i in (0, 1))
            for (_, dqd), dqdd in zip(pairs, self._map(pushed, q, qd, t, dqs, dqds), strict=True):
                rates += [*dqd, *dqdd]
        if layout.work:
            rates.append(power)
        return tuple(rates)

    def projected(self, t: Lane, y: State) -> State:
        """The nearest state on the constraints; the work stays."""
        laws, layout = self._laws, self.layout
        assert isinstance(laws, Laws)
        q, qd = layout.pair(y, 0)
        tangents = [part for pair in layout.pairs(y)[1:] for part in pair]
        t = jnp.broadcast_to(t, jnp.shape(y[0]))

        def one(q: Any, qd: Any, t: Any, *more: Any) -> Any:
            *tangents, params = more

            def onto(q: Any, qd: Any) -> Any:
                mass = mass_matrix_of(laws, q, qd, t, params)
                return nearest(laws, mass, q, qd, t, params)

            turned = [
                part
                for i in range(0, len(tangents), 2)
                for part in jax.jvp(onto, (q, qd), tuple(tangents[i : i + 2]))[1]
            ]
            return jnp.concatenate([*onto(q, qd), *turned])

        moved = self._map(one, q, qd, t, *tangents)
        return (*moved, *y[len(moved) :])

    def condition(self, t: Lane, y: State) -> Lane:
        """The condition estimate of the mass matrix."""
        laws = self._laws
        if isinstance(laws, ExplicitLaws):
            return jnp.ones_like(y[0])
        q, qd = self.layout.pair(y, 0)
        t = jnp.broadcast_to(t, jnp.shape(y[0]))
        return self._map(lambda *state: mass_condition_of(laws, *state), q, qd, t)
