"""Rules that parameters keep: masses are not negative, lengths are positive, bodies are possible.

A catalogue's parameters declare rule, unit and sensible range with their field:

    class Params(eqx.Module):
        mass: Scalar = mass_field()  # [kg]
        length: Scalar = length_field()  # [m]
        gravity: Scalar = gravity_field()  # [m/s^2]
        slope: Scalar = number_field("rad", (-1.5, 1.5))
        friction: Damper = acting_on("angle")  # so its numbers are in N m s/rad

Moments of inertia that belong to one body are named together, and are those that a body can have:

        Ix, Iy, Iz: Scalar = inertia_field()
        principal_moments = (("Ix", "Iy", "Iz"),)
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import numpy as np

from .._checks import as_array, is_traced
from .._typing import Params
from ..geometry import require_inertia

_RULES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "not negative": ("must not be negative", lambda values: values < 0),
    "positive": ("must be greater than zero", lambda values: values <= 0),
}


Range = tuple[float, float]  # the lowest and the highest value that make sense
MASSES: Range = (1e-3, 1e3)  # [kg]
_MOMENTS: Range = (0.0, 1e4)  # [kg m^2]; a thin rod has none about itself
_LENGTHS: Range = (1e-3, 1e2)  # [m]
_PLACES: Range = (-1e2, 1e2)  # [m]
_GRAVITIES: Range = (0.0, 25.0)  # [m/s^2], from none to Jupiter's


def measured(unit: str | Mapping[str, str], sensible: Range | None = None) -> Any:
    """A field with its unit ("1": a pure number, "": unknown) and the range that makes sense.

    A unit that depends on what a part acts on is given by that: {"length": "N/m", "angle":
    "N m/rad"}; `acting_on` decides.
    """
    return eqx.field(metadata={"unit": unit, "range": sensible})


def acting_on(what: str) -> Any:
    """A field for a spring or damper that acts on a "length" or on an "angle"."""
    return eqx.field(metadata={"acts on": what})


def number_field(unit: str = "", sensible: Range | None = None) -> Any:
    """A field for any number or array of numbers."""
    return eqx.field(converter=as_array, metadata={"unit": unit, "range": sensible})


def place_field() -> Any:
    """A field for places along an axis [m], of either sign."""
    return number_field("m", _PLACES)


def gravity_field() -> Any:
    """A field for the acceleration of gravity [m/s^2]."""
    return number_field("m/s^2", _GRAVITIES)


def mass_field(sensible: Range = MASSES) -> Any:
    """A field for masses [kg]: zero is allowed, negative is not."""
    about = {"rule": "not negative", "unit": "kg", "range": sensible}
    return eqx.field(converter=as_array, metadata=about)


def inertia_field(sensible: Range = _MOMENTS) -> Any:
    """A field for moments of inertia [kg m^2]: zero is allowed, negative is not."""
    about = {"rule": "not negative", "unit": "kg m^2", "range": sensible}
    return eqx.field(converter=as_array, metadata=about)


def length_field(sensible: Range = _LENGTHS) -> Any:
    """A field for lengths [m]: greater than zero."""
    about = {"rule": "positive", "unit": "m", "range": sensible}
    return eqx.field(converter=as_array, metadata=about)


def require_sound_params(params: Params, path: str = "", *, bodies: bool = True) -> None:
    """Refuse what no machine has, by path and value; traced values are let through.

    Without `bodies`, numbers are judged one by one, as is right for leaves with one more axis.

    Raises:
        ValueError: a negative mass or moment, a length that is not positive, an inertia tensor that
            no body has.
    """
    require = getattr(params, "require", None)
    if bodies and isinstance(params, eqx.Module) and callable(require):
        require(path)
    if isinstance(params, eqx.Module):
        for field in dataclasses.fields(params):  # pyright: ignore[reportArgumentType]
            inner = f"{path}.{field.name}" if path else field.name
            value = getattr(params, field.name)
            if "rule" in field.metadata:
                _require_rule(value, field.metadata["rule"], inner)
            require_sound_params(value, inner, bodies=bodies)
        for names in getattr(params, "principal_moments", ()) if bodies else ():
            moments = [getattr(params, name) for name in names]
            if not is_traced(moments):
                require_inertia(moments, f"({', '.join(names)})")
    elif isinstance(params, Mapping):
        for key, value in params.items():
            require_sound_params(value, f"{path}.{key}" if path else str(key), bodies=bodies)
    elif isinstance(params, list | tuple):
        for i, value in enumerate(params):
            require_sound_params(value, f"{path}[{i}]", bodies=bodies)


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
