"""Many motions at once: lanes, programs, steppers, reducers, blocks, devices."""

from ._crossed import AbstractCrossed as AbstractCrossed
from ._crossings_host import Crossed as Crossed, crossings as crossings
from ._ensemble import ensemble as ensemble
from ._ensemble_record import (
    Ensemble as Ensemble,
    indefinite_rows as indefinite_rows,
)
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
from ._tableau import Tableau as Tableau, as_tableau as as_tableau
from ._tangent_frame import (
    MOST_STOPS as MOST_STOPS,
    Reached as Reached,
    TangentFrame as TangentFrame,
    TangentRun as TangentRun,
    tangent_frame_at as tangent_frame_at,
    tangent_frame_of as tangent_frame_of,
)
