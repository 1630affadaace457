"""A function of one instant along many of them: compiled for one number of rows, run for any."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ._checks import is_traced, numbers_stay_numbers

# Rows a compiled call takes. Fewer are filled up, which costs less than a millisecond for most
# machines; more are cut, and a call then costs little beside its rows.
ROWS = 512


def in_batches(
    program: Callable[..., Any], what: Any, columns: Sequence[Any], params: Any = None
) -> Any:
    """`program(what, *columns, params)` in batches of `ROWS` rows, put together.

    Args:
        program: compiled; each row of its results depends on the same row of the columns alone.
        what: what it is specialised to.
        columns: arrays with the same number of rows, k.
        params: handed on as they are.

    Returns:
        A pytree like the program's result, of NumPy arrays with k rows; under a transformation
        of JAX's, its result for all rows at once.
    """
    if is_traced(columns, params):
        return program(what, *columns, params)
    arrays = [np.asarray(column) for column in columns]
    count = len(arrays[0])
    results = []
    with numbers_stay_numbers():
        for start in range(0, max(count, 1), ROWS):
            batch = [_filled_up(array[start : start + ROWS]) for array in arrays]
            results.append(jax.tree.map(np.asarray, program(what, *batch, params)))
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *results)


def _filled_up(rows: np.ndarray) -> np.ndarray:
    """Rows repeated at the end, so that there are `ROWS` of them; zeros if there are none."""
    if not len(rows):
        return np.zeros((ROWS, *rows.shape[1:]), rows.dtype)
    return np.concatenate([rows, np.repeat(rows[-1:], ROWS - len(rows), axis=0)])


def padded_times(ts: np.ndarray) -> np.ndarray:
    """Sample times filled up with infinity to a power of two, at least 1024.

    So that one program serves runs of any number of samples, but for long ones.
    """
    return np.concatenate([ts, np.full(padded_size(len(ts)) - len(ts), np.inf, ts.dtype)])


def padded_size(count: int) -> int:
    """How many times those are."""
    return max(1024, 1 << (count - 1).bit_length())
