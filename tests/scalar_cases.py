"""For each primitive that has a scalar form, functions that use it, and numbers to try."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from diffmech.scalars import sincos

Case = tuple[Any, ...]  # a function, and its arguments with lanes in front
LANES = 6

# Where branches, roundings and signs of zero are decided.
EDGES = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 1.0, -1.0, -2.7, 7.3, 1e-300]
    + [np.nan, np.inf, -np.inf]
)
TAME = np.array([-2.5, -1.0, -0.3, 0.2, 0.9, 1.0, 1.7, 4.2])
WHOLE = np.array([-7.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 8.0])


def batch(*shape: int, seed: int = 0) -> np.ndarray:
    """Random numbers for all lanes."""
    return np.random.default_rng(seed).normal(scale=2.0, size=(LANES, *shape))


def _pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


def _on_ints(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: function(*(x.astype(int) for x in xs))


def _on_bools(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: function(*(x > 0 for x in xs))


V, M = batch(4), batch(3, 3, seed=1)
COUNTS = np.tile(np.arange(-3.0, 9.0), (2, 1)).T  # indices inside and outside of short arrays

UNARY = {
    **{name: getattr(lax, name) for name in ("abs", "acos", "acosh", "asin", "asinh", "atan")},
    **{name: getattr(lax, name) for name in ("atanh", "cbrt", "ceil", "cos", "cosh", "erf")},
    **{name: getattr(lax, name) for name in ("erfc", "exp", "exp2", "expm1", "floor", "log")},
    **{name: getattr(lax, name) for name in ("is_finite", "log1p", "logistic", "neg", "rsqrt")},
    **{name: getattr(lax, name) for name in ("sin", "sinh", "sqrt", "tan", "tanh", "square")},
    "sign": lambda x: 1 / lax.sign(x),  # which tells −0 from 0
}
BINARY = {
    name: getattr(lax, name)
    for name in ("add", "atan2", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne")
} | {"rem": lax.rem, "sub": lax.sub}
LOGIC = {"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor}
INTEGER = ("add", "div", "max", "min", "mul", "rem", "sub", "ge", "lt", "eq")
INTEGER_UNARY = {"abs": lax.abs, "neg": lax.neg, "sign": lax.sign, "square": lax.square}
REDUCTIONS = {"max": lax.reduce_max, "min": lax.reduce_min, "sum": lax.reduce_sum}
REDUCTIONS |= {"prod": lax.reduce_prod}
EXPONENTS = (0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 8.0, 9.0, 0.5, -0.5, 2.5, np.inf, np.nan)


def _reductions(reduce: Callable[..., Any]) -> list[Case]:
    empty = batch(0, 3)
    return [
        (partial(reduce, axes=(0,)), M),
        (partial(reduce, axes=(1, 0)), M),
        (partial(reduce, axes=()), M),
        (_on_ints(partial(reduce, axes=(1,))), M),
        (partial(reduce, axes=(0,)), empty),
        (_on_ints(partial(reduce, axes=(0,))), empty),
        (partial(reduce, axes=(1,)), empty),
    ]


def _truth_reductions(reduce: Callable[..., Any]) -> list[Case]:
    return [
        (_on_bools(partial(reduce, axes=(0,))), M),
        (_on_bools(partial(reduce, axes=(1,))), batch(2, 0)),
    ]


def _cumulations(cumulate: Callable[..., Any]) -> list[Case]:
    return [
        (cumulate, V),
        (partial(cumulate, axis=1, reverse=True), M),
        (_on_ints(cumulate), V),
        (cumulate, batch(0)),
    ]


def _dots() -> list[Case]:
    def dot(x: Any, y: Any, contract: Any, stack: Any = ((), ())) -> Any:
        return lax.dot_general(x, y, (contract, stack))

    return [
        (partial(dot, contract=((1,), (0,))), M, batch(3, 2)),
        (partial(dot, contract=((2, 0), (0, 1))), batch(2, 4, 3), batch(3, 2, 5)),
        (partial(dot, contract=((2,), (1,)), stack=((0,), (2,))), batch(2, 4, 3), batch(5, 3, 2)),
        (partial(dot, contract=((), ())), V, V),
        (partial(dot, contract=((0,), (0,))), batch(0, 2), batch(0, 3)),
        (partial(dot, contract=((1,), (0,))), batch(0, 2), batch(2, 3)),
        (_on_ints(partial(dot, contract=((1,), (0,)))), M, M),
        (_on_ints(partial(dot, contract=((0,), (0,)))), batch(0, 2), batch(0, 3)),
    ]


def _gathers() -> list[Case]:
    outside = jnp.array([0, -1, 3, 7, -9, 2])

    def taken(x: Any, mode: str) -> Any:
        return x.at[outside].get(mode=mode)

    def unknown(x: Any, i: Any, mode: str) -> Any:
        return x.at[i.astype(int)].get(mode=mode, wrap_negative_indices=False)

    cases: list[Case] = [(partial(taken, mode=mode), V) for mode in ("fill", "clip")]
    cases += [
        (_on_ints(partial(taken, mode="fill")), V),
        (_on_bools(partial(taken, mode="fill")), V),
    ]
    cases += [(lambda x: x.at[outside].get(mode="fill", fill_value=-7.0), V)]
    cases += [(lambda x: x.at[jnp.array([2, 0, 1])].get(mode="promise_in_bounds"), V)]
    cases += [(lambda x: x[jnp.array([1, 2]), jnp.array([[0], [2]])], M)]
    cases += [(lambda x: x[:, jnp.array([[1, 1], [0, 2]])], M), (lambda x: x[jnp.zeros(0, int)], V)]
    cases += [(lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1), M)]
    for mode in ("fill", "clip"):
        table = np.tile(np.arange(5.0) ** 2, (len(COUNTS), 1))
        cases += [(partial(unknown, mode=mode), table, COUNTS)]
    windows = lax.GatherDimensionNumbers((1, 2), (), (1, 0))
    for mode in ("fill", "clip"):
        start = partial(
            lax.gather,
            start_indices=jnp.array([[0, 1], [2, 0], [1, 9], [-1, 0]]),
            dimension_numbers=windows,
            slice_sizes=(2, 2),
            mode=mode,
        )
        cases += [(start, batch(3, 4))]
    return cases


def _scatters(name: str) -> list[Case]:
    repeated = jnp.array([1, 1, 3, -1, 9, 1, -9])
    updates = batch(7, seed=5)

    def change(x: Any, y: Any, index: Any, mode: str) -> Any:
        return getattr(x.at[index], name)(y, mode=mode)

    def unknown(x: Any, i: Any, mode: str) -> Any:
        index = i.astype(int)
        changed = x.at[index]
        return getattr(changed, name)(
            jnp.array([2.5, -1.5]), mode=mode, wrap_negative_indices=False
        )

    cases: list[Case] = [
        (partial(change, index=repeated, mode=mode), V, updates) for mode in ("drop", "clip")
    ]
    rows = jnp.array([2, 0, 2])
    cases += [(partial(change, index=rows, mode="drop"), M, batch(3, 3, seed=6))]
    cases += [(lambda x, y: getattr(x.at[1:, rows[:2]], name)(y), M, batch(2, 2))]
    cases += [(lambda x, y: getattr(x.at[rows[1:], 1:], name)(y), M, batch(2, 2))]
    table = np.tile(np.arange(5.0) ** 2, (len(COUNTS), 1))
    cases += [(partial(unknown, mode=mode), table, COUNTS + [0, 1]) for mode in ("drop", "clip")]
    return cases


def _subtracted() -> list[Case]:
    """No method of arrays makes a `scatter-sub`."""
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    where = jnp.array([[0], [2], [1], [3], [-1]])
    subtract = partial(lax.scatter_sub, dimension_numbers=numbers)
    return [
        (lambda x, y, mode=mode: subtract(x, where, y, mode=mode), V, batch(5, 2))
        for mode in ("drop", "clip")
    ]


def _pads() -> list[Case]:
    wanted = ((1, 2, 0), (0, 0, 2), (-1, 1, 0), (2, -1, 1), (-1, -2, 1), (-2, -2, 0), (-3, 0, 0))
    cases: list[Case] = [(lambda x, y, c=c: lax.pad(x, y, [c]), V, batch()) for c in wanted]
    cases += [(lambda x: lax.pad(x, 9.0, [(1, -1, 1), (-1, 2, 0)]), M)]
    cases += [(lambda x: lax.pad(x, 9.0, [(2, 1, 1)]), batch(0))]
    return cases


def _solves() -> list[Case]:
    def after_exchange(x: Any, b: Any) -> Any:
        # The first pivots vanish for every state, for some of them, and for none.
        return jnp.linalg.solve(x.at[0, 0].set(0.0) * jnp.array([1.0, 1.0, 1e-9]), b)

    return [
        (jnp.linalg.solve, M, batch(3)),
        (jnp.linalg.solve, batch(4, 4, seed=3), batch(4, 2)),
        (jnp.linalg.inv, batch(5, 5, seed=4)),
        (after_exchange, M, batch(3)),
        (jax.jacrev(after_exchange), M, batch(3)),
        (jax.jacfwd(jnp.linalg.inv), batch(2, 2)),
        (jax.vmap(jnp.linalg.solve), batch(2, 3, 3), batch(2, 3, 1)),
        (lambda x: jnp.linalg.solve(jnp.eye(9) * 2.0, x), batch(9)),
    ]


def _triangular() -> list[Case]:
    return [
        (
            partial(
                lax.linalg.triangular_solve,
                left_side=left,
                lower=lower,
                transpose_a=turned,
                unit_diagonal=unit,
            ),
            M,
            batch(3, 2) if left else batch(2, 3),
        )
        for left in (True, False)
        for lower in (True, False)
        for turned in (True, False)
        for unit in (True, False)
    ]


@jax.custom_jvp
def own_slope(x: Any) -> Any:
    return x**3


own_slope.defjvps(lambda dx, y, x: 7.0 * x * dx)


def cube_root(x: Any) -> Any:
    """y³ = 1 + x², by Newton's method, with the derivatives of an implicit function."""
    return lax.custom_root(
        lambda y: y**3 - 1 - x**2,
        jnp.ones_like(x),
        lambda f, y: lax.fori_loop(0, 20, lambda _, y: y - f(y) / (3 * y**2), y),
        lambda g, y: jnp.linalg.solve(jax.jacfwd(g)(y), y),
    )


@jax.custom_vjp
def own_pullback(x: Any) -> Any:
    return x**3


own_pullback.defvjp(lambda x: (x**3, x), lambda x, dy: (5.0 * x * dy,))


@jax.custom_batching.custom_vmap
def own_lanes(x: Any) -> Any:
    return jnp.sin(x)


@own_lanes.def_vmap
def _own_lanes(size: int, batched: list[bool], x: Any) -> tuple[Any, bool]:
    del size
    return jnp.sin(x), batched[0]


def _which(x: Any) -> Any:
    return jnp.clip(jnp.floor(x[0]), -1, 3).astype(int)


def _steps(x: Any, reverse: bool = False, length: int | None = None) -> Any:
    def step(carry: Any, one: Any) -> Any:
        carry = carry * 0.5 + (1.0 if one is None else one)
        return carry, (carry**2, carry > 0)

    return lax.scan(step, 1.0, x, length=length, reverse=reverse)


def _found(x: Any, y: Any, side: str) -> Any:
    return jnp.searchsorted(jnp.array([-1.0, 0.9, 0.9, 3.0]) + x, x + y, side=side)


def _twice(x: Any) -> Any:
    """A loop whose end is a number, though not one of Python's."""
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x))


# Primitives that came with JAX 0.12: looked up when they are called.
NEWER = ("eval_jaxpr", "one_minus_square", "polynomial")


def _newer(name: str) -> Callable[..., Any]:
    return lambda *arguments: getattr(lax, name)(*arguments)


CASES: dict[str, list[Case]] = {
    **{name: [(function, EDGES)] for name, function in UNARY.items()},
    **{name: [(function, *_pairs(EDGES))] for name, function in BINARY.items()},
    **{name: [(_on_bools(function), *_pairs(WHOLE))] for name, function in LOGIC.items()},
    **{f"cum{name}": _cumulations(getattr(lax, f"cum{name}")) for name in REDUCTIONS},
    **{f"reduce_{name}": _reductions(reduce) for name, reduce in REDUCTIONS.items()},
    "add_any": [(jax.grad(lambda x: (jnp.sin(x) * jnp.cos(x)).sum()), V)],
    "argmax": [
        (partial(lax.argmax, axis=1, index_dtype=int), np.round(M)),
        (partial(lax.argmax, axis=0, index_dtype=int), np.ones((2, 4))),
    ],
    "argmin": [(partial(lax.argmin, axis=0, index_dtype=int), np.round(M))],
    "broadcast_in_dim": [
        (lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (2,)), V),
        (lambda x: jnp.broadcast_to(x, (0, 4)), V),
        (lambda x: x[:, None] + x[None], V),
        (lambda x: jnp.full((3,), x), batch()),
    ],
    "cholesky": [
        (lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(4)), batch(4, 4)),
        (jax.jacfwd(lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3))), M),
        (lambda x: jnp.linalg.cholesky(x @ x.mT + jnp.eye(2)), batch(2, 2, 2)),
    ],
    "clamp": [
        (lax.clamp, *(a.ravel() for a in np.meshgrid(TAME, TAME, TAME))),
        (lambda x: lax.clamp(-1.0, x, 1.0), V),
        (_on_ints(lambda x: lax.clamp(-1, x, 1)), V),
    ],
    "concatenate": [(lambda x: lax.concatenate([x, x[:1], x[:0]], 0), M)],
    "cond": [
        (lambda x: lax.cond(x[0] > 0, jnp.sin, lambda y: y * 2, x), V),
        (lambda x: lax.cond(True, jnp.sin, lambda y: y * 2, x), V),
        (lambda x: lax.switch(_which(x), [jnp.sin, jnp.cos, jnp.tanh], x), V),
        (lambda x: lax.switch(7, [jnp.sin, jnp.cos, jnp.tanh], x), V),
        (jax.grad(lambda x: lax.cond(x[1] < 0, lambda y: (y**3).sum(), lambda y: y[2], x)), V),
    ],
    "convert_element_type": [
        (lambda x: x.astype(int), np.where(np.abs(EDGES) < 100, EDGES, 0.0)),
        (lambda x: x.astype(bool), EDGES),
        (lambda x: (x > 0).astype(float) + (x > 1).astype(int), EDGES),
        (lambda x: x.astype(int).astype(float), TAME),
    ],
    "copy": [(lambda x: jnp.array(x, copy=True), V)],
    "custom_jvp_call": [(own_slope, V), (jax.jacfwd(own_slope), V)],
    "custom_linear_solve": _solves(),
    "custom_vjp_call": [(own_pullback, V)],
    "eval_jaxpr": [(cube_root, V), (jax.jacfwd(cube_root), V)],
    "custom_vmap_call": [(own_lanes, V)],
    "debug_callback": [(lambda x: (jax.debug.callback(lambda _: None, x), x)[1], V)],
    "debug_print": [(lambda x: (jax.debug.print("{}", x), x)[1], V)],
    "device_put": [(jax.device_put, V)],
    "digamma": [(lax.digamma, EDGES)],
    "dot_general": _dots(),
    "dynamic_slice": [
        (lambda x: lax.dynamic_slice(x, (1, 7), (2, 2)), M),
        (lambda x: lax.dynamic_slice(x, (-5, 1), (2, 2)), M),
        (
            lambda x, i: lax.dynamic_slice(x, i.astype(int), (2, 1)),
            np.tile(M[:1], (12, 1, 1)),
            COUNTS,
        ),
    ],
    "dynamic_update_slice": [
        (lambda x: lax.dynamic_update_slice(x, x[:1] * 2, (5, -1)), M),
        (
            lambda x, i: lax.dynamic_update_slice(x, x[1:, :1] * 9, i.astype(int)),
            np.tile(M[:1], (12, 1, 1)),
            COUNTS,
        ),
    ],
    "empty": [(lambda x: x + lax.empty((4,), jnp.float64) * 0, V)],
    "erf_inv": [(lax.erf_inv, EDGES)],
    "gather": _gathers(),
    "integer_pow": [
        (lambda x: jnp.stack([lax.integer_pow(x, n) for n in (-9, -2, -1, 0, 1, 2, 3, 7)]), TAME),
        (_on_ints(lambda x: jnp.stack([lax.integer_pow(x, n) for n in range(5)])), WHOLE),
    ],
    "iota": [
        (lambda x: x + lax.broadcasted_iota(int, (2, 4), 1) * lax.iota(float, 4), V),
        (lambda x: x + lax.broadcasted_iota(float, (3, 3), 0), M),
    ],
    "jit": [(jax.jit(lambda x: jnp.sin(jax.jit(jnp.cos)(x))), V)],
    "lgamma": [(lax.lgamma, EDGES)],
    "le_to": [(partial(_found, side="left"), *_pairs(TAME))],
    "lt_to": [(partial(_found, side="right"), *_pairs(TAME))],
    "lu": [
        (lax.linalg.lu, batch(4, 4)),
        (lax.linalg.lu, batch(2, 4)),
        (lax.linalg.lu, batch(4, 2)),
        # In brackets, so that errors count by the largest: where products cancel, as they do here,
        # a determinant's own size says nothing of its rounding (LAPACK's, which differs by CPU).
        (lambda x: jnp.linalg.det(x)[None], batch(4, 4)),
        (jax.grad(jnp.linalg.det), batch(4, 4)),
        (jnp.linalg.slogdet, batch(2, 4, 4)),
    ],
    "name": [(partial(checkpoint_name, name="kept"), V)],
    "not": [(_on_bools(lax.bitwise_not), EDGES), (_on_ints(lax.bitwise_not), WHOLE)],
    "optimization_barrier": [(lambda x: lax.optimization_barrier((x, x[:1]))[1], V)],
    "one_minus_square": [
        (_newer("one_minus_square"), EDGES),
        (_on_ints(_newer("one_minus_square")), WHOLE),
    ],
    "pad": _pads(),
    "platform_index": [(lambda x: lax.platform_dependent(x, cpu=jnp.tanh, default=jnp.tanh), V)],
    "polynomial": [
        (lambda x: _newer("polynomial")(x, [0.5, -2.0, 3.0]), TAME),
        (lambda x, y: _newer("polynomial")(x, [1.0, y, -2.0, y, *range(6)]), *_pairs(TAME)),
    ],
    "pow": [
        (lax.pow, *_pairs(EDGES)),
        (lambda x: jnp.stack([lax.pow(x, c) for c in EXPONENTS]), np.abs(EDGES)),
        (lambda x: lax.pow(2.0, x) + lax.pow(x, 3) * lax.pow(x, -2), TAME),
        (lambda x, n: lax.pow(x, n.astype(int)), *_pairs(WHOLE)),
    ],
    "reduce_and": _truth_reductions(lax.reduce_and),
    "reduce_or": _truth_reductions(lax.reduce_or),
    "reduce_precision": [(lambda x: lax.reduce_precision(x, 11, 52), V)],
    "reduce_xor": _truth_reductions(lax.reduce_xor),
    "remat2": [(jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), V)],
    "reshape": [
        (lambda x: lax.reshape(x, (2, 3)), batch(3, 2)),
        (lambda x: lax.reshape(x, (6,), dimensions=(1, 0)), batch(3, 2)),
        (lambda x: x.reshape(0, 7), batch(0)),
    ],
    "rev": [(lambda x: lax.rev(x, (0, 1)), M)],
    "round": [
        (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), EDGES),
        (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), EDGES),
    ],
    "scan": [
        (_steps, V),
        (partial(_steps, reverse=True), V),
        (lambda x: _steps(None, length=3)[0] * x, V),
        (lambda x: _steps(x[:0]), V),
        (jax.grad(lambda x: _steps(x)[0] ** 2), V),
        (lambda x: lax.fori_loop(0, 3, lambda i, y: y.at[i].add(y[i - 1]), x), V),
    ],
    "scatter": [
        *_scatters("set"),
        (lambda x: x.at[jnp.array([1, 3])].apply(jnp.sin), V),
        (lambda x, i: x.at[i.astype(int)].apply(jnp.exp), np.tile(V[:1], (12, 1)), COUNTS[:, 0]),
    ],
    "scatter-add": _scatters("add"),
    "scatter-max": _scatters("max"),
    "scatter-min": _scatters("min"),
    "scatter-mul": _scatters("multiply"),
    "scatter-sub": _subtracted(),
    "select_n": [
        (lambda x, y: jnp.where(x > 0, x, y * 2), *_pairs(TAME)),
        (lambda x: lax.select_n(_which(x) % 3, x, x * 2, x * 3), V),
        (lambda x: lax.select_n(_which(x) % 2, x, x * 2), V),
        (lambda x: lax.select_n(x > 0, x > 1, x < -1), EDGES),
    ],
    "slice": [
        (lambda x: lax.slice(x, (1, 0), (3, 2), (1, 2)), M),
        (lambda x: x[::2], V),
        (lambda x: x[3:1], V),
    ],
    "sort": [
        (lax.sort, np.round(V)),
        (lambda x, y: lax.sort((jnp.round(x), jnp.round(y), x), num_keys=2), batch(7), batch(7)),
        (partial(jnp.argsort, axis=0), np.round(M)),
        (jax.jacfwd(jnp.sort), V),
        (lax.sort, batch(0)),
    ],
    "split": [(lambda x: lax.split(x, (1, 0, 2), axis=1), M)],
    "squeeze": [(lambda x: lax.squeeze(x[:1, :, None], (0, 2)), M)],
    "stack": [(lambda x: jnp.stack([x, x * 2], axis=1), V)],
    "stop_gradient": [(jax.grad(lambda x: (lax.stop_gradient(x) * x**2).sum()), V)],
    "tile": [(lambda x: jnp.tile(x, (2, 1, 2)), M)],
    "transpose": [(lambda x: lax.transpose(x, (2, 0, 1)), batch(2, 3, 4))],
    "triangular_solve": _triangular(),
    "unstack": [
        (lambda x: jnp.unstack(x, axis=1)[2], M),
        (lambda x: lax.dynamic_update_slice(jnp.unstack(x)[1], 2.0, ()), V),
    ],
    "while": [(_twice, V)],
}
for _name in INTEGER:
    CASES[_name].append((_on_ints(BINARY[_name]), *_pairs(WHOLE)))
for _name, _function in INTEGER_UNARY.items():
    CASES[_name].append((_on_ints(_function), WHOLE))
for _name, _function in LOGIC.items():
    CASES[_name].append((_on_ints(_function), *_pairs(WHOLE)))
CASES["sin"].append((lambda x: jnp.stack(sincos(x)), TAME))
