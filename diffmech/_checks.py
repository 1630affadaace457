"""Checks of what a user passes in: one sentence each, before anything is compiled."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ._indices import index_beyond
from ._suggest import LONGEST_NAME, quoted, suggestion
from ._typing import AnyArray

WRONG_PRECISION = (
    "JAX is running in float32, so mechanics gets about 6 digits: set JAX_ENABLE_X64=1 (or do not "
    "set DIFFMECH_X64=0) before importing diffmech for float64."
)

ROUNDINGS = 64  # so many roundings of what is added up are nothing


def briefly(value: Any) -> str:
    """What somebody passed, for a sentence: itself if it is short, else its type."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_NAME else f"a {type(value).__name__}"


def require_kind(value: Any, kind: type | tuple[type, ...], label: str, wanted: str) -> None:
    """Refuse what is of another kind than `wanted`, said in the user's words."""
    if not isinstance(value, kind):
        raise ValueError(f"`{label}` must be {wanted}, but is a {type(value).__name__}")


def require_concrete(what: str, instead: str, *trees: Any) -> None:
    """Refuse traced values where results are not arrays alone; `instead` is what does work."""
    if is_traced(*trees):
        raise ValueError(f"`{what}` must be called outside of `jit`, `grad` and `vmap`: {instead}")


def require_one_pace(dt: Any, rtol: Any, atol: Any) -> None:
    """Refuse tolerances beside a constant step, on which they would have no effect."""
    given = [name for name, value in (("rtol", rtol), ("atol", atol)) if value is not None]
    if dt is not None and given:
        raise ValueError(
            f"`{given[0]}` must be left out where `dt` is given: a constant step is as accurate as "
            "it is short"
        )


def is_traced(*trees: Any) -> bool:
    """Whether any leaf belongs to a JAX transformation that is under way (jit, grad, vmap)."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(trees))


def numbers_stay_numbers() -> AbstractContextManager[None]:
    """Where numbers are computed with: now, even while a `jit` around it is being traced.

    Elsewhere nothing is asked for: JAX would compile each constant of a program by itself.
    """
    under_way = is_traced(jnp.zeros(()))
    return jax.ensure_compile_time_eval() if under_way else nullcontext()


def float_dtype() -> np.dtype:
    """The precision in force: float64 unless the user switched it off."""
    return np.dtype(np.float64 if jax.config.jax_enable_x64 else np.float32)  # pyright: ignore[reportAttributeAccessIssue]


_warned: list[bool] = []


def warn_if_single_precision() -> None:
    """Once per process."""
    if float_dtype() == np.float32 and not _warned:
        _warned.append(True)
        warnings.warn(WRONG_PRECISION, stacklevel=3)


def as_array(value: Any) -> AnyArray:
    """Numbers, lists and NumPy arrays as float arrays: the converter of parameters' fields.

        length: Scalar = eqx.field(converter=dm.as_array)  # [m]

    Args:
        value: a number, nested lists of numbers, or an array, of any shape.

    Returns:
        An array of the same shape: NumPy's, in float64, which does not start JAX's backend. A JAX
        array, traced or not, is returned as it is; of whole numbers or truths, in the precision in
        force.

    Raises:
        ValueError: it is complex, or not made of numbers.
    """
    if isinstance(value, list | tuple) and any(
        isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(value)
    ):
        value = jnp.asarray(value)  # a list that mixes numbers and JAX scalars
    array = value if isinstance(value, jax.Array) else np.asarray(value)
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise ValueError(f"{value!r} is not real")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{value!r} is not numeric")
    if isinstance(array, jax.Array):
        return array if array.dtype.kind == "f" else array.astype(float_dtype())
    return array.astype(np.float64)


def in_force(array: AnyArray | float) -> AnyArray:
    """The same numbers in the precision in force, traced or not; nothing is compiled."""
    if isinstance(array, jax.Array):
        return array.astype(float_dtype())
    return np.asarray(array, float_dtype())


def in_order(value: Mapping[str, Any], names: Sequence[str], label: str) -> list[Any]:
    """What a mapping by coordinate holds, in the order of the coordinates, none left out."""
    unknown = [key for key in value if key not in names]
    if unknown:
        raise ValueError(
            f"`{label}` names {quoted(unknown[0])}, which is not a coordinate."
            + suggestion(str(unknown[0]), names)
        )
    missing = [name for name in names if name not in value]
    if missing:
        raise ValueError(
            f"`{label}` must have shape ({len(names)},) = ({', '.join(names)}), but "
            f"{', '.join(missing)} is missing"
        )
    return [value[name] for name in names]


def as_vector(value: Any, names: Sequence[str], label: str) -> AnyArray:
    """One number per coordinate, from a sequence or from a mapping by name; shape (n,)."""
    expected = f"`{label}` must have shape ({len(names)},) = ({', '.join(names)})"
    if isinstance(value, Mapping):
        value = in_order(value, names, label)
    try:
        array = as_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{expected}, but {error}") from error
    if array.shape != (len(names),):
        raise ValueError(f"{expected}, but has shape {array.shape}")
    require_finite(array, label, names)
    return array


def require_finite(array: AnyArray, label: str, names: Sequence[str] = ()) -> None:
    """Refuse NaN and infinity, naming the entry; traced values are let through."""
    if isinstance(array, Tracer):
        return
    values = np.asarray(array)
    finite = np.isfinite(values)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        where = "".join(f"[{i}]" for i in index)
        who = f" ({names[index[0]]})" if names and index else ""
        raise ValueError(f"`{label}{where}`{who} must be finite, but is {values[index]}")


def as_scalar(value: Any, label: str, *, positive: bool = False) -> AnyArray:
    """One finite number, optionally above zero; shape ()."""
    try:
        array = as_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{label}` must be a number, but {error}") from error
    if array.shape != ():
        raise ValueError(f"`{label}` must be a single number, but has shape {array.shape}")
    require_finite(array, label)
    if positive and not is_traced(array) and float(array) <= 0:
        raise ValueError(f"`{label}` must be greater than zero, but is {float(array):g}")
    if positive and not is_traced(array):
        _require_at_least(float(np.finfo(float_dtype()).tiny), array, label)
    return array


def as_duration(value: Any) -> AnyArray:
    """A time [s] that can be divided into steps; shape ()."""
    span = as_scalar(value, "duration", positive=True)
    if not is_traced(span):
        _require_at_least(smallest_spacing(float_dtype()), span, "duration")
    return span


def smallest_spacing(dtype: np.dtype) -> float:
    """Of times [s] whose rounding is still a number of full precision."""
    return float(np.finfo(dtype).tiny) / float(np.finfo(dtype).eps)


def _require_at_least(least: float, value: AnyArray, label: str) -> None:
    """Refuse a number that its processor takes for zero, or its parts."""
    if float(value) < least:
        raise ValueError(
            f"`{label}` must be at least {least:.0e} in {float_dtype().name}, but is "
            f"{float(value):g}: below that it is lost in rounding to zero"
        )


_SMALLEST_TOLERANCE_IN_EPS = 50.0  # 1.1e-14 in float64; below it step control measures rounding


def require_resolvable(rtol: AnyArray) -> None:
    """Refuse a relative tolerance that the arithmetic cannot resolve."""
    smallest = _SMALLEST_TOLERANCE_IN_EPS * float(np.finfo(float_dtype()).eps)
    if not is_traced(rtol) and float(rtol) < smallest:
        precision = float_dtype().name
        fix = f" {WRONG_PRECISION}" if precision == "float32" else ""
        raise ValueError(
            f"`rtol` must be at least {smallest:.0e} in {precision}, but is {float(rtol):g}: below "
            f"that a step measures only rounding.{fix}"
        )


MAX_STEPS_LIMIT = 2**31 - 1  # steps are counted in 32 bits


def require_few_steps(dt: AnyArray, duration: AnyArray, max_steps: int) -> None:
    """Refuse a constant step that takes more steps than are allowed, before any is made."""
    if is_traced(dt, duration):
        return
    steps = float(duration) / float(dt)
    if steps > max_steps + 0.5:
        more = ", or raise `max_steps`" if steps < MAX_STEPS_LIMIT else ""
        raise ValueError(
            f"`dt` = {float(dt):g} s makes {steps:.3g} steps of a run of {float(duration):g} s, "
            f"but `max_steps` is {max_steps}: take `dt` of {float(duration) / max_steps:.2g} s or "
            f"more, or a shorter run{more}"
        )


def as_direction(given: Any) -> int:
    """Which crossings of zero are meant: 1 rising, −1 falling, 0 both."""
    if isinstance(given, bool) or given not in (-1, 0, 1):
        raise ValueError(f"`direction` must be 1, -1 or 0, but is {briefly(given)}")
    return int(given)


def as_count(value: Any, label: str, least: int) -> int:
    """A whole number, at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        given = "traced" if is_traced(value) else repr(value)
        raise ValueError(f"`{label}` must be a whole number, at least {least}, but is {given}")
    return int(value)


def trial_trace(
    function: Callable[..., Any], label: str, shape: tuple[int, ...] | None, *arguments: Any
) -> tuple[int, ...]:
    """Trace a user's function once on abstract arguments and check the shape that comes out.

    Nothing is computed. `shape=None` accepts any shape; the shape that comes out is returned.
    """
    if not callable(function):
        raise ValueError(f"`{label}` must be a function of (q, qd, t, params), but is {function!r}")
    try:
        hash(function)
    except TypeError as error:
        raise ValueError(
            f"`{label}` must be a plain function (hashable), but is a {type(function).__name__}: "
            "pass its numbers through `params`"
        ) from error
    who = f"`{label}` ({getattr(function, '__qualname__', type(function).__name__)})"
    returned = []

    def watched(*state: Any) -> Any:
        out = function(*state)
        returned.append(type(out).__name__)
        return out

    try:
        closed, out = jax.make_jaxpr(watched, return_shape=True)(*arguments)
    except (
        jax.errors.TracerArrayConversionError,
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerBoolConversionError,
    ) as error:
        raise ValueError(
            f"{who} must be made of JAX operations, but turns a traced value into a plain one: "
            "write `jnp.sin` for `np.sin` or `math.sin`, `jnp.where` for `if`, and do not call "
            "`float()`"
        ) from error
    except Exception as error:
        if returned:  # what JAX does not know as a value
            raise ValueError(
                f"{who} must return a real float array, but returns {returned[0]}"
            ) from error
        raise ValueError(
            f"{who} raised {type(error).__name__} when tried on arrays of the declared shapes: "
            f"{str(error).splitlines()[0] if str(error) else 'no message'}"
            + (" (is it among the declared `params`?)" if isinstance(error, KeyError) else "")
            + (
                " (no `params` are declared)"
                if isinstance(error, TypeError) and arguments[-1:] == ((),)
                else ""
            )
        ) from error
    wrong = index_beyond(closed)
    if wrong is not None:
        raise ValueError(
            f"{who} must stay within its arrays, but asks for entry {wrong.entry} of an axis with "
            f"{wrong.size}: JAX would silently take another one, or none"
        )
    if not hasattr(out, "shape") or not jnp.issubdtype(out.dtype, jnp.floating):
        returned_kind = f"dtype {out.dtype}" if hasattr(out, "dtype") else f"{type(out).__name__}"
        raise ValueError(f"{who} must return a real float array, but returns {returned_kind}")
    if shape is not None and out.shape != shape:
        wanted = (
            "a scalar, shape ()," if shape == () else f"shape {shape}, one entry per coordinate,"
        )
        raise ValueError(f"{who} must return {wanted} but returns shape {out.shape}")
    return out.shape


def trial_condition(function: Callable[..., Any], label: str, *arguments: Any) -> None:
    """Try a user's function of (q, qd, t, params) that returns one number, or one truth value."""
    if not callable(function):
        trial_trace(function, label, ())  # has the sentence for it

    def as_number(*state: Any) -> Any:
        return jnp.asarray(function(*state)).astype(float_dtype())

    as_number.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    trial_trace(as_number, label, (), *arguments)
