"""What a parameter is measured in, and which values make sense: one answer for every path.

A system's own declarations (`System(units=..., ranges=...)`) come first, then the fields of the
modules that its parameters are made of (`_rules`); what nobody declared is unknown.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

from .._suggest import quoted, suggestion
from .._typing import Params
from ._coordinates import FixedMapping
from ._parameters import parameter_names, parameter_place, spelt
from ._rules import Range


@runtime_checkable
class Measured(Protocol):
    """What is asked of a system here."""

    @property
    def params(self) -> Params: ...
    @property
    def units(self) -> Mapping[str, str]: ...
    @property
    def ranges(self) -> Mapping[str, Range]: ...


def parameter_units(system: Measured) -> dict[str, str]:
    """The unit of every parameter by path, such as "kg m^2"; "1" is a pure number, "" unknown."""
    of_fields = {path: _unit(chain) for path, chain in _fields(system.params).items()}
    return {**of_fields, **system.units}


def parameter_ranges(system: Measured) -> dict[str, Range | None]:
    """The range of every parameter that makes sense, by path; None where none is declared."""
    of_fields = {path: _last(chain, "range") for path, chain in _fields(system.params).items()}
    return {**of_fields, **system.ranges}


def parameter_rules(params: Params) -> dict[str, str | None]:
    """The rule that every parameter keeps, by path: "not negative", "positive" or None."""
    return {path: _last(chain, "rule") for path, chain in _fields(params).items()}


def principal_moments(params: Params) -> list[tuple[tuple[str, tuple[int, ...]], ...]]:
    """The principal moments of each body among the parameters: three leaves with an index each."""
    names = parameter_names(params)
    moments_of_bodies = []
    for path, body in _modules(params):
        within = f"{path}." if path else ""
        for moments in getattr(body, "principal_moments", ()):
            moments_of_bodies.append(tuple((f"{within}{name}", ()) for name in moments))
        if f"{within}inertia" in names and np.shape(body.inertia) == (3,):
            moments_of_bodies.append(tuple((f"{within}inertia", (i,)) for i in range(3)))
    return moments_of_bodies


def _is_module(node: Any) -> bool:
    return dataclasses.is_dataclass(node)


def _modules(params: Params) -> list[tuple[str, Any]]:
    """Every module among the parameters, under its path."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    modules: dict[str, Any] = {}
    for keys, _ in leaves:
        node: Any = params
        for i, key in enumerate(keys):
            modules |= {spelt(keys[:i]) if i else "": node} if _is_module(node) else {}
            if isinstance(key, jax.tree_util.GetAttrKey):
                node = getattr(node, key.name)
            elif isinstance(key, jax.tree_util.DictKey | jax.tree_util.SequenceKey):
                node = node[key.key if isinstance(key, jax.tree_util.DictKey) else key.idx]
            else:
                break
    return list(modules.items())


def parameter_unit(system: Measured, path: str) -> str:
    """The unit of one parameter, or of an entry such as `masses[1]`.

    Raises:
        ValueError: there is no such parameter.
    """
    leaf, _ = parameter_place(system.params, path)
    return parameter_units(system)[leaf]


def _fields(params: Params) -> dict[str, list[Mapping[str, Any]]]:
    """For every leaf, what the fields on the way to it say, the outermost first."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    names = parameter_names(params)
    return {name: _passed(params, keys) for name, (keys, _) in zip(names, leaves, strict=True)}


def _passed(node: Any, keys: tuple[Any, ...]) -> list[Mapping[str, Any]]:
    chain: list[Mapping[str, Any]] = []
    for key in keys:
        if isinstance(key, jax.tree_util.GetAttrKey):
            if dataclasses.is_dataclass(node):
                chain += [f.metadata for f in dataclasses.fields(node) if f.name == key.name]
            node = getattr(node, key.name, None)
        elif isinstance(key, jax.tree_util.DictKey | jax.tree_util.SequenceKey):
            node = node[key.key if isinstance(key, jax.tree_util.DictKey) else key.idx]
        else:
            break  # a container of somebody's own, which says nothing of its fields
    return chain


def _last(chain: list[Mapping[str, Any]], word: str) -> Any:
    """What the innermost field that has the word says."""
    return next((about[word] for about in reversed(chain) if word in about), None)


def _unit(chain: list[Mapping[str, Any]]) -> str:
    unit = _last(chain, "unit") or ""
    return unit if isinstance(unit, str) else unit.get(_last(chain, "acts on"), "")


def _opened(params: Params, units: Mapping[str, str]) -> dict[str, str]:
    """Units number by number, where {"hinge": "angle"} says what a spring or damper acts on.

    What is said of a single number comes first.
    """
    choices = {path: _last(chain, "unit") for path, chain in _fields(params).items()}
    opened: dict[str, str] = {}
    single: dict[str, str] = {}
    for path, what in units.items():
        inner = {leaf: each for leaf, each in choices.items() if leaf.startswith(f"{path}.")}
        if inner and all(isinstance(each, Mapping) and what in [*each] for each in inner.values()):
            opened |= {leaf: each[what] for leaf, each in inner.items()}
        else:
            single[path] = what
    return {**opened, **single}


def checked_measures(
    params: Params, units: Mapping[str, str] | None, ranges: Mapping[str, Any] | None
) -> tuple[FixedMapping[str], FixedMapping[Range]]:
    """Declared units and ranges as every system keeps them; paths and values are checked."""
    paths = parameter_names(params)
    units = _opened(params, units or {})
    for label, given in (("units", units or {}), ("ranges", ranges or {})):
        for path in given:
            if path not in paths:
                raise ValueError(
                    f"`{label}` names {quoted(path)}, which is not a parameter."
                    + suggestion(str(path), paths)
                )
    for path, unit in (units or {}).items():
        if not isinstance(unit, str):
            raise ValueError(f"the unit of {path!r} must be a string, but is {unit!r}")
    spans = {path: _checked_range(path, given) for path, given in (ranges or {}).items()}
    return FixedMapping(units), FixedMapping(spans)


def _checked_range(path: str, given: Any) -> Range:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:  # infinite ends are fine, NaN is not
        raise ValueError(
            f"`ranges[{path!r}]` must be two numbers (low, high) with low < high, but is "
            f"{quoted(given)}"
        )
    return low, high
