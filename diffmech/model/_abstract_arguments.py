"""What a user's functions are tried on when they are declared."""

from typing import Any

import jax

from .._checks import float_dtype
from .._typing import Params


def depends(function: Any, *arguments: Any) -> bool:
    """Whether what a function returns depends on its first two arguments; nothing is computed."""
    closed = jax.make_jaxpr(function)(*arguments)
    count = len(jax.tree.leaves(arguments[:2]))
    reached = {id(var) for var in closed.jaxpr.invars[:count]}
    for equation in closed.jaxpr.eqns:
        if any(id(var) in reached for var in equation.invars):
            reached |= {id(var) for var in equation.outvars}
    return any(id(var) in reached for var in closed.jaxpr.outvars)


def trial_arguments(n: int, params: Params) -> tuple[Any, Any, Any, Params]:
    """Abstract (q, qd, t, params) for a trial trace."""
    vector = jax.ShapeDtypeStruct((n,), float_dtype())
    time = jax.ShapeDtypeStruct((), float_dtype())
    abstract = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, float_dtype()), params)
    return vector, vector, time, abstract
