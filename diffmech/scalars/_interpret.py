"""Any small-array function as a list of scalar operations: its jaxpr, evaluated over registers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import (
    ClosedJaxpr,  # pyright: ignore[reportPrivateImportUsage]: so in JAX 0.12
    Jaxpr,
    JaxprEqn,
    Literal,
)

from . import _arithmetic, _indexed, _linear, _shapes
from ._arithmetic import elementwise
from ._linear import blocks_of, copied, solved
from ._shapes import Registers, Rule, constants
from ._tape import Register, Tape
from ._unknown import NotScalar

# Primitives by name; the typed ones are told the shape and type of what comes out.
RULES: dict[str, Rule] = {
    **_arithmetic.RULES,
    **_shapes.RULES,
    **_indexed.RULES,
    **_linear.RULES,
}
TYPED: dict[str, Rule] = {**_arithmetic.TYPED, **_indexed.TYPED}

_INVARIANTS = "invariants of the matrix (trace, determinant), or its eigenvalues by a formula"
_DRAWN = "numbers drawn beforehand and handed in as parameters"
_INSTEAD = {
    "complex": "real and imaginary parts",
    "conv_general_dilated": "sums of products (`jnp.einsum`)",
    "cumlogsumexp": "`jax.nn.logsumexp`",
    "custom_root": "a fixed number of steps of Newton's method",
    "eig": _INVARIANTS,
    "eigh": _INVARIANTS,
    "fft": "sums of sines and cosines",
    "geqrf": "`jnp.linalg.solve`, or Gram and Schmidt's method written out",
    "io_callback": "JAX functions",
    "nextafter": "a small number of your own",
    "pure_callback": "JAX functions",
    "qr": "`jnp.linalg.solve`, or Gram and Schmidt's method written out",
    "random_bits": _DRAWN,
    "random_seed": _DRAWN,
    "random_wrap": _DRAWN,
    "reduce": "`jnp.sum`, `jnp.prod`, `jnp.max` or `jnp.min`",
    "schur": _INVARIANTS,
    "shift_right_logical": "floats (whole numbers to unknown powers go by their bits)",
    "svd": _INVARIANTS,
    "threefry2x32": _DRAWN,
    "top_k": "`jnp.sort`",
    "tridiagonal_solve": "`jnp.linalg.solve`",
    "while": "a loop of fixed length (`lax.fori_loop` with numbers as bounds, `lax.scan`)",
}
_LONGEST_LOOP = 1000  # iterations that are unrolled


def write(tape: Tape, function: Callable[..., Any], *arguments: Any, dtypes: Any = None) -> Any:
    """Write a function's operations on a tape.

    All floats count as JAX's default ones, so that a cast to fewer digits rounds nothing off, and
    whole numbers do not wrap. `x·0` is 0 and `x − x` is 0 even where x turns out to be infinite.

    Args:
        function: takes and returns pytrees of arrays of floats; pure JAX.
        arguments: pytrees like the function's arguments, of integer arrays of registers.
        dtypes: a type for each leaf of the arguments; floats if None.

    Returns:
        A pytree like the function's result, of integer arrays of registers.

    Raises:
        NotScalar: the function uses a primitive without a scalar form; it is named.
    """
    real = jnp.result_type(float)
    leaves, structure = jax.tree.flatten(arguments)
    leaves = [np.asarray(leaf, dtype=np.int64) for leaf in leaves]
    types = [real] * len(leaves) if dtypes is None else dtypes
    shapes = [
        jax.ShapeDtypeStruct(leaf.shape, dtype) for leaf, dtype in zip(leaves, types, strict=True)
    ]
    jaxpr, result = jax.make_jaxpr(function, return_shape=True)(
        *jax.tree.unflatten(structure, shapes)
    )
    outputs = _evaluate_closed(tape, jaxpr, leaves)
    return jax.tree.unflatten(jax.tree.structure(result), outputs)


def unknowns(tape: Tape, example: Any) -> Any:
    """New inputs on the tape, in the shape of a pytree of arrays."""
    return jax.tree.map(
        lambda leaf: np.array([tape.input() for _ in range(np.size(leaf))], dtype=np.int64).reshape(
            np.shape(leaf)
        ),
        example,
    )


def _evaluate_closed(
    tape: Tape, closed: ClosedJaxpr, arguments: list[Registers]
) -> list[Registers]:
    return _evaluate(tape, closed.jaxpr, [constants(tape, c) for c in closed.consts], arguments)


def _evaluate(
    tape: Tape, jaxpr: Jaxpr, consts: list[Registers], arguments: list[Registers]
) -> list[Registers]:
    values: dict[Any, Registers] = {}
    values.update(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, arguments, strict=True))

    def read(variable: Any) -> Registers:
        if isinstance(variable, Literal):
            return constants(tape, variable.val)
        return values[variable]

    for equation in jaxpr.eqns:
        taken = [read(variable) for variable in equation.invars]
        results = _carry_out(tape, equation, taken)
        if not equation.primitive.multiple_results:
            results = [results]
        values.update(zip(equation.outvars, results, strict=True))
    return [read(variable) for variable in jaxpr.outvars]


def _carry_out(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> Any:
    """One primitive by its rule, or by JAX itself if all its arguments are known."""
    try:
        return _by_rule(tape, equation, taken)
    except (AttributeError, KeyError) as error:  # its parameters are not what they were
        raise NotScalar(
            f"the JAX primitive `{equation.primitive.name}` could not be read in JAX "
            f"{jax.__version__} ({type(error).__name__}: {error}): use a version that diffmech "
            "is tested with, which its README names"
        ) from error


def _by_rule(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> Any:
    name, params = equation.primitive.name, equation.params
    if name in RULES:
        return RULES[name](tape, params, *taken)
    if name in TYPED:
        return TYPED[name](tape, params, *taken, result=equation.outvars[0].aval)
    if name in CONTROL:
        return CONTROL[name](tape, equation, taken)
    if name in CALLS:
        inner = params[CALLS[name]]
        if isinstance(inner, ClosedJaxpr):
            return _evaluate_closed(tape, inner, taken)
        return _evaluate(tape, inner, [], taken)
    if name in _indexed.SCATTERS:
        return _indexed.scatter(tape, params, _combine(tape, name, params), *taken)
    for value in params.values():
        if hasattr(value, "expand"):  # JAX >= 0.12: a primitive made of others, and how
            return _expanded(tape, value, equation, taken)
    if all(
        tape.is_constant(register) for registers in taken for register in registers.ravel().tolist()
    ):
        return _by_jax(tape, equation, taken)
    raise _unknown(name)


def _expanded(
    tape: Tape, primitive: Any, equation: JaxprEqn, taken: list[Registers]
) -> list[Registers]:
    """What a primitive is made of, written in its place."""

    def expand(*leaves: Any) -> list[Any]:
        return jax.tree.leaves(primitive.expand(*jax.tree.unflatten(primitive.in_tree, leaves)))

    shapes = [_shape_of(variable.aval) for variable in equation.invars]
    return _evaluate_closed(tape, jax.make_jaxpr(expand)(*shapes), taken)


def _shape_of(array: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _unknown(name: str) -> NotScalar:
    instead = _INSTEAD.get(name)
    return NotScalar(
        f"the JAX primitive `{name}` has no scalar form"
        + (f": use {instead} instead" if instead else "")
    )


def _by_jax(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> Any:
    """Carried out now, even while something is being traced."""
    name, arguments = equation.primitive.name, []
    for variable, registers in zip(equation.invars, taken, strict=True):
        values = [tape.value(register) for register in registers.ravel().tolist()]
        array: Any = variable.aval
        arguments.append(np.array(values, dtype=array.dtype).reshape(array.shape))
    try:
        with jax.ensure_compile_time_eval():
            results = equation.primitive.bind(*arguments, **equation.params)
        if equation.primitive.multiple_results:
            return [constants(tape, result) for result in results]
        return constants(tape, results)
    except Exception as error:  # keys of random numbers, callbacks, types of their own
        raise _unknown(name) from error


def _combine(tape: Tape, name: str, params: Any) -> Callable[[Register, Register], Register]:
    """What a scatter does with what stands there (old) and what comes (new)."""
    operation, body = _indexed.SCATTERS[name], params["update_jaxpr"]
    if operation is not None:
        return lambda old, new: tape.operate(operation, old, new)
    if body is None:
        return lambda old, new: new
    consts = [constants(tape, c) for c in params["update_consts"]]

    def apply(old: Register, new: Register) -> Register:  # x.at[i].apply(f)
        (result,) = _evaluate(tape, body, consts, [np.asarray(old), np.asarray(new)])
        return int(result)

    return apply


# Nested functions are followed: the parameter that holds theirs.
CALLS = {
    "custom_jvp_call": "call_jaxpr",
    "eval_jaxpr": "call_jaxpr",  # JAX >= 0.12: what `lax.custom_root` is made of
    "custom_vjp_call": "call_jaxpr",
    "custom_vmap_call": "call",
    "jit": "jaxpr",
    "remat2": "jaxpr",
}


def _cond(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> list[Registers]:
    """A known branch is followed; of unknown ones all are, and the result selected."""
    which, *arguments = taken
    branches = equation.params["branches"]
    register = int(which)
    if tape.is_constant(register):
        index = min(max(int(tape.value(register)), 0), len(branches) - 1)
        return _evaluate_closed(tape, branches[index], arguments)
    results = _evaluate_closed(tape, branches[0], arguments)
    for i, branch in enumerate(branches[1:], start=1):
        others = _evaluate_closed(tape, branch, arguments)
        chosen = elementwise(tape, "ge", which, constants(tape, np.int64(i)))
        results = [
            elementwise(tape, "select", np.broadcast_to(chosen, old.shape), old, new)
            for old, new in zip(results, others, strict=True)
        ]
    return results


def _scan(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> list[Registers]:
    """A loop of fixed length is unrolled.

    What it goes along, and what it stacks, has one axis more outside of it than inside: that tells
    it from what is fixed and what is carried, in every version of JAX.
    """
    params = equation.params
    length, body = params["length"], params["jaxpr"]
    if length > _LONGEST_LOOP:
        raise NotScalar(f"a `scan` of {length} steps is too long to be written out")
    carried = _count_alike(equation.outvars, body.jaxpr.outvars)
    fixed = _count_alike(equation.invars, body.jaxpr.invars) - carried
    consts, carry, xs = taken[:fixed], taken[fixed : fixed + carried], taken[fixed + carried :]
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    rows: dict[int, list[Registers]] = {}
    for i in order:
        out = _evaluate_closed(tape, body, [*consts, *carry, *(np.asarray(x[i]) for x in xs)])
        carry, rows[i] = out[:carried], out[carried:]
    shapes = [variable.aval.shape for variable in body.jaxpr.outvars[carried:]]
    stacked = [
        np.stack([rows[i][k] for i in range(length)])
        if length
        else np.zeros((0, *shape), dtype=np.int64)
        for k, shape in enumerate(shapes)
    ]
    return [*carry, *stacked]


def _count_alike(outside: Sequence[Any], inside: Sequence[Any]) -> int:
    pairs = zip(outside, inside, strict=True)
    return sum(outer.aval.shape == inner.aval.shape for outer, inner in pairs)


def _while(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> list[Registers]:
    """Followed as long as it is known whether it goes on."""
    params = equation.params
    first, second = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body = taken[:first], taken[first : first + second]
    carry = taken[first + second :]
    for _ in range(_LONGEST_LOOP):
        (goes_on,) = _evaluate_closed(tape, params["cond_jaxpr"], [*of_condition, *carry])
        register = int(goes_on)
        if not tape.is_constant(register):
            raise _unknown("while")
        if not tape.value(register):
            return carry
        carry = _evaluate_closed(tape, params["body_jaxpr"], [*of_body, *carry])
    raise NotScalar(f"a loop of more than {_LONGEST_LOOP} steps is too long to be written out")


def _custom_linear_solve(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> list[Registers]:
    """The matrix is what the product makes of unit vectors; it is eliminated."""
    params = equation.params
    lengths, body = params["const_lengths"], params["jaxprs"].matvec
    consts, right = taken[: lengths.matvec], taken[sum(lengths) :]
    ends = np.cumsum([one.size for one in right])

    def pieces(vector: Registers) -> list[Registers]:
        parts = zip(np.split(vector, ends[:-1]), right, strict=True)
        return [part.reshape(one.shape) for part, one in parts]

    def joined(arrays: list[Registers]) -> Registers:
        return np.concatenate([array.ravel() for array in arrays])

    def product(on: Tape, consts: list[Registers], vector: Registers) -> Registers:
        return joined(_evaluate_closed(on, body, [*consts, *pieces(vector)]))

    # Where the matrix has entries is seen on a tape that is thrown away.
    sketch = Tape()
    vector = unknowns(sketch, np.zeros(int(ends[-1])))
    rows = product(sketch, [copied(tape, registers, sketch) for registers in consts], vector)
    blocks = blocks_of(sketch, rows, vector)
    return pieces(solved(tape, blocks, partial(product, tape, consts), joined(right)))


def _platform_index(tape: Tape, equation: JaxprEqn, taken: list[Registers]) -> Registers:
    """The branch for any platform, whose functions are the plainest; else the first."""
    platforms = list(equation.params["platforms"])
    return constants(tape, np.int64(platforms.index(None) if None in platforms else 0))


CONTROL: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "custom_linear_solve": _custom_linear_solve,
    "debug_callback": lambda tape, equation, taken: [],
    "debug_print": lambda tape, equation, taken: [],
    "platform_index": _platform_index,
    "scan": _scan,
    "while": _while,
}
