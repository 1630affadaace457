"""The machines of the ensemble benchmark as heyoka takes them: ẋ = f(x), numbers as constants.

By hand (`route="hand"`) with as few products as we could, since a product or quotient is what costs
in a Taylor step; and by heyoka's own Lagrangian module (`route="lagrangian"`), which is slower. The
O(n) recursion for chains needs more products than an unrolled LDLᵀ up to five links.

Angles in rad, rates in rad/s; parameters `p` are the system's, by field.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import heyoka as hy  # pyright: ignore[reportMissingImports]
import numpy as np


@dataclass(frozen=True)
class Equations:
    """ẋ = f(x); x is (q, q̇), or as many of its first entries as determine the others."""

    odes: list[tuple[Any, Any]]  # variable, its rate
    rates: list[Any]  # q̇
    accelerations: list[Any]  # q̈


def _free(q: list[Any], w: list[Any], a: list[Any]) -> Equations:
    return Equations([*zip(q, w, strict=True), *zip(w, a, strict=True)], w, a)


def _from_lagrangian(q: list[Any], w: list[Any], lagrangian: Any) -> Equations:
    return _free(q, w, [rate for _, rate in hy.lagrangian(lagrangian, q, w)[len(q) :]])


def _variables(n: int) -> tuple[list[Any], list[Any]]:
    names = [f"{letter}{i}" for letter in "qw" for i in range(n)]
    variables = list(hy.make_vars(*names))
    return variables[:n], variables[n:]


def babyboot(p: dict[str, Any], route: str) -> Equations:
    """J q̈A = 2 D sin qB cos qB q̇A q̇B − G sin qA,   IBz q̈B = −D sin qB cos qB q̇A²

    with D = IBx − IBy, J = K + D cos² qB about the hinge, G = (mA LA + mB LB) g.
    """
    (a, b), (wa, wb) = q, w = _variables(2)
    still = p["IA"] + p["mA"] * p["LA"] ** 2 + p["mB"] * p["LB"] ** 2
    weight = (p["mA"] * p["LA"] + p["mB"] * p["LB"]) * p["g"]
    sin, cos = hy.sin(b), hy.cos(b)
    if route == "lagrangian":
        hinge = still + p["IBx"] * cos**2 + p["IBy"] * sin**2
        kinetic = 0.5 * hinge * wa**2 + 0.5 * p["IBz"] * wb**2
        return _from_lagrangian(q, w, kinetic + weight * hy.cos(a))
    apart, both = p["IBx"] - p["IBy"], sin * cos
    hinge = still + p["IBy"] + apart * cos**2
    first = (2 * apart * both * wa * wb - weight * hy.sin(a)) / hinge
    return _free(q, w, [first, -apart / p["IBz"] * both * wa**2])


def double_pendulum_3d(p: dict[str, Any], route: str) -> Equations:
    """Thin rods, hinges along x and y; r = L + d cos θ₂ is how far the lower centre hangs:

    J θ̈₁ = −J′ θ̇₁ θ̇₂ − g sin θ₁ (m₁ d₁ + m₂ r),   J = J₁ + I cos² θ₂ + m₂ r²
    (I + m₂ d²) θ̈₂ = 1/2 J′ θ̇₁² − m₂ g d cos θ₁ sin θ₂,   J′ = ∂J/∂θ₂.
    """
    (a, b), (wa, wb) = q, w = _variables(2)
    m1, m2, g = p["upper"]["mass"], p["lower"]["mass"], p["gravity"]
    length, d1, d2 = -p["elbow"][2], -p["centres"][0][2], -p["centres"][1][2]
    across = p["lower"]["inertia"][0]
    above = p["upper"]["inertia"][0] + m1 * d1**2
    sin, cos = hy.sin(b), hy.cos(b)
    reach = length + d2 * cos
    inertia = above + across * cos**2 + m2 * reach**2
    if route == "lagrangian":
        kinetic = 0.5 * inertia * wa**2 + 0.5 * (across + m2 * d2**2) * wb**2
        return _from_lagrangian(q, w, kinetic + g * hy.cos(a) * (m1 * d1 + m2 * reach))
    # J and J′ as polynomials in cos θ₂: fewer products than as they stand.
    inertia = above + m2 * length**2 + 2 * m2 * length * d2 * cos + (across + m2 * d2**2) * cos**2
    change = sin * (-2 * m2 * length * d2 - 2 * (across + m2 * d2**2) * cos)
    pull = hy.sin(a) * (g * (m1 * d1 + m2 * length) + g * m2 * d2 * cos)
    turn = change * wa
    second = (0.5 * turn * wa - m2 * g * d2 * hy.cos(a) * sin) / (across + m2 * d2**2)
    return _free(q, w, [(-turn * wb - pull) / inertia, second])


def levers(p: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """A_ij = Σ_k m_k r_ki r_kj [kg m²] and G_i = g Σ_k m_k r_ki [N m], r_ki of θ_i in centre k."""
    n = len(p["masses"])
    reaches = np.tril(np.tile(p["lengths"], (n, 1)), -1) + np.diag(p["centres"])
    weighted = np.asarray(p["masses"])[:, None] * reaches
    return reaches.T @ weighted, p["gravity"] * weighted.sum(axis=0)


def n_link(p: dict[str, Any], route: str) -> Equations:
    """M θ̈ = b with M_ij = A_ij cos(θ_i − θ_j) + I_i δ_ij and

    b_i = −Σ_j A_ij sin(θ_i − θ_j) θ̇_j² − G_i sin θ_i

    by LDLᵀ, unrolled. M's diagonal is constant, so the first column costs no division.
    """
    lever, weight = levers(p)
    n = len(weight)
    q, w = _variables(n)
    if route == "lagrangian":
        return _from_lagrangian(q, w, _chain_lagrangian(p, q, w))
    mass: list[list[Any]] = [[0.0] * n for _ in range(n)]
    forces: list[list[Any]] = [[-weight[i] * hy.sin(q[i])] for i in range(n)]
    for i in range(n):
        mass[i][i] = lever[i, i] + p["inertias"][i]
        for j in range(i + 1, n):
            mass[i][j] = lever[i, j] * hy.cos(q[i] - q[j])
            sin = lever[i, j] * hy.sin(q[i] - q[j])
            forces[i].append(-sin * w[j] ** 2)
            forces[j].append(sin * w[i] ** 2)
    return _free(q, w, _solved(mass, [hy.sum(terms) for terms in forces]))


def _chain_lagrangian(p: dict[str, Any], q: list[Any], w: list[Any]) -> Any:
    """L = Σ 1/2 mᵢ |vᵢ|² + 1/2 Iᵢ θ̇ᵢ² − mᵢ g yᵢ  [J]."""
    lagrangian = y = vx = vy = hy.expression(0.0)
    links = zip(q, w, p["masses"], p["inertias"], p["lengths"], p["centres"], strict=True)
    for angle, rate, m, inertia, length, centre in links:
        sin, cos = hy.sin(angle), hy.cos(angle)
        speed = (vx + centre * cos * rate) ** 2 + (vy + centre * sin * rate) ** 2
        lagrangian += 0.5 * m * speed + 0.5 * inertia * rate**2
        lagrangian -= m * p["gravity"] * (y - centre * cos)
        y, vx, vy = y - length * cos, vx + length * cos * rate, vy + length * sin * rate
    return lagrangian


def _solved(mass: list[list[Any]], force: list[Any]) -> list[Any]:
    """x of M x = b for symmetric M, of which the upper triangle is read and overwritten."""
    n = len(force)
    for k in range(n):
        for i in range(k + 1, n):
            factor = mass[k][i] / mass[k][k]
            for j in range(i, n):
                mass[i][j] = mass[i][j] - factor * mass[k][j]
            force[i] = force[i] - factor * force[k]
    x: list[Any] = [0.0] * n
    for i in reversed(range(n)):
        x[i] = hy.sum([force[i], *(-mass[i][j] * x[j] for j in range(i + 1, n))]) / mass[i][i]
    return x


def four_bar(p: dict[str, Any], route: str) -> Equations:
    """One freedom, the crank's, with the two other angles carried along: x = (θ₁, θ₂, θ₃, θ̇₁).

    θ̇ᵢ = kᵢ θ̇₁,   J θ̈₁ = −1/2 J′ θ̇₁² − V′,   ′ = d/dθ₁ along the motion

    The loop gives k₂ = −(l₁/l₂) sin(θ₃ − θ₁)/s and k₃ = (l₁/l₃) sin(θ₂ − θ₁)/s, s = sin(θ₃ − θ₂);
    the rocker turns about its own pivot. No constraint is left: the kindest form for heyoka.
    """
    if route == "lagrangian":
        raise ValueError("heyoka's Lagrangian module does not take constraints")
    (a, b, c), (w, *_) = _variables(3)
    m1, m2, m3 = p["masses"]
    l1, l2, l3 = p["lengths"]
    crank, coupler, rocker = m1 * l1**2 / 3 + m2 * l1**2, m2 * l2**2 / 3, m3 * l3**2 / 3
    sin = hy.sin(c - b)
    k2 = -l1 / l2 * hy.sin(c - a) / sin
    k3 = l1 / l3 * hy.sin(b - a) / sin
    swing = hy.cos(c - b) * (k3 - k2)
    dk2 = (-l1 / l2 * hy.cos(c - a) * (k3 - 1.0) - k2 * swing) / sin
    dk3 = (l1 / l3 * hy.cos(b - a) * (k2 - 1.0) - k3 * swing) / sin
    mixed = m2 * l1 * l2 * hy.cos(b - a)
    inertia = crank + coupler * k2**2 + rocker * k3**2 + mixed * k2
    bend = m2 * l1 * l2 * hy.sin(b - a) * (k2 - 1.0)
    half_change = coupler * k2 * dk2 + rocker * k3 * dk3 + 0.5 * (mixed * dk2 - bend * k2)
    slope = (
        (0.5 * m1 + m2) * l1 * hy.cos(a)
        + 0.5 * m2 * l2 * hy.cos(b) * k2
        - 0.5 * m3 * l3 * hy.cos(c) * k3
    )
    square = w**2
    turn = -(half_change * square + p["gravity"] * slope) / inertia
    rates = [w, k2 * w, k3 * w]
    accelerations = [turn, k2 * turn + dk2 * square, k3 * turn + dk3 * square]
    return Equations([*zip((a, b, c), rates, strict=True), (w, turn)], rates, accelerations)


MACHINES: dict[str, Callable[[dict[str, Any], str], Equations]] = {
    "babyboot": babyboot,
    "double_pendulum_3d": double_pendulum_3d,
    "n_link": n_link,
    "four_bar": four_bar,
}
