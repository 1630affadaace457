"""Raise a ValueError that names `gradient=` where a run is differentiated in the other mode.

Diffrax gives forward- or reverse-mode derivatives of a solve, not both at once. JAX finds out deep
inside a loop; these guards say at the surface which argument to change.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_P = ParamSpec("_P")
_R = TypeVar("_R")

_NEEDS_REVERSE = (
    "this run was made with `gradient='forward'`, which gives `jax.jvp` and `jax.jacfwd`; for "
    "`jax.grad`, `jax.vjp` and `jax.jacrev` call `simulate(..., gradient='reverse')`"
)
_NEEDS_FORWARD = (
    "this run was made with `gradient='reverse'`, which gives `jax.grad`, `jax.vjp` and "
    "`jax.jacrev`; for `jax.jvp` and `jax.jacfwd` call `simulate(..., gradient='forward')`"
)


def _refuse(*_: Any, sentence: str) -> Any:
    raise ValueError(sentence)


# The identity, linear, with a transpose that refuses.
_forward_only_p = Primitive("diffmech_forward_only")
_forward_only_p.def_impl(lambda x, **_: x)
_forward_only_p.def_abstract_eval(lambda x, **_: x)
ad.deflinear2(_forward_only_p, _refuse)
batching.defvectorized(_forward_only_p)
mlir.register_lowering(_forward_only_p, lambda _, x, **__: [x])


def forward_only(tree: Any, sentence: str = _NEEDS_REVERSE) -> Any:
    """The same values; transposing a derivative through them raises a `ValueError`."""
    return jax.tree.map(lambda leaf: _forward_only_p.bind(leaf, sentence=sentence), tree)


def reverse_only(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Translate JAX's complaint about forward mode into our sentence.

    Where JAX complains only after `function` has returned (`jax.jvp` of a `jax.jit`), its own
    message stays.
    """

    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if "forward-mode" in str(error) and "custom_vjp" in str(error):
                raise ValueError(_NEEDS_FORWARD) from error
            raise

    return wrapped
