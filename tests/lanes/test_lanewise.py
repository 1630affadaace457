"""Functions of whole blocks of lanes: results worked out apart are the same results."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from diffmech.lanes._lanewise import select_unshared, unshared
from tests.tolerances import ROUND_OFF


def _three(x: Any, y: Any) -> tuple[Any, ...]:
    shared = jnp.sin(x) * y
    return shared + x, jnp.where(shared > 0, shared, -y), shared**2


LANES = (jnp.linspace(-2.0, 2.0, 16), jnp.linspace(1.0, -3.0, 16))


def test_results_worked_out_apart_are_those_of_the_function() -> None:
    expected = _three(*LANES)
    for found in (unshared(_three, *LANES), jax.jit(lambda *x: unshared(_three, *x))(*LANES)):
        assert len(found) == 3
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=ROUND_OFF, atol=ROUND_OFF)


def test_no_two_results_share_an_operation_before_xla_compiles() -> None:
    text = jax.jit(lambda *x: unshared(_three, *x)).lower(*LANES).as_text()
    assert text.count("stablehlo.sine") == 3
    assert text.count("optimization_barrier") >= 2


def test_derivatives_pass_through_results_worked_out_apart() -> None:
    moved = (jnp.ones(16), jnp.full(16, 0.3))
    expected = jax.jvp(_three, LANES, moved)[1]
    found = jax.jvp(lambda *x: unshared(_three, *x), LANES, moved)[1]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=ROUND_OFF, atol=ROUND_OFF)


def test_every_leaf_is_chosen_by_the_mask() -> None:
    mask = jnp.array([1.0, 0.0, 1.0])
    this = {"a": jnp.array([1.0, 2.0, 3.0]), "b": (jnp.array([4.0, 5.0, 6.0]), ())}
    other = jax.tree.map(lambda leaf: -leaf, this)
    found = select_unshared(mask, this, other)
    assert jax.tree.structure(found) == jax.tree.structure(this)
    np.testing.assert_array_equal(found["a"], [1.0, -2.0, 3.0])
    np.testing.assert_array_equal(found["b"][0], [4.0, -5.0, 6.0])
