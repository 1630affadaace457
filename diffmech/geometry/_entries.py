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
    """Whether an entry is known now: a Python number, not an array or a traced value."""
    return isinstance(entry, float | int)


def plus(a: Any, b: Any) -> Any:
    """a + b of two entries; where one is a plain zero, the other itself."""
    if is_number(a) and a == 0:
        return b
    return a if is_number(b) and b == 0 else a + b


def minus(a: Any, b: Any) -> Any:
    """a − b of two entries; where b is a plain zero, a itself."""
    if is_number(b) and b == 0:
        return a
    return -b if is_number(a) and a == 0 else a - b


def times(a: Any, b: Any) -> Any:
    """a b of two entries; a plain 0.0 where one is a plain zero, whatever the other (NaN too).

    A plain one leaves the other as it is.
    """
    for one, other in ((a, b), (b, a)):
        if is_number(one) and one == 0:
            return 0.0
        if is_number(one) and one == 1:
            return other
    return a * b


def dot(a: Triple, b: Triple) -> Any:
    """Σ aᵢ bᵢ of two tuples of entries of the same length, one entry.

    A plain number where all that is left of the products is plain.

    Raises:
        ValueError: the lengths differ.
    """
    total: Any = 0.0
    for left, right in zip(a, b, strict=True):
        total = plus(total, times(left, right))
    return total


def _entry(value: Any) -> Any:
    """A Python number where the value is known without JAX, else the scalar itself."""
    return value if isinstance(value, jax.Array) else float(value)


def split(array: AnyArray) -> tuple[Any, ...]:
    """All entries of an array of shape (k,), as a tuple of k, by one operation.

    Python numbers of a NumPy array, scalars of shape () of a JAX array. The derivative is one
    concatenation; indexing k times would leave a sum of k padded vectors, which takes XLA very long
    to compile.
    """
    if not isinstance(array, jax.Array):
        return tuple(float(entry) for entry in array)
    return tuple(lax.squeeze(part, (0,)) for part in lax.split(array, [1] * array.shape[0]))


def triple(value: Numbers, label: str) -> Triple:
    """Three entries of a list, a tuple or an array of shape (3,), as a tuple.

    What JAX does not hold becomes a Python number, which takes no part in products if it is 0 or 1.

    Args:
        value: the three.
        label: what they are called in the message.

    Raises:
        ValueError: not three real numbers; of an array, also NaN or infinity.
    """
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
    """Entries as one array, in the precision in force: shape (3,) of a triple."""
    return jnp.stack([jnp.asarray(entry, float_dtype()) for entry in triple_])
