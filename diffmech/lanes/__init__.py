"""Many motions at once: lanes, steppers, reducers, blocks, devices."""

from ._crossings_host import Crossed as Crossed, crossings as crossings
from ._ensemble import ensemble as ensemble
from ._ensemble_record import Ensemble as Ensemble, indefinite_lines as indefinite_lines
from ._instant import Instant as Instant, between as between
from ._neighbours import Megno as Megno, Neighbours as Neighbours, Sali as Sali
from ._program import Program as Program
from ._reducer_protocol import (
    AbstractReducer as AbstractReducer,
    AbstractSample as AbstractSample,
)
from ._reducers import (
    Crossings as Crossings,
    EnergyError as EnergyError,
    FirstTime as FirstTime,
    Growth as Growth,
    Largest as Largest,
    Last as Last,
    Samples as Samples,
    Smallest as Smallest,
)
from ._tangent_frame import (
    STOPS as STOPS,
    Frame as Frame,
    FrameRun as FrameRun,
    Reached as Reached,
    frame_at as frame_at,
    frame_of as frame_of,
)
