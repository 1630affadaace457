"""Rotations: group axioms, round trips, derivatives, SciPy; at 0, at half turns and at poles."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation as SciPy

from diffmech import geometry as geo

from ..by_tape import by_arrays
from ..tolerances import CHAIN_ROUND_OFF, COMPOSED, EXACT, ROUND_OFF


def rotations() -> list[np.ndarray]:
    """Random ones, near the identity, small, quarter and half turns, and next to half turns."""
    rng = np.random.default_rng(1)
    vectors = [*rng.normal(scale=1.5, size=(30, 3))]
    for axis in [*np.eye(3), *(v / np.linalg.norm(v) for v in rng.normal(size=(4, 3)))]:
        for angle in (0.0, 1e-300, 1e-12, 1e-7, 9.99e-3, 1.001e-2, 0.1, np.pi / 2, np.pi - 1e-7):
            vectors.append(angle * axis)
        vectors += [np.pi * axis, -np.pi * axis]
    return [SciPy.from_rotvec(v).as_matrix() for v in vectors]


ALL = np.stack(rotations())
TURN = np.array([[0.0, -0.3, 0.2], [0.3, 0.0, -0.5], [-0.2, 0.5, 0.0]])  # a rate of rotation

DESCRIPTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "quaternion": (geo.from_quaternion, geo.to_quaternion),
    "rotation vector": (geo.from_rotation_vector, geo.to_rotation_vector),
    **{
        sequence: (
            functools.partial(geo.from_euler, sequence),
            functools.partial(geo.to_euler, sequence),
        )
        for sequence in geo.SEQUENCES
    },
}


def test_there_are_24_conventions() -> None:
    assert len(set(geo.SEQUENCES)) == 24
    with pytest.raises(ValueError, match=r"there is no Euler sequence 'ZXx'\."):
        geo.from_euler("ZXx", np.zeros(3))


def test_every_description_round_trips_as_a_rotation() -> None:
    def all_of_them(r: Any) -> dict[str, Any]:
        return {name: make(read(r)) for name, (make, read) in DESCRIPTIONS.items()}

    for name, again in by_arrays(all_of_them, ALL).items():
        np.testing.assert_allclose(again, ALL, rtol=0, atol=3 * EXACT, err_msg=name)


def test_axis_and_angle_round_trip_and_follow_the_trace() -> None:
    axes, angles = jax.jit(jax.vmap(geo.to_axis_angle))(ALL)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0, atol=EXACT)
    again = jax.jit(jax.vmap(geo.from_axis_angle))(axes, angles)
    np.testing.assert_allclose(again, ALL, rtol=0, atol=3 * EXACT)
    np.testing.assert_allclose(1 + 2 * np.cos(angles), np.trace(ALL, axis1=1, axis2=2), atol=EXACT)
    assert np.all((angles >= 0) & (angles <= np.pi))


def test_euler_matrices_and_angles_are_scipys() -> None:
    angles = np.random.default_rng(2).uniform(-3, 3, size=(50, 3))

    def all_of_them(x: Any) -> dict[str, Any]:
        made = {sequence: geo.from_euler(sequence, x) for sequence in geo.SEQUENCES}
        return {sequence: (r, geo.to_euler(sequence, r)) for sequence, r in made.items()}

    for sequence, (ours, read) in by_arrays(all_of_them, angles).items():
        theirs = SciPy.from_euler(sequence, angles)
        np.testing.assert_allclose(ours, theirs.as_matrix(), atol=EXACT, err_msg=sequence)
        np.testing.assert_allclose(
            read, theirs.as_euler(sequence), atol=ROUND_OFF, err_msg=sequence
        )
        if sequence in ("ZXZ", "xyz"):  # compiled they are the same: of both kinds one is enough
            compiled = jax.jit(jax.vmap(functools.partial(geo.to_euler, sequence)))(ours)
            np.testing.assert_allclose(compiled, read, atol=ROUND_OFF, err_msg=sequence)


def test_other_conversions_are_scipys() -> None:
    scipy = SciPy.from_matrix(ALL)
    vectors = scipy.as_rotvec()
    np.testing.assert_allclose(
        jax.vmap(geo.from_rotation_vector)(vectors), scipy.as_matrix(), atol=3 * EXACT
    )
    quaternions = scipy.as_quat(scalar_first=True)
    np.testing.assert_allclose(
        jax.vmap(geo.from_quaternion)(quaternions), scipy.as_matrix(), atol=3 * EXACT
    )
    ours = np.asarray(jax.vmap(geo.to_quaternion)(ALL))
    same = np.sum(ours * quaternions, axis=1)  # ±1: both signs are the same rotation
    np.testing.assert_allclose(np.abs(same), 1.0, atol=EXACT)
    # A quaternion of another length is the same rotation.
    np.testing.assert_allclose(geo.from_quaternion(3.0 * ours[5]), ALL[5], atol=3 * EXACT)


def test_group_axioms() -> None:
    quaternions = jax.vmap(geo.to_quaternion)(ALL)
    shuffled = np.random.default_rng(3).permutation(len(ALL))
    product = jax.vmap(geo.quaternion_product)(quaternions, quaternions[shuffled])
    matrices = jax.vmap(geo.from_quaternion)(product)
    np.testing.assert_allclose(matrices, ALL @ ALL[shuffled], atol=3 * EXACT)
    unit = jax.vmap(lambda q: geo.quaternion_product(q, geo.quaternion_inverse(q)))(quaternions)
    np.testing.assert_allclose(unit, np.tile([1.0, 0, 0, 0], (len(ALL), 1)), atol=3 * EXACT)
    np.testing.assert_allclose(
        jax.vmap(lambda r: r.T @ r)(matrices), np.tile(np.eye(3), (len(ALL), 1, 1)), atol=3 * EXACT
    )
    np.testing.assert_allclose(np.linalg.det(matrices), 1.0, atol=3 * EXACT)
    v, w = np.random.default_rng(4).normal(size=(2, 3))
    np.testing.assert_allclose(geo.hat(v) @ w, np.cross(v, w), atol=EXACT)
    np.testing.assert_allclose(geo.vee(geo.hat(v)), v, atol=EXACT)
    assert float(geo.angle_between(ALL[0], ALL[0] @ geo.rotation_about(1, 0.3))) == pytest.approx(
        0.3, abs=EXACT
    )


def test_derivatives_are_finite_and_right_wherever_they_exist() -> None:
    directions = np.random.default_rng(5).normal(size=(len(ALL), 3))

    def all_of_them(r: Any, v: Any) -> dict[str, Any]:
        found = {}
        for name, (make, read) in DESCRIPTIONS.items():
            x, slope = jax.jvp(
                lambda s, read=read: read(r @ geo.from_rotation_vector(s * v)), (0.0,), (1.0,)
            )
            body = geo.angular_velocity(make, x, slope)
            far = geo.pole_distance(name, x) if name in geo.SEQUENCES else jnp.ones(())
            found[name] = (slope, body, far, jax.jacfwd(make)(x))
        return found

    half_turn = np.asarray(jax.vmap(geo.to_axis_angle)(ALL)[1]) > np.pi - 0.05
    for name, (slope, body, far, there) in by_arrays(all_of_them, ALL, directions).items():
        # Finite everywhere, at 0, at half turns and at poles too.
        assert np.all(np.isfinite(slope)), name
        assert np.all(np.isfinite(there)), name
        # Right, as a rotation, away from poles and half turns, where a description jumps.
        regular = np.asarray(far) > 0.05 if name in geo.SEQUENCES else ~half_turn
        assert np.sum(regular) > 20
        np.testing.assert_allclose(
            np.asarray(body)[regular], directions[regular], atol=CHAIN_ROUND_OFF, err_msg=name
        )


def test_angles_round_trip_at_and_next_to_their_poles() -> None:
    rng = np.random.default_rng(10)
    near = [0.0, 1e-300, 1e-16, 1e-12, -1e-9, 1e-7, -1e-5, 1e-3]
    outer = rng.uniform(-3, 3, size=(len(near), 2))

    def all_of_them(a: Any, off: Any, c: Any) -> dict[str, Any]:
        found = {}
        for sequence in geo.SEQUENCES:
            proper = sequence[0] == sequence[2]
            for pole in (0.0, jnp.pi) if proper else (-jnp.pi / 2, jnp.pi / 2):
                r = geo.from_euler(sequence, jnp.stack([a, pole + off, c]))
                x = geo.to_euler(sequence, r)
                slope = jax.jvp(functools.partial(geo.to_euler, sequence), (r,), (r @ TURN,))[1]
                found[f"{sequence} at {pole:.2f}"] = (r, geo.from_euler(sequence, x), slope)
        return found

    for name, (r, again, slope) in by_arrays(
        all_of_them, outer[:, 0], np.array(near), outer[:, 1]
    ).items():
        np.testing.assert_allclose(again, r, rtol=0, atol=3 * EXACT, err_msg=name)
        assert np.all(np.isfinite(slope)), name


def test_second_derivatives_at_the_identity_exist() -> None:
    def there_and_back(v: Any) -> Any:
        return geo.to_rotation_vector(geo.from_rotation_vector(v))

    def derivatives(v: Any) -> Any:
        hessian = jax.hessian(lambda v: geo.from_rotation_vector(v)[0, 0])(v)
        return hessian, jax.jacfwd(there_and_back)(v), jax.jacfwd(jax.jacrev(there_and_back))(v)

    hessian, first, second = (found[0] for found in by_arrays(derivatives, np.zeros((1, 3))))
    np.testing.assert_allclose(hessian, np.diag([0.0, -1.0, -1.0]), atol=EXACT)
    np.testing.assert_allclose(first, np.eye(3), atol=EXACT)
    np.testing.assert_allclose(second, np.zeros((3, 3, 3)), atol=EXACT)


@pytest.mark.parametrize("frame", ["body", "space"])
def test_angular_velocity_and_rates_are_inverse(frame: str) -> None:
    rng = np.random.default_rng(6)
    omega = rng.normal(size=3)
    vectors = [np.zeros(3), [1e-9, 0, 0], *rng.normal(size=(5, 3)), [0.0, 0.0, np.pi]]

    def of_vectors(v: Any) -> Any:
        q = geo.to_quaternion(geo.from_rotation_vector(v))
        return (
            geo.angular_velocity(
                geo.from_rotation_vector,
                v,
                geo.rotation_vector_rates(v, omega, frame=frame),
                frame=frame,
            ),
            geo.angular_velocity(
                geo.from_quaternion, q, geo.quaternion_rates(q, omega, frame=frame), frame=frame
            ),
        )

    for found in jax.jit(jax.vmap(of_vectors))(np.array(vectors)):
        np.testing.assert_allclose(found, np.tile(omega, (len(vectors), 1)), atol=COMPOSED)

    def of_angles(angles: Any) -> Any:
        found = {}
        # In space it is the same times R: a few conventions do.
        for sequence in geo.SEQUENCES[:: 1 if frame == "body" else 5]:
            turn = functools.partial(geo.from_euler, sequence)
            rates = geo.rates_of(turn, angles, omega, frame=frame)
            back = geo.angular_velocity(turn, angles, rates, frame=frame)
            matrix = geo.velocity_matrix(turn, angles, frame=frame)
            found[sequence] = (back, jnp.linalg.det(matrix), geo.pole_distance(sequence, angles))
        return found

    for back, determinant, distance in by_arrays(of_angles, np.array([[0.3, 0.9, -1.2]])).values():
        np.testing.assert_allclose(back[0], omega, atol=COMPOSED)
        assert abs(determinant[0]) == pytest.approx(float(distance[0]), abs=COMPOSED)

    rotation = ALL[3]
    rate = geo.rotation_rates(rotation, omega, frame=frame)
    other = rotation.T @ rate if frame == "body" else rate @ rotation.T
    np.testing.assert_allclose(geo.vee(other), omega, atol=COMPOSED)


def test_body_and_space_components_differ_by_the_rotation() -> None:
    x, xd = np.random.default_rng(7).normal(size=(2, 3))
    turn = functools.partial(geo.from_euler, "ZXZ")
    body = geo.angular_velocity(turn, x, xd)
    space = geo.angular_velocity(turn, x, xd, frame="space")
    np.testing.assert_allclose(turn(x) @ body, space, atol=COMPOSED)
    # The transport theorem: d/dt (R u) = R u' + ω × R u.
    u, ud = np.random.default_rng(8).normal(size=(2, 3))
    _, rate = jax.jvp(lambda x, u: turn(x) @ u, (x, u), (xd, ud))
    np.testing.assert_allclose(rate, turn(x) @ ud + np.cross(space, turn(x) @ u), atol=COMPOSED)


def test_small_rotations_commute_to_first_order() -> None:
    a, b = np.random.default_rng(9).normal(size=(2, 3)) * 1e-6
    both = geo.from_rotation_vector(a) @ geo.from_rotation_vector(b)
    np.testing.assert_allclose(geo.to_rotation_vector(both), a + b, atol=2e-12)


def test_wrong_frames_and_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="`frame` must be 'body' or 'space', but is 'world'"):
        geo.quaternion_rates(np.array([1.0, 0, 0, 0]), np.zeros(3), frame="world")
    with pytest.raises(ValueError, match="`x` must be three numbers, but has shape"):
        geo.rates_of(geo.from_quaternion, np.array([1.0, 0, 0, 0]), np.zeros(3))


def test_the_middle_angle_keeps_its_range_at_the_pole() -> None:
    for angles in ([0.0, -np.pi, 0.0], [0.3, np.pi, 0.0], [0.2, -1e-17, 0.1]):
        for sequence in ("ZXZ", "xyx", "YZY"):
            rotation = geo.from_euler(sequence, angles)
            found = np.asarray(geo.to_euler(sequence, rotation))
            assert 0 <= found[1] <= np.pi
            np.testing.assert_allclose(geo.from_euler(sequence, found), rotation, atol=1e-14)
