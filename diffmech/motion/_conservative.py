"""Whether a force has a potential."""

from collections.abc import Callable
from typing import Any

import jax

from .._checks import as_array
from .._typing import AnyArray, Numbers


def force_curl(force: Callable[[Any], AnyArray], x: Numbers) -> AnyArray:
    """∂F_i/∂x_j − ∂F_j/∂x_i of a force field F(x), shape (n, n).

    Zero everywhere, on a region without holes, exactly if F = −∂V/∂x for some V: the test for a
    conservative force. F and x may be Cartesian or generalised; entries are in the unit of F per
    unit of x.

    Args:
        force: pure JAX function of x, shape (n,), that returns shape (n,).
        x: the point, shape (n,).

    Raises:
        ValueError: F has another number of entries than x.
    """
    slopes = jax.jacfwd(force)(as_array(x))
    if slopes.ndim != 2 or slopes.shape[0] != slopes.shape[1]:
        raise ValueError(
            f"`force` must return as many numbers as `x` has, but ∂F/∂x is {slopes.shape}"
        )
    return slopes - slopes.T
