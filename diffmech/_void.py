"""Numbers that are not there: NaN, and so are their derivatives.

`where(gone, nan, x)` alone has the derivative 0 where x is gone, a plausible number.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

_T = TypeVar("_T")


@jax.custom_jvp
def _void(value: Any, gone: Any) -> Any:
    return jnp.where(gone, jnp.nan, value)


@_void.defjvp
def _void_jvp(primals: Any, tangents: Any) -> Any:
    # A constant beside the tangent: forward it is NaN, and backward nothing passes.
    return _void(*primals), jnp.where(primals[1], jnp.nan, tangents[0])


def void(value: Any, gone: Any) -> Any:
    """`value`, an array of floats, and NaN where `gone`, whose axes are its first ones."""
    gone = jnp.asarray(gone).reshape(*jnp.shape(gone), *(1,) * (jnp.ndim(value) - jnp.ndim(gone)))
    return _void(jnp.asarray(value), jnp.broadcast_to(gone, jnp.shape(value)))


@eqx.filter_custom_vjp
def _gated(solve: Callable[[], Any]) -> Any:
    return solve()


@_gated.def_fwd
def _gated_forward(perturbed: Any, solve: Callable[[], Any]) -> Any:
    del perturbed
    solution, pull = eqx.filter_vjp(lambda solve: solve(), solve)
    return solution, (pull, eqx.filter(solution, eqx.is_inexact_array))


@_gated.def_bwd
def _gated_backward(residuals: Any, gradient: Any, perturbed: Any, solve: Any) -> Any:
    del perturbed, solve
    pull, solution = residuals
    asked = jax.tree.map(
        lambda own, pushed: jnp.zeros_like(own) if pushed is None else pushed, solution, gradient
    )
    pairs = list(zip(jax.tree.leaves(asked), jax.tree.leaves(solution), strict=True))
    nothing = _all(jnp.all(pushed == 0) for pushed, _ in pairs)
    there = _all(jnp.all((pushed == 0) | ~jnp.isnan(own)) for pushed, own in pairs)
    (back,) = pull(asked)
    return jax.tree.map(
        lambda leaf: jnp.where(nothing, 0.0, jnp.where(there, leaf, jnp.nan)).astype(leaf.dtype),
        back,
    )


def _all(truths: Iterable[Any]) -> Any:
    return jnp.all(jnp.stack(list(truths)))


def with_sound_gradient(solve: Callable[[], _T]) -> _T:
    """What `solve()` returns; its gradient is 0 where nothing is asked, and NaN for NaN.

    A loss that leaves failed motions out pulls zeros back through them; where they ran into NaN,
    zero times NaN would make NaN of the whole gradient: nothing asked gives nothing. A loss of what
    is not there, NaN in what was found, has the gradient NaN.
    """
    return _gated(eqx.filter_closure_convert(solve))
