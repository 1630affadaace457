"""A function of one state carried out at many states at once, without compiling anything."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .._typing import AnyArray, Params
from ..scalars import ArrayProgram, NotScalar, Tape, constants, gathered, given, unknowns, write


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
        self._places = unknowns(tape, example)
        known = jax.tree.map(lambda leaf: constants(tape, leaf), params)
        try:
            self._results = write(tape, function, *self._places, known)
        except NotScalar:
            self.compiled = True
            batched = jax.jit(jax.vmap(function, in_axes=(*[0] * len(example), None)))
            self._run = lambda *batch: jax.tree.map(np.asarray, batched(*batch, params))
            return
        self.compiled = False
        leaves = [np.ravel(leaf) for leaf in jax.tree.leaves(self._results)]
        self._program = ArrayProgram(tape, np.concatenate(leaves) if leaves else np.zeros(0, int))
        self._run = self._by_arrays

    def __call__(self, *batch: AnyArray) -> Any:
        """The results with a leading axis; each of the arrays has one too."""
        return self._run(*batch)

    def _by_arrays(self, *batch: AnyArray) -> Any:
        lanes = len(batch[0])
        values = self._program(given(self._places, batch))

        def gather(places: np.ndarray) -> np.ndarray:
            numbers = np.empty(places.size, dtype=object)
            for i, place in enumerate(places.ravel().tolist()):
                numbers[i] = values[place]
            return gathered(numbers.reshape(places.shape), lanes).astype(float)

        return jax.tree.map(gather, self._results)
