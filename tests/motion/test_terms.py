"""Expressions as sums of coefficient times function, and as text."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diffmech as dm
from diffmech.model import parameter_paths
from diffmech.motion import mass_and_bias_of
from diffmech.scalars import (
    ATOM,
    POWER,
    TEXT,
    Arrays,
    Evaluation,
    Form,
    NotScalar,
    Register,
    Tape,
    gathered,
    given,
    spelled,
    terms,
    unknowns,
    write,
    written_coefficient,
    written_product,
)

LANES = 7
NAMES = {**dict(enumerate("xyz")), **dict(enumerate("abcd", start=3))}  # inputs in this order


def _of(function: Any) -> tuple[Tape, Register, dict[Register, str]]:
    """function(x, p) on a tape: three variables, then four parameters."""
    tape = Tape()
    x, p = unknowns(tape, (np.zeros(3), np.zeros(4)))
    place = int(write(tape, function, x, p))
    return tape, place, {place: NAMES[i] for i, place in enumerate([*x.tolist(), *p.tolist()])}


def _terms_of(function: Any) -> dict[str, str]:
    """Each function and its coefficient, as text."""
    tape, place, names = _of(function)
    parameters = [p for p, name in names.items() if name in "abcd"]
    (found,) = terms(tape, place, parameters)
    return {
        spelled(tape, written_product(tape, factors), names): spelled(
            tape, written_coefficient(tape, coefficient), names
        )
        for factors, coefficient in found.items()
    }


EXPRESSIONS = {
    "sums": lambda x, p: (p[0] * x[0] + p[1] * x[1]) ** 2 * (p[2] - x[2]),
    "turns": lambda x, p: (
        p[0] * jnp.sin(x[0] + 2 * x[1] - p[1]) ** 2 + jnp.cos(3 * x[0] + jnp.pi / 2)
    ),
    "quotients": lambda x, p: (p[0] ** 2 / p[1] + x[0] / (p[2] + p[3])) / (p[0] * x[1] ** 2),
    "roots": lambda x, p: jnp.sqrt(x[0] ** 2 * p[0]) ** 3 / jnp.sqrt(p[1] * x[1] ** 2 + 1.0),
    "functions": lambda x, p: p[0] * jnp.tanh(x[0] / p[1]) * jnp.tan(x[1]) + jnp.exp(-p[2] * x[2]),
    "choices": lambda x, p: jnp.where(x[0] > p[0], p[1] * x[1], jnp.abs(x[2])) * (x[0] + 1.0),
    "norms": lambda x, p: p[0] * jnp.linalg.norm(jnp.stack([x[0] * jnp.sin(x[1]), x[2]])),
    "powers": lambda x, p: jnp.maximum(x[0], p[0]) * (x[1] ** 2 + p[1] ** 2) ** 1.3,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_terms_add_up_to_the_expression(name: str) -> None:
    tape, place, names = _of(EXPRESSIONS[name])
    (found,) = terms(tape, place, [p for p, name in names.items() if name in "abcd"])
    total = tape.total(
        tape.operate("mul", written_product(tape, f), written_coefficient(tape, c))
        for f, c in found.items()
    )
    values = np.random.default_rng(1).uniform(0.3, 2.0, (LANES, 7))
    evaluation = Evaluation(tape, Arrays(), given(np.array(list(names)), values))
    wanted, summed = gathered(evaluation.of(np.array([place, total])), LANES).T
    np.testing.assert_allclose(summed, wanted, rtol=1e-12)


def test_functions_that_depend_on_each_other_become_one() -> None:
    def nothing(x: Any, p: Any) -> Any:
        s, c = jnp.sin(x), jnp.cos(x)
        turned = jnp.cos(x[0] - x[1]) - c[0] * c[1] - s[0] * s[1]
        doubled = jnp.sin(2 * x[2]) - 2 * s[2] * c[2]
        return (
            p[0] * (s[0] ** 2 + c[0] ** 2 - 1) + p[1] * turned + doubled + s[1] - x[1] * s[1] / x[1]
        )

    assert _terms_of(nothing) == {}
    plate = lambda x, p: (p[0] * jnp.cos(x[0]) ** 2 + p[1] * jnp.sin(x[0]) ** 2) * x[1]  # noqa: E731
    assert _terms_of(plate) == {"y": "b", "y*cos(x)^2": "a - b"}


def test_parameters_in_denominators_belong_to_the_coefficient() -> None:
    found = _terms_of(lambda x, p: (p[0] ** 2 / p[1] * x[0] - x[1] / p[2] + x[2]) / (p[0] + p[3]))
    assert found == {"x": "a^2/(b*(a + d))", "y": "-1/(c*(a + d))", "z": "1/(a + d)"}


def test_a_width_stays_inside_its_function() -> None:
    found = _terms_of(lambda x, p: p[0] * jnp.tanh(x[0] / p[1]) + p[2] * jnp.tanh(x[0] / p[1]))
    assert found == {"tanh(x/b)": "a + c"}


def test_the_guard_of_a_norm_is_no_term() -> None:
    def guarded(x: Any, p: Any) -> Any:
        square = x[0] ** 2 * (jnp.sin(x[1]) ** 2 + jnp.cos(x[1]) ** 2)
        inside = jnp.where(square > 0, square, 1.0)
        return p[0] * (jnp.where(square > 0, jnp.sqrt(inside), 0.0) - p[1])

    assert _terms_of(guarded) == {"abs(x)": "a", "1": "-a*b"}


def test_a_choice_between_pieces_is_no_guard() -> None:
    # 1 where x > 2, and 3 elsewhere: max(x, 2) and x are equal on more than single points.
    larger = _terms_of(lambda x, p: jnp.where(jnp.maximum(x[0], 2.0) == x[0], 1.0, 3.0) * p[0])
    assert list(larger.values()) == ["a"]
    assert "where" in next(iter(larger))
    whole = _terms_of(lambda x, p: jnp.where(jnp.floor(x[0]).astype(int) == 1, p[0], p[1]))
    assert any("where" in function for function in whole)
    # |x| is 1 at two points only, and x is x.
    assert _terms_of(lambda x, p: jnp.where(jnp.abs(x[0]) == 1.0, 5.0, x[1]) * p[0]) == {"y": "a"}
    assert _terms_of(lambda x, p: jnp.where(x[0] + x[1] == x[1] + x[0], p[0], p[1])) == {"1": "a"}


def test_what_grows_too_long_is_refused() -> None:
    with pytest.raises(NotScalar, match="more than 5000 terms"):
        _terms_of(lambda x, p: (jnp.sum(x) + jnp.sum(p) + 1.0) ** 10)


def test_the_babyboot_has_the_coefficients_of_its_source() -> None:
    system = dm.systems.babyboot()
    tape = Tape()
    q, qd, qdd, params = unknowns(tape, (*[np.zeros(2)] * 3, system.params))

    def balance(q: Any, qd: Any, qdd: Any, params: Any) -> Any:
        mass, bias = mass_and_bias_of(system.laws, q, qd, jnp.asarray(0.0), params)
        return mass @ qdd + bias

    paths = parameter_paths(params)
    first, second = terms(
        tape, write(tape, balance, q, qd, qdd, params), jax.tree.leaves(list(paths.values()))
    )
    names = {int(place): path for path, place in paths.items()}
    texts = [
        {spelled(tape, written_coefficient(tape, c), names) for c in equation.values()}
        for equation in (first, second)
    ]
    assert texts[0] == {
        "g*(LA*mA + LB*mB)",
        "-2*(IBx - IBy)",
        "IBx - IBy",
        "IBy + IA + LA^2*mA + LB^2*mB",
    }
    assert texts[1] == {"IBx - IBy", "IBz"}


SPELLINGS = {
    "a*(x + y)": lambda x, p: (x[0] + x[1]) * p[0],
    "x - b*(y - z)": lambda x, p: x[0] - (x[1] - x[2]) * p[1],
    "y - x": lambda x, p: -x[0] + x[1],
    "-x - y": lambda x, p: -x[0] - x[1],
    "x^3/(a*b^2)": lambda x, p: x[0] ** 3 / p[0] / p[1] / p[1],
    "x/12": lambda x, p: x[0] / 12.0,
    "0.5*x": lambda x, p: 0.5 * x[0],
    "2*(x - 9.81)": lambda x, p: 2.0 * (x[0] - 9.81),
    "1/(x + y)": lambda x, p: 1.0 / (x[0] + x[1]),
    "(x + y)^2": lambda x, p: (x[0] + x[1]) ** 2,
    "(sin(x) - cos(2*x))^2*sqrt(y)": lambda x, p: (
        (jnp.sin(x[0]) - jnp.cos(2 * x[0])) ** 2 * jnp.sqrt(x[1])
    ),
    "where(x > 0, x, -y)": lambda x, p: jnp.where(x[0] > 0, x[0], -x[1]),
    "(x*y)^a": lambda x, p: (x[0] * x[1]) ** p[0],
    "0": lambda x, p: 0.0 * x[0],
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_text_has_the_fewest_parentheses_and_short_numbers(text: str) -> None:
    tape, place, names = _of(SPELLINGS[text])
    assert spelled(tape, place, names) == text


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_text_says_what_the_tape_computes(name: str) -> None:
    tape, place, names = _of(EXPRESSIONS[name])
    text = spelled(tape, place, names)
    assert not re.search(r"[^\w\s()+\-*/^.,<>=]", text)
    values = np.random.default_rng(2).uniform(0.3, 2.0, (LANES, 7))
    known = given(np.array(list(names)), values)
    (wanted,) = gathered(Evaluation(tape, Arrays(), known).of(np.array([place])), LANES).T
    words = {
        **{name: known[place] for place, name in names.items()},
        **{word: getattr(np, word) for word in ("sin", "cos", "tan", "tanh", "exp", "sqrt")},
        "abs": np.abs,
        "where": np.where,
        "max": np.maximum,
    }
    found = eval(text.replace("^", "**"), {"__builtins__": {}}, words)  # our own text
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_another_notation_is_another_table() -> None:
    c = TEXT._replace(forms={**TEXT.forms, "power": Form("pow({}, {})")})
    latex = TEXT._replace(
        forms={
            **TEXT.forms,
            "over": Form(r"\frac{{{}}}{{{}}}"),
            "power": Form("{}^{{{}}}", POWER, (ATOM,)),
        },
        times=" ",
        call=r"\{}({})",
    )
    tape, place, names = _of(lambda x, p: p[0] * jnp.sin(x[0]) * x[1] ** 2 / (p[1] + p[2]))
    assert spelled(tape, place, names, c) == "pow(y, 2)*a*sin(x)/(b + c)"
    assert spelled(tape, place, names, latex) == r"\frac{y^{2} a \sin(x)}{b + c}"


def test_an_input_without_a_name_is_named_by_its_number() -> None:
    tape, place, names = _of(lambda x, p: x[0] * p[0])
    del names[min(names)]
    with pytest.raises(KeyError, match="input 0"):
        spelled(tape, place, names)
