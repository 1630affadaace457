"""A function of one state carried out at many states at once, without compiling anything."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .._typing import AnyArray, Params
from ..scalars import ArrayProgram, NotScalar, Tape, constants, gathered, given, unknowns, write

_ROOM = 2**28  # bytes that the values on the way may take at once


class OverStates:
    """A pure JAX function `(*numbers, params) -> arrays`, of batches of those numbers.

    It is written down once as a list of scalar operations, the parameters among its constants, and
    NumPy carries it out. What has no such form is compiled, and `compiled` says so.

    Args:
        function: of arrays and the parameters; returns a pytree of arrays.
        example: one of each of the arrays.
    """

    compiled: bool

    def __init__(self, function: Callable[..., Any], params: Params, *example: Any):
        tape = Tape()
        self._registers = unknowns(tape, example)
        known = jax.tree.map(lambda leaf: constants(tape, leaf), params)
        try:
            self._results = write(tape, function, *self._registers, known)
        except NotScalar:
            self.compiled = True
            batched = jax.jit(jax.vmap(function, in_axes=(*[0] * len(example), None)))
            self._run = lambda *batch: jax.tree.map(np.asarray, batched(*batch, params))
            return
        self.compiled = False
        leaves = [np.ravel(leaf) for leaf in jax.tree.leaves(self._results)]
        self._outputs = np.concatenate([*leaves, np.zeros(0, int)])
        self._program = ArrayProgram(tape, self._outputs)
        self._lanes = max(1, _ROOM // (8 * (1 + len(tape.needed_for(self._outputs)))))
        self._run = self._by_arrays

    def __call__(self, *batch: AnyArray) -> Any:
        """The results with a leading axis; each of the arrays has one too."""
        return self._run(*batch)

    def _by_arrays(self, *batch: AnyArray) -> Any:
        blocks = []
        for first in range(0, len(batch[0]), self._lanes):
            block = [array[first : first + self._lanes] for array in batch]
            values = self._program(given(self._registers, block))
            numbers = np.empty(len(self._outputs), dtype=object)
            for i, register in enumerate(self._outputs.tolist()):
                numbers[i] = values[register]
            blocks.append(gathered(numbers, len(block[0])).astype(float))
        whole = np.concatenate(blocks)
        leaves, structure = jax.tree.flatten(self._results)
        ends = np.cumsum([leaf.size for leaf in leaves])[:-1]
        pieces = zip(np.split(whole, ends, axis=1), leaves, strict=True)
        return jax.tree.unflatten(
            structure, [piece.reshape(len(whole), *leaf.shape) for piece, leaf in pieces]
        )
