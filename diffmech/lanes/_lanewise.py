"""Functions of one lane, applied to a whole block of them."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..scalars import Evaluation, Lanes, NotScalar, Tape, unknowns, write


class Bundle(eqx.Module):
    """An array of every lane, kept apart entry by entry: a tuple of arrays of shape (lanes,).

    Stacked into one array, entries would be copied at every step of a loop.
    """

    entries: tuple[Any, ...]
    shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def dtype(self) -> Any:
        """The type of the entries."""
        return jnp.result_type(self.entries[0]) if self.entries else jnp.result_type(float)


def bundled(array: Any) -> Bundle:
    """An array of shape (..., lanes) apart."""
    shape = array.shape[:-1]
    flat = jnp.reshape(array, (int(np.prod(shape)), array.shape[-1]))
    return Bundle(tuple(flat[i] for i in range(flat.shape[0])), shape)


def shared(array: Any) -> Bundle:
    """An array that is the same in all lanes."""
    flat = jnp.ravel(array)
    return Bundle(tuple(flat[i] for i in range(flat.size)), jnp.shape(array))


def stacked(bundle: Bundle, lanes: int) -> Any:
    """The array of shape (..., lanes)."""
    if not bundle.entries:
        return jnp.zeros((*bundle.shape, lanes))
    rows = [jnp.broadcast_to(entry, (lanes,)) for entry in bundle.entries]
    return jnp.reshape(jnp.stack(rows), (*bundle.shape, lanes))


def is_bundle(x: Any) -> bool:
    """For `jax.tree.map(..., is_leaf=is_bundle)`."""
    return isinstance(x, Bundle)


def unshared(function: Callable[..., tuple[Any, ...]], *lanes: Any) -> tuple[Any, ...]:
    """Every result of `function`, operation by operation on lanes, worked out as if it were alone.

    XLA keeps what several results share as arrays of their own, each with a loop over the lanes.
    Results that share nothing it computes side by side in one loop, where LLVM finds what they have
    in common. Barriers keep XLA from seeing it, and are gone before loops are made; each takes what
    the one before gives, since two of the same would be one.
    """
    results = []
    for i in range(len(jax.eval_shape(function, *lanes))):
        results.append(function(*lanes)[i])
        lanes = lax.optimization_barrier(lanes)
    return tuple(results)


def select_unshared(mask: Any, this: Any, other: Any) -> Any:
    """Leaf by leaf `this` where `mask`, of floats, is not zero, else `other`; leaves `unshared`."""
    results, (leaves, structure) = [], jax.tree.flatten(this)
    for a, b in zip(leaves, structure.flatten_up_to(other), strict=True):
        results.append(jnp.where(mask != 0, a, b))
        mask = lax.optimization_barrier(mask)
    return jax.tree.unflatten(structure, results)


def lanewise(
    function: Callable[..., Any], lanes: int, *arguments: Any, by_scalars: bool = True
) -> Any:
    """`function` of every lane: pytrees of bundles in, a pytree of bundles out.

    By scalars where the function has such a form (and that is wanted), else by `vmap`.
    """
    bundles, structure = jax.tree.flatten(arguments, is_leaf=is_bundle)

    def of_leaves(*leaves: Any) -> Any:
        return function(*jax.tree.unflatten(structure, leaves))

    examples = [jax.ShapeDtypeStruct(bundle.shape, bundle.dtype) for bundle in bundles]
    results = jax.eval_shape(of_leaves, *examples)
    shapes, out = jax.tree.flatten(results)
    try:
        entries_of = _by_scalars(of_leaves, bundles) if by_scalars else None
    except NotScalar:
        entries_of = None
    if entries_of is None:
        arrays = [stacked(bundle, lanes) for bundle in bundles]
        mapped = jax.vmap(of_leaves, in_axes=-1, out_axes=-1)(*arrays)
        entries_of = [bundled(array).entries for array in jax.tree.leaves(mapped)]
    finished = [
        Bundle(
            tuple(jnp.broadcast_to(jnp.asarray(x, one.dtype), (lanes,)) for x in entries), one.shape
        )
        for entries, one in zip(entries_of, shapes, strict=True)
    ]
    return jax.tree.unflatten(out, finished)


def _by_scalars(function: Callable[..., Any], bundles: list[Bundle]) -> list[tuple[Any, ...]]:
    tape = Tape()
    inputs = [unknowns(tape, np.zeros(bundle.shape)) for bundle in bundles]
    # One type for each kind of number: constants on a tape have no narrower ones.
    kinds = {"f": float, "i": int, "u": int, "b": bool}
    types = [jnp.result_type(kinds[np.dtype(bundle.dtype).kind]) for bundle in bundles]
    outputs = jax.tree.leaves(write(tape, function, *inputs, dtypes=types))
    given = {
        int(register): jnp.asarray(entry, dtype)
        for registers, bundle, dtype in zip(inputs, bundles, types, strict=True)
        for register, entry in zip(registers.ravel(), bundle.entries, strict=True)
    }
    evaluation = Evaluation(tape, Lanes(), given)
    return [tuple(evaluation.of(array).ravel()) for array in outputs]
