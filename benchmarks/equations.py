"""How long does it take to derive and print equations of motion, and how long are they?

Against SymPy's `LagrangesMethod`, for the same machines with all parameters as symbols: first
operations as SymPy counts them (`count_ops`), of our equations as printed and of SymPy's after its
`simplify`; then the time to derive and print chains of links, SymPy's without `simplify`. SymPy is
stopped after a while, in a process of its own.

    python benchmarks/equations.py [--links 8] [--limit 60] [--only cart_pole]
"""

import argparse
import multiprocessing
import queue
import time
from collections.abc import Callable, Sequence
from typing import Any

import diffmech as dm

SAME_DISC = {"disc.inertia[1]": "disc.inertia[0]"}


class Model:
    """A Lagrangian for SymPy, in functions of time, by the names that `dm.equations` prints."""

    def __init__(self, coordinates: Sequence[str]):
        import sympy as sp

        self.sp = sp
        self.t = sp.Symbol("t", real=True)
        self.q = [sp.Function(name, real=True)(self.t) for name in coordinates]
        self.qd = [q.diff(self.t) for q in self.q]

    def numbers(self, names: str) -> Any:
        """Parameters as symbols, by their paths."""
        symbols = [self.sp.Symbol(name, real=True) for name in names.split()]
        return symbols if len(symbols) > 1 else symbols[0]

    def balance(self, lagrangian: Any, constraints: Sequence[Any] = ()) -> list[Any]:
        """What vanishes, in plain symbols: qA, qA', qA'', lambda1."""
        from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

        sp, before = self.sp, dynamicsymbols._t  # pyright: ignore[reportFunctionMemberAccess]
        dynamicsymbols._t = self.t  # pyright: ignore[reportFunctionMemberAccess]
        try:
            how = {"nonhol_coneqs": list(constraints)} if constraints else {}
            method = LagrangesMethod(lagrangian, self.q, **how)
            equations = method.form_lagranges_equations()
        finally:
            dynamicsymbols._t = before  # pyright: ignore[reportFunctionMemberAccess]
        plain: dict[Any, Any] = {}
        for marks in (2, 1, 0):
            for q in self.q:
                name = q.func.__name__ + "'" * marks
                plain[q.diff(self.t, marks) if marks else q] = sp.Symbol(name, real=True)
        if constraints:
            for k in range(len(constraints)):  # SymPy's multipliers act the other way
                plain[method.lam_vec[k]] = -sp.Symbol(f"lambda{k + 1}", real=True)
        return [one.xreplace(plain) for one in equations]


def babyboot() -> list[Any]:
    m = Model(["qA", "qB"])
    g, la, lb, ma, mb, ia, ix, iy, iz = m.numbers("g LA LB mA mB IA IBx IBy IBz")
    (_, b), (a_dot, b_dot), sp = m.q, m.qd, m.sp
    hinge = ia + ma * la**2 + mb * lb**2 + ix * sp.cos(b) ** 2 + iy * sp.sin(b) ** 2
    kinetic = (hinge * a_dot**2 + iz * b_dot**2) / 2
    return m.balance(kinetic + (ma * la + mb * lb) * g * sp.cos(m.q[0]))


def double_pendulum() -> list[Any]:
    m = Model(["theta1", "theta2"])
    m1, m2, l1, l2, g = m.numbers("masses[0] masses[1] lengths[0] lengths[1] gravity")
    a, b = m.q
    x1, y1 = l1 * m.sp.sin(a), -l1 * m.sp.cos(a)
    x2, y2 = x1 + l2 * m.sp.sin(b), y1 - l2 * m.sp.cos(b)
    speeds = [sum(place.diff(m.t) ** 2 for place in bob) for bob in ((x1, y1), (x2, y2))]
    return m.balance((m1 * speeds[0] + m2 * speeds[1]) / 2 - g * (m1 * y1 + m2 * y2))


def cart_pole() -> list[Any]:
    m = Model(["x", "theta"])
    cart, pole, inertia, length, g = m.numbers("cart.mass pole.mass pole.inertia[2] length gravity")
    (x, theta), sp = m.q, m.sp
    px, py = x + length / 2 * sp.sin(theta), -length / 2 * sp.cos(theta)
    kinetic = cart * m.qd[0] ** 2 + pole * (px.diff(m.t) ** 2 + py.diff(m.t) ** 2)
    kinetic += inertia * m.qd[1] ** 2
    return m.balance(kinetic / 2 - pole * g * py)


def spherical_pendulum() -> list[Any]:
    m = Model(["theta", "phi"])
    mass, length, g = m.numbers("bob.mass length gravity")
    (theta, phi), sp = m.q, m.sp
    x = length * sp.sin(theta) * sp.cos(phi)
    y = length * sp.sin(theta) * sp.sin(phi)
    z = -length * sp.cos(theta)
    return m.balance(mass * sum(r.diff(m.t) ** 2 for r in (x, y, z)) / 2 - mass * g * z)


def rolling_disc() -> list[Any]:
    """With two equal moments across the axle."""
    m = Model(["x", "y", "phi", "theta", "psi"])
    mass, across, axial, r, g = m.numbers(
        "disc.mass disc.inertia[0] disc.inertia[2] radius gravity"
    )
    (x, y, phi, theta, _), sp = m.q, m.sp
    _, _, phi_dot, theta_dot, psi_dot = m.qd
    cx = x + r * sp.sin(theta) * -sp.sin(phi)
    cy = y + r * sp.sin(theta) * sp.cos(phi)
    cz = r * sp.cos(theta)
    # Turning rates along the heading, up the disc and along its axle.
    along = (-theta_dot, phi_dot * sp.cos(theta), psi_dot - phi_dot * sp.sin(theta))
    kinetic = mass * sum(place.diff(m.t) ** 2 for place in (cx, cy, cz))
    kinetic += across * (along[0] ** 2 + along[1] ** 2) + axial * along[2] ** 2
    rolling = [
        m.qd[0] - r * psi_dot * sp.cos(phi),
        m.qd[1] - r * psi_dot * sp.sin(phi),
    ]
    return m.balance(kinetic / 2 - mass * g * cz, rolling)


def n_link(n: int) -> list[Any]:
    """Without springs, friction and torques."""
    m = Model([f"theta{i + 1}" for i in range(n)])
    sp, g = m.sp, m.numbers("gravity")
    x = y = lagrangian = sp.Integer(0)
    for i in range(n):
        mass, inertia, length, centre = m.numbers(
            f"masses[{i}] inertias[{i}] lengths[{i}] centres[{i}]"
        )
        sin, cos = sp.sin(m.q[i]), sp.cos(m.q[i])
        cx, cy = x + centre * sin, y - centre * cos
        x, y = x + length * sin, y - length * cos
        lagrangian += mass * (cx.diff(m.t) ** 2 + cy.diff(m.t) ** 2) / 2
        lagrangian += inertia * m.qd[i] ** 2 / 2 - mass * g * cy
    return m.balance(lagrangian)


def printed(name: str, **arguments: Any) -> dm.Equations:
    """Ours of the same machine, what SymPy's Lagrangians leave out left out."""
    system = getattr(dm.systems, name)(**arguments)
    gone = {"cart_pole": ("track", "hinge", "push")}.get(name, ())
    gone = ("stiffnesses", "frictions", "torques") if name == "n_link" else gone
    return dm.equations(system, zero=gone, same=SAME_DISC if name == "rolling_disc" else None)


BY_HAND: dict[str, Callable[[], list[Any]]] = {
    "babyboot": babyboot,
    "double_pendulum": double_pendulum,
    "cart_pole": cart_pole,
    "spherical_pendulum": spherical_pendulum,
    "rolling_disc": rolling_disc,
}


def _derive(name: str, links: int, simplified: bool, answers: Any) -> None:
    import sympy as sp

    started = time.perf_counter()
    equations = n_link(links) if links else BY_HAND[name]()
    if simplified:
        equations = [sp.simplify(one) for one in equations]
    text = "\n".join(map(str, equations))
    seconds = time.perf_counter() - started
    answers.put((seconds, sum(int(sp.count_ops(one)) for one in equations), len(text)))


def by_sympy(
    limit: float, name: str, links: int = 0, *, simplified: bool = False
) -> tuple[float, int, int] | None:
    """Seconds, operations and letters; None if it takes longer than `limit` seconds."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_derive, args=(name, links, simplified, answers))
    process.start()
    try:
        return answers.get(timeout=limit)
    except queue.Empty:
        return None
    finally:
        process.kill()
        process.join()


def _shown(answer: tuple[float, int, int] | None, limit: float) -> str:
    return f"{answer[0]:10.2f} s" if answer else f"  > {limit:6.0f} s"


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=8)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", choices=list(BY_HAND))
    given = parser.parse_args()
    str(dm.equations(dm.systems.pendulum()))  # what the first call of all loads

    print(f"{'':<20}{'ours':>10}{'SymPy':>12}{'operations':>14}{'SymPy':>8}{'ratio':>8}")
    for name in [given.only] if given.only else BY_HAND:
        started = time.perf_counter()
        equations = printed(name)
        str(equations)
        seconds = time.perf_counter() - started
        import sympy as sp

        ours = sum(int(sp.count_ops(one)) for one in equations.sympy().balance)
        theirs = by_sympy(given.limit, name, simplified=True)
        count = f"{theirs[1]:8d}{ours / theirs[1]:8.2f}" if theirs else ""
        print(f"{name:<20}{seconds:8.2f} s{_shown(theirs, given.limit)}{ours:14d}{count}")
    print("\nchain of links, derived and printed")
    print(f"{'':<20}{'ours':>10}{'SymPy':>12}{'letters':>14}{'SymPy':>8}")
    for n in range(1, given.links + 1):
        started = time.perf_counter()
        letters = len(str(printed("n_link", n=n)))
        seconds = time.perf_counter() - started
        theirs = by_sympy(given.limit, "n_link", n)
        count = f"{theirs[2]:8d}" if theirs else ""
        print(f"{f'n = {n}':<20}{seconds:8.2f} s{_shown(theirs, given.limit)}{letters:14d}{count}")


if __name__ == "__main__":
    main()
