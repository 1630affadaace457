"""Arithmetic entry by entry, in which plain zeros and ones take no part.

An entry is a Python number, known while a program is traced, or a JAX scalar. Compilers keep
0 · x and 1 · x of floating-point numbers (x might be NaN); here they vanish before they are
written down.
"""

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._checks import float_dtype
from .._typing import AnyArray, Numbers
from ._typing import matrix3, vector3

Triple: TypeAlias = tuple[Any, ...]


def is_number(entry: Any) -> bool:
    """Whether an entry is known now."""
    return isinstance(entry, float | int)


def plus(a: Any, b: Any) -> Any:
    """a + b."""
    if is_number(a) and a == 0:
        return b
    return a if is_number(b) and b == 0 else a + b


def minus(a: Any, b: Any) -> Any:
    """a − b."""
    if is_number(b) and b == 0:
        return a
    return -b if is_number(a) and a == 0 else a - b


def times(a: Any, b: Any) -> Any:
    """a b."""
    for one, other in ((a, b), (b, a)):
        if is_number(one) and one == 0:
            return 0.0
        if is_number(one) and one == 1:
            return other
    return a * b


def dot(a: Triple, b: Triple) -> Any:
    """Σ aᵢ bᵢ."""
    total: Any = 0.0
    for left, right in zip(a, b, strict=True):
        total = plus(total, times(left, right))
    return total


def _entry(value: Any) -> Any:
    """A Python number where the value is known without JAX, else the scalar itself."""
    return value if isinstance(value, jax.Array) else float(value)


def split(array: AnyArray) -> tuple[Any, ...]:
    """All entries of an array of shape (k,), by one operation.

    Its derivative is one concatenation; indexing k times would leave a sum of k padded vectors,
    which takes XLA very long to compile.
    """
    if not isinstance(array, jax.Array):
        return tuple(float(entry) for entry in array)
    return tuple(lax.squeeze(part, (0,)) for part in lax.split(array, [1] * array.shape[0]))


def triple(value: Numbers, label: str) -> Triple:
    """Three entries of a list, a tuple or an array."""
    if isinstance(value, tuple | list) and len(value) == 3:
        parts = [np.asarray(part) if not isinstance(part, jax.Array) else part for part in value]
        if all(part.shape == () and part.dtype.kind in "fiub" for part in parts):
            return tuple(_entry(part) for part in parts)
    return split(vector3(value, label))


def entries(rotation: Numbers) -> tuple[Triple, Triple, Triple] | None:
    """Nine entries by rows; None for a JAX array, which stays one."""
    if isinstance(rotation, tuple) and all(isinstance(row, tuple) for row in rotation):
        return rotation  # pyright: ignore[reportReturnType]
    matrix = matrix3(rotation, "rotation")
    if isinstance(matrix, jax.Array):
        return None
    nine = split(matrix.reshape(9))
    return nine[:3], nine[3:6], nine[6:]


def stacked(triple_: Triple) -> AnyArray:
    """Three entries as an array."""
    return jnp.stack([jnp.asarray(entry, float_dtype()) for entry in triple_])
