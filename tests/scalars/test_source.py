"""Scalar programs as source code: the same numbers in Python, C and JavaScript."""

import ast
import math
import re
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp

from diffmech.scalars import (
    LANGUAGES,
    ArrayProgram,
    Evaluation,
    NotScalar,
    Symbolic,
    Tape,
    source,
    unknowns,
    write,
)

from ..printed import CC, NODE, by_node, by_python, compiled

# Libraries differ in the last digits of special functions: a few units in the last one.
LIBRARY = 1e-14

ONE = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh"),
    *("erf", "erfc", "exp", "exp2", "expm1", "floor", "lgamma", "log", "log1p", "logistic"),
    *("neg", "round_away", "round_even", "rsqrt", "sign", "sin", "sinh", "sqrt", "tan", "tanh"),
)
TWO = ("add", "atan2", "div", "max", "min", "mul", "pow", "rem", "sub")
COMPARED = ("eq", "ge", "gt", "le", "lt", "ne")
WHOLE = ("add", "div", "max", "min", "mul", "rem", "sub")
BITS = ("and", "or", "xor")
NUMBERS = (-2.5, -1.0, -0.4, 0.0, 0.5, 1.5, 2.0, 7.0, math.inf, math.nan)
EITHER = pytest.mark.parametrize("whole_too", [True, False], ids=["numbers", "infinities"])


def _all_operations(language: str, whole_too: bool) -> tuple[Tape, Any, Any]:
    """A tape with every operation that a language has, of x and y: inputs and outputs."""
    tape = Tape()
    x, y = (int(register) for register in unknowns(tape, np.zeros(2)))
    one = tape.constant(1.0)
    truth, other = tape.operate("gt", x, y), tape.operate("lt", x, one)
    i, j = tape.operate("to_int", x), tape.operate("to_int", y)
    registers = [tape.operate(name, x) for name in ONE if name in LANGUAGES[language].forms]
    registers += [tape.operate(name, x, y) for name in TWO]
    choice = [tape.operate(name, x, y) for name in COMPARED]
    choice += [tape.operate(name, truth, other) for name in BITS]
    choice += [tape.operate("not", truth), tape.operate("is_finite", x)]
    choice += [tape.operate("to_bool", x)]
    registers += [tape.operate("select", register, x, one) for register in choice]
    if not whole_too:
        return tape, (x, y), np.array(registers)
    whole = [tape.operate(name, i, j) for name in WHOLE]
    whole += [tape.operate(name, i) for name in ("abs", "sign", "neg")]
    whole.append(tape.operate("to_int", truth))
    if language != "javascript":
        whole += [tape.operate(name, i, j) for name in BITS] + [tape.operate("not", i)]
    registers += [tape.operate("to_float", register) for register in (*whole, truth)]
    return tape, (x, y), np.array(registers)


def _agree(found: Any, wanted: np.ndarray) -> None:
    found = np.array(found, float)
    assert found.shape == wanted.shape
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(wanted), 1.0)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        bad = ~(same | (np.abs(found - wanted) <= LIBRARY * scale))
    assert not np.any(bad), f"{np.argwhere(bad)}: {found[bad]} for {wanted[bad]}"


def _pairs(whole_too: bool) -> np.ndarray:
    # Infinities become the largest whole numbers, whose products leave 64 bits.
    numbers = [x for x in NUMBERS if math.isfinite(x) or not whole_too]
    return np.array([(x, y) for x in numbers for y in numbers])


def _known(tape: Tape, inputs: Any, registers: Any, pairs: np.ndarray) -> np.ndarray:
    values = ArrayProgram(tape, registers)(dict(zip(inputs, pairs.T, strict=True)))
    return np.array([np.broadcast_to(values[p], len(pairs)) for p in registers.tolist()], float)


def _source(language: str, whole_too: bool) -> tuple[str, np.ndarray, np.ndarray]:
    tape, inputs, registers = _all_operations(language, whole_too)
    pairs = _pairs(whole_too)
    code = source(tape, {"out": registers}, {"xy": np.array(inputs)}, language, name="all")
    return code, pairs, _known(tape, inputs, registers, pairs)


@EITHER
def test_every_operation_is_the_same_in_python(whole_too: bool) -> None:
    code, pairs, wanted = _source("python", whole_too)
    _agree(by_python(code)(pairs.T), wanted)
    one_by_one = by_python(code)
    _agree(np.stack([one_by_one(list(pair)) for pair in pairs], axis=1), wanted)


@EITHER
@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_every_operation_is_the_same_in_c(tmp_path: Path, whole_too: bool) -> None:
    code, pairs, wanted = _source("c", whole_too)
    strict = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-parentheses")
    (function,) = compiled([code], tmp_path, *strict)
    found = np.zeros((len(pairs), len(wanted)))
    for row, pair in zip(found, pairs, strict=True):
        function(pair, row)
    _agree(found.T, wanted)


@EITHER
@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_every_operation_is_the_same_in_javascript(tmp_path: Path, whole_too: bool) -> None:
    code, pairs, wanted = _source("javascript", whole_too)
    (found,) = by_node([(code, [(pair,) for pair in pairs])], tmp_path)
    numbers = [[float(str(x).replace("Infinity", "inf")) for x in row] for row in found]
    _agree(np.transpose(numbers), wanted)


def test_every_operation_of_a_tape_is_printed_or_named_in_a_sentence() -> None:
    from diffmech.scalars._numbers import ON_NUMBERS

    for name in ON_NUMBERS:
        for language, table in LANGUAGES.items():
            if name in table.forms or f"{name}:bool" in table.forms:
                continue
            tape = Tape()
            x = tape.input()
            with pytest.raises(NotScalar, match=f"{language} has no function for `{name}`"):
                source(tape, {"y": tape.operate(name, x)}, {"x": x}, language)


def test_what_is_shared_is_worked_out_once_and_what_is_not_stands_where_it_is_needed() -> None:
    tape = Tape()
    x = unknowns(tape, np.zeros(2))

    def function(x: Any) -> Any:
        s, c = jnp.sin(x[0]), jnp.cos(x[0])
        return jnp.stack([s * c + x[1], s / x[1], 3.0 * x[1]])

    registers = write(tape, function, x)
    names = {int(x[0]): "angle", int(x[1]): "force"}
    code = source(tape, {"y": registers}, {"x": x}, "c", names=names)
    assert code.count("sin(angle)") == 1
    assert code.count("cos(angle)") == 1
    assert "y[0] = force + sin_angle * cos(angle);" in code
    assert "y[2] = 3.0 * force;" in code


def test_arrays_come_back_in_their_shapes_for_numbers_and_for_lanes() -> None:
    tape = Tape()
    x = unknowns(tape, np.zeros(2))
    matrix = write(tape, lambda x: jnp.array([[1.0, x[0]], [x[1], 0.0], [x[0] * x[1], 2.0]]), x)
    function = by_python(source(tape, {"a": matrix, "b": x}, {"x": x}))
    one, many = function([2.0, 3.0]), function([[2.0, 4.0], [3.0, 5.0]])
    assert one["a"].tolist() == [[1.0, 2.0], [3.0, 0.0], [6.0, 2.0]]
    assert many["a"].shape == (3, 2, 2)
    assert many["a"][:, :, 1].tolist() == [[1.0, 4.0], [5.0, 0.0], [20.0, 2.0]]
    assert one["b"].tolist() == [2.0, 3.0]


HOSTILE = (
    '"; import os; os.system("x"); "',
    "a */ b // c\n d",
    "</script><script>alert(1)</script>",
    "lambda",
    "while",
    "NaN",
    "sin",
    "θ̈",
    "",
    "1x",
    "x1",
    "x1",
    "__import__('os')",
    "a\u2028b",
    "\\\ninjected();",
    "$(reboot)`x`",
    "constructor",
    "M_PI",
    "y" * 500,
)


def _hostile(language: str) -> str:
    tape = Tape()
    x = unknowns(tape, np.zeros(len(HOSTILE)))
    registers = write(tape, lambda x: jnp.stack([jnp.sum(jnp.sin(x)), jnp.sum(x * x)]), x)
    names = dict(zip(map(int, x), HOSTILE, strict=True))
    return source(
        tape, {"re sult": registers}, {"eval": x}, language, name="def f(): pass #", names=names,
        comment="*/ hello\n\"\"\" \u2028 <script>",
    )  # fmt: skip


def test_hostile_names_never_become_code(tmp_path: Path) -> None:
    wanted = [sum(math.sin(0.1 * i) for i in range(len(HOSTILE)))]
    wanted.append(sum((0.1 * i) ** 2 for i in range(len(HOSTILE))))
    x = 0.1 * np.arange(len(HOSTILE))
    for language in LANGUAGES:
        code = _hostile(language)
        assert code.isascii()
        assert max(map(len, code.splitlines())) < 160
        bare = re.sub(r"(#|//).*", "", code) if language != "python" else code
        for word in ("system(", "alert(", "import os", "reboot(", "injected(", "<script"):
            assert word not in bare or language == "python"
    module = ast.parse(_hostile("python"))
    called = {ast.unparse(node.func) for node in ast.walk(module) if isinstance(node, ast.Call)}
    assert called <= {
        *("asarray", "sin", "errstate", "gathered", "broadcast_arrays"),
        "asarray(numbers, float).reshape",
    }
    assert by_python(_hostile("python"))(x) == pytest.approx(wanted, rel=1e-14)
    if CC is not None:
        (function,) = compiled([_hostile("c")], tmp_path, "-Wall", "-Werror")
        found = np.zeros(2)
        function(x, found)
        assert found == pytest.approx(wanted, rel=1e-14)
    if NODE is not None:
        ((found,),) = by_node([(_hostile("javascript"), [(x,)])], tmp_path)
        assert found == pytest.approx(wanted, rel=1e-14)


def test_programs_of_thousands_of_operations_are_printed_in_short_lines() -> None:
    tape = Tape()
    x = unknowns(tape, np.zeros(3))
    register = int(x[0])
    for i in range(3000):
        register = tape.operate(("add", "mul")[i % 2], register, int(x[1 + i % 2]))
        register = tape.operate("sin", register) if i % 7 == 0 else register
    code = source(tape, {"y": np.array([register])}, {"x": x})
    assert max(map(len, code.splitlines())) <= 120
    numbers = [0.3, 0.2, 0.9]
    values = ArrayProgram(tape, [register])(dict(zip(map(int, x), numbers, strict=True)))
    assert by_python(code)(numbers)[0] == pytest.approx(values[register], rel=1e-14)


def test_wrong_calls_of_the_printer_get_a_sentence() -> None:
    tape = Tape()
    x, y = tape.input(), tape.input()
    total = tape.operate("add", x, y)
    with pytest.raises(ValueError, match=r"there is no language 'pyton'.*Did you mean 'python'"):
        source(tape, {"z": total}, {"x": x, "y": y}, "pyton")
    with pytest.raises(KeyError, match="input 1 is not given"):
        source(tape, {"z": total}, {"x": x})


def test_sympys_algebra_has_the_same_values() -> None:
    tape = Tape()
    x, y = (int(register) for register in unknowns(tape, np.zeros(2)))
    one = tape.constant(1.0)
    names = [name for name in ONE if name not in ("round_even",)]
    registers = [tape.operate(name, x) for name in names] + [
        tape.operate(name, x, y) for name in TWO
    ]
    registers += [tape.operate("select", tape.operate(name, x, y), x, one) for name in COMPARED]
    registers += [tape.operate("to_float", tape.operate("to_int", x))]
    registers += [tape.operate("mul", tape.constant(1 / 12), x), tape.operate("add", x, one)]
    symbols = sp.symbols("x y", real=True)
    found = Evaluation(tape, Symbolic(), dict(zip((x, y), symbols, strict=True))).of(registers)
    assert found[-2] == symbols[0] / 12
    for numbers in ((0.4, -1.5), (0.75, 0.75), (-0.4, 2.0)):
        values = ArrayProgram(tape, registers)(dict(zip((x, y), numbers, strict=True)))
        for register, formula in zip(registers, found, strict=True):
            wanted = float(values[register])
            if math.isfinite(wanted):
                value = complex(formula.subs(dict(zip(symbols, numbers, strict=True))).evalf())
                assert value.imag == 0
                assert value.real == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    with pytest.raises(NotScalar, match="SymPy has no formula for `round_even`"):
        Evaluation(tape, Symbolic(), {x: symbols[0]}).of([tape.operate("round_even", x)])
