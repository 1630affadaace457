"""Tiles of lanes: fixed in size, so that the number of motions never compiles anything anew.

A tile is a number of blocks on every device; blocks run one after another on a device, and devices
beside each other without talking. The last tile is filled up with lanes that end at once.
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from .._typing import AnyArray, Params
from ..motion import AbstractStabilisation
from ._block import Outcome, Role
from ._control import Tolerances
from ._field import LaneParameters
from ._lanewise import bundled, shared
from ._packing import Packed, pack, unpack
from ._program import Program
from ._reducer_protocol import AbstractReducer

_AXIS = "devices"


class Plan(NamedTuple):
    """Everything a tile is compiled for; hashable."""

    program: Program
    roles: tuple[Role, ...]  # of the reducers
    lanes: int  # in a block
    blocks: int  # in a tile, on one device
    devices: int
    clocks: int = 0  # arrays of each lane's own times: none, (start, end) or (start, end, stops)

    @property
    def tile(self) -> int:
        """Lanes in a tile."""
        return self.lanes * self.blocks * self.devices


class Run(NamedTuple):
    """The numbers of a run that all lanes share, and which parameters they do not."""

    params: Params
    varies: Any  # a tree of truth values like params
    stabilise: AbstractStabilisation | None
    reducers: tuple[AbstractReducer, ...]
    tangents: AnyArray  # (k, 2n)
    tolerances: Tolerances
    stops: AnyArray | None


def _run_block(plan: Plan, run: Run, start: AnyArray, varying: list[AnyArray]) -> Outcome:
    """One block: `start` of shape (2n, lanes); `varying` parameters, then clocks, lanes last."""
    program, tolerances, stops = plan.program, run.tolerances, run.stops
    runs = None
    if plan.clocks:
        varying, (first, last, *own) = varying[: -plan.clocks], varying[-plan.clocks :]
        runs = jnp.isfinite(first) & jnp.isfinite(last) & (first < last)
        tolerances, stops = tolerances._replace(start=first, end=last), own[0] if own else None
    params = with_varying(run.params, run.varies, varying)
    sound = program.sound_starts(start, tolerances.start, params, run.varies)
    sound = sound if runs is None else sound & runs
    bundles = jax.tree.map(
        lambda leaf, mark: bundled(leaf) if mark else shared(leaf), params, run.varies
    )
    reducers = []
    for reducer in run.reducers:
        arrays, rest = eqx.partition(reducer, eqx.is_array)
        reducers.append((jax.tree.map(shared, arrays), rest))
    layout = program.layout
    y = tuple(start[i] for i in range(2 * layout.n))
    y += tuple(jnp.broadcast_to(entry, y[0].shape) for row in run.tangents for entry in row)
    y += (jnp.zeros_like(y[0]),) * layout.work
    block = program.block(
        LaneParameters(params, run.varies, run.stabilise),
        tolerances.start,
        y,
        plan.lanes,
        reducers=tuple(reducers),
        roles=plan.roles,
        params=bundles,
    )
    return block.run(y, sound, tolerances, stops)


def with_varying(params: Params, varies: Any, varying: Iterable[AnyArray]) -> Params:
    """Parameters with lanes' own in place of those that vary, in their order."""
    leaves, structure = jax.tree.flatten(params)
    own = iter(varying)
    marked = zip(leaves, jax.tree.leaves(varies), strict=True)
    return jax.tree.unflatten(structure, [next(own) if mark else leaf for leaf, mark in marked])


@partial(jax.jit, static_argnums=0)
def run_tile(
    plan: Plan, run: Packed, starts: AnyArray, varying: list[AnyArray], filled: AnyArray
) -> Packed:
    """All blocks of a tile: `starts` of shape (blocks, 2n, lanes); an `Outcome`, lanes last.

    Of every device's blocks the first `filled`, shape (devices,), hold motions; the others are
    passed over.
    """

    def blocks(run: Packed, starts: AnyArray, varying: list[AnyArray], filled: AnyArray) -> Packed:
        shared_run = unpack(run)

        def block(i: Any) -> Packed:
            part = jax.tree.map(lambda leaf: leaf[i], (starts, varying))
            ended = jax.tree.map(lambda leaf: leaf[None], _run_block(plan, shared_run, *part))
            return pack(ended, around=1)

        def fill(i: Any, room: Packed) -> Packed:
            return jax.tree.map(lambda all_, one: all_.at[i].set(one[0]), room, block(i))

        room = jax.tree.map(
            lambda leaf: jnp.zeros((plan.blocks, *leaf.shape[1:]), leaf.dtype),
            jax.eval_shape(block, 0),
        )
        return lax.fori_loop(0, filled[0], fill, room)

    if plan.devices > 1:
        one, split = PartitionSpec(), PartitionSpec(_AXIS)
        blocks = jax.shard_map(
            blocks,
            mesh=_mesh(plan.devices),
            in_specs=(one, split, split, split),
            out_specs=split,
            check_vma=False,
        )
    return blocks(run, starts, varying, filled)


@cache
def _mesh(devices: int) -> Mesh:
    return Mesh(np.array(jax.local_devices()[:devices]), (_AXIS,))


class Tile(NamedTuple):
    """A stretch of the lanes, cut into blocks."""

    start: int
    stop: int
    starts: AnyArray  # (blocks, 2n, lanes)
    varying: list[AnyArray]
    filled: np.ndarray  # (devices,) how many blocks of each hold motions


def tiles(plan: Plan, states: AnyArray, varying: list[AnyArray]) -> Iterator[Tile]:
    """Cut states, shape (count, 2n), and varying parameters, (count, ...), into tiles."""
    count = states.shape[0]
    for start in range(0, count, plan.tile):
        stop = min(start + plan.tile, count)
        cut = partial(_cut, plan, start, stop)
        device = _slots(plan, stop - start) // plan.blocks
        yield Tile(
            start,
            stop,
            cut(states),
            [cut(leaf) for leaf in varying],
            np.bincount(device, minlength=plan.devices),
        )


@cache
def _order(blocks: int, devices: int) -> np.ndarray:
    """Blocks dealt out to the devices to and fro, so that all have as much to do.

    Along a grid of starts the motions often get longer and longer.
    """
    rows = np.arange(blocks * devices).reshape(blocks, devices)
    rows[1::2] = rows[1::2, ::-1]
    return rows.T.ravel()


def _slots(plan: Plan, lanes: int) -> np.ndarray:
    """The indices in a tile of the blocks of so many lanes, in the order of the lanes."""
    used = -(-lanes // plan.lanes)
    return np.argsort(_order(plan.blocks, plan.devices))[:used]


def _cut(plan: Plan, start: int, stop: int, array: AnyArray) -> AnyArray:
    """Lanes as blocks, shape (blocks, ..., lanes); what is not filled is NaN, or never run."""
    kit: Any = np if isinstance(array, np.ndarray) else jnp
    part, slots = array[start:stop], _slots(plan, stop - start)
    missing = len(slots) * plan.lanes - (stop - start)
    if missing:
        part = kit.concatenate([part, kit.full((missing, *part.shape[1:]), np.nan, part.dtype)])
    part = kit.moveaxis(part.reshape(-1, plan.lanes, *part.shape[1:]), 1, -1)
    shape = (plan.blocks * plan.devices, *part.shape[1:])
    if kit is jnp:
        return jnp.zeros(shape, part.dtype).at[slots].set(part)
    whole = np.empty(shape, part.dtype)
    whole[slots] = part
    return whole


def uncut(plan: Plan, tile: Tile, array: AnyArray) -> AnyArray:
    """A result of shape (blocks, ..., lanes) as (lanes of the tile, ...)."""
    kit: Any = np if isinstance(array, np.ndarray) else jnp
    count = tile.stop - tile.start
    rows = kit.moveaxis(array[_slots(plan, count)], -1, 1)
    return rows.reshape(-1, *rows.shape[2:])[:count]
