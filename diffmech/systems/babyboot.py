"""The babyboot, Kane's chaotic pendulum: a plate that spins about the rod it hangs on.

Rod A is hinged to the ceiling about a horizontal axis n_x; plate B turns freely about the rod's
own axis. Frictionless.

q = (qA, qB) [rad]: qA of the rod from the downward vertical, qB of the plate about the rod. At
qA = qB = 0 body and world axes agree: n_z up, the rod along −n_z, the plate's normal along b_x
(the inertias say so: IBx = IBy + IBz is the thin plate's largest moment).

T. R. Kane, "Mechanical demonstration of mathematical stability and instability", International
Journal of Mechanical Engineering Education 2(4) (1974) 45-47; numbers as in MotionGenesis.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._typing import AnyArray, Scalar, Vector
from ..model import System, gravity_field, inertia_field, length_field, mass_field


class Params(eqx.Module):
    g: Scalar = gravity_field()  # [m/s^2]
    LA: Scalar = length_field()  # hinge to mass centre of A [m]
    LB: Scalar = length_field()  # hinge to mass centre of B [m]
    mA: Scalar = mass_field()  # [kg]
    mB: Scalar = mass_field()  # [kg]
    IA: Scalar = inertia_field()  # of A about its mass centre, a_x [kg m^2]
    IBx: Scalar = inertia_field()  # of B about its mass centre [kg m^2]
    IBy: Scalar = inertia_field()
    IBz: Scalar = inertia_field()
    principal_moments = (("IBx", "IBy", "IBz"),)


def lagrangian(q: Vector, qd: Vector, t: Scalar, params: Params) -> Scalar:
    """L = T − V with

    T = 1/2 (IA + mA LA² + mB LB² + IBx cos² qB + IBy sin² qB) q̇A² + 1/2 IBz q̇B²
    V = −(mA LA + mB LB) g cos qA   [J].
    """
    del t
    p = params
    about_hinge = (
        p.IA
        + p.mA * p.LA**2
        + p.mB * p.LB**2
        + p.IBx * jnp.cos(q[1]) ** 2
        + p.IBy * jnp.sin(q[1]) ** 2
    )
    kinetic = 0.5 * about_hinge * qd[0] ** 2 + 0.5 * p.IBz * qd[1] ** 2
    potential = -(p.mA * p.LA + p.mB * p.LB) * p.g * jnp.cos(q[0])
    return kinetic - potential


def landmarks(q: Vector, t: Scalar, params: Params) -> AnyArray:
    """Hinge, centre of the plate, its four corners; shape (6, 3) [m], z up.

    The plate is the thin uniform rectangle with these moments: height along the rod
    √(12 IBy/mB), width √(12 IBz/mB).
    """
    del t
    height = jnp.sqrt(12 * params.IBy / params.mB)
    width = jnp.sqrt(12 * params.IBz / params.mB)
    along_plate = jnp.array([-0.5, 0.5, 0.5, -0.5]) * width
    along_rod = jnp.array([-0.5, -0.5, 0.5, 0.5]) * height
    zero = jnp.zeros_like(q[0])
    # In A's axes: the plate's width lies along b_y, turned by qB about the rod.
    x = jnp.concatenate([jnp.stack([zero, zero]), -jnp.sin(q[1]) * along_plate])
    y = jnp.concatenate([jnp.stack([zero, zero]), jnp.cos(q[1]) * along_plate])
    z = jnp.concatenate([jnp.stack([zero, -params.LB]), -params.LB + along_rod])
    cos, sin = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.stack([x, cos * y - sin * z, sin * y + cos * z], axis=-1)


def babyboot() -> System:
    """The babyboot with the source's numbers.

    Starts, at rest with qB = 1°: "chaotic" (qA = 90°, also the default; the published run) and
    "regular" (qA = 45°). Change numbers with `.with_params(mB=0.2)`.
    """
    return System(
        lagrangian,
        coordinates={"qA": "rad", "qB": "rad"},
        params=Params(
            g=9.81,
            LA=0.075,
            LB=0.20,
            mA=0.01,
            mB=0.1,
            IA=5e-6,
            IBx=2.5e-4,
            IBy=0.5e-4,
            IBz=2e-4,
        ),
        landmarks=landmarks,
        links=((0, 1),),
        faces=((2, 3, 4, 5),),
        starts={
            "default": (np.deg2rad([90.0, 1.0]), [0.0, 0.0]),
            "chaotic": (np.deg2rad([90.0, 1.0]), [0.0, 0.0]),
            "regular": (np.deg2rad([45.0, 1.0]), [0.0, 0.0]),
        },
        name="babyboot",
    )
