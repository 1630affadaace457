"""Closed forms for spinning bodies: steady precession, limits of nutation, sleeping, balance.

`top` is a `heavy_top()` (or its parameters): I₁ about the tip across the axis, I₃ about the axis,
m g h the moment of the weight when the axis is level. Angles are in radians: `elevation` of the
axis above the horizontal, `nutation` from the upward vertical. The spin ω_s is relative to the
frame that precesses with the axis, so the axial angular velocity is ω₃ = ω_s + ω_p sin(elevation).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .._checks import as_array, as_scalar, as_vector
from .._typing import AnyArray, Number, Numbers
from ..geometry import require_inertia, tensor_of
from ..model import System

_LEVEL = 1e-12  # of the coefficients: below, the quadratic has lost its square term


class TopNumbers(NamedTuple):
    """Moments about the tip [kg m²] and the weight's moment m g h [N m]."""

    I1: float
    I3: float
    mgh: float


def top_numbers(top: Any) -> TopNumbers:
    """I₁, I₃ and m g h of a `heavy_top()` or its parameters."""
    params = top.params if isinstance(top, System) else top
    body, height = params.top, float(params.height)
    inertia = np.asarray(tensor_of(body.inertia))
    moment = float(body.mass) * height
    return TopNumbers(
        float(inertia[0, 0]) + moment * height, float(inertia[2, 2]), moment * float(params.gravity)
    )


def steady_precession(top: Any, spin: Number, elevation: Number) -> AnyArray:
    """The rates ω_p at which a top with spin ω_s precesses without nutating [rad/s].

        m g h = I₃ ω_s ω_p + (I₃ − I₁) ω_p² sin(elevation)

    Slow one first: two, or one where the square term vanishes (axis level, or I₁ = I₃). At the
    vertical the relation still holds but the direction of precession has no meaning.

    Raises:
        ValueError: the top spins too slowly for any, or not at all where it has to.
    """
    I1, I3, mgh = top_numbers(top)
    spin, sine = float(as_scalar(spin, "spin")), math.sin(float(as_scalar(elevation, "elevation")))
    square, linear = (I3 - I1) * sine, I3 * spin
    if abs(square) <= _LEVEL * (I1 + I3):
        if linear == 0:
            raise ValueError("`spin` must not be zero for a top with a level axis, but is 0")
        return np.array([mgh / linear])
    discriminant = linear**2 + 4 * square * mgh
    if discriminant < 0:
        least = math.sqrt(-4 * square * mgh) / I3
        raise ValueError(
            f"`spin` must be at least {least:g} rad/s for steady precession at this elevation, but "
            f"is {spin:g}"
        )
    # The root without cancellation first; the product of both is −m g h/square.
    big = -(linear + math.copysign(math.sqrt(discriminant), linear)) / (2 * square)
    roots = [big, -mgh / (square * big)] if big != 0 else [0.0]
    return np.array(sorted(roots, key=abs))


def nutation_limits(top: Any, q: Numbers, qd: Numbers) -> tuple[float, float]:
    """Least and greatest nutation [rad] of the motion from a state of `heavy_top()` ("ZXZ").

    With u = cos(nutation), u̇² = f(u) = (1 − u²)(α − β u) − (b − a u)², a = I₃ω₃/I₁, b = p/I₁ the
    momentum about the vertical, β = 2 m g h/I₁, α = (2 E − I₃ω₃²)/I₁: the axis moves between the
    two zeros of f around it.
    """
    I1, I3, mgh = top_numbers(top)
    names = ("precession", "nutation", "spin")
    _, nutation, _ = (float(x) for x in as_vector(q, names, "q"))
    precession_rate, nutation_rate, spin_rate = (float(x) for x in as_vector(qd, names, "qd"))
    u, sine = math.cos(nutation), math.sin(nutation)
    axial = spin_rate + precession_rate * u
    a = I3 * axial / I1
    b = precession_rate * sine**2 + a * u
    beta = 2 * mgh / I1
    alpha = nutation_rate**2 + (precession_rate * sine) ** 2 + beta * u
    cubic = np.array([beta, -(alpha + a**2), 2 * a * b - beta, alpha - b**2])
    roots = sorted(np.roots(cubic).real)
    # Two zeros lie in [−1, 1], the third above, or below if gravity pulls up; a steady motion has a
    # double zero, whose rounding may leave the real line.
    low, high = roots[:2] if beta >= 0 else roots[-2:]
    low, high = min(low, u), max(high, u)
    return math.acos(min(high, 1.0)), math.acos(max(low, -1.0))


def sleeping_spin(top: Any) -> float:
    """The axial angular velocity ω₃ above which an upright top stands, I₃² ω₃² = 4 I₁ m g h."""
    I1, I3, mgh = top_numbers(top)
    if mgh <= 0 or I3 <= 0:
        raise ValueError(
            f"the top must have m g h and an axial moment greater than zero, but has {mgh:g} J and "
            f"{I3:g} kg m²: standing up needs no spin, or no spin helps"
        )
    return 2 * math.sqrt(I1 * mgh) / I3


def torque_free_spin(I1: Number, I3: Number, precession: Number, lean: Number) -> float:
    """The spin ω_s of a free symmetric body that precesses steadily, in its precessing frame.

        ω_s/ω_p = (I₁/I₃ − 1) cos θ

    `lean` θ is from the precession axis. A plate (I₃ = 2 I₁) that leans a little wobbles twice as
    fast as it spins: ω_p = −2 ω_s.
    """
    ratio = float(as_scalar(I1, "I1", positive=True)) / float(as_scalar(I3, "I3", positive=True))
    return (ratio - 1) * math.cos(float(lean)) * float(as_scalar(precession, "precession"))


def fixed_axis_torque(inertia: Numbers, omega: Number) -> AnyArray:
    """The torque, in body components, that keeps a body spinning steadily about its axis 3 [N m].

        ω × I ω = (−ω² I₂₃, ω² I₁₃, 0),   I₁₃ = −∫ x z dm

    Zero for a dynamically balanced body.
    """
    tensor = np.asarray(tensor_of(require_inertia(inertia)))
    rate = float(as_array(omega))
    return rate**2 * np.array([-tensor[1, 2], tensor[0, 2], 0.0])
