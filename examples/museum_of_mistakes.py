"""Which term is wrong?

Good people slip: a bracket, an index, a sign, a constraint put in too soon. The exhibits in
`data/museum.ini` are equations of motion as they stood in print and in public code, each with its
source and the right ones. `check_derivation` gets a machine and equations, accepts what is right,
and says of the rest where the slip is.
"""

from configparser import ConfigParser
from pathlib import Path
from typing import Any

import jax.numpy as jnp

import diffmech as dm

MUSEUM = ConfigParser(delimiters=("=",), interpolation=None)
MUSEUM.read(Path(__file__).parent / "data" / "museum.ini", "utf-8")


def acrobot(q, qd, t, p):
    """L of two links with masses m at their ends; th1 from the horizontal, th2 from link 1 [J]."""
    fast, faster = p["l1"] * qd[0], p["l2"] * (qd[0] + qd[1])  # [m/s]
    twice = p["J1"] * qd[0] ** 2 + p["J2"] * (qd[0] + qd[1]) ** 2 + p["m1"] * fast**2
    twice += p["m2"] * (fast**2 + faster**2 + 2 * fast * faster * jnp.cos(q[1]))
    height, above = p["l1"] * jnp.sin(q[0]), p["l2"] * jnp.sin(q[0] + q[1])
    return 0.5 * twice - p["g"] * (p["m1"] * height + p["m2"] * (height + above))


def numbered(**paths: str) -> dict[str, str]:
    """Letters for what two links have: m1 for masses[0]."""
    return {f"{letter}{i + 1}": f"{path}[{i}]" for letter, path in paths.items() for i in (0, 1)}


# Machines; letters for their parameters; and these as they are ("given": the equations are those of
# uniform bodies), or at random but for zeros ("nonzero": springs and friction are left out).
GRAVITY = {"g": "gravity"}
LINKS = GRAVITY | numbered(m="masses", I="inertias", l="lengths", d="centres", T="torques")
POLE = GRAVITY | {"M": "cart.mass", "m": "pole.mass", "L": "length", "F": "push"}
BOBS = GRAVITY | numbered(m="masses", l="lengths")
ONES = dict.fromkeys(("m1", "m2", "l1", "l2", "J1", "J2"), 1.0) | {"g": 9.81}
MACHINES: dict[str, tuple[Any, dict[str, str], str]] = {
    "rolling disc": (dm.systems.rolling_disc("momentum"), GRAVITY | {"r": "radius"}, "given"),
    "chain": (dm.systems.n_link(n=2), LINKS, "nonzero"),
    "cart and pole": (dm.systems.cart_pole(push=1.0), POLE, "given"),
    "acrobot": (dm.System(acrobot, {"th1": "rad", "th2": "rad"}, ONES), {}, "nonzero"),
    "double pendulum": (dm.systems.double_pendulum(), BOBS, "nonzero"),
}


def checked(title: str, side: str, params: str = ""):
    """The verdict on the "published" or the "right" equations of an exhibit."""
    system, letters, numbers = MACHINES[MUSEUM[title]["machine"]]
    return dm.check_derivation(system, MUSEUM[title][side], params or numbers, symbols=letters)


def main() -> None:
    for title in MUSEUM.sections():
        published, expected = checked(title, "published"), MUSEUM[title]["verdict"].split("\n")
        print(f"{title}\n   {' '.join(MUSEUM[title]['source'].split())}")
        for one, words in zip(published.equations, expected[1:], strict=True):
            print(f"{one.number}. {one.guess if one.verdict == 'wrong' else one.verdict}")
            assert one.right == (words == "right"), "each equation for itself"
            named = (wording in one.guess for wording in words.split(" | "))
            assert one.right or any(named), "where the slip is"
        assert not published.right
        assert checked(title, "right").right
    hidden = checked("Everything is one", "published", "given")
    assert hidden.right, "where every number is one, a factor too much is none"


if __name__ == "__main__":
    main()
