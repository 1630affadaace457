"""What failed is NaN, and so are its derivatives; what was computed before stays."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm


def quartic(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """Pushed off the origin for k > 0, it is gone within a second; for k < 0 it swings."""
    return 0.5 * params["m"] * qd[0] ** 2 + params["k"] * q[0] ** 4


@pytest.fixture(scope="module")
def system() -> dm.System:
    return dm.System(quartic, {"x": "m"}, {"m": 1.0, "k": 1.0, "stop": 0.0})


# k and m of a motion that swings, one that goes, one without mass, and one of NaN.
NUMBERS = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [np.nan, 1.0]])
SWINGS, GOES, NO_MASS, BAD = range(4)


def run(system: dm.System, numbers: Any, **more: Any) -> dm.Trajectory:
    machine = system.with_params(k=numbers[0], m=numbers[1])
    return dm.simulate(machine, [1.0], duration=3.0, samples=7, **more)


@pytest.fixture(scope="module")
def traced(system: dm.System) -> Any:
    """All runs, and gradients of three losses: masked, of the end, of the first samples."""

    def losses(numbers: Any) -> Any:
        found = run(system, numbers)
        masked = jnp.where(found.status == dm.RESULTS.successful, found.end.q[0], 0.0)
        return jnp.stack([masked, found.end.q[0], jnp.sum(found.qs[:2])]), found

    return jax.jit(jax.vmap(jax.jacrev(losses, has_aux=True)))(NUMBERS)


@pytest.mark.parametrize(
    ("lane", "why"),
    [
        (GOES, dm.RESULTS.step_too_small),
        (NO_MASS, dm.RESULTS.step_too_small),
        (BAD, dm.RESULTS.not_finite_from_the_start),
    ],
    ids=["blows up", "no mass", "NaN"],
)
def test_under_a_trace_the_end_of_a_failed_run_is_nan(traced: Any, lane: int, why: Any) -> None:
    gradients, found = traced
    assert bool(jax.tree.map(lambda leaf: leaf[lane], found.status) == why)
    for leaf in found.end:
        assert np.all(np.isnan(leaf[lane])), "never its start"
    assert np.all(np.isnan(found.qs[lane, 2:]))
    assert np.all(gradients[lane, 0] == 0), "a loss that leaves it out has a gradient"
    assert np.all(np.isnan(gradients[lane, 1])), "and the lack of a result none"


def test_what_came_before_the_failure_stays_with_its_derivative(
    traced: Any, system: dm.System
) -> None:
    gradients, found = traced
    eager = run(system, NUMBERS[GOES], throw=False)
    np.testing.assert_allclose(found.qs[GOES, :2], eager.qs[:2], rtol=1e-12)
    assert np.all(np.isfinite(eager.end.q)), "what was computed up to the failure"
    near = [run(system, NUMBERS[GOES] + [h, 0], throw=False).qs[1, 0] for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(gradients[GOES, 2, 0], (near[0] - near[1]) / 2e-5, rtol=1e-7)


def test_a_sound_run_keeps_its_gradient_beside_failed_ones(traced: Any, system: dm.System) -> None:
    gradients, _ = traced
    near = [run(system, NUMBERS[SWINGS] + [0, h]).end.q[0] for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(gradients[SWINGS, :2, 1], (near[0] - near[1]) / 2e-5, rtol=1e-7)


def test_forward_derivatives_of_what_is_not_there_are_nan(system: dm.System) -> None:
    def outcome(numbers: Any) -> Any:
        found = run(system, numbers, gradient="forward")
        return found.qs[:, 0], found.end.q[0]

    (qs, end), (slopes, slope) = jax.jvp(jax.jit(outcome), (NUMBERS[GOES],), (np.ones(2),))
    for value in (qs[2:], end, slopes[2:], slope):
        assert np.all(np.isnan(value))
    assert np.all(np.isfinite(slopes[:2]))
