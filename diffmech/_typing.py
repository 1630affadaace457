"""Shape aliases. `n` is the number of coordinates, `m` of constraint rows, `k` of samples in time.

Systems hold their numbers as NumPy arrays until something is computed, so that describing a
machine never starts JAX's backend; inside a computation they are JAX arrays. Hence the unions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np
from jaxtyping import Bool, Float

_Shaped: TypeAlias = jax.Array | np.ndarray
if TYPE_CHECKING:
    # To a static checker a union offers only what all its members have; in fact each function
    # below the doors sees JAX arrays, and the doors take all of these.
    AnyArray: TypeAlias = Any
    Scalar: TypeAlias = Any
    Number: TypeAlias = Any
    Numbers: TypeAlias = Any
else:
    AnyArray: TypeAlias = jax.Array | np.ndarray | np.generic
    Scalar: TypeAlias = Float[_Shaped, ""] | np.floating | float
    Number: TypeAlias = float | int | AnyArray
    Numbers: TypeAlias = float | int | AnyArray | Sequence[Any]
Vector: TypeAlias = Float[_Shaped, " n"]
Matrix: TypeAlias = Float[_Shaped, "n n"]
Columns: TypeAlias = Float[_Shaped, "n m"]
# Of constraints, of which there are m rows.
RowMatrix: TypeAlias = Float[_Shaped, "m n"]
RowVector: TypeAlias = Float[_Shaped, " m"]
RowSquare: TypeAlias = Float[_Shaped, "m m"]
Times: TypeAlias = Float[_Shaped, " k"]
Samples: TypeAlias = Float[_Shaped, "k n"]
Truth: TypeAlias = Bool[_Shaped, ""]

Coordinates: TypeAlias = AnyArray | Sequence[Any] | Mapping[str, Any] | Number
Params: TypeAlias = Any
ScalarFunction: TypeAlias = Callable[..., Any]
