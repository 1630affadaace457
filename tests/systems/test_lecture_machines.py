"""The smaller machines of the lectures, each against its closed form or its equations by hand."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm

from ..by_tape import by_arrays
from ..conftest import random_states
from ..tolerances import ROUND_OFF


def accelerations(system: dm.AbstractSystem, q: Any, qd: Any, t: Any = 0.0) -> np.ndarray:
    times = np.broadcast_to(t, len(q))
    return by_arrays(lambda q, qd, t: dm.acceleration(system, q, qd, t), q, qd, times)


def assert_equations(system: dm.AbstractSystem, by_hand: Any, seed: int) -> None:
    q, qd, _ = random_states(system.n, 20, seed)
    t = np.random.default_rng(seed).uniform(0, 5, 20)
    ours = accelerations(system, q, qd, t)
    theirs = np.array([by_hand(*args) for args in zip(q, qd, t, strict=True)])
    scale = np.max(np.abs(theirs), axis=1, keepdims=True) + 1.0
    assert np.max(np.abs(ours - theirs) / scale) < ROUND_OFF


@pytest.mark.parametrize("tilt", [0.0, 0.5, -1.2, math.pi / 2])
def test_a_hinged_pendulum_feels_the_cosine_of_its_tilt(tilt: float) -> None:
    tensor = np.array([[0.05, 0.01, 0.004], [0.01, 0.06, -0.006], [0.004, -0.006, 0.04]])
    system = dm.systems.hinged_pendulum(tilt, mass=1.3, distance=0.4, inertia=tensor)
    axis = np.array([math.cos(tilt), 0, math.sin(tilt)])
    about = axis @ tensor @ axis + 1.3 * 0.4**2
    factor = 1.3 * 9.81 * 0.4 * math.cos(tilt) / about
    assert_equations(system, lambda q, qd, t: [-factor * math.sin(q[0])], seed=1)


def test_the_hinge_of_a_tilted_pendulum_takes_no_moment_about_its_axis() -> None:
    system = dm.systems.hinged_pendulum(0.4)

    def seen(q: Any, qd: Any) -> Any:
        return (
            dm.reactions(system, q, qd)["hinge"],
            dm.body_states(system, q, qd)["body"].position,
            dm.acceleration(system, q, qd),
        )

    found, centre, qdd = jax.tree.map(
        lambda x: x[0], by_arrays(seen, np.array([[0.7]]), np.array([[1.9]]))
    )
    axis = np.asarray(system.params.axis)
    assert abs(np.asarray(found.moment) @ axis) < ROUND_OFF
    assert np.linalg.norm(found.moment) > 0.01  # the five other components are at work
    # m (a − g), with the acceleration of the mass centre on its circle.
    a = qdd * np.cross(axis, centre) + 1.9**2 * np.cross(axis, np.cross(axis, centre))
    np.testing.assert_allclose(found.force, a + [0, 0, 9.81], atol=ROUND_OFF)


def test_the_spherical_pendulum_by_its_equations() -> None:
    def by_hand(q: Any, qd: Any, t: float) -> list[float]:
        sin, cos = math.sin(q[0]), math.cos(q[0])
        return [sin * cos * qd[1] ** 2 - 9.81 / 0.8 * sin, -2 * cos / sin * qd[0] * qd[1]]

    assert_equations(dm.systems.spherical_pendulum(mass=1.4, length=0.8), by_hand, seed=2)


def test_the_spherical_pendulum_keeps_a_level_circle_and_its_momentum() -> None:
    system = dm.systems.spherical_pendulum()
    run = dm.simulate(system, *system.starts["cone"], duration=10.0)
    assert np.ptp(np.asarray(run.qs)[:, 0]) < 1e-8
    swing = dm.simulate(system, *system.starts["default"], duration=10.0)
    momenta = np.sin(swing.qs[:, 0]) ** 2 * swing.qds[:, 1]
    assert np.ptp(momenta) < 1e-9
    # The momentum about the vertical is that of the bob about any point of it.
    bob = swing.bodies()["bob"]
    np.testing.assert_allclose(bob.angular_momentum([0, 0, 0.7])[:, 2], momenta, atol=1e-12)


def test_kapitzas_pendulum_by_its_equation_and_on_its_head() -> None:
    system = dm.systems.kapitza(mass=0.7, length=0.9, amplitude=0.05, frequency=31.0, friction=0.02)

    def by_hand(q: Any, qd: Any, t: float) -> list[float]:
        effective = 9.81 - 0.05 * 31.0**2 * math.cos(31.0 * t)
        return [-effective / 0.9 * math.sin(q[0]) - 0.02 / (0.7 * 0.9**2) * qd[0]]

    assert_equations(system, by_hand, seed=3)
    shaken = dm.systems.kapitza()  # a² Ω² = 100 > 2 g l = 19.6
    standing = dm.simulate(shaken, *shaken.starts["default"], duration=5.0)
    assert np.max(np.abs(np.asarray(standing.qs)[:, 0] - math.pi)) < math.radians(15)
    still = dm.simulate(shaken.with_params(amplitude=0.0), *shaken.starts["default"], duration=5.0)
    assert np.min(np.asarray(still.qs)[:, 0]) < math.pi / 2


def test_the_cart_and_pole_by_its_equations() -> None:
    system = dm.systems.cart_pole(1.5, 0.4, 0.8, track_friction=0.3, hinge_friction=0.02, push=2.0)

    def by_hand(q: Any, qd: Any, t: float) -> Any:
        half, sin, cos = 0.4, math.sin(q[1]), math.cos(q[1])
        about = 0.4 * 0.8**2 / 12 + 0.4 * half**2
        mass = np.array([[1.9, 0.4 * half * cos], [0.4 * half * cos, about]])
        force = [
            2.0 - 0.3 * qd[0] + 0.4 * half * sin * qd[1] ** 2,
            -0.4 * 9.81 * half * sin - 0.02 * qd[1],
        ]
        return np.linalg.solve(mass, force)

    assert_equations(system, by_hand, seed=4)


def test_the_spring_pendulum_by_its_equations() -> None:
    system = dm.systems.spring_pendulum(1.2, 35.0, 0.9, friction=0.3)

    def by_hand(q: Any, qd: Any, t: float) -> list[float]:
        # The spring acts on the distance |r|, the damper on r.
        pull = 35.0 * (abs(q[0]) - 0.9) * np.sign(q[0]) + 0.3 * qd[0]
        return [
            q[0] * qd[1] ** 2 + 9.81 * math.cos(q[1]) - pull / 1.2,
            -(9.81 * math.sin(q[1]) + 2 * qd[0] * qd[1]) / q[0],
        ]

    assert_equations(system, by_hand, seed=5)


def test_a_particle_flies_as_newton_says() -> None:
    system = dm.systems.particle(0.8, viscous=0.1, quadratic=0.05)

    def by_hand(q: Any, qd: Any, t: float) -> Any:
        return np.array([0, 0, -9.81]) - (0.1 + 0.05 * np.linalg.norm(qd)) * qd / 0.8

    assert_equations(system, by_hand, seed=6)


def test_a_bead_is_pushed_along_its_wire_only() -> None:
    # By length on a helix: m s̈ = F·e_t, with gravity and friction.
    helix = dm.systems.bead_on_wire("helix", [0.5, 0.2], mass=0.6, friction=0.1)
    climb = 0.2 / math.hypot(0.5, 0.2)
    assert_equations(helix, lambda q, qd, t: [-9.81 * climb - 0.1 / 0.6 * qd[0]], seed=7)
    circle = dm.systems.bead_on_wire("circle", [0.8])
    assert_equations(circle, lambda q, qd, t: [-9.81 * math.sin(q[0] / 0.8)], seed=8)
    # By another parameter: the speed's rate is still the force along the tangent.
    parabola = dm.systems.bead_on_wire("parabola", [0.5])

    def by_hand(q: Any, qd: Any, t: float) -> list[float]:
        x, v = q[0], qd[0]
        slope = x / 0.5
        return [-(slope * v**2 / 0.5 + 9.81 * slope) / (1 + slope**2)]

    assert_equations(parabola, by_hand, seed=9)


def test_a_bead_on_a_cycloid_keeps_time_whatever_its_swing() -> None:
    system = dm.systems.bead_on_wire("cycloid", [1.0])
    period = 2 * math.pi * math.sqrt(4 / 9.81)
    for start in (0.1, 3.0):
        run = dm.simulate(system, [start], [0.0], ts=[0.0, period / 4, period])
        np.testing.assert_allclose(np.asarray(run.qs)[:, 0], [start, 0.0, start], atol=1e-8)


def test_a_bead_slides_on_a_wire_of_ones_own() -> None:
    def heart(s: Any, shape: Any) -> Any:
        return shape[0] * jnp.sin(s), jnp.sin(2 * s) / 3, jnp.cos(s) - jnp.cos(2 * s) / 2

    system = dm.systems.bead_on_wire(heart, [1.3])
    q, qd = np.array([0.4]), np.array([1.1])
    ((qdd,),) = accelerations(system, q[None], qd[None])

    def curve(s: float) -> np.ndarray:
        return by_arrays(lambda s: jnp.stack(heart(s, [1.3])), np.array([s]))[0]

    h = 1e-4
    tangent = (curve(0.4 + h) - curve(0.4 - h)) / (2 * h)
    bend = (curve(0.4 + h) - 2 * curve(0.4) + curve(0.4 - h)) / h**2
    acceleration = qdd * tangent + 1.1**2 * bend
    assert (acceleration + [0, 0, 9.81]) @ tangent == pytest.approx(0.0, abs=1e-6)


START = jnp.array([0.3, -0.2, 0.5])
VELOCITY = jnp.array([1.0, 2.0, -1.0])


def _still(x: Any) -> Any:
    """The value at the instant looked at, not its later ones."""
    return jax.lax.stop_gradient(x)


# What H is made with, the point's path from the bodies and time, whether dH/dt is the moment.
POINTS: dict[str, tuple[str, Any, bool]] = {
    "fixed": ("absolute", lambda bodies, t: START, True),
    "the mass centre": ("absolute", lambda bodies, t: dm.mass_centre(bodies)[0], True),
    "steadily moving": ("relative", lambda bodies, t: START + t * VELOCITY, True),
    "steadily moving, absolute": ("absolute", lambda bodies, t: START + t * VELOCITY, False),
    "accelerating": ("relative", lambda bodies, t: START + t**2 * VELOCITY, False),
    "moving as the mass centre does": (
        "absolute",
        lambda bodies, t: START + t * _still(dm.mass_centre(bodies)[1]),
        True,
    ),
    "accelerating towards the mass centre": (
        "relative",
        lambda bodies, t: START + t**2 * (_still(dm.mass_centre(bodies)[0]) - START),
        True,
    ),
}


def test_angular_momentum_balance_holds_about_the_right_points_only() -> None:
    system = dm.systems.double_pendulum_3d()
    q, qd, _ = (x[0] for x in random_states(2, 1, seed=12))

    def rates_and_moments(q: Any, qd: Any, t: Any) -> Any:
        qdd = dm.acceleration(system, q, qd, t)
        hinge = dm.reactions(system, q, qd, t)["shoulder"]

        def momenta(q: Any, qd: Any, t: Any) -> Any:
            bodies = dm.body_states(system, q, qd, t)
            found = {}
            for name, (kind, path, _) in POINTS.items():
                point, rate = jax.jvp(
                    lambda t, path=path: path(bodies, t), (t,), (jnp.ones_like(t),)
                )
                velocity = rate if kind == "relative" else None
                found[name] = dm.angular_momentum(bodies, point, velocity)
            return found

        bodies = dm.body_states(system, q, qd, t)

        def moment(point: Any) -> Any:
            down = jnp.array([0.0, 0.0, -9.81])
            weights = [
                jnp.cross(body.position - point, body.mass * down) for body in bodies.values()
            ]
            return sum(weights) + hinge.moment + jnp.cross(-point, hinge.force)

        _, rates = jax.jvp(momenta, (q, qd, t), (qd, qdd, jnp.ones_like(t)))
        moments = {name: moment(path(bodies, t)) for name, (_, path, _) in POINTS.items()}
        return rates, moments

    rates, moments = by_arrays(rates_and_moments, q[None], qd[None], np.zeros(1))
    for name, (_, _, holds) in POINTS.items():
        gap = float(np.max(np.abs(rates[name] - moments[name])))
        assert gap < 1e-10 if holds else gap > 0.1, f"{name}: {gap}"


def test_a_conservative_force_has_symmetric_slopes() -> None:
    x = np.random.default_rng(14).normal(size=3)
    pull = jax.grad(lambda x: jnp.sin(x[0] * x[1]) + x[2] ** 2 * x[0])
    curl = by_arrays(lambda x: dm.force_curl(pull, x), x[None])[0]
    np.testing.assert_allclose(curl, 0.0, atol=1e-14)
    turning = lambda x: jnp.array([-x[1], x[0], 0.0])  # noqa: E731
    swirl = by_arrays(lambda x: dm.force_curl(turning, x), x[None])[0]
    np.testing.assert_allclose(swirl, [[0, -2, 0], [2, 0, 0], [0, 0, 0]], atol=1e-14)
    with pytest.raises(ValueError, match="must return as many numbers as `x` has"):
        dm.force_curl(lambda x: x[:2], x)


def test_velocities_depend_on_rates_as_places_on_coordinates() -> None:
    """∂ṙ/∂q̇ = ∂r/∂q and d/dt ∂r/∂q = ∂ṙ/∂q, and hinges do no virtual work."""
    system = dm.systems.double_pendulum_3d()
    q, qd, _ = (x[0] for x in random_states(2, 1, seed=15))

    def turned(name: str, q: Any, qd: Any) -> Any:
        return dm.body_states(system, q, qd)[name].omega

    def seen(q: Any, qd: Any) -> Any:
        def place(q: Any) -> Any:
            return dm.body_states(system, q, qd)["lower"].position

        def velocity(q: Any, qd: Any) -> Any:
            return dm.body_states(system, q, qd)["lower"].velocity

        slopes = jax.jvp(jax.jacfwd(place), (q,), (qd,))
        spins = [jax.jacfwd(turned, argnums=2)(name, q, qd) for name in ("lower", "upper")]
        hinge = dm.reactions(system, q, qd)["elbow"]
        return slopes, jax.jacfwd(velocity, argnums=(0, 1))(q, qd), spins, hinge.moment

    found = by_arrays(seen, q[None], qd[None])
    (slopes, rates), (by_place, by_rate), (turning, before), moment = jax.tree.map(
        lambda x: x[0], found
    )
    np.testing.assert_allclose(by_rate, slopes, atol=1e-14)
    np.testing.assert_allclose(by_place, rates, atol=1e-13)
    # The elbow passes force and moment on to the lower body and back: over any motion that the
    # hinges allow the two cancel, because the moment has no part along the axis.
    np.testing.assert_allclose((turning - before).T @ moment, 0.0, atol=1e-12)
