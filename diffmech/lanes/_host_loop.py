"""The host's loop over tiles: progress, interruption, and the results put together."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import is_traced
from .._memory import require_memory
from .._progress import Progress
from .._results import Status
from .._typing import AnyArray
from ._block import Outcome
from ._packing import Packed, pack, unpack
from ._tiles import Plan, Run, Tile, run_tile, tiles, uncut


def run_tiles(
    plan: Plan,
    run: Run,
    states: AnyArray,
    varying: list[AnyArray],
    label: str,
    progress: bool | None,
) -> Outcome:
    """All tiles one after another; under a user's trace without looking at the results."""
    packed = pack(run)
    if is_traced(run, states, varying):
        parts = [_computed(plan, packed, tile) for tile in tiles(plan, states, varying)]
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
    count = states.shape[0]
    done, whole = 0, None
    duration = float(
        run.tolerances.end - run.tolerances.start
    )  # the longest, if lanes have their own
    try:
        with Progress(count * duration, progress, label) as bar:
            for tile in tiles(plan, states, varying):
                part = _computed(plan, packed, tile)
                if whole is None:
                    _require_memory(part, count)
                    whole = jax.tree.map(lambda leaf: _room(leaf, count), part)
                jax.tree.map(lambda room, leaf, at=tile: _fill(room, leaf, at), whole, part)
                done = tile.stop
                bar.update(done * duration)
    except KeyboardInterrupt:
        if whole is None:
            raise
        whole.status[done:] = Status.INTERRUPTED
        warnings.warn(
            f"{label}: interrupted after {done} of {count} motions; these are kept, the others are "
            "INTERRUPTED",
            stacklevel=3,
        )
    if whole is None:  # no lanes at all: the shapes come from an empty tile
        tile = Tile(0, 0, *_empty(plan, states, varying))
        whole = _computed(plan, packed, tile)
    return whole


def _computed(plan: Plan, run: Packed, tile: Tile) -> Outcome:
    outcome = run_tile(plan, run, tile.starts, tile.varying, tile.filled)
    if not is_traced(outcome):
        outcome = jax.tree.map(np.asarray, outcome)
    return unpack(jax.tree.map(lambda leaf: uncut(plan, tile, leaf), outcome), axis=1)


def _empty(
    plan: Plan, states: AnyArray, varying: list[AnyArray]
) -> tuple[Any, list[Any], np.ndarray]:
    def nothing(array: AnyArray) -> np.ndarray:
        return np.full((plan.blocks * plan.devices, *array.shape[1:], plan.lanes), np.nan)

    return (
        nothing(states),
        [nothing(leaf) for leaf in varying],
        np.zeros(plan.devices, int),
    )


def _room(leaf: np.ndarray, count: int) -> np.ndarray:
    """Space for all lanes, empty values as NaN."""
    filler = np.nan if leaf.dtype.kind == "f" else 0
    return np.full((count, *leaf.shape[1:]), filler, leaf.dtype)


def _fill(room: np.ndarray, leaf: np.ndarray, tile: Tile) -> None:
    room[tile.start : tile.stop] = leaf


def _require_memory(part: Outcome, count: int) -> None:
    """Refuse what does not fit, with the numbers."""
    leaves = jax.tree.leaves(part)
    each = sum(leaf.nbytes / max(leaf.shape[0], 1) for leaf in leaves)
    require_memory(
        each * count,
        f"the results of {count} motions",
        "keep less of each motion (fewer samples), or run them in parts",
    )
