"""Equations that somebody derived by hand, in any of the forms they come in, as residuals.

r(q, q̇, q̈, λ, t, params) = 0
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._checks import briefly
from ..model import Laws
from ..motion import mass_and_bias_of
from ..scalars import NotScalar, write
from ._grammar import Span
from ._objects import written_by_objects
from ._read_text import read_text
from ._symbols import Symbols
from ._text import Source
from ._truth import Points, Truth

_FORMS = (
    "`hand_written` must be equations as text, a function (q, qd, t, params) -> qdd, a function "
    "(q, qd, qdd, t, params) -> residuals, a pair or mapping of the functions mass(q, t, params) "
    "and bias(q, qd, t, params), or `dm.derivation.Lagrangian(function)`"
)
_LAGRANGIAN = "`dm.derivation.Lagrangian(function)`"


class Lagrangian(NamedTuple):
    """A Lagrangian of somebody's own, `(q, qd, t, params) -> scalar` [J], to be checked.

    It may differ from the machine's by a constant factor and by a gauge term d/dt f(q, t).
    """

    function: Callable[..., Any]


class HandWritten(NamedTuple):
    """Residuals, zero on the true motion if they are right.

    Attributes:
        form: "text", "accelerations", "residuals", "mass and bias" or "Lagrangian".
        texts: what each equation is called in print.
        evaluate: their values, shape (states, equations), at points.
        registers: of each on the truth's tape; None if a function is no JAX function.
        uses_multipliers: whether λ is among the unknowns.
        remarks: what was noticed on the way.
        spans: of each equation, where in the text what is written at a register stands.
        lines: of the text, where each begins.
        source: of the text.
    """

    form: str
    texts: tuple[str, ...]
    evaluate: Callable[[Points], np.ndarray]
    registers: np.ndarray | None
    uses_multipliers: bool = False
    remarks: tuple[str, ...] = ()
    spans: tuple[dict[int, Span], ...] = ()
    lines: tuple[int, ...] = ()
    source: Source | None = None


def read_hand_written(truth: Truth, hand_written: Any, symbols: Symbols) -> HandWritten:
    """Any of the accepted forms.

    Raises:
        ValueError: it is none of them, a function raises or returns another shape, or the text
            cannot be read.
    """
    if isinstance(hand_written, str):
        return _from_text(truth, hand_written, symbols)
    if isinstance(hand_written, Lagrangian):
        return _from_lagrangian(truth, hand_written.function)
    if isinstance(hand_written, Mapping):
        if set(hand_written) != {"mass", "bias"}:
            named = ", ".join(map(str, hand_written))
            raise ValueError(f"{_FORMS}, but is a mapping of {named or 'nothing'}")
        return _from_mass_and_bias(truth, hand_written["mass"], hand_written["bias"])
    if isinstance(hand_written, tuple | list) and len(hand_written) == 2:
        return _from_mass_and_bias(truth, *hand_written)
    if not callable(hand_written):
        raise ValueError(f"{_FORMS}, but is {briefly(hand_written)}")
    count = _arguments(hand_written)
    if count == 4:
        return _from_accelerations(truth, hand_written)
    if count in (5, 6):
        return _from_residuals(truth, hand_written, with_multipliers=count == 6)
    raise ValueError(f"{_FORMS}, but {_name(hand_written)} takes {count} arguments")


def _name(function: Any) -> str:
    return f"`{getattr(function, '__qualname__', type(function).__name__)}`"


def _arguments(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{_FORMS}, but {_name(function)} has no signature to read") from error
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in plain and p.default is p.empty for p in parameters)


def _from_text(truth: Truth, text: str, symbols: Symbols) -> HandWritten:
    reading = read_text(text, truth.tape, symbols)
    registers = np.array([one.register for one in reading.equations], dtype=np.int64)
    needed = set(truth.tape.needed_for(registers))
    unused = "the name {!r} is given a meaning and never used"
    remarks = tuple(unused.format(name) for name in reading.unused)
    return HandWritten(
        "text",
        tuple(one.text for one in reading.equations),
        lambda points: truth.of(points, registers),
        registers,
        bool(needed & set(truth.inputs.lam.tolist())),
        remarks,
        tuple(one.spans for one in reading.equations),
        tuple(one.line for one in reading.equations),
        reading.source,
    )


def _from_accelerations(truth: Truth, function: Callable[..., Any]) -> HandWritten:
    names = tuple(truth.system.coordinates)

    def residuals(q: Any, qd: Any, qdd: Any, lam: Any, t: Any, params: Any) -> Any:
        del lam
        value = _vector(function(q, qd, t, params))
        if value.shape != (truth.n,):
            hint = f"; if it is a Lagrangian, hand in {_LAGRANGIAN}" if value.shape == (1,) else ""
            raise _WrongShapeError(
                f"{_name(function)} must return the accelerations, shape ({truth.n},) = "
                f"({', '.join(names)}), but returns shape {value.shape}{hint}"
            )
        return qdd - value

    return _written(truth, "accelerations", residuals, tuple(f"{name}''" for name in names))


def _from_residuals(
    truth: Truth, function: Callable[..., Any], with_multipliers: bool
) -> HandWritten:
    if with_multipliers and not truth.m:
        raise ValueError(
            f"{_FORMS}, but {_name(function)} takes multipliers, too, and {truth.system.name!r} "
            "has no constraints"
        )

    def residuals(q: Any, qd: Any, qdd: Any, lam: Any, t: Any, params: Any) -> Any:
        unknowns = (qdd, lam) if with_multipliers else (qdd,)
        return _vector(function(q, qd, *unknowns, t, params))

    written = _written(truth, "residuals", residuals)
    return written._replace(uses_multipliers=with_multipliers)


def _from_mass_and_bias(truth: Truth, mass: Any, bias: Any) -> HandWritten:
    if not callable(mass) or not callable(bias):
        wrong = bias if callable(mass) else mass
        raise ValueError(f"{_FORMS}, but one of the two is {briefly(wrong)}")
    n = truth.n

    def residuals(q: Any, qd: Any, qdd: Any, lam: Any, t: Any, params: Any) -> Any:
        del lam
        matrix = _joined(mass(q, t, params))
        if matrix.shape != (n, n):
            raise _WrongShapeError(
                f"the mass matrix must have shape ({n}, {n}), but {_name(mass)} returns shape "
                f"{matrix.shape}"
            )
        rest = _vector(bias(q, qd, t, params))
        if rest.shape != (n,):
            raise _WrongShapeError(
                f"the bias must have shape ({n},), but {_name(bias)} returns shape {rest.shape}"
            )
        return matrix @ qdd + rest

    texts = tuple(f"row {name}" for name in truth.system.coordinates)
    return _written(truth, "mass and bias", residuals, texts)


def _from_lagrangian(truth: Truth, function: Any) -> HandWritten:
    if not callable(function):
        raise ValueError(
            "a Lagrangian must be a function of (q, qd, t, params), but is " + briefly(function)
        )
    laws = truth.system.laws
    assert isinstance(laws, Laws)

    def residuals(q: Any, qd: Any, qdd: Any, lam: Any, t: Any, params: Any) -> Any:
        del lam

        def own(q: Any, qd: Any, t: Any, params: Any) -> Any:
            value = jnp.asarray(function(q, qd, t, params))
            if value.shape != ():
                raise _WrongShapeError(
                    f"a Lagrangian must return one number, but {_name(function)} returns shape "
                    f"{value.shape}"
                )
            return value

        alone = laws._replace(lagrangian=own, forces=None, dissipation=None, constraints=())
        mass, bias = mass_and_bias_of(alone, q, qd, t, params)
        return mass @ qdd + bias

    texts = tuple(f"d/dt dL/d{name}' - dL/d{name}" for name in truth.system.coordinates)
    written = _written(truth, "Lagrangian", residuals, texts)
    if written.registers is None:
        raise ValueError(f"a Lagrangian must be made of JAX operations, but {_name(function)} "
                         "turns values into plain numbers: write `jnp.sin` for `np.sin`, and "
                         "`jnp.where` for `if`")  # fmt: skip
    return written


class _WrongShapeError(ValueError):
    """A function returns another shape than its form says."""


def _joined(value: Any) -> Any:
    """Lists of numbers, of JAX or not, as one array."""
    if not isinstance(value, list | tuple):
        return value if hasattr(value, "shape") else np.asarray(value)
    parts = [_joined(part) for part in value]
    if any(isinstance(part, jax.Array) for part in parts):
        return jnp.stack([jnp.asarray(part) for part in parts])
    return np.asarray(parts)


def _vector(value: Any) -> Any:
    joined = _joined(value)
    return joined.reshape(-1) if joined.ndim == 0 or joined.shape[1:] == (1,) else joined


def _written(
    truth: Truth, form: str, residuals: Callable[..., Any], texts: tuple[str, ...] = ()
) -> HandWritten:
    """On the tape if that can be, else evaluated state by state."""
    registers: np.ndarray | None
    try:
        registers = np.asarray(write(truth.tape, residuals, *truth.inputs))
    except _WrongShapeError:
        raise
    except NotScalar:
        registers = None
    except Exception:  # NumPy's functions and `if` refuse what is traced, each in its own way
        registers = None
    if registers is None:
        try:
            registers = written_by_objects(truth.tape, residuals, truth.inputs)
        except _WrongShapeError:
            raise
        except Exception:  # so does whatever needs a number to go on
            registers = None
    if registers is not None and registers.ndim != 1:
        raise ValueError(f"residuals must have shape (m,), but have shape {registers.shape}")
    if registers is not None and not texts:
        texts = tuple(f"residual {i + 1}" for i in range(len(registers)))
    if registers is not None:
        known = registers
        return HandWritten(form, texts, lambda points: truth.of(points, known), registers)

    def evaluate(points: Points) -> np.ndarray:
        return _state_by_state(residuals, points)

    return HandWritten(form, texts, evaluate, None)


def _state_by_state(residuals: Callable[..., Any], points: Points) -> np.ndarray:
    """A function that is no JAX function, at plain numbers; NaN where it raises."""
    rows: list[np.ndarray | None] = []
    reason: Exception | None = None
    for s in range(len(points.q)):
        one = jax.tree.map(lambda leaf, s=s: np.asarray(leaf[s]), tuple(points))
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(residuals(*one), float)
        except _WrongShapeError:
            raise
        except Exception as error:
            reason, value = error, None
        if value is not None and value.ndim != 1:
            raise ValueError(f"residuals must have shape (m,), but have shape {value.shape}")
        rows.append(value)
    shapes = {value.shape for value in rows if value is not None}
    if not shapes:
        said = str(reason).splitlines()[0] if reason and str(reason) else "no message"
        raise ValueError(
            f"`hand_written` raised {type(reason).__name__} at every state: {said}"
        ) from reason
    if len(shapes) > 1:
        raise ValueError(
            "`hand_written` must return as many residuals at every state, but returns shapes "
            + ", ".join(map(str, sorted(shapes)))
        )
    nothing = np.full(shapes.pop(), np.nan)
    return np.stack([nothing if value is None else value for value in rows])
