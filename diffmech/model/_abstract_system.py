"""What is said of a machine beside its laws, checked and kept in one place."""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypedDict, TypeVar

import equinox as eqx
import numpy as np

from .._checks import as_vector, briefly, require_kind
from .._printing import aligned
from .._typing import AnyArray, Params
from ._coordinates import CoordinateUnits, FixedMapping
from ._drawing import checked_drawing
from ._laws import ExplicitLaws, Laws
from ._measures import checked_measures, parameter_units
from ._naming import name_after
from ._parameters import cast_params, parameter_paths, replace_params
from ._rules import Range, require_sound_params

Start = tuple[AnyArray, AnyArray]
_System = TypeVar("_System", bound="AbstractSystem")
_Init = TypeVar("_Init", bound=Callable[..., None])

_MOST_SHOWN = 9  # entries of an array in print


class Description(TypedDict, total=False):
    """What every machine may be given by keyword; `System` says what each means."""

    landmarks: Callable[..., Any] | None
    links: Sequence[Sequence[int]]
    springs: Sequence[Sequence[int]]
    dampers: Sequence[Sequence[int]]
    faces: Sequence[Sequence[int]]
    starts: Mapping[str, tuple[Any, Any]] | None
    name: str | None
    parts: Callable[..., Any] | None
    units: Mapping[str, str] | None
    ranges: Mapping[str, Any] | None


class AbstractSystem(eqx.Module):
    """What every description of a machine has: coordinates, parameters, starts, a drawing.

    The laws of motion are what `System` and `Explicit` add.
    """

    name: eqx.AbstractVar[str]
    coordinates: eqx.AbstractVar[CoordinateUnits]
    params: eqx.AbstractVar[Params]
    landmarks: eqx.AbstractVar[Callable[..., Any] | None]
    links: eqx.AbstractVar[tuple[tuple[int, int], ...]]
    springs: eqx.AbstractVar[tuple[tuple[int, int], ...]]
    dampers: eqx.AbstractVar[tuple[tuple[int, int], ...]]
    faces: eqx.AbstractVar[tuple[tuple[int, ...], ...]]
    starts: eqx.AbstractVar[dict[str, Start]]
    units: eqx.AbstractVar[FixedMapping[str]]  # as declared; `parameter_units` has all of them
    ranges: eqx.AbstractVar[FixedMapping[Range]]

    @property
    @abstractmethod
    def laws(self) -> Laws | ExplicitLaws:
        """The functions without the numbers: what a compiled program is specialised to."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    def with_params(
        self: _System, changes: Mapping[str, Any] | None = None, /, **named: Any
    ) -> _System:
        """The same machine with some parameters changed, by path.

            system.with_params(mB=0.2)
            system.with_params({"masses[1]": 2.0, "lengths": [1.0, 0.5]})

        Raises:
            ValueError: unknown path, or a value of another shape.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise ValueError(
                "`with_params` must be given values by path, such as with_params(mB=0.2) or "
                f"with_params({{'masses[1]': 2.0}}), but is given {briefly(changes)}"
            )
        params = replace_params(self.params, {**(changes or {}), **named})
        return eqx.tree_at(lambda system: system.params, self, params)

    def __str__(self) -> str:
        units = ", ".join(f"{q} [{u or '-'}]" for q, u in self.coordinates.items())
        measured = parameter_units(self)
        values = ", ".join(
            f"{path} [{measured[path] or '-'}] = {_numbers(np.asarray(leaf))}"
            for path, leaf in parameter_paths(self.params).items()
        )
        starts = ", ".join(self.starts) or "none named"
        rows = [("coordinates", units), ("parameters", values or "none"), ("starts", starts)]
        return aligned(rows, self.name)


class DescribedSystem(AbstractSystem):
    """A machine as its author describes it; `System` and `Explicit` add the laws."""

    unnamed: ClassVar[str] = "system"  # what it is called where its functions do not say

    coordinates: CoordinateUnits = eqx.field(static=True)
    params: Params
    landmarks: Callable[..., Any] | None = eqx.field(static=True)
    links: tuple[tuple[int, int], ...] = eqx.field(static=True)
    springs: tuple[tuple[int, int], ...] = eqx.field(static=True)
    dampers: tuple[tuple[int, int], ...] = eqx.field(static=True)
    faces: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    starts: dict[str, Start]
    name: str = eqx.field(static=True)
    parts: Callable[..., Any] | None = eqx.field(static=True)
    units: FixedMapping[str] = eqx.field(static=True)  # as declared; `parameter_units` has them all
    ranges: FixedMapping[Range] = eqx.field(static=True)

    def __init__(
        self,
        law: Callable[..., Any],
        coordinates: Mapping[str, str] | Sequence[str],
        params: Params,
        *,
        landmarks: Callable[..., Any] | None = None,
        links: Sequence[Sequence[int]] = (),
        springs: Sequence[Sequence[int]] = (),
        dampers: Sequence[Sequence[int]] = (),
        faces: Sequence[Sequence[int]] = (),
        starts: Mapping[str, tuple[Any, Any]] | None = None,
        name: str | None = None,
        parts: Callable[..., Any] | None = None,
        units: Mapping[str, str] | None = None,
        ranges: Mapping[str, Any] | None = None,
    ):
        """Check and keep what is said of a machine; one without a name is called after its law."""
        self.name = name or name_after(law, self.unnamed)
        self.landmarks = landmarks
        self.parts = parts
        self.coordinates, self.params, self.starts = checked_description(
            coordinates, params, starts
        )
        self.units, self.ranges = checked_measures(self.params, units, ranges)
        n = len(self.coordinates)
        self.links, self.springs, self.dampers, self.faces = checked_drawing(
            landmarks, n, self.params, links=links, springs=springs, dampers=dampers, faces=faces
        )


def _numbers(leaf: np.ndarray) -> str:
    """1, [0.5, 2], [[1, 0], [0, 1]]; of many numbers the first and the last."""
    if leaf.ndim == 0:
        return f"{float(leaf):.6g}"
    parts = [_numbers(np.asarray(part)) for part in leaf]
    if len(parts) > _MOST_SHOWN:
        parts = [*parts[:3], "...", *parts[-3:]]
    return f"[{', '.join(parts)}]"


def require_unconstrained(system: AbstractSystem, what: str) -> None:
    """Refuse machines whose states fill only a surface of the space of (q, q̇)."""
    if getattr(system, "constraints", ()):
        raise ValueError(
            f"{what} needs coordinates that are independent, but {system.name!r} has constraints: "
            "describe the machine in minimal coordinates"
        )


def require_system(value: Any, label: str = "system") -> None:
    """Refuse what is not a machine, under the name of the argument it was passed as."""
    require_kind(value, AbstractSystem, label, "a `System` or an `Explicit`")


def checked_description(
    coordinates: Mapping[str, str] | Sequence[str],
    params: Params,
    starts: Mapping[str, tuple[Any, Any]] | None,
) -> tuple[CoordinateUnits, Params, dict[str, Start]]:
    """Coordinates, parameters and starts as every system keeps them."""
    units = CoordinateUnits(coordinates)
    return units, _checked_params(params, units), _checked_starts(starts or {}, units)


def _checked_params(params: Params, coordinates: CoordinateUnits) -> Params:
    """Parameters as float arrays; a name that is also a coordinate's is refused."""
    params = cast_params(params)
    require_sound_params(params)
    for path in parameter_paths(params):
        if path in coordinates:
            raise ValueError(
                f"{path!r} names both a coordinate and a parameter; rename one of them"
            )
    return params


def _checked_starts(
    starts: Mapping[str, tuple[Any, Any]], coordinates: CoordinateUnits
) -> dict[str, Start]:
    """Named initial states as pairs of float vectors."""
    if not isinstance(starts, Mapping):
        raise ValueError(
            "`starts` must map names to pairs (q0, qd0), such as {'default': ([0.1], [0.0])}, but "
            f"is {briefly(starts)}"
        )
    names = tuple(coordinates)
    checked = {}
    for label, pair in starts.items():
        if isinstance(pair, str | Mapping) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(
                f"`starts[{label!r}]` must be a pair (q0, qd0), coordinates and rates, but is "
                f"{briefly(pair)}"
            )
        checked[label] = (
            as_vector(pair[0], names, f"starts[{label!r}][0]"),
            as_vector(pair[1], names, f"starts[{label!r}][1]"),
        )
    return checked


def with_description(init: _Init) -> _Init:
    """Show the keywords behind `**description` in a constructor's signature, for `help`."""
    own = inspect.signature(init)
    shared = inspect.signature(DescribedSystem.__init__).parameters
    described = [shared[key] for key in Description.__annotations__]
    plain = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    init.__signature__ = own.replace(parameters=[*plain, *described])  # pyright: ignore[reportFunctionMemberAccess]
    return init
