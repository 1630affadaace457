"""Names and units of the generalised coordinates."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

_Value = TypeVar("_Value")


class FixedMapping(Mapping[str, _Value]):
    """An ordered, hashable mapping by name.

    Hashable, so that a system can be an argument of a compiled function.
    """

    _pairs: tuple[tuple[str, _Value], ...]

    def __init__(self, given: Mapping[str, _Value] | None = None):
        self._values = dict(given or {})
        self._pairs = tuple(self._values.items())

    def __getitem__(self, name: str) -> _Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and self._pairs == other._pairs

    def __repr__(self) -> str:
        return repr(dict(self._pairs))


class CoordinateUnits(FixedMapping[str]):
    """An ordered, hashable mapping from coordinate name to unit ("" = unknown)."""

    def __init__(self, coordinates: Mapping[str, str] | Sequence[str]):
        if isinstance(coordinates, str):
            coordinates = (coordinates,)
        if not isinstance(coordinates, Mapping | Sequence):  # a set has no order
            raise ValueError(
                "`coordinates` must be names in order, such as ('x', 'y') or {'x': 'm'}, but is "
                f"{coordinates!r}"
            )
        pairs = (
            tuple(coordinates.items())
            if isinstance(coordinates, Mapping)
            else tuple((name, "") for name in coordinates)
        )
        if not pairs:
            raise ValueError("`coordinates` must name at least one coordinate, but is empty")
        for name, unit in pairs:
            if not isinstance(name, str) or not name.isidentifier():
                raise ValueError(
                    f"`coordinates` must be names such as 'x' or 'theta1', but has {name!r}"
                )
            if not isinstance(unit, str):
                raise ValueError(f"the unit of {name!r} must be a string, but is {unit!r}")
        names = [name for name, _ in pairs]
        if len(set(names)) != len(names):
            raise ValueError(f"`coordinates` must be distinct, but are {', '.join(names)}")
        known = {*names}
        for name in names:
            if f"{name}_dot" in known:
                raise ValueError(
                    f"`coordinates` must leave {name + '_dot'!r} to the rate of {name!r}; rename it"
                )
        super().__init__(dict(pairs))
