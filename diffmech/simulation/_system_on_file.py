"""A machine of which only a file is left."""

from .._typing import Params
from ..model import AbstractSystem, CoordinateUnits, FixedMapping, Laws
from ..motion import Likeness


class SystemOnFile(AbstractSystem):
    """What a file knows of the machine whose run it holds: names and numbers, no functions.

    `params` is a dictionary by path.
    """

    likeness: Likeness | None = None  # how the machine of the run moves at a few states

    def __init__(
        self,
        name: str,
        coordinates: CoordinateUnits,
        params: Params,
        likeness: Likeness | None = None,
    ):
        self.name, self.coordinates, self.params = name, coordinates, params
        self.landmarks = self.parts = None
        self.links = self.springs = self.dampers = ()
        self.faces = ()
        self.starts = {}
        self.units, self.ranges = FixedMapping(), FixedMapping()
        self.likeness = likeness

    @property
    def laws(self) -> Laws:
        raise ValueError(
            f"the run of {self.name!r} was loaded without its machine, so nothing new can be "
            "computed from it: load it with `diffmech.load(path, system)`"
        )
