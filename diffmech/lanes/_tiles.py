"""Tiles of lanes: fixed in size, so that the number of motions never compiles anything anew.

A tile is a number of blocks on every device; blocks run one after another on a device, and devices
beside each other without talking. The last tile is filled up with lanes that end at once.
"""

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from .._typing import AnyArray, Params
from ..model import ExplicitLaws, Laws
from ..motion import AbstractStabilisation, Projection, kept_of
from ._block import Block, Outcome
from ._control import Tolerances
from ._field import AbstractField, ArrayField, Numbers, ScalarField
from ._lane_equations import Equations, Fixed, Layout
from ._lanewise import bundled, shared
from ._packing import Packed, pack, unpack
from ._step import rolled_step, unrolled_step
from ._tableau import Tableau

_AXIS = "devices"


class Plan(NamedTuple):
    """Everything a program is compiled for; hashable."""

    laws: Laws | ExplicitLaws
    layout: Layout
    tableau: Tableau
    form: str  # "lanes, unrolled", "lanes, rolled" or "arrays"
    shares: tuple[tuple[int, int], ...]
    lanes: int  # in a block
    blocks: int  # in a tile, on one device
    devices: int
    fixed: Fixed = ()
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
    reducers: tuple[Any, ...]
    tangents: AnyArray  # (k, 2n)
    numbers: Tolerances
    stops: AnyArray | None


def equations_of(
    laws: Laws | ExplicitLaws,
    layout: Layout,
    params: Params,
    stabilise: AbstractStabilisation | None,
    fixed: Fixed = (),
) -> Equations:
    """The equations on a tape; the last ones are kept."""
    leaves, structure = jax.tree.flatten((params, stabilise))
    return _equations(laws, layout, tuple(np.shape(leaf) for leaf in leaves), structure, fixed)


@lru_cache(maxsize=128)  # numbers written in make new ones
def _equations(
    laws: Any, layout: Layout, shapes: tuple[Any, ...], structure: Any, fixed: Fixed
) -> Equations:
    params, stabilise = jax.tree.unflatten(structure, [np.zeros(shape) for shape in shapes])
    return Equations(laws, layout, params, stabilise, fixed)


def field_of(
    plan: Any, numbers: Numbers, t: Any, start: tuple[Any, ...], fixed: Fixed = ()
) -> AbstractField:
    """The rates of a block's lanes, which start at `t`; `plan` has laws, layout and form."""
    if plan.form == "arrays":
        return ArrayField(plan.laws, plan.layout, numbers)
    like = jax.tree.map(
        lambda leaf, varies: leaf[..., 0] if varies else leaf, numbers.params, numbers.varies
    )
    equations = equations_of(plan.laws, plan.layout, like, numbers.gains, fixed)
    return ScalarField(equations, plan.layout, numbers, t, start)


def _run_block(plan: Plan, run: Run, start: Any, varying: list[Any]) -> Outcome:
    """One block: `start` of shape (2n, lanes); `varying` parameters, then clocks, lanes last."""
    sound = jnp.all(jnp.isfinite(start), axis=0)
    numbers, stops = run.numbers, run.stops
    if plan.clocks:
        varying, (first, last, *own) = varying[: -plan.clocks], varying[-plan.clocks :]
        sound = sound & jnp.isfinite(first) & jnp.isfinite(last) & (first < last)
        numbers, stops = numbers._replace(start=first, end=last), own[0] if own else None
    leaves, structure = jax.tree.flatten(run.params)
    marks = jax.tree.leaves(run.varies)
    given = iter(varying)
    leaves = [next(given) if mark else leaf for leaf, mark in zip(leaves, marks, strict=True)]
    params = jax.tree.unflatten(structure, leaves)
    for leaf in varying:
        sound = sound & jnp.all(jnp.isfinite(leaf), axis=tuple(range(leaf.ndim - 1)))
    sound = sound & keeps_constraints(plan.laws, start, numbers.start, params, run.varies)
    bundles = jax.tree.map(
        lambda leaf, mark: bundled(leaf) if mark else shared(leaf), params, run.varies
    )
    reducers = []
    for reducer in run.reducers:
        arrays, rest = eqx.partition(reducer, eqx.is_array)
        reducers.append((jax.tree.map(shared, arrays), rest))
    y = tuple(start[i] for i in range(2 * plan.layout.n))
    y += tuple(jnp.broadcast_to(entry, y[0].shape) for row in run.tangents for entry in row)
    y += (jnp.zeros_like(y[0]),) * plan.layout.work
    told = Numbers(params, run.varies, run.stabilise)
    block = Block(
        field=field_of(plan, told, numbers.start, y, plan.fixed),
        advance=unrolled_step if plan.form == "lanes, unrolled" else rolled_step,
        tableau=plan.tableau,
        reducers=tuple(reducers),
        shares=plan.shares,
        params=bundles,
        projecting=isinstance(run.stabilise, Projection),
        lanes=plan.lanes,
    )
    return block.run(y, sound, numbers, stops)


def keeps_constraints(
    laws: Laws | ExplicitLaws, start: Any, t: Any, params: Params, varies: Any
) -> Any:
    """Which lanes start on their constraints, up to printed digits; `start` is (2n, lanes)."""
    n = start.shape[0] // 2
    if not isinstance(laws, Laws) or not laws.constraints:
        return True

    def kept(state: Any, t: Any, params: Params) -> Any:
        found = kept_of(laws, state[:n], state[n:], t, params)
        return jnp.all(found.place) & jnp.all(found.rate)

    axes = jax.tree.map(lambda varies: -1 if varies else None, varies)
    own = None if jnp.ndim(t) == 0 else -1
    return jax.vmap(kept, in_axes=(-1, own, axes))(start, t, params)


@partial(jax.jit, static_argnums=0)
def run_tile(plan: Plan, run: Packed, starts: Any, varying: list[Any], filled: Any) -> Packed:
    """All blocks of a tile: `starts` of shape (blocks, 2n, lanes); an `Outcome`, lanes last.

    Of every device's blocks the first `filled`, shape (devices,), hold motions; the others are
    passed over.
    """

    def blocks(run: Packed, starts: Any, varying: list[Any], filled: Any) -> Packed:
        numbers = unpack(run)

        def block(i: Any) -> Packed:
            part = jax.tree.map(lambda leaf: leaf[i], (starts, varying))
            ended = jax.tree.map(lambda leaf: leaf[None], _run_block(plan, numbers, *part))
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
    starts: Any  # (blocks, 2n, lanes)
    varying: list[Any]
    filled: np.ndarray  # (devices,) how many blocks of each hold motions


def tiles(plan: Plan, states: Any, varying: list[Any]) -> Iterator[Tile]:
    """Cut states, shape (count, 2n), and varying parameters, (count, ...), into tiles."""
    count = states.shape[0]
    for start in range(0, count, plan.tile):
        stop = min(start + plan.tile, count)
        cut = partial(_cut, plan, start, stop)
        device = _places(plan, stop - start) // plan.blocks
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


def _places(plan: Plan, lanes: int) -> np.ndarray:
    """Where in a tile the blocks of so many lanes lie, one after the other."""
    used = -(-lanes // plan.lanes)
    return np.argsort(_order(plan.blocks, plan.devices))[:used]


def _cut(plan: Plan, start: int, stop: int, array: Any) -> Any:
    """Lanes as blocks, shape (blocks, ..., lanes); what is not filled is NaN, or never run."""
    kit: Any = np if isinstance(array, np.ndarray) else jnp
    part, places = array[start:stop], _places(plan, stop - start)
    missing = len(places) * plan.lanes - (stop - start)
    if missing:
        part = kit.concatenate([part, kit.full((missing, *part.shape[1:]), np.nan, part.dtype)])
    part = kit.moveaxis(part.reshape(-1, plan.lanes, *part.shape[1:]), 1, -1)
    shape = (plan.blocks * plan.devices, *part.shape[1:])
    if kit is jnp:
        return jnp.zeros(shape, part.dtype).at[places].set(part)
    whole = np.empty(shape, part.dtype)
    whole[places] = part
    return whole


def uncut(plan: Plan, tile: Tile, array: Any) -> Any:
    """A result of shape (blocks, ..., lanes) as (lanes of the tile, ...)."""
    kit: Any = np if isinstance(array, np.ndarray) else jnp
    count = tile.stop - tile.start
    rows = kit.moveaxis(array[_places(plan, count)], -1, 1)
    return rows.reshape(-1, *rows.shape[2:])[:count]
