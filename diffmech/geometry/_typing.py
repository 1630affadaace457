"""Shapes of this room, and what a user passes turned into them."""

from typing import Any, TypeAlias

import jax
import numpy as np
from jaxtyping import Float

from .._checks import as_array, is_traced, require_finite

_Shaped: TypeAlias = jax.Array | np.ndarray
Vector3: TypeAlias = Float[_Shaped, " 3"]
Quaternion: TypeAlias = Float[_Shaped, " 4"]
Rotation: TypeAlias = Float[_Shaped, "3 3"]
Tensor: TypeAlias = Float[_Shaped, "3 3"]

_STRETCHED = 1e-5  # of lengths: matrices are often written with few digits


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


def rotation3(value: Any, label: str) -> Any:
    """A rotation matrix."""
    matrix = matrix3(value, label)
    require_rotation(matrix, label)
    return matrix


def require_rotation(given: Any, label: str = "rotation") -> None:
    """Refuse a matrix that stretches or mirrors; what is being traced cannot be looked at.

    Raises:
        ValueError: R Rᵀ is not the identity, or det R is not 1.
    """
    if is_traced(given):
        return
    try:
        turn = np.asarray(given, float)
    except (TypeError, ValueError):
        return  # said elsewhere
    if turn.shape != (3, 3):
        return
    stretched = float(np.max(np.abs(turn @ turn.T - np.eye(3))))
    volume = float(np.cross(turn[0], turn[1]) @ turn[2])
    if not stretched < _STRETCHED or volume < 0:
        raise ValueError(
            f"`{label}` must be a rotation matrix, R Rᵀ = 1 and det R = 1, but R Rᵀ is off by "
            f"{stretched:.3g} and det R = {volume:.3g}"
        )
