"""Rules that parameters keep: masses are not negative, lengths are positive, bodies are possible.

A catalogue's parameters declare their rule with their field:

    class Params(eqx.Module):
        mass: Scalar = mass_field()  # [kg]
        length: Scalar = length_field()  # [m]
        gravity: Scalar = number_field()  # [m/s^2]
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import as_array, is_traced
from .._typing import Params

_RULES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "not negative": ("must not be negative", lambda values: values < 0),
    "positive": ("must be greater than zero", lambda values: values <= 0),
}


def number_field() -> Any:
    """A field for any number or array of numbers."""
    return eqx.field(converter=as_array)


def mass_field() -> Any:
    """A field for masses and moments of inertia: zero is allowed, negative is not."""
    return eqx.field(converter=as_array, metadata={"rule": "not negative"})


def length_field() -> Any:
    """A field for lengths: greater than zero."""
    return eqx.field(converter=as_array, metadata={"rule": "positive"})


def require_sound_params(params: Params, path: str = "") -> None:
    """Refuse what no machine has, by path and value; traced values are let through.

    Raises:
        ValueError: a negative mass or moment, a length that is not positive, an inertia tensor that
            no body has.
    """
    require = getattr(params, "require", None)
    if isinstance(params, eqx.Module) and callable(require):
        require(path)
    if isinstance(params, eqx.Module):
        for field in dataclasses.fields(params):  # pyright: ignore[reportArgumentType]
            inner = f"{path}.{field.name}" if path else field.name
            value = getattr(params, field.name)
            if "rule" in field.metadata:
                _require_rule(value, field.metadata["rule"], inner)
            require_sound_params(value, inner)
    elif isinstance(params, Mapping):
        for key, value in params.items():
            require_sound_params(value, f"{path}.{key}" if path else str(key))
    elif isinstance(params, list | tuple):
        for i, value in enumerate(params):
            require_sound_params(value, f"{path}[{i}]")


def _require_rule(value: Any, rule: str, path: str) -> None:
    if is_traced(value):
        return
    text, broken = _RULES[rule]
    values = np.asarray(value)
    wrong = np.argwhere(broken(values))
    if len(wrong):
        index = tuple(int(i) for i in wrong[0])
        where = f"[{','.join(map(str, index))}]" if index else ""
        raise ValueError(f"`{path}{where}` {text}, but is {float(values[index]):g}")
