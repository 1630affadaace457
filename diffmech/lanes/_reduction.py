"""What a block keeps of its motions: its reducers, asked side by side for every lane."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from .._typing import Params, Truth
from ._field import Lane, State
from ._instant import Instant
from ._lane_equations import Layout
from ._lanewise import Bundle, is_bundle, lanewise, stacked
from ._reducer_protocol import AbstractReducer, AbstractSample, Carry, Value


class Role(NamedTuple):
    """What a reducer does in a block, besides what its arrays hold; hashable.

    Attributes:
        first, end: which of the block's tangents are its own.
        at_stops: whether it samples at the stops, not at the end.
        ends: whether it may end motions.
    """

    first: int = 0
    end: int = 0
    at_stops: bool = False
    ends: bool = False


class Split(NamedTuple):
    """A reducer apart: its arrays as bundles, and the reducer without them."""

    arrays: Any
    rest: AbstractReducer


class Reduction(NamedTuple):
    """The reducers of a block, none by default; all values are trees of bundles.

    Attributes:
        reducers: each apart; roles: what each does here.
        params: of the lanes.
        lanes: in the block.
    """

    reducers: tuple[Split, ...] = ()
    roles: tuple[Role, ...] = ()
    params: Params = ()
    lanes: int = 0

    def begin(self, starts: tuple[Instant, ...]) -> tuple[Carry, ...]:
        """The carries at the start."""
        return tuple(self._ask(_init, i, at, self.params) for i, at in enumerate(starts))

    def update(
        self, kept: tuple[Carry, ...], before: tuple[Instant, ...], after: tuple[Instant, ...]
    ) -> tuple[Carry, ...]:
        """The carries after a step."""
        return tuple(
            self._ask(_update, i, carry, old, new, self.params)
            for i, (carry, old, new) in enumerate(zip(kept, before, after, strict=True))
        )

    def done(self, kept: tuple[Carry, ...]) -> Iterator[Lane]:
        """For each reducer that may end motions, which may end."""
        for i, carry in enumerate(kept):
            if self.roles[i].ends:
                yield self._ask(_done, i, carry).entries[0]

    def samples(self, instants: tuple[Instant, ...], at_stop: bool) -> tuple[Value, ...]:
        """What reducers keep at a stop, if they have times, or at the end; arrays, lanes last."""
        return tuple(
            _stacked(self._ask(_sample, i, at, self.params), self.lanes)
            if self._samples_at(i) is at_stop
            else ()
            for i, at in enumerate(instants)
        )

    def values(
        self, kept: tuple[Carry, ...], taken: tuple[Value, ...], last: tuple[Value, ...]
    ) -> tuple[Value, ...]:
        """What is left of motions: by their samples, `taken` at stops or `last`, or their carries.

        Arrays with the lanes' axis last.
        """
        return tuple(
            _stacked(self._ask(_finish, i, carry, by_scalars=False), self.lanes)
            if self._samples_at(i) is None
            else (taken if self._samples_at(i) else last)[i]
            for i, carry in enumerate(kept)
        )

    def seen(
        self, layout: Layout, t: Lane, y: State, rate: State, doublings: tuple[Lane, ...]
    ) -> tuple[Instant, ...]:
        """The moment as each reducer sees it."""
        n = layout.n
        q, qd = layout.pair(y, 0)
        whole = Instant(
            t=Bundle((t,), ()),
            q=Bundle(q, (n,)),
            qd=Bundle(qd, (n,)),
            qdd=Bundle(rate[n : 2 * n], (n,)),
            work=Bundle((y[-1],), ()) if layout.work else (),
        )
        instants = []
        for first, end, *_ in self.roles:
            if first == end:
                instants.append(whole)
                continue
            pairs = layout.pairs(y)[1 + first : 1 + end]
            count = doublings[first:end] or (jnp.zeros_like(t),) * (end - first)
            instants.append(
                whole._replace(
                    dq=Bundle(tuple(x for dq, _ in pairs for x in dq), (end - first, n)),
                    dqd=Bundle(tuple(x for _, dqd in pairs for x in dqd), (end - first, n)),
                    doublings=Bundle(count, (end - first,)),
                )
            )
        return tuple(instants)

    def _ask(
        self, question: Callable[..., Any], i: int, *told: Any, by_scalars: bool = True
    ) -> Any:
        """Put a question to the i-th reducer, for every lane."""
        arrays, rest = self.reducers[i]

        def asked(arrays: Any, *told: Any) -> Any:
            return question(eqx.combine(arrays, rest), *told)

        return lanewise(asked, self.lanes, arrays, *told, by_scalars=by_scalars)

    def _samples_at(self, i: int) -> bool | None:
        """Whether the i-th reducer samples at stops; or, if False, at the end; None if neither."""
        return self.roles[i].at_stops if isinstance(self.reducers[i].rest, AbstractSample) else None


def _init(reducer: AbstractReducer, at: Instant, params: Params) -> Carry:
    return reducer.init(at, params)


def _update(
    reducer: AbstractReducer, carry: Carry, before: Instant, after: Instant, params: Params
) -> Carry:
    return reducer.update(carry, before, after, params)


def _finish(reducer: AbstractReducer, carry: Carry) -> Value:
    return reducer.finish(carry)


def _done(reducer: AbstractReducer, carry: Carry) -> Truth:
    return jnp.asarray(reducer.done(carry), bool)


def _sample(reducer: AbstractSample, at: Instant, params: Params) -> Value:
    return reducer.sample(at, params)


def _stacked(tree: Any, lanes: int) -> Any:
    return jax.tree.map(lambda bundle: stacked(bundle, lanes), tree, is_leaf=is_bundle)
