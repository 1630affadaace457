"""Constraints at one instant and along runs: multipliers, reactions, redundancy, derivatives."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import diffmech as dm
from diffmech import geometry as geo
from diffmech.model import Hold
from diffmech.motion import motion_of, residual_of

from ..by_tape import by_arrays
from ..conftest import imbalance
from ..tolerances import ROUND_OFF

GRAVITY = 9.81


def at(function: Callable[..., Any], *state: Any) -> Any:
    """A function of one state, as `vmap` solves it: by arithmetic, which NumPy carries out."""

    def in_a_batch(*places: Any) -> Any:
        return jax.vmap(function)(*(place[None] for place in places))

    found = by_arrays(in_a_batch, *(np.asarray(x, float)[None] for x in state))
    return jax.tree.map(lambda x: x[0, 0], found)


def compiled(function: Callable[..., Any], *state: Any) -> Any:
    """The same by the library's own solver, where rows are dependent or parts have no mass."""
    return jax.jit(function)(*(np.asarray(x, float) for x in state))


def at_rest(system: dm.System, q: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(q, float), np.zeros(system.n)


# --- holds, each against Newton's laws -----------------------------------------------------------

BLOCK = dm.parts.RigidBody(2.0, [0.1, 0.2, 0.25])


def in_plane(hold: Any) -> dm.System:
    """One body free in the plane, under gravity along −y, held somehow."""

    def parts(q: Any, t: Any, body: Any) -> Any:
        frame = dm.joints.planar(q[0], q[1], q[2])
        return {
            "body": body.at(frame),
            "hold": hold(frame),
            "down": dm.parts.Gravity(GRAVITY, [0, -1, 0]),
        }

    return dm.machine(parts, {"x": "m", "y": "m", "angle": "rad"}, BLOCK, plane="xy")


def in_space(hold: Any) -> dm.System:
    """One body free in space by a quaternion, whose length is a constraint of its own."""

    def parts(q: Any, t: Any, body: Any) -> Any:
        frame = dm.geometry.Pose(q[:3], geo.from_quaternion(q[3:]))
        return {"body": body.at(frame), "hold": hold(frame), "down": dm.parts.Gravity(GRAVITY)}

    names = ("x", "y", "z", "q_w", "q_x", "q_y", "q_z")
    unit = {"unit": lambda q, t, params: 0.5 * (q[3:] @ q[3:] - 1.0)}
    return dm.machine(parts, names, BLOCK, constraints=unit)


def test_holds_have_the_rows_they_need_and_no_more() -> None:
    ground = dm.joints.fixed([0, 0, 0])
    kinds = {
        "pin": (lambda f: Hold.pin(ground, f), 2, 5),
        "weld": (lambda f: Hold.weld(ground, f), 3, 6),
        "slider": (lambda f: Hold.slider(ground, f), 2, 5),
        "ball": (lambda f: Hold.ball(ground, f), 2, 3),
        "distance": (lambda f: Hold.distance(ground, f, 1.0), 1, 1),
        "rolling": (lambda f: Hold.rolling(f, [0, 0, 0]), 2, 2),
        "skate": (lambda f: Hold.skate(f), 1, 1),
    }
    for name, (hold, plane, space) in kinds.items():
        assert len(in_plane(hold).rows) == plane, name
        assert len(in_space(hold).rows) == space + 1, name  # and the quaternion's length


def test_a_welded_body_rests_and_its_weight_is_held() -> None:
    arm = np.array([0.4, 0.3, 0.0])
    system = in_plane(lambda f: Hold.weld(dm.joints.fixed([0, 0, 0]), f @ dm.joints.fixed(-arm)))
    state = at_rest(system, [*arm[:2], 0.0])
    qdd, reactions = at(lambda *x: (dm.acceleration(system, *x), dm.reactions(system, *x)), *state)
    held = reactions["hold"]
    assert np.max(np.abs(qdd)) < ROUND_OFF * GRAVITY
    np.testing.assert_allclose(held.force, [0, 2 * GRAVITY, 0], atol=1e-11)
    np.testing.assert_allclose(held.moment, np.cross(arm, [0, 2 * GRAVITY, 0]), atol=1e-11)


def test_a_block_slides_down_its_rail_with_the_part_of_gravity_along_it() -> None:
    slope = 0.6
    rail = dm.joints.revolute("z", -slope)
    system = in_plane(lambda f: Hold.slider(rail, f))
    q = [0.5 * np.cos(slope), -0.5 * np.sin(slope), -slope]
    qdd, reactions = at(
        lambda *x: (dm.acceleration(system, *x), dm.reactions(system, *x)), *at_rest(system, q)
    )
    along = GRAVITY * np.sin(slope)
    expected = [along * np.cos(slope), -along * np.sin(slope), 0.0]
    np.testing.assert_allclose(qdd, expected, atol=1e-11)
    held = reactions["hold"]
    across = 2 * GRAVITY * np.cos(slope)
    np.testing.assert_allclose(
        held.force, [across * np.sin(slope), across * np.cos(slope), 0], atol=1e-11
    )


def test_a_hinge_in_space_is_the_hinge_of_the_same_body_in_one_coordinate() -> None:
    """Five rows and a quaternion against one angle, and both kinds of reactions."""
    to_centre, angle, rate = np.array([0.1, -0.2, -0.5]), 0.7, 1.3
    held = in_space(
        lambda f: Hold.pin(dm.joints.fixed([0, 0, 0]), f @ dm.joints.fixed(-to_centre), axis="x")
    )

    def hinged(q: Any, t: Any, body: Any) -> Any:
        frame = dm.joint("hold", dm.joints.revolute("x", q[0]))
        return {
            "body": body.at(frame @ dm.joints.fixed(to_centre)),
            "down": dm.parts.Gravity(GRAVITY),
        }

    plain = dm.machine(hinged, {"angle": "rad"}, BLOCK)
    axis = np.array([1.0, 0, 0])
    quaternion = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    turned, turning = at(
        lambda x, w: (geo.from_quaternion(x), geo.quaternion_rates(x, w)), quaternion, rate * axis
    )
    arm = turned @ to_centre
    q = np.concatenate([arm, quaternion])
    qd = np.concatenate([np.cross(rate * axis, arm), turning])

    def seen(system: dm.System) -> Callable[..., Any]:
        return lambda *x: (dm.acceleration(system, *x), dm.reactions(system, *x)["hold"])

    violations, (qdd, ours) = at(lambda *x: (dm.violations(held, *x), seen(held)(*x)), q, qd)
    assert np.max(np.abs(violations.residual)) < ROUND_OFF
    assert np.max(np.abs(violations.rate_residual)) < ROUND_OFF

    (alpha,), theirs = at(seen(plain), [angle], [rate])
    expected = np.cross(alpha * axis, arm) + rate**2 * np.cross(axis, np.cross(axis, arm))
    np.testing.assert_allclose(qdd[:3], expected, atol=1e-11)
    np.testing.assert_allclose(ours.force, theirs.force, atol=1e-10)
    np.testing.assert_allclose(ours.moment, theirs.moment, atol=1e-10)
    assert np.max(np.abs(theirs.moment)) > 1  # or there would be nothing to compare


def test_a_bead_held_on_a_curve_is_the_bead_of_one_coordinate() -> None:
    """On y = x²/2, by its equation and by its own coordinate s = x."""

    def parts(q: Any, t: Any, mass: Any) -> Any:
        return {
            "bead": dm.parts.Particle(mass).at([q[0], q[1], 0.0]),
            "wire": Hold.on_curve(
                lambda p: p[1] - 0.5 * p[0] ** 2, dm.joints.planar(q[0], q[1], 0.0)
            ),
            "down": dm.parts.Gravity(GRAVITY, [0, -1, 0]),
        }

    held = dm.machine(parts, {"x": "m", "y": "m"}, 1.5, plane="xy")
    x, v = 0.8, -0.6
    qdd = at(lambda *x: dm.acceleration(held, *x), [x, 0.5 * x**2], [v, x * v])
    # (1 + x²) ẍ + x ẋ² + g x = 0
    np.testing.assert_allclose(qdd[0], -(x * v**2 + GRAVITY * x) / (1 + x**2), rtol=1e-12)


# --- redundancy, massless parts, change points ---------------------------------------------------


@functools.cache
def _pendulum_of_rods(copies: int) -> dm.System:
    """Made once: the same functions have the same programs."""

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd @ qd - GRAVITY * q[1]

    def rod(i: int, q: Any, t: Any, params: Any) -> Any:
        return jnp.sqrt(q @ q) - params["lengths"][i]

    rods = {f"rod{i + 1}": functools.partial(rod, i) for i in range(copies)}
    params = {"lengths": np.ones(copies)}
    return dm.System(lagrangian, {"x": "m", "y": "m"}, params, constraints=rods)


def pendulum_of_two_lengths(copies: int, offset: float = 0.0) -> dm.System:
    """A bob on a rod that is declared several times, the last with another length."""
    lengths = 1.0 + offset * (np.arange(copies) > 0)
    return _pendulum_of_rods(copies).with_params(lengths=lengths)


def test_redundant_rows_leave_the_motion_and_make_multipliers_unknown() -> None:
    once, twice = pendulum_of_two_lengths(1), pendulum_of_two_lengths(2)
    q, qd = [0.6, -0.8], [0.8, 0.6]

    def seen(system: dm.System, how: Callable[..., Any]) -> Any:
        """q̈, constraint forces, multipliers, and the slopes of q̈, forward and backward."""

        def accelerated(q: Any, qd: Any) -> Any:
            return dm.acceleration(system, q, qd)

        return how(
            lambda *x: (
                accelerated(*x),
                dm.constraint_forces(system, *x),
                dm.multipliers(system, *x),
                jax.jacfwd(accelerated)(*x),
                jax.jacrev(accelerated)(*x),
            ),
            q,
            qd,
        )

    qdd, forces, unique, slopes, _ = seen(once, at)
    again, same, unknown, forward, back = seen(twice, compiled)
    np.testing.assert_allclose(again, qdd, rtol=1e-12)
    np.testing.assert_allclose(same, forces, rtol=1e-12)
    assert np.isfinite(unique).all()
    assert np.isnan(unknown).all()
    # Derivatives where the rank is constant: those of the plain pendulum.
    np.testing.assert_allclose(forward, slopes, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(back, slopes, rtol=1e-9, atol=1e-9)
    run = dm.simulate(twice, q, qd, duration=2.0, samples=21)
    # The plain pendulum by its angle from straight down, at first turning at 1 rad/s.
    angle = solve_ivp(
        lambda t, y: [y[1], -GRAVITY * np.sin(y[0])],
        (0.0, 2.0),
        [np.arctan2(0.6, 0.8), 1.0],
        method="DOP853",
        t_eval=run.ts,
        rtol=1e-12,
        atol=1e-12,
    ).y[0]
    plain = np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    np.testing.assert_allclose(run.qs, plain, atol=1e-9)
    assert "not unique (redundant rows)" in str(run.report(second_run=False))


def test_parts_without_mass_move_where_constraints_make_them() -> None:
    """A massless slider on a rod between two masses: the rod's middle, by constraint only."""

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * (qd[0] ** 2 + 3 * qd[1] ** 2) - 5 * q[0] ** 2

    def middle(q: Any, t: Any, params: Any) -> Any:
        return q[2] - 0.5 * (q[0] + q[1])

    system = dm.System(lagrangian, ("a", "b", "c"), constraints=middle)
    qdd, force = compiled(
        lambda q, qd: motion_of(system.laws, q, qd, jnp.zeros(()), ()), [1.0, 0, 0.5], np.zeros(3)
    )
    np.testing.assert_allclose(qdd, [-10.0, 0.0, -5.0], atol=1e-12)
    np.testing.assert_allclose(force, [0.0], atol=1e-12)  # nothing can push a massless part
    loose = dm.System(lagrangian, ("a", "b", "c"))
    with pytest.raises(ValueError, match=r"mass matrix of .* is singular"):
        dm.acceleration(loose, [1.0, 0, 0.5], [0, 0, 0])


def test_at_a_change_point_accelerations_are_finite_and_multipliers_are_not_made_up() -> None:
    system = dm.systems.four_bar("parallelogram")
    qdd, forces = compiled(
        lambda *x: (dm.acceleration(system, *x), dm.multipliers(system, *x)),
        [0, 0, np.pi],
        [2.0, 0, 2],
    )
    assert np.isfinite(qdd).all()
    assert np.max(np.abs(qdd)) < 1e3
    assert np.isnan(forces).any()


# --- derivatives and batches ---------------------------------------------------------------------


def on_a_closed_curve(q: Any, qd: Any, t: Any, params: Any) -> Any:
    """A bead whose inertia changes with its place, under gravity along its second coordinate."""
    return 0.5 * (1.0 + q[0] ** 2) * qd @ qd - params["gravity"] * q[1]


def sphere_and_saddle(q: Any, t: Any, params: Any) -> Any:
    return jnp.stack([0.5 * (q @ q - 1.0), q[2] - q[0] * q[1]])


BEAD = dm.System(
    on_a_closed_curve, ("x", "y", "z"), {"gravity": GRAVITY}, constraints=sphere_and_saddle
)
# (1 + x²)(1 + y²) = 2 on the curve, which runs perpendicular to both gradients.
BEAD_PLACE = np.array([0.5, np.sqrt(0.6), 0.5 * np.sqrt(0.6)])
BEAD_RATES = 10 * np.cross(BEAD_PLACE, [-BEAD_PLACE[1], -BEAD_PLACE[0], 1.0])


def final(
    stabilise: str, gradient: str, gravity: Any, rate: Any, duration: Any, rtol: Any
) -> jax.Array:
    """Where the bead is in the end, and its rates."""
    run = dm.simulate(
        BEAD.with_params(gravity=gravity),
        BEAD_PLACE,
        rate * BEAD_RATES,
        duration=duration,
        samples=2,
        stabilise=stabilise,
        gradient=gradient,
        rtol=rtol,
        max_steps=256,
    )
    return jnp.concatenate([run.end.q, run.end.qd])


@functools.cache
def final_and_slope_program(stabilise: str) -> Callable[..., Any]:
    def both(gravity: Any, rate: Any, duration: Any, rtol: Any) -> Any:
        def of_gravity(g: Any) -> Any:
            return final(stabilise, "forward", g, rate, duration, rtol)

        return jax.jvp(of_gravity, (gravity,), (jnp.ones_like(gravity),))

    return jax.jit(both)


def final_and_slope(stabilise: str, *numbers: float) -> tuple[np.ndarray, np.ndarray]:
    """The same with its derivative by gravity, one program for both and for all numbers."""
    found = final_and_slope_program(stabilise)(*(np.asarray(x, float) for x in numbers))
    return np.asarray(found[0]), np.asarray(found[1])


@pytest.mark.parametrize("stabilise", ["projection", "baumgarte"])
def test_derivatives_of_constrained_runs_are_right_both_ways(stabilise: str) -> None:
    weights = np.arange(1.0, 7.0)
    how = (1.0, 0.5, 1e-10)

    def plain(gravity: float) -> float:
        return float(weights @ final_and_slope(stabilise, gravity, *how)[0])

    forward = weights @ final_and_slope(stabilise, 9.81, *how)[1]
    reverse = jax.jit(jax.grad(lambda g: weights @ final(stabilise, "reverse", g, *how)))(9.81)
    step = 1e-3
    near = (plain(9.81 + step) - plain(9.81 - step)) / (2 * step)
    far = (plain(9.81 + 2 * step) - plain(9.81 - 2 * step)) / (4 * step)
    difference = (4 * near - far) / 3
    np.testing.assert_allclose(forward, difference, rtol=1e-6)
    np.testing.assert_allclose(reverse, difference, rtol=1e-6)


def test_a_batch_of_held_beads_is_the_loop_over_them() -> None:
    rates = np.linspace(0.5, 1.5, 256)
    how = (0.3, 1e-11)

    @jax.jit
    @jax.vmap
    def ends(rate: Any) -> Any:
        return final("projection", "forward", 9.81, rate, *how)[:3]

    together = np.asarray(ends(rates))
    one_by_one = [final_and_slope("projection", 9.81, rate, *how)[0][:3] for rate in rates[::15]]
    np.testing.assert_allclose(together[::15], one_by_one, atol=1e-10)
    assert np.ptp(together[:, 0]) > 1  # they do different things


# --- other people's benchmarks, given as functions -----------------------------------------------

SQUEEZER = {
    "m": np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]),
    "inertia": np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5]),
    "a": np.array([-0.06934, -0.00227]),
    "b": np.array([-0.03635, 0.03273]),
    "c": np.array([0.014, 0.072]),
}


def along(length: Any, angle: Any) -> Any:
    return length * jnp.array([jnp.cos(angle), jnp.sin(angle)])


def _across(length: Any, angle: Any) -> Any:
    return length * jnp.array([-jnp.sin(angle), jnp.cos(angle)])


def squeezer_points(q: Any, p: Any) -> tuple[Any, Any, Any]:
    """Mass centres (7, 2), angles of the bodies (7,) and the spring's end; lengths in metres."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    crank, a, b = along(0.007, beta), p["a"], p["b"]
    centres = [
        along(0.00092, beta),
        crank - along(0.0115, beta + theta),
        b - _across(0.01874, gamma) + along(0.01043, gamma),
        a + along(0.04, delta) - _across(0.02 - 0.01421, phi + delta),
        a + along(0.02308, delta) + _across(0.00916, delta),
        a - _across(0.04, epsilon) + along(0.02 - 0.01421, omega + epsilon),
        a - _across(0.01228, epsilon) - along(0.00449, epsilon),
    ]
    angles = jnp.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
    return jnp.stack(centres), angles, b - _across(0.018, gamma) + along(0.02, gamma)


def squeezer_lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
    points, velocities = jax.jvp(lambda q: squeezer_points(q, p), (q,), (qd,))
    kinetic = 0.5 * jnp.sum(p["m"][:, None] * velocities[0] ** 2)
    kinetic += 0.5 * jnp.sum(p["inertia"] * velocities[1] ** 2)
    stretch = jnp.linalg.norm(points[2] - p["c"]) - 0.07785
    return kinetic - 0.5 * 4530.0 * stretch**2 + 0.033 * q[0]  # the last: a constant torque


def squeezer_closures(q: Any, t: Any, p: Any) -> Any:
    beta, theta, gamma, phi, delta, omega, epsilon = q
    tip = along(0.007, beta) - along(0.028, beta + theta)
    return jnp.concatenate(
        [
            tip + _across(0.035, gamma) - p["b"],
            tip + _across(0.02, phi + delta) - along(0.04, delta) - p["a"],
            tip - along(0.02, omega + epsilon) + _across(0.04, epsilon) - p["a"],
        ]
    )


def test_andrews_squeezer_to_the_digits_of_the_test_set() -> None:
    """Seven bodies, six constraints: Mazzia and Magherini, Test Set for IVP Solvers, 2.4.

    Reference at 0.03 s by PSIDE at 1e-14. A crank that makes 15 rad in that time amplifies errors
    a thousand times, so what a run at 1e-12 keeps is 1e-8.
    """
    names = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
    system = dm.System(squeezer_lagrangian, names, SQUEEZER, constraints=squeezer_closures)
    q0 = [
        -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885,
        0.487364979543842550, -0.222668390165885885, 1.23054744454982119,
    ]  # fmt: skip
    qdd, force = at(
        lambda q, qd: motion_of(system.laws, q, qd, jnp.zeros(()), system.params), q0, np.zeros(7)
    )
    np.testing.assert_allclose(qdd[:2], [14222.4439199541, -10666.8329399656], rtol=1e-10)
    # Their multipliers have the other sign: M q̈ = f − Gᵀλ.
    np.testing.assert_allclose(-force[:2], [98.5668703962411, -6.12268834425566], rtol=1e-10)
    run = dm.simulate(system, q0, duration=0.03, samples=31, rtol=1e-12)
    printed = [
        15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
        0.5244099658805304, 0.5347301163226948, 1.048080741042263,
    ]  # fmt: skip
    np.testing.assert_allclose(run.qs[-1], printed, atol=1e-8)
    residuals = by_arrays(
        lambda q: residual_of(system.laws, q, jnp.zeros(()), system.params), np.asarray(run.qs)
    )
    assert np.max(np.abs(residuals)) < 1e-15


def test_a_wheel_on_a_moving_belt_is_carried_along() -> None:
    """Pfaffian with a drift: ẋ + r φ̇ = belt speed; the belt's work is accounted for."""

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * 2.0 * qd[0] ** 2 + 0.5 * 0.3 * qd[1] ** 2

    belt = dm.Pfaffian(
        lambda q, t, p: jnp.array([1.0, 0.5]), lambda q, t, p: -3.0 * jnp.sin(2 * t), name="belt"
    )
    system = dm.System(lagrangian, ("x", "turn"), constraints=belt)
    run = dm.simulate(system, [0, 0], [0, 0], duration=2.0, samples=41)
    # λ pushes both: 2 ẍ = λ, 0.3 φ̈ = λ/2, so ẍ = (1/2)/(1/2 + 0.25/0.3) of the belt's ẍ.
    share = 0.5 / (0.5 + 0.25 / 0.3)
    np.testing.assert_allclose(run.qds[:, 0], share * 3 * np.sin(2 * run.ts), atol=1e-9)
    np.testing.assert_allclose(run.multipliers[:, 0], 2 * share * 6 * np.cos(2 * run.ts), atol=1e-9)
    assert imbalance(run) < 1e-9
    assert np.max(run.work) > 0.5


# --- bad input -----------------------------------------------------------------------------------


def free_particle(q: Any, qd: Any, t: Any, params: Any) -> Any:
    return 0.5 * qd @ qd


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        (
            {"loop": lambda q, t, p: jnp.outer(q, q)},
            r"constraints\['loop'\].*must return m numbers",
        ),
        ({"roll": dm.Pfaffian(lambda q, t, p: jnp.ones(3))}, r"'roll'.*must return shape \(m, 2\)"),
        (
            {"roll": dm.Pfaffian(lambda q, t, p: jnp.ones((1, 2)), lambda q, t, p: jnp.ones(2))},
            r"drift of .*'roll'.* must return shape \(1,\)",
        ),
        ([3.0], "must be `Holonomic`s, `Pfaffian`s or functions"),
        ({"loop": lambda q, t, p: q.reshape(7)}, r"constraints\['loop'\]"),
        ({"loop": lambda q, t, p: np.sin(q)}, "must be made of JAX operations"),
    ],
)
def test_constraints_of_the_wrong_shape_are_named(constraints: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        dm.System(free_particle, ("x", "y"), constraints=constraints)


def test_starts_that_break_constraints_are_refused_with_the_way_out() -> None:
    system = pendulum_of_two_lengths(1)
    with pytest.raises(ValueError, match=r"rod1 by 0\.1 in place.*assemble"):
        dm.simulate(system, [1.1, 0.0], duration=1.0)
    with pytest.raises(ValueError, match=r"rod1 by 0\.5 in rates.*check_start=False"):
        dm.simulate(system, [1.0, 0.0], [0.5, 0.0], duration=1.0)
    with pytest.raises(ValueError, match="must be left out"):
        dm.simulate(dm.systems.pendulum(), [1.0], duration=1.0, stabilise="projection")
    with pytest.raises(ValueError, match="`stabilise` must be one of"):
        dm.simulate(system, [1.0, 0.0], duration=1.0, stabilise="magic")
    with pytest.raises(ValueError, match="does not know constraints"):
        dm.simulate(system, [1.0, 0.0], duration=1.0, method="GaussLegendre4", dt=0.01)


def test_units_of_rows_do_not_matter() -> None:
    """Two rows of one constraint, one of them in other units, up to nanometres and gigametres."""

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        return 0.5 * qd @ qd - GRAVITY * q[1] - 0.3 * q[2]

    def rows(q: Any, t: Any, unit: Any) -> Any:
        return jnp.array([q @ q - 1.0, unit * (q[0] - 0.5 * q[1] + 0.1 * q[2] ** 2)])

    system = dm.System(lagrangian, ("x", "y", "z"), 1.0, constraints=rows)
    q, qd = [0.3, 0.8, 0.5], [0.1, 0.2, 0.3]
    seen = jax.jit(
        lambda unit: (
            dm.acceleration(system, q, qd, params=unit),
            dm.multipliers(system, q, qd, params=unit),
        )
    )
    plain, forces = seen(1.0)
    for unit in (1e-9, 1e-6, 1e4, 1e9):
        qdd, pushes = seen(unit)
        np.testing.assert_allclose(qdd, plain, atol=1e-11)
        np.testing.assert_allclose(pushes * np.array([1.0, unit]), forces, rtol=1e-10)


def test_closures_declared_row_by_row_pass_change_points_as_well() -> None:
    whole = dm.systems.four_bar("parallelogram")
    (closure,) = whole.constraints[0].functions
    apart = dm.System(
        whole.lagrangian,
        whole.coordinates,
        whole.params,
        constraints={
            "x": lambda q, t, p: closure(q, t, p)[0],
            "y": lambda q, t, p: closure(q, t, p)[1],
        },
    )
    run = dm.simulate(apart, *whole.starts["spinning"], duration=5.0, samples=101)
    assert run.report(second_run=False).imbalance < 1e-8
    np.testing.assert_allclose(np.sin(run.qs[:, 1]), 0.0, atol=1e-9)
    assert "rank loss" in str(run.report(second_run=False))
