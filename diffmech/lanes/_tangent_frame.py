"""One motion with a frame of neighbours, made orthonormal again after every step.

The neighbours δ obey the motion's linear equations. Left alone they would all turn into the
direction that grows fastest; Gram and Schmidt keep them apart, and the logarithms of the lengths
they take away are the growth of lines, areas, volumes. Steps and their control go on across it:
tangents are linear, so that their rates are turned with them.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import MAX_STEPS_LIMIT, in_force
from .._results import Status
from .._typing import AnyArray, Params
from ..model import AbstractSystem
from ..motion import AbstractStabilisation
from ._block import Block, Loop
from ._control import Tolerances
from ._field import LaneParameters
from ._lane_equations import Layout
from ._prepare import checked_tolerances, stabilisation
from ._program import Program
from ._program_choice import choose_program

STOPS = 256  # at most, in one call of the compiled program


class FrameRun(NamedTuple):
    """The numbers of a run."""

    start: AnyArray  # (2n,)
    params: Params
    stabilise: AbstractStabilisation | None
    tolerances: Tolerances


class Frame(NamedTuple):
    """Where the motion is, and by how much its neighbourhood has grown.

    Attributes:
        loop: the state of the integration, of one lane.
        grown: Σ ln rᵢᵢ so far, shape (k,): growth along each direction of the frame.
    """

    loop: Loop
    grown: AnyArray

    @property
    def status(self) -> Status:
        """How it is doing."""
        return Status(int(self.loop.status[0]))


class Reached(NamedTuple):
    """What was found at some stops: growth (stops, k), states (stops, n) each, times (stops,)."""

    grown: AnyArray
    q: AnyArray
    qd: AnyArray
    t: AnyArray


def frame_of(
    system: AbstractSystem,
    q: AnyArray,
    qd: AnyArray,
    directions: AnyArray,
    *,
    params: Params,
    t0: Any,
    duration: Any,
    rtol: Any,
) -> tuple[Program, FrameRun, Frame]:
    """A motion about to start with `directions`, shape (k, 2n), for `frame_at` to carry on."""
    how = stabilisation(system, None)
    layout = Layout(system.n, len(directions), work=False)
    program, _ = choose_program(None, system.laws, layout, system.params, how)
    run = FrameRun(
        start=in_force(np.concatenate([q, qd])),
        params=params,
        stabilise=jax.tree.map(in_force, how),
        tolerances=checked_tolerances(t0, duration, rtol, None, None, MAX_STEPS_LIMIT),
    )
    return program, run, _begin(program, run, in_force(directions))


def frame_at(
    program: Program, run: FrameRun, frame: Frame, stops: np.ndarray, most: int
) -> tuple[Frame, Reached]:
    """Carried on to some stops, increasing, at most `STOPS`; and what was met there.

    After `most` steps it comes back before the last of them; so does a motion that fails.
    """
    count = len(stops)
    padded = np.full(STOPS, stops[-1], stops.dtype)
    padded[:count] = stops
    frame, reached, met = _advance(
        program,
        run,
        frame,
        in_force(padded),
        np.asarray(count, np.int32),
        np.asarray(most, np.int32),
    )
    return frame, jax.tree.map(lambda leaf: np.asarray(leaf)[: int(met)], reached)


def _block(program: Program, run: FrameRun) -> Block:
    start = tuple(run.start[i : i + 1] for i in range(2 * program.layout.n))
    varies = jax.tree.map(lambda _: False, run.params)
    parameters = LaneParameters(run.params, varies, run.stabilise)
    return program.block(parameters, run.tolerances.start, start, lanes=1)


@eqx.filter_jit
def _begin(program: Program, run: FrameRun, directions: Any) -> Frame:
    y = tuple(jnp.ravel(jnp.concatenate([run.start, jnp.ravel(directions)]))[:, None])
    loop = _block(program, run).begin(y, jnp.ones(1, bool), run.tolerances)
    loop, _ = _orthonormal(program.layout, loop)
    return Frame(loop, jnp.zeros(program.layout.tangents, run.start.dtype))


@eqx.filter_jit
def _advance(
    program: Program, run: FrameRun, frame: Frame, stops: Any, count: Any, most: Any
) -> tuple[Frame, Reached, Any]:
    block, n = _block(program, run), program.layout.n

    def short_of(stop: Any, frame: Frame, left: Any) -> Any:
        return ((frame.loop.status == Status.OK) & (frame.loop.t < stop))[0] & (left > 0)

    def reach(stop: Any, frame: Frame, left: Any) -> tuple[Frame, Any]:
        def step(carry: tuple[Frame, Any]) -> tuple[Frame, Any]:
            frame, left = carry
            loop, grown = _orthonormal(program.layout, block.step(frame.loop, stop, run.tolerances))
            return Frame(loop, frame.grown + grown), left - 1

        return lax.while_loop(lambda carry: short_of(stop, *carry), step, (frame, left))

    def going(carry: tuple[Frame, Any, Reached, Any]) -> Any:
        frame, left, _, i = carry
        return (i < count) & (left > 0) & (frame.loop.status == Status.OK)[0]

    def one(carry: tuple[Frame, Any, Reached, Any]) -> tuple[Frame, Any, Reached, Any]:
        frame, left, kept, i = carry
        frame, left = reach(stops[i], frame, left)
        q, qd = (jnp.concatenate(part) for part in program.layout.pair(frame.loop.y, 0))
        here = Reached(frame.grown, q, qd, frame.loop.t[0])
        kept = jax.tree.map(lambda room, x: room.at[i].set(x), kept, here)
        return frame, left, kept, i + (here.t >= stops[i])

    rooms = Reached(
        *(jnp.zeros((STOPS, *shape), stops.dtype) for shape in (frame.grown.shape, (n,), (n,), ()))
    )
    start = (frame, most, rooms, jnp.zeros((), count.dtype))
    frame, _, kept, met = lax.while_loop(going, one, start)
    return frame, kept, met


def _orthonormal(layout: Layout, loop: Loop) -> tuple[Loop, Any]:
    """The tangents by Gram and Schmidt, and the logarithms of their lengths, shape (k,).

    D = A Y are the tangents' rates; what makes Q of Y = Q R makes A Q of them.
    """
    own, shape = 2 * layout.n, (layout.tangents, 2 * layout.n)
    ys = jnp.reshape(jnp.concatenate(loop.y[own:]), shape)
    rates = jnp.reshape(jnp.concatenate(loop.rate[own:]), shape)
    lengths = []
    for j in range(layout.tangents):
        length = jnp.sqrt(jnp.sum(ys[j] ** 2))
        row, rate = ys[j] / length, rates[j] / length
        later = np.arange(layout.tangents) > j
        share = jnp.where(later, jnp.sum(ys * row, axis=1), 0.0)[:, None]
        ys = (ys - share * row).at[j].set(row)
        rates = (rates - share * rate).at[j].set(rate)
        lengths.append(length)
    turned = loop._replace(
        y=loop.y[:own] + tuple(ys.ravel()[:, None]),
        rate=loop.rate[:own] + tuple(rates.ravel()[:, None]),
    )
    return turned, jnp.log(jnp.stack(lengths))
