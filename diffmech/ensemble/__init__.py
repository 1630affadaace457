"""Many motions at once: lanes, steppers, reducers, blocks, devices.

The room is called like its verb, and `import diffmech.ensemble` makes the room an attribute of the
package. So that `diffmech.ensemble(...)` means the same before and after, the room can be called.
"""

import sys
import types
from typing import Any

from ._catch import Crossed as Crossed, crossings as crossings
from ._chaos import Megno as Megno, Neighbours as Neighbours, Sali as Sali
from ._ensemble import ensemble as ensemble
from ._frames import (
    STOPS as STOPS,
    Frame as Frame,
    FramePlan as FramePlan,
    FrameRun as FrameRun,
    Reached as Reached,
    frame_at as frame_at,
    frame_of as frame_of,
)
from ._instant import Instant as Instant, between as between
from ._record import Ensemble as Ensemble, indefinite_lines as indefinite_lines
from ._reducers import (
    AbstractReducer as AbstractReducer,
    Crossings as Crossings,
    EnergyError as EnergyError,
    FirstTime as FirstTime,
    Growth as Growth,
    Largest as Largest,
    Last as Last,
    Samples as Samples,
    Smallest as Smallest,
)


class _Room(types.ModuleType):
    """A module that is called like the function it is named after."""

    def __call__(self, *args: Any, **kwargs: Any) -> Ensemble:
        return ensemble(*args, **kwargs)


_Room.__call__.__doc__ = ensemble.__doc__
sys.modules[__name__].__class__ = _Room
