"""Do four methods give one boot the same equations?

A plate B turns on a rod A, and the rod swings on a hinge. Momentum balances (Newton and Euler),
angular momentum (the plate about the rod, everything about the hinge), Kane's equations and
Lagrange's share nothing but where the bodies are; the library adds virtual power, Hamilton,
difference quotients of the action, maximal coordinates and unit accelerations. All nine agree with
the equations that its source prints. Then one letter is misprinted, IBx where IBz belongs: nine
methods say so, and which equation it is.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import diffmech as dm

boot = dm.systems.babyboot_of_bodies()
FOUR = ("Newton-Euler", "angular momentum", "Kane", "Lagrange")


def printed(misprint: bool):
    """The source's two equations; or with a misprint in the second."""

    def equations(q: Any, qd: Any, t: Any, p: Any) -> Any:
        rod, plate, sin, cos = p.A.inertia, p.B.inertia, jnp.sin(q[1]), jnp.cos(q[1])
        swung = rod[0] + p.A.mass * p.LA**2 + p.B.mass * p.LB**2
        swung += plate[0] * cos**2 + plate[1] * sin**2
        pull = -p.g * jnp.sin(q[0]) * (p.A.mass * p.LA + p.B.mass * p.LB)
        flat = plate[0] - plate[1]
        return jnp.array(
            [
                (pull + 2 * flat * sin * cos * qd[0] * qd[1]) / swung,
                -flat * sin * cos * qd[0] ** 2 / plate[0 if misprint else 2],
            ]
        )

    name = "misprint" if misprint else "as printed"
    return dm.Explicit(equations, boot.coordinates, boot.params, name=name)


def about_the_source():
    """The two balances of the source: the plate about the rod's axis, all about the hinge."""

    def end_of_rod(q: Any, t: Any, p: Any) -> Any:
        return p.LB * jnp.array([0.0, jnp.sin(q[0]), -jnp.cos(q[0])])

    def rod(q: Any, t: Any, p: Any) -> Any:
        return jnp.array([0.0, -jnp.sin(q[0]), jnp.cos(q[0])])

    return [(["B"], end_of_rod, rod), (["A", "B"], [0.0, 0.0, 0.0], "x")]


def main() -> None:
    check = dm.crosscheck(boot, about=about_the_source(), against=printed(misprint=False))
    print(check)
    q, qd = check.q[3], check.qd[3]
    print(f"\nat q = {np.round(q, 3)}, qd = {np.round(qd, 3)}:")
    for name in FOUR:
        print("  {:<18}qA'' = {:.12f}, qB'' = {:.12f}".format(name, *check.accelerations[name][3]))
    wrong = dm.crosscheck(printed(misprint=True), against=boot)
    print(f"\n{wrong}")
    assert check.passed, "all methods, and the page, say the same"
    assert set(FOUR) < set(check.formulations)
    assert check.worst is not None
    assert check.worst.size < 1e-10
    assert not wrong.passed
    assert wrong.worst is not None
    assert wrong.worst.of == "qB", "the second equation"
    assert wrong.groups[0] == ("misprint",), "and it is the page that is wrong"


if __name__ == "__main__":
    main()
