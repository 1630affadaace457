"""What a user passes, turned into what the equations take."""

from typing import Any

import jax
import numpy as np

from .._checks import as_scalar, as_vector, float_dtype, in_force
from .._memory import require_memory
from .._typing import Params
from ..model import AbstractSystem, System, match_params, require_finite_params, require_system

_AT_REST = ("qd", "qd0")
_MATRICES = 3  # of n x n numbers, alive at once: M, what it is made from, and its factors


def prepare(system: AbstractSystem, t: Any, params: Params, **vectors: Any) -> tuple[Any, ...]:
    """(*vectors, t, params) as strongly typed arrays of the precision in force.

    They rest as NumPy arrays unless traced. Strong types keep one compiled program for 9, 9.81
    and np.float64(9.81). Rates that are None mean at rest.

    Raises:
        ValueError: wrong shape, NaN or infinity, another parameter structure, more coordinates
            than memory has room for their mass matrix.
    """
    require_system(system)
    names = tuple(system.coordinates)
    if isinstance(system, System):
        require_memory(
            _MATRICES * float_dtype().itemsize * len(names) ** 2,
            f"the mass matrix of {len(names)} coordinates and its factors",
            "take a smaller machine",
        )
    params = match_params(params, system.params)
    require_finite_params(params)
    cast = [
        in_force(
            np.zeros(len(names))
            if value is None and label in _AT_REST
            else as_vector(value, names, label)
        )
        for label, value in vectors.items()
    ]
    return *cast, in_force(as_scalar(t, "t")), jax.tree.map(in_force, params)
