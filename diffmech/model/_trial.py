"""What a user's functions are tried on when they are declared."""

from typing import Any

import jax

from .._checks import float_dtype
from .._typing import Params


def trial_arguments(n: int, params: Params) -> tuple[Any, Any, Any, Params]:
    """Abstract (q, qd, t, params) for a trial trace."""
    vector = jax.ShapeDtypeStruct((n,), float_dtype())
    time = jax.ShapeDtypeStruct((), float_dtype())
    abstract = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, float_dtype()), params)
    return vector, vector, time, abstract
