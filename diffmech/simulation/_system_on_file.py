"""What a file knows of a machine."""

from collections.abc import Callable
from typing import Any

import equinox as eqx

from .._typing import Params
from ..model import AbstractSystem, CoordinateUnits, FixedMapping, Laws, Range
from ..motion import Likeness


class SystemOnFile(AbstractSystem):
    """What a file knows of the machine whose run it holds: names and numbers, no functions.

    `params` is a dictionary by path.
    """

    name: str = eqx.field(static=True)
    coordinates: CoordinateUnits = eqx.field(static=True)
    params: Params
    landmarks: Callable[..., Any] | None = eqx.field(static=True, default=None)
    links: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    springs: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    dampers: tuple[tuple[int, int], ...] = eqx.field(static=True, default=())
    faces: tuple[tuple[int, ...], ...] = eqx.field(static=True, default=())
    starts: dict[str, Any] = eqx.field(default_factory=dict)
    units: FixedMapping[str] = eqx.field(static=True, default=FixedMapping())
    ranges: FixedMapping[Range] = eqx.field(static=True, default=FixedMapping())
    likeness: Likeness | None = None  # how the machine of the run moves at a few states

    @property
    def laws(self) -> Laws:
        raise ValueError(
            f"the run of {self.name!r} was loaded without its machine, so nothing new can be "
            "computed from it: load it with `diffmech.load(path, system)`"
        )
