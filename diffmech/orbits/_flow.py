"""Where a state is after a time, and where its neighbours are: the flow and its tangents.

States are y = (q, q̇) in one vector, shape (2n,).
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .._typing import AnyArray, Number, Params
from ..model import AbstractSystem, ExplicitLaws, Laws
from ..motion import acceleration_of
from ._state_at import flow


def require_unconstrained(system: AbstractSystem, what: str) -> None:
    """Refuse machines whose states fill only a surface of the space of (q, q̇)."""
    if getattr(system, "constraints", ()):
        raise ValueError(
            f"{what} needs coordinates that are independent, but {system.name!r} has constraints: "
            "describe the machine in minimal coordinates"
        )


def rate_of(laws: Laws | ExplicitLaws) -> Callable[[Any, Any, Any], Any]:
    """dy/dt = (q̇, q̈) as a function (t, y, params)."""

    def rate(t: Any, y: Any, params: Params) -> Any:
        n = y.shape[0] // 2
        return jnp.concatenate([y[n:], acceleration_of(laws, y[:n], y[n:], t, params)])

    return rate


def end_state_and_tangents(
    laws: Laws | ExplicitLaws,
    y: AnyArray,
    duration: Number,
    t0: Number,
    params: Params,
    rtol: Number,
) -> tuple[AnyArray, AnyArray]:
    """The state after a time, shape (2n,), and Φ = ∂y(t0 + duration)/∂y, shape (2n, 2n).

        dΦ/dt = (∂rate/∂y) Φ,   Φ(t0) = 1

    is solved along with the motion, under the same tolerance: along a motion that stands still
    the steps are those that its neighbours need.
    """
    size = y.shape[0]
    rate = rate_of(laws)

    def with_tangents(t: Any, rows: Any, params: Params) -> Any:
        """Rows: the state, then the columns of Φ."""
        rows = rows.reshape(size + 1, size)
        value, push = jax.linearize(lambda y: rate(t, y, params), rows[0])
        return jnp.concatenate([value, jax.vmap(push)(rows[1:]).reshape(-1)])

    rows = jnp.concatenate([y, jnp.eye(size, dtype=y.dtype).reshape(-1)])
    end = flow(with_tangents, rows, duration, t0, params, rtol).reshape(size + 1, size)
    return end[0], end[1:].T
