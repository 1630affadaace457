"""Inertia tensors against integrals over random points, and the laws they obey."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diffmech import geometry as geo

from ..tolerances import CHAIN_ROUND_OFF, OF_SQUARES, ROUND_OFF

MASS, A, B, C = 1.7, 0.6, 0.8, 1.1
COUNT = 400  # Gauss points per axis are exact for these polynomials; the curved need many


def tensor_of(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ w (r² 1 − r rᵀ) about the points' own mass centre, for a total mass of MASS."""
    weights = MASS * weights / weights.sum()
    r = points - weights @ points / MASS
    return np.einsum("i,ijk->jk", weights, np.sum(r**2, 1)[:, None, None] * np.eye(3)) - np.einsum(
        "i,ij,ik->jk", weights, r, r
    )


def grid(*axes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The product of quadratures, each (nodes, weights)."""
    nodes = np.stack(np.meshgrid(*(a[0] for a in axes), indexing="ij"), -1).reshape(-1, len(axes))
    weights = np.prod(np.meshgrid(*(a[1] for a in axes), indexing="ij"), axis=0).ravel()
    return nodes, weights


def gauss(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    x, w = np.polynomial.legendre.leggauss(6)
    return low + (high - low) * (x + 1) / 2, w


TURN = (np.arange(8) * np.pi / 4, np.ones(8))  # exact for low harmonics


def _solid_of_revolution(radius: Callable[[Any], Any], height: float) -> np.ndarray:
    nodes, weights = grid(gauss(0, height), gauss(0, 1), TURN)
    z, s, phi = nodes.T
    r = s * radius(z)
    points = np.stack([r * np.cos(phi), r * np.sin(phi), z], 1)
    return tensor_of(points, weights * s * radius(z) ** 2)


def _ring(radius: np.ndarray, weights: np.ndarray) -> np.ndarray:
    nodes, w = grid((radius, weights), TURN)
    r, phi = nodes.T
    return tensor_of(np.stack([r * np.cos(phi), r * np.sin(phi), 0 * r], 1), w)


def _box(x: float, y: float, z: float) -> np.ndarray:
    return tensor_of(*grid(gauss(-x / 2, x / 2), gauss(-y / 2, y / 2), gauss(-z / 2, z / 2)))


def _ellipsoid() -> np.ndarray:
    nodes, w = grid(gauss(0, 1), gauss(-1, 1), TURN)
    s, u, phi = nodes.T
    flat = s * np.sqrt(1 - u**2)
    points = np.stack([A * flat * np.cos(phi), B * flat * np.sin(phi), C * s * u], 1)
    return tensor_of(points, w * s**2)


nodes, disc_weights = gauss(0, A)
EACH: dict[str, tuple[Any, Any]] = {
    "rod": (geo.rod(MASS, A), _box(0, 0, A)),
    "plate": (geo.plate(MASS, A, B), _box(A, B, 0)),
    "box": (geo.box(MASS, A, B, C), _box(A, B, C)),
    "hoop": (geo.hoop(MASS, A), _ring(np.array([A]), np.ones(1))),
    "disc": (geo.disc(MASS, A), _ring(nodes, disc_weights * nodes)),
    "cylinder": (geo.cylinder(MASS, A, C), _solid_of_revolution(lambda z: A + 0 * z, C)),
    "cone": (geo.cone(MASS, A, C), _solid_of_revolution(lambda z: A * (1 - z / C), C)),
    "ellipsoid": (geo.ellipsoid(MASS, A, B, C), _ellipsoid()),
    "ball": (geo.ball(MASS, A), 2 / 5 * MASS * A**2 * np.eye(3)),
    "dumbbell": (
        geo.dumbbell(MASS, A),
        tensor_of(np.array([[0, 0, A / 2], [0, 0, -A / 2]]), np.ones(2)),
    ),
}


@pytest.mark.parametrize("name", EACH)
def test_solids_are_the_integrals_over_them(name: str) -> None:
    closed, integral = EACH[name]
    np.testing.assert_allclose(closed, integral, atol=ROUND_OFF)
    geo.require_inertia(closed)


def test_a_discs_third_moment_is_half_m_r_squared() -> None:
    assert float(geo.disc(2.0, 3.0)[2, 2]) == 9.0  # a quarter is printed in some notes


def test_the_jack_stands_for_any_body() -> None:
    moments = np.array([2.0, 3.0, 4.5])
    masses = np.asarray(geo.jack_masses(moments, 0.7))
    np.testing.assert_allclose(geo.jack(masses, 0.7), np.diag(moments), atol=ROUND_OFF)
    points = 0.7 * np.concatenate([np.eye(3), -np.eye(3)])
    direct = sum(geo.point(m, p) for m, p in zip([*masses, *masses], points, strict=True))
    np.testing.assert_allclose(direct, np.diag(moments), atol=ROUND_OFF)
    assert masses[0] == pytest.approx((3.0 + 4.5 - 2.0) / (4 * 0.49))
    flat = geo.jack_masses(np.array([1.0, 2.0, 3.0]), 1.0)  # equality: no mass on the normal
    assert float(flat[2]) == 0.0


def test_parallel_axis_rotation_and_composition() -> None:
    rng = np.random.default_rng(0)
    clouds = [(rng.uniform(0.5, 2, size=9), rng.normal(size=(9, 3)) + rng.normal(size=3))
              for _ in range(3)]  # fmt: skip
    parts = []
    for masses, points in clouds:
        centre = masses @ points / masses.sum()
        tensor = sum(geo.point(m, p - centre) for m, p in zip(masses, points, strict=True))
        parts.append((masses.sum(), centre, tensor))
    mass, centre, tensor = geo.composed(parts)
    masses = np.concatenate([m for m, _ in clouds])
    points = np.concatenate([p for _, p in clouds])
    middle = masses @ points / masses.sum()
    direct = sum(geo.point(m, p - middle) for m, p in zip(masses, points, strict=True))
    assert float(mass) == pytest.approx(masses.sum(), rel=ROUND_OFF)
    np.testing.assert_allclose(centre, middle, atol=ROUND_OFF)
    np.testing.assert_allclose(tensor, direct, rtol=CHAIN_ROUND_OFF)
    offset = np.array([0.3, -1.0, 2.0])
    about = sum(geo.point(m, p - middle - offset) for m, p in zip(masses, points, strict=True))
    np.testing.assert_allclose(geo.parallel_axis(tensor, mass, offset), about, rtol=CHAIN_ROUND_OFF)
    rotation = geo.from_rotation_vector(rng.normal(size=3))
    turned = sum(geo.point(m, rotation @ (p - middle)) for m, p in zip(masses, points, strict=True))
    np.testing.assert_allclose(
        geo.rotated(tensor, rotation), turned, rtol=OF_SQUARES, atol=OF_SQUARES
    )


def test_principal_axes_are_right_handed_and_diagonalise() -> None:
    rotation = geo.from_rotation_vector(np.array([0.3, -2.0, 0.8]))
    tensor = geo.rotated(np.diag([3.0, 1.0, 2.5]), rotation)
    moments, axes = geo.principal(tensor)
    np.testing.assert_allclose(moments, [1.0, 2.5, 3.0], atol=ROUND_OFF)
    np.testing.assert_allclose(axes.T @ tensor @ axes, np.diag(moments), atol=ROUND_OFF)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_flat_bodies_have_the_perpendicular_axis() -> None:
    tensor = geo.lamina(1.0, 2.0, -0.3)
    assert float(tensor[2, 2]) == 3.0
    assert float(tensor[0, 1]) == float(tensor[1, 0]) == -0.3


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: geo.require_inertia(np.diag([1.0, 1.0, 3.0])), r"must have I1 \+ I2 >= I3"),
        (lambda: geo.require_inertia(np.diag([1.0, -1.0, 1.0])), "no negative moment, but has -1"),
        (lambda: geo.require_inertia(np.eye(3) + np.eye(3, k=1)), "must be symmetric"),
        (lambda: geo.require_inertia(np.diag([1.0, np.nan, 1.0])), "must be finite"),
        (lambda: geo.jack_masses(np.array([1.0, 1.0, 2.1]), 1.0), r"must have I1 \+ I2 >= I3"),
        (lambda: geo.box(-1.0, 1.0, 1.0, 1.0), "`mass` must not be negative, but is -1"),
        (lambda: geo.rod(1.0, -2.0), "`length` must not be negative, but is -2"),
        (lambda: geo.composed([]), "must have at least one body"),
    ],
)
def test_what_no_body_has_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wrong()


def test_the_babyboots_plate_is_on_the_edge_and_accepted() -> None:
    geo.require_inertia(np.diag([2.5e-4, 0.5e-4, 2e-4]))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: geo.from_quaternion([0.0, 0, 0, 0]), "`q` must have a length"),
        (lambda: geo.jack([-1.0, 1, 1], 1.0), "`masses` must not be negative"),
        (lambda: geo.jack_masses([1.0, 1, 1], 0.0), "`arm` must be greater than zero"),
    ],
)
def test_more_that_cannot_be_is_refused(wrong: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wrong()
