"""Shapes of this room, and what a user passes turned into them."""

from typing import Any, TypeAlias

import jax
import numpy as np
from jaxtyping import Float

from .._checks import as_array, require_finite

_Shaped: TypeAlias = jax.Array | np.ndarray
Vector3: TypeAlias = Float[_Shaped, " 3"]
Quaternion: TypeAlias = Float[_Shaped, " 4"]
Rotation: TypeAlias = Float[_Shaped, "3 3"]
Tensor: TypeAlias = Float[_Shaped, "3 3"]


def shaped(value: Any, shape: tuple[int, ...], label: str) -> Any:
    """Numbers, lists and arrays as a finite float array of the given shape.

    Raises:
        ValueError: not numbers, another shape, NaN or infinity (traced values are let through).
    """
    try:
        array = as_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{label}` must have shape {shape}, but {error}") from error
    if array.shape != shape:
        raise ValueError(f"`{label}` must have shape {shape}, but has shape {array.shape}")
    require_finite(array, label)
    return array


def vector3(value: Any, label: str) -> Any:
    """Three numbers."""
    return shaped(value, (3,), label)


def matrix3(value: Any, label: str) -> Any:
    """Three rows of three numbers."""
    return shaped(value, (3, 3), label)
