"""An edge to the last digit, and how it moves with every parameter.

An edge is a root x = (value, unknowns of the orbit) of

    G(x, params) = (f(map), what is missing to a closed orbit) = 0

so that dx/dparams = −G_x⁻¹ G_params (the implicit function theorem). One linearisation of G gives
both this and Newton's next step; a general root finder would compile it five times.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._typing import Params
from ._edge_functions import edge_functions
from ._return_maps import Base, Family, passage

_CONVERGED = 1e-11  # of the unknowns: Newton steps below this are rounding
_MAX_STEPS = 8


class Polished(NamedTuple):
    """A root: value and unknowns, the last Newton step, d(value)/d(every parameter)."""

    x: Any
    error: Any
    slopes: Params


@partial(jax.jit, static_argnums=0)
def _linearised(family: Family, x: Any, which: Any, base: Base, params: Params) -> Any:
    """G, G_x and G_params."""

    def missing(x: Any, params: Params) -> Any:
        trial = passage(family, x[0], x[1:], base, params)
        edges = edge_functions(trial.map, trial.unit, family.reciprocal, family.size)
        lacking = jnp.concatenate([(which @ edges)[None], trial.missing])
        return lacking, lacking

    slopes, lacking = jax.jacfwd(missing, argnums=(0, 1), has_aux=True)(x, params)
    return lacking, *slopes


def _newton(
    family: Family, x: np.ndarray, which: Any, base: Base, params: Params
) -> tuple[np.ndarray, Params]:
    """Newton's step at x, and d(value)/d(params) as if x were the root."""
    lacking, by_x, by_params = jax.tree.map(np.asarray, _linearised(family, x, which, base, params))
    # Minimum norm where G_x is singular, which is no edge: the step then shows it.
    inverse = np.linalg.pinv(by_x) if np.all(np.isfinite(by_x)) else np.full_like(by_x, np.nan)
    slopes = jax.tree.map(lambda leaf: -np.tensordot(inverse[0], leaf, 1), by_params)
    return -inverse @ lacking, slopes


def edge_and_slopes(family: Family, x: Any, which: Any, base: Base, params: Params) -> Polished:
    """The root near x by Newton's method, and its derivatives there.

    `which` has a one for the edge function that vanishes, shape (k,).
    """
    x, steps = np.asarray(x), 0
    while True:
        step, slopes = _newton(family, x, which, base, params)
        error, steps = float(np.max(np.abs(step) / (1e-3 + np.abs(x)))), steps + 1
        x = x + step
        if not np.isfinite(error) or error <= _CONVERGED or steps == _MAX_STEPS:
            return Polished(x, error, slopes)
