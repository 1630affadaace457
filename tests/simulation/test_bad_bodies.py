"""Bodies, joints and machines that cannot be are refused with a sentence that says why."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech import geometry as geo


def _one(make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: dm.machine(lambda q, t, p: {"a": make(q)}, ("x",))


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "negative mass": (
        lambda: dm.parts.RigidBody(-1, [1, 1, 1]),
        "`mass` must not be negative, but is -1",
    ),
    "negative particle": (lambda: dm.parts.Particle(-3), "`mass` must not be negative, but is -3"),
    "negative moment": (
        lambda: dm.parts.RigidBody(1, [1, -1, 1]),
        "no negative moment, but has -1",
    ),
    "impossible moments": (
        lambda: dm.parts.RigidBody(1, [1, 1, 3]),
        r"I1 \+ I2 >= I3, as every body has, but its principal moments are 1, 1 and 3",
    ),
    "not symmetric": (
        lambda: dm.parts.RigidBody(1, [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]),
        "`inertia` must be symmetric",
    ),
    "two moments": (lambda: dm.parts.RigidBody(1, [1, 1]), r"must have shape \(3, 3\), but has"),
    "NaN mass": (lambda: dm.parts.RigidBody(float("nan"), [1, 1, 1]), "`mass` must be finite"),
    "changed inertia": (
        lambda: dm.systems.babyboot_of_bodies().with_params({"B.inertia[0]": 1.0}),
        r"`B.inertia` must have I1 \+ I2 >= I3",
    ),
    "changed plate": (
        lambda: dm.systems.babyboot().with_params(IBx=1),
        r"`\(IBx, IBy, IBz\)` must have I1 \+ I2 >= I3",
    ),
    "passed mass": (
        lambda: dm.acceleration(
            dm.systems.pendulum(), [0.1], [0.0], params=type(dm.systems.pendulum().params)(-1, 1, 9)
        ),
        "`mass` must not be negative, but is -1",
    ),
    "length zero": (
        lambda: dm.systems.n_link(3).with_params({"lengths[1]": 0}),
        r"`lengths\[1\]` must be greater than zero, but is 0",
    ),
    "negative height": (lambda: dm.systems.heavy_top(height=-1), "`height` must be greater"),
    "axis without length": (
        lambda: dm.joints.revolute([0, 0, 0], 0.1),
        "`axis` must have a length",
    ),
    "axis without name": (
        lambda: dm.joints.revolute("w", 0.1),
        "must be 'x', 'y', 'z' or three numbers",
    ),
    "same axes": (lambda: dm.joints.universal([0.1, 0.2], axes="xx"), "must be two of x, y, z"),
    "unknown sequence": (
        lambda: dm.joints.spherical([0, 0, 0], sequence="ZXx"),
        "no Euler sequence",
    ),
    "flat point": (
        lambda: dm.joints.fixed([0, 1]),
        r"`position` must have shape \(3,\), but has shape",
    ),
    "no frames": (lambda: dm.joints.chained([]), "must have at least one frame"),
    "axes of a hinge": (
        lambda: dm.systems.double_pendulum_3d(axes=[[1, 0], [1, 0]]),
        r"`axes` must have shape \(2, 3\), but has shape \(2, 2\)",
    ),
    "zero axes": (
        lambda: dm.systems.double_pendulum_3d(axes=[[0, 0, 0], [1, 0, 0]]),
        "`axes` must be two directions",
    ),
    "not placed": (
        _one(lambda q: dm.parts.Particle(1.0)),
        r"part 'a' is a Particle, not a part; place it with `.at",
    ),
    "point in the plane": (
        _one(lambda q: dm.parts.Particle(1.0).at([q[0], 0])),
        r"`point` must have shape \(3,\), but has shape \(2,\)",
    ),
    "no mapping": (
        lambda: dm.machine(lambda q, t, p: {}, ("x",)),
        "must return a mapping from names to parts",
    ),
    "no such plane": (
        lambda: dm.machine(lambda q, t, p: {}, ("x",), plane="zx"),
        "`plane` must be one of xy, xz, yz",
    ),
    "two joints of one name": (
        lambda: dm.reactions(
            dm.machine(
                lambda q, t, p: {
                    "a": dm.parts.Particle(1.0).at(
                        (
                            dm.joint("j", dm.joints.revolute("x", q[0]))
                            @ dm.joint("j", dm.joints.fixed())
                        ).point([0, 0, 1])
                    )
                },
                ("x",),
            ),
            [0],
            [0],
        ),
        "joints must have different names",
    ),
    "no joints": (
        lambda: dm.reactions(dm.systems.particle(), [0, 0, 0], [0, 0, 0]),
        "'particle' has no joints",
    ),
    "no parts": (
        lambda: dm.body_states(dm.systems.pendulum(), [0], [0]),
        "needs a machine described by its parts",
    ),
    "no smoothing": (lambda: dm.parts.Damper(smoothing=0), "`smoothing` must be greater than zero"),
    "gravity nowhere": (
        lambda: dm.parts.Gravity(9.81, (0, 0, 0)),
        "`direction` must have a length",
    ),
    "no such wire": (lambda: dm.systems.bead_on_wire("square"), "there is no wire 'square'"),
    "missing coordinate": (
        lambda: dm.simulate(dm.systems.heavy_top(), [0, 1], [0, 0, 0], duration=1),
        r"`q0` must have shape \(3,\) = \(precession, nutation, spin\), but has shape \(2,\)",
    ),
    "at a pole": (
        lambda: dm.acceleration(dm.systems.heavy_top(), [0, 0, 0], [0, 0, 1]),
        "singular .* coordinates at a pole",
    ),
    "wrong vector": (lambda: geo.from_quaternion([1, 0, 0]), r"`q` must have shape \(4,\)"),
    "wrong matrix": (lambda: geo.to_euler("ZXZ", np.eye(2)), r"must have shape \(3, 3\)"),
    "no direction": (lambda: geo.from_axis_angle([0, 0, 0], 1.0), "`axis` must have a length"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_with_a_sentence(name: str) -> None:
    wrong, sentence = WRONG[name]
    with pytest.raises(ValueError, match=sentence):
        wrong()


def test_a_run_into_a_pole_ends_with_time_and_state_and_what_was_before() -> None:
    pendulum = dm.systems.spherical_pendulum()
    with pytest.raises(dm.SimulationError, match=r"stopped at t = 0 s.*pole \(gimbal lock\)"):
        dm.simulate(pendulum, [0, 0], [1, 0], duration=1.0)
    top = dm.systems.heavy_top()
    run = dm.simulate(top, *top.starts["published"], duration=1.0, max_steps=3000, throw=False)
    assert np.all(np.isfinite(run.qs))
    assert run.status == dm.RESULTS.singular_mass_matrix
    assert float(run.end.t) == pytest.approx(0.3726, abs=1e-4)


def test_whole_numbers_lists_and_single_precision_are_taken() -> None:
    whole = dm.machine(lambda q, t, p: {"a": p.at([q[0], 0, 2])}, ("x",), dm.parts.Particle(2))
    assert float(dm.acceleration(whole, [1], [0])[0]) == 0.0
    body = dm.parts.RigidBody(np.float32(2), np.eye(3, dtype=np.float32))
    assert body.inertia.dtype == np.float64
    np.testing.assert_allclose(
        dm.joints.revolute([0, 0, 2], 1).rotation, geo.rotation_about(2, 1.0), atol=1e-15
    )


def test_parameters_under_a_trace_are_not_checked_but_used() -> None:
    boot = dm.systems.babyboot_of_bodies()

    def accelerate(mass: Any) -> Any:
        params = boot.with_params({"B.mass": mass}).params
        return dm.acceleration(boot, [0.3, 0.1], [1.0, 2.0], 0.0, params)[0]

    slope = jax.grad(accelerate)(0.1)
    difference = (accelerate(0.1 + 1e-5) - accelerate(0.1 - 1e-5)) / 2e-5
    assert float(slope) == pytest.approx(float(difference), rel=1e-6)


def test_moments_kept_in_float32_may_belong_to_a_flat_body() -> None:
    flat = np.array([5e-5, 2e-4, 2.5e-4 * (1 + 2e-7)], np.float32)
    assert dm.parts.RigidBody(1.0, flat).inertia.shape == (3,)
    with pytest.raises(ValueError, match="I1 \\+ I2 >= I3"):
        dm.parts.RigidBody(1.0, np.asarray([5e-5, 2e-4, 2.5e-4 * (1 + 2e-7)]))
    with pytest.raises(ValueError, match="I1 \\+ I2 >= I3"):
        dm.parts.RigidBody(1.0, np.array([5e-5, 2e-4, 2.51e-4], np.float32))


def test_moments_may_be_traced_one_by_one() -> None:
    slope = jax.grad(lambda x: dm.parts.RigidBody(1.0, [x, x, 1.5 * x]).inertia[2])(2.0)
    assert slope == pytest.approx(1.5)


def test_masses_that_change_are_refused() -> None:
    with pytest.raises(ValueError, match="mass or inertia that changes"):
        dm.machine(lambda q, t, p: {"a": dm.parts.Particle(jnp.exp(-t)).at([q[0], 0, 0])}, ("x",))
