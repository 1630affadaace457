"""Equations of motion, printed: the same as the machine's, and as other people derive them."""

import re
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp
from jax import lax
from matplotlib.mathtext import MathTextParser

import diffmech as dm
from benchmarks.equations import BY_HAND, printed as printed_like_sympys
from diffmech.model import ExplicitLaws
from diffmech.motion import acceleration_of, mass_and_bias_of, rows_of
from diffmech.systems import CATALOGUE

from ..by_tape import carried_out
from ..conftest import jittered_params, machine, random_states
from ..printed import CC, NODE, by_node, by_python, compiled, value_of
from ..scalar_lagrangians import (
    attracting_bodies,
    bead_on_a_table,
    masses_on_springs,
    sorted_and_folded,
    two_regimes,
)
from ..tolerances import ROUND_OFF

LANES = 6
MORE = {
    "rolling_disc:route=momentum": lambda: dm.systems.rolling_disc(route="momentum"),
    "free_body:route=quaternion": lambda: dm.systems.free_body(route="quaternion"),
    "n_link:n=6": lambda: dm.systems.n_link(n=6),
}
ALL = [*CATALOGUE, *MORE]
# The same sums in another order: terms that cancel, and a last solve, cost digits.
REORDERED = 1e-11


@cache
def system_called(name: str) -> dm.AbstractSystem:
    return MORE[name]() if name in MORE else machine(name)


@cache
def printed(name: str) -> dm.Equations:
    return dm.equations(system_called(name))


class States:
    """Random states of a machine, with numbers of its parameters, lanes last."""

    def __init__(self, system: dm.AbstractSystem, seed: int):
        self.q, self.qd, self.qdd = (0.5 * x for x in random_states(system.n, LANES, seed))
        rng = np.random.default_rng(seed)
        self.t = rng.uniform(0.1, 2.0, LANES)
        self.lam = rng.normal(size=(LANES, len(getattr(system, "rows", ()))))
        self.params = jittered_params(system, seed)
        leaves = jax.tree.leaves(self.params)
        self.numbers = np.concatenate([np.ravel(leaf) for leaf in leaves] or [np.zeros(0)])

    def many_params(self) -> Any:
        return jax.tree.map(lambda x: np.tile(x, (LANES, *[1] * np.ndim(x))), self.params)

    def values(self, equations: dm.Equations, names: Any) -> dict[str, Any]:
        """By the names that are printed."""
        own = equations.coordinates
        values: dict[str, Any] = dict(zip(names, self.numbers, strict=True))
        values |= {"t": self.t, "inf": np.inf, "true": True, "false": False}
        for mark, columns in (("", self.q), ("'", self.qd), ("''", self.qdd)):
            values |= {f"{name}{mark}": column for name, column in zip(own, columns.T, strict=True)}
        values |= {f"lambda{k + 1}": column for k, column in enumerate(self.lam.T)}
        for line in equations.shared:
            name, _, text = line.partition(" = ")
            values[name] = value_of(text, values)
        return values


def imbalance(laws: Any, q: Any, qd: Any, t: Any, params: Any, qdd: Any, lam: Any) -> Any:
    """What the printed equations say is zero, and the size of what is added up."""
    if isinstance(laws, ExplicitLaws):
        acceleration = laws.acceleration(q, qd, t, params)
        return qdd - acceleration, jnp.zeros(0)
    mass, bias = mass_and_bias_of(laws, q, qd, t, params)
    if not laws.constraints:
        return mass @ qdd + bias, jnp.zeros(0)
    rows = rows_of(laws, q, qd, t, params)
    together = jnp.concatenate([rows.rate, rows.jacobian @ qdd + rows.drift])
    return mass @ qdd + bias - lam @ rows.jacobian, together


def left_less_right(text: str, values: dict[str, Any]) -> np.ndarray:
    left, right = (value_of(side, values) for side in text.split(" = "))
    return np.broadcast_to(left - right, LANES)


def number_names_of(equations: dm.Equations) -> tuple[str, ...]:
    return equations._sections.names


def assert_true_to_the_machine(equations: dm.Equations, system: dm.AbstractSystem) -> None:
    states = States(system, seed=3)
    values = states.values(equations, number_names_of(equations))
    batch = states.q, states.qd, states.t, states.many_params(), states.qdd, states.lam
    example = jax.tree.map(lambda x: x[0], batch)
    wanted = carried_out(partial(imbalance, system.laws), *example)(*batch)
    lines = [equations.balance, (*equations.constraints, *equations.rows)]
    for texts, known in zip(lines, wanted, strict=True):
        found = np.array([left_less_right(text, values) for text in texts]).reshape(-1, LANES)
        scale = np.max(np.abs(known), axis=1, initial=1e-3)
        assert np.max(np.abs(found.T - known) / scale[:, None], initial=0.0) < REORDERED


@pytest.mark.parametrize("name", ALL)
def test_what_is_printed_is_what_the_machine_obeys(name: str) -> None:
    assert_true_to_the_machine(printed(name), system_called(name))


PIECES = (masses_on_springs, attracting_bodies, bead_on_a_table, two_regimes, sorted_and_folded)


@pytest.mark.parametrize("lagrangian", PIECES, ids=lambda f: f.__name__)
def test_lagrangians_in_pieces_are_printed_piece_by_piece(lagrangian: Any) -> None:
    params = {"m": jnp.array([1.0, 1.3, 0.7, 2.0])}
    system = _system(lagrangian, ("a", "b", "c", "d"), params)
    assert_true_to_the_machine(dm.equations(system), system)


def _program_states(name: str) -> tuple[Any, np.ndarray]:
    """Random states, and their accelerations by JAX's own solution, carried out in NumPy."""
    system = system_called(name)
    states = States(system, seed=8)
    batch = states.q, states.qd, states.t, states.many_params()
    example = jax.tree.map(lambda x: x[0], batch)
    wanted = carried_out(partial(acceleration_of, system.laws), *example)(*batch)
    assert np.all(np.isfinite(wanted)), "a state at which the condition is too large"
    return states, wanted


@cache
def known_accelerations(name: str) -> tuple[Any, np.ndarray]:
    return _program_states(name)


def assert_accelerations(found: Any, wanted: np.ndarray, name: str) -> None:
    error = np.max(np.abs(found - wanted), axis=1) / np.max(np.abs(wanted), axis=1)
    assert np.max(error) < ROUND_OFF, f"{name}: off by {np.max(error):.1e}"


@pytest.mark.parametrize("name", ALL)
def test_the_printed_python_gives_the_accelerations(name: str) -> None:
    states, wanted = known_accelerations(name)
    function = by_python(printed(name).python())
    found = function(states.q.T, states.qd.T, states.t, states.numbers)
    assert_accelerations(found.T, wanted, name)


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_the_printed_c_gives_the_accelerations(tmp_path: Path) -> None:
    functions = compiled([printed(name).c() for name in ALL], tmp_path)
    for name, function in zip(ALL, functions, strict=True):
        states, wanted = known_accelerations(name)
        found = np.zeros(wanted.shape)
        for row, q, qd, t in zip(found, states.q, states.qd, states.t, strict=True):
            function(q, qd, t, states.numbers, row)
        assert_accelerations(found, wanted, name)


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_the_printed_javascript_gives_the_accelerations(tmp_path: Path) -> None:
    calls = []
    for name in ALL:
        states, _ = known_accelerations(name)
        columns = zip(states.q, states.qd, states.t, strict=True)
        batch = [(q, qd, t, states.numbers) for q, qd, t in columns]
        calls.append((printed(name).javascript(), batch))
    for name, found in zip(ALL, by_node(calls, tmp_path), strict=True):
        assert_accelerations(np.array(found), known_accelerations(name)[1], name)


def test_mass_bias_rows_and_multipliers_are_printed_as_programs_too() -> None:
    name = "rolling_disc"
    states, qdd = known_accelerations(name)
    what = ("mass", "bias", "jacobian", "drift", "multipliers")
    found = by_python(printed(name).python(*what))(
        states.q.T, states.qd.T, states.t, states.numbers
    )
    pull = np.einsum("mnl,ml->nl", found["jacobian"], found["multipliers"])
    lacking = np.einsum("ijl,lj->il", found["mass"], qdd) + found["bias"] - pull
    assert np.max(np.abs(lacking)) < ROUND_OFF * np.max(np.abs(found["bias"]))
    moved = np.einsum("mnl,ln->ml", found["jacobian"], qdd) + found["drift"]
    assert np.max(np.abs(moved)) < ROUND_OFF * np.max(np.abs(found["drift"]))


# As other people derive them.


def is_zero(expression: Any) -> bool:
    """Exactly: sines and cosines of sums opened, sin² = 1 − cos², all terms gone."""
    opened = sp.expand(sp.expand_trig(expression))
    for sine in sorted(opened.atoms(sp.sin), key=str):
        s, c = sp.Dummy(), sp.Dummy()
        swapped: Any = {sine: s, sp.cos(sine.args[0]): c}
        opened = opened.subs(swapped)
        opened = sp.expand(sp.rem(opened, s**2 + c**2 - 1, s)) if opened.has(s) else opened
    return opened == 0


@pytest.mark.parametrize("name", BY_HAND)
def test_sympys_lagranges_method_finds_the_same_equations(name: str) -> None:
    theirs = BY_HAND[name]()
    ours = printed_like_sympys(name).sympy().balance
    assert len(theirs) == len(ours)
    for one, other in zip(ours, theirs, strict=True):
        assert is_zero(one - other)
        assert not is_zero(one + other)


def test_the_babyboots_terms_are_those_of_its_source() -> None:
    found = printed("babyboot").sympy()
    p, (qa, qb), (da, db) = found.params, found.q, found.qd
    about = p["IA"] + p["mA"] * p["LA"] ** 2 + p["mB"] * p["LB"] ** 2
    about += p["IBx"] * sp.cos(qb) ** 2 + p["IBy"] * sp.sin(qb) ** 2
    turned = (p["IBx"] - p["IBy"]) * sp.sin(qb) * sp.cos(qb)
    weight = (p["mA"] * p["LA"] + p["mB"] * p["LB"]) * p["g"] * sp.sin(qa)
    assert sp.expand(found.mass - sp.diag(about, p["IBz"])) == sp.zeros(2, 2)
    assert sp.expand(found.velocity - sp.Matrix([-2 * turned * da * db, turned * da**2])) == (
        sp.zeros(2, 1)
    )
    assert sp.expand(found.potential - sp.Matrix([weight, 0])) == sp.zeros(2, 1)
    assert found.forces == sp.zeros(2, 1)
    assert found.jacobian.shape == (0, 2)


def test_sympys_expressions_are_the_printed_terms() -> None:
    found = printed("kapitza").sympy()
    a, w = found.params["amplitude"], found.params["frequency"]
    mass, length = found.params["bob.mass"], found.params["length"]
    shaken = sp.expand(found.potential[0]).coeff(sp.cos(w * found.t), 1)
    assert is_zero(shaken + mass * length * a * w**2 * sp.sin(found.q[0]))
    disc = printed("rolling_disc").sympy()
    pull = disc.jacobian.T * sp.Matrix(disc.multipliers)
    total = disc.mass * sp.Matrix(disc.qdd) + disc.velocity + disc.potential - disc.forces - pull
    assert all(is_zero(x) for x in total - disc.balance)
    assert is_zero(disc.rates[0] - sum(
        disc.jacobian[0, j] * disc.qd[j] for j in range(5)
    ))  # fmt: skip
    chosen = printed("bead_on_wire").sympy().forces
    assert chosen.has(sp.Piecewise)


# What it looks like.


def test_the_babyboot_is_printed_as_its_source_has_it() -> None:
    assert str(printed("babyboot")).splitlines() == [
        "babyboot: M q'' + velocity + potential = forces + constraints",
        "",
        "  (LA^2*mA + LB^2*mB + IA + IBy*sin(qB)^2 + IBx*cos(qB)^2)*qA''",
        "      - 2*(IBx - IBy)*sin(qB)*cos(qB)*qA'*qB' + g*(LA*mA + LB*mB)*sin(qA) = 0",
        "  IBz*qB'' + (IBx - IBy)*sin(qB)*cos(qB)*qA'^2 = 0",
    ]


def test_sums_of_angles_are_merged() -> None:
    boot = printed("double_pendulum")
    assert boot.balance[1] == (
        "masses[1]*lengths[0]*lengths[1]*cos(theta1 - theta2)*theta1'' "
        "+ masses[1]*lengths[1]^2*theta2'' "
        "- masses[1]*lengths[0]*lengths[1]*sin(theta1 - theta2)*theta1'^2 "
        "+ masses[1]*lengths[1]*gravity*sin(theta2) = 0"
    )


def _system(lagrangian: Any, coordinates: Any, params: Any = (), **more: Any) -> dm.System:
    return dm.System(lagrangian, coordinates=coordinates, params=params, **more)


@pytest.mark.parametrize(
    ("potential", "force"),
    [
        (lambda a, b: jnp.sin(a) * jnp.sin(b) - jnp.cos(a) * jnp.cos(b), "sin(a + b)"),
        (lambda a, b: (jnp.sin(a) ** 2 + jnp.cos(a) ** 2) * a * b, "b"),
        (lambda a, b: jnp.sin(2 * a + b) * jnp.cos(b) - jnp.cos(2 * a + b) * jnp.sin(b),
         "2*cos(2*a)"),
        (lambda a, b: jnp.sin(a) * jnp.cos(b) + jnp.cos(a) * jnp.sin(b), "cos(a + b)"),
        (lambda a, b: jnp.tan(b) * jnp.cos(b) * a, "sin(b)"),
        (lambda a, b: a * jnp.cos(a - b) ** 2 + a * jnp.sin(b - a) ** 2, "1"),
        (lambda a, b: a * jnp.sin(b) * jnp.sin(b) / jnp.sin(b), "sin(b)"),
        (lambda a, b: -0.25 * a * (1 - jnp.cos(b) ** 2), "-0.25*sin(b)^2"),
        (lambda a, b: jnp.sin(a) * jnp.cos(b), "cos(a)*cos(b)"),
    ],
)  # fmt: skip
def test_trigonometry_is_as_short_as_people_write_it(potential: Any, force: str) -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t, params
        return 0.5 * qd @ qd - potential(q[0], q[1])

    assert dm.equations(_system(lagrangian, ("a", "b"))).parts[0]["potential"] == force


def test_terms_stand_in_the_order_inertia_velocity_potential_and_forces_on_the_right() -> None:
    cart = printed("cart_pole")
    assert cart.parts[0] == {
        "inertia": "(cart.mass + pole.mass)*x'' + 0.5*pole.mass*length*cos(theta)*theta''",
        "velocity": "-0.5*pole.mass*length*sin(theta)*theta'^2",
        "potential": "0",
        "forces": "push - x'*(track.viscous + track.coulomb/sqrt(track.smoothing^2 + x'^2) "
        "+ track.quadratic*abs(x'))",
        "multipliers": "0",
    }
    left, right = cart.balance[0].split(" = ")
    assert left == f"{cart.parts[0]['inertia']} - {cart.parts[0]['velocity'][1:]}"
    assert right == cart.parts[0]["forces"]


def test_the_matrix_form_names_every_entry_once() -> None:
    lines = dm.equations(machine("chaplygin_sleigh"), form="matrix").entries
    assert lines == (
        "M[1,1] = sleigh.mass",
        "M[2,2] = sleigh.mass",
        "M[3,3] = sleigh.inertia[2]",
        "J[1,1] = -sin(theta)",
        "J[1,2] = cos(theta)",
        "J[1,3] = -offset",
        "c[1] = -cos(theta)*x'*theta' - sin(theta)*y'*theta'",
    )
    entries = [line.partition(" ")[0] for line in printed("double_pendulum").entries]
    assert entries == ["M[1,1]", "M[1,2]", "M[2,2]", "v[1]", "v[2]", "p[1]", "p[2]"]


def test_zero_parameters_are_left_out_and_equal_ones_written_as_one() -> None:
    chain = dm.systems.n_link(n=2)
    bare = dm.equations(chain, zero=True)
    assert bare.left_out == (
        *(f"{name}[{i}]" for name in ("stiffnesses", "frictions", "torques") for i in range(2)),
    )
    assert not re.search("stiff|frict|torq", "".join(bare.balance))
    assert "frictions" in "".join(dm.equations(chain, zero=("stiffnesses", "torques[1]")).balance)
    sprung = chain.with_params({"stiffnesses[1]": 2.0})
    assert "stiffnesses[1]" in "".join(dm.equations(sprung, zero=True).balance)
    assert "stiffnesses[1]" not in "".join(
        dm.equations(chain, params=chain.params, zero="stiffnesses").balance
    )
    disc = dm.equations(machine("rolling_disc"), same={"disc.inertia[1]": "disc.inertia[0]"})
    assert disc.left_out == ("disc.inertia[1]",)
    assert "psi)" not in "".join(disc.balance), "a round disc does not care how far it has rolled"


def test_programs_without_zero_parameters_ignore_them() -> None:
    chain = dm.systems.n_link(n=2)
    states = States(chain, seed=5)
    code = dm.equations(chain, zero=True).python()
    assert "stiffnesses" not in code.partition("def n_link")[2]
    names = number_names_of(dm.equations(chain))
    without = [0.0 if re.match("stiff|frict|torq", n) else x
               for n, x in zip(names, states.numbers, strict=True)]  # fmt: skip
    whole = by_python(dm.equations(chain).python())(states.q.T, states.qd.T, states.t, without)
    bare = by_python(code)(states.q.T, states.qd.T, states.t, states.numbers)
    assert np.max(np.abs(bare - whole)) < ROUND_OFF * np.max(np.abs(whole))


def test_out_of_time_the_equations_share_subexpressions_and_say_so() -> None:
    for name in ("double_pendulum", "rolling_disc"):
        system = machine(name)
        found = dm.equations(system, seconds=1e-9)
        assert found.remark == "not simplified: that takes longer than 1e-09 s"
        assert found.remark in str(found)
        assert_true_to_the_machine(found, system)
    assert printed("double_pendulum_3d").remark == "not simplified: there are too many terms"
    assert len(printed("double_pendulum_3d").shared) > 50


def test_long_lines_are_broken() -> None:
    for name in ("n_link", "double_pendulum_3d", "rolling_disc"):
        assert max(map(len, str(printed(name)).splitlines())) <= 100


# LaTeX.


def rows_of_latex(equations: dm.Equations) -> list[str]:
    first, *rows, last = equations.latex().splitlines()
    assert (first, last) == ("\\begin{aligned}", "\\end{aligned}")
    return [row.removesuffix("\\\\").strip().removeprefix("&").strip() for row in rows]


@pytest.mark.parametrize("name", ["babyboot", "bead_on_wire", "chaplygin_sleigh", "kapitza"])
def test_latex_is_understood(name: str) -> None:
    parser = MathTextParser("agg")
    for form in ("balance", "matrix"):
        for row in rows_of_latex(dm.equations(system_called(name), form=form)):
            parser.parse(f"${row}$")


def test_latex_has_the_symbols_that_people_write() -> None:
    boot = rows_of_latex(printed("babyboot"))
    assert boot[-1] == (
        r"I_{\mathrm{Bz}} \, \ddot{q}_{B} + (I_{\mathrm{Bx}} - I_{\mathrm{By}}) \, \sin(q_{B}) \, "
        r"\cos(q_{B}) \, \dot{q}_{A}^{2} = 0"
    )
    chain = "".join(rows_of_latex(printed("n_link")))
    assert r"\ddot{\theta}_{3}" in chain
    assert r"\mathrm{masses}_{1}" in chain
    assert r"\cos^{2}(" in "".join(rows_of_latex(printed("babyboot")))
    assert printed("babyboot")._repr_latex_().startswith("$$\n\\begin{aligned}")
    assert "**babyboot**" in printed("babyboot").markdown()


HOSTILE = {
    name: 1.0 + i
    for i, name in enumerate(
        [
            "$x$",
            "\\input{/etc/passwd}",
            "a_b%c",
            "lambda",
            "θ",
            "a\nb",
            "</script>",
            "theta_1",
            "中",
        ]
        + ["a.b[0]", "", "#&~^", "x'", "{"]
    )
}


def test_hostile_names_are_harmless_everywhere() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t
        masses = jnp.stack([params[name] for name in HOSTILE])
        return 0.5 * jnp.sum(masses * qd[0] ** 2) - params["lambda"] * jnp.cos(q[0]) * q[1] ** 2

    system = _system(lagrangian, ("theta1", "lambda1"), HOSTILE)
    found = dm.equations(system)
    rows = rows_of_latex(found)
    parser = MathTextParser("agg")
    for row in rows:
        parser.parse(f"${row}$")
        assert "input{" not in row
        assert row.isascii()
    assert r"\mathrm{theta\_1}" in "".join(rows) or r"\theta_{1}" in "".join(rows)
    assert "\n" not in "".join(found.balance)
    function = by_python(dm.equations(system).python("mass"))
    values = [float(x) for x in jax.tree.leaves(system.params)]
    assert function([0.1, 0.2], [0.0, 0.0], 0.0, values)[0, 0] == pytest.approx(sum(values))


def test_two_names_never_become_one_symbol() -> None:
    def lagrangian(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t
        names = ("theta1", "theta_1", "m.a", "a_m")
        return 0.5 * qd[0] ** 2 * sum(params[name] * (i + 1) for i, name in enumerate(names))

    params = {"theta1": 1.0, "theta_1": 2.0, "m.a": 3.0, "a_m": 4.0}
    (row,) = rows_of_latex(dm.equations(_system(lagrangian, ("x",), params)))
    inside = row.partition(")")[0].lstrip("(")
    symbols = [part.rpartition("\\, ")[2].strip() for part in inside.split("+")]
    assert len(set(symbols)) == 4, symbols


# What cannot be printed.


def test_wrong_calls_get_a_sentence() -> None:
    boot = machine("babyboot")
    with pytest.raises(ValueError, match=r"there is no form 'matrx'.*Did you mean 'matrix'"):
        dm.equations(boot, form="matrx")
    with pytest.raises(ValueError, match=r"`zero` must name parameters.*no 'IBX'.*mean 'IBx'"):
        dm.equations(boot, zero=["IBX"])
    with pytest.raises(ValueError, match="`same` must name parameters"):
        dm.equations(boot, same={"IBx": "I"})
    with pytest.raises(ValueError, match="`same` must not go in a circle"):
        dm.equations(boot, same={"IBx": "IBy", "IBy": "IBx"})
    with pytest.raises(ValueError, match="`same` must pair parameters of one size"):
        dm.equations(dm.systems.n_link(n=2), same={"masses": "gravity"})
    with pytest.raises(ValueError, match="`seconds` must be greater than zero"):
        dm.equations(boot, seconds=0)
    with pytest.raises(ValueError, match=r"there is no output 'mas'.*Did you mean 'mass'"):
        printed("babyboot").python("mas")
    with pytest.raises(ValueError, match="without masses"):
        printed("rolling_disc:route=momentum").c("mass")
    with pytest.raises(ValueError, match="`form` must be 'balance'"):
        dm.equations(system_called("rolling_disc:route=momentum"), form="matrix")


def test_machines_that_cannot_be_printed_are_refused_in_a_sentence() -> None:
    def spun(q: Any, qd: Any, t: Any, params: Any) -> Any:
        del t, params
        length = lax.while_loop(lambda x: x < 10 * qd[0], lambda x: 2 * x, 1.0 + q[0])
        return 0.5 * qd[0] ** 2 - lax.stop_gradient(length)

    with pytest.raises(ValueError, match=r"cannot be printed: .*loop of fixed length"):
        dm.equations(dm.Explicit(lambda q, qd, t, p: -spun(q, qd, t, p) + 0 * q, ("x",)))
    with pytest.raises(ValueError, match=r"at most 32 coordinates .* has 40: take a smaller one"):
        dm.equations(dm.systems.n_link(n=40))


def test_without_sympy_all_but_sympys_expressions_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    found = dm.equations(machine("babyboot"))
    assert "IBz*qB''" in str(found)
    assert "\\ddot{q}_{B}" in found.latex()
    assert all(found.code(language) for language in ("python", "c", "javascript"))
    with pytest.raises(ValueError, match=r"SymPy is needed .*pip install 'diffmech\[symbolic\]'"):
        found.sympy()
