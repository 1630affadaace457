"""A row of n parallelograms on a common ground line, neighbours sharing a crank.

q = (theta1, ..., theta_{n+1}, phi1, ..., phi_n) [rad]: n + 1 cranks of equal length, crank i from
its pivot at x = (i − 1) times the couplers' length, and n couplers, coupler i from the tip of crank
i to that of crank i + 1; all from +x, counter-clockwise; y up, gravity along −y. Loop i is a
constraint of two rows; its multipliers are the force of crank i + 1 on coupler i [N], in x and y.

One freedom. With all cranks level every loop is at a change point at once, and the rank falls by n.
"""

from dataclasses import dataclass
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._checks import as_count
from .._typing import AnyArray, Number, Scalar, Vector
from ..model import Holonomic, System, gravity_field, length_field, mass_field

_SPIN = 8.0  # [rad/s] of the cranks: enough to go round


class Params(eqx.Module):
    crank_mass: Scalar = mass_field()  # of each [kg]
    coupler_mass: Scalar = mass_field()  # of each [kg]
    crank: Scalar = length_field()  # [m]
    coupler: Scalar = length_field()  # also between neighbouring pivots [m]
    gravity: Scalar = gravity_field()  # [m/s^2]


def _pivots(q: Vector, params: Params) -> AnyArray:
    """On the ground, shape (n + 1, 2) [m]."""
    x = params.coupler * jnp.arange((q.size + 1) // 2, dtype=q.dtype)
    return jnp.stack([x, jnp.zeros_like(x)], axis=1)


def _rods(q: Vector, params: Params) -> tuple[AnyArray, AnyArray]:
    """Cranks from pivot to tip, shape (n + 1, 2), and couplers, shape (n, 2) [m]."""
    along = jnp.stack([jnp.cos(q), jnp.sin(q)], axis=1)
    cranks = (q.size + 1) // 2
    return params.crank * along[:cranks], params.coupler * along[cranks:]


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = Σ 1/2 m |v|² + 1/2 I ω² − m g y over cranks and couplers, I = m l²/12  [J]."""
    del t

    def middles(q: Vector) -> tuple[AnyArray, AnyArray]:
        cranks, couplers = _rods(q, params)
        return 0.5 * cranks, cranks[:-1] + 0.5 * couplers

    points, velocities = jax.jvp(middles, (q,), (qd,))
    cranks = (q.size + 1) // 2
    masses, lengths = (params.crank_mass, params.coupler_mass), (params.crank, params.coupler)
    total = jnp.zeros((), q.dtype)
    parts = zip(masses, lengths, points, velocities, (qd[:cranks], qd[cranks:]), strict=True)
    for mass, length, point, velocity, rate in parts:
        total += 0.5 * mass * (jnp.sum(velocity**2) + length**2 / 12 * jnp.sum(rate**2))
        total -= mass * params.gravity * jnp.sum(point[:, 1])
    return total


@dataclass(frozen=True)
class Loop:
    """From the tip of a crank to the end of the coupler before it, shape (2,) [m]."""

    index: int

    def __call__(self, q: Vector, t: Scalar, params: Params) -> AnyArray:
        del t
        i, cranks = self.index, (q.size + 1) // 2
        first, second, coupler = q[i], q[i + 1], q[cranks + i]
        return jnp.stack(
            [
                params.crank * (jnp.cos(first) - jnp.cos(second))
                + params.coupler * (jnp.cos(coupler) - 1.0),
                params.crank * (jnp.sin(first) - jnp.sin(second))
                + params.coupler * jnp.sin(coupler),
            ]
        )


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """All pivots, then all tips, shape (2n + 2, 2) [m]."""
    del t
    pivots = _pivots(q, params)
    return jnp.concatenate([pivots, pivots + _rods(q, params)[0]])


def n_four_bar(
    n: int = 2,
    *,
    crank: Number = 1.0,
    coupler: Number = 2.0,
    density: Annotated[Number, "kg/m"] = 1.0,
    gravity: Number = 9.81,
) -> System:
    """`n` parallelograms in a row; masses are `density` [kg/m] times length.

    Starts with the couplers level: "default" cranks at 60° at rest, "spinning" the same at
    8 rad/s, "upright" cranks at 90° with tips moving at 1 m/s along +x.
    """
    n = as_count(n, "n", 1)

    def together(angle: float, rate: Number) -> tuple[np.ndarray, np.ndarray]:
        """All cranks alike, all couplers level: every loop is closed."""
        cranks = np.append(np.ones(n + 1), np.zeros(n))
        return angle * cranks, rate * cranks

    names = [f"theta{i + 1}" for i in range(n + 1)] + [f"phi{i + 1}" for i in range(n)]
    tip = n + 1
    return System(
        lagrangian,
        coordinates=dict.fromkeys(names, "rad"),
        params=Params(density * crank, density * coupler, crank, coupler, gravity),
        constraints={f"loop{i + 1}": Holonomic(Loop(i)) for i in range(n)},
        landmarks=landmarks,
        links=[(i, tip + i) for i in range(n + 1)] + [(tip + i, tip + i + 1) for i in range(n)],
        starts={
            "default": together(np.deg2rad(60.0), 0.0),
            "spinning": together(np.deg2rad(60.0), _SPIN),
            "upright": together(np.pi / 2, -1.0 / crank),
        },
        name=f"n_four_bar:n={n}",
    )
