"""SciPy's DOP853 on the machines of the ensemble benchmark, right-hand sides as people write them.

Two coordinates in Python's floats, chains and loops by NumPy's arrays and `numpy.linalg.solve`.
Angles in rad, rates in rad/s; parameters `p` are the system's, by field.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from ensemble_equations import levers
from ensemble_heyoka import Problem, Run
from scipy.integrate import solve_ivp


def _babyboot(p: dict[str, Any]) -> Callable[[float, np.ndarray], Any]:
    """The equations of ensemble_equations.babyboot."""
    still = p["IA"] + p["mA"] * p["LA"] ** 2 + p["mB"] * p["LB"] ** 2
    weight = (p["mA"] * p["LA"] + p["mB"] * p["LB"]) * p["g"]
    apart = p["IBx"] - p["IBy"]

    def rate(_t: float, x: np.ndarray) -> list[float]:
        a, b, wa, wb = x.tolist()
        sin, cos = math.sin(b), math.cos(b)
        hinge = still + p["IBx"] * cos**2 + p["IBy"] * sin**2
        turn = (2 * apart * sin * cos * wa * wb - weight * math.sin(a)) / hinge
        return [wa, wb, turn, -apart * sin * cos * wa**2 / p["IBz"]]

    return rate


def _double_pendulum_3d(p: dict[str, Any]) -> Callable[[float, np.ndarray], Any]:
    """The equations of ensemble_equations.double_pendulum_3d."""
    m1, m2, g = p["upper"]["mass"], p["lower"]["mass"], p["gravity"]
    length, d1, d2 = -p["elbow"][2], -p["centres"][0][2], -p["centres"][1][2]
    across = p["lower"]["inertia"][0]
    above = p["upper"]["inertia"][0] + m1 * d1**2

    def rate(_t: float, x: np.ndarray) -> list[float]:
        a, b, wa, wb = x.tolist()
        sin, cos = math.sin(b), math.cos(b)
        reach = length + d2 * cos
        inertia = above + across * cos**2 + m2 * reach**2
        change = -2 * sin * (across * cos + m2 * reach * d2)
        first = -change * wa * wb - g * math.sin(a) * (m1 * d1 + m2 * reach)
        second = 0.5 * change * wa**2 - m2 * g * d2 * math.cos(a) * sin
        return [wa, wb, first / inertia, second / (across + m2 * d2**2)]

    return rate


def _n_link(p: dict[str, Any]) -> Callable[[float, np.ndarray], Any]:
    """M θ̈ = b of ensemble_equations.n_link."""
    lever, weight = levers(p)
    spin = np.diag(p["inertias"])
    n = len(weight)

    def rate(_t: float, x: np.ndarray) -> np.ndarray:
        q, w = x[:n], x[n:]
        gaps = q[:, None] - q
        force = -(lever * np.sin(gaps)) @ w**2 - weight * np.sin(q)
        return np.concatenate([w, np.linalg.solve(lever * np.cos(gaps) + spin, force)])

    return rate


def _four_bar(p: dict[str, Any]) -> Callable[[float, np.ndarray], Any]:
    """[M Jᵀ; J 0] [θ̈; −λ] = [b; −J̇ θ̇], J of Σ lᵢ (cos θᵢ, sin θᵢ) = (ground, 0)."""
    length = np.asarray(p["lengths"])
    inertia = np.asarray(p["masses"]) * length**2 / 12
    lever, weight = levers({**p, "centres": length / 2})

    def rate(_t: float, x: np.ndarray) -> np.ndarray:
        q, w = x[:3], x[3:]
        gaps = q[:, None] - q
        sin, cos = np.sin(q), np.cos(q)
        rows = length * np.stack([-sin, cos])
        matrix = np.zeros((5, 5))
        matrix[:3, :3] = lever * np.cos(gaps) + np.diag(inertia)
        matrix[3:, :3], matrix[:3, 3:] = rows, rows.T
        force = -(lever * np.sin(gaps)) @ w**2 - weight * cos
        drift = length * np.stack([cos, sin]) @ w**2
        return np.concatenate([w, np.linalg.solve(matrix, np.concatenate([force, drift]))[:3]])

    return rate


RATES: dict[str, Callable[[dict[str, Any]], Callable[[float, np.ndarray], Any]]] = {
    "babyboot": _babyboot,
    "double_pendulum_3d": _double_pendulum_3d,
    "n_link": _n_link,
    "four_bar": _four_bar,
}


def rates(problem: Problem) -> Callable[[float, np.ndarray], Any]:
    """ẋ(t, x) of x = (q, q̇), shape (2n,)."""
    return RATES[problem.name.split(":")[0]](problem.numbers)


def integrate(problem: Problem, tol: float, lanes: np.ndarray) -> Run:
    """`solve_ivp` with DOP853, rtol = atol = `tol`, on the starts `lanes`, one after the other."""
    rate = rates(problem)
    starts = np.concatenate([problem.q0s, problem.qd0s], axis=1)[lanes]
    clock = time.perf_counter()
    ends = [
        solve_ivp(rate, (0.0, problem.duration), x, method="DOP853", rtol=tol, atol=tol).y[:, -1]
        for x in starts
    ]
    seconds = (time.perf_counter() - clock) / len(lanes)
    return Run("SciPy DOP853, Python", tol, seconds, 0.0, lanes, np.stack(ends))
