"""The machine code that tests run rounds as that of users' programs does."""

import jax
import pytest

from diffmech.tuning._host import processor


@pytest.mark.skipif("fma" not in processor().split(), reason="this processor rounds twice")
@pytest.mark.parametrize(
    "optimised", [False, pytest.param(True, marks=pytest.mark.long_runs)], ids=["short", "long"]
)
def test_a_product_and_a_sum_are_rounded_once(optimised: bool) -> None:
    x = 1 + 2.0**-30
    left = jax.jit(lambda a, b, c: a * b - c)(x, x, x * x)
    assert float(left) == 2.0**-60, "what x² loses by rounding"
    assert jax.config.read("jax_disable_most_optimizations") != optimised
