"""Like terms collected: fewer operations, the same numbers, no digits lost."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.lanes._lane_equations import Equations, Layout
from diffmech.scalars import Evaluation, Lanes, Tape, collected, unknowns, varying_registers, write

from ..conftest import machine

# Scalar operations of q̈ that are done at every evaluation: what one finds by hand, or nearly.
OPERATIONS = {
    "pendulum": 4,
    "babyboot": 24,
    "babyboot_of_bodies": 24,
    "double_pendulum": 32,
    "n_link": 115,
    "spherical_pendulum": 18,
    "heavy_top": 120,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_autodiffed_lagrangian_costs_what_equations_by_hand_do(name: str) -> None:
    system = machine(name)
    equations = Equations(system.laws, Layout(system.n, 0, False), system.params, None)
    assert equations.operations <= OPERATIONS[name]


def _both(function: Any, point: np.ndarray, far: bool = False) -> tuple[Any, Any, list[int]]:
    """Values as written and collected, and the operations of the two."""
    tape = Tape()
    x = unknowns(tape, point)
    plain = np.ravel(write(tape, function, x))
    made = collected(tape, plain, x, far=x if far else ())
    evaluation = Evaluation(tape, Lanes(), dict(zip(x.tolist(), jnp.asarray(point), strict=True)))
    counts = [len(varying_registers(tape, places, x)) for places in (plain, made)]
    return evaluation.of(plain).astype(float), evaluation.of(made).astype(float), counts


def test_squares_of_sines_and_cosines_join() -> None:
    def places(x: Any) -> Any:
        c, s = jnp.cos(x[0]), jnp.sin(x[0])
        return 3.0 * x[1] * c * c + 3.0 * x[1] * s * s

    plain, made, counts = _both(places, np.array([0.7, 1.3]))
    assert abs(made[0] - 3.9) < 1e-15
    assert abs(plain[0] - 3.9) < 1e-14
    assert counts[1] == 2  # the input and its multiple


def test_small_differences_of_large_coordinates_keep_their_digits() -> None:
    """Two bodies a metre apart, a thousand kilometres from the origin."""

    def attraction(x: Any) -> Any:
        gap = x[:2] - x[2:]
        force = gap / (gap @ gap) ** 1.5
        return jnp.stack([*force, gap @ gap, (x[0] - x[2]) * jnp.sin(x[1]) + x[0] * x[3]])

    point = np.array([1e6 + 0.1, 2e6, 1e6 + 0.4, 2e6 + 0.5])
    exact = np.asarray(jax.jit(attraction)(point))
    plain, made, _ = _both(attraction, point, far=True)
    assert np.max(np.abs(plain / exact - 1)) < 1e-13
    assert np.max(np.abs(made / exact - 1)) < 1e-13


def test_terms_that_cancel_vanish() -> None:
    def nothing(x: Any) -> Any:
        s, c = jnp.sin(x[0]), jnp.cos(x[1])
        return (s + c) * (s - c) - s**2 + c**2

    _, made, counts = _both(nothing, np.array([0.3, 0.4]))
    assert made[0] == 0
    assert counts[1] == 0


def test_far_machines_move_in_lanes_as_near_ones_do() -> None:
    """A spring between two masses, with the origin moved a million metres away."""

    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        gap = q[:2] - q[2:]
        return 0.5 * qd @ qd - 0.5 * params * (jnp.sqrt(gap @ gap) - 1.0) ** 2

    pair = dm.System(lagrangian, ("x1", "y1", "x2", "y2"), 2.0)
    near = np.array([0.0, 0.0, 1.5, 0.2])
    rates = [0.0, 0.3, 0.0, -0.1]
    ends = [
        dm.ensemble(pair, near + away, rates, duration=3.0, dt=0.01).values["last"][0][0] - away
        for away in (0.0, 1e6)
    ]
    assert np.max(np.abs(ends[0] - ends[1])) < 1e-7  # 1e6 m has digits down to 1e-10
