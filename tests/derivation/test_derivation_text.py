"""Equations as text: what they mean, and a sentence for everything that cannot be read."""

import contextlib
import math

import numpy as np
import pytest

import diffmech as dm
from diffmech.derivation import UnreadableTextError
from diffmech.derivation._read_text import read_text
from diffmech.derivation._symbols import Inputs, Symbols
from diffmech.scalars import Arrays, Evaluation, Tape, given, unknowns

BOOT = dm.systems.babyboot()
CHAIN = dm.systems.n_link(n=2)


def reading(system: dm.System) -> tuple[Tape, Inputs, Symbols]:
    tape, vector = Tape(), np.zeros(system.n)
    inputs = Inputs(
        *unknowns(tape, (vector, vector, vector, np.zeros(0), np.zeros(()), system.params))
    )
    return tape, inputs, Symbols(system, inputs)


def value_of(expression: str, system: dm.System = BOOT, symbols: str = "") -> float:
    """Of an expression at q = (0.3, −0.7), q̇ = (1.1, 0.4), q̈ = (−2, 5), t = 1.5."""
    tape, inputs, names = reading(system)
    text = f"{symbols}\n0*t + ({expression}) = 0"
    register = read_text(text, tape, names).equations[0].register
    state = [[0.3, -0.7], [1.1, 0.4], [-2.0, 5.0], [], 1.5]
    batch = (*(np.array([one]) for one in state), _batched(system))
    values = Evaluation(tape, Arrays(), given(tuple(inputs), batch)).of(register)
    return float(np.asarray(values.item()).item())


def _batched(system: dm.System) -> object:
    import jax

    return jax.tree.map(lambda leaf: np.asarray(leaf)[None], system.params)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2*3 - 4/8", 6.5),
        ("2 - 3 - 4", -5.0),
        ("8/4/2", 1.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2**-1", 0.5),
        ("(1 + 2)*-3", -9.0),
        ("--3", 3.0),
        ("4^0.5", 2.0),
        ("3² + 2³", 17.0),
        ("1.5e-1 + .5", 0.65),
        ("pi", math.pi),
        ("qA + qA' + qA''", 0.3 + 1.1 - 2.0),
        ("qB_dot*qB_ddot", 0.4 * 5.0),
        ("qB″ − qB′", 5.0 - 0.4),
        ("t·2", 3.0),
        ("sin(qA)^2 + cos(qA)^2", 1.0),
        ("atan2(1, 2) + tan(0.1)", math.atan2(1, 2) + math.tan(0.1)),
        ("arcsin(0.5) + ln(2) + exp(1)", math.asin(0.5) + math.log(2) + math.e),
        ("sqrt(abs(qB)) + sign(qB)", math.sqrt(0.7) - 1),
        ("where(qB < 0, 2, 3) + where(qB > 0, 2, 3)", 5.0),
        ("max(1, qA) + min(1, qA)", 1.3),
        ("g*mB", 0.981),
    ],
)
def test_expressions_have_the_value_that_mathematics_gives_them(
    expression: str, value: float
) -> None:
    assert value_of(expression) == pytest.approx(value, rel=1e-15, abs=1e-15)  # rounding


def test_parameters_go_by_their_path_or_without_brackets() -> None:
    chain = CHAIN.with_params({"masses[1]": 3.0})
    assert value_of("masses[0] + 10*masses[1]", chain) == 31.0
    assert value_of("masses0 + 10*masses1", chain) == 31.0
    assert value_of("masses[ 1 ]", chain.with_params({"masses[1]": 4.0})) == 4.0


def test_names_for_parts_hold_below_their_line_and_comments_are_skipped() -> None:
    assert value_of("2*I1", symbols="# about the hinge\nI1 = mA + mB  # both\n") == 0.22


def test_lines_go_on_after_an_operator_or_with_one() -> None:
    tape, _, names = reading(BOOT)
    text = "qA'' = 1 +\n  2\n  + 3*(4\n  - 5)\nqB'' = 0"
    found = read_text(text, tape, names)
    assert len(found.equations) == 2
    assert found.equations[0].line == 1
    assert found.equations[1].line == 5


DEEP = "(" * 99_000 + "1" + ")" * 99_000
MISTAKES = {
    "an unknown symbol": ("qB'' = sin(qBB)", "line 1, column 12", "Did you mean 'qB'?"),
    "a coordinate's case": ("qb'' = 1", "column 1", "Did you mean \"qB''\"?"),
    "an unknown function": ("qB'' = sine(qB)", "column 8", "Did you mean 'sin'?"),
    "a bracket left open": ("qB'' = 1\nqA'' = sin(qB*2", "line 2, column 11", "never closed"),
    "a bracket never opened": ("qB'' = qB) + 1", "column 10", "never opened"),
    "a number times a name": ("qB'' = 2qB", "column 9", "write a '*' between '2' and 'qB'"),
    "a name times a bracket": ("qB'' = mA(qB)", "column 8", "write a '*' before the bracket"),
    "a function without bracket": ("qB'' = sin qB", "column 12", "sin(...)"),
    "nothing on one side": ("qB'' =", "column 7", "the equation ends"),
    "no equals sign": ("qB'' + 3", "column 9", "must have a '='"),
    "two equals signs": ("qB'' = 1 = 2", "column 10", "one '='"),
    "three primes": ("qB''' = 1", "column 1", "too many primes"),
    "a parameter's rate": ("mA' = 1", "column 1", "only coordinates have rates"),
    "arguments too few": ("qB'' = atan2(qB)", "column 8", "takes 2 arguments, not 1"),
    "a strange sign": ("qB'' = qB $ 2", "column 11", "'$' means nothing"),
    "a call of Python": ("qB'' = __import__('os').system('x')", "column", "means nothing"),
    "a name below its use": ("qB'' = J\nJ = 3", "column 8", "in line 2 only"),
    "a name given twice": ("J = 1\nJ = 2\nqB'' = J", "line 2, column 1", "already"),
    "a number too large": ("qB'' = 1e999", "column 8", "too large"),
    "many nested powers": ("qB'' = " + "2^" * 4000 + "1", "column", "nested 60 deep"),
    "many nested brackets": ("qB'' = " + DEEP[:9000], "column", "nested 60 deep"),
    "far more nested brackets": ("qB'' = " + DEEP, "line 1", "at most 20000 characters"),
    "a line of a million characters": ("qB'' = " + "1+" * 500_000 + "1", "", "200000 characters"),
    "nothing": ("# nothing\n\n", "", "at least one equation"),
    "thousands of equations": ("qB'' = 1\n" * 3000, "", "at most 200 equations"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_what_cannot_be_read_is_a_sentence_with_its_place(what: str) -> None:
    text, place, sentence = MISTAKES[what]
    with pytest.raises(UnreadableTextError) as caught:
        dm.check_derivation(BOOT, text)
    said = str(caught.value)
    assert place in said
    assert sentence in said
    assert len(said) < 700, "a mistake is said briefly, however long the text"


def test_a_caret_stands_below_the_mistake() -> None:
    with pytest.raises(UnreadableTextError) as caught:
        dm.check_derivation(BOOT, "x = 3\nqB'' = x*sin(qC)  # the spin")
    _, line, caret = str(caught.value).split("\n")
    assert line[caret.index("^") :].startswith("qC")


@pytest.mark.parametrize(
    ("symbols", "sentence"),
    [
        ({"m1": "mQ"}, "neither"),
        ({"qA": "mA"}, "a meaning here already"),
        ({"sin": "mA"}, "none of a function"),
        ({"2x": "mA"}, "letters"),
    ],
)
def test_symbols_that_mean_nothing_are_refused(symbols: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        dm.check_derivation(BOOT, "qB'' = 0", symbols=symbols)


def test_a_symbol_may_stand_for_a_coordinate_with_its_rates() -> None:
    names = {"theta": "theta", "w": "theta"}
    text = "w'' = -gravity/length*sin(w)"
    assert dm.check_derivation(dm.systems.pendulum(), text, symbols=names).right


@pytest.mark.parametrize("seed", range(40))
def test_random_characters_give_a_sentence_or_a_verdict(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ["qA", "qB''", "'", "(", ")", "+", "-", "*", "/", "^", "=", "sin", "1", "2.5", ",", "g",
             "\n", "#", "[0]", ".", "e5", "\u2212", "\\", '"', "\x00", "lam"]  # fmt: skip
    text = "".join(words[i] for i in rng.integers(len(words), size=30))
    tape, _, names = reading(BOOT)
    with contextlib.suppress(UnreadableTextError):  # anything else would be a fault
        assert read_text(text, tape, names).equations
