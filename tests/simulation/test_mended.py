"""Cases that once went wrong, each small enough to be overlooked again."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import geometry as geo
from diffmech.systems import tops


def test_springs_without_rest_length_pull_back_from_nowhere() -> None:
    def tied(q: Any, t: Any, params: Any) -> Any:
        bob = [q[0], q[1], 0.0]
        return {
            "bob": dm.parts.Particle(2.0).at(bob),
            "tie": dm.parts.Spring(8.0).between([0, 0, 0], bob),
        }

    def twisted(q: Any, t: Any, params: Any) -> Any:
        frame = dm.joints.spherical(q, sequence="vector")
        body = dm.parts.RigidBody(1.0, [2.0, 2.0, 2.0]).at(frame)
        return {
            "body": body,
            "wire": dm.parts.Spring(8.0).twisting(dm.joints.fixed([0, 0, 0]), frame),
        }

    for parts, n in ((tied, 2), (twisted, 3)):
        system = dm.machine(parts, tuple("abc"[:n]))
        slopes = jax.jacfwd(lambda q, s=system, n=n: dm.acceleration(s, q, np.zeros(n)))(
            jnp.zeros(n)
        )
        np.testing.assert_allclose(slopes, -4 * np.eye(n), atol=1e-12)


def test_moments_may_be_traced_one_by_one() -> None:
    slope = jax.grad(lambda x: dm.parts.RigidBody(1.0, [x, x, 1.5 * x]).inertia[2])(2.0)
    assert slope == pytest.approx(1.5)


def test_masses_that_change_are_refused() -> None:
    with pytest.raises(ValueError, match="mass or inertia that changes"):
        dm.machine(lambda q, t, p: {"a": dm.parts.Particle(jnp.exp(-t)).at([q[0], 0, 0])}, ("x",))


def test_the_middle_angle_keeps_its_range_at_the_pole() -> None:
    for angles in ([0.0, -np.pi, 0.0], [0.3, np.pi, 0.0], [0.2, -1e-17, 0.1]):
        for sequence in ("ZXZ", "xyx", "YZY"):
            rotation = geo.from_euler(sequence, angles)
            found = np.asarray(geo.to_euler(sequence, rotation))
            assert 0 <= found[1] <= np.pi
            np.testing.assert_allclose(geo.from_euler(sequence, found), rotation, atol=1e-14)


def test_the_polar_rotation_has_a_derivative_at_equal_stretches() -> None:
    way = np.random.default_rng(0).normal(size=(3, 3))
    for matrix in (np.eye(3), np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3)):
        _, exact = jax.jvp(geo.polar, (jnp.asarray(matrix),), (jnp.asarray(way),))
        step = 1e-6
        ahead, behind = geo.polar(matrix + step * way), geo.polar(matrix - step * way)
        np.testing.assert_allclose(exact, (ahead - behind) / (2 * step), atol=1e-8)


def test_a_top_that_is_pulled_up_nutates_the_other_way() -> None:
    top = dm.systems.heavy_top(gravity=-9.81)
    q, qd = [0.0, 1.0, 0.0], [0.0, 0.0, 150.0]
    low, high = tops.nutation_limits(top, q, qd)
    run = dm.simulate(top, q, qd, duration=1.0, samples=401)
    nutation = np.asarray(run.qs)[:, 1]
    assert high == pytest.approx(np.max(nutation), abs=1e-3)
    assert low == pytest.approx(np.min(nutation), abs=1e-3)
    with pytest.raises(ValueError, match="needs no spin"):
        tops.sleeping_spin(top)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: geo.from_quaternion([0.0, 0, 0, 0]), "`q` must have a length"),
        (lambda: geo.jack([-1.0, 1, 1], 1.0), "`masses` must not be negative"),
        (lambda: geo.jack_masses([1.0, 1, 1], 0.0), "`arm` must be greater than zero"),
        (lambda: dm.systems.double_pendulum_3d(inertias=3), "`inertias` must be two"),
    ],
)
def test_more_that_cannot_be_is_refused(wrong: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wrong()
