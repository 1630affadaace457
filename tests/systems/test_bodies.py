"""Machines described by their parts, against Lagrangians and balances found by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation as SciPy

import diffmech as dm
from diffmech import geometry as geo

from ..by_tape import by_arrays
from ..conftest import random_states
from ..tolerances import ROUND_OFF

STATES = 100
HINGES = 12  # random machines tried


def accelerations(system: dm.System, q: Any, qd: Any, params: Any = None) -> Any:
    return by_arrays(lambda q, qd: dm.acceleration(system, q, qd, 0.0, params), q, qd)


def assert_same_motion(first: dm.System, second: dm.System, seed: int) -> None:
    q, qd, _ = random_states(2, STATES, seed)
    ours, theirs = accelerations(first, q, qd), accelerations(second, q, qd)
    scale = np.max(np.abs(theirs), axis=1, keepdims=True) + 1.0
    assert np.max(np.abs(ours - theirs) / scale) < ROUND_OFF


def test_the_babyboot_of_bodies_is_the_babyboot_of_the_lagrangian() -> None:
    assert_same_motion(dm.systems.babyboot_of_bodies(), dm.systems.babyboot(), seed=1)
    boot = dm.systems.babyboot()
    bodies = dm.systems.babyboot_of_bodies()
    q, qd, _ = random_states(2, 5, seed=2)
    ours, theirs = (
        by_arrays(lambda q, qd, system=system: dm.energy(system, q, qd), q, qd)
        for system in (bodies, boot)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_the_babyboot_is_a_double_pendulum_in_space() -> None:
    crossed = dm.systems.double_pendulum_3d(
        axes=[[1, 0, 0], [0, 0, 1]],
        masses=[0.01, 0.1],
        inertias=[[5e-6, 5e-6, 0.0], [2.5e-4, 0.5e-4, 2e-4]],
        elbow=[0, 0, -0.2],
        centres=[[0, 0, -0.075], [0, 0, 0]],
    )
    assert_same_motion(crossed, dm.systems.babyboot(), seed=3)


def test_the_planar_double_pendulum_is_a_double_pendulum_in_space() -> None:
    axis = np.array([0.0, 1.0, 0.0])
    parallel = dm.systems.double_pendulum_3d(
        axes=[axis, axis],
        masses=[1.2, 0.7],
        inertias=[[0.3, 0.2, 0.15], [0.1, 0.05, 0.07]],
        elbow=[0, 0, -0.9],
        centres=[[0, 0, -0.4], [0, 0, -0.3]],
    )
    planar = dm.systems.n_link(
        2, masses=[1.2, 0.7], inertias=[0.2, 0.05], lengths=[0.9, 1.0], centres=[0.4, 0.3]
    )
    q, qd, _ = random_states(2, STATES, seed=4)
    relative = np.array([[1.0, 0.0], [-1.0, 1.0]])  # the chain's angles are from the vertical
    ours = accelerations(parallel, q @ relative.T, qd @ relative.T)
    theirs = np.asarray(accelerations(planar, q, qd)) @ relative.T
    assert np.max(np.abs(ours - theirs)) < ROUND_OFF * np.max(np.abs(theirs))


def random_double_pendulum(seed: int) -> dm.System:
    """Arbitrary axes, full inertia tensors, mass centres off the axes."""
    rng = np.random.default_rng(seed)
    tensors = []
    for _ in range(2):
        turn = SciPy.from_rotvec(rng.normal(size=3)).as_matrix()
        tensors.append(turn @ np.diag(rng.uniform(0.5, 0.9, 3)) @ turn.T)
    return dm.systems.double_pendulum_3d(
        axes=rng.normal(size=(2, 3)),
        masses=rng.uniform(0.5, 2, 2),
        inertias=tensors,
        elbow=rng.normal(size=3),
        centres=rng.normal(size=(2, 3)),
    )


def newton_euler(system: dm.System, q: np.ndarray, qd: np.ndarray) -> dict[str, Any]:
    """Accelerations and reactions by forces and moments on each body: no energy, no autodiff."""
    p = jax.tree.map(np.asarray, system.params)
    a1, a2 = (a / np.linalg.norm(a) for a in p.axes)
    r1 = SciPy.from_rotvec(a1 * q[0]).as_matrix()
    r2 = r1 @ SciPy.from_rotvec(a2 * q[1]).as_matrix()
    axis1, axis2 = a1, r1 @ a2
    w1 = axis1 * qd[0]
    w2 = w1 + axis2 * qd[1]
    elbow, c1, c2 = r1 @ p.elbow, r1 @ p.centres[0], r2 @ p.centres[1]
    i1, i2 = r1 @ p.upper.inertia @ r1.T, r2 @ p.lower.inertia @ r2.T
    g = np.array([0, 0, -float(p.gravity)])
    m1, m2 = float(p.upper.mass), float(p.lower.mass)

    def balance(qdd: np.ndarray) -> tuple[np.ndarray, ...]:
        al1 = axis1 * qdd[0]
        al2 = al1 + axis2 * qdd[1] + np.cross(w1, axis2 * qd[1])
        acc1 = np.cross(al1, c1) + np.cross(w1, np.cross(w1, c1))
        hinge2 = np.cross(al1, elbow) + np.cross(w1, np.cross(w1, elbow))
        acc2 = hinge2 + np.cross(al2, c2) + np.cross(w2, np.cross(w2, c2))
        force2 = m2 * (acc2 - g)
        moment2 = i2 @ al2 + np.cross(w2, i2 @ w2) + np.cross(c2, force2)  # about the elbow
        force1 = force2 + m1 * (acc1 - g)
        moment1 = (
            i1 @ al1 + np.cross(w1, i1 @ w1) + np.cross(c1, m1 * (acc1 - g))
            + moment2 + np.cross(elbow, force2)
        )  # fmt: skip
        return force1, moment1, force2, moment2

    def along_axes(qdd: np.ndarray) -> np.ndarray:
        _, moment1, _, moment2 = balance(qdd)
        return np.array([axis1 @ moment1, axis2 @ moment2])

    rest = along_axes(np.zeros(2))  # frictionless hinges: no moment along either axis
    matrix = np.stack([along_axes(e) - rest for e in np.eye(2)], axis=1)
    qdd = np.linalg.solve(matrix, -rest)
    force1, moment1, force2, moment2 = balance(qdd)
    return {
        "qdd": qdd,
        "axes": (axis1, axis2),
        "shoulder": (force1, moment1, np.zeros(3)),
        "elbow": (force2, moment2, elbow),
    }


def test_the_double_pendulum_in_space_obeys_newton_and_euler_with_its_reactions() -> None:
    base = random_double_pendulum(0)

    def ours(q: Any, qd: Any, params: Any) -> Any:
        return (
            dm.acceleration(base, q, qd, 0.0, params),
            dm.reactions(base, q, qd, 0.0, params),
        )

    others = [random_double_pendulum(seed) for seed in range(HINGES)]
    qs, qds, _ = (
        np.concatenate(x)
        for x in zip(*(random_states(2, 1, seed) for seed in range(HINGES)), strict=True)
    )
    params = jax.tree.map(lambda *x: np.stack(x), *(other.params for other in others))
    qdds, found_by_joint = by_arrays(ours, qs, qds, params)
    for i, (other, q, qd, qdd) in enumerate(zip(others, qs, qds, qdds, strict=True)):
        reactions = jax.tree.map(lambda x, i=i: x[i], found_by_joint)
        by_hand = newton_euler(other, q, qd)
        scale = np.max(np.abs(by_hand["qdd"])) + 1.0
        np.testing.assert_allclose(qdd, by_hand["qdd"], atol=ROUND_OFF * scale)
        for axis, name in zip(by_hand["axes"], ("shoulder", "elbow"), strict=True):
            force, moment, point = by_hand[name]
            size = float(np.linalg.norm(force) + np.linalg.norm(moment)) + 1.0
            found = reactions[name]
            np.testing.assert_allclose(found.force, force, atol=ROUND_OFF * size)
            np.testing.assert_allclose(found.moment, moment, atol=ROUND_OFF * size)
            np.testing.assert_allclose(found.point, point, atol=ROUND_OFF)
            assert abs(np.asarray(found.moment) @ axis) < ROUND_OFF * size


def test_reactions_along_a_run_balance_the_momentum_of_all_bodies() -> None:
    system = dm.systems.double_pendulum_3d()
    run = dm.simulate(system, *system.starts["chaotic"], duration=1.0)
    bodies, reactions = run.bodies(), run.reactions()
    weight = np.array([0.0, 0.0, -2 * 9.81])
    # d/dt of the momentum by differences of fourth order on the samples.
    h = float(run.ts[1] - run.ts[0])

    def rate(x: Any) -> np.ndarray:
        x = np.asarray(x)
        return (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * h)

    momentum = sum(np.asarray(body.momentum) for body in bodies.values())
    force = np.asarray(reactions["shoulder"].force) + weight
    np.testing.assert_allclose(rate(momentum), force[2:-2], atol=1e-7)
    about = np.asarray(dm.angular_momentum(bodies, np.zeros(3)))
    weights = sum(
        np.cross(body.position, [0.0, 0.0, -9.81]) for body in bodies.values()
    )  # both masses are 1 kg
    moment = np.asarray(reactions["shoulder"].moment) + weights
    np.testing.assert_allclose(rate(about), moment[2:-2], atol=1e-7)


def loaded(q: Any, t: Any, p: Any) -> Any:
    """Two bodies in space with everything that can act on them."""
    first = geo.universal(q[:2], axes="zx")
    second = first @ geo.revolute([1.0, 2.0, -0.5], q[2], at=[0.3, 0.1, -0.8])
    tip = second.point([0.0, 0.2, -0.6])
    return {
        "first": p["first"].at(first @ geo.fixed([0.0, 0.0, -0.4])),
        "second": p["second"].at(second),
        "bob": p["bob"].at(tip),
        "gravity": dm.parts.Gravity(9.81),
        "spring": p["spring"].between([1.0, 0.0, 0.0], tip),
        "twist": p["spring"].across(q[2]),
        "wound": p["spring"].twisting(first, second),
        "damper": p["damper"].between([0.0, 1.0, 0.0], tip),
        "hinge": p["damper"].across(q[1]),
        "drag": p["damper"].on(tip),
        "bearing": p["damper"].turning(first, second),
        "air": p["damper"].turning(second),
        "wind": dm.parts.force([0.3 * jnp.cos(t), 0.1, -0.2], at=tip),
        "motor": dm.parts.torque(first.direction([0.1, 0.2, 0.3]), on=second, against=first),
        "coil": dm.parts.torque([0.0, 0.4, 0.1], on=first),
    }


LOADED = {
    "first": dm.parts.RigidBody(1.1, [0.3, 0.4, 0.5]),
    "second": dm.parts.RigidBody(0.6, [[0.2, 0.01, 0.0], [0.01, 0.25, 0.02], [0.0, 0.02, 0.3]]),
    "bob": dm.parts.Particle(0.2),
    "spring": dm.parts.Spring(3.0, 0.7),
    "damper": dm.parts.Damper(0.2, quadratic=0.1, coulomb=0.3, smoothing=0.05),
}


def loaded_by_hand(q: np.ndarray, qd: np.ndarray, t: float, system: dm.System) -> Any:
    """Potential energy and generalised forces, Q_i = F·∂r/∂q_i + M·∂ω/∂q̇_i, from differences."""
    step = 1e-6

    def pose(q: np.ndarray) -> tuple[np.ndarray, ...]:
        r1 = SciPy.from_euler("ZX", q[:2]).as_matrix()
        axis = np.array([1.0, 2.0, -0.5]) / np.sqrt(5.25)
        r2 = r1 @ SciPy.from_rotvec(axis * q[2]).as_matrix()
        joint = r1 @ np.array([0.3, 0.1, -0.8])
        return r1, r2, joint, joint + r2 @ np.array([0.0, 0.2, -0.6])

    def potential(q: np.ndarray) -> float:
        r1, r2, joint, tip = pose(q)
        centre = r1 @ np.array([0.0, 0.0, -0.4])
        height = 1.1 * centre[2] + 0.6 * joint[2] + 0.2 * tip[2]
        angle = np.linalg.norm(SciPy.from_matrix(r1.T @ r2).as_rotvec())
        springs = (np.linalg.norm(tip - [1, 0, 0]) - 0.7) ** 2 + (q[2] - 0.7) ** 2 + angle**2
        return 9.81 * height + 1.5 * springs

    def gradient(f: Any) -> np.ndarray:
        return np.stack([(f(q + e) - f(q - e)) / (2 * step) for e in step * np.eye(3)], axis=-1)

    def spins(f: Any) -> np.ndarray:
        rates, r = gradient(f), f(q)
        return np.stack([geo.vee(rates[..., i] @ r.T) for i in range(3)], axis=-1)

    def law(v: Any) -> Any:
        v = np.asarray(v)
        size = np.sqrt(np.sum(v**2))
        return -(0.2 + 0.1 * size + 0.3 / np.sqrt(size**2 + 0.05**2)) * v

    r1, _, _, tip = pose(q)
    j_tip = gradient(lambda q: pose(q)[3])
    j1, j2 = spins(lambda q: pose(q)[0]), spins(lambda q: pose(q)[1])
    line = (tip - [0, 1, 0]) / np.linalg.norm(tip - [0, 1, 0])
    along = law(line @ j_tip @ qd) * line
    motor = r1 @ np.array([0.1, 0.2, 0.3])
    force = (
        j_tip.T @ (along + law(j_tip @ qd) + [0.3 * np.cos(t), 0.1, -0.2])
        + [0.0, law(qd[1]), 0.0]
        + (j2 - j1).T @ (law((j2 - j1) @ qd) + motor)
        + j2.T @ law(j2 @ qd)
        + j1.T @ [0.0, 0.4, 0.1]
    )
    return potential(q), gradient(potential), force


def test_springs_dampers_forces_and_torques_act_as_they_say() -> None:
    system = dm.machine(loaded, ("a", "b", "c"), LOADED)
    plain = dm.machine(
        lambda q, t, p: {k: loaded(q, t, p)[k] for k in ("first", "second", "bob")},
        ("a", "b", "c"),
        LOADED,
    )
    qs, qds, _ = (
        0.7 * np.concatenate(x)
        for x in zip(*(random_states(3, 1, seed) for seed in range(4)), strict=True)
    )
    energies, differences = by_arrays(
        lambda q, qd: (
            dm.energy(system, q, qd, 0.4).potential,
            dm.bias(system, q, qd, 0.4) - dm.bias(plain, q, qd, 0.4),
        ),
        qs,
        qds,
    )
    for q, qd, energy, difference in zip(qs, qds, energies, differences, strict=True):
        potential, slope, force = loaded_by_hand(q, qd, 0.4, system)
        assert energy == pytest.approx(potential, rel=1e-12)
        # Finite differences of the potential lose half of the digits.
        np.testing.assert_allclose(difference, slope - force, atol=1e-7)


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


def test_two_links_need_two_inertias() -> None:
    with pytest.raises(ValueError, match="`inertias` must be two"):
        dm.systems.double_pendulum_3d(inertias=3)  # pyright: ignore[reportArgumentType]
