"""Small-array functions as scalar operations: JAX's numbers, primitive by primitive."""

import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from diffmech.scalars import Arrays, Evaluation, Lanes, NotScalar, Tape, constants, unknowns, write
from diffmech.scalars._indexed import SCATTERS
from diffmech.scalars._interpret import CALLS, CONTROL, RULES, TYPED

from ..by_tape import by_folding, by_lanes, primitives
from ..scalar_cases import CASES, NEWER

NAMES = sorted({*RULES, *TYPED, *CONTROL, *CALLS, *SCATTERS})


@pytest.mark.parametrize("name", NAMES)
def test_every_primitive_with_a_rule_gives_what_jax_gives(name: str) -> None:
    if name in NEWER and jax.__version_info__ < (0, 12):
        pytest.skip(f"JAX {jax.__version__} has no `{name}` yet")
    cases = CASES.get(name, [])
    assert cases, f"the rule for `{name}` has no case"
    used: set[str] = set()
    for i, (function, *batch) in enumerate(cases):
        used |= primitives(function, *(array[0] for array in batch))
        wanted = jax.jit(jax.vmap(function))(*batch)
        _compare(by_lanes(function, *batch), wanted, f"{name}, case {i}, lanes")
        on_arrays = by_lanes(function, *batch, algebra=Arrays())
        _compare(on_arrays, wanted, f"{name}, case {i}, arrays")
        if batch[0].ndim == 3:  # of matrices a few will do
            batch, wanted = jax.tree.map(lambda array: array[:2], (batch, wanted))
        _compare(by_folding(function, *batch), wanted, f"{name}, case {i}, numbers")
    assert name in used, f"the cases of `{name}` do without it"


def _compare(found: Any, wanted: Any, what: str) -> None:
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True)
    for ours, theirs in pairs:
        theirs = np.asarray(theirs)
        assert ours.shape == theirs.shape, what
        if ours.size:
            assert ours.dtype.kind == theirs.dtype.kind, what
        finite = np.abs(theirs[np.isfinite(theirs)])
        scale = np.max(finite, initial=0.0) if theirs.ndim > 1 else 0.0
        np.testing.assert_allclose(ours, theirs, rtol=2e-14, atol=2e-14 * scale, err_msg=what)


def test_identical_operations_are_written_once_and_trivial_ones_not_at_all() -> None:
    def wasteful(x: Any) -> Any:
        a = jnp.sin(x[0]) * x[1] + jnp.zeros(2) @ x
        b = x[1] * jnp.sin(x[0] * 1.0) - 0.0
        return a + b - b / 1.0 + 0.0 * jnp.exp(x[0]), -(x[0] - x[1]), 0.5 * (a * (2.0 * x[1]))

    tape = Tape()
    x = unknowns(tape, np.zeros(2))
    first, second, third = write(tape, wasteful, x)
    assert tape.count(first) == 2, "a sine and a product: what is added is taken away again"
    assert tape.count(second) == 1, "the difference the other way round"
    assert tape.count(third) == 3, "½ and 2 meet"
    assert tape.count([first, second, third]) == 4


def test_whole_numbers_and_truths_keep_their_kind_through_simplifications() -> None:
    def counting(x: Any) -> Any:
        n = jnp.floor(x).astype(int)
        return n * 0 + 2, n - n + 3, lax.div(0, n + 9), (n > 0) & True, n**0, (n > 0) | (n > 0)

    tape = Tape()
    results = write(tape, counting, unknowns(tape, 0.0))
    assert [tape.kind(int(register)) for register in results] == [int, int, int, bool, int, bool]
    assert [tape.value(int(register)) for register in results[:3]] == [2, 3, 0]


def test_shapes_cost_nothing() -> None:
    def shuffle(x: Any) -> Any:
        y = jnp.concatenate([x.T[::-1], jnp.tile(x, (1, 1))]).reshape(3, 6)
        return jnp.stack(jnp.split(jnp.roll(y, 2, axis=1), 3, axis=1))[:, ::2].swapaxes(0, 1)

    tape = Tape()
    registers = write(tape, shuffle, unknowns(tape, np.zeros((3, 3))))
    assert tape.count(registers) == 0


@pytest.mark.parametrize(
    ("function", "named", "instead"),
    [
        (jnp.linalg.eigh, "`eigh`", "invariants"),
        (jnp.linalg.svd, "`svd`", "invariants"),
        (jnp.linalg.qr, "`qr`", "Gram"),
        (jnp.fft.fft, "complex", "real"),
        (
            lambda x: lax.while_loop(lambda y: y[0, 0] < 1, lambda y: y + 1, x),
            "`while`",
            "fori_loop",
        ),
        (lambda x: jax.random.normal(jax.random.key(0)) * x, "random", "beforehand"),
        (lambda x: jax.pure_callback(lambda y: y, x, x), "`pure_callback`", "JAX functions"),
        (lambda x: lax.reduce_precision(x, 5, 10), "`reduce_precision`", "full precision"),
        (lambda x: jnp.sort(jnp.tile(x.ravel(), 4)), "sort", "up to 16"),
        (lambda x: jnp.arange(99.0)[x[0, 0].astype(int)], "99 entries", "formula"),
        (lambda x: jnp.linalg.inv(jnp.kron(x, x)), "9 unknowns", "by hand"),
        (
            lambda x: lax.scan(lambda c, _: (c, None), x, length=2000)[0],
            "2000 steps",
            "written out",
        ),
        (lambda x: x[0].astype(int) ** x[1].astype(int), "`shift_right_logical`", "floats"),
    ],
)
def test_what_has_no_scalar_form_is_named_with_what_to_use(
    function: Any, named: str, instead: str
) -> None:
    tape = Tape()
    with pytest.raises(NotScalar) as raised:
        write(tape, function, unknowns(tape, np.zeros((3, 3))))
    assert named in str(raised.value)
    assert instead in str(raised.value)


def test_a_primitive_whose_parameters_have_changed_is_named_with_the_version_of_jax(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(RULES, "transpose", lambda tape, params, x: x.T[params["old_name"]])
    message = rf"`transpose` could not be read in JAX {jax.__version__} \(KeyError: 'old_name'\)"
    tape = Tape()
    with pytest.raises(NotScalar, match=message):
        write(tape, lambda x: jax.jit(jnp.transpose)(x), unknowns(tape, np.zeros((2, 3))))


@pytest.mark.parametrize("reverse", [False, True])
def test_loops_tell_what_is_fixed_carried_and_stacked_by_shapes(reverse: bool) -> None:
    """Also where what is fixed, carried and gone along look alike."""
    table = jnp.arange(9.0).reshape(3, 3)

    def loop(x: Any) -> Any:
        def body(carry: Any, row: Any) -> Any:
            one, two = carry
            return (two + row * x[1], one - x @ table), (row * one, jnp.sum(two))

        return lax.scan(body, (x, 2 * x), jnp.stack([x, x + 1, x * x]), reverse=reverse)

    batch = np.random.default_rng(5).normal(size=(4, 3))
    _compare(by_lanes(loop, batch), jax.jit(jax.vmap(loop))(batch), "scan")


def test_primitives_without_a_rule_are_carried_out_on_known_numbers() -> None:
    matrix = jnp.array([[2.0, 1.0], [1.0, 3.0]])
    tape = Tape()
    x = unknowns(tape, np.zeros(2))
    registers = write(tape, lambda x: jnp.linalg.eigh(matrix)[0] * x, x)
    values = Evaluation(tape, Lanes(), dict(zip(x.tolist(), (1.0, 1.0), strict=True))).of(registers)
    np.testing.assert_allclose(values.astype(float), np.linalg.eigvalsh(matrix), rtol=1e-14)


def test_numbers_that_are_being_traced_are_asked_for_as_arguments() -> None:
    @jax.jit
    def inside(y: Any) -> Any:
        tape = Tape()
        write(tape, lambda x: x * y, unknowns(tape, 0.0))
        return y

    with pytest.raises(NotScalar, match="hand it in as an argument"):
        inside(1.0)


def test_writing_and_evaluating_work_inside_a_trace() -> None:
    def turned(q: Any) -> Any:
        tape = Tape()
        registers = unknowns(tape, np.zeros(2))
        table = constants(tape, np.array([[0.0, 1.0], [-1.0, 0.0]]))
        result = write(tape, lambda a, x: jnp.linalg.solve(a, jnp.sin(x))[::-1], table, registers)
        return jnp.stack(list(Evaluation(tape, Lanes(), dict(enumerate(q))).of(result)))

    q = jnp.array([[0.3, -1.2], [2.0, 0.1], [1.0, 1.0]]).T
    np.testing.assert_allclose(jax.jit(turned)(q), jnp.sin(q) * jnp.array([[1.0], [-1.0]]))
    slope = jax.jit(jax.jacfwd(lambda s: turned(s * q)))(1.0)
    np.testing.assert_allclose(slope, q * jnp.cos(q) * jnp.array([[1.0], [-1.0]]), rtol=1e-14)


SINGLE = """
import jax, jax.numpy as jnp, numpy as np
from diffmech.scalars import Arrays, Evaluation, Lanes, Tape, unknowns, write

def f(x):
    picked = jnp.arange(4.0)[x[:2].astype(int)]
    return jnp.linalg.solve(jnp.diag(x) + 0.1, jnp.sin(x)).at[1].add(picked[0]), jnp.argmax(x)

tape = Tape()
x = unknowns(tape, np.zeros(3))
values = jnp.array([1.5, 0.25, 2.0])
evaluation = Evaluation(tape, Lanes(), dict(zip(x.tolist(), values)))
for ours, theirs in zip(write(tape, f, x), f(values)):
    found = jnp.array(evaluation.of(ours).tolist())
    assert found.dtype == theirs.dtype and found.dtype.itemsize == 4, found.dtype
    np.testing.assert_allclose(found, theirs, rtol=1e-6)
"""


def test_single_precision_stays_single() -> None:
    environment = {**os.environ, "JAX_ENABLE_X64": "0", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-W", "error", "-c", SINGLE]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
