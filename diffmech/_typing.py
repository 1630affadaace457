"""Shape aliases. `n` is the number of coordinates, `k` of samples in time.

Systems hold their numbers as NumPy arrays until something is computed, so that describing a
machine never starts JAX's backend; inside a computation they are JAX arrays. Hence the unions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np
from jaxtyping import Bool, Float

if TYPE_CHECKING:
    # To a static checker the union offers only what both have; in fact each function below the
    # doors sees JAX arrays, and the doors take both.
    AnyArray: TypeAlias = Any
else:
    AnyArray: TypeAlias = jax.Array | np.ndarray
Scalar: TypeAlias = Float[AnyArray, ""]
Vector: TypeAlias = Float[AnyArray, " n"]
Matrix: TypeAlias = Float[AnyArray, "n n"]
Times: TypeAlias = Float[AnyArray, " k"]
Samples: TypeAlias = Float[AnyArray, "k n"]
Truth: TypeAlias = Bool[AnyArray, ""]

Number: TypeAlias = float | int | AnyArray | np.generic
Coordinates: TypeAlias = AnyArray | Sequence[Any] | Mapping[str, Any] | Number
Params: TypeAlias = Any
ScalarFunction: TypeAlias = Callable[..., Any]
