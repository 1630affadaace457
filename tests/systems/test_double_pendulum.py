"""The double pendulum against SymPy's own derivation."""

import numpy as np
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import diffmech as dm

from ..conftest import machine, random_states
from ..tolerances import CHAIN_ROUND_OFF


def test_accelerations_equal_sympys() -> None:
    m1, m2, l1, l2, g = 1.2, 0.7, 0.9, 1.4, 9.81
    a, b = dynamicsymbols("a b")
    t = dynamicsymbols._t  # pyright: ignore[reportFunctionMemberAccess]
    x1, y1 = l1 * sp.sin(a), -l1 * sp.cos(a)
    x2, y2 = x1 + l2 * sp.sin(b), y1 - l2 * sp.cos(b)
    kinetic = sum(
        m * (sp.diff(x, t) ** 2 + sp.diff(y, t) ** 2) / 2
        for m, x, y in [(m1, x1, y1), (m2, x2, y2)]
    )
    method = LagrangesMethod(kinetic - g * (m1 * y1 + m2 * y2), [a, b])
    method.form_lagranges_equations()
    states = [a, b, sp.diff(a, t), sp.diff(b, t)]
    plain = sp.symbols("q0 q1 v0 v1")
    names = dict(zip(reversed(states), reversed(plain), strict=True))
    evaluate = sp.lambdify(plain, [method.mass_matrix.subs(names), method.forcing.subs(names)])

    system = machine("double_pendulum").with_params(masses=[m1, m2], lengths=[l1, l2])
    q, qd, _ = random_states(2, 30, seed=40)
    for place, rate in zip(q, qd, strict=True):
        mass, force = evaluate(*place, *rate)
        np.testing.assert_allclose(
            dm.acceleration(system, place, rate),
            np.linalg.solve(np.array(mass, float), np.array(force, float).ravel()),
            rtol=CHAIN_ROUND_OFF,
            atol=CHAIN_ROUND_OFF,
        )
