"""`assemble` under JAX's transformations: the nearest state, differentiated."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm

# A point on a sphere, said twice: redundant rows must not disturb the derivative.
SPHERE = dm.System(
    lambda q, qd, t, p: 0.5 * qd @ qd,
    ("x", "y", "z"),
    {"radius": 1.0},
    constraints=lambda q, t, p: (q @ q - p["radius"] ** 2) * jnp.array([1.0, 3.0]),
)


def _by_assemble(given: Any) -> Any:
    q, qd, radius = given[:3], given[3:6], given[6]
    found = dm.assemble(SPHERE, q, qd, fixed=["x"], params={"radius": radius})
    return jnp.concatenate([found.q, found.qd])


def _by_hand(given: Any) -> Any:
    """With x and its rate held: the nearest point of a circle, and the least change of rates."""
    (x, *yz), (xd, *yzd), radius = given[:3], given[3:6], given[6]
    y, yd = jnp.stack(yz), jnp.stack(yzd)
    y = jnp.sqrt(radius**2 - x**2) * y / jnp.linalg.norm(y)
    yd = yd - y * (y @ yd + x * xd) / (y @ y)
    return jnp.concatenate([x[None], y, xd[None], yd])


def test_derivatives_of_an_assembly_are_those_of_the_nearest_state() -> None:
    @jax.jit
    def both_ways(given: Any) -> Any:
        value, push = jax.linearize(_by_assemble, given)
        pull = jax.linear_transpose(push, given)
        forward = jax.vmap(push, out_axes=1)(jnp.eye(7))
        return value, forward, jax.vmap(lambda one: pull(one)[0])(jnp.eye(6))

    given = jnp.array([0.3, 0.9, 0.4, 0.2, -0.5, 0.7, 1.1])
    value, forward, reverse = both_ways(given)
    np.testing.assert_allclose(value, _by_hand(given), atol=1e-9)
    exact = jax.jacfwd(_by_hand)(given)
    np.testing.assert_allclose(forward, exact, atol=1e-8)
    np.testing.assert_allclose(reverse, exact, atol=1e-8)


def test_under_a_trace_what_cannot_close_is_nan_and_numbers_stay_numbers() -> None:
    far = dm.System(
        lambda q, qd, t, p: 0.5 * qd @ qd,
        ("x",),
        {"gap": 1.0},
        constraints=lambda q, t, p: jnp.stack([q[0] ** 2 + p["gap"]]),
    )
    found = jax.jit(lambda gap: dm.assemble(far, [0.6], params={"gap": gap}).q)
    assert np.all(np.isnan(found(1.0)))
    assert np.all(np.isnan(jax.jacfwd(found)(1.0))), "and so is its derivative, which is not zero"
    np.testing.assert_allclose(found(-0.25), [0.5], atol=1e-12)
    with pytest.raises(ValueError, match="`branch` must be 0 under `jit`"):
        jax.jit(lambda gap: dm.assemble(far, [0.6], branch=1, params={"gap": gap}).q)(-0.25)
    numbers = jax.jit(lambda t: t * dm.assemble(far, [0.6], params={"gap": -0.25}).q)
    np.testing.assert_allclose(numbers(1.0), [0.5], atol=1e-12)
