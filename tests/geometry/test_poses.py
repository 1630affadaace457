"""Poses and joints: however they are kept, they compose as rigid motions do."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation as SciPy

from diffmech import geometry as geo

from ..tolerances import EXACT


def matrix(pose: geo.Pose) -> np.ndarray:
    """The pose as a 4 x 4 matrix, whose products are compositions."""
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = pose.rotation, pose.position
    return whole


def test_joints_are_scipys_rotations_about_their_points() -> None:
    a, b, c = 0.7, -1.9, 2.4
    at = [0.3, -0.2, 0.5]
    axis = np.array([1.0, -2.0, 0.5])
    along = axis / np.linalg.norm(axis)
    turn = SciPy.from_rotvec
    expected = {
        "x": (geo.revolute("x", a, at), turn([a, 0, 0]).as_matrix(), at),
        "any axis": (geo.revolute(axis, a, at), turn(a * along).as_matrix(), at),
        "in a plane": (geo.revolute([0, 3, 4], a), turn([0, 0.6 * a, 0.8 * a]).as_matrix(), None),
        "slider": (geo.prismatic(axis, a, at), np.eye(3), at + a * along),
        "slider z": (geo.prismatic("z", a), np.eye(3), [0, 0, a]),
        "universal": (
            geo.universal([a, b], at, "zx"), SciPy.from_euler("ZX", [a, b]).as_matrix(), at,
        ),
        "ball": (
            geo.spherical([a, b, c], at, "yxz"), SciPy.from_euler("yxz", [a, b, c]).as_matrix(), at,
        ),
        "ball by vector": (
            geo.spherical([a, b, c], sequence="vector"), turn([a, b, c]).as_matrix(), None,
        ),
        "planar": (geo.planar(a, b, c), turn([0, 0, c]).as_matrix(), [a, b, 0]),
        "fixed": (geo.fixed(at, turn(axis).as_matrix()), turn(axis).as_matrix(), at),
    }  # fmt: skip
    for name, (pose, rotation, position) in expected.items():
        np.testing.assert_allclose(pose.rotation, rotation, atol=EXACT, err_msg=name)
        origin = np.zeros(3) if position is None else position
        np.testing.assert_allclose(pose.position, origin, atol=EXACT, err_msg=name)


def test_poses_compose_invert_and_act_whether_kept_as_entries_or_arrays() -> None:
    sparse = geo.revolute("x", jnp.asarray(0.4), at=[0.1, 0.2, 0.3])
    dense = geo.revolute(jnp.array([1.0, 2.0, 3.0]), 0.9, at=[0.0, -0.5, 0.2])
    flat = geo.prismatic("y", jnp.asarray(0.8))
    assert not sparse.dense
    assert dense.dense
    for first in (sparse, dense, flat):
        np.testing.assert_allclose(matrix(first.inverse) @ matrix(first), np.eye(4), atol=EXACT)
        for second in (sparse, dense, flat):
            np.testing.assert_allclose(
                matrix(first @ second), matrix(first) @ matrix(second), atol=EXACT
            )
        point = np.array([0.7, -0.1, 1.2])
        np.testing.assert_allclose(
            first.point(point), (matrix(first) @ [*point, 1.0])[:3], atol=EXACT
        )
        np.testing.assert_allclose(
            first.direction(list(point)), matrix(first)[:3, :3] @ point, atol=EXACT
        )
    chain = geo.chained([sparse, dense, flat])
    np.testing.assert_allclose(
        matrix(chain[2]), matrix(sparse) @ matrix(dense) @ matrix(flat), atol=EXACT
    )


def test_drifted_matrices_are_brought_back_to_rotations() -> None:
    rng = np.random.default_rng(1)
    rotation = SciPy.from_rotvec([0.3, 1.2, -0.7]).as_matrix()
    drifted = rotation + 1e-2 * rng.normal(size=(3, 3))
    nearest, by_columns = (np.asarray(f(drifted)) for f in (geo.polar, geo.gram_schmidt))
    for found in (nearest, by_columns):
        np.testing.assert_allclose(found.T @ found, np.eye(3), atol=EXACT)
        assert abs(np.linalg.det(found) - 1) < EXACT
    first = drifted[:, 0] / np.linalg.norm(drifted[:, 0])
    np.testing.assert_allclose(by_columns[:, 0], first, atol=EXACT)
    # No rotation next to the nearest one is nearer.
    distance = np.linalg.norm(nearest - drifted)
    assert np.linalg.norm(by_columns - drifted) > distance
    for step in 1e-3 * rng.normal(size=(20, 3)):
        other = nearest @ SciPy.from_rotvec(step).as_matrix()
        assert np.linalg.norm(other - drifted) > distance
    # A reflection has no rotation near it, and still the result is one.
    assert abs(float(jnp.linalg.det(geo.polar(np.diag([1.0, 1.1, -1.2])))) - 1) < EXACT


def test_plain_zeros_and_ones_leave_no_trace_in_what_is_computed() -> None:
    def turned(q: jax.Array) -> Any:
        pose = geo.revolute("x", q[0]) @ geo.fixed([0, 0, -2.0]) @ geo.revolute("z", q[1])
        return [pose.position, pose.rotation]

    operations = str(jax.make_jaxpr(turned)(jnp.ones(2)))
    # Four products of sines and cosines, two lengths times one: nothing else is multiplied.
    assert operations.count(" mul ") == 6


def test_a_matrix_that_stretches_or_mirrors_is_no_rotation() -> None:
    turned = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(geo.fixed(rotation=turned).rotation, turned)
    for wrong in (2 * np.eye(3), -np.eye(3), np.ones((3, 3)), np.full((3, 3), np.nan)):
        with pytest.raises(ValueError, match=r"`rotation` must be a rotation matrix, R Rᵀ = 1"):
            geo.fixed(rotation=wrong)


_READ = {
    "to_quaternion": geo.to_quaternion,
    "to_rotation_vector": geo.to_rotation_vector,
    "to_axis_angle": geo.to_axis_angle,
    "to_euler": lambda turn: geo.to_euler("ZXZ", turn),
    "angle_between": lambda turn: geo.angle_between(np.eye(3), turn),
    "rotation_rates": lambda turn: geo.rotation_rates(turn, [0.0, 0.0, 1.0]),
    "rotated": lambda turn: geo.rotated(np.eye(3), turn),
}


@pytest.mark.parametrize("name", _READ)
def test_what_is_no_rotation_is_not_read_as_one(name: str) -> None:
    for wrong in (np.diag([1.0, 1.0, -1.0]), 1.001 * np.eye(3)):
        with pytest.raises(ValueError, match="must be a rotation matrix"):
            _READ[name](wrong)


def test_the_polar_rotation_has_a_derivative_at_equal_stretches() -> None:
    way = np.random.default_rng(0).normal(size=(3, 3))
    for matrix in (np.eye(3), np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3)):
        _, exact = jax.jvp(geo.polar, (jnp.asarray(matrix),), (jnp.asarray(way),))
        step = 1e-6
        ahead, behind = geo.polar(matrix + step * way), geo.polar(matrix - step * way)
        np.testing.assert_allclose(exact, (ahead - behind) / (2 * step), atol=1e-8)
