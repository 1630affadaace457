"""What is kept of motions that failed: nothing that looks like a result."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._results import Status
from .._typing import AnyArray
from .._void import void
from ._block import Outcome

NO_COUNT = -1  # of a failed motion, where numbers are integers


def without_failed(whole: Outcome, times: list[AnyArray | None]) -> tuple[Any, ...]:
    """The reducers' values, with NaN for motions that failed.

    `times` are those of samples, shape (k,), or (lanes, k) where lanes have their own.

    Samples are NaN from the failure on, and after an event that ended the motion. Signed integers
    become `NO_COUNT`; what else there is stays.
    """
    status, ends = whole.status, whole.end
    failed = (status != Status.OK) & (status != Status.EVENT)
    never = (status == Status.BAD_INPUT) | (status == Status.INTERRUPTED)
    kept = []
    for value, own in zip(whole.values, times, strict=True):
        gone = failed
        if own is not None:
            rows = own if np.ndim(own) == 2 else np.ravel(own)[None, :]
            late = (status != Status.OK)[:, None] & (rows > ends[:, None])
            gone = late | never[:, None]
        kept.append(jax.tree.map(lambda leaf, gone=gone: _without(leaf, gone, failed), value))
    return tuple(kept)


def _without(leaf: AnyArray, gone: AnyArray, failed: AnyArray) -> AnyArray:
    if isinstance(leaf, np.ndarray):
        if leaf.dtype.kind == "f":
            leaf[gone] = np.nan
        elif leaf.dtype.kind == "i":
            leaf[failed] = NO_COUNT
        return leaf
    if leaf.dtype.kind == "f":
        return void(leaf, gone)
    if leaf.dtype.kind == "i":
        failed = failed.reshape(-1, *(1,) * (leaf.ndim - 1))
        return jnp.where(failed, NO_COUNT, leaf)
    return leaf
