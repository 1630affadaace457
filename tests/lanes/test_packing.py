"""Trees of arrays put together and taken apart again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmech.lanes._packing import pack, unpack


def same(one: object, other: object) -> bool:
    """Two trees of the same leaves, their kinds and shapes included."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return jax.tree.structure(one) == jax.tree.structure(other) and all(
        a is b or (a.dtype == b.dtype and a.shape == b.shape and bool(np.all(a == b)))
        for a, b in pairs
    )


TREE = {
    "numbers": [np.array(1.5), np.arange(6.0).reshape(2, 3), np.zeros((0, 4))],
    "counts": (np.arange(4, dtype=np.int32), np.array(True)),
    "function": np.sin,
    "flag": True,
    "nothing": None,
}


def test_a_tree_comes_back_as_it_was_from_one_array_of_each_kind() -> None:
    packed = pack(TREE)
    assert sorted(str(array.dtype) for array in packed.arrays) == ["bool", "float64", "int32"]
    assert same(unpack(packed), TREE)


def test_axes_around_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    tree = [rng.normal(size=(5, *inner, 7)) for inner in ((), (3,), (2, 2), (0,))]
    packed = pack(tree, around=1)
    assert [array.shape for array in packed.arrays] == [(5, 8, 7)]
    assert same(unpack(packed, axis=1), tree)
    turned = jax.tree.map(lambda array: np.moveaxis(array, -1, 1).reshape(35, -1), packed)
    expected = [np.moveaxis(leaf, -1, 1).reshape(35, *leaf.shape[1:-1]) for leaf in tree]
    assert same(unpack(turned, axis=1), expected)


def test_new_numbers_in_the_same_tree_are_the_same_program() -> None:
    traces = []

    @jax.jit
    def doubled(packed: object) -> object:
        traces.append(None)
        tree = unpack(packed)  # pyright: ignore[reportArgumentType]
        return pack([2 * leaf for leaf in tree["numbers"]])

    for scale in (1.0, 3.0):
        scaled = {**TREE, "numbers": [scale * leaf for leaf in TREE["numbers"]]}
        assert same(unpack(doubled(pack(scaled))), [2 * scale * x for x in TREE["numbers"]])  # pyright: ignore[reportArgumentType]
    assert len(traces) == 1
    doubled(pack({**TREE, "flag": False}))
    assert len(traces) == 2, "what is no array belongs to the program"


def test_derivatives_pass_through() -> None:
    def total(x: float) -> jax.Array:
        one, two = unpack(pack([jnp.asarray(x), jnp.asarray(x) ** 2 * jnp.ones(3)]))
        return one + two.sum()

    assert jax.jacfwd(total)(2.0) == pytest.approx(13.0, rel=1e-15)
