"""Names and units of the generalised coordinates."""

from collections.abc import Iterator, Mapping, Sequence


class CoordinateUnits(Mapping[str, str]):
    """An ordered, hashable mapping from coordinate name to unit ("" = unknown).

    Hashable, so that a system can be an argument of a compiled function.
    """

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
        self._pairs, self._units = pairs, dict(pairs)
        for name in names:
            if f"{name}_dot" in self._units:
                raise ValueError(
                    f"`coordinates` must leave {name + '_dot'!r} to the rate of {name!r}; rename it"
                )

    def __getitem__(self, name: str) -> str:
        return self._units[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoordinateUnits) and self._pairs == other._pairs

    def __repr__(self) -> str:
        return repr(dict(self._pairs))
