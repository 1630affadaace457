"""Derivations by hand: right ones are accepted in every form, mistakes are found and named."""

import json
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.derivation import Lagrangian

BOOT = dm.systems.babyboot()
PAIR = dm.systems.double_pendulum()
CART = dm.systems.cart_pole()
ROD = dm.systems.pendulum_dae()
DISC = dm.systems.rolling_disc()
SHORT = {"m1": "masses[0]", "m2": "masses[1]", "l1": "lengths[0]", "l2": "lengths[1]",
         "g": "gravity", "a": "theta1", "b": "theta2"}  # fmt: skip

# The two equations of the babyboot's source, its system balance about the hinge solved for qA''.
SOLVED = """
I1 = IA + mA*LA^2 + mB*LB^2  # about the hinge
qA'' = 2*sin(qB)*cos(qB)*qA'*qB'*(IBx - IBy) - (mA*LA + mB*LB)*g*sin(qA)
qB'' = -sin(qB)*cos(qB)*qA'^2*(IBx - IBy)/IBz
""".replace("qA'' = 2", "qA''*(I1 + IBx*cos(qB)^2 + IBy*sin(qB)^2) = 2")
# Lagrange's equations of the double pendulum, as in any textbook.
TEXTBOOK = """
(m1+m2)*l1^2*a'' + m2*l1*l2*cos(a-b)*b'' + m2*l1*l2*sin(a-b)*b'^2 + (m1+m2)*g*l1*sin(a) = 0
m2*l2^2*b'' + m2*l1*l2*cos(a-b)*a'' - m2*l1*l2*sin(a-b)*a'^2 + m2*g*l2*sin(b) = 0
"""
ROLLING = """
It = disc.inertia[0]
In = disc.inertia[2]
m = disc.mass
r = radius
s = psi' - phi'*sin(theta)
It*phi''*cos(theta) = theta'*(2*It*phi'*sin(theta) + In*s)
(It + m*r^2)*theta'' = m*gravity*r*sin(theta) - It*phi'^2*sin(theta)*cos(theta) \
 - (In + m*r^2)*s*phi'*cos(theta)
"""


def boot_by(library: Any) -> Callable[..., Any]:
    """q̈ of the babyboot by the functions of NumPy, JAX or `math`."""

    def accelerations(q: Any, qd: Any, t: Any, p: Any) -> Any:
        s, c = library.sin(q[1]), library.cos(q[1])
        inertia = p.IA + p.mA * p.LA**2 + p.mB * p.LB**2 + p.IBx * c**2 + p.IBy * s**2
        weight = (p.mA * p.LA + p.mB * p.LB) * p.g * library.sin(q[0])
        first = (2 * s * c * qd[0] * qd[1] * (p.IBx - p.IBy) - weight) / inertia
        return [first, -s * c * qd[0] ** 2 * (p.IBx - p.IBy) / p.IBz]

    return accelerations


def boot_mass(q: Any, t: Any, p: Any) -> Any:
    c, s = np.cos(q[1]), np.sin(q[1])
    about = p.IA + p.mA * p.LA**2 + p.mB * p.LB**2 + p.IBx * c**2 + p.IBy * s**2
    return np.array([[about, 0 * c], [0 * c, p.IBz]])


def boot_bias(q: Any, qd: Any, t: Any, p: Any) -> Any:
    sc = np.sin(q[1]) * np.cos(q[1]) * (p.IBx - p.IBy)
    weight = (p.mA * p.LA + p.mB * p.LB) * p.g * np.sin(q[0])
    return np.array([weight - 2 * sc * qd[0] * qd[1], sc * qd[0] ** 2])


def boot_balances(q: Any, qd: Any, qdd: Any, t: Any, p: Any) -> Any:
    """Sums and multiples of the two equations; one of them by a function of the state."""
    one, two = boot_mass(q, t, p) @ qdd + boot_bias(q, qd, t, p)
    return [one + 3 * two, (2 + np.cos(q[0])) * (one - two) / p.LA]


def boot_lagrangian(q: Any, qd: Any, t: Any, p: Any) -> Any:
    """Three times the machine's, and d/dt of qA² sin t + qA qB besides."""
    gauge = 2 * q[0] * qd[0] * jnp.sin(t) + q[0] ** 2 * jnp.cos(t) + qd[0] * q[1] + q[0] * qd[1]
    return 3 * BOOT.lagrangian(q, qd, t, p) + gauge


def step_by_step(q: Any, qd: Any, t: Any, p: Any) -> Any:
    """What cannot be traced: `math`, and an `if`."""
    found = boot_by(math)(q, qd, t, p)
    if float(q[0]) > 7:
        raise ArithmeticError
    return np.array([float(x) for x in found])


RIGHT: dict[str, tuple[Any, Any]] = {
    "text": (BOOT, SOLVED),
    "NumPy": (BOOT, boot_by(np)),
    "JAX": (BOOT, lambda q, qd, t, p: jnp.stack(boot_by(jnp)(q, qd, t, p))),
    "math": (BOOT, step_by_step),
    "combinations": (BOOT, boot_balances),
    "mass and bias": (BOOT, (boot_mass, boot_bias)),
    "mass and bias by name": (BOOT, {"mass": boot_mass, "bias": boot_bias}),
    "a Lagrangian": (BOOT, Lagrangian(boot_lagrangian)),
    "a time-dependent machine": (
        dm.systems.kapitza(),
        lambda q, qd, t, p: dm.acceleration(dm.systems.kapitza(), q, qd, t, p),
    ),
    "a constraint differentiated": (
        ROD,
        "x*y'' - y*x'' = -gravity*x\nx*x'' + y*y'' + x'^2 + y'^2 = 0",
    ),
    "a constraint left out": (ROD, "x*y'' - y*x'' = -gravity*x"),
    "multipliers": (
        ROD,
        lambda q, qd, qdd, lam, t, p: [
            p.mass * qdd[0] - lam[0] * q[0] / p.length,
            p.mass * (qdd[1] + p.gravity) - lam[0] * q[1] / p.length,
        ],
    ),
}


@pytest.mark.parametrize("form", RIGHT)
def test_right_equations_are_right_in_every_form(form: str) -> None:
    system, equations = RIGHT[form]
    found = dm.check_derivation(system, equations)
    assert found.right, found
    assert found.credit == 1.0
    assert all(one.right and one.credit == 1 for one in found.equations)
    assert max(one.disagreement for one in found.equations) < 1e-10  # rounding


def test_textbook_equations_are_right_by_the_symbols_of_the_book() -> None:
    assert dm.check_derivation(PAIR, TEXTBOOK, symbols=SHORT).right


def test_a_disc_may_be_taken_as_the_symmetric_body_it_is() -> None:
    wanted = ROLLING + "psi''*r*cos(phi) - r*psi'*phi'*sin(phi) = x''\n"
    found = dm.check_derivation(DISC, ROLLING)
    assert [one.verdict for one in found.equations] == ["right", "right"]
    assert not found.right, "two equations for three freedoms"
    assert any("3 independent equations are needed" in remark for remark in found.remarks)
    assert any("kept equal" in remark for remark in found.remarks)
    found = dm.check_derivation(DISC, wanted)
    assert found.equations[2].guess == "it says what the machine's constraints say"


def test_the_factor_of_an_equation_is_told() -> None:
    first, second = TEXTBOOK.strip().split("\n")
    found = dm.check_derivation(
        PAIR, f"{first}\n-2.5*({second.removesuffix('= 0')}) = 0", symbols=SHORT
    )
    assert found.right
    assert [one.verdict for one in found.equations] == ["right", "right up to a factor"]
    assert [one.factor for one in found.equations] == [1.0, -2.5]
    assert "right up to the factor -2.5" in str(found)


# What is changed in right equations, and what must be said of it.
MISTAKES: dict[str, tuple[str, str, str, str]] = {
    "a sign": ("boot", "= 2*sin", "= -2*sin", "sign of the Coriolis term qA' qB' in equation 1"),
    "a factor 2": ("boot", "= 2*sin", "= sin", "factor 2 missing in the Coriolis term"),
    "an inertia for another": (
        "boot", "/IBz", "/IBx", "qB'' is multiplied by IBx where IBz belongs in equation 2",
    ),
    "an inertia in a sum": (
        "boot", "qA'^2*(IBx - IBy)", "qA'^2*(IBx - IBz)",
        "IBz where IBy belongs in the centrifugal term qA'^2 in equation 2",
    ),
    "gravity upwards": ("boot", "- (mA*LA", "+ (mA*LA", "sign of the gravity term in equation 1"),
    "a parallel axis": ("boot", " + mA*LA^2", "", "a term with qA'' is missing in equation 1"),
    "a square": ("boot", "mB*LB^2", "mB*LB", "LB missing in the coefficient of qA''"),
    "cosine for sine": (
        "boot", "IBy*sin(qB)^2", "IBy*cos(qB)^2", "cos(qB)^2 where sin(qB)^2 belongs",
    ),
    "a negative mass": ("boot", "mB", "(-mB)", "mB has the other sign everywhere"),
    "a mass forgotten": ("boot", "(mA*LA + mB", "(LA + mB", "mA missing in the gravity term"),
    "a velocity term": (
        "pair", " + m2*l1*l2*sin(a-b)*b'^2", "", "centrifugal term theta2'^2 is missing",
    ),
    "another length": ("pair", "m2*g*l2*sin(b)", "m2*g*l1*sin(b)", "l1 where l2 belongs"),
    "a term too many": ("pair", "m2*g*l2*sin(b)", "m2*g*l2*sin(b) + m1*l2*a'^2", "does not belong"),
    "gravity reversed": ("pair", "g*", "-g*", "gravity is reversed"),
    "a rate for another": ("pair", "b'^2", "a'*b'", "theta1' where theta2' belongs"),
    "sum for difference": ("pair", "cos(a-b)*b''", "cos(a+b)*b''", "cos(theta1 + theta2)"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_found_and_named(what: str) -> None:
    which, old, new, said = MISTAKES[what]
    system, text = (BOOT, SOLVED) if which == "boot" else (PAIR, TEXTBOOK)
    assert old in text
    symbols = SHORT if which == "pair" else None
    found = dm.check_derivation(system, text.replace(old, new), symbols=symbols)
    assert not found.right
    assert 0 <= found.credit < 1
    wrong = [one for one in found.equations if not one.right]
    assert all(one.disagreement > 1e-4 for one in wrong)
    assert all(said in one.guess for one in wrong), [one.guess for one in wrong]
    assert all(one.where and one.state for one in wrong)


def test_the_place_of_a_mistake_in_the_text_is_told() -> None:
    found = dm.check_derivation(BOOT, SOLVED.replace("/IBz", "/IBx"))
    wrong = found.equations[1]
    lines = SOLVED.replace("/IBz", "/IBx").split("\n")
    assert wrong.line is not None
    assert wrong.column is not None
    assert lines[wrong.line - 1][wrong.column - 1 :].startswith("IBx")
    assert lines[wrong.line - 1].endswith("/IBx")


def test_relative_angles_are_recognised() -> None:
    text = TEXTBOOK
    for name in ("b''", "b'", "b"):
        new = f"(A{name[1:]}+B{name[1:]})"
        text = text.replace(f"*{name}", f"*{new}").replace(f"-{name})", f"-{new})")
        text = text.replace(f"({name})", f"({new})")
    text = text.replace("A", "a").replace("B", "b")
    found = dm.check_derivation(PAIR, text, symbols=SHORT)
    said = "the angle theta2 is taken as relative to theta1 where the machine's is absolute"
    assert [one.guess for one in found.equations] == [said, said]


@pytest.mark.parametrize("library", [np, math], ids=["NumPy", "math"])
def test_a_mistake_in_a_function_is_named(library: Any) -> None:
    def wrong(q: Any, qd: Any, t: Any, p: Any) -> Any:
        first, second = boot_by(library)(q, qd, t, p)
        return [first, second * p.IBz / p.IBx]

    found = dm.check_derivation(BOOT, wrong)
    assert [one.verdict for one in found.equations] == ["right", "wrong"]
    assert "IBx where IBz belongs" in found.equations[1].guess


def test_the_entry_of_a_mass_matrix_is_named() -> None:
    def mass(q: Any, t: Any, p: Any) -> Any:
        half, c = p.length / 2, np.cos(q[1])
        coupling = p.pole.mass * half * c
        return [[p.cart.mass + p.pole.mass, coupling], [coupling, p.pole.inertia[2]]]

    def bias(q: Any, qd: Any, t: Any, p: Any) -> Any:
        arm = p.pole.mass * p.length / 2
        return [-arm * np.sin(q[1]) * qd[1] ** 2, arm * p.gravity * np.sin(q[1])]

    found = dm.check_derivation(CART, (mass, bias), params="nonzero")
    assert [one.verdict for one in found.equations] == ["right", "wrong"]
    assert found.equations[1].where == "coefficient of theta''"
    assert "0.25*theta''*pole.mass*length^2" in found.equations[1].term


def test_equations_in_which_nothing_is_right_are_told_by_their_parts() -> None:
    def nonsense(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return [np.tanh(q[0]) + qd[0] ** 2 * qd[1], np.exp(-(q[1] ** 2)) - qd[1]]

    found = dm.check_derivation(BOOT, nonsense)
    assert [one.verdict for one in found.equations] == ["wrong", "wrong"]
    assert "no single mistake explains it" in found.equations[0].guess
    assert "at rest" in found.equations[0].where
    assert found.credit == 0


FEW = {
    "missing": (SOLVED.split("qB''")[0], "the equations do not determine qB''"),
    "repeated": (SOLVED.replace("qB'' =", "qB''*0 ="), ""),
    "twice the same": ("\n".join([TEXTBOOK.strip().split("\n")[0]] * 2), "do not determine"),
    "empty": (f"{SOLVED}0 = 0", ""),
}


@pytest.mark.parametrize("what", FEW)
def test_empty_repeated_and_missing_equations_are_not_right(what: str) -> None:
    text, remark = FEW[what]
    pair = "masses" in text or "m1" in text
    found = dm.check_derivation(PAIR if pair else BOOT, text, symbols=SHORT if pair else None)
    assert not found.right
    assert found.credit < 1
    assert not remark or any(remark in one for one in found.remarks)


def test_nothing_is_right_where_it_is_not_finite() -> None:
    def sometimes(q: Any, qd: Any, t: Any, p: Any) -> Any:
        right = boot_by(math)(q, qd, t, p)
        return [float(x) if q[0] < 2.5 else math.nan for x in right]

    found = dm.check_derivation(BOOT, sometimes)
    assert not found.right
    assert found.credit == 0
    assert [one.verdict for one in found.equations] == ["undecided", "undecided"]
    assert any("not finite at" in remark for remark in found.remarks)
    found = dm.check_derivation(BOOT, "qA'' = 1/0\nqB'' = log(-1)")
    assert not found.right
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_is_ignored_is_remarked() -> None:
    def deaf(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return boot_by(np)(q, [0.0, 0.0], t, p)

    found = dm.check_derivation(BOOT, deaf)
    assert any("do not depend on qA', qB'" in remark for remark in found.remarks)


def test_features_that_are_off_may_be_left_out_as_a_whole() -> None:
    chain = dm.systems.n_link(n=1)
    text = "(inertias0 + masses0*centres0^2)*theta1'' = -masses0*gravity*centres0*sin(theta1)"
    found = dm.check_derivation(chain, text)
    assert found.right
    assert any("frictions[0], torques[0] are zero in n_link:n=1" in one for one in found.remarks)
    strict = dm.check_derivation(chain, text, params="varied")
    assert not strict.right
    assert any('`params="nonzero"` checks so' in remark for remark in strict.remarks)
    assert dm.check_derivation(chain, text, params="nonzero").right
    pair = dm.systems.n_link(n=2)
    printed = str(dm.equations(pair)).split("\n\n")[1]
    assert dm.check_derivation(pair, printed.replace("\n      ", " ")).right
    torn = printed.replace("\n      ", " ").replace("torques[1]", "0", 1)
    found = dm.check_derivation(pair, torn)
    assert [one.right for one in found.equations] == [False, True], "it occurs in one, not in both"
    lost = printed.replace("\n      ", " ").replace("torques[0]", "0")
    assert not dm.check_derivation(pair, lost).right, "a torque on one link, none on the other"


def test_numbers_that_do_not_occur_stand_in_proportion() -> None:
    uniform = dm.systems.n_link(n=1)  # I = m l²/12
    text = "theta1'' = -3/2*gravity/lengths0*sin(theta1)"
    found = dm.check_derivation(uniform, text)
    assert found.right
    assert any("inertias[0]" in one and "of the proportions" in one for one in found.remarks)
    assert not dm.check_derivation(uniform, text, params="varied").right
    assert not dm.check_derivation(uniform, text.replace("/lengths0", "")).right, "l = 1 by chance"
    assert not dm.check_derivation(uniform.with_params({"inertias[0]": 0.1}), text).right
    unknown = dm.System(
        lambda q, qd, t, p: 0.5 * p["I"] * qd[0] ** 2 + p["m"] * 9.81 * jnp.cos(q[0]),
        {"a": "rad"}, {"I": 1.0, "m": 1.0},
    )  # fmt: skip
    assert not dm.check_derivation(unknown, "a'' = -9.81*sin(a)").right, "nothing tells the units"


def test_zeros_and_own_numbers_may_be_asked_for() -> None:
    chain = dm.systems.n_link(n=1)
    own = "theta1'' = -3/2*9.81*sin(theta1)"  # a uniform rod of 1 m
    assert not dm.check_derivation(chain, own, params="nonzero").right
    assert dm.check_derivation(chain, own, params="given").right
    heavy = chain.with_params({"gravity": 3.71}).params
    assert not dm.check_derivation(chain, own, params=heavy).right
    assert dm.check_derivation(chain, own.replace("9.81", "3.71"), params=heavy).right


def test_a_coincidence_of_the_default_numbers_hides_nothing() -> None:
    text = TEXTBOOK.replace("m2*l2^2", "m1*l2*l1")  # all of them are 1 in this machine
    assert not dm.check_derivation(PAIR, text, symbols=SHORT).right
    assert dm.check_derivation(PAIR, text, params="given", symbols=SHORT).right


def test_a_lagrangian_that_only_moves_alike_is_not_the_machines() -> None:
    free = dm.System(
        lambda q, qd, t, p: 0.5 * (qd[0] ** 2 + qd[1] ** 2) - 0.5 * (q[0] ** 2 + 4 * q[1] ** 2),
        {"x": "m", "y": "m"},
        name="two oscillators",
    )

    def other(q: Any, qd: Any, t: Any, p: Any) -> Any:
        return 0.5 * (qd[0] ** 2 - q[0] ** 2) + 1.5 * (qd[1] ** 2 - 4 * q[1] ** 2)

    found = dm.check_derivation(free, Lagrangian(other))
    assert not found.right
    assert any("not the machine's Lagrangian" in remark for remark in found.remarks)


def test_multipliers_of_another_scale_are_noticed() -> None:
    text = "mass*x'' = 2*lam[0]*x\nmass*y'' = 2*lam[0]*y - mass*gravity"
    found = dm.check_derivation(ROD, text)
    assert not found.right
    assert any("with other multipliers the equations would hold" in one for one in found.remarks)


REFUSED: dict[str, tuple[Any, str]] = {
    "a number": (7, "must be equations as text"),
    "two arguments": (lambda q, qd: q, "takes 2 arguments"),
    "one acceleration": (lambda q, qd, t, p: q[:1], r"shape \(2,\) = \(qA, qB\)"),
    "a Lagrangian without its name": (lambda q, qd, t, p: jnp.sum(qd**2), "Lagrangian"),
    "a function that raises": (lambda q, qd, t, p: [p.nothing, 1.0], "raised AttributeError"),
    "multipliers of none": (lambda q, qd, qdd, lam, t, p: qdd, "has no constraints"),
    "a mass matrix of three": ((lambda q, t, p: np.eye(3), boot_bias), r"\(2, 2\)"),
    "a bias of one": ((boot_mass, lambda q, qd, t, p: q[0]), r"\(2,\)"),
    "half a pair": ({"mass": boot_mass}, "is a mapping of mass"),
    "a Lagrangian of two": (Lagrangian(lambda q, qd, t, p: q), "one number"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_derivation_is_refused_in_a_sentence(what: str) -> None:
    hand_written, sentence = REFUSED[what]
    with pytest.raises(ValueError, match=sentence):
        dm.check_derivation(BOOT, hand_written)


def test_an_unknown_way_of_parameters_is_refused() -> None:
    with pytest.raises(ValueError, match="'varied', 'nonzero', 'given' or parameters"):
        dm.check_derivation(BOOT, SOLVED, params="all")


def test_the_record_prints_itself_aligned_and_is_json() -> None:
    found = dm.check_derivation(BOOT, SOLVED.replace("/IBz", "/IBx"))
    lines = str(found).split("\n")
    assert lines[0].startswith("derivation  not right: 1 of 2 equations of babyboot hold")
    assert all(line[11] == " " and line[12] != " " for line in lines)
    said = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert said["right"] is False
    assert [one["verdict"] for one in said["equations"]] == ["right", "wrong"]
    assert said["equations"][1]["credit"] == pytest.approx(2 / 3), "two of three terms are right"
    assert said["credit"] == pytest.approx((1 + 2 / 3) / 2)


def test_the_same_seed_gives_the_same_verdict() -> None:
    text = SOLVED.replace("/IBz", "/IBx")
    one, other = (dm.check_derivation(BOOT, text, seed=3).as_dict() for _ in range(2))
    assert one == other


def test_digits_that_a_right_expression_loses_next_to_a_pole_are_no_mistake() -> None:
    ball = dm.systems.spherical_pendulum()
    text = (
        "theta'' = phi'^2*sin(theta)*cos(theta) - gravity*sin(theta)/length\n"
        "phi'' = 2*phi'*theta'*sin(theta)*cos(theta)/(20000 + cos(theta)^2 - 20001)"
    )
    found = dm.check_derivation(ball, text)
    assert found.right, found
    assert found.equations[1].disagreement > 1e-8, "they were lost"
    off = text.replace("gravity", "(gravity + 1e-5)")
    assert not dm.check_derivation(ball, off).right, "a little everywhere is a mistake"
